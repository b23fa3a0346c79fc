//! From a question to the few memories that matter.
//!
//! [`Recall`] stands on the index: it keeps the ranking's own view of the vault's blocks ([`corpus`]) in
//! step with it, answers [`Recall::search`] (what is asked for) and [`Recall::recall`] (what is given
//! without asking), and looks after the vectors of models that cost something ([`reconcile`]).
//!
//! [`ask`] puts the same questions to a running daemon first, which has everything warm; [`deep`] has a reranker put
//! the first hits of a search in order.
//!
//! The ranking is pure: a [`question::Question`] and a [`corpus::Corpus`] give [`score::signals`], which
//! the weights in [`signal`] turn into scores. The published formulas that it is measured against, and
//! those that it uses, stand in [`formula`], each with its source. [`choose`] decides what is given and in
//! what words.
//!
//! Memory is untrusted text: it is quoted, marked and bounded here, and never an instruction.

mod alike;
mod around;
pub mod ask;
mod authors;
mod candidates;
pub mod choose;
pub mod code;
pub mod corpus;
mod deep;
mod dressed;
mod engine;
mod finder;
pub mod formula;
mod function_words;
mod given;
pub mod layer;
mod lexical;
mod make;
pub mod matrix;
mod mended;
mod nearest;
mod notes;
mod part;
mod past;
mod persist;
mod postings;
pub mod question;
pub mod reconcile;
pub mod score;
mod search;
mod semantic;
mod shipped;
pub mod signal;
mod sought;
pub mod sure;
mod sync;
mod tail;
mod tally;
mod term;
pub mod text;
pub mod uses;
pub mod vectors;
mod wide;
mod within;
mod words;
mod worth;

pub use ask::Asker;
pub use engine::{Recall, RecallError};
pub use given::Recalled;
pub use search::search;
pub(crate) use shipped::is_shipped;
pub use worth::{Judge, Worth};
