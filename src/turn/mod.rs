//! A turn: one message's way to its one answer.
//!
//! A message that is to be answered enters as a row of the [`journal`]; a fixed text leaves for `deliver`, which
//! alone sends. Between the two everything is decided by pure functions: `route` says who is asked, [`assemble`]
//! makes the request from the log and the notes, [`remake`] makes it again later and compares. Nothing here
//! talks to a model or to Discord: the `agent` room runs a turn, step by step, with what stands here.

pub mod assemble;
pub mod facts;
pub mod history;
pub mod journal;
pub mod state;

pub use facts::Facts;
pub use journal::{NewTurn, Turn, TurnJournal, TurnJournalError};
pub use state::State;
