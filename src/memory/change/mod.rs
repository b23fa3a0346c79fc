//! Changes the notes of facts and of days, one file each operation.
//!
//! A memory is named by its words. They are searched in the newest bytes of the note; where no memory or more than one
//! matches, nothing is written.
//! - [`follow_up`]: changes of a waiting follow-up;
//! - [`save`]: a fact, a note of the day, a follow-up; [`keep`]: a learned fact, with a link to its source;
//! - [`edit`], [`forget`]: by a memory's words; [`promote`]: from a day to the lasting facts.

mod edit;
mod follow_up;
mod forget;
pub mod keep;
mod promote;
mod save;

pub use edit::{Edited, Forgotten, MemoryRef};
pub use promote::Promoted;
pub use save::{DEFAULT_SECTION, NewMemory, Saved, is_section};
