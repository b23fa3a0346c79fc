//! Keeps the cache up to date with the vault, so that every answer includes all changes on disk.
//!
//! - [`scan`] compares every file's stat; `update` commits newer files or reads them beside the index, [`reindex`]
//!   builds a new index beside the old one.
//! - [`follower`] is the daemon's part: it follows the watcher and proves the cache's freshness; `freshness` reads that
//!   proof.
//! - [`snapshot`] is the one state of the vault that a query reads, with all texts, committed or read directly; before
//!   the answer leaves, it checks the files that the answer was made from. [`report`] describes the index for people.

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
