//! Answers with hits for a question, and with memories for a prompt, or with none if the confidence is too low.
//!
//! - `search`: answers by words and meaning, in the order that `merge` makes; `word_search`: answers from the index
//!   alone; `rerank_hits`: reorders hits by a reranker.
//! - `prompt_memories`: memories for a prompt; `rating` rates each found block, [`injection`] selects memories and
//!   formats them, `outdated_facts` lowers the rank of facts that no longer hold.
//! - `hit`: looks ranked blocks up in a snapshot, and makes hits with excerpts of the returned ones.
//! - [`daemon_client`]: sends the same question to a running daemon.

pub mod daemon_client;
pub mod injection;

pub(in crate::search) mod hit;
pub(in crate::search) mod merge;
pub(in crate::search) mod outdated_facts;
pub(in crate::search) mod prompt_memories;
pub(in crate::search) mod rating;
pub(in crate::search) mod rerank_hits;
pub(in crate::search) mod search;
pub(in crate::search) mod word_search;

pub(in crate::search) use daemon_client::SearchClient;
pub(in crate::search) use hit::{FoundBlock, HitMaker, find_block, pinned_blocks};
pub(in crate::search) use injection::{Injection, Memory};
pub(in crate::search) use prompt_memories::{MemoryPrompt, Recalled};
pub(in crate::search) use rating::{Rater, Rating};
pub(in crate::search) use search::{Ranking, syntax_of, words_of};
