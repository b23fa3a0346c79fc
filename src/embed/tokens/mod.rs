//! Tokenizers. Pure: a text comes in; the numbers of its tokens go out.
//!
//! - [`wordpiece`]: BERT's; [`unigram`]: the most probable pieces; [`tokenizer`]: what a `tokenizer.json` says;
//! - [`unicode`]: classes of characters that these ask for.

mod tokenizer;
mod unicode;
mod unigram;
pub mod wordpiece;

pub(super) use tokenizer::Tokenizer;
