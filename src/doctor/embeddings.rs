//! Checks the embedding model and the reranker of the settings: the configuration of both, and whether the embedding
//! model answers.

use std::time::Duration;

use super::Check;
use crate::embed::{self, EmbedPurpose, StaticModel};
use crate::rerank;
use crate::workspace::Workspace;

/// How long is waited for its answer.
const LIMIT: Duration = Duration::from_secs(10);

/// Asks the model for the vector of one word; the built-in one always has it. A reranker is only opened.
pub fn checks(workspace: &Workspace) -> Vec<Check> {
    let fix = "see `[embed]` in vault-agent.toml; until then the built-in vectors answer";
    let model = match asked(workspace) {
        Ok(words) => Check::ok("embeddings", words),
        Err(error) => Check::fail("embeddings", error.to_string(), fix),
    };
    let reranker = match rerank::open(&workspace.settings, workspace.vault.root()) {
        Ok(opened) => opened.map(|opened| Check::ok("rerank", format!("`{}` is set up", opened.name()))),
        Err(error) => {
            let fix = "see `[rerank]` in vault-agent.toml; until then deep searches keep their own order";
            Some(Check::fail("rerank", error.to_string(), fix))
        }
    };
    std::iter::once(model).chain(reranker).collect()
}

/// How the model answered, in words.
fn asked(workspace: &Workspace) -> anyhow::Result<String> {
    let named = &workspace.settings.embed.provider;
    let (table, unread) = StaticModel::of(&workspace.settings, workspace.vault.root());
    unread.map_or(Ok(()), Err)?;
    let Some(provider) = embed::open(&workspace.settings, workspace.vault.root())? else {
        return Ok(match named.as_str() {
            "builtin" => format!("`builtin` answers ({})", table.name()),
            _ => "turned off in the settings".to_owned(),
        });
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let words = ["vault".to_owned()];
    let asked = provider.embed(&words, EmbedPurpose::Query);
    match runtime.block_on(async { tokio::time::timeout(LIMIT, asked).await }) {
        Ok(answer) => answer.map(drop)?,
        Err(_) => anyhow::bail!("`{named}` gave no answer within {} s", LIMIT.as_secs()),
    }
    Ok(format!("`{named}` answers ({})", provider.name()))
}
