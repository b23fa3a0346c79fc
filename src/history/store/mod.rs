//! Stores snapshots in a bare git repository: its objects, commits, trees and the list of snapshots.
//!
//! Objects and messages come in; ids go out. A commit is durable before the branch points at it. Nothing here knows the
//! vault's folder, or why something is written.
//! - [`repository`]: the opened repository ([`HistoryStore`]); [`tree`] adds looking up, listing and changing trees to it, and
//!   [`reconcile`] taking its lock and setting right what a killed process left;
//! - [`object`]: the objects of one snapshot, and files and names made durable; [`commit`]: git's bytes, and the trailers that
//!   programs read;
//! - [`ledger`]: the list of snapshots outside of the repository.

mod commit;
mod ledger;
mod object;
mod reconcile;
mod repository;
mod tree;

pub(super) use commit::{
    ACTOR, ALL_NOTES, BULK_DELETION, CONVERSATION, Commit, CommitMessage, LEFT_OUT, NAMED, RESTORED_FROM,
    TEMPLATE, TRANSCRIPT, UNDOES, short_id, trailers_of,
};
pub use commit::{NOTE, turn_of};
pub(super) use ledger::LedgerState;
pub(super) use object::{ObjectWriter, empty_tree, failpoint, loose_path, sync_dir, sync_files};
pub(super) use reconcile::operation_lock;
pub(super) use repository::{BRANCH, BranchLock, HistoryStore};
pub use tree::FileMode;
pub(super) use tree::{FileState, PathChange, TreeChange};
