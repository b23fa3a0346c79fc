//! Ends a turn: makes the answer from memory if no brain gave one, and the line of facts.

use super::budget_check::queue_notices;
use super::engine::{AnswerEngine, question_links};
use super::fixed_texts;
use crate::config::MEMORY;
use crate::turn::journal::{ToolRow, TurnRow};
use crate::turn::{Facts, Halt, TurnAnswer, history};

impl AnswerEngine {
    /// The answer from memory. Above it stands why, and the completed calls, so that no person asks for them again.
    pub(super) async fn memory_answer(
        &self,
        turn: &TurnRow,
        joined: &[TurnRow],
        question: &str,
        why: Option<&str>,
    ) -> Result<TurnAnswer, Halt> {
        let message = turn.question.message;
        if let Some(why) = why {
            self.log_failure(self.journal().record_memory_answer(message, why, self.now()));
        }
        let question = history::strip_mentions(question);
        let answer = self.parts.memory.answer(question, &question_links(turn, joined)).await;
        let answer = answer.unwrap_or_else(|problem| format!("Memory could not be asked either: {problem}"));
        let why = why.filter(|_| !self.parts.omit_reason).map(str::to_owned);
        let parts: Vec<String> =
            why.into_iter().chain(self.completed_changes(message)).chain([answer]).collect();
        self.finish(turn, joined, &parts.join("\n\n"), MEMORY, "")
    }

    /// The completed calls of a turn that changed something, for an answer without a brain.
    pub(super) fn completed_changes(&self, message: u64) -> Option<String> {
        let rows = self.journal().tools(message).unwrap_or_default();
        let happened = |row: &&ToolRow| {
            row.result.as_ref().is_none_or(|end| !end.is_error)
                && !self.parts.tools.is_read_only(&row.call.name)
        };
        fixed_texts::completed_calls(&rows.iter().filter(happened).collect::<Vec<_>>())
    }

    /// The answer from memory where the turn's time is up.
    pub(super) async fn answer_after_timeout(&self, message: u64, why: &str) -> Result<TurnAnswer, Halt> {
        let turn = self.journal().turn(message)?.ok_or(Halt::Gone)?;
        let joined = self.journal().joined_to(message)?;
        self.memory_answer(&turn, &joined, &turn.question.text, Some(why)).await
    }

    pub(in crate::agent) fn finish(
        &self,
        turn: &TurnRow,
        joined: &[TurnRow],
        text: &str,
        brain: &str,
        model: &str,
    ) -> Result<TurnAnswer, Halt> {
        let message = turn.question.message;
        let mut calls = self.journal().calls(message)?;
        // Background calls of this turn were paid for too.
        calls.extend(self.journal().background_calls(message)?);
        self.count_unlogged_calls(&calls);
        queue_notices(&self.parts.workspace, &self.budgets());
        let assembled = self.journal().turn(message)?.and_then(|turn| turn.assembled);
        let assembled = assembled.filter(|_| brain != MEMORY);
        let costs = self.journal().costs(message)?;
        let id = |turn: &TurnRow| turn.question.block.split_once("#^").map(|(_, id)| id.to_owned());
        let facts = Facts {
            brain: brain.to_owned(),
            model: model.to_owned(),
            ms: u64::try_from(self.now().duration_since(turn.started).as_millis()).unwrap_or(0),
            ctx: assembled.as_ref().map(|request| request.hash.clone()),
            at: assembled.as_ref().map(|request| request.at),
            budget: assembled.as_ref().map(|request| request.budget),
            tail: assembled.as_ref().and_then(|request| request.tail.clone()),
            sums: assembled.as_ref().map(|request| request.sums.clone()).unwrap_or_default(),
            skills: assembled.and_then(|request| request.skills),
            turn: id(turn),
            with: joined.iter().filter_map(id).collect(),
            ..self.brains.call_facts(&calls, &costs)
        };
        let text = fixed_texts::bounded(text);
        let text = if turn.question.away { fixed_texts::after_absence(&text) } else { text };
        Ok(TurnAnswer { text, facts })
    }
}
