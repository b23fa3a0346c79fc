//! Searches the vault's notes for the few blocks that answer a question.
//!
//! Notes as bytes, and a question as it was typed, come in. An [`Answer`] of [`Hit`]s goes out, best first, with its
//! freshness; or [`Recalled`], the few memories that are added to a prompt. The vault is never written. The cache holds
//! only what can be computed from the notes again.
//!
//! The folders, in the order in which data passes them:
//!
//! | folder | from | to |
//! |---|---|---|
//! | [`read`] | a file's bytes | [`Block`]s: paragraphs, items, turns |
//! | [`analyze`] | text | terms, speakers, the shape of a sentence |
//! | [`store`] | blocks and terms | the cache: tantivy's segments, a SQLite catalog, the ranking's data on blocks |
//! | [`follow`] | the vault's changes | an updated cache, or a view beside it |
//! | [`query`] | the typed text | words, filters, scopes, the kind of answer that is wanted |
//! | [`retrieve`] | words, vectors | candidates |
//! | [`rank`] | candidates | scores; names, weights and thresholds of its signals stand in [`weights`] |
//! | [`results`] | the best candidates | hits, excerpts, injections, or `NONE` |
//!
//! The rest of the program uses three types. [`Index`] answers by words alone and keeps the cache. [`Recall`] is built
//! on an [`Index`], and answers by words and meaning. [`SearchClient`] asks a running daemon, which has the index in
//! memory; without a daemon it computes the answer itself.
//!
//! Memory is untrusted text: it is quoted, marked and bounded here, and never an instruction.

pub mod analyze;
pub mod follow;
pub mod query;
pub mod rank;
pub mod read;
pub mod results;
pub mod retrieve;
pub mod store;
pub mod weights;

mod answer;
mod embedding_pass;
mod error;
mod index;
pub(crate) mod parallel;
mod recall;

pub use answer::{Answer, CheckedBy, Freshness, Hit, Query, Reranked};
pub use embedding_pass::EmbeddingReport;
pub use error::{IndexError, Result};
pub use follow::reindex::{Progress, Reindexed};
pub use follow::report::Severity;
pub use follow::snapshot::Snapshot;
pub use index::Index;
pub use read::block::{Block, Kind, Role};
pub use read::note::{Options, SCHEMA};
#[cfg(feature = "assistant")]
pub(crate) use read::template_text::is_shipped;
pub use recall::Recall;
pub use results::daemon_client::SearchClient;
pub(crate) use results::hit::{FoundBlock, HitMaker};
pub use results::prompt_memories::{MemoryPrompt, Recalled};
pub use store::Stored;
