//! Runs the encoder of a BERT-family model from a directory, in process on the CPU.
//!
//! The directory holds `config.json`, `model.safetensors`, and `vocab.txt` or `tokenizer.json`. The forward pass is
//! that of BERT (Devlin et al. 2019). Texts are encoded one at a time, because batches gain nothing on a CPU.
//! [`super::local`] makes a text's vector of the tokens' vectors, [`crate::rerank`] a score for a pair of texts.

use std::path::Path;

use ndarray::{Array1, Array2, s};
use serde::Deserialize;

use crate::embed::model_files::{Tensors, Tokenizer};

/// A model with fewer positions has no room for a sentence.
const LEAST_POSITIONS: usize = 8;

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
pub struct Linear {
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

/// An encoder with its vocabulary.
#[derive(Debug)]
pub struct Encoder {
    name: String,
    config: Config,
    tokenizer: Tokenizer,
    /// The tokens at the beginning and at the end.
    ends: [u32; 2],
    word: Array2<f32>,
    position: Array2<f32>,
    kinds: Array2<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

impl Encoder {
    /// Loads the model in `dir`. Also returns what `head` reads from its further tensors, for vectors of a size.
    ///
    /// # Errors
    /// A sentence for people: something is missing or isn't a BERT model; it names the file and what that lacks.
    pub fn open<T>(
        dir: &Path,
        head: impl FnOnce(&Tensors<'_>, usize) -> Result<T, String>,
    ) -> Result<(Self, T), String> {
        let wrong = |what: String| format!("the model directory `{}` {what}", dir.display());
        is_whole(dir).map_err(wrong)?;
        let read = |name: &str| {
            std::fs::read(dir.join(name)).map_err(|error| wrong(format!("can't be read: `{name}`: {error}")))
        };
        let config = Config::read(&read("config.json")?).map_err(wrong)?;
        let tokenizer = match read("vocab.txt") {
            Ok(pieces) => Tokenizer::bert(&String::from_utf8_lossy(&pieces)),
            Err(_) => Tokenizer::read(&String::from_utf8_lossy(&read("tokenizer.json")?)),
        };
        let tokenizer = tokenizer.map_err(wrong)?;
        let special = |name: &str| {
            let number = tokenizer.number(name);
            number.ok_or_else(|| wrong(format!("has a vocabulary without `{name}`")))
        };
        let ends = [special("[CLS]")?, special("[SEP]")?];
        special("[UNK]")?;
        let bytes = read("model.safetensors")?;
        let source = Tensors::read(&bytes).map_err(wrong)?;
        let hash = blake3::hash(&bytes);
        let size = config.hidden_size;
        let model = || -> Result<(Self, T), String> {
            let layers = (0..config.num_hidden_layers).map(|at| source.layer(at, size));
            let position = source.table("position_embeddings", size)?;
            fitting(position.nrows() >= LEAST_POSITIONS, "position_embeddings", "at least 8 rows")?;
            let name = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let model = Self {
                name: format!("local:{name}:{}", &hash.to_hex()[..12]),
                word: source.table("word_embeddings", size)?,
                position,
                kinds: source.table("token_type_embeddings", size)?,
                norm: source.norm("embeddings.LayerNorm", size)?,
                layers: layers.collect::<Result<_, String>>()?,
                tokenizer,
                ends,
                config,
            };
            Ok((model, head(&source, size)?))
        };
        model().map_err(wrong)
    }

    /// The directory's name with a hash of its weights.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The most tokens that it reads at once, special ones included; at least 8.
    pub fn positions(&self) -> usize {
        self.position.nrows().min(self.config.max_position_embeddings)
    }

    /// The tokens of `text`, at most `most`, without special ones.
    pub fn tokens(&self, text: &str, most: usize) -> Vec<u32> {
        let mut tokens = self.tokenizer.tokens(text);
        tokens.truncate(most);
        tokens
    }

    /// A vector (a row) for each token of `[CLS] first [SEP]`, or of `[CLS] first [SEP] second [SEP]`. Tokens behind
    /// the last position that the model has are left out.
    pub fn encode(&self, first: &[u32], second: Option<&[u32]>) -> Array2<f32> {
        let [first_token, last_token] = self.ends;
        let kind_of_second = self.kinds.nrows().min(2) - 1;
        let mut tokens: Vec<(u32, usize)> = vec![(first_token, 0)];
        tokens.extend(first.iter().chain([&last_token]).map(|token| (*token, 0)));
        if let Some(second) = second {
            tokens.extend(second.iter().chain([&last_token]).map(|token| (*token, kind_of_second)));
        }
        tokens.truncate(self.positions());
        let mut x = Array2::zeros((tokens.len(), self.config.hidden_size));
        for (at, (token, kind)) in tokens.iter().enumerate() {
            let token = (*token as usize).min(self.word.nrows() - 1);
            let sum = &self.word.row(token) + &self.position.row(at) + self.kinds.row(*kind);
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
        x
    }
}

/// Whether `dir` has the files of a model, else what it lacks.
fn is_whole(dir: &Path) -> Result<(), String> {
    if !dir.is_dir() {
        return Err("is no directory".to_owned());
    }
    let missing = ["config.json", "model.safetensors"].into_iter().filter(|name| !dir.join(name).is_file());
    let mut missing: Vec<String> = missing.map(|name| format!("`{name}`")).collect();
    if !dir.join("vocab.txt").is_file() && !dir.join("tokenizer.json").is_file() {
        missing.push("`vocab.txt` (or `tokenizer.json`)".to_owned());
    }
    if missing.is_empty() { Ok(()) } else { Err(format!("lacks {}", missing.join(", "))) }
}

impl Config {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let config: Self = serde_json::from_slice(bytes)
            .map_err(|error| format!("has a `config.json` of another kind: {error}"))?;
        match (&config.model_type, &config.hidden_act) {
            (Some(kind), _) if kind != "bert" => {
                return Err(format!("holds a `{kind}` model; only `bert` is known"));
            }
            (_, Some(act)) if act != "gelu" => {
                return Err(format!("uses the activation `{act}`; only `gelu` is known"));
            }
            _ => {}
        }
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return Err("has a `config.json` whose heads don't divide its hidden size".to_owned());
        }
        if config.max_position_embeddings < LEAST_POSITIONS {
            return Err("has a `config.json` with hardly any positions".to_owned());
        }
        Ok(config)
    }
}

impl Linear {
    /// Applies the layer to each row of `x`, which has as many columns as the layer has inputs.
    pub fn apply(&self, x: &Array2<f32>) -> Array2<f32> {
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

/// An error unless a tensor has the size that the model's settings and other tensors want.
fn fitting(fits: bool, name: &str, wanted: &str) -> Result<(), String> {
    if fits { Ok(()) } else { Err(format!("has the tensor `{name}` in another size than {wanted}")) }
}

impl Tensors<'_> {
    /// The linear layer of this name, which makes `to` numbers of `from`.
    ///
    /// # Errors
    /// It is missing or another layer, in words that go on after the name of the directory.
    pub fn linear(&self, name: &str, from: usize, to: usize) -> Result<Linear, String> {
        let weight = self.matrix(&format!("{name}.weight"))?;
        let bias = self.row(&format!("{name}.bias"))?;
        let fits = weight.dim() == (to, from) && bias.len() == to;
        fitting(fits, name, &format!("{to} rows of {from}"))?;
        Ok(Linear { weight, bias })
    }

    fn table(&self, name: &str, size: usize) -> Result<Array2<f32>, String> {
        let table = self.matrix(&format!("embeddings.{name}.weight"))?;
        fitting(table.ncols() == size, name, &format!("rows of {size}")).map(|()| table)
    }

    fn norm(&self, name: &str, size: usize) -> Result<Norm, String> {
        let part = |part: &str| {
            let row = self.row(&format!("{name}.{part}"))?;
            fitting(row.len() == size, name, &size.to_string()).map(|()| row)
        };
        Ok(Norm { weight: part("weight")?, bias: part("bias")? })
    }

    fn layer(&self, at: usize, size: usize) -> Result<Layer, String> {
        let own = |name: &str| format!("encoder.layer.{at}.{name}");
        let square = |name: &str| self.linear(&own(name), size, size);
        let middle = self.row(&own("intermediate.dense.bias"))?.len();
        Ok(Layer {
            query: square("attention.self.query")?,
            key: square("attention.self.key")?,
            value: square("attention.self.value")?,
            attended: square("attention.output.dense")?,
            attended_norm: self.norm(&own("attention.output.LayerNorm"), size)?,
            wide: self.linear(&own("intermediate.dense"), size, middle)?,
            narrow: self.linear(&own("output.dense"), middle, size)?,
            narrow_norm: self.norm(&own("output.LayerNorm"), size)?,
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
}
