//! Parses the text of a query. Pure.
//!
//! - [`syntax`]: words, phrases, prefixes, exclusions and filters;
//! - `within`: the scopes of memories that a query is limited to;
//! - `dressed`: strips greetings and other polite phrases from a question;
//! - [`question`]: detects the kind of answer that is wanted;
//! - `translations`: a word in other languages.

pub mod question;
pub mod syntax;

pub(in crate::search) mod dressed;
pub(in crate::search) mod translations;
pub(in crate::search) mod within;
