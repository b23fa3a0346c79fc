//! Learns from turns by a brain: one request for candidates, and a second one about known facts that are near.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::find::brain;
use super::inbox::Inbox;
use super::learner::Learner;
use super::new_turns::PersonTurn;
use crate::agent::background_calls::{BackgroundCaller, CallPurpose};
use crate::agent::{CallPermits, ChainAnswer};
use crate::brain::Request;
use crate::capture::ExtractedFact;
use crate::workspace::Workspace;

const PURPOSE: CallPurpose = CallPurpose { name: "capture", title: "What learning from conversations took" };
/// The longest that one question may take.
const TIME: Duration = Duration::from_secs(60);

/// Learns with the brain of `[capture]`.
pub struct BrainLearner {
    workspace: Arc<Workspace>,
    caller: BackgroundCaller,
}

impl BrainLearner {
    /// Opens the journal; asks no brain.
    ///
    /// # Errors
    /// A sentence that says what can't be used.
    pub fn new(workspace: Arc<Workspace>, permits: Arc<CallPermits>) -> Result<Self, String> {
        let caller = BackgroundCaller::new(Arc::clone(&workspace), permits, PURPOSE)?;
        Ok(Self { workspace, caller })
    }

    /// Asks the person about the brain's findings in these turns; returns how many questions are new, `None` if the
    /// brain can't be asked now. An unreadable answer is requested once more, and then counts as no finding.
    ///
    /// # Errors
    /// A sentence on the note that can't be read or written.
    pub async fn learn(&self, turns: Vec<PersonTurn>) -> Result<Option<usize>, String> {
        let Some(brain) = self.workspace.settings.capture_brain() else { return Ok(None) };
        let Some(names) = self.caller.names(Some(brain)) else { return Ok(None) };
        let mut asked = 0;
        for batch in brain::batches(turns) {
            let mut learner = self.learner()?;
            let new: Vec<PersonTurn> = batch.into_iter().filter(|turn| !learner.is_known(turn)).collect();
            if new.is_empty() {
                continue;
            }
            let Some((by, mut found)) = self.found(&names, &new).await else { return Ok(None) };
            self.judge(&names, &learner, &new, &mut found).await;
            let now = self.workspace.clock.now();
            let mut proposals = Vec::new();
            for (turn, found) in new.iter().zip(found) {
                proposals.extend(learner.learn(turn, found, &by, now));
            }
            let questions = learner.choose(proposals, &self.workspace.settings, now, &self.workspace.zone);
            let inbox = Inbox::new(self.workspace.memory());
            let ids = tokio::task::block_in_place(|| inbox.ask(&questions.lines, &questions.again));
            asked += ids.map_err(|error| error.to_string())?.len();
        }
        Ok(Some(asked))
    }

    fn learner(&self) -> Result<Learner, String> {
        tokio::task::block_in_place(|| Learner::new(self.workspace.memory()))
            .map_err(|error| error.to_string())
    }

    async fn ask(&self, names: &[String], request: &Request) -> Option<ChainAnswer> {
        let reply = self.caller.ask(names, request, TIME, &CancellationToken::new()).await?;
        (!reply.text.is_empty()).then_some(reply)
    }

    async fn found(
        &self,
        names: &[String],
        turns: &[PersonTurn],
    ) -> Option<(String, Vec<Vec<ExtractedFact>>)> {
        let request = brain::extract_request(turns);
        let mut by = None;
        for _ in 0..2 {
            let reply = self.ask(names, &request).await?;
            if let Some(found) = brain::parse_extracted(&reply.text, turns) {
                return Some((reply.brain, found));
            }
            by = Some(reply.brain);
        }
        by.map(|name| (name, vec![Vec::new(); turns.len()]))
    }

    /// Asks for the effect on similar known facts, if there are any; without an answer the words decide.
    async fn judge(
        &self,
        names: &[String],
        learner: &Learner,
        turns: &[PersonTurn],
        found: &mut [Vec<ExtractedFact>],
    ) {
        let mut places = Vec::new();
        let mut shown = Vec::new();
        for (at, (turn, found)) in turns.iter().zip(found.iter()).enumerate() {
            for (candidate, one) in found.iter().enumerate() {
                let near = learner.near_facts(one.about.as_deref().unwrap_or(&turn.author), &one.text);
                if !near.is_empty() {
                    places.push((at, candidate));
                    shown.push((one, near));
                }
            }
        }
        if shown.is_empty() {
            return;
        }
        let asked = brain::dedup_request(&shown);
        let near: Vec<Vec<&str>> = shown.into_iter().map(|(_, near)| near).collect();
        let Some(reply) = self.ask(names, &asked).await else { return };
        for ((at, candidate), verdict) in places.into_iter().zip(brain::parse_verdicts(&reply.text, &near)) {
            found[at][candidate].verdict = verdict;
        }
    }
}
