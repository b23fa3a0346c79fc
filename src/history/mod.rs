//! Keeps the history of the vault: snapshots, restore, undo and audit, in a bare git repository in the state directory
//! that plain git can read.
//!
//! A write of the agent is one commit with its reason; changes by people before it are a commit of their own. Notes and the
//! editing engine's reports of writes come in; commits go out, and from them lists, differences, restored notes and proofs.
//! - [`store`]: the repository: objects, trees, commits, its locks, and the list of snapshots kept outside of it;
//! - [`take`]: taking snapshots. [`History`] is the room's entry point, and observes the editing engine (it is a
//!   [`ChangeObserver`](crate::vault::ChangeObserver));
//! - [`read`]: points in time, the log, differences;
//! - [`mod@restore`]: restoring a file, a line or the vault, and undoing the agent's last writes;
//! - [`verify`]: checks that the history is complete, and what it proves (`audit`);
//! - [`upkeep`]: when the daemon takes a snapshot ([`Snapshotter`]), packing, and pushes with the user's own git.
//!
//! Never here: writing a note. Restoring and undoing go through [`Editor`](crate::vault::Editor). The vault's own `.git`
//! is neither read nor written.

mod error;
mod read;
mod restore;
mod store;
mod take;
mod upkeep;
mod verify;

pub use self::error::{HistoryError, Result};
pub use self::read::{
    Blame, BlameBound, BlamedLine, CommitRecord, DiffStat, DiffStyle, FileDiff, LineOrigin, LineWriter,
    LogFilter, Point, SnapshotEntry, TrailerValue, diff_stat, parse_time, render as render_diff,
};
pub use self::restore::{
    BlockedFile, Conflict, Interrupted, LineTarget, NoteSection, NoteUndo, OperationUndo, PartPlan,
    RestorePlan, RestoreReport, UndoPlan, UndoReport, UndoSelection, plan, restore_line, revert_change,
    sections,
};
pub use self::store::{
    ACTOR, ALL_NOTES, BULK_DELETION, Commit, CommitMessage, FileMode, FileState, NOTE, PathChange,
    RESTORED_FROM, TRANSCRIPT, UNDOES, turn_of,
};
pub use self::take::{
    Deletions, HeldDeletions, History, LeftOut, PathTreatment, PendingRestore, RACY_NS, Rename, RestoreStep,
    Selection, SnapshotResult, left_out_in,
};
pub use self::upkeep::{
    DueComparison, LazyHistory, MaintenanceReport, PackPolicy, PendingChanges, PushBackoff, Snapshotter,
    fetch_into, push,
};
pub use self::verify::{
    AuditReport, CheckDepth, DeliveryLookup, DeliveryRecord, HistoryFlaw, Verification, Violation, audit,
};
