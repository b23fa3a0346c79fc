//! One daemon a vault: its lock, and its report about itself.
//!
//! [`lock`] is taken by the daemon and checked by commands; [`status`] is a file in the state directory. Whether a
//! daemon runs is known from the lock alone.

mod lock;
mod status;

pub use self::lock::{DaemonLock, LockError, ONE_STATE};
pub use self::status::DaemonStatus;
