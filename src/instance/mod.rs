//! One daemon a vault: the lock that says which process it is, and the report that it writes of itself.
//!
//! [`lock`] is taken by the daemon and looked at by commands; [`status`] is a file in the state directory. Whether a daemon
//! runs is known from the lock alone.

mod lock;
mod status;

pub use self::lock::{DaemonLock, LockError, ONE_STATE};
pub use self::status::DaemonStatus;
