//! Compares vectors: the dot product of two rows of bytes ([`dot`]), and the number of differing signs
//! ([`difference`]).
//!
//! A question runs these two loops over many vectors. The result is exact, and the same on every processor; [`wide`]
//! runs them with the widest instructions that the processor has.

pub use crate::embed::wide::{Work, wide};

/// The exact dot product of 16-bit numbers that hold bytes with signed bytes: the products of two bytes can't
/// overflow the 32-bit sum of any dimension that is stored.
#[inline(always)]
pub fn dot(wide: &[i16], row: &[u8]) -> i32 {
    wide.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(i16::from(b.cast_signed()))).sum()
}

/// In how many places signs differ, 64 a word.
#[inline(always)]
pub fn difference(a: &[u64], b: &[u64]) -> u16 {
    // Indices, not adapters: release builds that a person waits for don't inline those everywhere.
    let mut bits = 0;
    for at in 0..a.len().min(b.len()) {
        bits += (a[at] ^ b[at]).count_ones();
    }
    // There are far fewer dimensions.
    bits as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_plain_loops_agree() {
        let a: Vec<i16> = (0..300).map(|n| (n * 37 % 255 - 127) as i16).collect();
        let b: Vec<u8> = (0..300).map(|n| (n * 91 % 256) as u8).collect();
        let exact: i64 = a.iter().zip(&b).map(|(a, b)| i64::from(*a) * i64::from(*b as i8)).sum();
        assert_eq!(i64::from(wide(|| dot(&a, &b))), exact);
        let (x, y) = ([u64::MAX, 0, 5, 1 << 63], [0, 0, 4, 1]);
        assert_eq!((wide(|| difference(&x, &y)), difference(&x, &x)), (67, 0));
    }
}
