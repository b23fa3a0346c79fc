//! Chooses the static model: the binary's own table, or a table in a folder ([`StaticModel`]). [`Embedder`] embeds many texts
//! by it.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::folder::StaticModelFolder;
use super::table::{self, BuiltinTable, DIMENSIONS, MOST_TOKENS};
use crate::config::Settings;
use crate::embed::tokens::wordpiece;
use crate::embed::{EmbedError, is_on};

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
    /// The one that the settings name. If it can't be read, the built-in one, and why. Folders count from `root`, the
    /// vault's own.
    pub fn of(settings: &Settings, root: &Path) -> (Self, Option<EmbedError>) {
        if !is_on(settings) {
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
            Self::Folder(folder) => folder.name(),
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

    /// As [`BuiltinTable::known`].
    pub fn known(&self, text: &str, skips: impl Fn(&str) -> bool) -> f32 {
        let Self::Folder(folder) = self else { return BuiltinTable::builtin().known(text, skips) };
        let mut words = folder.tokenizer().words(text);
        words.retain(|(word, _)| !word.is_empty() && word.chars().all(char::is_alphanumeric) && !skips(word));
        let known = words.iter().filter(|(_, is_whole)| *is_whole).count();
        known as f32 / words.len().max(1) as f32
    }
}

/// Embeds many texts: it keeps the tokens of the words that it has met, up to [`MOST_WORDS`] of them.
#[derive(Debug, Default)]
pub struct Embedder {
    /// The range in `tokens` of each word.
    words: FxHashMap<Box<str>, (u32, u32)>,
    tokens: Vec<u32>,
    /// Those of one text.
    text: Vec<u32>,
}

/// A vault has some hundred thousand different words, most of them once: so many cost 5 MB.
const MOST_WORDS: usize = 1 << 16;

impl Embedder {
    /// The vector of `text`, as [`BuiltinTable::embed`]'s.
    pub fn embed(&mut self, text: &str) -> Vec<f32> {
        self.embed_with(&StaticModel::Builtin, text)
    }

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
            if let Some((from, to)) = self.words.get(word) {
                self.text.extend_from_slice(&self.tokens[*from as usize..*to as usize]);
                return;
            }
            let of_text = self.text.len();
            wordpiece::split(&table, word, &mut self.text);
            if self.words.len() < MOST_WORDS {
                let from = self.tokens.len() as u32;
                self.tokens.extend_from_slice(&self.text[of_text..]);
                self.words.insert(word.into(), (from, self.tokens.len() as u32));
            }
        });
        self.text.truncate(MOST_TOKENS);
        table.embed_tokens(&self.text)
    }
}
