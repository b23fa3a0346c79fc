//! A BERT-family sentence model from a directory, run in process on the CPU.
//!
//! The directory is what sentence-transformers saves: `config.json`, `model.safetensors`, and `vocab.txt`
//! or `tokenizer.json`. The forward pass is the plain one (Devlin et al. 2019): embeddings, layers of
//! attention and feed-forward with layer norms, the mean over the tokens, unit length. One text at a
//! time: without padding, batches gain nothing on a CPU.

use std::collections::HashMap;
use std::path::Path;

use async_trait::async_trait;
use ndarray::{Array1, Array2, Axis, s};
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

use super::wordpiece::{self, Vocabulary};
use super::{EmbedError, Provider, Purpose, check, table};

/// Sentence models are trained on short texts; what is behind this many tokens isn't read.
const MOST_TOKENS: usize = 256;

#[derive(Debug, Deserialize)]
struct Config {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    max_position_embeddings: usize,
    #[serde(default = "default_eps")]
    layer_norm_eps: f32,
    #[serde(default)]
    hidden_act: Option<String>,
    #[serde(default)]
    model_type: Option<String>,
}

fn default_eps() -> f32 {
    1e-12
}

/// A linear layer: weights (out x in) and bias.
#[derive(Debug)]
struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

#[derive(Debug)]
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    wide: Linear,
    narrow: Linear,
    narrow_norm: Norm,
}

#[derive(Debug)]
struct Words {
    pieces: HashMap<String, u32>,
    unknown: u32,
    first: u32,
    last: u32,
}

impl Vocabulary for Words {
    fn piece(&self, piece: &str, inner: bool) -> Option<u32> {
        if inner { self.pieces.get(&format!("##{piece}")) } else { self.pieces.get(piece) }.copied()
    }

    fn unknown(&self) -> u32 {
        self.unknown
    }
}

/// The model.
#[derive(Debug)]
pub struct Local {
    name: String,
    config: Config,
    words: Words,
    word: Array2<f32>,
    position: Array2<f32>,
    kind: Array1<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

impl Local {
    /// Loads the model in `dir`.
    ///
    /// # Errors
    /// Something is missing or isn't a BERT model; the error names the file and what it lacks.
    pub fn open(dir: &Path) -> Result<Self, EmbedError> {
        let wrong =
            |what: String| EmbedError::Settings(format!("the model directory `{}` {what}", dir.display()));
        if !dir.is_dir() {
            return Err(wrong("is no directory".to_owned()));
        }
        let missing: Vec<&str> = ["config.json", "model.safetensors"]
            .into_iter()
            .filter(|name| !dir.join(name).is_file())
            .collect();
        let has_words = dir.join("vocab.txt").is_file() || dir.join("tokenizer.json").is_file();
        if !missing.is_empty() || !has_words {
            let mut missing: Vec<String> = missing.into_iter().map(|name| format!("`{name}`")).collect();
            if !has_words {
                missing.push("`vocab.txt` (or `tokenizer.json`)".to_owned());
            }
            return Err(wrong(format!("lacks {}", missing.join(", "))));
        }
        let read = |name: &str| {
            std::fs::read(dir.join(name)).map_err(|error| wrong(format!("can't be read: `{name}`: {error}")))
        };
        let config: Config = serde_json::from_slice(&read("config.json")?)
            .map_err(|error| wrong(format!("has a `config.json` of another kind: {error}")))?;
        if config.model_type.as_deref().is_some_and(|kind| kind != "bert") {
            return Err(wrong(format!(
                "holds a `{}` model; only `bert` is known",
                config.model_type.unwrap_or_default()
            )));
        }
        if config.hidden_act.as_deref().is_some_and(|act| act != "gelu") {
            return Err(wrong(format!(
                "uses the activation `{}`; only `gelu` is known",
                config.hidden_act.unwrap_or_default()
            )));
        }
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return Err(wrong("has a `config.json` whose heads don't divide its hidden size".to_owned()));
        }
        let words = Words::read(dir).map_err(wrong)?;
        let bytes = read("model.safetensors")?;
        let tensors = SafeTensors::deserialize(&bytes)
            .map_err(|error| wrong(format!("has a damaged `model.safetensors`: {error}")))?;
        let hash = blake3::hash(&bytes);
        let source = Source { tensors, prefix: "" }.with_prefix();
        let size = config.hidden_size;
        let model = || -> Result<Self, String> {
            let kinds = source.matrix("embeddings.token_type_embeddings.weight")?;
            let layers =
                (0..config.num_hidden_layers).map(|at| source.layer(at)).collect::<Result<_, String>>()?;
            let name = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Ok(Self {
                name: format!("local:{name}:{}", &hash.to_hex()[..12]),
                word: source.matrix("embeddings.word_embeddings.weight")?,
                position: source.matrix("embeddings.position_embeddings.weight")?,
                kind: kinds.row(0).to_owned(),
                norm: source.norm("embeddings.LayerNorm")?,
                layers,
                words,
                config,
            })
        };
        let model = model().map_err(wrong)?;
        let sane = model.word.ncols() == size
            && model.position.ncols() == size
            && model
                .layers
                .iter()
                .all(|layer| layer.query.weight.dim() == (size, size) && layer.narrow.weight.nrows() == size);
        if !sane {
            return Err(wrong("has tensors whose sizes don't fit its `config.json`".to_owned()));
        }
        Ok(model)
    }

