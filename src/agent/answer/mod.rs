//! A turn, from its question to its answer.
//!
//! A question with what memory gives comes in; one answer goes out, whole or not at all. Each step is in the turn journal
//! before the next begins, so that a crash repeats none that cost something.
//! - [`engine`]: the turn; [`turn_input`]: what is asked; [`ask_chain`]: whom, one after the other; [`rounds`]: its rounds of tools; [`harness`]: the same for a program with a loop of its own;
//! - [`time_limit`]: the time that a turn may take; [`budget_check`]: what happens where the day's budget is used up; a turn's own
//!   bound of tokens and rounds is [`rounds`]';
//! - [`note_context`]: what a brain is told of the vault; [`fixed_texts`]: what the assistant says itself; [`finish`]: how a turn ends;
//! - [`colleague`], [`recall_brain`]: brains that are asked within a turn.

mod ask_chain;
mod budget_check;
pub mod colleague;
mod engine;
mod finish;
pub(super) mod fixed_texts;
mod harness;
mod note_context;
mod recall_brain;
mod rounds;
mod time_limit;
mod turn_input;

pub(super) use ask_chain::row;
pub(super) use budget_check::{may_spend, tell};
pub use colleague::Colleagues;
pub use engine::{Engine, EngineParts, RunPurpose};
pub use note_context::{kept, notes, shown};
