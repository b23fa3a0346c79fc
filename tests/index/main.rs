//! The index as its users see it: answers, freshness, healing.

mod differential;
mod freshness;
mod queries;
mod vault;
