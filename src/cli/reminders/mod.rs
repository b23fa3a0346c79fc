//! Reminders and follow-ups: `remind`, `commitment`, and `check` for lines that aren't understood.
//!
//! - [`remind`] (with [`occurrence`]: its `skip` and `move`), [`commitment`], [`check`], [`agenda`]: one file a command;
//! - [`find_by_words`]: which reminder a person means who gives its words in the place of its id.

pub(super) mod agenda;
pub(super) mod check;
pub(super) mod commitment;
mod find_by_words;
mod occurrence;
pub(super) mod remind;
