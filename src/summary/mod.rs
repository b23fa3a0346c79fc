//! Summaries over logs: what to condense, what a summary says where no brain is asked, and the way back to every byte.
//!
//! A log is the lossless store; a summary is a note that points into it and can always be made again. [`plan`] says
//! which events belong into the next one, [`ask`] what a brain is asked and which answers are refused, [`extract`] makes
//! one without any brain and can't fail; [`Window`] is one log with its summaries: it finds what each covers, proves it,
//! and says what is due; [`grep`] searches both. All of that is pure. [`Summaries`] reads and writes the notes.
//!
//! Never here: a call of a brain (`agent::scribe` makes them), or a wait: nobody who answers a person waits for a
//! summary.
//!
//! - `material`, `due`, `plan`: what a log is about, what is due, which events belong together;
//! - `ask`, `extract`: a summary by a brain, and one without;
//! - `window`, `proof`, `expand`: what covers what, whether it is true, and the way back;
//! - `store`, `found`, `answers`, `grep`: the notes, and what is asked about them. `measures` prints figures.

mod answers;
pub mod ask;
mod due;
pub mod expand;
pub mod extract;
mod found;
pub mod grep;
mod material;
#[cfg(test)]
mod measures;
pub mod plan;
mod proof;
mod store;
pub mod window;
#[cfg(test)]
mod window_tests;

pub use answers::{Described, Found, Verified};
pub use due::Due;
pub use material::Material;
pub use plan::Look;
pub use proof::Problem;
pub use store::{LogName, Summaries, SummaryError, Text};
pub use window::{Block, Note, Window};
