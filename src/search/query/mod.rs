//! Parses the text of a query. Pure.
//!
//! - [`syntax`]: words, phrases, prefixes, exclusions and filters;
//! - `search_scope`: the scopes of memories that a query is limited to;
//! - `strip_phrases`: strips greetings and other polite phrases from a question;
//! - [`question`]: detects the kind of answer that is wanted;
//! - `translations`: a word in other languages.

pub mod question;
pub mod syntax;

pub(in crate::search) mod search_scope;
pub(in crate::search) mod strip_phrases;
pub(in crate::search) mod translations;
