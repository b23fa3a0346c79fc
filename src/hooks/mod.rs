//! Hooks of coding agents: what a host tells us when something happens, and what we answer.
//!
//! `vault-agent hook EVENT` is one short process an event. It reads the host's message ([`input`]), works on
//! a thread that is left behind after 300 ms ([`patience`]), and answers in the host's format ([`output`]) or
//! says nothing. **Whatever goes wrong, the host goes on**: the cause is a line in a log ([`log`]), the exit
//! code is 0.
//!
//! With `[hooks] archive = true` what was said and done goes into a log, too ([`archive`]), after the answer and with
//! what is left of the patience.
//!
//! The decisions are pure: whether a prompt needs memory ([`mod@gate`]), what an answer claims ([`claims`]), what
//! looks worth saving ([`crate::capture::offers`]), how the host's settings are edited ([`install`]). What comes from memory
//! is untrusted context and says so; what a hook gives is never logged as conversation and never indexed.

pub mod archive;
#[cfg(feature = "index")]
pub(crate) mod behind;
mod claim_words;
pub mod claims;
mod compact;
mod context;
mod end;
mod error;
mod event;
mod evidence;
pub mod gate;
#[cfg(feature = "index")]
pub mod given;
pub mod input;
pub mod install;
pub mod json;
mod layout;
pub mod log;
pub mod memories;
pub mod output;
pub mod patience;
#[cfg(feature = "index")]
mod prompt;
mod respond;
pub mod session;
pub mod settings_file;
#[cfg(feature = "index")]
mod start;
mod stop;
pub mod summary;
pub mod tool;
pub mod transcript;
mod words;

pub use context::Place;
pub use error::HookError;
pub use event::Event;
pub use respond::respond;
