//! A turn: one message's way to its one answer.
//!
//! A message that is to be answered enters as a row of the [`journal`]; a fixed text leaves for `deliver`, which alone
//! sends. Between the two everything is decided by pure functions:
//! - [`journal`], [`state`]: the steps of a turn on disk, and which may follow which;
//! - [`mod@route`]: which brains are asked, and in which order; [`category`]: what kind of question it is;
//! - [`request`]: what is asked, made from the log, its summaries and the notes, and made again later;
//! - [`conversation`]: where a conversation is, and who answers there; [`session_match`]: whether a harness's session may be gone on with;
//! - [`skills`], [`mod@turn_notes`]: which skills a request tells of, and what a turn noted beside its question;
//! - [`facts`]: the line that ends each `[!agent]` block of a log; [`usage`]: these lines added up;
//! - [`detail`]: turns as programs read them.
//!
//! Never here: a word to a model or to Discord. The `agent` room runs a turn, step by step, at a [`conversation`].

pub mod category;
mod conversation;
mod detail;
pub mod facts;
pub mod journal;
mod request;
pub mod route;
pub mod session_match;
pub mod skills;
mod state;
mod turn_notes;
pub mod usage;

pub use self::conversation::{
    ApprovalRequest, Conversation, Halt, NoConversation, Responder, TurnAnswer, TurnNote,
};
pub use self::detail::{Called, Cost, ListedTurn, Step, Tool, TurnDetail};
pub use self::facts::Facts;
pub use self::journal::{NewTurn, PAGE, TurnJournal, TurnJournalError, TurnRow};
pub use self::request::{assemble, files, history, notes, past_context, rebuild, terms};
pub use self::route::{Question, Routed, UnknownBrain, route};
pub use self::state::TurnState;
pub use self::turn_notes::noted;
