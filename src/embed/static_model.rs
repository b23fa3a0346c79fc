//! Opens the static model that the settings name ([`StaticModel`]): the table in the binary, a table in a folder, or
//! none. [`Embedder`] embeds many texts with it.
//!
//! A folder has the layout of model2vec: one vector per token; a text's vector is the sum of its tokens' vectors. The
//! folder holds `tokenizer.json`, and `model.safetensors` with the tensor `embeddings` (floating point, or int8 with
//! one scale). The tensors `weights` and `mapping` are optional; they hold each token's weight and row. In memory, a
//! row is at most [`DIMENSIONS`] numbers as int8, with a scale of its own. A rotation ([`spread`]) distributes the
//! content of a text's vector over all dimensions. The files are read when the model is opened, up to a size limit. The
//! model's name includes a hash of the files' sizes and times, so vectors of different versions are never compared.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rustc_hash::FxHashMap;

use super::model_files::{Tensors, Tokenizer};
use super::table::{self, BuiltinTable, DIMENSIONS, MOST_TOKENS, normalise};
use super::{EmbedPurpose, ModelError, Provider, wordpiece};
use crate::config::Settings;

/// A static model; its vectors have [`DIMENSIONS`] numbers.
#[derive(Debug, Clone, Default)]
pub enum StaticModel {
    /// The table in the binary.
    #[default]
    Builtin,
    /// A folder's.
    Folder(Arc<StaticModelFolder>),
    /// None: the settings want no vectors.
    Off,
}

impl StaticModel {
    /// The model that the settings name. If it can't be read, the built-in model and the error. Folders count from
    /// `root`, the vault's own.
    pub fn of(settings: &Settings, root: &Path) -> (Self, Option<ModelError>) {
        if settings.embed.provider == "none" {
            return (Self::Off, None);
        }
        match settings.embed.table.as_deref().map(|dir| StaticModelFolder::open(&root.join(dir))) {
            None => (Self::Builtin, None),
            Some(Ok(folder)) => (Self::Folder(Arc::new(folder)), None),
            Some(Err(error)) => (Self::Builtin, Some(error)),
        }
    }

    /// The name under which its vectors are kept; changes whenever they do.
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin => table::NAME,
            Self::Folder(folder) => &folder.name,
            Self::Off => "none",
        }
    }

    /// Whether it is the table in the binary.
    pub fn is_builtin(&self) -> bool {
        matches!(self, Self::Builtin)
    }

    /// Whether its files are still those that were read.
    pub fn is_current(&self) -> bool {
        if let Self::Folder(folder) = self { folder.is_current() } else { true }
    }

    /// The vector of `text` with unit length, or all zeros where no token has one.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        Embedder::default().embed_with(self, text)
    }

    /// The share of the words of `text` that the model knows as whole words, which shows how well it can represent the
    /// text. Words for which `skips` is true don't count. 0 if there are no words.
    pub fn known(&self, text: &str, skips: impl Fn(&str) -> bool) -> f32 {
        let mut words: Vec<(String, bool)> = Vec::new();
        if let Self::Folder(folder) = self {
            words = folder.tokenizer.words(text);
        } else {
            let table = BuiltinTable::builtin();
            // Characters of scripts that the model never learned are tokens, too.
            let is_spaced = |word: &str| word.chars().all(|c| u32::from(c) < 0x2E80);
            wordpiece::words(text, |word| words.push((word.to_owned(), is_spaced(word) && table.has(word))));
        }
        words.retain(|(word, _)| !word.is_empty() && word.chars().all(char::is_alphanumeric) && !skips(word));
        let known = words.iter().filter(|(_, is_known)| *is_known).count();
        known as f32 / words.len().max(1) as f32
    }
}

#[async_trait]
impl Provider for StaticModel {
    fn name(&self) -> &str {
        self.name()
    }

    fn batch(&self) -> usize {
        512
    }

    async fn embed(&self, texts: &[String], _: EmbedPurpose) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut embedder = Embedder::default();
        Ok(texts.iter().map(|text| embedder.embed_with(self, text)).collect())
    }
}

impl BuiltinTable {
    /// The vector of `text` with unit length, or all zeros where no token has one.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        StaticModel::Builtin.embed(text)
    }
}

/// Embeds many texts: it keeps the tokens of the words that it has met, up to [`MOST_WORDS`] of them.
#[derive(Debug, Default)]
pub struct Embedder {
    /// The tokens of each word.
    words: FxHashMap<Box<str>, Box<[u32]>>,
    /// Those of one text.
    text: Vec<u32>,
}

/// A vault has some hundred thousand different words, most of them once: so many cost 5 MB.
const MOST_WORDS: usize = 1 << 16;

