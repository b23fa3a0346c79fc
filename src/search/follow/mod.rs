//! Keeping up with the vault: no answer misses what is on disk.
//!
//! - [`scan`] looks at every file's stat; `update` commits what is newer or
//!   reads it beside the index, [`reindex`] makes all anew beside the old one.
//! - [`live`] is the daemon's part: it follows the watcher and vouches for the cache; `vouch` reads what it vouches for.
//! - [`snapshot`] is one state of the vault with all texts, whether they are committed or were read directly; `basis` is what
//!   an answer from it rests on, which is looked at again; [`report`] tells a person what is in the index.
//! - `state` is a snapshot as ranking sees it; [`reconcile`] sees to the vectors of the settings' model.

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
