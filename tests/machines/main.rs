//! Several machines with one vault: the engines that they agree through, and the protocol as a model and in a simulation.
#![allow(missing_docs, clippy::print_stderr, clippy::unwrap_used)]

mod engines;
mod etcd;
mod git;
mod memory;
mod model;
mod parts;
mod simulation;
mod world;
