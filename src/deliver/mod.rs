//! Delivery: what is due is told to the user once, whatever happens.
//!
//! The [`pass`](pass()) reads the notes, works out what is due, claims it in the [`Journal`], sends it
//! through a [`Notifier`] and then rewrites the notes. The order is the promise: a row on disk before
//! the message, the message before the rewrite. Only this room sends notifications.
//!
//! - [`notifier`]: the trait, the values that cross it, and how a nonce is made; [`notifiers`]: one file a notifier;
//!   [`delivery_order`]: the places that a message can go to, in the order in which they are tried;
//! - [`words`]: what is said, and to whom; [`split`]: cutting it to size. Pure;
//! - [`journal`]: what was sent, in SQLite;
//! - [`mod@pass`]: one pass of the scheduler; [`restored`](mod@restored): what a restore brings back after its time;
//! - [`send_answer`]: what the assistant answers and what routines say, over the same steps; [`confirm`](mod@confirm):
//!   messages that no note waits for.

mod confirm;
mod delivery_order;
pub mod journal;
pub mod notifier;
mod notifiers;
pub mod pass;
mod restored;
mod send_answer;
pub mod split;
mod words;

pub use self::confirm::{confirm, notice_once, send_test};
pub use self::delivery_order::DeliveryOrder;
pub use self::journal::{Journal, JournalError};
pub use self::notifier::{Fact, Lookup, MessageKind, Notifier, Outgoing, Scope, ScopeError, SendOutcome};
pub use self::notifiers::Email;
pub use self::notifiers::{Console, Desktop, takes_links};
pub use self::notifiers::{NtfyNotifier, SignedWebhook};
pub use self::pass::{Memory, Mode, PassContext, PassError, PassReport, PassSettings, Upcoming, pass};
pub use self::restored::{RestoredItem, hold_commitments, hold_reminders, restored, restored_commitment};
pub use self::send_answer::{Answers, Progress, send_answer, send_run};
pub use self::words::{Links, NotifyRules, compose, instants, link, phrase_check};
