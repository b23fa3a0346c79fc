//! Runs capture in the daemon: turns statements in logs into questions of the inbox, and saves the candidates that a
//! person ticked.
//!
//! The part wakes when a log or the inbox changed, waits until no change has come for a moment, and reads the new
//! messages. A log's progress is recorded after its questions are in the note. After a crash between these two steps,
//! the messages are read again, but no question is asked twice. If the brain (a language model) that should read the
//! messages can't be asked, they are read again at the next change or after 15 minutes, whichever comes first.

use std::collections::BTreeSet;

use anyhow::anyhow;
use tokio::time::Instant;

use super::prelude::*;
use crate::capture::new_turns::{self, PersonTurn, ReadPositions};
use crate::capture::{Inbox, InboxOutcome, QuestionBuilder, rules};
use crate::format::candidate::CandidateState;
use crate::format::log::Resume;

/// The quiet time of a log or the inbox before it is read.
const QUIET: Duration = Duration::from_secs(2);
/// A brain that couldn't be asked is tried again after so long.
const BRAIN_RETRY: Duration = Duration::from_secs(15 * 60);

/// The pending work.
#[derive(Debug, Default)]
struct PendingLooks {
    logs: BTreeSet<NotePath>,
    /// All logs that have grown.
    all: bool,
    inbox: bool,
    /// When.
    at: Option<Instant>,
}

/// Learns from logs, and keeps ticked candidates.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { permits, mut workspace, mut events, board, stop, .. } = context;
    let mut work =
        PendingLooks { all: true, inbox: true, at: Some(Instant::now()), ..PendingLooks::default() };
    loop {
        let at = work.at.filter(|_| !events.is_vault_gone());
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(DaemonEvent::Changed(paths)) => work.note(&workspace, &paths),
                Some(DaemonEvent::Settings(changed)) => {
                    workspace = changed;
                    work.everything();
                }
                Some(DaemonEvent::Voice) if workspace.machines.is_voice() => work.everything(),
                Some(DaemonEvent::VaultBack | DaemonEvent::Rescan) => work.everything(),
                Some(_) => {}
                None => return Ok(()),
            },
            () = tokio::time::sleep_until(at.unwrap_or_else(Instant::now)), if at.is_some() => {
                let done = tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    done = check(&workspace, &mut work, &permits) => done,
                };
                match done {
                    Ok(words) => {
                        if let Some(words) = words {
                            board.set_part("inbox", words);
                        }
                        if work.all || !work.logs.is_empty() {
                            work.at.get_or_insert(Instant::now() + BRAIN_RETRY);
                        }
                    }
                    Err(error) => {
                        tracing::warn!("the inbox could not be looked at: {error}");
                        board.set_part("inbox", format!("can't be looked at: {error}"));
                    }
                }
            }
        }
    }
}

impl PendingLooks {
    fn note(&mut self, workspace: &Workspace, paths: &BTreeSet<NotePath>) {
        let own = &workspace.settings.paths;
        let logs = paths.iter().filter(|path| new_turns::is_conversation_log(&own.logs, path.as_str()));
        let before = self.logs.len();
        self.logs.extend(logs.cloned());
        let inbox = paths.iter().any(|path| path.as_str() == own.inbox);
        self.inbox |= inbox;
        if inbox || self.logs.len() > before || paths.iter().any(|path| self.logs.contains(path)) {
            self.at = Some(Instant::now() + QUIET);
        }
    }

    fn everything(&mut self) {
        (self.all, self.inbox, self.at) = (true, true, Some(Instant::now() + QUIET));
    }
}

/// The new turns of a log, and the place behind them.
struct NewTurns {
    path: NotePath,
    turns: Vec<PersonTurn>,
    place: Resume,
}

