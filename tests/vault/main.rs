//! The vault room: plans, paths, refusals, attacks, crashes.

mod attack;
mod crash;
mod editing;
mod help;
mod paths;
mod plan;
mod watching;
