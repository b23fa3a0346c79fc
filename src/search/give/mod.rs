//! Produces the results: hits for a question, memories for a prompt, or nothing where confidence is too low.
//!
//! - `search`: answers by words and meaning, from what `search::asked` ranks and in the order that `search::merge`
//!   makes; `words`: answers of the index alone; [`deep`]: answers in the order of a reranker.
//! - `given`: memories for a prompt; `judged` rates each found block, [`choose`] selects blocks and formats them,
//!   `past` marks facts that no longer hold.
//! - `finder`: looks ranked blocks up in a snapshot.
//! - `hit` and [`snippet`]: make a returned block a hit with an excerpt. [`ask`]: puts the same question to a running
//!   daemon.

pub mod ask;
pub mod choose;
pub mod snippet;

pub(in crate::search) mod deep;
pub(in crate::search) mod finder;
pub(in crate::search) mod given;
pub(in crate::search) mod hit;
pub(in crate::search) mod judged;
pub(in crate::search) mod past;
pub(in crate::search) mod search;
pub(in crate::search) mod words;
