//! Turns text into terms. Pure: no file, no clock.
//!
//! There are two analyzers. [`text`] gives the terms that the index stores and typed queries look up: folded forms,
//! with English stems beside them; `text::letters` classifies characters. [`stems`] gives the terms that ranking
//! counts: stemmed, without function words, and with the [`stems::Shape`] of the sentence. `authors` finds the
//! speakers, `function_words` detects languages, `days` the days that a text names, `pieces` the parts that two forms
//! of a word share, `references` strips links to blocks, `glob` matches path patterns.

pub mod text;

pub mod stems;

pub mod authors;
pub mod days;

pub(crate) mod function_words;
pub(in crate::search) mod glob;
pub(in crate::search) mod pieces;
pub(in crate::search) mod references;
