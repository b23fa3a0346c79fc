//! Holds the notifiers, one file each: [`console`], [`desktop`], and with their features [`ntfy`](super::NtfyNotifier),
//! [`email`](super::Email) and [`webhook`](super::SignedWebhook). Discord's are in its own room.
//!
//! A message that is already on disk comes in; one of the outcomes of [`super::notifier`] goes out. A notifier tries
//! once; `pass::send` decides about retries by the journal. A title or subject that only one notifier has is made in
//! its file. `http` is shared by those over HTTP.

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
