//! How a turn ends: what memory says where no brain did, and the line of facts.

use super::engine::{Engine, Run, later, own};
use super::fixed_texts;
use crate::brain::Usage;
use crate::config::MEMORY;
use crate::turn::journal::{ToolRow, TurnRow};
use crate::turn::{Facts, Halt, TurnAnswer, history};

impl Engine {
    pub(in crate::agent) fn price(&self, brain: &str, usage: &Usage) -> Option<f64> {
        Some(self.brains.named(brain)?.prepared.price?.of(usage))
    }

    pub(super) async fn memory_says(&self, run: &Run<'_>, why: Option<&str>) -> String {
        let question = run.questions.last().map_or("", |question| history::strip_mentions(&question.text));
        let answer = match self.parts.memory.answer(question, &own(&run.turn, &run.joined)).await {
            Ok(answer) => answer,
            Err(problem) => format!("Memory could not be asked either: {problem}"),
        };
        fixed_texts::from_memory(why, &self.with_done(run.turn.asked.message, &answer))
    }

    /// What memory says, below what was done before: whoever doesn't know of it would ask for it once more.
    fn with_done(&self, message: u64, text: &str) -> String {
        match self.done(message) {
            Some(done) => format!("{done}\n\n{text}"),
            None => text.to_owned(),
        }
    }

    /// What a turn did that a person should know of where no brain tells it.
    pub(super) fn done(&self, message: u64) -> Option<String> {
        let rows = self.journal().tools(message).unwrap_or_default();
        let happened = |row: &&ToolRow| {
            row.result.as_ref().is_none_or(|end| !end.is_error)
                && !self.parts.tools.only_looks(&row.call.name)
        };
        fixed_texts::done_before(&rows.iter().filter(happened).collect::<Vec<_>>())
    }

    /// What memory says where the turn's time is up.
    pub(super) async fn time_is_up(&self, message: u64, why: &str) -> Result<TurnAnswer, Halt> {
        let turn = self.journal().turn(message).map_err(later)?.ok_or(Halt::Gone)?;
        let joined = self.journal().joined_to(message).map_err(later)?;
        self.keep(self.journal().memory_answers(message, why, self.now()));
        let question = history::strip_mentions(&turn.asked.text);
        let why = Some(why).filter(|_| !self.parts.why_apart);
        let text = match self.parts.memory.answer(question, &own(&turn, &joined)).await {
            Ok(answer) => answer,
            Err(problem) => problem,
        };
        let text = fixed_texts::from_memory(why, &self.with_done(message, &text));
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
        let mut calls = self.journal().calls(message).map_err(later)?;
        // What was asked beside the answer was paid for too.
        calls.extend(self.journal().beside(message).map_err(later)?);
        self.count_apart(&calls);
        self.tell_budgets();
        let assembled = self.journal().turn(message).map_err(later)?.and_then(|turn| turn.assembled);
        let assembled = assembled.filter(|_| brain != MEMORY);
        let mut usage = Usage::default();
        calls.iter().for_each(|call| usage += call.usage);
        // A harness may say itself what it cost.
        let costs = self.journal().costs(message).map_err(later)?;
        let prices: Option<Vec<f64>> = calls
            .iter()
            .filter(|call| call.usage != Usage::default())
            .filter(|call| !costs.iter().any(|(brain, _)| *brain == call.brain))
            .map(|call| self.price(&call.brain, &call.usage))
            .chain(costs.iter().map(|(_, usd)| Some(*usd)))
            .collect();
        let id = |turn: &TurnRow| turn.asked.block.split_once("#^").map(|(_, id)| id.to_owned());
        let facts = Facts {
            brain: brain.to_owned(),
            model: model.to_owned(),
            input: usage.input,
            cached: usage.cached,
            output: usage.output,
            usd: prices.filter(|prices| !prices.is_empty()).map(|prices| prices.iter().sum()),
            ms: u64::try_from(self.now().duration_since(turn.started).as_millis()).unwrap_or(0),
            ctx: assembled.as_ref().map(|request| request.hash.clone()),
            calls: u32::try_from(calls.len()).unwrap_or(u32::MAX),
            failed: calls.iter().filter_map(|call| Some((call.brain.clone(), call.class?))).collect(),
            part: None,
            at: assembled.as_ref().map(|request| request.at),
            budget: assembled.as_ref().map(|request| request.budget),
            tail: assembled.as_ref().and_then(|request| request.tail.clone()),
            sums: assembled.as_ref().map(|request| request.sums.clone()).unwrap_or_default(),
            skills: assembled.and_then(|request| request.skills),
            turn: id(turn),
            with: joined.iter().filter_map(id).collect(),
        };
        let text = fixed_texts::bounded(text);
        let text = if turn.asked.away { fixed_texts::after_absence(&text) } else { text };
        Ok(TurnAnswer { text, facts })
    }
}
