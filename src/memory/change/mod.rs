//! What is done to the notes of facts and of days: one file an operation.
//!
//! Whoever names a memory gives its words. They are looked for in the newest bytes of the note; where none says them, or
//! more than one does, nothing is written.
//! - [`save`]: a fact, a note of the day, a follow-up; [`keep`]: a fact that was learned, with a link to where it was said;
//! - [`edit`], [`forget`]: by what a memory says; [`promote`]: from a day to the lasting facts.

mod edit;
mod forget;
pub mod keep;
mod promote;
mod save;

pub use edit::{Edited, Forgotten, Meant};
pub use promote::Promoted;
pub use save::{DEFAULT_SECTION, NewMemory, Saved, is_section};
