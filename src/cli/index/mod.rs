//! The index: `search` and `recall` ask it; `reindex` builds it anew, `stats` says what is in it.
//!
//! - [`search`], [`recall`], [`reindex`], [`stats`]: one file a command.

pub(super) mod recall;
pub(super) mod reindex;
pub(super) mod search;
pub(super) mod stats;
