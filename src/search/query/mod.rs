//! Parses the text of a query. Pure.
//!
//! - [`syntax`]: words, phrases, prefixes, exclusions and filters, and the scopes of memories that a query is limited
//!   to;
//! - `strip_phrases`: strips greetings and other polite phrases from a question;
//! - [`question`]: detects the kind of answer that is wanted;
//! - `translations`: a word in other languages.

pub mod question;
pub mod syntax;

pub(in crate::search) mod strip_phrases;
pub(in crate::search) mod translations;

pub(in crate::search) use question::{LONGEST, LONGEST_QUERY, QueryTerm, Question, Wants, beginning};
pub(in crate::search) use strip_phrases::{is_phrases_alone, is_polite};
pub(in crate::search) use syntax::{Filter, Item, MOST_HITS, SearchScope, Syntax};
