//! Lets several machines with one vault agree on the machine that sends each message, through a shared store that can
//! compare and swap.
//!
//! The store holds claims (the right to send one thing once), one lease (the voice), and the presence of each machine.
//! Notes are not in it; a sync tool carries them as before. Values from the store are untrusted: they are parsed with
//! bounds, and never run, written into a note or shown as Markdown. Without `[machines]` in the settings nothing of
//! this room is started.
//!
//! - [`Machines`], in `handle`: the questions of the rest of the program; `driver`: the traffic with the store;
//! - [`identity`]: a machine's own id, kept across restarts; [`status`]: the report on all machines; [`join`]: joining
//!   and leaving at a person's request, and the request to become the voice;
//! - [`engine`]: the two kinds of stores, a git server and etcd, and the choice between them by the settings;
//! - [`protocol`]: the decisions: the next changes of a machine, given the entries. Pure.

mod driver;
pub mod engine;
mod handle;
pub mod identity;
pub mod join;
pub mod protocol;
pub mod status;

pub use self::handle::{IntendedSend, JoinConfig, Machines, RightsChanges};
