//! Makes the model that the settings name.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use super::models::table::{self, Table};
use crate::config::Settings;
use crate::embed::{EmbedError, Provider, Purpose};

/// The built-in table as a [`Provider`].
#[derive(Debug, Clone, Copy)]
pub struct Builtin(Table);

impl Builtin {
    /// The built-in model.
    pub fn new() -> Self {
        Self(Table::builtin())
    }
}

impl Default for Builtin {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Provider for Builtin {
    fn name(&self) -> &str {
        table::NAME
    }

    fn batch(&self) -> usize {
        1024
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.0.embed(text)).collect())
    }
}

/// The model that the settings name, or `None` where they say `none`.
///
/// `local:` directories are relative to `root`, the vault's folder.
///
/// # Errors
/// The provider isn't known, its model directory isn't one, or its key is missing.
pub fn open(settings: &Settings, root: &Path) -> Result<Option<Arc<dyn Provider>>, EmbedError> {
    let embed = &settings.embed;
    if let Some(dir) = embed.provider.strip_prefix("local:") {
        return Ok(Some(Arc::new(crate::embed::models::local::Local::open(&root.join(dir))?)));
    }
    match embed.provider.as_str() {
        "none" => Ok(None),
        "builtin" => Ok(Some(Arc::new(Builtin::new()))),
        "google" | "openai" | "ollama" => {
            Ok(Some(Arc::new(crate::embed::models::http::Http::open(embed, root)?)))
        }
        other => Err(EmbedError::Settings(format!(
            "`embed.provider` is `{other}`; it takes `builtin`, `none`, `local:<dir>`, `google`, `openai` or `ollama`"
        ))),
    }
}
