//! Takes snapshots: turns the vault's files into commits.
//!
//! Paths that may have changed come in, and a [`SnapshotResult`] goes out. The editor's report of a write comes in, and
//! the write is committed. Bulk deletions by a person are held until that person confirms them. A file that hasn't
//! changed since the last snapshot isn't read again.
//!
//! - [`history`]: [`History`], the state that all parts of the module share, opened at its first use by
//!   [`LazyHistory`];
//! - [`select`]: the files that a snapshot keeps; [`entries`]: cached file stats;
//! - [`scan`]: changed files, and files that are left out; [`renames`]: renamed files;
//! - [`pending`]: the journal of a restore or an undo;
//! - [`snapshot`], [`record`], [`transcript`]: commits of people's changes, of one write of the agent, of logs. A write
//!   of the agent brings its own [`ChangeReason`](crate::vault::ChangeReason).

mod entries;
mod history;
pub(super) mod pending;
mod record;
mod renames;
mod scan;
mod select;
mod snapshot;
mod transcript;

pub(super) use entries::FileEntries;
pub use history::{History, LazyHistory};
pub use pending::RestoreStep;
pub(super) use record::is_skipped_by_undo;
pub use renames::Rename;
pub(super) use renames::{file_name, pairs, removed_and_added};
pub(super) use scan::mode_of;
pub use scan::{LeftOut, left_out_in};
pub(super) use select::is_reserved;
pub(super) use snapshot::plural;
pub use snapshot::{Deletions, SnapshotResult};
