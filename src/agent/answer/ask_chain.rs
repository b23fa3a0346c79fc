//! Asks the brains (models or agent programs) of a chain in order. The first brain that answers ends the turn. If none
//! answers, the answer is made of recalled memories.
//!
//! The answer has a line of facts: brain, tokens, cost. Each brain may call tools in rounds. The limits of rounds and
//! tokens hold for the turn, all its brains together. Once a limit is reached, no further brain is asked. If the
//! results of tools don't fit into the brain's context, the oldest are shortened. The journal records each call before
//! it is made, and the call's cost when it has ended.

use std::sync::atomic::Ordering;

use super::budget_check::queue_notices;
use super::engine::{AnswerEngine, AskedBrain, TurnRun, question_links};
use super::fixed_texts;
use crate::agent::brain_chain::{BrainCall, ChainAnswer, ChainBrain, FailoverWalk};
use crate::brain::{BrainError, Reply, Usage};
use crate::config::MEMORY;
use crate::format::harmless::without_fetches;
use crate::format::log::ANSWERED_WITH_HELP;
use crate::memory::working::is_untrusted;
use crate::turn::fit_results::fit_results;
use crate::turn::turn_journal::{CallRow, RequestRow, ToolRow, TurnRow};
use crate::turn::{Facts, Halt, TurnAnswer, assemble, history};

/// A call as a row of the journal. A failed call may have used tokens, too.
pub(in crate::agent) fn call_row(
    brain: &crate::config::BrainSettings,
    answered: &Result<Reply, BrainError>,
    ms: u64,
    usage: Usage,
) -> CallRow {
    let (model, class, error) = match answered {
        Ok(reply) => (reply.model.clone(), None, None),
        // That it was stopped says nothing about the brain.
        Err(error) => {
            let class = (!error.cancelled).then_some(error.class);
            (brain.model.clone(), class, Some(error.message.clone()))
        }
    };
    CallRow { brain: brain.name.clone(), model, class, error, ms, usage }
}

impl TurnRun<'_> {
    /// Asks the brains of the chain until one answers.
    pub(super) async fn ask_chain(&self, chain: &[&ChainBrain]) -> Result<Result<ChainAnswer, String>, Halt> {
        let mut walk =
            FailoverWalk { unattended: self.turn.question.routine().is_some(), ..FailoverWalk::default() };
        while let Some(call) = self.brains.next(chain, &walk) {
            let name = call.member.prepared.name();
            if let Some(why) = self.used_up(self.turn.question.message)? {
                let calls = self.journal().calls(self.turn.question.message)?;
                if !calls.iter().any(|made| made.brain == name && made.class.is_none()) {
                    // It had no part in the turn: memory answers.
                    return Ok(Err(why));
                }
            }
            match self.ask_one(call).await? {
                Ok((text, model)) => return Ok(Ok(ChainAnswer { text, brain: name.to_owned(), model })),
                Err(error) if error.cancelled => return Err(Halt::Stopped),
                Err(error) => {
                    let class = error.class.name();
                    tracing::warn!(brain = name, class, "a brain did not answer: {error}");
                    walk.record(call, error);
                    if self.time_limit.left().is_zero() {
                        return Ok(Err(self.no_brain_in_time()));
                    }
                }
            }
        }
        let mut resting = self.brains.skipped(chain, &walk);
        resting.extend(self.skipped.iter().cloned());
        Ok(Err(fixed_texts::memory_reason(&walk.failed, &resting)))
    }

    /// Records a call without an answer. A stopped one is no attempt, but counts with what it used.
    pub(super) fn record_failed_call(&self, row: &CallRow, is_stopped: bool) -> Result<(), Halt> {
        let (message, now) = (self.turn.question.message, self.now());
        match is_stopped {
            false => self.journal().called(message, row, None, now)?,
            true if row.usage == Usage::default() => {}
            true => self.journal().record_background_call(message, "stopped", row, now)?,
        }
        Ok(())
    }

    /// Asks one brain, with as many rounds of tools as it wants and may have.
    async fn ask_one(&self, call: BrainCall<'_>) -> AskedBrain {
        let (message, member) = (self.turn.question.message, call.member);
        let brain = &member.prepared.settings;
        let part = |whole: u64| if call.attempt.shrink { whole / 2 } else { whole };
        let fits = assemble::budget(brain.context_tokens, brain.max_output_tokens, u64::MAX);
        // A quarter is left for what the turn's tools bring.
        let room = if self.tools().is_empty() || brain.kind.is_harness() { fits } else { fits / 4 * 3 };
        let (budget, fits) = (part(self.budget(member).min(room)), part(fits));
        let skills = self.skills();
        let request = |at| {
            let material = self.material(member, at, budget, skills.clone());
            self.has_untrusted_memory.fetch_or(is_untrusted(&material.notes.working), Ordering::Relaxed);
            assemble::assemble(material)
        };
        // If a note changed since a crash, the request gets the present time: from that time's notes it can be made
        // again.
        let before = self.turn.assembled.as_ref().and_then(|before| {
            let base = request(before.at);
            (base.hash() == before.hash).then_some((before.at, base))
        });
        let (at, base) = before.unwrap_or_else(|| {
            let at = self.now();
            (at, request(at))
        });
        let tail = self.blocks.iter().rev().find_map(|block| block.event.id.clone());
        let hash = base.hash();
        let sums =
            self.summaries.iter().filter_map(|told| Some(told.id.strip_prefix("sum_")?.to_owned())).collect();
        let assembled = RequestRow { at, budget, tail, hash, skills: skills.names(), sums };
        fail::fail_point!("turn::before-assembled");
        self.journal().record_request(message, &assembled, self.now())?;
        fail::fail_point!("turn::after-assembled");
        if brain.kind.is_harness() {
            return self.run_harness(call, base, fits).await;
        }
        loop {
            let mut rounds = self.rounds(&brain.name).await?;
            fit_results(&mut rounds, fits.saturating_sub(assemble::tokens(&base)));
            let mut request = base.clone();
            request.messages.extend(self.for_wire(&base, rounds));
            let end = match self.over_budget(message)? {
                None => self.keep_to_budget(message, &mut request)?,
                end => end,
            };
            if let Some(end) = end {
                return Ok(Ok((end, brain.model.clone())));
            }
            fail::fail_point!("turn::before-called");
            self.journal().record_call_start(message, &brain.name, self.now())?;
            fail::fail_point!("turn::after-called");
            self.conversation.progress(&format!("asking {}", brain.name));
            let left = self.time_limit.left();
            let (answered, ms, used) = self.brains.ask(call, &request, self.stop, Some(left)).await;
            let answered = answered.and_then(|reply| reply.usable().map(|()| reply));
            let row = call_row(brain, &answered, ms, used);
            match answered {
                Ok(reply) if reply.tool_calls.is_empty() => {
                    self.journal().called(message, &row, None, self.now())?;
                    let text = fixed_texts::text_of(&reply).unwrap_or_default();
                    return Ok(Ok((text, reply.model)));
                }
                Ok(reply) => {
                    fail::fail_point!("turn::before-round");
                    self.journal().called(message, &row, Some(&reply), self.now())?;
                    fail::fail_point!("turn::after-round");
                }
                Err(error) => {
                    self.record_failed_call(&row, error.cancelled)?;
                    return Ok(Err(error));
                }
            }
        }
    }
}

