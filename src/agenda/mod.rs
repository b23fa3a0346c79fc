//! Lists coming and past reminders, follow-ups, tasks of other plugins and routines.
//!
//! Each call reads the vault's notes again and, for the past, the delivery journal. Nothing is written, and no
//! notification is sent.
//! - [`coming`](mod@coming): the next few, for `status` and Discord's `/status`;
//! - [`range`](mod@range): all of some days, with repeats, for `agenda` and a calendar; [`past`]: past deliveries;
//!   [`runs`]: routines; [`entry`], [`window`]: the parts of an agenda.

mod coming;
mod entry;
mod past;
mod range;
#[cfg(feature = "assistant")]
mod runs;
mod window;

pub use self::coming::{UpcomingItem, coming};
pub use self::entry::{
    Agenda, AgendaEntry, AgendaError, DeliveryDetail, EntryKind, EntryState, MOST_ENTRIES,
};
pub use self::range::range;
pub use self::window::{month, week};
