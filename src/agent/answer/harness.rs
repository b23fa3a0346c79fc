//! Runs a harness (a program with an agent loop of its own) for a turn, and records its calls in the turn journal.
//!
//! A harness calls its tools itself. [`HarnessWatcher`] is told of each call before the call's result is known, and
//! records call and result as a round. When the harness asks whether a call may run, the watcher decides, or asks a
//! person. At a limit the watcher stops the run. The watcher runs no call itself, so none runs twice because of it.
//! After a crash or a failure the next brain gets the recorded rounds with its request, whatever kind of brain it is.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use super::ask_chain::call_row;
use super::engine::{AnswerEngine, AskedBrain, TurnRun};
use super::fixed_texts;
use super::rounds::note_tool;
use crate::agent::brain_chain::BrainCall;
use crate::agent::skills::HiddenSecrets;
use crate::agent::tools::{ApprovalRequest, ApprovalSubject, ApprovalVerdict, Caller, Precondition};
use crate::brain::scrub::is_placeholder;
use crate::brain::{FailureClass, HarnessHost, HarnessTask, Message, Request, ToolCall, ToolResult, Usage};
use crate::config::{McpServer, mcp_hosts};
use crate::turn::fit_results::fit_results;
use crate::turn::session_match::SessionHashes;
use crate::turn::turn_journal::{HarnessSession, ToolEnd};
use crate::turn::{Halt, assemble, history};

impl TurnRun<'_> {
    /// Asks a harness, which makes its rounds of tools itself.
    /// `fits` are the tokens that its context holds.
    pub(super) async fn run_harness(&self, call: BrainCall<'_>, base: Request, fits: u64) -> AskedBrain {
        let (message, member) = (self.turn.question.message, call.member);
        let brain = &member.prepared.settings;
        let mut rounds = self.rounds(&brain.name).await?;
        fit_results(&mut rounds, fits.saturating_sub(assemble::tokens(&base)));
        if let Some(end) = self.over_budget(message)? {
            return Ok(Ok((end, brain.model.clone())));
        }
        let place = self.turn.question.log();
        let settings = &member.prepared.id.settings;
        let session = match place {
            Some(place) => self.journal().take_session(&brain.name, place)?,
            None => None,
        };
        // No session knows the rounds of this turn.
        let known = session.as_ref().filter(|_| rounds.is_empty());
        let fresh = known.and_then(|session| session.hashes.fresh(settings, &base));
        let mut request = base;
        let sent = request.clone();
        request.messages.extend(rounds);
        self.journal().record_call_start(message, &brain.name, self.now())?;
        self.conversation.progress(&format!("asking {}", brain.name));
        let turn = self.turn.name();
        let servers = self.servers_for(&brain.name);
        let task = HarnessTask {
            request: &request,
            fresh: fresh.unwrap_or(request.messages.len()),
            session: fresh.and(session.as_ref()).map(|session| session.id.as_str()),
            turn: Some(&turn),
            keep: place.is_some(),
            servers: &servers,
        };
        let of = |server| crate::agent::servers::secrets(server, &self.parts.workspace);
        let keys = member.prepared.keys.iter().filter(|key| !is_placeholder(key.expose_secret()));
        let secrets: Vec<_> = servers.iter().flat_map(of).chain(keys.cloned()).collect();
        let watcher = HarnessWatcher::new(self, &brain.name, HiddenSecrets::new(secrets.iter()))?;
        let began = Instant::now();
        let answered = self.brains.run(call, &task, &watcher, &watcher.end).await;
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let seen = watcher.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(halt) = seen.halt {
            return Err(halt);
        }
        let used = answered.as_ref().map_or(seen.used, |reply| reply.usage);
        let answered = answered.and_then(|reply| reply.usable().map(|()| reply));
        let mut row = call_row(brain, &answered, ms, used);
        // Before the answer is fixed: a session without its answer would not be resumed anyway.
        let resumed = session.filter(|before| Some(&before.id) == seen.session.as_ref());
        if let Some(usd) = seen.usd {
            let spent = (usd - resumed.and_then(|before| before.usd).unwrap_or_default()).max(0.0);
            self.log_failure(self.journal().cost(message, &brain.name, spent, self.now()));
        }
        if let Some(over) = seen.over {
            (row.class, row.error) = (None, None);
            self.journal().called(message, &row, None, self.now())?;
            return Ok(Ok((self.stop_text(message, over), brain.model.clone())));
        }
        self.record_failed_call(&row, answered.as_ref().is_err_and(|error| error.cancelled))?;
        let reply = match answered {
            Ok(reply) => reply,
            Err(error) => return Ok(Err(error)),
        };
        let text = fixed_texts::text_of(&reply).unwrap_or_default();
        if let (Some(place), Some(id)) = (place, seen.session) {
            let known = SessionHashes::of(settings, &sent, &self.question_texts(), &text);
            let session = HarnessSession { id, hashes: known, usd: seen.usd };
            self.log_failure(self.journal().keep_session(&brain.name, place, &session));
        }
        Ok(Ok((text, reply.model)))
    }
}

