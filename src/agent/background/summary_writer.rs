//! Writes the due summaries of logs, by a brain where one may be asked, else by extraction. No answer waits for it.
//!
//! A brain has sixty seconds a call and two tries, the second with a firmer prompt; an answer that is empty or more
//! than three times as long as the target is refused. After that, without a brain, and for conversations that ended
//! long ago, the summary is an extract, which can't fail. A summary covers the log as it was read; later changes are
//! found by the next run.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::background_calls::{BackgroundCaller, CallPurpose};
use crate::agent::brain_chain::CallPermits;
use crate::brain::{Message, Request};
use crate::summary::plan::{self, PRESSURE};
use crate::summary::summary_request::{self, Firmness};
use crate::summary::{DueScope, DueSummary, LogName, Summaries, SummaryError, SummaryText, Window};
use crate::workspace::Workspace;

const PURPOSE: CallPurpose = CallPurpose { name: "summaries", title: "What summaries took" };
/// The time limit of one call.
const TIME: Duration = Duration::from_secs(60);
/// No brain is asked about older conversations: else an imported archive would cost a call for each log.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Writes summaries, with the settings that it was made with.
pub struct SummaryWriter {
    workspace: Arc<Workspace>,
    /// None if no brain is set up.
    caller: Option<BackgroundCaller>,
}

/// The result of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SummaryReport {
    /// The ids of the summaries that were written.
    pub written: Vec<String>,
    /// The tokens of the log that no summary covers.
    pub uncovered: u64,
    /// Whether the log has summaries.
    pub has_summaries: bool,
}

impl SummaryWriter {
    /// Makes no call yet.
    ///
    /// # Errors
    /// A sentence on what can't be used.
    pub fn new(workspace: Arc<Workspace>, permits: Arc<CallPermits>) -> Result<Self, String> {
        let caller = match workspace.settings.brains.is_empty() {
            true => None,
            false => Some(BackgroundCaller::new(Arc::clone(&workspace), permits, PURPOSE)?),
        };
        Ok(Self { workspace, caller })
    }

    /// A writer that makes extracts only.
    pub fn without_brains(workspace: Arc<Workspace>) -> Self {
        Self { workspace, caller: None }
    }

    /// The vault.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// The tokens of a log from which on a request is too large: three quarters of the smallest context of the chain.
    pub fn pressure(&self) -> Option<u64> {
        let settings = &self.workspace.settings;
        let chain = &settings.assistant.chain;
        let answers = |name: &String| chain.as_ref().is_none_or(|chain| chain.contains(name));
        let brains = settings.brains.iter().filter(|brain| answers(&brain.name));
        brains.map(|brain| brain.context_tokens / 100 * PRESSURE).min()
    }

    /// Writes what is due for a log, until nothing is or it is stopped.
    ///
    /// # Errors
    /// A sentence on what can't be read or written.
    pub async fn work(
        &self,
        name: &LogName,
        look: DueScope,
        stop: &CancellationToken,
    ) -> Result<SummaryReport, String> {
        let mut done = SummaryReport::default();
        loop {
            let now = self.workspace.clock.now();
            let read = Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now);
            let (due, is_recent) =
                self.due(name, look, read, &mut done).map_err(|error| error.to_string())?;
            if due.is_empty() {
                return Ok(done);
            }
            for one in due {
                let text = self.text(&one, is_recent, stop).await;
                if stop.is_cancelled() {
                    return Ok(done);
                }
                let written = Summaries::of(&self.workspace).write(name, &one, &text, read);
                let note = written.map_err(|error| error.to_string())?;
                tracing::info!(log = %name, path = note.path, brain = text.brain, "summarised");
                done.written.push(note.summary.id);
            }
        }
    }

    /// The due summaries, and whether the log is recent.
    fn due(
        &self,
        name: &LogName,
        look: DueScope,
        now: Timestamp,
        done: &mut SummaryReport,
    ) -> Result<(Vec<DueSummary>, bool), SummaryError> {
        let window = Summaries::of(&self.workspace).window(name)?;
        let newest = window.blocks().last().map(|block| block.event.at);
        let is_recent = newest.is_some_and(|newest| now.duration_since(newest) <= RECENT);
        let zone = self.workspace.zone.tz();
        let mut due = window.due(look, zone);
        let is_pressed = |window: &Window| self.pressure().is_some_and(|most| window.request_tokens() > most);
        if due.is_empty() && is_recent && is_pressed(&window) {
            due = window.due(DueScope::Pressed, zone);
        }
        done.uncovered = window.uncovered();
        done.has_summaries = window.notes().next().is_some();
        Ok((due, is_recent))
    }

    /// The text of a summary.
    async fn text(&self, due: &DueSummary, is_recent: bool, stop: &CancellationToken) -> SummaryText {
        let Some(caller) = self.caller.as_ref().filter(|_| is_recent) else {
            return SummaryText::extract(due);
        };
        for firmness in [Firmness::Plain, Firmness::Firm] {
            let names = caller.names_to_ask(self.workspace.settings.summary.brain.as_deref());
            let Some(names) = names else { break };
            let wanted = summary_request::request(&due.texts, due.depth, plan::target(due.depth), firmness);
            let request = Request {
                system: wanted.system.clone(),
                messages: vec![Message::user(wanted.text.clone())],
                max_output_tokens: u32::try_from(wanted.most_tokens).ok(),
                ..Request::default()
            };
            let Some(said) = caller.ask(&names, &request, TIME, stop).await else { break };
            if let Some(text) = summary_request::accept(&said.text, &wanted) {
                let by = format!("{}/{}", said.brain, said.model);
                return SummaryText { text, brain: said.brain, by };
            }
            tracing::info!(brain = said.brain, "its summary was empty or far too long");
        }
        SummaryText::extract(due)
    }
}
