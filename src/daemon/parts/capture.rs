//! The daemon's capture: what people said becomes questions in the inbox, and what is ticked there is kept.
//!
//! It wakes where a log or the inbox changed, waits until that has been quiet for a moment, and looks at what is new; where
//! nothing changes nothing runs. What was read of a log is noted after its questions stand in the note: a crash in between
//! reads it again and asks nothing twice. A brain that can't be asked now is asked when something changes, or after a
//! while; until then its turns wait.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::capture::reading::{self, Place, Places, Turn};
use crate::capture::{Inbox, Learner, Settled, rules};
use crate::daemon::part::{Board, Event, Part};
use crate::format::candidate::State;
use crate::vault::{NotePath, VaultError, WalkOptions};
use crate::workspace::Workspace;

/// A log or the inbox has been quiet for so long before it is looked at.
const QUIET: Duration = Duration::from_secs(2);
/// A brain that couldn't be asked is tried again after so long.
const BRAIN_RETRY: Duration = Duration::from_secs(15 * 60);

/// Learns from logs, and keeps what is ticked.
#[derive(Debug)]
pub struct CapturePart {
    /// Who may call a brain now.
    #[cfg(feature = "assistant")]
    pub permits: Arc<crate::agent::Permits>,
}

/// What is to be looked at.
#[derive(Debug, Default)]
struct Work {
    logs: BTreeSet<NotePath>,
    /// All logs that have grown.
    all: bool,
    inbox: bool,
    /// When.
    at: Option<Instant>,
}

#[async_trait]
impl Part for CapturePart {
    fn name(&self) -> &'static str {
        "inbox"
    }

    async fn run(
        self: Box<Self>,
        mut workspace: Arc<Workspace>,
        mut events: broadcast::Receiver<Event>,
        board: Board,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let mut work = Work { all: true, inbox: true, at: Some(Instant::now()), ..Work::default() };
        let mut gone = false;
        loop {
            let wait = async {
                match work.at.filter(|_| !gone) {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                event = events.recv() => match event {
                    Ok(Event::Changed(paths)) => work.note(&workspace, &paths),
                    Ok(Event::Settings(changed)) => {
                        workspace = changed;
                        work.everything();
                    }
                    Ok(Event::VaultGone) => gone = true,
                    Ok(Event::Voice) if workspace.machines.is_voice() => work.everything(),
                    Ok(Event::VaultBack) => {
                        gone = false;
                        work.everything();
                    }
                    Ok(Event::Rescan(_)) | Err(RecvError::Lagged(_)) => work.everything(),
                    Ok(_) => {}
                    Err(RecvError::Closed) => return Ok(()),
                },
                () = wait => {
                    let now = std::mem::take(&mut work);
                    let done = tokio::select! {
                        () = stop.cancelled() => return Ok(()),
                        done = self.look(&workspace, now) => done,
                    };
                    match done {
                        Ok(Looked { words, left, all }) => {
                            if let Some(words) = words {
                                board.say("inbox", words);
                            }
                            work.logs.extend(left);
                            work.all |= all;
                            if work.all || !work.logs.is_empty() {
                                work.at.get_or_insert(Instant::now() + BRAIN_RETRY);
                            }
                        }
                        Err(error) => {
                            tracing::warn!("the inbox could not be looked at: {error}");
                            board.say("inbox", format!("can't be looked at: {error}"));
                        }
                    }
                }
            }
        }
    }
}

