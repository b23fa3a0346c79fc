//! Keeps the cache up to date with the vault, so that answers include the changes on disk.
//!
//! - [`scan`] compares every file's stat; `update` commits newer files, or reads them without committing them;
//!   [`reindex`] builds a new index beside the old one.
//! - [`follower`] is the daemon's part: follows the watcher, and publishes a proof that the index is fresh; `freshness`
//!   reads that proof in other processes.
//! - [`snapshot`]: the state of the vault that one query reads: the committed blocks, and the files that were read
//!   directly. Before an answer is returned, the files that it was made from are checked for changes.
//! - [`report`]: a description of the index for people.

pub mod follower;
pub mod report;
pub mod scan;
pub mod snapshot;

pub(in crate::search) mod freshness;
pub(in crate::search) mod reindex;
pub(in crate::search) mod update;

pub(in crate::search) use freshness::{FreshnessProof, is_held, is_stale, prove_freshness};
pub(in crate::search) use scan::{ChangedFile, UnreadPath};
pub(in crate::search) use snapshot::Snapshot;
