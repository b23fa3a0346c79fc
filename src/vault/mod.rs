//! Reads, edits and watches the notes of the vault; the only code that opens them.
//!
//! A path or a plan of operations comes in; bytes, a listing, an edit's report or a change event go out. An edit is a
//! list of operations that find their lines by content, or a function of the note's newest bytes. The parts, in the
//! order in which an edit uses them:
//!
//! - [`path`], [`change_reason`], [`error`]: the values that all parts below use. [`NotePath`] names a note and can't
//!   name anything outside of the vault;
//! - [`read`]: opening, reading and listing ([`Vault`], [`WalkResult`]), and sync tools' files;
//! - [`mod@plan`]: an edit as a function of a note's bytes. Pure;
//! - [`guard`]: rules for postponing and refusing a write;
//! - [`edit`]: writing, by a protocol that loses no edit ([`Editor`]), its journal and its recovery. Its write lease is
//!   the module's only `unsafe` code;
//! - [`watch`]: change events ([`Watcher`]).
//!
//! Never here: the meaning of a reminder or a memory. [`mod@plan`] asks the formats only for the structure of a note,
//! such as its live lines.

mod change_reason;
mod edit;
mod error;
mod guard;
mod path;
pub mod plan;
mod prelude;
mod read;
mod watch;

pub use self::change_reason::{
    Actor, BOOKKEEPING, BRAIN_VARIABLE, ChangeObserver, ChangeReason, MERGES, OPERATION, ObservedChange,
    Origin, TURN_VARIABLE,
};
pub(crate) use self::edit::edited_note;
pub use self::edit::{EditOptions, EditPlan, EditReport, Editor, RecoveryOutcome};
pub(crate) use self::error::Result;
pub use self::error::{EditError, EditRefusal, VaultError};
pub use self::guard::{QuietTracker, SteadyLines};
pub use self::path::{NotePath, PathError};
pub use self::plan::{DropReason, OpOutcome, Operation, Overlap, apply, three_way_merge};
pub use self::read::{SkipReason, SkippedPath, Stat, Vault, WalkEntry, WalkOptions, WalkResult, conflict};
pub use self::watch::{WatchEvent, WatchTimes, Watcher};
pub use crate::config::EditStrategy;
