//! From text to terms. Pure: no file, no clock.
//!
//! Two analyzers stand here. [`text`] gives the terms that the index stores and a typed query is looked up by: folded
//! forms, with English stems beside them; `text::letters` knows characters. [`stems`] gives those that ranking counts: stemmed, without function words, and with the
//! [`stems::Shape`] of what is said. `authors` knows the names of who speaks, `function_words` the words that tell a
//! language, `days` the days that a text names,
//! `pieces` what two forms of a word share, `references` text without links to blocks, `glob` patterns of paths.

pub mod text;

pub mod stems;

pub mod days;

pub(in crate::search) mod authors;
pub(crate) mod function_words;
pub(in crate::search) mod glob;
pub(in crate::search) mod pieces;
pub(in crate::search) mod references;
