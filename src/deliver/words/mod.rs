//! Makes the texts of notifications and chooses their recipients. Pure: facts and settings in, texts and recipients
//! out.
//!
//! - [`compose`]: the text of a notification; [`link`]: the note that it is about, and a link to open it;
//! - [`instants`]: an instant, and its distance from now;
//! - [`phrase_check`]: the check that a brain's phrase for a reminder says the same as the reminder;
//! - [`notify_rules`]: recipients by tag (`#tag`), and quiet hours.

pub mod compose;
pub mod instants;
pub mod link;
mod notify_rules;
pub mod phrase_check;

pub use link::NoteLinks;
pub use notify_rules::NotifyRules;
