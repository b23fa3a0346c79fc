//! Defines the steps of a turn, which leads from one message to its one answer.
//!
//! A message to be answered comes in, as a row of the [`turn_journal`]. The text of its answer goes out to `deliver`,
//! which alone sends. Between the two, pure functions decide, and the journal records each step:
//! - [`turn_journal`]: the steps of a turn on disk, and their order;
//! - [`mod@route`]: the brains to ask, in order, and the category of a question;
//! - [`request`]: the request, made from the log, its summaries and the notes, and made again later;
//! - [`conversation`]: the traits of a conversation and of the code that answers in it;
//! - [`session_match`]: decides whether a harness's session can be resumed; [`skills`]: the skills of a request;
//! - [`facts`]: the line that ends each `[!agent]` block of a log; [`usage`]: adds these lines up;
//! - [`detail`]: turns as JSON.
//!
//! Never here: a call to a model or to Discord. `agent` runs a turn, step by step, in a [`conversation`].

mod conversation;
mod detail;
pub mod facts;
mod request;
pub mod route;
pub mod session_match;
pub mod skills;
pub mod turn_journal;
pub mod usage;

pub use self::conversation::{
    Conversation, Halt, NoConversation, Responder, TurnAnswer, TurnNote, turn_notes,
};
pub use self::detail::{ListedTurn, StepDetail, ToolDetail, TurnCost, TurnDetail};
pub use self::facts::Facts;
pub use self::request::{assemble, files, fit_results, history, notes, past_context, rebuild};
pub use self::route::{QuestionProperties, RouteDecision, UnknownBrain, route};
pub use self::turn_journal::{NewTurn, PAGE, TurnJournal, TurnRow, TurnState};
