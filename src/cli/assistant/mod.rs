//! Groups the commands about the assistant: questions, brains, skills, routines, cost and records.
//!
//! - [`ask`], [`turns`], [`usage`]: one question, the record of each turn, tokens and cost; with [`terminal`]: progress
//!   and approvals at the terminal;
//! - [`brain`], [`skill`], [`routine`], [`lcm`]: brains, skills, scheduled prompts, summaries of long logs.

pub(super) mod ask;
pub(super) mod brain;
pub(super) mod lcm;
pub(super) mod routine;
pub(super) mod skill;
mod terminal;
pub(super) mod turns;
pub(super) mod usage;
