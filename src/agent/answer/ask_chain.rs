//! Asks the brains of a chain one after the other until one answers.
//!
//! Each brain gets as many rounds of tools as it asks for and the settings allow. The result is an answer with its
//! brain, or the reason why no brain answered. Each call is in the turn journal before it is made, and its cost after
//! it.

use super::engine::{AnswerEngine, TurnRun};
use super::fixed_texts;
use crate::agent::brain_chain::{ChainAnswer, ChainBrain, FailoverWalk};
use crate::brain::failover::BrainAttempt;
use crate::brain::{BrainError, Reply, Usage};
use crate::format::log::LogBlock;
use crate::turn::Halt;
use crate::turn::journal::{CallRow, RequestRow};

impl AnswerEngine {
    /// Asks the brains of the chain until one answers.
    pub(super) async fn ask_chain(
        &self,
        run: &TurnRun<'_>,
        chain: &[&ChainBrain],
    ) -> Result<Result<ChainAnswer, String>, Halt> {
        let mut walk = FailoverWalk::new(is_unattended(run));
        while let Some(attempt) = self.brains.next_attempt(chain, &walk) {
            let member = chain[attempt.index];
            let name = member.prepared.name().to_owned();
            match self.ask_one(run, member, &attempt).await? {
                Ok((text, model)) => return Ok(Ok(ChainAnswer { text, brain: name, model })),
                Err(error) if error.cancelled => return Err(Halt::Stopped),
                Err(error) => {
                    tracing::warn!(
                        brain = name,
                        class = error.class.name(),
                        "a brain did not answer: {error}"
                    );
                    walk.record(attempt, &name, error);
                }
            }
        }
        let resting = self.brains.skipped(chain, &walk).into_iter().map(|(name, error)| match error {
            Some(error) => format!("{name} ({})", error.trim_end_matches('.')),
            None => name,
        });
        let resting: Vec<String> = resting.chain(run.skipped.iter().cloned()).collect();
        Ok(Err(fixed_texts::memory_reason(&walk.failed, &resting)))
    }

    /// Asks one brain, with as many rounds of tools as it wants and may have.
    pub(super) async fn ask_one(
        &self,
        run: &TurnRun<'_>,
        member: &ChainBrain,
        attempt: &BrainAttempt,
    ) -> Result<Result<(String, String), BrainError>, Halt> {
        let message = run.turn.question.message;
        let brain = &member.prepared.settings;
        let whole = self.budget(member);
        let budget = if attempt.shrink { whole / 2 } else { whole };
        let skills = self.skills(run);
        // If a note changed since a crash, the request gets the present time: from that time's notes it can be made again.
        let before = run.turn.assembled.as_ref().and_then(|before| {
            let base = self.assemble(run, member, before.at, budget, &skills);
            (base.hash() == before.hash).then_some((before.at, base))
        });
        let (at, base) = before.unwrap_or_else(|| {
            let at = self.now();
            (at, self.assemble(run, member, at, budget, &skills))
        });
        let (tail, hash) = (tail(&run.blocks), base.hash());
        let sums =
            run.summaries.iter().filter_map(|told| Some(told.id.strip_prefix("sum_")?.to_owned())).collect();
        let assembled = RequestRow { at, budget, tail, hash, skills: skills.names(), sums };
        fail::fail_point!("turn::before-assembled");
        self.journal().record_request(message, &assembled, self.now())?;
        fail::fail_point!("turn::after-assembled");
        if brain.kind.is_harness() {
            return self.run_harness(run, member, attempt, base).await;
        }
        loop {
            let rounds = self.rounds(run, &brain.name).await?;
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
            run.conversation.progress(&format!("asking {}", brain.name));
            let asking = self.brains.ask(member, attempt, &request, Some(run.conversation), run.stop, None);
            let (answered, ms, used) = asking.await;
            let answered = answered.and_then(|reply| reply.usable().map(|()| reply));
            let row = row(brain, &answered, ms, used);
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
                    if !error.cancelled {
                        self.journal().called(message, &row, None, self.now())?;
                    }
                    return Ok(Err(error));
                }
            }
        }
    }
}

/// Whether no person waits for the answer: a routine asks.
fn is_unattended(run: &TurnRun<'_>) -> bool {
    run.turn.question.channel == 0 && run.turn.question.author.starts_with("routine:")
}

fn tail(blocks: &[LogBlock]) -> Option<String> {
    blocks.iter().rev().find_map(|block| block.event.id.clone())
}

/// A call as the journal keeps it; also one that failed may have used something.
pub(in crate::agent) fn row(
    brain: &crate::config::BrainSettings,
    answered: &Result<Reply, BrainError>,
    ms: u64,
    usage: Usage,
) -> CallRow {
    let (model, class, error) = match answered {
        Ok(reply) => (reply.model.clone(), None, None),
        Err(error) => (brain.model.clone(), Some(error.class), Some(error.message.clone())),
    };
    CallRow { brain: brain.name.clone(), model, class, error, ms, usage }
}