    /// The unit vector of one text.
    pub fn embed_one(&self, text: &str) -> Vec<f32> {
        let most = MOST_TOKENS.min(self.config.max_position_embeddings).saturating_sub(2);
        let mut tokens = vec![self.words.first];
        wordpiece::tokens(&self.words, text, most, |token| tokens.push(token));
        tokens.push(self.words.last);
        let n = tokens.len();
        let mut x = Array2::zeros((n, self.config.hidden_size));
        for (at, token) in tokens.iter().enumerate() {
            let token = (*token as usize).min(self.word.nrows() - 1);
            let sum = &self.word.row(token) + &self.position.row(at) + &self.kind;
            x.row_mut(at).assign(&sum);
        }
        let eps = self.config.layer_norm_eps;
        self.norm.apply(&mut x, eps);
        for layer in &self.layers {
            let attended = layer.attend(&x, self.config.num_attention_heads);
            x += &layer.attended.apply(&attended);
            layer.attended_norm.apply(&mut x, eps);
            let mut wide = layer.wide.apply(&x);
            wide.mapv_inplace(gelu);
            x += &layer.narrow.apply(&wide);
            layer.narrow_norm.apply(&mut x, eps);
        }
        let mut mean = x.mean_axis(Axis(0)).map(|mean| mean.to_vec()).unwrap_or_default();
        table::normalise(&mut mean);
        mean
    }
}

#[async_trait]
impl Provider for Local {
    fn name(&self) -> &str {
        &self.name
    }

    fn batch(&self) -> usize {
        16
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.push(self.embed_one(text));
            // Milliseconds of arithmetic each: let others have their turn.
            tokio::task::yield_now().await;
        }
        check(&self.name, &vectors, texts.len())?;
        Ok(vectors)
    }
}

impl Words {
    fn read(dir: &Path) -> Result<Self, String> {
        let pieces: HashMap<String, u32> = if let Ok(text) = std::fs::read_to_string(dir.join("vocab.txt")) {
            (0..).zip(text.lines()).map(|(number, piece)| (piece.trim_end().to_owned(), number)).collect()
        } else {
            #[derive(Deserialize)]
            struct Model {
                vocab: HashMap<String, u32>,
            }
            #[derive(Deserialize)]
            struct File {
                model: Model,
            }
            let text = std::fs::read_to_string(dir.join("tokenizer.json"))
                .map_err(|error| format!("has an unreadable `tokenizer.json`: {error}"))?;
            let file: File = serde_json::from_str(&text)
                .map_err(|error| format!("has a `tokenizer.json` that is no WordPiece: {error}"))?;
            file.model.vocab
        };
        let special = |name: &str| {
            pieces.get(name).copied().ok_or_else(|| format!("has a vocabulary without `{name}`"))
        };
        let (unknown, first, last) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        Ok(Self { unknown, first, last, pieces })
    }
}

impl Linear {
    fn apply(&self, x: &Array2<f32>) -> Array2<f32> {
        x.dot(&self.weight.t()) + &self.bias
    }
}

impl Norm {
    fn apply(&self, x: &mut Array2<f32>, eps: f32) {
        for mut row in x.rows_mut() {
            let mean = row.mean().unwrap_or(0.0);
            row -= mean;
            let variance = row.mapv(|x| x * x).mean().unwrap_or(0.0);
            row /= (variance + eps).sqrt();
            row *= &self.weight;
            row += &self.bias;
        }
    }
}

impl Layer {
    /// Scaled dot-product attention over all heads, side by side.
    fn attend(&self, x: &Array2<f32>, heads: usize) -> Array2<f32> {
        let (q, k, v) = (self.query.apply(x), self.key.apply(x), self.value.apply(x));
        let size = x.ncols() / heads;
        #[expect(clippy::cast_precision_loss, reason = "a head's size")]
        let scale = 1.0 / (size as f32).sqrt();
        let mut out = Array2::zeros(x.dim());
        for head in 0..heads {
            let part = s![.., head * size..(head + 1) * size];
            let mut weights = q.slice(part).dot(&k.slice(part).t()) * scale;
            softmax(&mut weights);
            out.slice_mut(part).assign(&weights.dot(&v.slice(part)));
        }
        out
    }
}

