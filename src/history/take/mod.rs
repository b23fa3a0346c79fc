//! Taking snapshots: from the vault's files to commits.
//!
//! Paths that may have changed, or a write that the editor tells of, come in; a [`Snapshot`] goes out. What a person
//! deleted in bulk is held until they say so; no file is read that the last snapshot has already seen as it is.
//! - [`history`]: [`History`], what all parts of the room work on;
//! - [`select`]: which files are kept, and which folders and files never are; [`left_out`]: the list of those that the last
//!   look had to leave out; [`entries`], [`scan`]: what was seen of each file, and what changed;
//! - [`renames`], [`deletions`]: files that are gone; [`pending`]: what a restore or an undo is about to write;
//! - [`subjects`]: the words of a commit of what people changed; those of the agent's writes come with each
//!   [`Why`](crate::vault::Why);
//! - [`snapshot`], [`record`], [`transcript`]: commits of what people changed, of one write of the agent, of logs.

mod deletions;
mod entries;
mod history;
mod left_out;
pub(super) mod pending;
mod record;
mod renames;
mod scan;
mod select;
mod snapshot;
mod subjects;
mod transcript;

pub use deletions::{Deletions, HeldDeletions};
pub(super) use entries::EntryFile;
pub use entries::RACY_NS;
pub use history::History;
pub use left_out::left_out_in;
pub use pending::PendingRestore;
pub(super) use record::is_passed_over;
pub use renames::Rename;
pub(super) use renames::{file_name, pairs};
pub use scan::LeftOut;
pub(super) use scan::Scanner;
pub use select::{Selection, Treatment};
pub use snapshot::Snapshot;
pub(super) use subjects::plural;
