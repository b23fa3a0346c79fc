//! Classifies prompts and answers, and summarises conversations. Pure, except [`evidence`], which reads the history and
//! resolves paths.
//!
//! - [`recall_gate`]: whether memory is searched for a prompt, also for `recall` and the MCP tool `memory_recall`;
//! - [`save_claims`], [`claim_patterns`]: claims of an assistant to have saved something;
//! - [`evidence`]: whether such a claim is true, by the history and the calls of the turn;
//! - [`summary`]: a summary of a conversation, by extraction.
//!
//! [`crate::capture::offers`] decides whether something is worth saving.

mod claim_patterns;
mod evidence;
pub mod recall_gate;
pub mod save_claims;
mod summary;

use std::sync::LazyLock;

use crate::words::{WordLists, word_lists};

/// The words by which prompts and answers are classified.
static WORDS: LazyLock<WordLists> = LazyLock::new(|| word_lists(include_str!("../data/prompt_words.txt")));

pub(super) use evidence::{answer_subject, was_written, writes_to_vault};
pub(super) use summary::{topic, working};
