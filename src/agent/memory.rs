//! What memory gives a turn: context for a brain, and an answer where no brain gives one.

use async_trait::async_trait;

/// What was found for a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// The text that stands before the question; empty where nothing was found.
    pub injection: String,
    /// Links to the blocks that it comes from, for the log.
    pub links: String,
}

/// The vault's memory.
#[async_trait]
pub trait Remember: Send + Sync {
    /// What helps with this question.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn given(&self, question: &str) -> Result<Given, String>;

    /// An answer made of what is remembered alone; `block` is the question's own place in a log.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    async fn answer(&self, question: &str, block: &str) -> Result<String, String>;
}
