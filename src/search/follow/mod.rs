//! Keeps the cache up to date with the vault, so that no answer misses a change on disk.
//!
//! - [`scan`] compares every file's stat; `update` commits newer files or reads them beside the index, [`reindex`]
//!   builds a new index beside the old one.
//! - [`live`] is the daemon's part: it follows the watcher and proves the cache's freshness; `vouch` reads that proof.
//! - [`snapshot`] is one state of the vault with all texts, committed or read directly; `basis` records what an answer
//!   from it rests on, and checks that again; [`report`] describes the index for people.
//! - `state` is a snapshot as ranking sees it; [`reconcile`] completes the vectors of the settings' model.

pub mod live;
pub mod reconcile;
pub mod report;
pub mod scan;
pub mod snapshot;

pub(in crate::search) mod basis;
pub(in crate::search) mod reindex;
pub(in crate::search) mod state;
pub(in crate::search) mod update;
pub(in crate::search) mod vouch;
