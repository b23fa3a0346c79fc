//! Groups the commands for reminders and follow-ups: `remind`, `commitment`, `agenda`, and `check` for lines that
//! aren't understood.
//!
//! - [`remind`] (with [`occurrence`]: its `skip`, `move` and `preview`), [`commitment`], [`check`], [`agenda`]: one
//!   file for each command;
//! - [`find_by_words`]: the id of a reminder that is named by its words.

pub(super) mod agenda;
pub(super) mod check;
pub(super) mod commitment;
mod find_by_words;
mod occurrence;
pub(super) mod remind;
