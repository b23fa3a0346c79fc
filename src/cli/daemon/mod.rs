//! Groups the commands for the daemon, for single passes of the scheduler, and for the machines that share the vault.
//!
//! - [`run`], [`status`], [`service`]: one file for each command; each part of the daemon writes its own line of
//!   `status` ([`crate::daemon::parts`]);
//! - [`pause`], [`resume`]: stop and restart all work that no person asked for; [`machines`]: several machines with one
//!   vault;
//! - [`tick`], [`tick_routines`]: one pass of the scheduler, and the routines that are due in it.

pub(super) mod machines;
pub(super) mod pause;
pub(super) mod resume;
pub(super) mod run;
pub(super) mod service;
pub(super) mod status;
pub(super) mod tick;
#[cfg(feature = "assistant")]
mod tick_routines;
