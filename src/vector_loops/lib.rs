//! Runs the inner loops of indexing and search over numbers and bits.
//!
//! Bytes of tables and of mapped files come in; sums, differences and positions go out. This is a crate of its own so
//! that it is compiled for speed (`[profile.release.package]`); the program is compiled for size, without SIMD
//! instructions. Loops that count bits or multiply are compiled twice: for any processor, and for processors with AVX2
//! and a population count. The operations and their order are the same for both, so the results are the same to the
//! last digit. Each loop is a type with a method that is always inlined, not a closure: the compiler may compile a
//! closure as a function of its own, without the instructions of the better processor. Pure.

use pulp::{Arch, NullaryFnOnce};

/// The number for a four-bit code, before it is multiplied by its row's scale. The sixteen steps are centred on zero
/// and grow with the distance from zero, like the numbers of rows.
#[inline(always)]
#[must_use]
pub fn step(half: u8) -> f32 {
    let from_zero = f32::from(half) - 7.5;
    from_zero * (1.0 + 0.012 * from_zero * from_zero)
}

/// Adds the rows of `tokens` to `sum`: half a byte a number ([`step`]), multiplied with the row's scale (little-endian
/// f32). A row has half as many bytes as `sum` has numbers: the lower halves of the bytes are the first half of the
/// numbers.
///
/// # Panics
/// A token has no row or no scale.
pub fn add_rows(sum: &mut [f32], rows: &[u8], scales: &[[u8; 4]], tokens: &[u32]) {
    let length = sum.len() / 2;
    let (lower, upper) = sum.split_at_mut(length);
    for token in tokens {
        let scale = f32::from_le_bytes(scales[*token as usize]);
        // Looked up, a number costs an addition: a release that is linked as one unit has no loop made for vectors.
        let numbers: [f32; 16] = std::array::from_fn(|half| scale * step(half as u8));
        let row = &rows[*token as usize * length..][..length];
        for ((lower, upper), value) in lower.iter_mut().zip(&mut *upper).zip(row) {
            *lower += numbers[usize::from(value & 15)];
            *upper += numbers[usize::from(value >> 4)];
        }
    }
}

/// The exact dot product of 16-bit numbers that hold bytes with signed bytes: the products of two bytes can't overflow
/// the 32-bit sum of any dimension that is stored.
#[must_use]
pub fn dot(wide: &[i16], row: &[u8]) -> i32 {
    Arch::new().dispatch(|| {
        wide.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(i16::from(b.cast_signed()))).sum()
    })
}

/// A table for each of 32 bytes: the number for each of its 256 values.
pub type ByteSums = [[f32; 256]; 32];

/// The sums of the table's numbers over three rows of 32 bytes: over `signs`, over `large`, and over the bits that both
/// have.
#[must_use]
pub fn sum_bytes(of: &ByteSums, signs: [u64; 4], large: [u64; 4]) -> [f32; 3] {
    // By twos: a sum waits for the one before it.
    let (mut positive, mut both, mut far) = (0.0, 0.0, 0.0);
    for (word, (signs, large)) in signs.iter().zip(&large).enumerate() {
        let (signs, large) = (signs.to_le_bytes(), large.to_le_bytes());
        for at in 0..4 {
            let (first, second) = (&of[word * 8 + at * 2], &of[word * 8 + at * 2 + 1]);
            let (s, f) = (usize::from(signs[at * 2]), usize::from(large[at * 2]));
            let (t, g) = (usize::from(signs[at * 2 + 1]), usize::from(large[at * 2 + 1]));
            positive += first[s] + second[t];
            both += first[s & f] + second[t & g];
            far += first[f] + second[g];
        }
    }
    [positive, far, both]
}

/// The signs of a stretch of blocks, as a file of rows has them.
#[derive(Debug, Clone, Copy)]
pub struct SignRows<'a> {
    /// The first word of each block's signs.
    pub first: &'a [[u8; 8]],
    /// The number of each block's row.
    pub rows: &'a [[u8; 4]],
    /// The further words of each row.
    pub others: &'a [[u8; 24]],
}

