//! The daemon: `run` is it, `tick` one pass without it, `status` what it does, `pause` what it leaves, `service` how it starts.
//!
//! - [`run`], [`status`], [`service`]: one file a command; what `status` prints of a part is that part's own word, in
//!   [`crate::daemon::parts`] (`last snapshot` in its `history`); [`upcoming`]: what comes next, for `status`;
//! - [`pause`]: `pause` and `resume`; [`machines`]: several machines with one vault;
//! - [`tick`], [`tick_routines`]: one pass of the scheduler, and the routines that are due in it.

pub(super) mod machines;
pub(super) mod pause;
pub(super) mod run;
pub(super) mod service;
pub(super) mod status;
pub(super) mod tick;
#[cfg(feature = "assistant")]
mod tick_routines;
mod upcoming;
