//! Changes the notes of facts and of days, one file each operation.
//!
//! A memory is named by its words. They are searched in the newest bytes of the note; where no memory or more than one
//! matches, nothing is written.
//! - [`save`]: a fact, a note of the day, a follow-up; [`keep_fact`]: a learned fact, with a link to its source;
//! - [`edit`]: changes and forgets, by a memory's words; [`promote`]: from a day to the lasting facts.

mod edit;
pub mod keep_fact;
mod promote;
mod save;

pub use edit::{ForgottenMemory, MemoryRef};
pub use save::{DEFAULT_SECTION, NewMemory, SavedMemory, is_section};
