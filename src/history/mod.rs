//! The history of the vault: snapshots, restore, undo and audit, in a bare git repository in the state directory that plain
//! git can read.
//!
//! Each write of the agent is one commit that says what and why; changes by people before it are a commit of their own
//! first. Notes and the editing engine's word of a write come in; commits go out, and from them lists, differences,
//! restored notes and proofs. In the order in which it happens:
//! - [`store`]: the repository itself: objects, trees, commits, its locks, and the list of snapshots kept outside of it;
//! - [`take`]: taking snapshots. [`History`] is the room's front, and hears the editing engine (it is a
//!   [`ChangeObserver`](crate::vault::ChangeObserver));
//! - [`read`]: points in time, the log, differences;
//! - [`mod@restore`]: bringing back a file, a line or the vault, and taking back the agent's last writes;
//! - [`verify`]: whether the history is whole, and what it proves (`audit`);
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
    Blame, BlameBound, BlamedLine, DiffStyle, Entry, FileDiff, Filter, LineOrigin, Point, Record,
    Stat as DiffStat, TrailerValue, Writer, diff_stat, parse_time, render as render_diff,
};
pub use self::restore::{
    Conflict, Interrupted, LineTarget, NoteUndo, OperationUndo, PartPlan, Plan, RestoreReport, Section, Skip,
    Step, UndoPlan, UndoReport, UndoSelection, plan, put_line_back, sections, take_back,
};
pub use self::store::{
    ACTOR, ALL_NOTES, BULK_DELETION, Commit, FileState, Message, Mode, NOTE, PathChange, RESTORED_FROM,
    TRANSCRIPT, UNDOES, turn_of,
};
pub use self::take::{
    Deletions, HeldDeletions, History, LeftOut, PendingRestore, RACY_NS, Rename, Selection, Snapshot,
    Treatment, left_out_in,
};
pub use self::upkeep::{
    Batch, LazyHistory, MaintenanceReport, PackPolicy, PushBackoff, Snapshotter, Work, fetch_into, push,
};
pub use self::verify::{
    AuditReport, CheckDepth, Delivered, DeliveryRecord, Flaw, Verification, Violation, audit,
};
