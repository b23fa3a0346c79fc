//! Answers a question: one file for each part of a turn.
//!
//! A question and the memories for it come in; one answer goes out, whole or not at all. Each step is in the turn
//! journal before the next step begins, so that a crash repeats no step that cost something.
//! - [`engine`]: the turn; [`turn_input`]: its questions, log, summaries, notes, skills and tools;
//! - [`ask_chain`]: the calls of the brains in order, and the end of the turn;
//! - [`rounds`]: the rounds of tools, and a turn's limits of tokens and rounds;
//! - [`harness`]: the run of a brain that is an agent program and calls its tools itself;
//! - [`time_limit`]: the time limit of a turn; [`budget_check`]: the day's budgets;
//! - [`fixed_texts`]: the assistant's own sentences; [`other_brains`]: calls of a second brain within a turn.

mod ask_chain;
mod budget_check;
mod engine;
pub(super) mod fixed_texts;
mod harness;
pub mod other_brains;
mod rounds;
mod time_limit;
mod turn_input;

pub(super) use ask_chain::call_row;
pub(super) use budget_check::{may_spend, queue_notices};
pub use engine::{AnswerEngine, EngineParts, RunPurpose};
pub use other_brains::OtherBrains;
pub use turn_input::{notes, part_for_brain, read_vault_file};
