//! Encodes built-in vectors: two bits per dimension, 64 bytes per vector.
//!
//! Each dimension of a unit vector becomes one of four levels: its sign, and whether it is large. The levels are those
//! with the least distortion for normally distributed numbers (Max, "Quantizing for minimum distortion", 1960). The
//! cosine with a question's exact vector is off by about 0.02, a fifth of the spread of unrelated texts. Codes of one
//! byte per dimension would take four times the space. They would bring the answers of only two more of `notes-dev`'s
//! 180 questions among the first ten hits. If there are many vectors, the signs choose those that are compared
//! ([`crate::search::retrieve::nearest_vectors`]).
//!
//! Vectors of external models are int8 rows in one flat array ([`Matrix`]): each dimension is one byte, and each row
//! has one scale. The cosine of two such rows differs from the exact one by less than 0.01. Every row is compared,
//! which is exact and, for a person's vault, faster than maintaining a graph.

use vector_loops::ByteSums;

use crate::embed::table::{DIMENSIONS, normalise};

/// Words of 64 bits in each half of a code.
pub const WORDS: usize = DIMENSIONS / 64;
/// The signs of a vector, a bit a dimension.
pub type Signs = [u64; WORDS];

/// The content hash of a text. Among ten million texts, two have the same hash in one of three hundred thousand vaults.
pub type Hash = [u8; 8];

/// The content hash of `text`.
pub fn hash(text: &str) -> Hash {
    let mut out = Hash::default();
    out.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..size_of::<Hash>()]);
    out
}

/// From here on a dimension is large, in standard deviations; what small and large ones stand for.
const THRESHOLD: f32 = 0.9816;
const LEVELS: [f32; 2] = [0.4528, 1.510];

/// A vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// Which dimensions are positive.
    pub signs: Signs,
    /// Which are far from zero.
    pub large: Signs,
}

impl Code {
    /// The code of a unit vector; none for one of another dimension or without a direction.
    pub fn of(unit: &[f32]) -> Option<Self> {
        if unit.len() != DIMENSIONS || !unit.iter().any(|x| *x != 0.0) {
            return None;
        }
        let large = THRESHOLD / (DIMENSIONS as f32).sqrt();
        let bits = |is: &dyn Fn(f32) -> bool| {
            std::array::from_fn(|word| {
                let of_word = unit[word * 64..][..64].iter().enumerate();
                of_word.fold(0, |bits, (bit, x)| bits | u64::from(is(*x)) << bit)
            })
        };
        Some(Self { signs: bits(&|x| x > 0.0), large: bits(&|x| x.abs() >= large) })
    }

    /// The unit vector that it stands for.
    pub fn vector(&self) -> Vec<f32> {
        let bit = |words: &Signs, at: usize| words[at / 64] >> (at % 64) & 1;
        let level = |at| {
            let size = LEVELS[usize::from(bit(&self.large, at) == 1)];
            if bit(&self.signs, at) == 1 { size } else { -size }
        };
        let mut vector: Vec<f32> = (0..DIMENSIONS).map(level).collect();
        normalise(&mut vector);
        vector
    }

    /// One over the length of the vector of levels.
    #[inline(always)]
    fn scale(&self) -> f32 {
        let large: u32 = self.large.iter().map(|word| word.count_ones()).sum();
        let small = DIMENSIONS as f32 - large as f32;
        (small * LEVELS[0].powi(2) + large as f32 * LEVELS[1].powi(2)).sqrt().recip()
    }
}

/// A question's vector, prepared for comparison: for each eight dimensions the sums of all 256 choices of them.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedQuery {
    of: Box<ByteSums>,
    all: f32,
    /// The question's own signs.
    pub signs: Signs,
}

impl PreparedQuery {
    /// Of a unit vector; none for one of another dimension or without a direction.
    pub fn new(unit: &[f32]) -> Option<Self> {
        let signs = Code::of(unit)?.signs;
        let mut of = Box::new([[0.0; 256]; DIMENSIONS / 8]);
        for (sums, eight) in of.iter_mut().zip(unit.chunks(8)) {
            for choice in 1..256_usize {
                let lowest = choice.trailing_zeros() as usize;
                sums[choice] = sums[choice & (choice - 1)] + eight[lowest];
            }
        }
        let all = of.iter().map(|sums| sums[255]).sum();
        Some(Self { of, all, signs })
    }

    /// The cosine with a vector of the same dimension.
    pub fn cosine(&self, code: &Code) -> f32 {
        let [positive, large, large_positive] = vector_loops::sum_bytes(&self.of, code.signs, code.large);
        // Twice the positive ones less all is the sum with its signs.
        let (signed, signed_large) = (2.0 * positive - self.all, 2.0 * large_positive - large);
        (LEVELS[0] * (signed - signed_large) + LEVELS[1] * signed_large) * code.scale()
    }
}

/// Rows of one dimension.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    dimensions: usize,
    /// Signed bytes.
    rows: Vec<u8>,
    scales: Vec<f32>,
}

/// A vector to compare with a [`Matrix`], or with the built-in vectors' codes.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// In steps of `scale`.
    wide: Vec<i16>,
    scale: f32,
    /// For the built-in vectors; none if its dimension is another one.
    pub sums: Option<PreparedQuery>,
}

