//! The page: one local web page over the vault, for people.
//!
//! A browser's request comes in; HTML, or JSON under the same address, goes out. It is a front door and owns no rule: each
//! place calls the rooms that the command of its name calls. In the order in which a request takes:
//! - [`server`]: the listener, and one-time addresses; [`door`]: how a command asks the daemon for it;
//! - [`request`]: a request's way; [`gate`]: host, origin, cookie; [`codes`], [`store`]: codes, sessions, form ids;
//! - [`visit`], [`answer`]: what a place is given, and what it gives back; [`places`]: one file a place;
//! - [`layout`], [`parts`], [`markdown`], [`assets`]: how it looks; [`live`]: what changed, as it happens.
//!
//! Never here: text of a note that isn't escaped or sanitized, a change without its form's claim on disk, a request to
//! another host. Nothing blocks the listener: places run on threads of their own.

#[allow(dead_code, reason = "the places that use all of it come next")]
mod answer;
mod assets;
mod codes;
pub mod door;
mod gate;
mod layout;
mod live;
#[allow(dead_code, reason = "the places that use all of it come next")]
mod markdown;
#[allow(dead_code, reason = "the places that use all of it come next")]
mod parts;
mod places;
mod request;
mod server;
mod store;
#[allow(dead_code, reason = "the places that use all of it come next")]
mod visit;

pub use self::live::{Changed, Live};
pub use self::server::{Invitation, Page, WebError};
pub use self::store::{Session, Store, StoreError};
