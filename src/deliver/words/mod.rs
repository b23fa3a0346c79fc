//! What is said, and to whom. Pure: facts and settings in, texts and places out.
//!
//! - [`compose`]: the words of a notification; [`about`], [`link`]: which note it is about, and a link that opens it;
//! - [`instants`]: an instant, and how far away it is;
//! - [`phrase_check`]: whether words that a brain found for a reminder say what the reminder says;
//! - [`notify_rules`]: who is told of what (`#tag`), and when not (quiet hours).

mod about;
pub mod compose;
pub mod instants;
pub mod link;
mod notify_rules;
pub mod phrase_check;

pub use about::Links;
pub use notify_rules::NotifyRules;