impl Embedder {
    /// The vector of `text` by `model`, which is the same in all calls.
    pub fn embed_with(&mut self, model: &StaticModel, text: &str) -> Vec<f32> {
        match model {
            StaticModel::Builtin => {}
            StaticModel::Folder(folder) => return folder.embed(text),
            StaticModel::Off => return vec![0.0; DIMENSIONS],
        }
        let table = BuiltinTable::builtin();
        self.text.clear();
        wordpiece::words(text, |word| {
            if self.text.len() >= MOST_TOKENS {
                return;
            }
            if let Some(tokens) = self.words.get(word) {
                return self.text.extend_from_slice(tokens);
            }
            let of_text = self.text.len();
            wordpiece::split(&table, word, &mut self.text);
            if self.words.len() < MOST_WORDS {
                self.words.insert(word.into(), self.text[of_text..].into());
            }
        });
        self.text.truncate(MOST_TOKENS);
        table.embed_tokens(&self.text)
    }
}

/// The most bytes of the tensors.
const MOST_TENSORS: u64 = 2 << 30;
/// The most bytes of the tokenizer.
const MOST_TOKENIZER: u64 = 128 << 20;
const TENSORS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";

/// A static model in a folder.
#[derive(Debug)]
pub struct StaticModelFolder {
    name: String,
    dir: PathBuf,
    tokenizer: Tokenizer,
    /// For each token: where its row is, and its weight.
    places: Vec<u32>,
    weights: Vec<f32>,
    scales: Vec<f32>,
    rows: Vec<i8>,
    width: usize,
}

impl StaticModelFolder {
    /// Loads the model in `dir`.
    ///
    /// # Errors
    /// Something is missing, too large or no such model; the error names the file and what it lacks.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        let wrong =
            |what: String| ModelError::Settings(format!("the table's folder `{}` {what}", dir.display()));
        let name = name(dir).map_err(wrong)?;
        let tokenizer = read(dir, TOKENIZER).map_err(wrong)?;
        let tokenizer = String::from_utf8(tokenizer)
            .map_err(|_| wrong("has a `tokenizer.json` that is no text".to_owned()))?;
        let tokenizer = Tokenizer::read(&tokenizer).map_err(wrong)?;
        let bytes = read(dir, TENSORS).map_err(wrong)?;
        let tensors = Tensors::read(&bytes).map_err(wrong)?;
        Self::from_tensors(name, dir, tokenizer, &tensors).map_err(wrong)
    }

    fn from_tensors(
        name: String,
        dir: &Path,
        tokenizer: Tokenizer,
        tensors: &Tensors<'_>,
    ) -> Result<Self, String> {
        let table = tensors.matrix("embeddings")?;
        let tokens = tokenizer.len();
        let row = |name: &str| if tensors.has(name) { tensors.row(name).map(Some) } else { Ok(None) };
        let (weights, mapping) = (row("weights")?, row("mapping")?);
        let places: Vec<u32> = match mapping {
            Some(mapping) => mapping.iter().map(|place| *place as u32).collect(),
            None => (0..tokens as u32).collect(),
        };
        let is_row = |place: &u32| (*place as usize) < table.nrows();
        if tokens == 0 || places.len() < tokens || !places.iter().all(is_row) {
            return Err(format!("has a table of {} rows for {tokens} tokens", table.nrows()));
        }
        let weights = weights.map_or_else(|| vec![1.0; tokens], |weights| weights.to_vec());
        if weights.len() < tokens {
            return Err(format!("has fewer weights than its {tokens} tokens"));
        }
        let width = table.ncols().min(DIMENSIONS);
        let (mut rows, mut scales) = (Vec::with_capacity(table.nrows() * width), Vec::new());
        for row in table.rows() {
            let row = row.iter().take(width);
            let most = row.clone().fold(0.0_f32, |most, x| most.max(x.abs()));
            if !most.is_finite() || row.clone().any(|x| x.is_nan()) {
                return Err("has a table with something else than finite numbers".to_owned());
            }
            let scale = most.max(1e-8) / 127.0;
            scales.push(scale);
            rows.extend(row.map(|x| (x / scale).round() as i8));
        }
        let largest = scales.iter().copied().fold(0.0, f32::max);
        if weights.iter().any(|weight| !(weight * largest).is_finite()) {
            return Err("has weights that are something else than finite numbers".to_owned());
        }
        Ok(Self { name, dir: dir.to_owned(), tokenizer, places, weights, scales, rows, width })
    }

    /// Whether the files are still those that were read.
    pub fn is_current(&self) -> bool {
        name(&self.dir).is_ok_and(|name| name == self.name)
    }

    /// The vector of `text` with unit length, or all zeros where it knows none of its tokens; [`DIMENSIONS`] numbers.
    fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; DIMENSIONS];
        let known = |token: &u32| Some(*token) != self.tokenizer.unknown();
        for token in self.tokenizer.tokens(text).into_iter().filter(known).take(MOST_TOKENS) {
            let place = self.places[token as usize] as usize;
            let scale = self.scales[place] * self.weights[token as usize];
            for (sum, value) in sum.iter_mut().zip(&self.rows[place * self.width..][..self.width]) {
                *sum += scale * f32::from(*value);
            }
        }
        normalise(&mut sum);
        spread(&mut sum);
        sum
    }
}

/// Rotates a vector so that its content is spread over all dimensions. Cosines stay the same, and each dimension of its
/// code ([`crate::search::store::vector_code`]) holds equally much. The rotation is a Walsh–Hadamard transform after
/// pseudo-random signs; the length is a power of two.
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
