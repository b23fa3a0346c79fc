//! What comes and what came: reminders, follow-ups, tasks of other plugins, routines.
//!
//! The vault's notes as they stand are read anew, and for what is past the delivery journal; nothing is written, and nothing
//! is told.
//! - [`coming`](mod@coming): the next few, for `status` and Discord's `/status`;
//! - [`range`](mod@range): all of some days, repeats worked out, for `agenda` and a calendar; [`past`]: what of them was told;
//!   [`runs`]: routines; [`entry`], [`window`]: what that consists of.

mod coming;
mod entry;
mod past;
mod range;
#[cfg(feature = "assistant")]
mod runs;
mod window;

pub use self::coming::{Coming, coming};
pub use self::entry::{Agenda, AgendaError, Entry, Kind, MOST_ENTRIES, State, Told};
pub use self::range::range;
pub use self::window::{month, week};
