//! Tokenizes texts. Pure: a text comes in; the numbers of its tokens go out.
//!
//! - [`wordpiece`]: BERT's; [`unigram`]: the most probable pieces; [`tokenizer`]: the parser of `tokenizer.json`;
//! - [`unicode`]: classes of characters.

mod tokenizer;
mod unicode;
mod unigram;
pub mod wordpiece;

pub(super) use tokenizer::Tokenizer;
