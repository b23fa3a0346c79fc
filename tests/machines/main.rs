//! Several machines with one vault: the engines that they agree through.
#![allow(missing_docs, clippy::print_stderr, clippy::unwrap_used)]

mod engines;
mod etcd;
mod git;
mod memory;
mod parts;
