//! The vault: the only code that opens its files.
//!
//! [`NotePath`] names a note and can't name anything outside; [`Vault`] reads and lists;
//! [`Editor`] writes, by a protocol that loses nobody's edit; [`Watcher`] tells what
//! has changed. What an edit *does* is a pure function ([`plan`]), as are the rules about when
//! ([`quiet`], [`followup`]), about sync tools ([`conflict`]) and about torn writes. The one
//! `unsafe` module of the crate is the write lease.
//!
//! Never here: what a reminder or a memory means. Only [`plan`] asks the formats which lines are
//! live and where a commitment's status stands.

mod append;
pub mod conflict;
mod create;
mod displaced;
mod editor;
mod error;
pub mod followup;
mod image;
mod in_place;
mod journal;
mod lease;
mod merge;
mod options;
mod origin;
mod own;
mod path;
pub mod plan;
pub mod quiet;
mod recover;
mod refusal;
mod root;
mod swap;
mod text;
mod walk;
pub mod watch;
mod why;

pub use self::{
    editor::{EditReport, Editor, Plan},
    error::{EditError, Refusal, VaultError},
    followup::FollowUps,
    options::{EditOptions, EditStrategy},
    origin::{BRAIN_VARIABLE, Origin, TURN_VARIABLE},
    path::{NotePath, PathError},
    plan::{DropReason, OpOutcome, Operation, apply},
    quiet::{QuietTracker, SteadyLines},
    recover::{Recovered, Recovery},
    root::{DEFAULT_LIMIT, Stat, Vault},
    walk::{Entry, SkipReason, Skipped, Walk, WalkOptions},
    watch::{WatchError, WatchEvent, WatchTimes, Watcher},
    why::{Actor, BOOKKEEPING, Change, ChangeObserver, OPERATION, Why},
};
