//! Tokenizes texts. Pure: a text comes in; the numbers of its tokens go out.
//!
//! - [`wordpiece`]: BERT's, as the built-in table needs it: without a copy of its vocabulary, and quick;
//! - [`tokenizer`]: that of a model's folder.

mod tokenizer;
pub mod wordpiece;

pub(super) use tokenizer::Tokenizer;
