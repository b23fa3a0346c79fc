//! Recalls memories for a turn, as context for a brain. If no brain answers, the memories are the answer itself.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::tz::TimeZone;

use crate::format::log::{FOUND, FOUND_NOTHING};
use crate::format::one_line;
use crate::search::{Hit, MemoryPrompt, Recalled, SearchClient};
use crate::workspace::Workspace;

/// The characters of what memory alone answers, well below one message.
const MOST_CHARS: usize = 1500;

/// The most memories in one answer.
const MAX_MEMORIES: usize = 5;

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

    /// The memories about a question in words, best first, each with its source; without the blocks at the link targets
    /// `own`, those of the question in its log.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn answer(&self, question: &str, own: &[&str]) -> Result<String, String>;
}

/// The vault's memory, over the daemon's own searcher, so that nothing is loaded twice.
pub struct VaultMemory(Arc<SearchClient>);

impl VaultMemory {
    /// Of this vault; nothing is opened yet.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self(Arc::new(SearchClient::new(workspace)))
    }

    async fn ask(&self, question: &str, without: &[&str]) -> Result<Recalled, String> {
        let client = Arc::clone(&self.0);
        let without: Vec<String> = without.iter().copied().map(str::to_owned).collect();
        let prompt = MemoryPrompt { without, ..MemoryPrompt::new(question, MOST_CHARS) };
        let search = move || client.recall(&prompt).map_err(|error| error.to_string());
        tokio::task::spawn_blocking(search).await.map_err(|error| format!("internal error: {error}"))?
    }
}

#[async_trait]
impl TurnMemory for VaultMemory {
    async fn context_for(&self, question: &str, without: &[&str]) -> Result<RecalledContext, String> {
        let found = self.ask(question, without).await?;
        Ok(RecalledContext { injection: found.injection.to_text(), links: found.links() })
    }

    async fn answer(&self, question: &str, own: &[&str]) -> Result<String, String> {
        let found = self.ask(question, &[]).await?;
        Ok(in_words(found.about(), own, self.0.workspace().zone.tz()))
    }
}

/// The text of an answer from memories. The index recognizes it by its beginning, and leaves it out.
fn in_words(hits: impl Iterator<Item = Hit>, own: &[&str], tz: &TimeZone) -> String {
    // The question itself is in the log already and would be the best hit.
    let is_own = |hit: &Hit| {
        let note = hit.path.strip_suffix(".md").unwrap_or(&hit.path);
        let is_it = |(at, id): (&str, &str)| at == note && Some(id) == hit.block_id.as_deref();
        own.iter().any(|link| link.split_once("#^").is_some_and(is_it))
    };
    let item = |hit: Hit| {
        let when = hit.timestamp.map(|at| tz.to_datetime(at).strftime("%Y-%m-%d %H:%M, ").to_string());
        let (when, path) = (when.unwrap_or_default(), hit.path.replace('`', "'"));
        format!("- {}\n  -# {when}`{path}`, line {}", one_line(&hit.snippet), hit.line)
    };
    let items: Vec<String> = hits.filter(|hit| !is_own(hit)).take(MAX_MEMORIES).map(item).collect();
    if items.is_empty() { FOUND_NOTHING.to_owned() } else { format!("{FOUND}\n{}", items.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_where_it_comes_from_and_leaves_the_question_out() {
        let hit = |path: &str, text: &str, block: Option<&str>| -> Hit {
            let hit = serde_json::json!({
                "path": path, "line": 7, "end_line": 7, "kind": "memory", "section": null, "timestamp": null,
                "score": 1.0, "snippet": text, "block_id": block,
            });
            serde_json::from_value(hit).unwrap()
        };
        let found = vec![
            hit("logs/a.md", "<@500> when is the dentist?", Some("X")),
            hit("logs/a.md", "I had a tooth out", Some("W")),
            hit("MEMORY.md", "Dentist\n on Friday", None),
        ];
        let own = ["logs/a#^W", "logs/a#^X"];
        insta::assert_snapshot!(in_words(found.into_iter(), &own, &TimeZone::UTC), @r"
        From your notes (excerpts, found by search):
        - Dentist on Friday
          -# `MEMORY.md`, line 7
        ");
        let nothing = in_words(std::iter::empty(), &own, &TimeZone::UTC);
        assert_eq!(nothing, "I found nothing about that in your notes.");
    }
}
