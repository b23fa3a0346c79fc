//! Serves the page: one local web page over the vault, for people.
//!
//! A browser's request comes in; HTML, or JSON under the same address, goes out. It is a front door and owns no rule:
//! each place calls the rooms that the command of its name calls. In the order of a request:
//! - [`server`]: the listener, and one-time addresses; [`door`]: a command's request to the daemon for it;
//! - [`request`]: a request's steps; [`shared`]: state that all requests share; [`entry`]: host, origin, codes,
//!   sessions, form ids;
//! - [`visit`], [`answer`]: a place's input and output; [`places`]: one file a place; [`doing`]: actions on a due item;
//!   [`troubles`]: current faults;
//! - [`layout`], [`parts`], [`markdown`], [`dates`], [`assets`]: rendering; [`live`]: changes as they happen.
//!
//! Never here: text of a note that isn't escaped or sanitized, a change without its form's claim on disk, a request to
//! another host. Nothing blocks the listener: places run on threads of their own.

mod answer;
mod assets;
mod dates;
mod doing;
pub mod door;
mod entry;
mod layout;
mod live;
mod lookup;
mod markdown;
mod parts;
mod places;
mod request;
mod server;
mod shared;
mod troubles;
mod visit;

pub use self::door::Invitation;
pub use self::entry::check::checks;
pub use self::entry::store::{FILE_NAME, Session, Store};
pub use self::live::{Changed, Live};
pub use self::server::{Page, WebError};
pub use self::shared::{Question, Questions};
