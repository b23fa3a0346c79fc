//! The box that a command runs in: what works in it, and what does not get out of it.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::print_stderr, clippy::unwrap_used)]

mod ends;
mod escapes;
mod gates;
mod rig;
mod said;
mod users;
mod work;
