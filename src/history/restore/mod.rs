//! Restores files, lines, folders or the whole vault, and undoes the agent's last writes.
//!
//! A point in the history comes in; a plan goes out, is shown, and is carried out through the editing engine. All
//! writes are journaled before the first is made. A snapshot of the present state is taken before anything is replaced,
//! so a restore can be undone.
//!
//! - [`plan`]: compares the target with the present. Pure;
//! - [`execute`]: carries the plan out, file by file, and finds the snapshot that is restored by default;
//!   [`write_file`]: writes one file;
//! - [`undo_plan`]: the writes that an undo takes back, and their conflicts with later changes of people;
//! - [`revert`]: reverts one change in a text. Pure; [`undo`]: carries out an undo, as one commit;
//! - [`merge_check`]: finds notes with a sync conflict; a restore or an undo doesn't change such a note until a person
//!   has merged its versions;
//! - [`part`]: one reminder, line or section, planned and carried out.

mod execute;
mod merge_check;
mod part;
mod plan;
mod revert;
mod undo;
mod undo_plan;
mod write_file;

pub use execute::{Interrupted, RestoreReport};
pub use part::{LineTarget, sections};
pub use plan::RestorePlan;
pub use undo::UndoReport;
pub use undo_plan::{OperationUndo, UndoPlan, UndoSelection};
