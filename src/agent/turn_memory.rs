//! Recalls memories for a turn, as context for a brain. If no brain answers, they are the answer itself.

use std::sync::Arc;

use async_trait::async_trait;

use crate::format::log::{ANSWERED_WITH_HELP, FOUND, FOUND_NOTHING};
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

/// One thing that was found in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMemory {
    /// The note that it stands in.
    pub path: String,
    /// The line, 1-based.
    pub line: usize,
    /// When it was said or written, if known, as the person would say it.
    pub when: Option<String>,
    /// A short excerpt.
    pub text: String,
    /// Its block's id, if it has one.
    pub block: Option<String>,
}

impl FoundMemory {
    /// Whether it is one of `own`, the link targets of the question in its log.
    fn is_own(&self, own: &[&str]) -> bool {
        let note = self.path.strip_suffix(".md").unwrap_or(&self.path);
        let is_it = |(at, id): (&str, &str)| at == note && Some(id) == self.block.as_deref();
        own.iter().any(|link| link.split_once("#^").is_some_and(is_it))
    }
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

    /// The memories about this, best first; empty if there are none.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn recall(&self, query: &str, limit: usize) -> Result<Vec<FoundMemory>, String>;

    /// An answer from memories alone; `own` are the link targets of the question in its log.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn answer(&self, question: &str, own: &[&str]) -> Result<String, String> {
        if question.trim().is_empty() {
            return Ok(format!(
                "{ANSWERED_WITH_HELP}`/remind`, `/remember` and `/recall`; `/status` says how I am."
            ));
        }
        // The question itself is in the log already and would be the best hit.
        let found = self.recall(question, MAX_MEMORIES + own.len()).await?;
        let found = found.into_iter().filter(|memory| !memory.is_own(own));
        Ok(describe(&found.take(MAX_MEMORIES).collect::<Vec<_>>()))
    }
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
        tokio::task::spawn_blocking(search).await.map_err(|error| format!("it went wrong inside: {error}"))?
    }
}

#[async_trait]
impl TurnMemory for VaultMemory {
    async fn context_for(&self, question: &str, without: &[&str]) -> Result<RecalledContext, String> {
        let found = self.ask(question, without).await?;
        Ok(RecalledContext { injection: found.injection.to_text(), links: found.links() })
    }

    async fn recall(&self, query: &str, limit: usize) -> Result<Vec<FoundMemory>, String> {
        let found = self.ask(query, &[]).await?;
        let tz = self.0.workspace().zone.tz();
        let memory = |hit: Hit| FoundMemory {
            path: hit.path,
            line: hit.line as usize,
            when: hit.timestamp.map(|at| at.to_zoned(tz.clone()).strftime("%Y-%m-%d %H:%M").to_string()),
            text: hit.snippet,
            block: hit.block_id,
        };
        Ok(found.about().take(limit).map(memory).collect())
    }
}

/// The text of an answer from memories, each with its source. The index recognizes it by its beginning, and leaves
/// it out.
pub fn describe(found: &[FoundMemory]) -> String {
    if found.is_empty() {
        return FOUND_NOTHING.to_owned();
    }
    let items = found.iter().map(|memory| {
        let when = memory.when.as_ref().map(|when| format!("{when}, ")).unwrap_or_default();
        format!(
            "- {}\n  -# {when}`{}`, line {}",
            one_line(&memory.text),
            memory.path.replace('`', "'"),
            memory.line
        )
    });
    format!("{FOUND}\n{}", items.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedMemories(Vec<FoundMemory>);

    #[async_trait]
    impl TurnMemory for FixedMemories {
        async fn context_for(&self, _: &str, _: &[&str]) -> Result<RecalledContext, String> {
            Ok(RecalledContext::default())
        }

        async fn recall(&self, _: &str, _: usize) -> Result<Vec<FoundMemory>, String> {
            Ok(self.0.clone())
        }
    }

    #[tokio::test]
    async fn an_answer_says_where_it_comes_from_and_leaves_the_question_out() {
        let memory = |path: &str, text: &str, block: Option<&str>| FoundMemory {
            path: path.into(),
            line: 7,
            when: None,
            text: text.into(),
            block: block.map(str::to_owned),
        };
        let found = vec![
            memory("logs/a.md", "<@500> when is the dentist?", Some("X")),
            memory("logs/a.md", "I had a tooth out", Some("W")),
            memory("MEMORY.md", "Dentist\n on Friday", None),
        ];
        let own = ["logs/a#^W", "logs/a#^X"];
        let answer = FixedMemories(found).answer("when is the dentist?", &own).await.unwrap();
        insta::assert_snapshot!(answer, @r"
        From your notes (excerpts, found by search):
        - Dentist on Friday
          -# `MEMORY.md`, line 7
        ");
        let answer = FixedMemories(vec![]).answer("x", &own).await.unwrap();
        assert_eq!(answer, "I found nothing about that in your notes.");
    }
}
