//! Numbers from a seed, the same in each run.

/// A linear congruential generator with Knuth's factors.
pub struct Random(pub u64);

impl Random {
    /// Any number of 31 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// From 0 to `end`, without `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A place in something of this length.
    pub fn at(&mut self, length: usize) -> usize {
        usize::try_from(self.next()).unwrap() % length
    }
}
