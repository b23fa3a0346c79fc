//! Delivery: what is due is told to the user once, whatever happens.
//!
//! The [`pass`](pass()) reads the notes, works out what is due, claims it in the [`Journal`], sends it
//! through a [`Notifier`] and then rewrites the notes. The order is the promise: a row on disk before
//! the message, the message before the rewrite. Only this room sends notifications.
//!
//! - [`notifier`]: the trait, and the values that cross it;
//! - [`Console`], [`Desktop`], `NtfyNotifier`, `Email`, `SignedWebhook`: the notifiers (Discord's is in `discord`);
//! - [`telling`]: quiet hours and tags; pure;
//! - [`compose`], [`split`]: the words, and cutting them to size; pure;
//! - [`phrase`]: whether words that a brain found say the same as the plain ones; pure;
//! - [`journal`]: what was sent, in SQLite;
//! - [`mod@pass`]: one pass of the scheduler;
//! - [`send_answer`], [`send_run`]: what the assistant answers and what routines say, over the same steps.

mod about;
mod answer;
pub mod compose;
mod confirm;
mod console;
mod desktop;
#[cfg(feature = "email")]
mod email;
#[cfg(feature = "push")]
mod http;
pub mod journal;
pub mod link;
pub mod notifier;
#[cfg(feature = "push")]
mod ntfy;
mod outlets;
pub mod pass;
pub mod phrase;
mod restored;
pub mod split;
pub mod telling;
#[cfg(feature = "push")]
mod webhook;

pub use about::Links;
pub use answer::{Answers, Progress, send_answer, send_run};
pub use confirm::{confirm, notice, notice_once};
pub use console::{Console, takes_links};
pub use desktop::Desktop;
#[cfg(feature = "email")]
pub use email::Email;
pub use journal::{Journal, JournalError};
pub use notifier::{Fact, Lookup, MessageKind, Notifier, Outgoing, Scope, ScopeError, SendOutcome};
#[cfg(feature = "push")]
pub use ntfy::NtfyNotifier;
pub use outlets::Outlets;
pub use pass::{Memory, Mode, PassContext, PassError, PassReport, PassSettings, Upcoming, pass};
pub use restored::{restored, restored_commitment};
pub use telling::Telling;
#[cfg(feature = "push")]
pub use webhook::SignedWebhook;
