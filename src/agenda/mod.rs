//! Lists coming and past reminders, follow-ups, tasks of other plugins and routines.
//!
//! Each call reads the vault's notes again and, for the past, the delivery journal. Nothing is written, and no
//! notification is sent.
//! - [`upcoming`](mod@upcoming): the next few, for `status` and Discord's `/status`;
//! - [`range`](mod@range): all of some days, with repeats, for `agenda` and a calendar; [`past_items`]: past deliveries;
//!   [`routine_runs`]: routines; [`entry`], [`window`]: the parts of an agenda.

mod entry;
mod past_items;
mod range;
#[cfg(feature = "assistant")]
mod routine_runs;
mod upcoming;
mod window;

pub use self::entry::{
    Agenda, AgendaEntry, AgendaError, DeliveryDetail, EntryKind, EntryState, MOST_ENTRIES,
};
pub use self::range::range;
pub use self::upcoming::{UpcomingItem, upcoming_items};
pub use self::window::{month, week};
