//! Lets several machines with one vault agree on which of them sends what, through a shared store that can compare and
//! swap.
//!
//! Only claims and one lease stand in that store; notes travel by whatever carries them today. Values that come out of
//! it are untrusted: they are parsed with bounds, and no word of them is run, written into a note or shown as Markdown.
//! Without `[machines]` in the settings nothing of this room is started.
//!
//! - [`Machines`], in `handle`: what the rest of the program asks; `driver`: what talks to the engine for it;
//! - [`identity`]: what a machine knows of itself across restarts; [`status`], [`person`]: what the entries say, and what a person
//!   asks of them;
//! - [`engine`]: the stores, a git server and etcd; [`connect`]: from the settings to one; [`protocol`]: what a machine does next,
//!   given what stands there.

pub mod connect;
mod driver;
pub mod engine;
mod handle;
pub mod identity;
pub mod person;
pub mod protocol;
pub mod status;

pub use self::handle::{Joining, Machines, News, Want};
