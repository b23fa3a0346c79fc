//! Stores snapshots in a bare git repository: opens it alone, locks it between processes, reads it and commits to it.
//!
//! Objects and messages come in; ids go out. A commit is durable before the branch points at it. Nothing here knows the
//! vault's folder, or why something is written.
//! - [`repository`]: the opened repository ([`HistoryStore`]); [`tree`] adds looking up, listing and changing trees to it, and
//!   [`reconcile`] taking its lock and setting right what a killed process left;
//! - [`object`]: the objects of one snapshot; [`commit`], [`message`]: git's bytes, and the trailers that programs read;
//! - [`ledger`]: the list of snapshots outside of the repository;
//! - [`git_locks`], [`durability`]: locks that were left behind, files and names made durable.

mod commit;
mod durability;
mod git_locks;
mod ledger;
mod message;
mod object;
mod reconcile;
mod repository;
mod tree;

pub use commit::Commit;
pub(super) use commit::short_id;
pub(super) use durability::{failpoint, sync_dir, sync_files};
pub(super) use git_locks::BranchLock;
pub(super) use ledger::LedgerState;
pub use message::{
    ACTOR, ALL_NOTES, BULK_DELETION, CommitMessage, NOTE, RESTORED_FROM, TRANSCRIPT, UNDOES, turn_of,
};
pub(super) use message::{CONVERSATION, LEFT_OUT, NAMED, TEMPLATE, trailers_of};
pub(super) use object::{ObjectWriter, empty_tree};
pub(super) use reconcile::operation_lock;
pub(super) use repository::{BRANCH, HistoryStore};
pub(super) use tree::TreeChange;
pub use tree::{FileMode, FileState, PathChange};
