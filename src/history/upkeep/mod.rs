//! Maintains the history in the background, for the daemon.
//!
//! - [`snapshotter`]: when a snapshot is taken;
//! - [`maintain`]: packing now and then;
//! - [`remote`]: pushing and fetching with the user's own git, and when a failed push is tried again;
//! - [`lazy`]: a history that is opened at its first use.

mod lazy;
mod maintain;
mod remote;
mod snapshotter;

pub use lazy::LazyHistory;
pub use maintain::{MaintenanceReport, PackPolicy};
pub use remote::{PushBackoff, fetch_into, push};
pub use snapshotter::{DueComparison, PendingChanges, Snapshotter};
