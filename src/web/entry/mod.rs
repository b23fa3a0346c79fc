//! Who is let in: one-time codes, sessions, and what a request must bring.
//!
//! - [`codes`]: what an address carries until it has become a session; [`gate`]: host, origin, cookie, token. Pure;
//! - [`store`]: sessions, and the ids of forms, on disk;
//! - [`check`]: `doctor`'s look at where the page listens and who is let in.

pub(super) mod check;
pub(super) mod codes;
pub(super) mod gate;
pub mod store;
