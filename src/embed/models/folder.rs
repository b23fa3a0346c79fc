//! Loads a static model from a folder, in the form that model2vec saves: one vector a token, summed.
//!
//! The folder holds `model.safetensors` with the tensor `embeddings` (floating point, or int8 with one scale for all;
//! `weights` and `mapping` beside it count), and `tokenizer.json`. Rows are kept like the built-in table's: at most
//! [`DIMENSIONS`] numbers, int8 with a scale each; a text's vector is spread over all of them ([`spread`]). The files
//! are read whole when the model is opened, and are bounded. Vectors of different versions of the files are never
//! compared: the model's name includes the version, by the files' sizes and times.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::table::{DIMENSIONS, MOST_TOKENS, normalise};
use crate::embed::EmbedError;
use crate::embed::tensors::Tensors;
use crate::embed::tokens::Tokenizer;

/// The most bytes of the tensors.
const MOST_TENSORS: u64 = 2 << 30;
/// The most bytes of the tokenizer.
const MOST_TOKENIZER: u64 = 128 << 20;
const TENSORS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";

/// The model.
#[derive(Debug)]
pub struct StaticModelFolder {
    name: String,
    dir: PathBuf,
    tokenizer: Tokenizer,
    /// For each token: where its row is.
    places: Option<Vec<u32>>,
    scales: Vec<f32>,
    rows: Vec<i8>,
    width: usize,
}

impl StaticModelFolder {
    /// Loads the model in `dir`.
    ///
    /// # Errors
    /// Something is missing, too large or no such model; the error names the file and what it lacks.
    pub fn open(dir: &Path) -> Result<Self, EmbedError> {
        let wrong =
            |what: String| EmbedError::Settings(format!("the table's folder `{}` {what}", dir.display()));
        let name = name(dir).map_err(wrong)?;
        let tokenizer = read(dir, TOKENIZER).map_err(wrong)?;
        let tokenizer = String::from_utf8(tokenizer)
            .map_err(|_| wrong("has a `tokenizer.json` that is no text".to_owned()))?;
        let tokenizer = Tokenizer::read(&tokenizer).map_err(wrong)?;
        let bytes = read(dir, TENSORS).map_err(wrong)?;
        let tensors = Tensors::read(&bytes).map_err(wrong)?;
        let model = Self {
            name,
            dir: dir.to_owned(),
            tokenizer,
            places: None,
            scales: Vec::new(),
            rows: Vec::new(),
            width: 0,
        };
        model.with(&tensors).map_err(wrong)
    }

    fn with(mut self, tensors: &Tensors<'_>) -> Result<Self, String> {
        let table = tensors.matrix("embeddings")?;
        let tokens = self.tokenizer.len();
        let row = |name: &str| if tensors.has(name) { tensors.row(name).map(Some) } else { Ok(None) };
        let (weights, mapping) = (row("weights")?, row("mapping")?);
        if let Some(mapping) = &mapping {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places of rows")]
            let places: Vec<u32> = mapping.iter().map(|place| *place as u32).collect();
            let is_whole =
                places.len() >= tokens && places.iter().all(|place| (*place as usize) < table.nrows());
            self.places = Some(places).filter(|_| is_whole);
        }
        let is_whole = if mapping.is_some() { self.places.is_some() } else { table.nrows() >= tokens };
        if !is_whole || tokens == 0 {
            return Err(format!("has a table of {} rows for {tokens} tokens", table.nrows()));
        }
        if weights.as_ref().is_some_and(|weights| weights.len() < tokens) {
            return Err(format!("has fewer weights than its {tokens} tokens"));
        }
        self.width = table.ncols().min(DIMENSIONS);
        self.rows.reserve_exact(table.nrows() * self.width);
        for row in table.rows() {
            let row = row.iter().take(self.width);
            let most = row.clone().fold(0.0_f32, |most, x| most.max(x.abs()));
            if !most.is_finite() || row.clone().any(|x| x.is_nan()) {
                return Err("has a table with something else than finite numbers".to_owned());
            }
            let scale = most.max(1e-8) / 127.0;
            self.scales.push(scale);
            #[expect(clippy::cast_possible_truncation, reason = "within -127..=127")]
            self.rows.extend(row.map(|x| (x / scale).round() as i8));
        }
        // A token's weight goes into its row's scale where each token has a row of its own.
        if let Some(weights) = weights {
            if let Some(places) = self.places.take() {
                let (rows, scales, width) = (&self.rows, &self.scales, self.width);
                let spread =
                    places.iter().flat_map(|at| rows[*at as usize * width..][..width].iter().copied());
                let (rows, scales) =
                    (spread.collect(), places.iter().map(|at| scales[*at as usize]).collect());
                (self.rows, self.scales) = (rows, scales);
            }
            self.scales.iter_mut().zip(&weights).for_each(|(scale, weight)| *scale *= weight);
        }
        if self.scales.iter().any(|scale| !scale.is_finite()) {
            return Err("has weights that are something else than finite numbers".to_owned());
        }
        Ok(self)
    }

