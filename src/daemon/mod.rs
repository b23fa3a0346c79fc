//! The daemon: it watches the vault, and wires the rooms together.

mod lock;
mod status;
mod ticker;

pub use lock::{DaemonLock, LockError};
pub use status::DaemonStatus;
pub use ticker::Ticker;
