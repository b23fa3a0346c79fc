//! Groups the commands for the index: `search` and `recall` query it, `reindex` rebuilds it, `stats` describes it.
//!
//! - [`search`], [`recall`], [`reindex`], [`stats`]: one file for each command.

pub(super) mod recall;
pub(super) mod reindex;
pub(super) mod search;
pub(super) mod stats;
