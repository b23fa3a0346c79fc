//! Several machines with one vault: which of them tells what, agreed on through a store that compares and swaps.
//!
//! Only claims and one lease stand in that store; notes travel by whatever carries them today. Values that come out of
//! it are untrusted: they are parsed with bounds, and no word of them is run, written into a note or shown as Markdown.
//! Without `[machines]` in the settings nothing of this room is started.
//!
//! - [`engine`]: the stores, a git server and etcd; [`protocol`]: what a machine does next, given what stands there.

pub mod engine;
pub mod protocol;
