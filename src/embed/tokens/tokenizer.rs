//! Tokenizes text as a static model's `tokenizer.json` describes: text to token numbers.
//!
//! Its steps: the text is normalised, cut into words, and each word is split by WordPiece or by Unigram. The steps are
//! those that sentence models use; an unknown step is an error that names it, since a wrong tokenizer would silently
//! give wrong vectors. Pure.

use serde::Deserialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::unicode::{CONTROL, NONSPACING, PUNCTUATION, within};
use super::unigram::Unigram;
use super::wordpiece::{self, Vocabulary, is_cjk};
use crate::embed::fast::FastMap;

/// Stands for the space before a word.
const META: char = '▁';

/// A tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    steps: Vec<Step>,
    cuts: Vec<Cut>,
    model: Model,
}

/// One step of normalising.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// Control characters go; what else, as it says.
    Bert {
        chinese: bool,
        strip: bool,
        lower: bool,
    },
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Lower,
    StripAccents,
    Replace(String, String),
}

/// One step of cutting words, which spaces have already parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// Each punctuation mark stands alone.
    Punctuation,
    /// Runs of letters, digits and `_`, and runs of others.
    Runs,
    /// Each digit stands alone.
    Digits,
    /// A mark for the space before a word.
    Meta,
}

#[derive(Debug)]
enum Model {
    WordPiece { pieces: FastMap<Box<str>, u32>, inner: String, unknown: u32 },
    Unigram { pieces: Unigram, unknown: Option<u32> },
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    model: Value,
}

impl Tokenizer {
    /// From the text of a `tokenizer.json`.
    ///
    /// # Errors
    /// It is none, or does something that isn't known here, in words that go on after the name of the directory.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(text)
            .map_err(|error| format!("has a `tokenizer.json` that can't be read: {error}"))?;
        let (mut steps, mut cuts) = (Vec::new(), Vec::new());
        read_steps(&file.normalizer, &mut steps)?;
        read_cuts(&file.pre_tokenizer, &mut cuts)?;
        Ok(Self { steps, cuts, model: Model::read(file.model)? })
    }

    /// The most numbers that its tokens have.
    pub fn len(&self) -> usize {
        match &self.model {
            Model::WordPiece { pieces, .. } => pieces.values().max().map_or(0, |most| *most as usize + 1),
            Model::Unigram { pieces, .. } => pieces.len(),
        }
    }

    /// Whether it knows nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `emit` with each word of `text`, normalised and cut.
    pub fn words(&self, text: &str, mut emit: impl FnMut(&str)) {
        let normal = self.steps.iter().fold(text.to_owned(), |text, step| step.apply(&text));
        let mut words = Vec::new();
        for word in normal.split(|c: char| c.is_whitespace() || c == META).filter(|word| !word.is_empty()) {
            words.clear();
            words.push(word.to_owned());
            for cut in &self.cuts {
                words = words.iter().flat_map(|word| cut.apply(word)).collect();
            }
            words.iter().for_each(|word| emit(word));
        }
    }

    /// Calls `emit` with the number of each token of a word that has one.
    pub fn split(&self, word: &str, mut emit: impl FnMut(u32)) {
        match &self.model {
            Model::WordPiece { unknown, .. } => {
                let mut pieces = Vec::new();
                wordpiece::split(&self.model, word, &mut pieces);
                pieces.into_iter().filter(|piece| piece != unknown).for_each(emit);
            }
            Model::Unigram { pieces, unknown } => {
                pieces.split(word, |piece| {
                    piece.filter(|piece| Some(*piece) != *unknown).into_iter().for_each(&mut emit);
                });
            }
        }
    }

    /// Whether a word is one piece.
    pub fn is_whole(&self, word: &str) -> bool {
        match &self.model {
            Model::WordPiece { pieces, .. } => pieces.contains_key(word),
            Model::Unigram { pieces, .. } => pieces.piece(word).is_some(),
        }
    }
}

impl Vocabulary for Model {
    fn piece(&self, piece: &str, inner: bool) -> Option<u32> {
        let Self::WordPiece { pieces, inner: mark, .. } = self else { return None };
        if inner { pieces.get(format!("{mark}{piece}").as_str()) } else { pieces.get(piece) }.copied()
    }

