//! Produces the results: hits for a question, memories for a prompt, or nothing where confidence is too low.
//!
//! - `search`: answers by words and meaning, from what `search::ranker` ranks and in the order that `search::merge`
//!   makes; `word_search`: answers of the index alone; `rerank_hits`: answers in the order of a reranker.
//! - `prompt_memories`: memories for a prompt; `rate_blocks` rates each found block, [`injection`] selects memories and
//!   formats them, `outdated_facts` marks facts that no longer hold.
//! - `hit`: looks ranked blocks up in a snapshot, and makes hits with excerpts of the returned ones.
//! - [`daemon_client`]: puts the same question to a running daemon.

pub mod daemon_client;
pub mod injection;

pub(in crate::search) mod hit;
pub(in crate::search) mod outdated_facts;
pub(in crate::search) mod prompt_memories;
pub(in crate::search) mod rate_blocks;
pub(in crate::search) mod rerank_hits;
pub(in crate::search) mod search;
pub(in crate::search) mod word_search;