/// Does the pending work; then those logs are left whose turns wait for a brain, or for the end of a pause. A text for
/// `status`, if there is an inbox.
async fn check(
    workspace: &Arc<Workspace>,
    work: &mut PendingLooks,
    permits: &Arc<CallPermits>,
) -> anyhow::Result<Option<String>> {
    let now = std::mem::take(work);
    if workspace.left_to_other_machine().is_some() {
        return Ok(None);
    }
    let mut words = None;
    if now.inbox {
        words = settle(workspace).await?;
    }
    if !workspace.settings.captures() || !now.all && now.logs.is_empty() {
        return Ok(words);
    }
    if workspace.is_paused() {
        (work.logs, work.all) = (now.logs, now.all);
        return Ok(words);
    }
    let shared = Arc::clone(workspace);
    let (mut places, news) = blocking(move || news(&shared, &now)).await?;
    let mut asked = false;
    for NewTurns { path, turns, place } in news {
        match learn(workspace, turns, permits).await? {
            Some(count) => asked |= count > 0,
            None => {
                work.logs.insert(path);
                continue;
            }
        }
        places.set(path.as_str(), place);
        places.save().map_err(|error| anyhow!("what was read can't be noted: {error}"))?;
    }
    if asked {
        words = settle(workspace).await?;
    }
    Ok(words)
}

/// Asks about the finds in these turns: the number of new questions, or `None` if the brain can't be asked now.
#[cfg_attr(not(feature = "assistant"), expect(unused_variables, reason = "no brain is asked"))]
async fn learn(
    workspace: &Arc<Workspace>,
    turns: Vec<PersonTurn>,
    permits: &Arc<CallPermits>,
) -> anyhow::Result<Option<usize>> {
    if turns.is_empty() {
        return Ok(Some(0));
    }
    #[cfg(feature = "assistant")]
    if workspace.settings.capture_brain().is_some() {
        let learner = crate::capture::BrainLearner::new(Arc::clone(workspace), Arc::clone(permits))?;
        return learner.learn(turns).await;
    }
    let shared = Arc::clone(workspace);
    let asked = blocking(move || {
        let mut builder = QuestionBuilder::new(shared.memory())?;
        let now = shared.clock.now();
        let mut proposals = Vec::new();
        for turn in &turns {
            let day = shared.zone.tz().to_datetime(turn.at).date();
            proposals.extend(builder.learn(turn, rules::extract(&turn.text, day), rules::NAME, now));
        }
        let asking = builder.choose(proposals, &shared.settings, now, &shared.zone);
        Ok(Inbox::new(shared.memory()).ask(&asking.lines, &asking.again)?)
    });
    Ok(Some(asked.await?.len()))
}

/// The new turns of the logs to read.
fn news(workspace: &Workspace, work: &PendingLooks) -> anyhow::Result<(ReadPositions, Vec<NewTurns>)> {
    let folder = workspace.note(&workspace.settings.paths.logs);
    let mut places = ReadPositions::load(&workspace.dirs.state);
    let first = places.is_first();
    let mut logs: BTreeSet<NotePath> = work.logs.clone();
    if work.all || first {
        let grown = workspace.vault.notes_below(folder)?.into_iter().filter(|entry| {
            new_turns::is_conversation_log(&workspace.settings.paths.logs, entry.path.as_str())
                && !places.is_read(entry.path.as_str(), entry.stat.size)
        });
        logs.extend(grown.map(|entry| entry.path));
    }
    let mut out = Vec::new();
    for path in logs {
        let Some(bytes) = workspace.vault.read_if_there(&path)? else { continue };
        let (turns, place) = new_turns::turns(path.as_str(), &bytes, places.get(path.as_str()));
        // Turns from before the first capture are for `inbox scan`.
        let turns = if first { Vec::new() } else { turns };
        out.push(NewTurns { path, turns, place });
    }
    if first {
        places.save().map_err(|error| anyhow!("what was read can't be noted: {error}"))?;
    }
    Ok((places, out))
}

/// Carries out the ticks in the inbox; a text for `status`, if there is an inbox.
async fn settle(workspace: &Arc<Workspace>) -> anyhow::Result<Option<String>> {
    let shared = Arc::clone(workspace);
    blocking(move || {
        let inbox = Inbox::new(shared.memory());
        let InboxOutcome { kept, dropped, problems } = inbox.settle(shared.clock.now())?;
        for one in &kept {
            tracing::info!(id = one.id, "kept: {}", one.saved.text);
        }
        tracing::debug!(?dropped, "declined");
        problems.iter().for_each(|problem| tracing::warn!("{problem}"));
        let all = inbox.list()?;
        let open = all.iter().filter(|one| one.state == CandidateState::Open).count();
        let words = problems.into_iter().next().unwrap_or_else(|| format!("{open} to tick"));
        Ok((!all.is_empty()).then_some(words))
    })
    .await
}
