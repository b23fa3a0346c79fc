//! Every change explained, anything brought back.
//!
//! Snapshots of the vault are commits in `history.git`, a bare repository in the state directory that
//! plain git can read. What the agent writes is one commit a write, with what and why; what people
//! changed before it is a commit of its own first. On top of that: `history`, `diff`, `restore`, `undo`
//! and `audit`, and a push to a remote with the user's own git.
//!
//! [`History`] is the front: it takes snapshots, hears the editing engine (it is a
//! [`ChangeObserver`](crate::vault::ChangeObserver)) and answers questions. [`Snapshotter`] decides when
//! the daemon takes one. The room never writes a note: restoring and undoing go through
//! [`Editor`](crate::vault::Editor). It never reads or writes the vault's own `.git`.

mod audit;
mod commit;
mod diff;
mod entries;
mod disk;
mod error;
mod front;
mod held;
mod known;
mod lazy;
mod left_out;
mod line;
mod lock;
mod locks;
mod log;
mod maintain;
mod message;
mod object;
mod pending;
mod plan;
mod point;
mod put;
mod record;
mod remote;
mod renames;
mod restore;
mod scan;
mod select;
mod snapshot;
mod snapshotter;
mod store;
mod transcript;
mod tree;
mod undo;
mod verify;
mod wal;
mod words;

pub use audit::{AuditReport, Delivered, DeliveryRecord, Violation, audit};
pub use commit::Commit;
pub use diff::{DiffStyle, FileDiff, Stat as DiffStat, diff_stat, render as render_diff};
pub use entries::RACY_NS;
pub use error::{HistoryError, Result};
pub use held::Held;
pub use lazy::LazyHistory;
pub use left_out::left_out_in;
pub use line::{LineTarget, put_line_back};
pub use log::{Filter, Record};
pub use maintain::{MaintenanceReport, PackPolicy};
pub use message::{ACTOR, ALL_NOTES, BULK_DELETION, Message, NOTE, RESTORED_FROM, TRANSCRIPT, UNDOES};
pub use object::{FileState, Mode};
pub use pending::PendingRestore;
pub use plan::{Plan, Skip, Step, plan};
pub use point::{Point, parse_time};
pub use remote::{PushBackoff, fetch_into, push};
pub use renames::Rename;
pub use restore::{Interrupted, RestoreReport};
pub use scan::LeftOut;
pub use select::{Selection, Verdict};
pub use front::History;
pub use held::Deletions;
pub use snapshot::Snapshot;
pub use snapshotter::{Batch, Snapshotter, Work};
pub use tree::PathChange;
pub use undo::{Conflict, NoteUndo, UndoPlan, UndoReport, take_back};
pub use verify::{Flaw, Look, Verification};
