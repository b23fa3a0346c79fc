//! Stores vectors as int8 rows in one flat array, and searches them exactly.
//!
//! A unit vector keeps its direction in a byte a dimension with one scale a row; the cosine of two such rows differs
//! from the exact one by less than 0.01. Every row is compared, which is exact and, for a person's vault, faster than
//! maintaining a graph. Vectors of external models are kept so; the built-in ones are codes
//! ([`crate::search::store::segment::vector_code`]).

use crate::embed::table::normalise;
use crate::search::store::segment::vector_code::Sums;

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
    row: Row,
    /// For the built-in vectors; none if its dimension is another one.
    pub sums: Option<Sums>,
}

/// A unit vector in steps of its scale.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    wide: Vec<i16>,
    scale: f32,
}

impl Probe {
    /// `vector`, brought to unit length; `None` for one without a direction.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let mut unit = vector.to_vec();
        normalise(&mut unit);
        Some(Self { row: Row::new(&unit)?, sums: Sums::new(&unit) })
    }

    /// The cosine with a row of signed bytes and its scale; 0 where the dimensions differ.
    #[inline(always)]
    pub fn cosine(&self, row: &[u8], scale: f32) -> f32 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a sum of byte products, below 2^24 for our dimensions"
        )]
        let dot = |row| vector_loops::dot(&self.row.wide, row) as f32;
        if row.len() == self.row.wide.len() { dot(row) * scale * self.row.scale } else { 0.0 }
    }
}

/// The scale (little-endian f32) and the bytes of `vector`, brought to unit length, for storing; `None` for one without a
/// direction.
pub fn to_bytes(vector: &[f32]) -> Option<Vec<u8>> {
    let mut unit = vector.to_vec();
    normalise(&mut unit);
    let row = Row::new(&unit)?;
    let mut bytes = row.scale.to_le_bytes().to_vec();
    bytes.extend(row.bytes());
    Some(bytes)
}

impl Row {
    fn new(unit: &[f32]) -> Option<Self> {
        let scale = largest(unit) / 127.0;
        let inverse = 1.0 / scale;
        (scale > 0.0 && scale.is_finite())
            .then(|| Self { wide: unit.iter().map(|x| quantise(*x, inverse)).collect(), scale })
    }

    fn bytes(&self) -> impl Iterator<Item = u8> {
        // Quantised values are those of a signed byte.
        self.wide.iter().map(|x| x.to_le_bytes()[0])
    }
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

    /// Appends a row as [`to_bytes`] made it; without one of this dimension, a row that is like nothing.
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

fn largest(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// `x` in steps of `1 / inverse`, rounded to the nearest: adding and taking away 1.5 * 2^23 leaves no fraction.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of a byte")]
fn quantise(x: f32, inverse: f32) -> i16 {
    const WHOLE: f32 = 12_582_912.0;
    (((x * inverse).clamp(-127.0, 127.0) + WHOLE) - WHOLE) as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn nothing_is_like_a_vector_without_direction() {
        assert_eq!(Probe::new(&[0.0; 4]), None);
        assert_eq!(Probe::new(&[f32::NAN; 4]), None);
        assert_eq!(Probe::new(&[1.0, 0.0]).unwrap().cosine(&[127, 0, 0, 0], 1.0), 0.0);
    }
}