impl AnswerEngine {
    /// The MCP servers for a harness: those of the turn's toolbox, without those that it can't be given.
    fn servers_for(&self, brain: &str) -> Vec<McpServer> {
        let mut servers =
            if self.settings().tools.is_empty() { Vec::new() } else { self.parts.tools.servers() };
        servers.retain(|server| {
            let unset = mcp_hosts::variables(server).find(|name| std::env::var_os(name).is_none());
            let why = match (unset, &server.key_file) {
                (Some(name), _) => format!("the environment variable `{name}` is not set"),
                (None, Some(_)) => "its key lies in a file; name a variable by `key_env`".to_owned(),
                (None, None) => return true,
            };
            tracing::warn!(server = server.name, brain, "a brain goes without an MCP server: {why}");
            false
        });
        servers
    }

    /// The rounds as messages for a wire: a call of a tool that it isn't offered (a harness's own) becomes text, since
    /// some providers refuse calls of tools that the request doesn't list.
    pub(super) fn for_wire(&self, request: &Request, rounds: Vec<Message>) -> Vec<Message> {
        let offered = |call: &ToolCall| request.tools.iter().any(|spec| spec.name == call.name);
        let mut sent = Vec::new();
        let mut foreign: Option<String> = None;
        for message in rounds {
            match (&message, foreign.take()) {
                (Message::Assistant { tool_calls, raw: None, .. }, _)
                    if !tool_calls.is_empty() && !tool_calls.iter().any(offered) =>
                {
                    let calls = tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments));
                    foreign = Some(calls.collect::<Vec<_>>().join("\n"));
                }
                (Message::ToolResults { results }, Some(calls)) => {
                    let results: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
                    let text =
                        format!("{}\n{calls}\n\n{}", fixed_texts::DONE_BY_ANOTHER, results.join("\n\n"));
                    sent.push(Message::user(text));
                }
                _ => sent.push(message),
            }
        }
        sent
    }
}

/// Receives the events of a running harness.
struct HarnessWatcher<'a> {
    run: &'a TurnRun<'a>,
    brain: &'a str,
    /// Ends the run: at the turn's end, and if a bound is passed.
    end: CancellationToken,
    /// The tokens that the turn had used before.
    before: u64,
    /// The names of our own tools.
    ours: Vec<String>,
    /// The brain's keys and the secrets of MCP servers, removed from output before it is recorded.
    hidden: HiddenSecrets,
    seen: Mutex<HarnessRecord>,
}

#[derive(Default)]
struct HarnessRecord {
    session: Option<String>,
    used: Usage,
    usd: Option<f64>,
    calls: u32,
    began: HashMap<String, Instant>,
    over: Option<String>,
    halt: Option<Halt>,
}

impl<'a> HarnessWatcher<'a> {
    fn new(run: &'a TurnRun<'a>, brain: &'a str, hidden: HiddenSecrets) -> Result<Self, Halt> {
        let message = run.turn.question.message;
        let before = run.journal().tokens(message)?;
        let rounds = run.journal().rounds(message)?.len();
        let seen =
            HarnessRecord { calls: u32::try_from(rounds).unwrap_or(u32::MAX), ..HarnessRecord::default() };
        Ok(Self {
            run,
            brain,
            end: run.stop.child_token(),
            before,
            ours: run.parts.tools.specs().into_iter().map(|spec| spec.name).collect(),
            hidden,
            seen: Mutex::new(seen),
        })
    }

    fn seen(&self) -> MutexGuard<'_, HarnessRecord> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn over(&self, sentence: String) {
        self.seen().over.get_or_insert(sentence);
        self.end.cancel();
    }

    /// Stops the run where its tokens are used up.
    fn check_tokens(&self) {
        let (used, most) = (self.seen().used, self.run.turn_tokens());
        if self.before + used.input + used.output >= most {
            self.over(fixed_texts::tokens_used_up(most));
        }
    }

    /// Stops the run where a step can't be recorded.
    fn check<T>(&self, kept: Result<T, impl Into<Halt>>) -> Option<T> {
        kept.map_err(|error| {
            self.seen().halt.get_or_insert(error.into());
            self.end.cancel();
        })
        .ok()
    }
}

