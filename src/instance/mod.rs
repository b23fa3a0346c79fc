//! Allows one daemon a vault, and stores its report about itself.
//!
//! [`lock`] is taken by the daemon and checked by commands; [`status`] is a file in the state directory. The lock alone
//! decides whether a daemon runs.

mod lock;
mod status;

pub use self::lock::{DaemonLock, LockError, ONE_STATE};
pub use self::status::DaemonStatus;
