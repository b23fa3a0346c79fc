//! Makes the model that the settings name.

use std::path::Path;
use std::sync::Arc;

use crate::config::Settings;
use crate::embed::{EmbedError, Provider};

/// The model that the settings name; `None` where they say `none`, or `builtin`, which needs nothing ([`crate::embed::StaticModel`]).
///
/// `local:` directories are relative to `root`, the vault's folder.
///
/// # Errors
/// The provider isn't known, its model directory isn't one, or its key is missing.
pub fn open(settings: &Settings, root: &Path) -> Result<Option<Arc<dyn Provider>>, EmbedError> {
    let embed = &settings.embed;
    if let Some(dir) = embed.provider.strip_prefix("local:") {
        return Ok(Some(Arc::new(crate::embed::models::local::LocalModel::open(&root.join(dir))?)));
    }
    match embed.provider.as_str() {
        "none" | "builtin" => Ok(None),
        "google" | "openai" | "ollama" => {
            Ok(Some(Arc::new(crate::embed::models::http::EndpointModel::open(embed, root)?)))
        }
        other => Err(EmbedError::Settings(format!(
            "`embed.provider` is `{other}`; it takes `builtin`, `none`, `local:<dir>`, `google`, `openai` or `ollama`"
        ))),
    }
}
