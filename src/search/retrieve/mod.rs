//! From what is looked for to the blocks that may answer.
//!
//! By words of the index: [`terms`], `filter`, [`bm25`] and `topk` over a view's postings. For ranking: `candidates` (which
//! blocks of a scope there are, and their statistics), `term` (where a question's terms stand), `alike` (words of the vault
//! that look like one of the question's), `nearest` and `meaning` (vectors), `around` (turns beside a turn), `finder` (from
//! slots back to blocks).

pub mod bm25;
pub mod terms;

pub(in crate::search) mod alike;
pub(in crate::search) mod around;
pub(in crate::search) mod candidates;
pub(in crate::search) mod filter;
pub(in crate::search) mod finder;
pub(in crate::search) mod meaning;
pub(in crate::search) mod nearest;
pub(in crate::search) mod term;
pub(in crate::search) mod topk;
