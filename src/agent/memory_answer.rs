//! Makes the answer that needs no model: the found memories, each with its source.

use async_trait::async_trait;

use crate::format::log::{ANSWERED_WITH_HELP, FOUND, FOUND_NOTHING};
use crate::format::one_line;

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

/// A search of the memory, best first.
#[async_trait]
pub trait MemorySearch: Send + Sync {
    /// The memories about this; empty if there are none.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn recall(&self, query: &str, limit: usize) -> Result<Vec<FoundMemory>, String>;
}

/// The most memories in one answer.
const MAX_MEMORIES: usize = 5;

/// Whether a block of a note is one of `own`, the link targets of the question in its log.
fn is_own(own: &[&str], path: &str, block: Option<&str>) -> bool {
    let note = path.strip_suffix(".md").unwrap_or(path);
    let is_it = |link: &&str| link.split_once("#^").is_some_and(|(at, id)| at == note && Some(id) == block);
    own.iter().any(is_it)
}

/// The answer from memory alone. `own` are the link targets of the question in its log.
///
/// # Errors
/// A sentence on what is wrong.
pub async fn answer(recall: &dyn MemorySearch, question: &str, own: &[&str]) -> Result<String, String> {
    if question.trim().is_empty() {
        return Ok(format!(
            "{ANSWERED_WITH_HELP}`/remind`, `/remember` and `/recall`; `/status` says how I am."
        ));
    }
    // The question itself is in the log already and would be the best hit.
    let found = recall.recall(question, MAX_MEMORIES + own.len()).await?;
    let found = found.into_iter().filter(|memory| !is_own(own, &memory.path, memory.block.as_deref()));
    Ok(describe(&found.take(MAX_MEMORIES).collect::<Vec<_>>()))
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
    impl MemorySearch for FixedMemories {
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
        let answer = answer(&FixedMemories(found), "when is the dentist?", &own).await.unwrap();
        insta::assert_snapshot!(answer, @r"
        From your notes (excerpts, found by search):
        - Dentist on Friday
          -# `MEMORY.md`, line 7
        ");
        let answer = super::answer(&FixedMemories(vec![]), "x", &own).await.unwrap();
        assert_eq!(answer, "I found nothing about that in your notes.");
    }
}
