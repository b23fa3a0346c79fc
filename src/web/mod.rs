//! Serves the page: one local web page over the vault, for people.
//!
//! An HTTP request comes in; HTML goes out, or JSON under the same address. A place is one address of the page
//! (`/inbox`, `/history`). A place calls the same functions as the command for the same task. The files, in the order
//! in which a request passes them:
//! - [`server`]: the listener, and one-time addresses; [`control_socket`]: a command's request to the daemon for such
//!   an address;
//! - [`request`]: the steps of a request; [`entry`]: host, origin, cookie, one-time codes; [`store`]: sessions, form
//!   ids;
//! - [`visit`], [`answer`]: a place's input and output, and the state that all requests share;
//! - [`places`]: one file for each place; [`line_actions`]: actions on a due item; [`questions`]: questions to the
//!   assistant;
//! - [`layout`], [`parts`], [`markdown`], [`dates`]: rendering; [`live`]: changes as they happen.
//!
//! Invariants: text of a note is always escaped or sanitized. The id of a form is on disk before the form changes
//! anything. A page loads nothing from other hosts. Places run on their own threads, so that they don't block the
//! listener.

mod answer;
pub mod control_socket;
mod dates;
mod entry;
mod layout;
mod line_actions;
mod live;
mod markdown;
mod parts;
mod places;
mod questions;
mod request;
mod server;
mod store;
mod visit;

pub use self::control_socket::Invitation;
pub use self::live::{LiveUpdates, PageChange};
pub use self::server::{PageServer, WebError};
pub use self::store::{PageStore, checks};
