//! Tokenizes text as the files of a model's folder say: text to token numbers. The crate `tokenizers` does the work.
//!
//! Pure. `[CLS]` in a text is text, no special token.

use serde_json::{Value, json};

/// A tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    /// The token of an unknown piece.
    unknown: Option<u32>,
}

impl Tokenizer {
    /// From the text of a `tokenizer.json`.
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

    /// BERT's, for the pieces of a `vocab.txt`.
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

    /// The number of what isn't known; none where all is.
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
