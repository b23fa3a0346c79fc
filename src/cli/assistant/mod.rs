//! The assistant: `ask` and what its answers are made of, cost and leave behind.
//!
//! - [`ask`], [`turns`], [`usage`]: a question, what became of each, what answers took; with [`terminal`], [`schema`] and
//!   [`requests`]: the terminal, the form that an answer is to have, a request made again;
//! - [`brain`], [`skill`], [`routine`], [`lcm`]: brains, skills, scheduled prompts, summaries of long logs;
//! - [`terminal_approval`]: the person at the terminal is asked whether a call may happen.

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
