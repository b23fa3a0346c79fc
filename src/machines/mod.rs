//! Decides which of several machines with copies of one vault sends each message.
//!
//! The machines coordinate through a shared store with compare-and-swap. The store holds:
//! - claims: the right to send a message, or to run a turn or a routine;
//! - a lease: its holder is the voice, the machine that speaks on Discord and does shared work;
//! - the presence of each machine, a counter that orders the sent messages, and the format's version with the vault's
//!   id.
//!
//! Of the notes, the store holds ids, due times and hashes, but no text; a sync tool carries the notes. Values from the
//! store are untrusted: they are parsed with bounds, and never run, written into a note or shown as Markdown. Without
//! `[machines]` in the settings, none of this module runs.
//!
//! - [`Machines`], in `handle`: the interface for the rest of the program; `driver`: reads and writes the store;
//! - [`identity`]: a machine's own id, kept across restarts; [`status`]: the report on all machines;
//! - [`join`]: joining and leaving at a person's request, and the request to become the voice;
//! - [`engine`]: the two kinds of stores, a git server and etcd, and the choice between them by the settings;
//! - [`protocol`]: decides which entries of the store this machine changes next. Pure.

mod driver;
pub mod engine;
mod handle;
pub mod identity;
pub mod join;
pub mod protocol;
pub mod status;

pub use self::handle::{IntendedSend, JoinConfig, Machines, RightsChanges};
