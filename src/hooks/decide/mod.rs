//! Decides about texts by their words. Pure: texts in, verdicts and extracts out.
//!
//! - [`recall_gate`]: whether a prompt is worth a look into memory;
//! - [`save_claims`], [`claim_patterns`]: what an assistant says it has saved;
//! - [`evidence`]: what a turn did that bears such a claim out;
//! - [`summary`]: what a conversation was answer_subject, extracted and not invented.
//!
//! [`crate::capture::offers`] decides whether something is worth saving.

mod claim_patterns;
mod evidence;
pub mod recall_gate;
pub mod save_claims;
mod summary;

pub(super) use evidence::{answer_subject, is_evidence, was_written};
pub(super) use summary::{topic, working};