#[async_trait]
impl HarnessHost for HarnessWatcher<'_> {
    async fn tool_started(&self, call: &ToolCall) {
        self.check_tokens();
        if self.end.is_cancelled() {
            return;
        }
        let call = &ToolCall { arguments: self.hidden.hide(&call.arguments), ..call.clone() };
        let most = self.run.settings().max_rounds;
        if self.seen().calls >= most {
            return self.over(fixed_texts::rounds_used_up(most));
        }
        self.run.show_progress("using", call);
        let (message, now) = (self.run.turn.question.message, self.run.now());
        fail::fail_point!("turn::before-tool-started");
        if self.check(self.run.journal().harness_called(message, call, now)).is_some() {
            let mut seen = self.seen();
            seen.calls += 1;
            seen.began.insert(call.id.clone(), Instant::now());
        }
        fail::fail_point!("turn::after-tool-started");
    }

    async fn tool_finished(&self, result: &ToolResult) {
        let began = self.seen().began.remove(&result.call_id);
        let ms = began.map_or(0, |began| u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
        let text = self.run.mask().apply(&self.hidden.hide(&result.text)).into_owned();
        let result = &ToolResult { text, ..result.clone() };
        let text = history::shorten(&result.text, history::MOST_RESULT);
        let end = ToolEnd { text, is_error: result.is_error, ms };
        let (message, now) = (self.run.turn.question.message, self.run.now());
        fail::fail_point!("turn::before-tool-finished");
        let kept = self.run.journal().harness_finished(message, result, &end, now);
        fail::fail_point!("turn::after-tool-finished");
        if let Some(Some((number, call))) = self.check(kept) {
            note_tool(self.run, number, &call, &end);
        }
    }

    fn used(&self, usage: &Usage) {
        self.seen().used = *usage;
        // Without an open call this may be its whole answer, which is paid for.
        if !self.seen().began.is_empty() {
            self.check_tokens();
        }
    }

    fn cost(&self, usd: f64) {
        self.seen().usd = Some(usd).filter(|usd| usd.is_finite() && *usd >= 0.0);
    }

    async fn may(&self, call: &ToolCall) -> bool {
        if self.end.is_cancelled() {
            return false;
        }
        let message = self.run.turn.question.message;
        let Some(open) = self.check(self.run.journal().open_call(message, &call.id)) else { return false };
        // A call that it asks about before it announces it comes after all announced calls.
        let number = match open {
            Some((number, _)) => number,
            None => match self.check(self.run.journal().tools(message)) {
                Some(rows) => u32::try_from(rows.len()).unwrap_or(u32::MAX),
                None => return false,
            },
        };
        let Some(tainted) = self.check(self.run.has_read_untrusted(number)) else { return false };
        let caller = Caller { turn: self.run.turn.name(), number, brain: self.brain.to_owned(), tainted };
        let subject = if self.ours.contains(&call.name) {
            match self.run.parts.tools.precondition(call, &caller) {
                Precondition::Free => return true,
                Precondition::Refused(_) => return false,
                Precondition::Ask(subject) => subject,
            }
        } else {
            let why = format!("a tool of {} itself, outside the box", self.brain);
            let run = format!("{} {}", call.name, call.arguments);
            ApprovalSubject { run, why, ..ApprovalSubject::default() }
        };
        self.run.show_progress("waiting for approval of", call);
        let _paused = self.run.time_limit.pause();
        let (subject, caller, place, stop) = (&subject, &caller, self.run.conversation, &self.end);
        match self.run.parts.approvals.ask(ApprovalRequest { subject, caller, place, stop }).await {
            Ok(verdict) => verdict == ApprovalVerdict::Yes,
            Err(problem) => {
                tracing::warn!(brain = self.brain, "an approval can't be asked for: {problem}");
                false
            }
        }
    }

    async fn session(&self, id: &str) {
        self.seen().session = Some(id.to_owned());
    }

    fn retries(&self, class: FailureClass, words: &str) -> bool {
        tracing::info!(brain = self.brain, class = class.name(), "a harness tries again: {words}");
        matches!(class, FailureClass::Timeout | FailureClass::Overloaded | FailureClass::Crash)
    }
}