/// The blocks whose first word of signs differs from `signs` in at most `most` bits, each preceded by the number of all
/// differing bits. Blocks without a row are left out.
#[must_use]
pub fn differences(of: SignRows<'_>, signs: &[u64; 4], most: u32) -> Vec<(u16, u32)> {
    /// Both passes.
    struct Passes<'a>(SignRows<'a>, &'a [u64; 4], u32);
    impl NullaryFnOnce for Passes<'_> {
        type Output = Vec<(u16, u32)>;

        #[inline(always)]
        fn call(self) -> Self::Output {
            let Self(SignRows { first, rows, others }, signs, most) = self;
            let mut near = Vec::new();
            for (at, word) in (0..).zip(first) {
                let difference = (u64::from_le_bytes(*word) ^ signs[0]).count_ones();
                if difference <= most {
                    near.push((difference as u16, at));
                }
            }
            let words = |at: u32| {
                let row = u32::from_le_bytes(*rows.get(at as usize)?);
                let words = others.get(row as usize)?.as_chunks::<8>().0;
                Some([words[0], words[1], words[2]].map(u64::from_le_bytes))
            };
            // In a loop of its own, and one that does nothing else: the waits for memory of many go on at once.
            let touched =
                near.iter().fold(0, |touched, (_, at)| touched ^ words(*at).map_or(0, |w| w[0] ^ w[2]));
            std::hint::black_box(touched);
            // `retain_mut` would be compiled once for both versions.
            let mut kept = 0;
            for of in 0..near.len() {
                let (difference, at) = near[of];
                let Some(words) = words(at) else { continue };
                let further = words.iter().zip(&signs[1..]).map(|(a, b)| (a ^ b).count_ones() as u16);
                near[kept] = (difference + further.sum::<u16>(), at);
                kept += 1;
            }
            near.truncate(kept);
            near
        }
    }
    Arch::new().dispatch(Passes(of, signs, most))
}

/// The positions of the `signatures` that share enough bits with one of `wanted` (which also names the number), and of
/// those that have all bits.
#[must_use]
pub fn sharing(signatures: &[[u8; 8]], wanted: &[(u64, u32)]) -> Vec<usize> {
    Arch::new().dispatch(|| {
        let mut found = Vec::new();
        for (at, signature) in signatures.iter().enumerate() {
            let own = u64::from_le_bytes(*signature);
            let mut is_near = own == u64::MAX;
            for (bits, least) in wanted {
                is_near |= (own & bits).count_ones() >= *least;
            }
            if is_near {
                found.push(at);
            }
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_as_one_number_after_the_other() {
        for length in [2, 64, 70, 256] {
            let half = length / 2;
            let rows: Vec<u8> = (0..3 * half).map(|n| (n * 91 % 256) as u8).collect();
            let scales = [0.5_f32, 0.013, 3.0].map(f32::to_le_bytes);
            let tokens = [2, 0, 0, 1];
            let mut sum = vec![0.25; length];
            add_rows(&mut sum, &rows, &scales, &tokens);
            for (at, sum) in sum.iter().enumerate() {
                let value = |token: u32| {
                    let both = rows[token as usize * half + at % half];
                    let own = if at < half { both & 15 } else { both >> 4 };
                    f32::from_le_bytes(scales[token as usize]) * step(own)
                };
                assert_eq!(*sum, tokens.iter().fold(0.25, |sum, token| sum + value(*token)));
            }
        }
    }

    #[test]
    fn a_dot_product_is_exact() {
        let a: Vec<i16> = (0..300).map(|n| (n * 37 % 255 - 127) as i16).collect();
        let b: Vec<u8> = (0..300).map(|n| (n * 91 % 256) as u8).collect();
        let exact: i64 = a.iter().zip(&b).map(|(a, b)| i64::from(*a) * i64::from(*b as i8)).sum();
        assert_eq!(i64::from(dot(&a, &b)), exact);
    }

    #[test]
    fn differing_signs_are_counted_over_all_words() {
        let signs = [5, 0, u64::MAX, 1];
        let first = [5_u64, 4, 0xff00, 5].map(u64::to_le_bytes);
        let rows = [1_u32, 0, 0, u32::MAX].map(u32::to_le_bytes);
        let row = |words: [u64; 3]| {
            let mut row = [0; 24];
            row.as_chunks_mut::<8>().0.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
            row
        };
        let others = [row([0, u64::MAX, 1]), row([7, 0, 0])];
        let of = SignRows { first: &first, rows: &rows, others: &others };
        assert_eq!(differences(of, &signs, 1), [(3 + 64 + 1, 0), (1, 1)]);
    }

    #[test]
    fn signatures_share_as_many_bits_as_each_word_asks_for() {
        let signatures = [0b1011_u64, 0b1000, u64::MAX, 0].map(u64::to_le_bytes);
        assert_eq!(sharing(&signatures, &[(0b0011, 2)]), [0, 2]);
        assert_eq!(sharing(&signatures, &[(0b0011, 2), (0b1000, 1)]), [0, 1, 2]);
        assert_eq!(sharing(&signatures, &[]), [2]);
    }
}
