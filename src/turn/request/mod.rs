//! The request of a turn. Pure: the log's bytes, notes and settings come in; the same bytes make the same request.
//!
//! - [`assemble`]: system text, the conversation so far, what is new; [`rebuild`]: the same again, later, from the notes;
//! - [`history`], [`files`]: from a log's blocks to messages, and the files that hang on them;
//! - [`notes`]: the notes that every request tells of;
//! - `shorten`: the head and tail of a long text;
//! - [`past_context`], [`terms`]: what is told of the past that can't be told whole, and the words by which it is found.

pub mod assemble;
pub mod files;
pub mod history;
pub mod notes;
pub mod past_context;
pub mod rebuild;
mod shorten;
pub mod terms;
