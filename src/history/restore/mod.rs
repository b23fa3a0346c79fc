//! Bringing back: a file, a line, a folder or the whole vault, and the agent's last writes taken back.
//!
//! A point in the history comes in; a plan goes out, is shown, and is carried out through the editing engine, with what is
//! about to be written noted first. The newest state is a snapshot before anything is replaced, so a restore can be undone.
//! - [`plan`]: the target against the present. Pure;
//! - [`execute`], [`write_file`]: carrying it out, one file after the other;
//! - [`default_point`]: the snapshot that a restore takes by default;
//! - [`undo_plan`]: what an undo takes back, and the conflict that is shown where a person changed the same lines;
//!   [`revert`]: one change reverted in a text, pure; [`undo`]: carrying it out, as one commit;
//! - [`part`]: one reminder, one line or one section, planned and carried out; [`line`], [`section`]: the text of it. Pure.

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
pub use line::{LineTarget, put_line_back};
pub use part::PartPlan;
pub use plan::{Plan, Skip, Step, plan};
pub use revert::take_back;
pub use section::{Section, sections};
pub use undo::UndoReport;
pub use undo_plan::{Conflict, NoteUndo, OperationUndo, UndoPlan, UndoSelection};
