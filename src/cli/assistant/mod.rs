//! Groups the commands of the assistant: `ask`, and its brains, skills, routines, cost and records.
//!
//! - [`ask`], [`turns`], [`usage`]: one question, the record of each, tokens and cost; with [`terminal`], [`schema`] and
//!   [`requests`]: output to the terminal, the schema of an answer, a request rebuilt from the notes;
//! - [`brain`], [`skill`], [`routine`], [`lcm`]: brains, skills, scheduled prompts, summaries of long logs;
//! - [`terminal_approval`]: asks the person at the terminal whether a call may happen.

pub(super) mod ask;
pub(super) mod brain;
pub(super) mod lcm;
mod requests;
pub(super) mod routine;
mod schema;
pub(super) mod skill;
mod terminal;
mod terminal_approval;
pub(super) mod turns;
pub(super) mod usage;
