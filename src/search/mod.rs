//! Searches the vault's notes for the few blocks that answer a question.
//!
//! Notes as bytes, and a question as it was typed, come in. An [`Answer`] of [`Hit`]s goes out, best first, with its
//! freshness; or [`Recalled`], the memories that a prompt gets without asking. The vault is never written, and the
//! cache never holds the only copy of anything: without the cache every answer is the same, to the last digit of a
//! score.
//!
//! The rooms, in the order in which data passes them:
//!
//! | room | from | to |
//! |---|---|---|
//! | [`read`] | a file's bytes | [`Block`]s: paragraphs, items, turns |
//! | [`analyze`] | text | terms, speakers, the shape of a sentence |
//! | [`store`] | blocks and terms | the cache: tantivy's segments, a SQLite catalog, the ranking's data on blocks |
//! | [`follow`] | the vault's changes | an updated cache, or a view beside it; never older than the files on disk |
//! | [`query`] | the typed text | words, filters, scopes, the kind of answer that is wanted |
//! | [`retrieve`] | words, vectors | candidates |
//! | [`rank`] | candidates | scores: every signal and threshold of ranking stands here; the weights of all rooms stand in [`weights`] |
//! | [`give`] | what ranks best | hits, excerpts, injections, or `NONE` |
//!
//! The rest of the program uses three types. [`Index`] answers by words alone and keeps the cache. [`Recall`] is built
//! on it and answers by words and meaning, for questions ([`Recall::search`]) and for prompts ([`Recall::recall`]).
//! [`Asker`] puts the same questions to a running daemon first, which has everything in memory.
//!
//! Memory is untrusted text: it is quoted, marked and bounded here, and never an instruction.

pub mod analyze;
pub mod follow;
pub mod give;
pub mod query;
pub mod rank;
pub mod read;
pub mod retrieve;
pub mod store;
pub mod weights;

mod answer;
pub(crate) mod cores;
mod error;
mod index;
mod opened;
mod recall;

pub use answer::{Answer, CheckedBy, Freshness, Hit, KindName, Query, Reranked, RoleName};
pub use error::IndexError;
pub use follow::basis::Basis;
pub use follow::reindex::{Progress, Reindexed};
pub use follow::report::{Finding, Severity, Stats};
pub use follow::snapshot::{Note, Snapshot, Stored};
pub use follow::update::Updated;
pub use give::ask::Asker;
pub use give::given::{MemoryPrompt, Recalled};
pub use give::hit::HitMaker;
pub use give::words::Found;
pub use index::Index;
pub use rank::worth::{Judge, Worth};
pub use read::block::{Block, Kind, Role};
pub use read::note::Options;
#[cfg(feature = "assistant")]
pub(crate) use read::shipped::is_shipped;
pub use recall::{Recall, RecallError};
pub use store::SCHEMA;