    fn unknown(&self) -> u32 {
        if let Self::WordPiece { unknown, .. } = self { *unknown } else { 0 }
    }
}

impl Model {
    fn read(model: Value) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct WordPiece {
            vocab: std::collections::HashMap<Box<str>, u32>,
            #[serde(default)]
            unk_token: Option<Box<str>>,
            #[serde(default)]
            continuing_subword_prefix: Option<String>,
        }
        #[derive(Deserialize)]
        struct Pieces {
            vocab: Vec<(String, f32)>,
            #[serde(default)]
            unk_id: Option<u32>,
        }
        let damaged = |error| format!("has a `tokenizer.json` with a damaged vocabulary: {error}");
        match model["type"].as_str().unwrap_or("WordPiece") {
            "WordPiece" => {
                let WordPiece { vocab, unk_token, continuing_subword_prefix } =
                    serde_json::from_value(model).map_err(damaged)?;
                let unknown = unk_token.as_deref().unwrap_or("[UNK]");
                let unknown = vocab.get(unknown).copied().unwrap_or(u32::MAX);
                let inner = continuing_subword_prefix.unwrap_or_else(|| "##".to_owned());
                Ok(Self::WordPiece { pieces: vocab.into_iter().collect(), inner, unknown })
            }
            "Unigram" => {
                let Pieces { vocab, unk_id } = serde_json::from_value(model).map_err(damaged)?;
                Ok(Self::Unigram { pieces: Unigram::new(vocab), unknown: unk_id })
            }
            other => Err(format!("has a tokenizer of the kind `{other}`; WordPiece and Unigram are known")),
        }
    }
}

/// A step that isn't known.
fn strange(what: &str, kind: &str) -> String {
    format!("has a tokenizer with the {what} `{kind}`, which isn't known here")
}

fn read_steps(value: &Value, steps: &mut Vec<Step>) -> Result<(), String> {
    let Some(kind) = value["type"].as_str() else { return Ok(()) };
    let flag = |key: &str| value[key].as_bool();
    steps.push(match kind {
        "Sequence" => {
            let all = value["normalizers"].as_array().map_or(&[][..], Vec::as_slice);
            return all.iter().try_for_each(|value| read_steps(value, steps));
        }
        "BertNormalizer" => {
            let lower = flag("lowercase").unwrap_or(true);
            let strip = flag("strip_accents").unwrap_or(lower);
            Step::Bert { chinese: flag("handle_chinese_chars").unwrap_or(true), strip, lower }
        }
        "NFC" => Step::Nfc,
        "NFD" => Step::Nfd,
        // SentencePiece's own table, which is NFKC but for a few spaces and controls.
        "NFKC" | "Precompiled" => Step::Nfkc,
        "NFKD" => Step::Nfkd,
        "Lowercase" => Step::Lower,
        "StripAccents" => Step::StripAccents,
        // Spaces at the ends part no words.
        "Strip" => return Ok(()),
        "Replace" => {
            let (text, to) = (value["pattern"]["String"].as_str(), value["content"].as_str().unwrap_or(""));
            match (text, value["pattern"]["Regex"].as_str()) {
                (Some(text), _) if !text.is_empty() => Step::Replace(text.to_owned(), to.to_owned()),
                // Many spaces part words as one does.
                (None, Some(" {2,}" | r"\s+" | " +")) => return Ok(()),
                _ => return Err(strange("normaliser", &value.to_string())),
            }
        }
        other => return Err(strange("normaliser", other)),
    });
    Ok(())
}

fn read_cuts(value: &Value, cuts: &mut Vec<Cut>) -> Result<(), String> {
    let Some(kind) = value["type"].as_str() else { return Ok(()) };
    match kind {
        "Sequence" => {
            let all = value["pretokenizers"].as_array().map_or(&[][..], Vec::as_slice);
            return all.iter().try_for_each(|value| read_cuts(value, cuts));
        }
        "WhitespaceSplit" => {}
        "BertPreTokenizer" | "Punctuation" => cuts.push(Cut::Punctuation),
        "Whitespace" => cuts.push(Cut::Runs),
        "Digits" if value["individual_digits"] == true => cuts.push(Cut::Digits),
        "Metaspace" if value["prepend_scheme"] != "never" && value["add_prefix_space"] != false => {
            cuts.push(Cut::Meta);
        }
        other => return Err(strange("way of cutting words", other)),
    }
    Ok(())
}

