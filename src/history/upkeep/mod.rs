//! Maintains the history in the background, for the daemon.
//!
//! - [`snapshotter`]: when a snapshot is taken, and packing now and then;
//! - [`remote`]: pushing and fetching with the user's own git, and when a failed push is tried again.

mod remote;
mod snapshotter;

pub use remote::push;
pub use snapshotter::{PackPolicy, Snapshotter};
