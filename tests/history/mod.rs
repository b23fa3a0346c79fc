//! The history room, from outside: real folders, real repositories, git itself as the judge.

mod agent;
mod auditing;
mod cli;
mod conflicts;
mod crash;
mod lines;
mod properties;
mod remote;
mod renaming;
mod restoring;
mod room;
mod snapshots;
mod transcripts;
mod undoing;
mod verifying;