impl AnswerEngine {
    /// The answer from memory, below the reason and the completed calls, so that no person asks for them again.
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
        let answer = if question.is_empty() {
            format!("{ANSWERED_WITH_HELP}`/remind`, `/remember` and `/recall`; `/status` shows my state.")
        } else {
            let answer = self.parts.memory.answer(question, &question_links(turn, joined)).await;
            answer.unwrap_or_else(|problem| format!("The memory search failed too: {problem}"))
        };
        let why = why.filter(|_| !self.parts.omit_reason).map(str::to_owned);
        let parts: Vec<String> =
            why.into_iter().chain(self.completed_changes(message)).chain([answer]).collect();
        self.finish(turn, joined, &parts.join("\n\n"), MEMORY, "")
    }

    /// The completed calls of a turn that changed something, for an answer without a brain or a further request.
    pub fn completed_changes(&self, message: u64) -> Option<String> {
        let rows = self.journal().tools(message).unwrap_or_default();
        let happened = |row: &&ToolRow| {
            row.result.as_ref().is_none_or(|end| !end.is_error)
                && !self.parts.tools.is_read_only(&row.call.name)
        };
        fixed_texts::completed_calls(&rows.iter().filter(happened).collect::<Vec<_>>())
    }

    /// The answer from memory after the turn's time limit.
    pub(super) async fn answer_after_timeout(&self, message: u64) -> Result<TurnAnswer, Halt> {
        let turn = self.journal().turn(message)?.ok_or(Halt::Gone)?;
        let joined = self.journal().joined_to(message)?;
        let why = self.no_brain_in_time();
        self.memory_answer(&turn, &joined, &turn.question.text, Some(&why)).await
    }

    fn no_brain_in_time(&self) -> String {
        format!("No brain answered within {} minutes.", self.settings().turn_minutes)
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
        let calls = self.paid_calls(message)?;
        self.count_unlogged_calls(&calls);
        queue_notices(&self.parts.workspace, &self.budgets());
        let assembled = self.journal().turn(message)?.and_then(|turn| turn.assembled);
        let assembled = assembled.filter(|_| brain != MEMORY);
        let costs = self.journal().costs(message)?;
        let id = |turn: &TurnRow| turn.question.block_id().map(str::to_owned);
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
        let text = if self.parts.schema.is_none() { without_fetches(&text) } else { text };
        let text = if turn.question.away { fixed_texts::after_absence(&text) } else { text };
        Ok(TurnAnswer { text, facts })
    }
}
