//! Who answers: the [`Responder`] trait, and the one that is built in, which answers with what is remembered.
//!
//! A responder is given what was said and gives back text. It knows nothing of Discord: logging, typing, splitting and
//! sending are done around it, so a model-driven one plugs in without touching any of them.

use std::sync::Arc;

use async_trait::async_trait;

/// Something said to the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The text without the bot's own mention.
    pub text: String,
    /// Who said it.
    pub author: String,
    /// The channel, thread or DM.
    pub channel: u64,
    /// The message.
    pub message: u64,
    /// The block that it was logged in, as a link's target: `logs/…/….md#^ID` without the brackets.
    pub block: String,
}

/// Answers what is said to the bot.
#[async_trait]
pub trait Responder: Send + Sync {
    /// The answer; none to stay silent.
    ///
    /// # Errors
    /// A sentence for the person who asked: what went wrong and what to do.
    async fn answer(&self, ask: &Ask) -> Result<Option<String>, String>;
}

/// One thing that was found in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The note that it stands in.
    pub path: String,
    /// The line, 1-based.
    pub line: usize,
    /// When it was said or written, if known, as the person would say it.
    pub when: Option<String>,
    /// A short excerpt.
    pub text: String,
}

/// A search of the memory, best first.
#[async_trait]
pub trait Recall: Send + Sync {
    /// What is remembered about this; empty where nothing is.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn recall(&self, query: &str, limit: usize) -> Result<Vec<Memory>, String>;
}

/// Answers with what the memory holds, and says so.
pub struct RecallResponder {
    recall: Arc<dyn Recall>,
}

impl std::fmt::Debug for RecallResponder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecallResponder").finish_non_exhaustive()
    }
}

/// The most memories in one answer.
const MOST: usize = 5;

impl RecallResponder {
    /// A responder over this memory.
    pub fn new(recall: Arc<dyn Recall>) -> Self {
        Self { recall }
    }
}

#[async_trait]
impl Responder for RecallResponder {
    async fn answer(&self, ask: &Ask) -> Result<Option<String>, String> {
        if ask.text.trim().is_empty() {
            return Ok(Some(
                "Ask me about your notes, or use `/remind`, `/remember` and `/recall`; `/status` says how I am.".into(),
            ));
        }
        // The question itself is in the log already and would be the best hit.
        let own = ask.block.split('#').next().unwrap_or_default();
        let found = self.recall.recall(&ask.text, MOST + 1).await?;
        let found = found.into_iter().filter(|memory| {
            memory.path != own || !ask.text.trim().starts_with(memory.text.trim_end_matches('…').trim())
        });
        Ok(Some(describe(&found.take(MOST).collect::<Vec<_>>())))
    }
}

/// The words for what was found: where each came from, and that nothing was added.
pub fn describe(found: &[Memory]) -> String {
    if found.is_empty() {
        return "I found nothing about that in your notes.".to_owned();
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
    format!("From your notes (excerpts, found by search):\n{}", items.collect::<Vec<_>>().join("\n"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Vec<Memory>);

    #[async_trait]
    impl Recall for Fixed {
        async fn recall(&self, _: &str, _: usize) -> Result<Vec<Memory>, String> {
            Ok(self.0.clone())
        }
    }

    fn ask(text: &str) -> Ask {
        Ask {
            text: text.into(),
            author: "Alice".into(),
            channel: 1,
            message: 2,
            block: "logs/a.md#^X".into(),
        }
    }

    #[tokio::test]
    async fn an_answer_says_where_it_comes_from_and_leaves_the_question_out() {
        let memory =
            |path: &str, text: &str| Memory { path: path.into(), line: 7, when: None, text: text.into() };
        let found =
            vec![memory("logs/a.md", "when is the dentist?"), memory("MEMORY.md", "Dentist\n on Friday")];
        let answer =
            RecallResponder::new(Arc::new(Fixed(found))).answer(&ask("when is the dentist?")).await.unwrap();
        insta::assert_snapshot!(answer.unwrap(), @r"
        From your notes (excerpts, found by search):
        - Dentist on Friday
          -# `MEMORY.md`, line 7
        ");
        let answer = RecallResponder::new(Arc::new(Fixed(vec![]))).answer(&ask("x")).await.unwrap();
        assert_eq!(answer.unwrap(), "I found nothing about that in your notes.");
    }
}
