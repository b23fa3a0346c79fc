//! Ends a turn: makes the answer from memory if no brain gave one, and the line of facts.

use super::engine::{Engine, Run, question_links, retry_later};
use super::fixed_texts;
use crate::config::MEMORY;
use crate::turn::journal::{ToolRow, TurnRow};
use crate::turn::{Facts, Halt, TurnAnswer, history};

impl Engine {
    pub(super) async fn memory_answer(&self, run: &Run<'_>, why: Option<&str>) -> String {
        let question = run.questions.last().map_or("", |question| history::strip_mentions(&question.text));
        let answer = match self.parts.memory.answer(question, &question_links(&run.turn, &run.joined)).await {
            Ok(answer) => answer,
            Err(problem) => format!("Memory could not be asked either: {problem}"),
        };
        fixed_texts::from_memory(why, &self.with_completed_calls(run.turn.asked.message, &answer))
    }

    /// A text below the list of completed calls, so that no person asks for them again.
    fn with_completed_calls(&self, message: u64, text: &str) -> String {
        match self.done(message) {
            Some(done) => format!("{done}\n\n{text}"),
            None => text.to_owned(),
        }
    }

    /// The completed calls of a turn that changed something, for an answer without a brain.
    pub(super) fn done(&self, message: u64) -> Option<String> {
        let rows = self.journal().tools(message).unwrap_or_default();
        let happened = |row: &&ToolRow| {
            row.result.as_ref().is_none_or(|end| !end.is_error)
                && !self.parts.tools.is_read_only(&row.call.name)
        };
        fixed_texts::completed_calls(&rows.iter().filter(happened).collect::<Vec<_>>())
    }

    /// The answer from memory where the turn's time is up.
    pub(super) async fn answer_after_timeout(&self, message: u64, why: &str) -> Result<TurnAnswer, Halt> {
        let turn = self.journal().turn(message).map_err(retry_later)?.ok_or(Halt::Gone)?;
        let joined = self.journal().joined_to(message).map_err(retry_later)?;
        self.keep(self.journal().record_memory_answer(message, why, self.now()));
        let question = history::strip_mentions(&turn.asked.text);
        let why = Some(why).filter(|_| !self.parts.omit_reason);
        let text = match self.parts.memory.answer(question, &question_links(&turn, &joined)).await {
            Ok(answer) => answer,
            Err(problem) => problem,
        };
        let text = fixed_texts::from_memory(why, &self.with_completed_calls(message, &text));
        self.finish(&turn, &joined, &text, MEMORY, "")
    }

    pub(in crate::agent) fn finish(
        &self,
        turn: &TurnRow,
        joined: &[TurnRow],
        text: &str,
        brain: &str,
        model: &str,
    ) -> Result<TurnAnswer, Halt> {
        let message = turn.asked.message;
        let mut calls = self.journal().calls(message).map_err(retry_later)?;
        // Background calls of this turn were paid for too.
        calls.extend(self.journal().background_calls(message).map_err(retry_later)?);
        self.count_unlogged_calls(&calls);
        self.queue_budget_notices();
        let assembled = self.journal().turn(message).map_err(retry_later)?.and_then(|turn| turn.assembled);
        let assembled = assembled.filter(|_| brain != MEMORY);
        let costs = self.journal().costs(message).map_err(retry_later)?;
        let id = |turn: &TurnRow| turn.asked.block.split_once("#^").map(|(_, id)| id.to_owned());
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
        let text = if turn.asked.away { fixed_texts::after_absence(&text) } else { text };
        Ok(TurnAnswer { text, facts })
    }
}
