//! The index as its users see it: answers, freshness, healing.

mod commands;
mod differential;
mod freshness;
mod hardship;
mod hostile;
mod queries;
mod vault;
