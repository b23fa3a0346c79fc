//! Takes snapshots: from the vault's files to commits.
//!
//! Paths that may have changed, or the editor's report of a write, come in; a [`SnapshotResult`] goes out. Bulk deletions by a
//! person are held until they confirm; a file that the last snapshot has seen as it is isn't read again.
//! - [`history`]: [`History`], the state that all parts of the room share;
//! - [`select`]: the files that are kept; [`left_out`]: the list of files that the last scan had to leave out; [`entries`],
//!   [`scan`]: cached file stats, and changes;
//! - [`renames`], [`deletions`]: files that are gone; [`pending`]: the journal of a restore or an undo;
//! - [`subjects`]: commit messages for changes of people; a write of the agent brings its own [`ChangeReason`](crate::vault::ChangeReason);
//! - [`snapshot`], [`record`], [`transcript`]: commits of people's changes, of one write of the agent, of logs.

mod committer;
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

pub use committer::SnapshotResult;
pub use deletions::{Deletions, HeldDeletions};
pub(super) use entries::EntryFile;
pub use entries::RACY_NS;
pub use history::History;
pub use left_out::left_out_in;
pub use pending::{PendingRestore, RestoreStep};
pub(super) use record::is_skipped_by_undo;
pub use renames::Rename;
pub(super) use renames::{file_name, pairs};
pub use scan::LeftOut;
pub use select::{PathTreatment, Selection};
pub(super) use subjects::plural;
