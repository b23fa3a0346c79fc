//! Parses the typed text. Pure.
//!
//! [`syntax`]: words, phrases, prefixes, exclusions and filters. `within`: scopes of memories. `dressed` strips polite
//! phrases, [`question`] detects the kind of answer that is wanted.

pub mod question;
pub mod syntax;

pub(in crate::search) mod dressed;
pub(in crate::search) mod within;
