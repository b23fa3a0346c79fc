//! Bringing back: a file, a line, a folder or the whole vault, and the agent's last writes taken back.
//!
//! A point in the history comes in; a plan goes out, is shown, and is carried out through the editing engine, with what is
//! about to be written noted first. The newest state is a snapshot before anything is replaced, so a restore can be undone.
//! - [`plan`]: the target against the present. Pure;
//! - [`carry_out`], [`put`]: carrying it out, one file after the other;
//! - [`default_point`]: which snapshot is meant where nobody names one;
//! - [`undo`]: the agent's last writes, and the conflict that is shown where a person changed the same lines;
//! - [`line`]: one reminder, or one line.

mod carry_out;
mod default_point;
mod line;
mod plan;
mod put;
mod undo;

pub use carry_out::{Interrupted, RestoreReport};
pub(super) use line::has_id;
pub use line::{LineTarget, put_line_back};
pub use plan::{Plan, Skip, Step, plan};
pub use undo::{Conflict, NoteUndo, UndoPlan, UndoReport, take_back};
pub(super) use undo::{body, lines};