    /// The name under which its vectors are kept.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the files are still those that were read.
    pub fn is_current(&self) -> bool {
        name(&self.dir).is_ok_and(|name| name == self.name)
    }

    /// Its tokenizer.
    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The vector of `text` with unit length, or all zeros where it knows none of its tokens; [`DIMENSIONS`] numbers.
    pub(super) fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; DIMENSIONS];
        let known = |token: &u32| Some(*token) != self.tokenizer.unknown();
        for token in self.tokenizer.tokens(text).into_iter().filter(known).take(MOST_TOKENS) {
            let place = self.places.as_ref().map_or(token, |places| places[token as usize]) as usize;
            let scale = self.scales[place];
            for (sum, value) in sum.iter_mut().zip(&self.rows[place * self.width..][..self.width]) {
                *sum += scale * f32::from(*value);
            }
        }
        normalise(&mut sum);
        spread(&mut sum);
        sum
    }
}

/// Turns a vector so that what stands in a few of its dimensions stands in all: cosines stay as they are, and what is kept
/// of each dimension ([`crate::search::store::segment::vector_code`]) says as much of it as of any other. A Walsh–Hadamard transform behind
/// signs that look random; the length is a power of two.
fn spread(vector: &mut [f32]) {
    for (at, x) in vector.iter_mut().enumerate() {
        if (at as u32).wrapping_mul(0x9E37_79B9) >> 31 == 1 {
            *x = -*x;
        }
    }
    let mut half = 1;
    while half < vector.len() {
        for pair in vector.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    normalise(vector);
}

/// The folder's name with a hash of its files' sizes and times.
fn name(dir: &Path) -> Result<String, String> {
    if !dir.is_dir() {
        return Err("is no directory".to_owned());
    }
    let mut stamp = String::new();
    for file in [TENSORS, TOKENIZER] {
        let found = std::fs::metadata(dir.join(file)).ok().filter(std::fs::Metadata::is_file);
        let Some(found) = found else { return Err(format!("lacks `{file}`")) };
        let time = found.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let _ = write!(stamp, "{} {} ", found.len(), time.unwrap_or_default().as_nanos());
    }
    let of = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let of: String = of.chars().map(|c| if c.is_ascii_graphic() { c } else { '-' }).collect();
    Ok(format!("table:{of}:{}", &blake3::hash(stamp.as_bytes()).to_hex()[..12]))
}

fn read(dir: &Path, file: &str) -> Result<Vec<u8>, String> {
    let most = if file == TENSORS { MOST_TENSORS } else { MOST_TOKENIZER };
    let path = dir.join(file);
    let unreadable = |error: std::io::Error| format!("can't be read: `{file}`: {error}");
    let size = std::fs::metadata(&path).map_err(unreadable)?.len();
    if size > most {
        return Err(format!("has a `{file}` of {} MiB; at most {} are read", size >> 20, most >> 20));
    }
    std::fs::read(&path).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_vector_stands_in_all_dimensions_at_the_same_angle() {
        let vector = |x: [f32; 3]| {
            let mut vector = vec![0.0; DIMENSIONS];
            vector[..3].copy_from_slice(&x);
            normalise(&mut vector);
            vector
        };
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let (a, b) = (vector([1.0, 0.5, 0.0]), vector([0.2, 1.0, -1.0]));
        let (mut x, mut y) = (a.clone(), b.clone());
        spread(&mut x);
        spread(&mut y);
        assert!((dot(&a, &b) - dot(&x, &y)).abs() < 1e-5);
        assert!(x.iter().all(|x| x.abs() > 0.01));
    }
}
