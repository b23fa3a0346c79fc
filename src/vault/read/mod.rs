//! Reads the vault: one folder, opened once; notes by path; every note listed.
//!
//! A [`NotePath`](super::NotePath) comes in; bytes with their [`Stat`], or a [`WalkResult`], go out. Nothing is written, and
//! no link is followed to a place outside of the vault.
//! - [`root`]: the folder, and the one way to a file in it; [`stat`]: a file's metadata;
//! - [`walk`]: every note once, by its real place;
//! - [`conflict`]: conflicting copies, merge markers and placeholders of sync tools. Pure.

pub mod conflict;
mod root;
mod stat;
mod walk;

pub use root::Vault;
pub(super) use root::{LocatedNote, names_same_file};
pub use stat::Stat;
pub(super) use stat::stat_of;
pub use walk::{SkipReason, SkippedPath, WalkEntry, WalkOptions, WalkResult};
