//! Makes the calls of brains that answer no question. No answer waits for them, and answers have priority.
//!
//! - [`background_calls`]: makes such a call;
//! - [`reminder_wording`]: the wording of reminders that are soon due; [`scribe`]: summaries of logs; [`working`]:
//!   working memory.

pub mod background_calls;
mod reminder_wording;
mod scribe;
mod working;

pub use reminder_wording::Phraser;
pub use scribe::{Scribe, ScribeReport};
pub use working::WorkingMemoryWriter;