fn softmax(rows: &mut Array2<f32>) {
    for mut row in rows.rows_mut() {
        let most = row.iter().copied().fold(f32::MIN, f32::max);
        row.mapv_inplace(|x| (x - most).exp());
        let sum = row.sum();
        row /= sum;
    }
}

/// x·Φ(x) with the error function of Abramowitz and Stegun 7.1.26 (error below 1.5e-7).
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly =
        t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let erf = (1.0 - poly * (-z * z).exp()).copysign(x);
    0.5 * x * (1.0 + erf)
}

/// The tensors of a file, with or without the `bert.` before each name.
struct Source<'a> {
    tensors: SafeTensors<'a>,
    prefix: &'static str,
}

impl Source<'_> {
    fn with_prefix(mut self) -> Self {
        if self.tensors.tensor("embeddings.word_embeddings.weight").is_err() {
            self.prefix = "bert.";
        }
        self
    }

    fn numbers(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), String> {
        let tensor = self
            .tensors
            .tensor(&format!("{}{name}", self.prefix))
            .map_err(|_| format!("has a `model.safetensors` without the tensor `{name}`"))?;
        let bytes = tensor.data();
        let half = |bits: u16| -> f32 {
            let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 31, f32::from(bits & 1023));
            let value = match exponent {
                0 => fraction * 2.0_f32.powi(-24),
                31 => f32::NAN,
                _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
            };
            if sign == 1 { -value } else { value }
        };
        let pair = |b: &[u8]| u16::from_le_bytes([b[0], b[1]]);
        let numbers = match tensor.dtype() {
            Dtype::F32 => {
                bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
            }
            Dtype::F16 => bytes.chunks_exact(2).map(|b| half(pair(b))).collect(),
            Dtype::BF16 => bytes.chunks_exact(2).map(|b| f32::from_bits(u32::from(pair(b)) << 16)).collect(),
            other => return Err(format!("has the tensor `{name}` as {other:?}, not as floating point")),
        };
        Ok((tensor.shape().to_vec(), numbers))
    }

    fn matrix(&self, name: &str) -> Result<Array2<f32>, String> {
        let (shape, numbers) = self.numbers(name)?;
        let dim = if let [rows, columns] = shape[..] { (rows, columns) } else { (0, 0) };
        let matrix = Array2::from_shape_vec(dim, numbers)
            .map_err(|_| format!("has the tensor `{name}` in the shape {shape:?}"))?;
        if matrix.is_empty() { Err(format!("has an empty tensor `{name}`")) } else { Ok(matrix) }
    }

    fn linear(&self, name: &str) -> Result<Linear, String> {
        let weight = self.matrix(&format!("{name}.weight"))?;
        let bias = Array1::from_vec(self.numbers(&format!("{name}.bias"))?.1);
        if bias.len() == weight.nrows() {
            Ok(Linear { weight, bias })
        } else {
            Err(format!("has a bias of another size than `{name}.weight`"))
        }
    }

    fn norm(&self, name: &str) -> Result<Norm, String> {
        let part = |part: &str| Ok::<_, String>(Array1::from_vec(self.numbers(&format!("{name}.{part}"))?.1));
        Ok(Norm { weight: part("weight")?, bias: part("bias")? })
    }

    fn layer(&self, at: usize) -> Result<Layer, String> {
        let linear = |name: &str| self.linear(&format!("encoder.layer.{at}.{name}"));
        let norm = |name: &str| self.norm(&format!("encoder.layer.{at}.{name}"));
        Ok(Layer {
            query: linear("attention.self.query")?,
            key: linear("attention.self.key")?,
            value: linear("attention.self.value")?,
            attended: linear("attention.output.dense")?,
            attended_norm: norm("attention.output.LayerNorm")?,
            wide: linear("intermediate.dense")?,
            narrow: linear("output.dense")?,
            narrow_norm: norm("output.LayerNorm")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gelu_is_exact_enough() {
        for (x, y) in
            [(0.0, 0.0), (1.0, 0.841_344_7), (-1.0, -0.158_655_3), (3.0, 2.995_950_3), (-4.0, -0.000_126_685)]
        {
            assert!((gelu(x) - y).abs() < 1e-6, "{x} {}", gelu(x));
        }
    }

    #[test]
    fn a_directory_that_is_no_model_says_what_it_lacks() {
        let dir = tempfile::tempdir().unwrap();
        let error = Local::open(&dir.path().join("nowhere")).unwrap_err().to_string();
        assert!(error.ends_with("is no directory"), "{error}");
        let error = Local::open(dir.path()).unwrap_err().to_string();
        assert!(
            error.ends_with("lacks `config.json`, `model.safetensors`, `vocab.txt` (or `tokenizer.json`)"),
            "{error}"
        );
        for name in ["config.json", "model.safetensors", "vocab.txt"] {
            std::fs::write(dir.path().join(name), "{}").unwrap();
        }
        let error = Local::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("`config.json` of another kind"), "{error}");
    }
}
