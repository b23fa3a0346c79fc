//! Restores files, lines, folders or the whole vault, and undoes the agent's last writes.
//!
//! A point in the history comes in; a plan goes out, is shown, and is carried out through the editing engine. Writes are
//! journaled before the first of them. The newest state is a snapshot before anything is replaced, so a restore can be
//! undone.
//! - [`plan`]: the target against the present. Pure;
//! - [`execute`], [`write_file`]: carrying it out, one file after the other;
//! - [`default_point`]: the snapshot that a restore takes by default;
//! - [`undo_plan`]: the writes that an undo takes back, and conflicts with later changes of people; [`revert`]: one change
//!   reverted in a text, pure; [`undo`]: carrying it out, as one commit;
//! - [`part`]: one reminder, line or section, planned and carried out; [`line`], [`section`]: the change in the text. Pure.

mod default_point;
mod execute;
mod line;
mod part;
mod plan;
mod revert;
mod section;
mod undo;
mod undo_plan;
mod write_file;

pub use execute::{Interrupted, RestoreReport};
pub(super) use line::has_id;
pub use line::{LineTarget, restore_line};
pub use part::PartPlan;
pub use plan::{BlockedFile, RestorePlan, plan};
pub use revert::revert_change;
pub use section::{NoteSection, sections};
pub use undo::UndoReport;
pub use undo_plan::{Conflict, NoteUndo, OperationUndo, UndoPlan, UndoSelection};
