//! Delivers notifications: each due item is sent to the user once. A message may come twice only after a crash or a
//! lost answer, at a notifier that can't be asked for earlier messages.
//!
//! Notes, settings and the clock's instant come in; messages and edits of notes go out. [`pass`](pass()) reads the
//! notes, computes the due items, claims them in the [`Journal`], sends them through a [`Notifier`] and then edits the
//! notes. The order is the invariant: a row is on disk before the message is sent, and the message is sent before the
//! note is edited. No other module sends notifications.
//!
//! - [`notifier`]: the trait, its values, and how a nonce is made; [`notifiers`]: one file for each notifier;
//! - [`delivery_order`]: the destinations of a message, in the order in which they are tried;
//! - [`words`]: the texts of notifications and the rules about recipients; [`split`]: cutting a text to size. Pure;
//! - [`delivery_journal`]: the record of sent messages, in SQLite;
//! - [`mod@pass`]: one pass of the scheduler, a run over everything that is due;
//! - [`restored_items`](mod@restored_items): items that a restore brings back after their time;
//! - [`send_answer`](mod@send_answer): sending answers and texts of routines, by the same steps;
//! - [`notices`]: messages that belong to no line of a note.

pub mod delivery_journal;
mod delivery_order;
mod notices;
pub mod notifier;
mod notifiers;
pub mod pass;
mod prelude;
mod restored_items;
mod send_answer;
pub mod split;
mod words;

pub use self::delivery_journal::Journal;
pub use self::delivery_order::DeliveryOrder;
pub use self::notices::{confirm, notice_once, send_test};
pub use self::notifier::{
    IsFree, MessageKind, MessageLookup, MessageScope, NotifiedItem, Notifier, OutgoingMessage, SendOutcome,
};
pub use self::notifiers::{
    Console, Desktop, Email, NotifierContext, NtfyNotifier, SignedWebhook, takes_links,
};
pub use self::pass::{
    PassContext, PassError, PassMode, PassReport, PassSettings, PassState, PendingSend, pass,
};
pub use self::restored_items::{RestoredItem, Restoring};
pub use self::send_answer::{AnswerOutcome, AnswerSender, decided, send_answer};
pub use self::words::{NoteLinks, NotifyRules, compose, instants, link, phrase_check};
