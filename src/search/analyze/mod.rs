//! Turns text into terms. Pure: no file, no clock.
//!
//! There are two analyzers. [`stems`] makes the terms that ranking counts (index field `rank`): stemmed words without
//! function words. It also makes the [`stems::Shape`] of a sentence, and the n-grams by which words are compared.
//! [`text`] makes the terms that typed queries look up: folded forms with English stems. Of these terms, the index
//! field `text` stores only those that the field `rank` doesn't already cover, such as function words.
//!
//! - [`authors`]: numbers the speakers, and strips their names and links to blocks from the text that a model embeds;
//! - `function_words`: detects languages; [`days`]: finds the days that a text names; `glob`: matches path patterns.

pub mod text;

pub mod stems;

pub mod authors;
pub mod days;

pub(crate) mod function_words;
pub(in crate::search) mod glob;

pub(in crate::search) use authors::{Authors, MARK, embedded, names_of, without_names, without_references};
pub(in crate::search) use days::{About, Named, named_days};
pub(in crate::search) use stems::{
    Piece, SOFT_HYPHEN, STOP, Shape, Terms, bit, each_piece, has_function_word, is_mark, is_unspaced,
    signature, word_list, words,
};
pub(in crate::search) use text::{Analyzer, Form, STEM, fold, forms, other_stem};
