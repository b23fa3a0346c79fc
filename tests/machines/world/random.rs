//! Generates numbers: the same ones for the same seed.

/// A small generator of numbers (xorshift64*).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..4).for_each(|_| {
            random.next();
        });
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// From 0 to `end`, without `end`.
    pub fn below(&mut self, end: i64) -> i64 {
        (self.next() % end.max(1).unsigned_abs()).cast_signed()
    }

    pub fn one_in(&mut self, n: i64) -> bool {
        self.below(n) == 0
    }

    /// A length whose size is any, from milliseconds to `most`.
    pub fn any_length(&mut self, most: i64) -> i64 {
        let bits = self.below(64 - i64::from(most.leading_zeros()));
        self.below(most.min(2 << bits))
    }
}
