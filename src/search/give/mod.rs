//! Produces the results: hits for a question, memories for a prompt, or nothing where confidence is too low.
//!
//! - `words`: answers of the index alone, which `words::parsed` finds; `search`: by words and meaning, in the order of
//!   `search::merge`; [`deep`]: with a reranker's order.
//! - `given`: memories for a prompt; `judged` rates each find, [`choose`] selects and words them, `past` marks facts
//!   that no longer hold.
//! - `ranked`: the best blocks; `finder`: from there back to blocks of a snapshot.
//! - `hit` and [`snippet`]: the last step, for the returned ones alone. [`ask`]: the same question to a running daemon.

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