impl Probe {
    /// `vector`, brought to unit length; `None` for one without a direction.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let (unit, wide, scale) = quantised(vector)?;
        Some(Self { wide, scale, sums: PreparedQuery::new(&unit) })
    }

    /// The cosine with a row of signed bytes and its scale; 0 where the dimensions differ.
    #[inline(always)]
    pub fn cosine(&self, row: &[u8], scale: f32) -> f32 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a sum of byte products, below 2^24 for our dimensions"
        )]
        let dot = |row| vector_loops::dot(&self.wide, row) as f32;
        if row.len() == self.wide.len() { dot(row) * scale * self.scale } else { 0.0 }
    }
}

/// The scale (little-endian f32) and the bytes of `vector`, brought to unit length, for storing; `None` for one without
/// a direction.
pub fn to_bytes(vector: &[f32]) -> Option<Vec<u8>> {
    let (_, wide, scale) = quantised(vector)?;
    let mut bytes = scale.to_le_bytes().to_vec();
    // Quantised values are those of a signed byte.
    bytes.extend(wide.iter().map(|x| x.to_le_bytes()[0]));
    Some(bytes)
}

/// `vector`, brought to unit length; that in steps of a scale, and the scale; none for one without a direction.
fn quantised(vector: &[f32]) -> Option<(Vec<f32>, Vec<i16>, f32)> {
    let mut unit = vector.to_vec();
    normalise(&mut unit);
    let scale = unit.iter().fold(0.0_f32, |most, x| most.max(x.abs())) / 127.0;
    let inverse = 1.0 / scale;
    let wide = unit.iter().map(|x| quantise(*x, inverse)).collect();
    (scale > 0.0 && scale.is_finite()).then_some((unit, wide, scale))
}

impl Matrix {
    /// An empty matrix for vectors of this dimension.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, rows: Vec::new(), scales: Vec::new() }
    }

    /// The dimension of its rows.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Appends a row in the form of [`to_bytes`]. If there is none, or its dimension differs, appends a row whose
    /// cosine with every vector is 0.
    pub fn push(&mut self, bytes: Option<&[u8]>) {
        let row = bytes.and_then(|bytes| bytes.split_first_chunk::<4>());
        match row.filter(|(_, values)| values.len() == self.dimensions) {
            Some((scale, values)) => {
                self.rows.extend_from_slice(values);
                self.scales.push(f32::from_le_bytes(*scale));
            }
            None => {
                self.rows.resize(self.rows.len() + self.dimensions, 0);
                self.scales.push(0.0);
            }
        }
    }

    /// The signed bytes of a row, and their scale.
    pub fn row_parts(&self, row: usize) -> (&[u8], f32) {
        (&self.rows[row * self.dimensions..][..self.dimensions], self.scales[row])
    }

    /// Whether a row has a vector.
    pub fn has(&self, row: usize) -> bool {
        self.scales.get(row).is_some_and(|scale| *scale > 0.0)
    }
}

/// `x` in steps of `1 / inverse`, rounded to the nearest.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of a byte")]
fn quantise(x: f32, inverse: f32) -> i16 {
    (x * inverse).clamp(-127.0, 127.0).round_ties_even() as i16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn cosines_are_near_the_exact_ones(
            a in proptest::collection::vec(-1.0_f32..1.0, DIMENSIONS),
            b in proptest::collection::vec(-1.0_f32..1.0, DIMENSIONS),
            part in 0.0_f32..1.0,
        ) {
            let mut a = a;
            // Near ones too.
            let mut b: Vec<f32> = a.iter().zip(&b).map(|(a, b)| part * a + (1.0 - part) * b).collect();
            normalise(&mut a);
            normalise(&mut b);
            let exact: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            let code = Code::of(&b).unwrap();
            let found = PreparedQuery::new(&a).unwrap().cosine(&code);
            prop_assert!((found - exact).abs() < 0.12, "{found} {exact}");
            let plain: f32 = a.iter().zip(code.vector()).map(|(a, b)| a * b).sum();
            prop_assert!((found - plain).abs() < 1e-4, "{found} {plain}");
        }
    }

    #[test]
    fn nothing_is_like_a_vector_without_direction() {
        assert_eq!(Code::of(&[0.0; DIMENSIONS]), None);
        assert_eq!(Code::of(&[1.0, 0.0]), None);
        assert_eq!(PreparedQuery::new(&[]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn quantised_cosines_are_near_the_exact_ones(
            a in proptest::collection::vec(-1.0_f32..1.0, 256),
            b in proptest::collection::vec(-1.0_f32..1.0, 256),
        ) {
            let mut matrix = Matrix::new(256);
            matrix.push(to_bytes(&b).as_deref());
            matrix.push(None);
            let probe = Probe::new(&a).unwrap();
            let out = [0, 1].map(|row| {
                let (values, scale) = matrix.row_parts(row);
                probe.cosine(values, scale)
            });
            let (mut x, mut y) = (a.clone(), b.clone());
            normalise(&mut x);
            normalise(&mut y);
            let exact: f32 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            prop_assert!((out[0] - exact).abs() < 0.01, "{} {exact}", out[0]);
            prop_assert_eq!(out[1], 0.0);
        }
    }

    #[test]
    fn no_row_is_like_a_vector_without_direction() {
        assert_eq!(Probe::new(&[0.0; 4]), None);
        assert_eq!(Probe::new(&[f32::NAN; 4]), None);
        assert_eq!(Probe::new(&[1.0, 0.0]).unwrap().cosine(&[127, 0, 0, 0], 1.0), 0.0);
    }
}
