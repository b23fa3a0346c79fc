//! Makes the calls of brains that answer no question. No answer waits for them, and answers have priority.
//!
//! - [`background_calls`]: makes such a call;
//! - [`reminder_wording`]: the wording of reminders that are soon due; [`summary_writer`]: summaries of logs; [`working_memory`]:
//!   working memory.

pub mod background_calls;
mod reminder_wording;
mod summary_writer;
mod working_memory;

pub use reminder_wording::Phraser;
pub use summary_writer::{SummaryReport, SummaryWriter};
pub use working_memory::WorkingMemoryWriter;
