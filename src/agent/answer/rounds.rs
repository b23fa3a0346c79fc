//! Runs the tools that a brain calls in a turn, and adds their results to the next request.
//!
//! Also applies the turn's own limits (tokens, rounds, and calls in a round), and decides whether the turn has read
//! untrusted text. The journal holds each call's start and end. A call that has ended isn't run again. If a crash
//! interrupted a call, its result in the next request says that the outcome is unknown.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::engine::{AnswerEngine, TurnRun};
use super::fixed_texts;
use crate::agent::tools::{ApprovalRequest, ApprovalVerdict, Caller, Precondition};
use crate::agent::untrusted_text::UntrustedText;
use crate::brain::{Message, Request, ToolCall, ToolResult};
use crate::format::log::{EventKind, FORWARDED, LogEvent};
use crate::turn::turn_journal::{ToolEnd, ToolRow};
use crate::turn::{Halt, TurnNote, assemble, history};

/// The most calls of one reply that are run.
const MOST_CALLS: usize = 16;

/// A routine with a budget makes no request with fewer tokens left for the answer.
const FEWEST_TOKENS: u64 = 32;

impl TurnRun<'_> {
    /// The rounds of tools so far, as messages; calls that were not run yet are run now, within the limits of
    /// rounds and of calls in a round.
    pub(super) async fn rounds(&self, brain: &str) -> Result<Vec<Message>, Halt> {
        let message = self.turn.question.message;
        let rounds = self.journal().rounds(message)?;
        let most = self.settings().max_rounds as usize;
        let spent = rounds.len() >= most;
        let known = self.journal().tools(message)?;
        let mut messages = Vec::new();
        let mut number = 0;
        let last = rounds.len().saturating_sub(1);
        for (index, round) in rounds.into_iter().enumerate() {
            let mut results = Vec::new();
            for (nth, call) in round.tool_calls.iter().enumerate() {
                let started = known.iter().find(|row| row.number == number);
                let end = match started {
                    None if index >= most => ToolEnd::failed(fixed_texts::NO_MORE_ROUNDS),
                    None if nth >= MOST_CALLS => ToolEnd::failed(fixed_texts::too_many_calls(MOST_CALLS)),
                    Some(ToolRow { result: Some(end), .. }) => {
                        // The crash may have come before the note.
                        note_tool(self, number, call, end);
                        end.clone()
                    }
                    started => self.run_tool(number, call, brain, started.is_some()).await?,
                };
                let mut text = end.text;
                if spent && index == last {
                    text = format!("{text}\n\n{}", fixed_texts::NO_MORE_ROUNDS);
                }
                results.push(ToolResult { call_id: call.id.clone(), text, is_error: end.is_error });
                number += 1;
            }
            messages.push(Message::Assistant {
                text: round.text,
                tool_calls: round.tool_calls,
                raw: round.raw,
            });
            messages.push(Message::ToolResults { results });
        }
        Ok(messages)
    }

    /// The result of a call, which is run now if it wasn't `started` by a process that was killed.
    async fn run_tool(
        &self,
        number: u32,
        call: &ToolCall,
        brain: &str,
        started: bool,
    ) -> Result<ToolEnd, Halt> {
        // A call of a reply that came with the stop doesn't begin.
        if self.stop.is_cancelled() {
            return Err(Halt::Stopped);
        }
        let message = self.turn.question.message;
        let end = if started {
            ToolEnd::failed(fixed_texts::OUTCOME_UNKNOWN)
        } else {
            let turn = self.turn.name();
            let tainted = self.has_read_untrusted(number)?;
            let caller = Caller { turn, number, brain: brain.to_owned(), tainted };
            let end = match self.approve(call, &caller).await? {
                Ok(()) => {
                    self.show_progress("using", call);
                    fail::fail_point!("turn::before-tool-started");
                    let is_first = self.journal().tool_started(message, number, call, self.now())?;
                    fail::fail_point!("turn::after-tool-started");
                    if is_first {
                        let began = Instant::now();
                        let end = self.parts.tools.call(call, &caller, self.stop).await;
                        // As the log has it.
                        let text = self.mask().apply(&end.text).into_owned();
                        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                        ToolEnd { text, ms, ..end }
                    } else {
                        ToolEnd::failed(fixed_texts::OUTCOME_UNKNOWN)
                    }
                }
                Err(why) => {
                    self.journal().tool_started(message, number, call, self.now())?;
                    ToolEnd::failed(why)
                }
            };
            fail::fail_point!("turn::before-tool-finished");
            end
        };
        self.journal().tool_finished(message, number, &end, self.now())?;
        fail::fail_point!("turn::after-tool-finished");
        note_tool(self, number, call, &end);
        Ok(end)
    }

    /// Whether a call may run now; asks a person where the toolbox wants that. The inner error is for the brain.
    async fn approve(&self, call: &ToolCall, caller: &Caller) -> Result<Result<(), String>, Halt> {
        let subject = match self.parts.tools.precondition(call, caller) {
            Precondition::Free => return Ok(Ok(())),
            Precondition::Refused(why) => return Ok(Err(why)),
            Precondition::Ask(subject) => subject,
        };
        self.show_progress("waiting for approval of", call);
        let (message, number) = (self.turn.question.message, caller.number);
        let before = self.journal().suspended_at(message, number)?;
        let left = {
            let _paused = self.time_limit.pause();
            let (subject, place, stop) = (&subject, self.conversation, self.stop);
            let asked = ApprovalRequest { subject, caller, place, stop };
            self.parts.approvals.ask_or_suspend(asked, before.clone()).await
        };
        if self.stop.is_cancelled() {
            return Err(Halt::Stopped);
        }
        Ok(match left {
            Ok(Err(line)) => {
                if before.as_ref() != Some(&line) {
                    self.journal().record_suspended(message, number, &line, self.now())?;
                }
                return Err(Halt::Later(format!("it waits for the approval `{}`", line.id)));
            }
            Ok(Ok(ApprovalVerdict::Yes)) => Ok(()),
            Ok(Ok(ApprovalVerdict::No)) => Err(fixed_texts::DECLINED.to_owned()),
            Ok(Ok(ApprovalVerdict::Expired)) => Err(fixed_texts::EXPIRED.to_owned()),
            Ok(Ok(ApprovalVerdict::NoApprover)) => Err(fixed_texts::NO_PERSON_TO_ASK.to_owned()),
            Ok(Ok(ApprovalVerdict::Waits)) => Err(fixed_texts::WAITS.to_owned()),
            Err(problem) => {
                Err(format!("This needs a person's approval, and that can't be asked: {problem}"))
            }
        })
    }

    /// Whether the turn has read untrusted text before its call of this number: in a file attached to
    /// its question or a message forwarded with it, in its log's earlier turns, from memory, working memory, or a tool.
    pub(super) fn has_read_untrusted(&self, number: u32) -> Result<bool, Halt> {
        if self.parts.routine.as_ref().is_some_and(|routine| routine.tainted)
            || self.questions.iter().any(|asked| !asked.files.is_empty() || asked.text.contains(FORWARDED))
        {
            return Ok(true);
        }
        let author = &self.turn.question.author;
        let agents = self.blocks.iter().filter(|block| block.event.kind == EventKind::Agent);
        let agents = agents.map(|block| &block.event.author);
        let trusted = [author].into_iter().chain(agents).map(String::as_str).collect();
        let paths = &self.parts.workspace.settings.paths;
        let mut untrusted = UntrustedText::new(&*self.parts.tools, paths, trusted);
        let is_asked =
            |event: &LogEvent| self.questions.iter().any(|question| event.id.as_ref() == Some(&question.id));
        // Events between joined questions are in the request, too.
        let last = self.blocks.iter().rposition(|block| is_asked(&block.event));
        let before = self.blocks[..last.unwrap_or(self.blocks.len())].iter().map(|block| &block.event);
        let rows = self.journal().tools(self.turn.question.message)?;
        Ok(before.filter(|event| !is_asked(event)).any(|event| untrusted.is_in_event(event))
            || untrusted.is_in_memories(&self.recalled.injection)
            || self.has_untrusted_memory.load(Ordering::Relaxed)
            || self.joined.iter().any(|turn| turn.question.author != *author)
            || rows.iter().filter(|row| row.number < number).any(|row| {
                let result = row.result.as_ref().map_or("", |end| &end.text);
                untrusted.is_in_result(&row.call.name, result)
            }))
    }
}

