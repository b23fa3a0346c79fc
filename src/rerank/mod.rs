//! Reranks a search's first hits: scores how well each text answers the question.
//!
//! A reranker reads question and text together, which is better and far slower than comparing vectors; so only a deep
//! search asks it ([`crate::search::SearchClient::deep`]), for a few dozen texts, and never a hook. It is a model behind an
//! endpoint ([`endpoint`]) or in a directory ([`local`]), chosen by `[rerank] provider`. This room knows no note, no
//! index and no ranking. A failure is a [`RerankError`]; a search goes on with the order that it had.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{RerankSettings, Settings};

pub mod endpoint;
pub mod language;
pub mod local;

/// A model that scores texts for a question.
pub trait Reranker: Send + Sync + std::fmt::Debug {
    /// Its provider and model, for answers and errors.
    fn name(&self) -> &str;
    /// How well each of `texts` answers `question`: a finite number each, more is better, within `patience`.
    ///
    /// # Errors
    /// It can't be reached, takes too long, refuses, or answers something that isn't such numbers.
    fn scores(&self, question: &str, texts: &[String], patience: Duration) -> Result<Vec<f64>, RerankError>;
}

/// Why texts could not be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RerankError {
    /// A connection that failed or broke, a time-out, 429, 5xx.
    #[error("{reranker} can't be reached: {reason}")]
    Unreachable {
        /// Which.
        reranker: String,
        /// The failure.
        reason: String,
    },
    /// It understood and said no.
    #[error("{reranker} refuses: {reason}")]
    Refused {
        /// Which.
        reranker: String,
        /// Its words.
        reason: String,
    },
    /// An answer that isn't a score for each text: HTML, too few, an unknown index, no number.
    #[error("{reranker} answers with something else than scores: {reason}")]
    BadAnswer {
        /// Which.
        reranker: String,
        /// The fault.
        reason: String,
    },
    /// The settings don't name a usable reranker.
    #[error("{0}")]
    Settings(String),
}

/// The reranker that the settings name, or none where they say `none`. `local:` directories count from `root`, the
/// vault's folder. Nothing is sent yet.
///
/// # Errors
/// Its directory holds no such model, its key can't be read, or a language's code is unknown.
pub fn open(settings: &Settings, root: &Path) -> Result<Option<Arc<dyn Reranker>>, RerankError> {
    let rerank: &RerankSettings = &settings.rerank;
    language::check(&rerank.languages).map_err(RerankError::Settings)?;
    if let Some(dir) = rerank.provider.strip_prefix("local:") {
        return Ok(Some(Arc::new(local::LocalReranker::open(&root.join(dir))?)));
    }
    if rerank.provider == "none" {
        return Ok(None);
    }
    Ok(Some(Arc::new(endpoint::Endpoint::open(rerank, root)?)))
}
