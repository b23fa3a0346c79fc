//! Makes the texts of notifications and chooses their recipients. Pure: items and settings in, texts and recipients
//! out.
//!
//! - [`compose`]: the text of a notification; [`link`]: the note that it is about, and a link to open it;
//! - [`instants`]: an instant, and its distance from now;
//! - [`phrase_check`]: the check that a brain's phrase for a reminder or follow-up says the same as its text;
//! - [`notify_rules`]: recipients by tag (`#tag`), and quiet hours.

pub mod compose;
pub mod instants;
pub mod link;
mod notify_rules;
pub mod phrase_check;

pub use link::NoteLinks;
pub use notify_rules::NotifyRules;
