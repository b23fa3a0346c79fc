//! Embeds texts: turns them into vectors.
//!
//! A text comes in; its vector, by the model that the settings name, goes out. After a [`ModelError`] search and recall
//! go on without the vector. This module depends on no note, no index and no ranking; [`crate::search::store::vectors`]
//! stores vectors.
//! - [`open`]: opens the model of the settings (`[embed] provider`) behind the trait [`Provider`];
//! - [`table`]: the built-in model, which needs no file and no network; [`wordpiece`]: its tokenizer;
//! - [`static_model`]: chooses the built-in table or a table in a folder;
//! - [`local`]: runs a sentence model from a directory, with [`bert`] as its encoder;
//! - [`http`]: calls a model behind an endpoint; [`retry`]: retries its calls;
//! - `model_files`: reads tensors and tokenizers from files.

pub mod bert;
pub mod http;
pub mod local;
mod model_files;
pub mod retry;
pub mod static_model;
pub mod table;
pub mod wordpiece;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::config::Settings;

pub use self::static_model::{Embedder, StaticModel, StaticModelFolder};
pub use self::table::BuiltinTable;

/// The purpose of a text; some endpoints embed questions and passages differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedPurpose {
    /// A passage that is to be found.
    Document,
    /// A question that looks for passages.
    Query,
}

/// A model that embeds texts.
#[async_trait]
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// The name under which this model's vectors are stored: provider, model and version. Vectors of
    /// different names are never compared.
    fn name(&self) -> &str;
    /// The most texts that one call takes.
    fn batch(&self) -> usize;
    /// Embeds `texts`, one finite vector each, all of one dimension.
    ///
    /// # Errors
    /// The model can't be reached, refuses, or answers something that isn't such vectors.
    async fn embed(&self, texts: &[String], purpose: EmbedPurpose) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// The error of a model that failed to embed texts, or to score them ([`crate::rerank`]).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Worth another try: a connection that failed, a time-out, 429, 5xx but 500.
    #[error("{provider} can't be reached: {reason}")]
    Unreachable {
        /// Which.
        provider: String,
        /// The failure.
        reason: String,
        /// How long it asked us to wait.
        after: Option<Duration>,
    },
    /// The endpoint understood and said no.
    #[error("{provider} refuses: {reason}")]
    Refused {
        /// Which.
        provider: String,
        /// Its words.
        reason: String,
    },
    /// An answer that isn't what was asked for: HTML, NaN, too few, another dimension, an unknown index.
    #[error("{provider} answers with something else than {wanted}: {reason}")]
    BadAnswer {
        /// Which.
        provider: String,
        /// `vectors` or `scores`.
        wanted: &'static str,
        /// The fault.
        reason: String,
    },
    /// The settings don't name a usable model.
    #[error("{0}")]
    Settings(String),
}

impl ModelError {
    /// Whether the same call may succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}

/// The model that the settings name; `None` where they say `none`, or `builtin`, which needs nothing ([`StaticModel`]).
///
/// `local:` directories are relative to `root`, the vault's folder.
///
/// # Errors
/// The provider isn't known, its model directory isn't one, or its key is missing.
pub fn open(settings: &Settings, root: &Path) -> Result<Option<Arc<dyn Provider>>, ModelError> {
    let embed = &settings.embed;
    if let Some(dir) = embed.provider.strip_prefix("local:") {
        return Ok(Some(Arc::new(local::LocalModel::open(&root.join(dir))?)));
    }
    match embed.provider.as_str() {
        "none" | "builtin" => Ok(None),
        "google" | "openai" | "ollama" => Ok(Some(Arc::new(http::EndpointModel::open(embed, root)?))),
        other => Err(ModelError::Settings(format!(
            "`embed.provider` is `{other}`; it takes `builtin`, `none`, `local:<dir>`, `google`, `openai` or `ollama`"
        ))),
    }
}

/// Checks that `vectors` are what was asked for: `count` of them, finite, not all zero, of one dimension.
///
/// # Errors
/// [`ModelError::BadAnswer`] says what is wrong.
pub fn check(provider: &str, vectors: &[Vec<f32>], count: usize) -> Result<(), ModelError> {
    let bad = |reason: String| {
        Err(ModelError::BadAnswer { provider: provider.to_owned(), wanted: "vectors", reason })
    };
    if vectors.len() != count {
        return bad(format!("{} vectors for {count} texts", vectors.len()));
    }
    let Some(first) = vectors.first() else { return Ok(()) };
    if first.is_empty() {
        return bad("a vector of dimension 0".to_owned());
    }
    for vector in vectors {
        if vector.len() != first.len() {
            return bad(format!("dimensions {} and {} in one answer", first.len(), vector.len()));
        }
        if let Some(at) = vector.iter().position(|x| !x.is_finite()) {
            return bad(format!("`{}` at place {at} of a vector", vector[at]));
        }
    }
    Ok(())
}

/// `text` cut to at most `most` bytes, at a character's boundary.
pub fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
