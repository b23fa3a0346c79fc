//! Checks the model that makes vectors: whether the settings name one, and whether it answers.

use std::time::Duration;

use super::Check;
use crate::embed::{self, EmbedPurpose};
use crate::workspace::Workspace;

/// How long is waited for its answer.
const LIMIT: Duration = Duration::from_secs(10);

/// Asks the model for the vector of one word; the built-in one always has it.
pub fn checks(workspace: &Workspace) -> Vec<Check> {
    let named = &workspace.settings.embed.provider;
    let fix = "see `[embed]` in vault-agent.toml; until then the built-in vectors answer";
    let provider = match embed::open(&workspace.settings, workspace.vault.root()) {
        Ok(Some(provider)) => provider,
        Ok(None) if named == "builtin" => {
            return vec![Check::ok("embeddings", format!("`builtin` answers ({})", embed::table::NAME))];
        }
        Ok(None) => return vec![Check::ok("embeddings", "turned off in the settings")],
        Err(error) => return vec![Check::fail("embeddings", error.to_string(), fix)],
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return vec![Check::fail("embeddings", error.to_string(), fix)],
    };
    let words = ["vault".to_owned()];
    let asked = runtime
        .block_on(async { tokio::time::timeout(LIMIT, provider.embed(&words, EmbedPurpose::Query)).await });
    vec![match asked {
        Ok(Ok(_)) => Check::ok("embeddings", format!("`{named}` answers ({})", provider.name())),
        Ok(Err(error)) => Check::fail("embeddings", error.to_string(), fix),
        Err(_) => {
            let detail = format!("`{named}` gave no answer within {} s", LIMIT.as_secs());
            Check::fail("embeddings", detail, fix)
        }
    }]
}
