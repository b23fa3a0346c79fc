//! Allows one daemon for each vault, and stores the daemon's report about itself.
//!
//! The daemon takes the [`lock`], and commands check it; [`status`] is a file in the state directory. The lock alone
//! decides whether a daemon runs.

mod lock;
mod status;

pub use self::lock::{DaemonLock, LockError, ONE_STATE};
pub use self::status::{DaemonStatus, LastTick};
