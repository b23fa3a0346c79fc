//! Checks logs for due summaries after they have grown by enough, and writes those summaries.
//!
//! For a new message only the log's size is checked. A log holds at most one token for every four bytes, so a small
//! growth can't make a summary due, and the log isn't read. Of a log with summaries, each appended text is read, to
//! find edited or deleted events.
//!
//! All logs of enough size, and all logs with summaries, are checked at the start, after changed settings, after lost
//! events and after a pause. A log is also checked after one of its summaries was deleted. One log is read at a time,
//! and no other part waits for it.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek, SeekFrom};

use tokio_util::sync::CancellationToken;

use super::prelude::*;
use crate::agent::SummaryWriter;
use crate::summary::{DueScope, Summaries, plan};
use crate::vault::Vault;

/// The growth of a log, in bytes, after which one that had nothing due is checked again.
const STEP: u64 = 4_096;
/// The interval at which the end of a pause is checked.
const MINUTE: Duration = Duration::from_secs(60);
/// A log of fewer bytes is never read: it can't hold enough.
const LEAST: u64 = plan::LEAF_TARGET * 4;

/// The state of a log.
#[derive(Debug, Clone, Copy, Default)]
struct LogStatus {
    /// Its size at the last check.
    size: u64,
    /// Below this size nothing is due.
    quiet_below: u64,
    has_summaries: bool,
}

/// Writes the summaries.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { permits, workspace, mut events, board, stop, .. } = context;
    let make = |workspace: &Arc<Workspace>| SummaryWriter::new(Arc::clone(workspace), Arc::clone(&permits));
    let writer = make(&workspace)?;
    let mut queue = SummaryQueue { writer, known: HashMap::new(), wanted: BTreeMap::new(), written: 0 };
    queue.want_all();
    let mut rests = false;
    loop {
        if std::mem::replace(&mut rests, queue.writer.workspace.reason_for_rest().is_some()) && !rests {
            queue.want_all();
        }
        let is_idle = queue.wanted.is_empty() || events.is_vault_gone() || rests;
        let minute = queue.writer.workspace.clock.sleep(MINUTE);
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(DaemonEvent::Changed(paths)) => paths.iter().for_each(|path| queue.on_event(path)),
                Some(DaemonEvent::Settings(changed)) => match make(&changed) {
                    Ok(writer) => {
                        queue.writer = writer;
                        queue.want_all();
                    }
                    Err(error) => tracing::error!("summaries keep their old settings: {error}"),
                },
                Some(DaemonEvent::VaultBack | DaemonEvent::Rescan) => queue.want_all(),
                Some(_) => {}
                None => return Ok(()),
            },
            () = std::future::ready(()), if !is_idle => queue.next(&board, &stop).await,
            () = tokio::time::sleep(minute), if rests => {}
        }
    }
}

struct SummaryQueue {
    writer: SummaryWriter,
    known: HashMap<String, LogStatus>,
    /// The logs to check.
    wanted: BTreeMap<String, DueScope>,
    /// Summaries that were written since the start.
    written: usize,
}

impl SummaryQueue {
    fn is_off(&self) -> bool {
        let workspace = &self.writer.workspace;
        !workspace.settings.summary.enabled || workspace.reason_for_rest().is_some()
    }

    fn vault(&self) -> &Vault {
        &self.writer.workspace.vault
    }

    /// Marks for a check every log that may be due, and all logs with summaries.
    fn want_all(&mut self) {
        if self.is_off() {
            self.wanted.clear();
            return;
        }
        let workspace = Arc::clone(&self.writer.workspace);
        let summaries = Summaries::of(&workspace);
        let listed = summaries.logs().and_then(|logs| Ok((logs, summaries.summarised()?)));
        let (logs, summarised) = match listed {
            Ok(listed) => listed,
            Err(error) => return tracing::warn!("logs can't be listed for summaries: {error}"),
        };
        for (name, size) in logs.into_iter().filter(|(_, size)| *size >= LEAST) {
            self.known.insert(name.clone(), LogStatus { size, ..LogStatus::default() });
            self.wanted.insert(name, DueScope::New);
        }
        self.wanted.extend(summarised.into_iter().map(|name| (name, DueScope::All)));
    }

    /// Adds the log of a changed path, if it may have a summary due.
    fn on_event(&mut self, path: &NotePath) {
        if self.is_off() {
            return;
        }
        let workspace = Arc::clone(&self.writer.workspace);
        let summaries = Summaries::of(&workspace);
        let Some(name) = summaries.log_of(path) else { return };
        if summaries.log_path(&name).is_ok_and(|log| log != *path) {
            // A summary that is still there is a person's to change, or was written just now.
            if !self.vault().exists(path) {
                self.wanted.insert(name, DueScope::All);
            }
            return;
        }
        let size = self.vault().stat(path).ok().flatten().map_or(0, |stat| stat.size);
        let known = self
            .known
            .entry(name.clone())
            .or_insert(LogStatus { quiet_below: LEAST, ..LogStatus::default() });
        let before = std::mem::replace(&mut known.size, size);
        let known = *known;
        if known.has_summaries && (size < before || self.is_changed(path, before)) {
            self.wanted.insert(name, DueScope::All);
        } else if size >= known.quiet_below {
            self.wanted.entry(name).or_insert(DueScope::New);
        }
    }

    /// Whether the appended text says that a message was edited or deleted.
    fn is_changed(&self, path: &NotePath, from: u64) -> bool {
        // A message into a log of years costs only the message's length.
        let new = read_from(self.vault(), path, from).unwrap_or_default();
        [b"> edited [[".as_slice(), b"> deleted [["]
            .iter()
            .any(|mark| memchr::memmem::find(&new, mark).is_some())
    }

    /// Checks the next log.
    async fn next(&mut self, board: &StatusBoard, stop: &CancellationToken) {
        let Some((name, look)) = self.wanted.pop_first() else { return };
        let done = match self.writer.work(&name, look, stop).await {
            Ok(done) => done,
            Err(error) => {
                tracing::warn!(log = %name, "no summary: {error}");
                return board.set_part("summaries", format!("{name}: {error}"));
            }
        };
        self.written += done.written.len();
        let known = self.known.entry(name).or_default();
        known.has_summaries = done.has_summaries;
        // The number of tokens that are missing; each takes four bytes at least.
        let least = self.writer.pressure().map_or(plan::LEAF_TOKENS, |most| most.min(plan::LEAF_TOKENS));
        known.quiet_below = known.size + (4 * least.saturating_sub(done.uncovered)).max(STEP);
        if !done.written.is_empty() {
            let count = self.written;
            board.set_part("summaries", format!("{count} written since the start"));
        }
    }
}

/// A note's bytes from a place on.
pub(super) fn read_from(vault: &Vault, path: &NotePath, from: u64) -> anyhow::Result<Vec<u8>> {
    let (mut file, mut bytes) = (vault.open_note(path)?, Vec::new());
    file.seek(SeekFrom::Start(from))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