impl Work {
    fn note(&mut self, workspace: &Workspace, paths: &BTreeSet<NotePath>) {
        let own = &workspace.settings.paths;
        let logs = paths.iter().filter(|path| reading::is_talk(&own.logs, path.as_str()));
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

/// What a look came to.
#[derive(Debug, Default)]
struct Looked {
    words: Option<String>,
    /// Logs whose turns wait for a brain, or for the end of a pause.
    left: Vec<NotePath>,
    /// Whether all logs that have grown wait.
    all: bool,
}

/// The new turns of a log, and the place behind them.
struct News {
    path: NotePath,
    turns: Vec<Turn>,
    place: Place,
}

impl CapturePart {
    /// Looks at what there is to do.
    async fn look(&self, workspace: &Arc<Workspace>, work: Work) -> Result<Looked, String> {
        if workspace.elsewhere().is_some() {
            return Ok(Looked::default());
        }
        let mut looked = Looked::default();
        if work.inbox {
            looked.words = settle(workspace).await?;
        }
        if !workspace.settings.captures() || !work.all && work.logs.is_empty() {
            return Ok(looked);
        }
        if workspace.is_paused() {
            looked.left.extend(work.logs);
            looked.all = work.all;
            return Ok(looked);
        }
        let shared = Arc::clone(workspace);
        let (mut places, news) = blocking(move || news(&shared, &work)).await?;
        let mut asked = false;
        for News { path, turns, place } in news {
            match self.learn(workspace, turns).await? {
                Some(count) => asked |= count > 0,
                None => {
                    looked.left.push(path);
                    continue;
                }
            }
            places.set(path.as_str(), place);
            places.save().map_err(|error| format!("what was read can't be noted: {error}"))?;
        }
        if asked {
            looked.words = settle(workspace).await?;
        }
        Ok(looked)
    }

    /// Asks about what is found in these turns: how many questions are new, or `None` if the brain can't be asked now.
    async fn learn(&self, workspace: &Arc<Workspace>, turns: Vec<Turn>) -> Result<Option<usize>, String> {
        if turns.is_empty() {
            return Ok(Some(0));
        }
        #[cfg(feature = "assistant")]
        if workspace.settings.capture_brain().is_some() {
            let learner =
                crate::capture::BrainLearner::new(Arc::clone(workspace), Arc::clone(&self.permits))?;
            return learner.learn(turns).await;
        }
        let shared = Arc::clone(workspace);
        let asked = blocking(move || {
            let words = |error: crate::capture::InboxError| error.to_string();
            let mut learner = Learner::new(shared.memory()).map_err(words)?;
            let now = shared.clock.now();
            let mut proposals = Vec::new();
            for turn in &turns {
                let day = shared.zone.tz().to_datetime(turn.at).date();
                proposals.extend(learner.learn(turn, rules::found(&turn.said, day), rules::NAME, now));
            }
            let asking = learner.choose(proposals, &shared.settings, now, &shared.zone);
            Inbox::new(shared.memory()).ask(&asking.lines, &asking.again).map_err(words)
        });
        Ok(Some(asked.await?.len()))
    }
}

/// What is new in the logs that are meant.
fn news(workspace: &Workspace, work: &Work) -> Result<(Places, Vec<News>), String> {
    let folder = workspace.note(&workspace.settings.paths.logs);
    let mut places = Places::load(&workspace.dirs.state);
    let first = places.is_first();
    let mut logs: BTreeSet<NotePath> = work.logs.clone();
    if work.all || first {
        let options = WalkOptions { under: Some(folder), ..WalkOptions::default() };
        let walked = match workspace.vault.walk(&options) {
            Err(VaultError::NotFound(_)) => Vec::new(),
            walked => walked.map_err(|error| error.to_string())?.entries,
        };
        let grown = walked.into_iter().filter(|entry| {
            reading::is_talk(&workspace.settings.paths.logs, entry.path.as_str())
                && !places.is_read(entry.path.as_str(), entry.stat.size)
        });
        logs.extend(grown.map(|entry| entry.path));
    }
    let mut out = Vec::new();
    for path in logs {
        let bytes = match workspace.vault.read(&path) {
            Err(VaultError::NotFound(_)) => continue,
            bytes => bytes.map_err(|error| error.to_string())?,
        };
        let (turns, place) = reading::turns(path.as_str(), &bytes, places.get(path.as_str()));
        // What was said before anything was captured is for `inbox scan`.
        let turns = if first { Vec::new() } else { turns };
        out.push(News { path, turns, place });
    }
    if first {
        places.save().map_err(|error| format!("what was read can't be noted: {error}"))?;
    }
    Ok((places, out))
}

/// Carries out what the boxes of the inbox say; words for `status`, where there is an inbox.
async fn settle(workspace: &Arc<Workspace>) -> Result<Option<String>, String> {
    let shared = Arc::clone(workspace);
    blocking(move || {
        let inbox = Inbox::new(shared.memory());
        let Settled { kept, dropped, failed } =
            inbox.settle(shared.clock.now()).map_err(|error| error.to_string())?;
        for one in &kept {
            tracing::info!(id = one.id, "kept: {}", one.saved.text);
        }
        tracing::debug!(?dropped, "declined");
        for (id, error) in &failed {
            tracing::warn!(id, "can't be kept: {error}");
        }
        let all = inbox.list().map_err(|error| error.to_string())?;
        let open = all.iter().filter(|one| one.state == State::Open).count();
        let words = match failed.first() {
            Some((id, error)) => format!("`{id}` can't be kept: {error}"),
            None => format!("{open} to tick"),
        };
        Ok((!all.is_empty()).then_some(words))
    })
    .await
}

/// Works on files where nothing else waits for them.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| format!("it went wrong inside: {error}"))?
}
