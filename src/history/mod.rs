//! Keeps the history of the vault: snapshots, restore, undo and audit, in a bare git repository in the state directory
//! that plain git can read.
//!
//! Notes and the editing engine's reports of writes come in; commits go out. Each write of the agent is committed with
//! its reason; changes that people made before the write are a commit of their own. Logs, differences and restored
//! notes are made from these commits.
//!
//! - [`store`]: the repository: objects, trees, commits, its locks, and the list of snapshots kept outside of it;
//! - [`take`]: taking snapshots. [`History`] is the module's entry point, and observes the editing engine as a
//!   [`ChangeObserver`](crate::vault::ChangeObserver);
//! - [`read`]: points in time, the log, differences;
//! - [`mod@restore`]: restoring a file, a line or the vault, and undoing the agent's last writes;
//! - [`integrity`]: whether the history is complete and unchanged; [`mod@audit`]: whether each write and each delivery
//!   kept the program's guarantees. Neither repairs anything by itself;
//! - [`snapshotter`]: when the daemon takes a snapshot, and packing; [`remote`]: pushing and fetching with the user's
//!   own git.
//!
//! Never here: writing a note. Restoring and undoing go through [`Editor`](crate::vault::Editor). The vault's own
//! `.git` is neither read nor written.

mod audit;
mod error;
mod integrity;
mod prelude;
mod read;
mod remote;
mod restore;
mod snapshotter;
mod store;
mod take;

pub use self::audit::{AuditReport, DeliveryRecord, Violation, audit};
pub use self::error::{HistoryError, Result};
pub use self::integrity::{CheckDepth, Verification};
pub use self::read::{
    Blame, BlameBound, BlamedLine, CommitRecord, DiffStyle, FileDiff, LineOrigin, LineWriter, LogFilter,
    SnapshotEntry, diff_stat, parse_time, render as render_diff,
};
pub use self::remote::{not_pushed, push};
pub use self::restore::{
    Interrupted, LineTarget, OperationUndo, RestorePlan, RestoreReport, UndoPlan, UndoReport, UndoSelection,
    sections,
};
pub use self::snapshotter::{LOOSE_OBJECTS, Snapshotter};
pub use self::store::{ASKED_TURN_PREFIX, Commit, FileMode, NOTE, turn_of};
pub use self::take::{Deletions, History, LazyHistory, LeftOut, Rename, SnapshotResult, left_out_in};
