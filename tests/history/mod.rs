//! The history room, from outside: real folders, real repositories, git itself as the judge.

mod agent;
mod auditing;
mod cli;
pub mod conflicts;
mod crash;
mod properties;
mod renaming;
mod restoring;
mod room;
mod snapshots;
mod undoing;
mod verifying;
