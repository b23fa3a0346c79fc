//! What leaves: hits for whoever asked, memories for prompts, or nothing where nothing is sure enough.
//!
//! - `words`: answers of the index alone, which `words::parsed` finds; `search`: by words and meaning, in the order of `search::merge`; [`deep`]: with a reranker's order.
//! - `given`: what is given unasked, `judged` what each find is worth, [`choose`] which of it and in what words, `past` what no longer holds.
//! - `ranked`: what ranks best; `finder`: from there back to blocks.
//! - `hit` and [`snippet`]: the last step, for those alone that are given. [`ask`]: the same question to a running daemon.

pub mod ask;
pub mod choose;
pub mod snippet;

pub(in crate::search) mod deep;
pub(in crate::search) mod finder;
pub(in crate::search) mod given;
pub(in crate::search) mod hit;
pub(in crate::search) mod judged;
pub(in crate::search) mod past;
pub(in crate::search) mod ranked;
pub(in crate::search) mod search;
pub(in crate::search) mod words;