impl AnswerEngine {
    /// The sentence that ends a turn whose tokens or rounds are used up.
    pub(super) fn used_up(&self, message: u64) -> Result<Option<String>, Halt> {
        let used = self.journal().tokens(message)?;
        let most = self.turn_tokens();
        if used >= most {
            return Ok(Some(fixed_texts::tokens_used_up(most)));
        }
        let rounds = self.journal().rounds(message)?.len();
        let most = self.settings().max_rounds;
        Ok((rounds > most as usize).then(|| fixed_texts::rounds_used_up(most)))
    }

    /// The same, with the completed calls.
    pub(super) fn over_budget(&self, message: u64) -> Result<Option<String>, Halt> {
        Ok(self.used_up(message)?.map(|why| self.stop_text(message, why)))
    }

    /// Limits the answer to a request of a routine to the rest of its budget; the sentence that ends the run where the
    /// estimated request leaves too little for an answer.
    pub(super) fn keep_to_budget(&self, message: u64, request: &mut Request) -> Result<Option<String>, Halt> {
        if self.parts.routine.as_ref().is_none_or(|routine| routine.budget.is_none()) {
            return Ok(None);
        }
        let most = self.turn_tokens();
        let used = self.journal().tokens(message)?;
        let left = most.saturating_sub(used).saturating_sub(assemble::tokens(request));
        if left < FEWEST_TOKENS {
            return Ok(Some(self.stop_text(message, fixed_texts::budget_too_small(most, used))));
        }
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        request.max_output_tokens = Some(request.max_output_tokens.map_or(left, |own| own.min(left)));
        Ok(None)
    }

    /// The sentence that ends a turn at a limit, with its completed calls.
    pub(super) fn stop_text(&self, message: u64, sentence: String) -> String {
        match self.completed_changes(message) {
            Some(done) => format!("{sentence}\n\n{done}"),
            None => sentence,
        }
    }
}

/// Logs a tool's call and result; the log takes each once.
pub(super) fn note_tool(run: &TurnRun<'_>, number: u32, call: &ToolCall, end: &ToolEnd) {
    let text = history::tool_block(call, &end.text, end.is_error);
    run.conversation.note(TurnNote::Tool { number, name: call.name.clone(), text });
}
