//! Lists coming and past reminders, follow-ups, tasks of other plugins and routines.
//!
//! Each call reads the vault's notes again and, for the past, the delivery journal. Nothing is written, and no
//! notification is sent.
//! - [`upcoming`](mod@upcoming): the next few, for `status` and Discord's `/status`;
//! - [`range`](mod@range): all of some days, with repeats, for `agenda` and a calendar; [`routine_runs`]: routines;
//!   [`entry`]: the parts of an agenda.

mod entry;
mod range;
#[cfg(feature = "assistant")]
mod routine_runs;
mod upcoming;

pub use self::entry::{
    Agenda, AgendaEntry, AgendaError, DeliveryDetail, EntryKind, EntryState, MOST_ENTRIES, month, week,
};
pub use self::range::range;
pub use self::upcoming::{UpcomingItem, upcoming_items};
