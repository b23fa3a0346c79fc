//! A turn, from its question to its answer.
//!
//! A question with what memory gives comes in; one answer goes out, whole or not at all. Each step is in the turn journal
//! before the next begins, so that a crash repeats none that cost something.
//! - [`engine`]: the turn; [`material`]: what is asked; [`asking`]: whom, one after the other; [`rounds`]: its rounds of tools; [`harness`]: the same for a program with a loop of its own;
//! - [`limit`]: the time that a turn may take; [`spending`]: what happens where the day's budget is used up; a turn's own
//!   bound of tokens and rounds is [`rounds`]';
//! - [`told`]: what a brain is told of the vault; [`words`]: what the assistant says itself; [`finish`]: how a turn ends;
//! - [`colleague`], [`recaller`]: brains that are asked within a turn.

mod asking;
pub mod colleague;
mod engine;
mod finish;
mod harness;
mod limit;
mod material;
mod recaller;
mod rounds;
mod spending;
mod told;
pub(super) mod words;

pub(super) use asking::row;
pub use colleague::Colleagues;
pub use engine::{Engine, EngineParts, Purpose};
pub(super) use spending::{may_spend, tell};
pub use told::{kept, notes, shown};
