//! Parses the files of a model's folder: tensors (in the format safetensors) and the tokenizer.
//!
//! Tensors are floats of 16 to 64 bits, or signed integers of 8, 32 or 64 bits. The name of a special token in a text,
//! such as `[CLS]`, is tokenized as ordinary text. An error's text ("has …") has no subject: the caller puts the
//! directory's name before it.

use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};

/// The tensors of a file, with or without the `bert.` before each name.
#[derive(Debug)]
pub struct Tensors<'a>(SafeTensors<'a>);

impl<'a> Tensors<'a> {
    /// Reads the tensors in the bytes of a file.
    ///
    /// # Errors
    /// The file is no safetensors file, or cut off.
    pub fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(bytes);
        tensors.map(Self).map_err(|error| format!("has a damaged `model.safetensors`: {error}"))
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok()
    }

    fn numbers(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), String> {
        let tensor = self.0.tensor(name).or_else(|_| self.0.tensor(&format!("bert.{name}")));
        let tensor = tensor.map_err(|_| format!("has a `model.safetensors` without the tensor `{name}`"))?;
        Ok((tensor.shape().to_vec(), floats(name, tensor.dtype(), tensor.data())?))
    }

    /// The tensor of one dimension of this name.
    ///
    /// # Errors
    /// It is missing or isn't one of numbers.
    pub fn row(&self, name: &str) -> Result<Array1<f32>, String> {
        Ok(Array1::from_vec(self.numbers(name)?.1))
    }

    /// The tensor of two dimensions of this name.
    ///
    /// # Errors
    /// It is missing, empty, or has another shape.
    pub fn matrix(&self, name: &str) -> Result<Array2<f32>, String> {
        let (shape, numbers) = self.numbers(name)?;
        let dim = if let [rows, columns] = shape[..] { (rows, columns) } else { (0, 0) };
        let matrix = Array2::from_shape_vec(dim, numbers)
            .map_err(|_| format!("has the tensor `{name}` in the shape {shape:?}"))?;
        if matrix.is_empty() { Err(format!("has an empty tensor `{name}`")) } else { Ok(matrix) }
    }
}

/// The numbers of a tensor: weights, and places below 2^24.
fn floats(name: &str, kind: Dtype, bytes: &[u8]) -> Result<Vec<f32>, String> {
    let (pairs, fours, eights) =
        (bytes.as_chunks::<2>().0, bytes.as_chunks::<4>().0, bytes.as_chunks::<8>().0);
    let pair = |b: &[u8; 2]| u16::from_le_bytes(*b);
    Ok(match kind {
        Dtype::F64 => eights.iter().map(|b| f64::from_le_bytes(*b) as f32).collect(),
        Dtype::F32 => fours.iter().map(|b| f32::from_le_bytes(*b)).collect(),
        Dtype::F16 => pairs.iter().map(|b| half(pair(b))).collect(),
        Dtype::BF16 => pairs.iter().map(|b| f32::from_bits(u32::from(pair(b)) << 16)).collect(),
        Dtype::I64 => eights.iter().map(|b| i64::from_le_bytes(*b) as f32).collect(),
        Dtype::I32 => fours.iter().map(|b| i32::from_le_bytes(*b) as f32).collect(),
        Dtype::I8 => bytes.iter().map(|b| f32::from(b.cast_signed())).collect(),
        other => return Err(format!("has the tensor `{name}` as {other:?}, which isn't known here")),
    })
}

/// A number of 16 bits (IEEE 754).
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 31, f32::from(bits & 1023));
    let value = match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 { -value } else { value }
}

/// A tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    /// The token of an unknown piece.
    unknown: Option<u32>,
}

impl Tokenizer {
    /// Reads the tokenizer in the text of a `tokenizer.json`.
    ///
    /// # Errors
    /// It is none, in words that go on after the name of the directory.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = |error: String| format!("has a `tokenizer.json` that can't be read: {error}");
        let file: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let mut inner = tokenizers::Tokenizer::from_bytes(text).map_err(|error| wrong(error.to_string()))?;
        inner.with_padding(None).with_truncation(None).map_err(|error| wrong(error.to_string()))?;
        inner.set_encode_special_tokens(true);
        let number = file["model"]["unk_id"].as_u64().and_then(|number| u32::try_from(number).ok());
        let named = file["model"]["unk_token"].as_str().and_then(|name| inner.token_to_id(name));
        Ok(Self { inner, unknown: number.or(named) })
    }

    /// Makes BERT's tokenizer with the pieces of a `vocab.txt`.
    ///
    /// # Errors
    /// As [`Tokenizer::read`].
    pub fn bert(pieces: &str) -> Result<Self, String> {
        let numbers = pieces.lines().enumerate().map(|(at, piece)| (piece.trim_end().to_owned(), at.into()));
        let vocab: serde_json::Map<String, Value> = numbers.collect();
        let file = json!({
            "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocab},
        });
        Self::read(&file.to_string())
    }

    /// One more than the highest number of a token.
    pub fn len(&self) -> usize {
        self.inner.get_vocab(true).values().max().map_or(0, |most| *most as usize + 1)
    }

    /// The number of a token.
    pub fn number(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// The number of the token for unknown text; `None` if the tokenizer has no such token.
    pub fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// The tokens of `text`, without special ones.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.inner.encode_fast(text, false).map_or_else(|_| Vec::new(), |found| found.get_ids().to_vec())
    }

    /// The words of `text`, lower case, and whether each is one known token.
    pub fn words(&self, text: &str) -> Vec<(String, bool)> {
        let Ok(found) = self.inner.encode(text, false) else { return Vec::new() };
        let word = |word| {
            let ((from, to), (start, end)) = (found.word_to_tokens(word, 0)?, found.word_to_chars(word, 0)?);
            let is_whole = to - from == 1 && found.get_ids().get(from).copied() != self.unknown;
            Some((text.get(start..end).unwrap_or("").trim().to_lowercase(), is_whole))
        };
        (0..).map_while(word).collect()
    }
}
