//! Finds a turn by its name, and converts turns to the values of `turns --json`, `turns ID --json` and the page
//! `/turns`.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::facts::Facts;
use super::turn_journal::{CallRow, PAGE, TurnJournal, TurnRow};
use crate::deliver::instants::ShownInstant;
use crate::reminders::rfc3339;
use crate::sqlite::DatabaseError;

/// A turn in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedTurn {
    /// Its name: its question's block in the log, else the message's id.
    pub id: String,
    /// The message.
    pub message: String,
    /// The place of the question; `routine:NAME` for a routine.
    pub channel: String,
    /// Its state.
    pub state: &'static str,
    /// The brain that answered, or is being asked.
    pub brain: Option<String>,
    /// When it was accepted, in the vault's zone.
    pub started: String,
    /// When it was done.
    pub finished: Option<String>,
    /// How many messages the answer took.
    pub chunks: u32,
}

/// A turn with all its steps and calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnDetail {
    /// As in a list.
    #[serde(flatten)]
    pub turn: ListedTurn,
    /// The question, if no log holds it.
    pub question: String,
    /// The log (without `.md`) and block of the question; empty if there is none.
    pub block: String,
    /// The final text.
    pub answer: Option<String>,
    /// The injected memories; `None` if memory was not searched.
    pub memory: Option<String>,
    /// Why memory could not be searched.
    pub memory_problem: Option<String>,
    /// The hash of the request that was sent.
    pub request_hash: Option<String>,
    /// The token budget of the request.
    pub budget: Option<u64>,
    /// The summaries that the request was made with.
    pub summaries: Vec<String>,
    /// The tokens and the cost, if the answer states them.
    pub cost: Option<TurnCost>,
    /// The steps with their times.
    pub steps: Vec<StepDetail>,
    /// The calls of brains.
    pub calls: Vec<CallRow>,
    /// The calls of tools.
    pub tools: Vec<ToolDetail>,
}

/// A turn's total usage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TurnCost {
    /// Input tokens.
    pub input: u64,
    /// Input tokens from a cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// USD, if prices are known.
    pub usd: Option<f64>,
    /// Milliseconds.
    pub ms: u64,
}

impl TurnCost {
    /// The usage in an answer's line of facts.
    pub fn of(facts: &Facts) -> Self {
        Self { input: facts.input, cached: facts.cached, output: facts.output, usd: facts.usd, ms: facts.ms }
    }
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepDetail {
    /// The name of the step that began.
    pub step: String,
    /// When, in the vault's zone.
    pub at: ShownInstant,
    /// A detail in a word or two.
    pub detail: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDetail {
    /// Its name.
    pub name: String,
    /// Its arguments as the model wrote them: usually JSON.
    pub input: String,
    /// Its output; `None` if it was started and never finished.
    pub result: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// Milliseconds.
    pub ms: Option<u64>,
}

impl ListedTurn {
    /// A turn in a list, with its times in a zone.
    pub fn of(turn: &TurnRow, tz: &TimeZone) -> Self {
        let answered = turn.facts.as_deref().and_then(Facts::parse).map(|facts| facts.brain);
        Self {
            id: turn.name(),
            message: turn.question.message.to_string(),
            channel: match turn.question.routine() {
                Some(name) => format!("routine:{name}"),
                None if turn.question.is_of_page() => PAGE.to_owned(),
                None => turn.question.channel.to_string(),
            },
            state: turn.state.as_str(),
            brain: answered.or_else(|| turn.brain.clone()),
            started: rfc3339(turn.started, tz),
            finished: turn.finished.map(|at| rfc3339(at, tz)),
            chunks: turn.chunks,
        }
    }
}

impl TurnJournal {
    /// The turn with a name from the list of `turns`: the block of its question, or else the message's id.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn named(&self, id: &str) -> Result<Option<TurnRow>, DatabaseError> {
        match id.parse::<u64>() {
            Ok(message) => self.turn(message),
            Err(_) => self.by_block(id),
        }
    }

    /// All steps and calls of a turn. A turn that was answered together with a later one has those of the later one.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn detail(&self, turn: &TurnRow, tz: &TimeZone) -> Result<TurnDetail, DatabaseError> {
        let message = turn.joined.unwrap_or(turn.question.message);
        let steps = self.steps(message)?.into_iter();
        let tools = self.tools(message)?.into_iter();
        let assembled = turn.assembled.as_ref();
        Ok(TurnDetail {
            turn: ListedTurn::of(turn, tz),
            question: turn.question.text.clone(),
            block: turn.question.block.clone(),
            answer: turn.answer.clone(),
            memory: turn.recalled.as_ref().map(|given| given.injection.clone()),
            memory_problem: turn.recalled.as_ref().and_then(|given| given.problem.clone()),
            request_hash: assembled.map(|it| it.hash.clone()),
            budget: assembled.map(|it| it.budget),
            summaries: assembled.map(|it| it.sums.clone()).unwrap_or_default(),
            cost: turn.facts.as_deref().and_then(Facts::parse).as_ref().map(TurnCost::of),
            steps: steps
                .map(|row| StepDetail {
                    step: row.step,
                    at: ShownInstant::new(row.at, tz),
                    detail: row.detail,
                })
                .collect(),
            calls: self.calls(message)?,
            tools: tools
                .map(|row| ToolDetail {
                    name: row.call.name,
                    input: row.call.arguments,
                    result: row.result.as_ref().map(|end| end.text.clone()),
                    is_error: row.result.as_ref().is_some_and(|end| end.is_error),
                    ms: row.result.map(|end| end.ms),
                })
                .collect(),
        })
    }
}
