//! Asks brains for work outside of answers: the wording of a reminder, a summary, candidates for memories.
//!
//! The brains within the day's budgets are asked in order, except those in cooldown, until one replies or the time is
//! up. The cost is recorded in the turn journal, for the budgets, and in a log of its own, for `usage`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use crate::agent::answer::{fixed_texts, may_spend, queue_notices, row};
use crate::agent::brain_chain::{Brains, CallPermits, ChainAnswer, FailoverWalk};
use crate::agent::budget;
use crate::brain::Request;
use crate::brain::wire::BrainTimeouts;
use crate::config::MEMORY;
use crate::format::log::{self, EventKind, LogEvent, LogHeader, LogPath};
use crate::turn::journal::CallRow;
use crate::turn::{Facts, QuestionProperties, TurnJournal, route};
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// The purpose of background calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPurpose {
    /// The folder below the logs, the context that `usage --by channel` shows, and the purpose in the journal.
    pub name: &'static str,
    /// The title of its log.
    pub title: &'static str,
}

/// Makes background calls, with the settings that it was made with.
pub struct BackgroundCaller {
    workspace: Arc<Workspace>,
    turns: TurnJournal,
    brains: Brains,
    purpose: CallPurpose,
}

impl BackgroundCaller {
    /// Opens the journal. Makes no call.
    ///
    /// # Errors
    /// A sentence on what can't be used.
    pub fn new(
        workspace: Arc<Workspace>,
        permits: Arc<CallPermits>,
        purpose: CallPurpose,
    ) -> Result<Self, String> {
        let turns = TurnJournal::open(&workspace.dirs.state).map_err(|error| error.to_string())?;
        let brains =
            Brains::of(&workspace, BrainTimeouts::default(), permits).map_err(|error| error.to_string())?;
        Ok(Self { workspace, turns, brains, purpose })
    }

    /// The brains within today's budgets: this one alone, else those that would answer a question.
    ///
    /// # Errors
    /// The settings name a brain that isn't there.
    pub fn names(&self, only: Option<&str>) -> Result<Vec<String>, String> {
        let names = match only {
            Some(name) => vec![name.to_owned()],
            None => {
                let routed = route(&self.workspace.settings, &QuestionProperties::default(), None);
                routed.map_err(|error| error.to_string())?.chain
            }
        };
        let budgets = budget::today(&self.workspace, &self.turns);
        Ok(names.into_iter().filter(|name| may_spend(&budgets, name)).collect())
    }

    /// As [`Self::names`], where one of them can be asked now; else it is logged why not.
    pub fn names_to_ask(&self, only: Option<&str>) -> Option<Vec<String>> {
        let names = self.names(only).inspect_err(|why| {
            tracing::warn!(purpose = self.purpose.name, "no brain is asked: {why}");
        });
        names.ok().filter(|names| self.can_ask(names))
    }

    /// Whether any of these could be asked now, without a cooldown.
    pub fn can_ask(&self, names: &[String]) -> bool {
        let first = self.brains.next_attempt(&self.brains.chain(names), &FailoverWalk::default());
        first.is_some_and(|first| !first.last_resort)
    }

    /// Asks one brain after another until one replies or the time is up, and records the cost.
    pub async fn ask(
        &self,
        names: &[String],
        request: &Request,
        most: Duration,
        stop: &CancellationToken,
    ) -> Option<ChainAnswer> {
        let chain = self.brains.chain(names);
        let began = Instant::now();
        let (mut walk, mut calls, mut said) = (FailoverWalk::default(), Vec::new(), None);
        while let Some(attempt) =
            self.brains.next_attempt(&chain, &walk).filter(|attempt| !attempt.last_resort)
        {
            let Some(left) = most.checked_sub(began.elapsed()).filter(|_| !stop.is_cancelled()) else {
                break;
            };
            let member = chain[attempt.index];
            let asking = self.brains.ask(member, &attempt, request, None, stop, Some(left));
            let (answered, ms, used) = asking.await;
            let brain = member.prepared.name().to_owned();
            calls.push(row(&member.prepared.settings, &answered, ms, used));
            match answered {
                Ok(reply) => {
                    let model = reply.model.clone();
                    said = Some(ChainAnswer {
                        text: fixed_texts::text_of(&reply).unwrap_or_default(),
                        brain,
                        model,
                    });
                    break;
                }
                Err(error) => {
                    tracing::info!(brain, purpose = self.purpose.name, "a brain said nothing: {error}");
                    walk.record(attempt, &brain, error);
                }
            }
        }
        self.count(&calls);
        queue_notices(&self.workspace, &budget::today(&self.workspace, &self.turns));
        said
    }

    /// Records the cost: in the journal, for the day's budget, and in a log, for `usage`.
    fn count(&self, calls: &[CallRow]) {
        let now = self.workspace.clock.now();
        for call in calls {
            if let Err(error) = self.turns.record_background_call(0, self.purpose.name, call, now) {
                tracing::warn!("{error}");
            }
        }
        if let Err(error) = self.log(&self.facts(calls), now) {
            tracing::warn!(purpose = self.purpose.name, "what it took can't be logged: {error}");
        }
    }

    fn facts(&self, calls: &[CallRow]) -> Facts {
        let answered = calls.iter().find(|call| call.class.is_none());
        Facts {
            brain: answered.map_or(MEMORY, |call| &call.brain).to_owned(),
            model: answered.map(|call| call.model.clone()).unwrap_or_default(),
            ms: calls.iter().map(|call| call.ms).sum(),
            ..self.brains.call_facts(calls, &[])
        }
    }

    /// Appends the facts to the month's log; it holds no texts.
    fn log(&self, facts: &Facts, now: Timestamp) -> Result<(), String> {
        let CallPurpose { name, title } = self.purpose;
        let month = now.to_zoned(TimeZone::UTC).date().first_of_month();
        let started = month.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?.timestamp();
        let place = LogPath { surface: name.into(), context_id: name.into(), started, seq: 1 };
        let header = LogHeader {
            surface: name.into(),
            context_id: name.into(),
            started: Some(started),
            title: Some(title.into()),
        };
        let id = Some(ulid::Ulid::generate().to_string());
        let event =
            LogEvent { kind: EventKind::Agent, at: now, author: String::new(), content: facts.render(), id };
        let path = NotePath::new(&place.in_folder(&self.workspace.settings.paths.logs));
        let path = path.map_err(|error| error.to_string())?;
        let (header, event) = (log::render_header(&header), log::render_event(&event));
        let appended = self.workspace.editor.append(&path, header.as_bytes(), event.as_bytes());
        appended.map(drop).map_err(|error| error.to_string())
    }
}
