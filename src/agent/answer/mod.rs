//! Runs a turn, from its question to its answer.
//!
//! A question and the memories for it come in; one answer goes out, whole or not at all. Each step is in the turn
//! journal before the next one begins, so that a crash repeats no step that cost something.
//! - [`engine`]: the turn; [`turn_input`]: its questions, log, summaries, skills and tools; [`ask_chain`]: the brains,
//!   one after the other; [`rounds`]: the rounds of tools; [`harness`]: the same for a program with a loop of its own;
//! - [`time_limit`]: the time limit of a turn; [`budget_check`]: the day's budgets; [`rounds`] also applies a turn's
//!   own limits of tokens and rounds;
//! - [`note_context`]: the notes that a request contains; [`fixed_texts`]: the assistant's own sentences; [`finish_turn`]:
//!   the end of a turn;
//! - [`other_brains`], [`recall_brain`]: brains that are asked within a turn.

mod ask_chain;
mod budget_check;
mod engine;
mod finish_turn;
pub(super) mod fixed_texts;
mod harness;
mod note_context;
pub mod other_brains;
mod recall_brain;
mod rounds;
mod time_limit;
mod turn_input;

pub(super) use ask_chain::row;
pub(super) use budget_check::{may_spend, queue_notices};
pub use engine::{AnswerEngine, EngineParts, RunPurpose};
pub use note_context::{notes, part_for_brain, read_vault_file};
pub use other_brains::OtherBrains;
