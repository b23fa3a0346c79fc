//! The index as its users see it: answers, freshness, healing.

mod differential;
mod freshness;
mod hardship;
mod queries;
mod vault;
