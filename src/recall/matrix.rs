//! Vectors as int8 rows in one flat array, and their exact search.
//!
//! A unit vector keeps its direction in a byte a dimension with one scale a row; the cosine of two such
//! rows differs from the exact one by less than 0.01. Every row is compared: for a person's vault that is
//! both exact and faster than keeping a graph.

use crate::embed::table::normalise;

/// Rows of one dimension.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    dimensions: usize,
    rows: Vec<i8>,
    scales: Vec<f32>,
}

/// A vector to compare with a [`Matrix`].
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    values: Vec<i8>,
    scale: f32,
}

impl Probe {
    /// Quantises `vector`, brought to unit length; `None` for one without a direction.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let mut unit = vector.to_vec();
        normalise(&mut unit);
        let scale = largest(&unit) / 127.0;
        (scale > 0.0 && scale.is_finite())
            .then(|| Self { values: unit.iter().map(|x| quantise(*x, scale)).collect(), scale })
    }
}

impl Probe {
    /// The scale (little-endian f32) and the bytes, for storing.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.scale.to_le_bytes().to_vec();
        bytes.extend(self.values.iter().map(|x| x.cast_unsigned()));
        bytes
    }
}

impl Matrix {
    /// An empty matrix for vectors of this dimension.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, rows: Vec::new(), scales: Vec::new() }
    }

    /// From stored parts; `None` where their sizes don't agree.
    pub fn from_parts(dimensions: usize, rows: Vec<i8>, scales: Vec<f32>) -> Option<Self> {
        (rows.len() == dimensions * scales.len()).then_some(Self { dimensions, rows, scales })
    }

    /// The dimension of its rows.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// The bytes and scales, for storing.
    pub fn parts(&self) -> (&[i8], &[f32]) {
        (&self.rows, &self.scales)
    }

    /// Appends a vector, brought to unit length; one of another dimension (or none) becomes a row that is
    /// like nothing.
    pub fn push(&mut self, vector: &[f32]) {
        let probe = if vector.len() == self.dimensions { Probe::new(vector) } else { None };
        if let Some(probe) = probe {
            self.rows.extend_from_slice(&probe.values);
            self.scales.push(probe.scale);
        } else {
            self.rows.resize(self.rows.len() + self.dimensions, 0);
            self.scales.push(0.0);
        }
    }

    /// Appends a row as [`Probe::to_bytes`] stored it; says whether it was one of this dimension.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> bool {
        let Some((scale, values)) = bytes.split_first_chunk::<4>() else { return false };
        if values.len() != self.dimensions {
            return false;
        }
        self.rows.extend(values.iter().map(|x| x.cast_signed()));
        self.scales.push(f32::from_le_bytes(*scale));
        true
    }

    /// A row as [`Probe::to_bytes`] stores it.
    pub fn row_bytes(&self, row: usize) -> Vec<u8> {
        let mut bytes = self.scales[row].to_le_bytes().to_vec();
        bytes.extend(self.rows[row * self.dimensions..][..self.dimensions].iter().map(|x| x.cast_unsigned()));
        bytes
    }

    /// A row as numbers.
    pub fn row(&self, row: usize) -> Vec<f32> {
        let values = &self.rows[row * self.dimensions..][..self.dimensions];
        values.iter().map(|x| f32::from(*x) * self.scales[row]).collect()
    }

    /// Copies a row of another matrix of the same dimension onto the end; a missing one becomes a row that
    /// is like nothing.
    pub fn push_row(&mut self, from: &Self, row: Option<usize>) {
        match row.filter(|row| *row < from.len() && from.dimensions == self.dimensions) {
            Some(row) => {
                self.rows.extend_from_slice(&from.rows[row * self.dimensions..][..self.dimensions]);
                self.scales.push(from.scales[row]);
            }
            None => self.push(&[]),
        }
    }

    /// Replaces a row.
    pub fn set(&mut self, row: usize, vector: &[f32]) {
        if row < self.len()
            && vector.len() == self.dimensions
            && let Some(probe) = Probe::new(vector)
        {
            self.rows[row * self.dimensions..][..self.dimensions].copy_from_slice(&probe.values);
            self.scales[row] = probe.scale;
        }
    }

    /// Whether a row has a vector.
    pub fn has(&self, row: usize) -> bool {
        self.scales.get(row).is_some_and(|scale| *scale > 0.0)
    }

    /// The cosine of the probe with each row of `range`, into `out` (cleared first); 0 for rows without a
    /// vector, and for all where the dimensions differ.
    pub fn cosines(&self, probe: &Probe, range: std::ops::Range<usize>, out: &mut Vec<f32>) {
        out.clear();
        if probe.values.len() != self.dimensions {
            out.resize(range.len(), 0.0);
            return;
        }
        let rows = self.rows[range.start * self.dimensions..range.end * self.dimensions]
            .chunks_exact(self.dimensions.max(1));
        let wide: Vec<i16> = probe.values.iter().map(|x| i16::from(*x)).collect();
        out.extend(rows.zip(&self.scales[range]).map(|(row, scale)| dot(&wide, row) * scale * probe.scale));
    }

    /// The cosine of two rows.
    pub fn between(&self, a: usize, b: usize) -> f32 {
        let row = |at: usize| &self.rows[at * self.dimensions..][..self.dimensions];
        let wide: Vec<i16> = row(a).iter().map(|x| i16::from(*x)).collect();
        dot(&wide, row(b)) * self.scales[a] * self.scales[b]
    }
}

/// The exact integer dot product. Plain loops over fixed widths, which the compiler turns into SIMD:
/// 16-bit products of two bytes can't overflow 32-bit sums of any dimension we store.
fn dot(wide: &[i16], row: &[i8]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0_i32; LANES];
    let (chunks, rests) = (wide.chunks_exact(LANES), row.chunks_exact(LANES));
    let rest: i32 =
        chunks.remainder().iter().zip(rests.remainder()).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    for (a, b) in chunks.zip(rests) {
        for lane in 0..LANES {
            sums[lane] += i32::from(a[lane]) * i32::from(i16::from(b[lane]));
        }
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a sum of byte products stays below 2^24 for our dimensions"
    )]
    let total = (sums.iter().sum::<i32>() + rest) as f32;
    total
}

fn largest(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0, |most, x| most.max(x.abs()))
}

#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of a byte")]
fn quantise(x: f32, scale: f32) -> i8 {
    (x / scale).round().clamp(-127.0, 127.0) as i8
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
            matrix.push(&b);
            matrix.push(&[]);
            let probe = Probe::new(&a).unwrap();
            let mut out = Vec::new();
            matrix.cosines(&probe, 0..2, &mut out);
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
        let mut matrix = Matrix::new(4);
        matrix.push(&[1.0, 0.0, 0.0, 0.0]);
        let mut out = Vec::new();
        matrix.cosines(&Probe::new(&[1.0, 0.0]).unwrap(), 0..1, &mut out);
        assert_eq!(out, [0.0]);
        assert!(Matrix::from_parts(3, vec![0; 5], vec![1.0; 2]).is_none());
    }
}
