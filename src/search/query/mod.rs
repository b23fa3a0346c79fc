//! What was typed, taken apart. Pure.
//!
//! [`syntax`]: words, phrases, prefixes, exclusions and filters. `within`: scopes of memories. `dressed` takes off what a
//! question is wrapped in, [`question`] reads what kind of answer it wants.

pub mod question;
pub mod syntax;

pub(in crate::search) mod dressed;
pub(in crate::search) mod within;
