//! The vault room: plans, paths, refusals, attacks, crashes.

// Helpers outside of test functions may fail the test too.

mod attack;
mod crash;
mod editing;
pub mod help;
mod paths;
mod plan;
mod watching;
