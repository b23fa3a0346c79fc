//! Serves the page: one local web page over the vault, for people.
//!
//! A browser's request comes in; HTML, or JSON under the same address, goes out. The page is a front door without rules
//! of its own: each place, which is one address of the page, calls the same rooms as the command of that name. The
//! files, in the order in which a request passes them:
//! - [`server`]: the listener, and one-time addresses; [`control_socket`]: a command's request to the daemon for such
//!   an address;
//! - [`request`]: the steps of a request; [`entry`]: host, origin, cookie, one-time codes; [`store`]: sessions, form
//!   ids;
//! - [`visit`], [`answer`]: a place's input and output, and the state that all requests share; [`places`]: one file a
//!   place; [`line_actions`]: actions on a due item; [`questions`]: questions to the assistant;
//! - [`layout`], [`parts`], [`markdown`], [`dates`]: rendering; [`live`]: changes as they happen.
//!
//! Never here: text of a note that isn't escaped or sanitized, a change without its form's claim on disk, a request to
//! another host. Nothing blocks the listener: places run on threads of their own.

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
