//! Lets requests in: one-time codes, sessions, and the headers that a request must bring.
//!
//! - [`codes`]: the code in an address until it has become a session; [`request_guard`]: host, origin, cookie, token. Pure;
//! - [`store`]: sessions, and the ids of forms, on disk, and `doctor`'s check of them and the address.

pub(super) mod codes;
pub(super) mod request_guard;
pub mod store;
