//! Holds the notifiers, one file each: [`console`], [`desktop`], [`ntfy`](super::NtfyNotifier), [`email`](super::Email)
//! and [`webhook`](super::SignedWebhook). Discord's are in `discord::notify`.
//!
//! A message that is already on disk comes in; an outcome, as [`super::notifier`] defines it, goes out. A notifier
//! tries once; `pass::send` decides about retries by the journal. A notifier adds the extra parts that its service
//! supports, such as a mail's subject or a link. The file `http` is shared by the notifiers over HTTP.

use std::sync::Arc;

use super::words::{NoteLinks, NotifyRules};
use crate::clock::Clock;

mod console;
mod desktop;
mod email;
mod http;
mod ntfy;
mod webhook;

pub use console::{Console, takes_links};
pub use desktop::Desktop;
pub use email::Email;
pub use ntfy::NtfyNotifier;
pub use webhook::SignedWebhook;

/// The values that the notifiers over the network share.
#[derive(Debug, Clone)]
pub struct NotifierContext {
    /// Certificates in PEM form that are trusted besides the public ones.
    pub authority: Option<Vec<u8>>,
    /// Links to the notes.
    pub links: NoteLinks,
    /// The rules that say which items are urgent.
    pub rules: Arc<NotifyRules>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}
