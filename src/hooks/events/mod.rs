//! Handlers of a host's events, one file each: [`start`], [`prompt`], [`stop`], [`compact`], [`end`].
//!
//! The opened workspace and the host's message come in; an [`Answer`](super::host::output::Answer) goes out. Beside them:
//! - [`session`]: what a conversation was given so far;
//! - [`injection`]: memories in the words in which a model gets them;
//! - [`background_reindex`]: a process that updates an index which is too far behind.

#[cfg(feature = "index")]
pub(crate) mod background_reindex;
pub(super) mod compact;
pub(super) mod end;
#[cfg(feature = "index")]
mod injection;
#[cfg(feature = "index")]
pub(super) mod prompt;
#[cfg_attr(not(feature = "index"), allow(dead_code, reason = "without an index no memory is given"))]
mod session;
#[cfg(feature = "index")]
pub(super) mod start;
pub(super) mod stop;
