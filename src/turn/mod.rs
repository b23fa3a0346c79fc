//! A turn: one message's way to its one answer.
//!
//! A message that is to be answered enters as a row of the [`journal`]; a fixed text leaves for `deliver`, which
//! alone sends. Between the two everything is decided by pure functions: [`mod@route`] says who is asked,
//! [`history`], [`told`] and [`mod@assemble`] make the request from the log, its summaries and the notes, [`remake`] makes it again later.
//! [`facts`] is the line that ends each `[!agent]` block of a log: who answered, and what it took;
//! [`usage`] adds these lines up; [`session`] says whether a harness's session may be gone on with. Nothing here talks to a model or to Discord: the `agent` room runs a turn, step by
//! step, at a [`place`].

pub mod assemble;
pub mod category;
pub mod facts;
pub mod files;
pub mod history;
pub mod journal;
mod noted;
pub mod place;
pub mod remake;
pub mod route;
pub mod session;
pub mod skills;
pub mod state;
pub mod terms;
pub mod told;
pub mod usage;

pub use facts::Facts;
pub use journal::{NewTurn, Turn, TurnJournal, TurnJournalError};
pub use noted::noted;
pub use place::{Answer, ApprovalRequest, Halt, Note, Nowhere, Place, Responder};
pub use route::{Question, Routed, UnknownBrain, route};
pub use state::State;
