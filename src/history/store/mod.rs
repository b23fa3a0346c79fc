//! Stores snapshots in a bare git repository (objects, trees, commits), and keeps a list of them beside the repository.
//!
//! Objects and messages come in; ids go out. A commit is durable before the branch points at it. Nothing here depends
//! on the vault's folder, or on the reason of a write.
//!
//! - [`repository`]: the opened repository ([`HistoryStore`]); writes a snapshot's objects and syncs files and folders
//!   to disk;
//! - [`tree`]: methods of the repository that look up, list and change trees;
//! - [`reconcile`]: takes the repository's lock, and repairs the repository after a killed process;
//! - [`commit`]: commits and their messages as git's bytes, with the trailers that programs read;
//! - [`walk`]: the way back through the commits; [`ledger`]: the list of snapshots outside of the repository.

mod commit;
mod ledger;
mod reconcile;
mod repository;
mod tree;
mod walk;

pub(super) use commit::{
    ACTOR, ALL_NOTES, BULK_DELETION, CONVERSATION, CommitMessage, LEFT_OUT, NAMED, RESTORED_FROM, TEMPLATE,
    TRANSCRIPT, UNDOES, encode_commit, short_id, trailers_of,
};
pub use commit::{ASKED_TURN_PREFIX, Commit, NOTE, turn_of};
pub(super) use ledger::{LedgerLine, LineKind};
pub(super) use reconcile::{age, is_locked, operation_lock};
pub(super) use repository::{
    BRANCH, BranchLock, HistoryStore, ObjectWriter, empty_tree, failpoint, loose_path, sync_dir, sync_files,
};
pub use tree::FileMode;
pub(super) use tree::{FileState, FileStates, PathChange, TreeChange};
pub(super) use walk::CommitWalk;
