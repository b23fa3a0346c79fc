//! Recalls memories for a turn: context for a brain, and an answer if no brain gives one.

use std::sync::Arc;

use async_trait::async_trait;

use super::memory_answer::{self, FoundMemory, MemorySearch};
use crate::workspace::Workspace;

/// The characters of what memory alone answers, well below one message.
const MOST_CHARS: usize = 1500;

/// The memories for a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecalledContext {
    /// The text that stands before the question; empty if nothing was found.
    pub injection: String,
    /// Links to the blocks that it comes from, for the log.
    pub links: String,
}

/// The vault's memory.
#[async_trait]
pub trait TurnMemory: Send + Sync {
    /// The memories for this question, without those at these link targets: the question itself, and what stands in
    /// its request anyway.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn context_for(&self, question: &str, without: &[&str]) -> Result<RecalledContext, String>;

    /// An answer from memories alone; `own` are the link targets of the question.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn answer(&self, question: &str, own: &[&str]) -> Result<String, String>;
}

/// The vault's memory, over the daemon's own searcher, so that nothing is loaded twice.
pub struct VaultMemory {
    client: Arc<crate::search::SearchClient>,
}

impl VaultMemory {
    /// Of this vault; nothing is opened yet.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self { client: Arc::new(crate::search::SearchClient::new(workspace)) }
    }

    async fn ask(&self, question: &str, without: &[&str]) -> Result<crate::search::Recalled, String> {
        let client = Arc::clone(&self.client);
        let without: Vec<String> = without.iter().copied().map(str::to_owned).collect();
        let prompt =
            crate::search::MemoryPrompt { without, ..crate::search::MemoryPrompt::new(question, MOST_CHARS) };
        let search = move || client.recall(&prompt).map_err(|error| error.to_string());
        tokio::task::spawn_blocking(search).await.map_err(|error| format!("it went wrong inside: {error}"))?
    }
}

#[async_trait]
impl MemorySearch for VaultMemory {
    async fn recall(&self, query: &str, limit: usize) -> Result<Vec<FoundMemory>, String> {
        let found = self.ask(query, &[]).await?;
        let tz = self.client.workspace().zone.tz();
        let memory = |hit: crate::search::Hit| FoundMemory {
            path: hit.path,
            line: hit.line as usize,
            when: hit.timestamp.map(|at| at.to_zoned(tz.clone()).strftime("%Y-%m-%d %H:%M").to_string()),
            text: hit.snippet,
            block: hit.block_id,
        };
        Ok(found.about().take(limit).map(memory).collect())
    }
}

#[async_trait]
impl TurnMemory for VaultMemory {
    async fn context_for(&self, question: &str, without: &[&str]) -> Result<RecalledContext, String> {
        let found = self.ask(question, without).await?;
        Ok(RecalledContext { injection: found.injection.to_text(), links: found.links() })
    }

    async fn answer(&self, question: &str, own: &[&str]) -> Result<String, String> {
        memory_answer::answer(self, question, own).await
    }
}