impl Step {
    fn apply(&self, text: &str) -> String {
        match self {
            Self::Bert { chinese, strip, lower } => {
                let mut out = String::with_capacity(text.len());
                for c in text.chars() {
                    match c {
                        '\t' | '\n' | '\r' => out.push(' '),
                        '\0' | '\u{fffd}' => {}
                        c if c.is_ascii_control() || within(&CONTROL, c) => {}
                        c if *chinese && is_cjk(c) => out.extend([' ', c, ' ']),
                        c => out.push(c),
                    }
                }
                let out = if *strip { Self::StripAccents.apply(&out.nfd().collect::<String>()) } else { out };
                if *lower { out.to_lowercase() } else { out }
            }
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Nfkc => text.nfkc().collect(),
            Self::Nfkd => text.nfkd().collect(),
            Self::Lower => text.to_lowercase(),
            Self::StripAccents => text.chars().filter(|c| c.is_ascii() || !within(&NONSPACING, *c)).collect(),
            Self::Replace(from, to) => text.replace(from, to),
        }
    }
}

impl Cut {
    fn apply(self, word: &str) -> Vec<String> {
        if self == Self::Meta {
            return vec![format!("{META}{word}")];
        }
        // Of two characters of the same class no cut parts them, save where each stands alone.
        let class = |c: char| match self {
            Self::Punctuation if is_punctuation(c) => 2,
            Self::Digits if c.is_numeric() => 2,
            Self::Runs if !(c.is_alphanumeric() || c == '_') => 1,
            _ => 0,
        };
        let (mut out, mut last) = (Vec::<String>::new(), None);
        for c in word.chars() {
            let own = class(c);
            match out.last_mut().filter(|_| last == Some(own) && own != 2) {
                Some(run) => run.push(c),
                None => out.push(c.to_string()),
            }
            last = Some(own);
        }
        out
    }
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { within(&PUNCTUATION, c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(json: &str, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        Tokenizer::read(json).unwrap().words(text, |word| out.push(word.to_owned()));
        out
    }

    #[test]
    fn words_are_normalised_and_cut_as_the_file_says() {
        let bert = r#"{"normalizer":{"type":"BertNormalizer","lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},
            "model":{"type":"WordPiece","vocab":{"[UNK]":0}}}"#;
        assert_eq!(words(bert, "Café, don't\u{200b} 中文!"), ["cafe", ",", "don", "'", "t", "中", "文", "!"]);
        let cased = bert.replace("\"lowercase\":true", "\"lowercase\":false");
        assert_eq!(words(&cased, "Café"), ["Café"]);
        let meta = r#"{"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled"},
            {"type":"Replace","pattern":{"Regex":" {2,}"},"content":"▁"}]},
            "pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"},
            "model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0]]}}"#;
        assert_eq!(words(meta, " ﬁne  Day 2026"), ["▁fine", "▁Day", "▁2026"]);
        let digits = meta.replace(
            r#"{"type":"Metaspace","#,
            r#"{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},{"type":"Digits","individual_digits":true}]},"x":{"#,
        );
        assert_eq!(words(&digits, "in 26, a_b!?"), ["in", "2", "6", ",", "a_b", "!?"]);
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (json, part) in [
            ("{", "can't be read"),
            (r#"{"model":{"type":"BPE"}}"#, "of the kind `BPE`"),
            (r#"{"normalizer":{"type":"Nmt"},"model":{}}"#, "normaliser `Nmt`"),
            (r#"{"pre_tokenizer":{"type":"ByteLevel"},"model":{}}"#, "cutting words `ByteLevel`"),
            (r#"{"model":{"type":"WordPiece"}}"#, "damaged vocabulary"),
        ] {
            let error = Tokenizer::read(json).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
