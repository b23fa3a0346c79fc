//! One file a notifier: [`console`], [`desktop`], and with their features [`ntfy`](super::NtfyNotifier),
//! [`email`](super::Email) and [`webhook`](super::SignedWebhook). Discord's stand in its own room.
//!
//! A message that is on disk already comes in; one of the outcomes of [`super::notifier`] goes out. A notifier tries once,
//! and decides nothing: whether and when it is tried again is decided in `pass::send`, by what the journal holds. A title
//! or subject that only one place has stands in its file. `http` is what those over HTTP share.

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
