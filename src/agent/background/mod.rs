//! Brains that are asked beside the answers. Nobody waits for them, and an answer goes first.
//!
//! - [`background_calls`]: the one way to ask so;
//! - [`reminder_wording`]: words for what is about to be due; [`scribe`]: summaries of logs; [`working`]: working memory.

pub mod background_calls;
mod reminder_wording;
mod scribe;
mod working;

pub use reminder_wording::Phraser;
pub use scribe::{Scribe, ScribeReport};
pub use working::WorkingMemoryWriter;
