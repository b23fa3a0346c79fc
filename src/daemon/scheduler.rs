//! Runs a pass (one run over all that is due) every minute. A pass runs earlier if the last pass requested it, or if a
//! note that this program wrote has to be checked again. A change of the reminders, the follow-ups, the settings or
//! another machine's deliveries also causes a pass.
//!
//! The loop keeps no schedule, only four instants:
//!
//! - the next minute's boundary;
//! - the next pass that the last pass requested: for a retry, for a note that was still being changed, or because
//!   another process's pass was going on;
//! - the next pass that a change requested;
//! - the next check of a note that this program's [`Editor`](crate::vault::Editor) wrote: another program may have
//!   undone the edit.
//!
//! The loop sleeps to the earliest of them, never for long ([`Ticker`]), and each leads to a pass that reads the notes
//! again. While the vault's folder is missing, no pass runs, so nothing is sent. If the console is the primary
//! notifier, the daemon ends when the reader of its standard output ends, as in `vault-agent run | head`. Due items
//! that were not sent stay due for the next start.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::{broadcast, mpsc};
use tokio::{io::Interest, net::unix::pipe};
use tokio_util::sync::CancellationToken;

use crate::config::FILE_NAME as SETTINGS_FILE;
use crate::daemon::part::{DaemonEvent, StatusBoard};
use crate::daemon::ticker::Ticker;
use crate::deliver::{
    self, DeliveryOrder, Journal, PassError, PassMode, PassReport, PassSettings, PassState,
};
use crate::machines::RightsChanges;
use crate::terminal::Ui;
use crate::vault::WatchEvent;
use crate::workspace::Workspace;

/// Passes that changes ask for are at least this far apart: an editor may save with every keystroke.
const BETWEEN_CHANGES: Duration = Duration::from_millis(250);

/// Runs until `stop`, or until the console, as the only notifier, has lost its reader.
pub async fn run(
    workspace: Arc<Workspace>,
    ui: Ui,
    mut watched: mpsc::UnboundedReceiver<WatchEvent>,
    events: broadcast::Sender<DaemonEvent>,
    board: StatusBoard,
    stop: CancellationToken,
) {
    let mut scheduler = Scheduler::new(workspace, ui, events, board);
    let stdout = stdout();
    // It may have begun with the last good settings.
    scheduler.reload();
    loop {
        scheduler.pass_if_due(&stop).await;
        let sleep = scheduler.sleep();
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = reader_closed(stdout.as_ref()), if scheduler.delivery_order.primary.name() == "console" => {
                stop.cancel();
                break;
            }
            event = watched.recv() => match event {
                Some(event) => {
                    scheduler.on_event(event);
                    while let Ok(event) = watched.try_recv() {
                        scheduler.on_event(event);
                    }
                }
                None => break,
            },
            () = scheduler.news.changed() => scheduler.ask_for_pass(),
            () = tokio::time::sleep(sleep) => {}
        }
    }
}

struct Scheduler {
    workspace: Arc<Workspace>,
    ui: Ui,
    events: broadcast::Sender<DaemonEvent>,
    board: StatusBoard,
    journal: Option<Journal>,
    delivery_order: DeliveryOrder,
    settings: PassSettings,
    memory: PassState,
    ticker: Ticker,
    /// When the last pass asked for another one.
    next_pass: Option<Timestamp>,
    /// When a change asked for a pass, by the monotonic clock.
    changed: Option<Instant>,
    last_pass: Option<Instant>,
    is_vault_gone: bool,
    /// Those of the last pass, which are said once.
    problems: Vec<String>,
    /// Changes by other machines.
    news: RightsChanges,
    /// Phrases for reminders that are soon due.
    #[cfg(feature = "assistant")]
    phrasing: super::phrasing::Phrasing,
}

impl Scheduler {
    fn new(
        workspace: Arc<Workspace>,
        ui: Ui,
        events: broadcast::Sender<DaemonEvent>,
        board: StatusBoard,
    ) -> Self {
        let delivery_order = workspace.delivery_order(ui.json);
        let settings = workspace.pass_settings();
        let news = workspace.machines.rights_changes();
        Self {
            news,
            workspace,
            ui,
            events,
            board,
            journal: None,
            delivery_order,
            settings,
            memory: PassState::default(),
            ticker: Ticker::default(),
            next_pass: None,
            changed: None,
            last_pass: None,
            is_vault_gone: false,
            problems: Vec::new(),
            #[cfg(feature = "assistant")]
            phrasing: super::phrasing::Phrasing::default(),
        }
    }

    fn now(&self) -> Timestamp {
        self.workspace.clock.now()
    }

    async fn pass_if_due(&mut self, stop: &CancellationToken) {
        let now = self.now();
        let minute = self.ticker.is_due(now);
        let asked = self.next_pass.is_some_and(|next_pass| next_pass <= now)
            || self.changed.is_some_and(|changed| changed <= Instant::now());
        if minute && !self.delivery_order.is_usable() && self.workspace.reason_for_not_sending().is_none() {
            self.delivery_order = self.workspace.delivery_order(self.ui.json);
        }
        let follow_up = self.workspace.editor.next_follow_up().is_some_and(|at| at <= now);
        if self.is_vault_gone || !(minute || asked || follow_up) {
            return;
        }
        if follow_up {
            // The pass reads the notes anyway, and the journal knows which lines must not be there.
            self.workspace.editor.follow_ups(now);
        }
        self.next_pass = None;
        self.changed = None;
        self.last_pass = Some(Instant::now());
        tokio::select! {
            result = self.pass() => match result {
                Ok(report) => {
                    self.tell(now, &report);
                    #[cfg(feature = "assistant")]
                    self.phrasing.begin(&self.workspace, report.upcoming);
                }
                Err(error) => self.report_failed_pass(now, &error),
            },
            // The journal's state is enough for the next start: a pass may end at any point.
            () = stop.cancelled() => {}
        }
    }

    async fn pass(&mut self) -> anyhow::Result<PassReport> {
        if self.journal.is_none() {
            self.journal = Some(self.workspace.journal()?);
        }
        let journal = self.journal.as_ref().ok_or_else(|| anyhow::anyhow!("no delivery journal"))?;
        let context = self.workspace.pass_context(journal, &self.delivery_order, &self.settings);
        Ok(deliver::pass(&context, &mut self.memory, PassMode::Daemon).await?)
    }

    /// Reports a pass that could not be made. If another process is in a pass, the next one waits for its end, too, and
    /// that is logged once.
    fn report_failed_pass(&mut self, now: Timestamp, error: &anyhow::Error) {
        let (words, mut before) = (error.to_string(), None);
        self.board.update(|status| {
            status.last_pass = Some(now);
            before = status.last_error.replace(words.clone());
        });
        let is_busy = matches!(error.downcast_ref(), Some(PassError::Busy(_)));
        self.next_pass = is_busy.then_some(now);
        if !is_busy || before.as_ref() != Some(&words) {
            tracing::error!("the pass could not be made: {words}");
        }
    }

    fn tell(&mut self, now: Timestamp, report: &PassReport) {
        self.next_pass = report.next_pass;
        for finding in &report.near_misses {
            self.ui.note(format!(
                "{}:{}:{}: {}: {}",
                finding.path, finding.line, finding.column, finding.reason, finding.suggestion
            ));
        }
        for problem in report.problems.iter().filter(|problem| !self.problems.contains(problem)) {
            tracing::warn!("{problem}");
        }
        self.problems.clone_from(&report.problems);
        for failure in report.failures() {
            tracing::warn!("{failure}");
        }
        let failed = || report.failed.first().map(|f| f.error.clone());
        let console = || self.delivery_order.console_reason.clone();
        let error = report.problems.first().cloned().or_else(failed).or_else(console);
        self.board.update(|status| {
            status.last_pass = Some(now);
            status.took_ms = report.took_ms;
            status.slow_passes += u64::from(report.over_time);
            status.fired += report.fired.len() as u64;
            status.last_error = error;
        });
    }

    fn sleep(&self) -> Duration {
        let clock = &self.workspace.clock;
        let now = clock.now();
        let until =
            |at: Timestamp| clock.sleep(Duration::try_from(now.duration_until(at)).unwrap_or(Duration::ZERO));
        let asked = self.next_pass.into_iter().chain(self.workspace.editor.next_follow_up()).map(until).min();
        let changed = self.changed.map(|at| at.saturating_duration_since(Instant::now()));
        let soonest = asked.into_iter().chain(changed).min().map(|wait| wait.max(Duration::from_millis(1)));
        let minute = clock.sleep(self.ticker.sleep(now));
        soonest.map_or(minute, |soonest| soonest.min(minute))
    }

    /// Handles an event of the watcher, which the parts have got already.
    fn on_event(&mut self, event: WatchEvent) {
        match event {
            WatchEvent::FirstChange(_) | WatchEvent::CaughtUp(_) => {}
            WatchEvent::Polled { unseen } => {
                let now = self.now();
                self.board.update(|status| {
                    status.unseen += unseen as u64;
                    if unseen == 0 {
                        status.agreed = Some(now);
                    }
                });
            }
            WatchEvent::Dirty(paths) => {
                if paths.iter().any(|path| path.as_str() == SETTINGS_FILE) {
                    self.reload();
                }
                if paths.contains(&self.settings.reminders) || paths.contains(&self.settings.commitments) {
                    self.ask_for_pass();
                }
            }
            WatchEvent::Rescan(why) => {
                tracing::debug!(why, "looking at everything again");
                self.reload();
                self.ask_for_pass();
            }
            WatchEvent::VaultGone => {
                tracing::warn!("the vault's folder is gone: nothing fires until it is back");
                self.is_vault_gone = true;
                self.board.update(|status| "the vault's folder is gone".clone_into(&mut status.watcher));
            }
            WatchEvent::VaultBack => {
                tracing::warn!("the vault's folder is back");
                self.is_vault_gone = false;
                self.board.update(|status| "watching".clone_into(&mut status.watcher));
                self.ask_for_pass();
            }
            WatchEvent::Error(error) => {
                tracing::warn!("watching: {error}");
                self.board.update(|status| status.watcher = error);
            }
        }
    }

    fn ask_for_pass(&mut self) {
        let now = Instant::now();
        let earliest = self.last_pass.map_or(now, |last| (last + BETWEEN_CHANGES).max(now));
        self.changed = Some(self.changed.map_or(earliest, |changed| changed.min(earliest)));
    }

    /// Records whether the settings on disk are valid (without an `error`), and reports it where that is news.
    fn report_settings(&self, error: Option<String>) {
        let mut before = error.clone();
        self.board.update(|status| std::mem::swap(&mut status.settings_error, &mut before));
        match error {
            error if error == before => {}
            Some(words) => {
                self.ui.note(format!("the settings are invalid, the last valid ones stay in use: {words}"));
            }
            None => self.ui.note("the settings are valid again, and in use"),
        }
    }

    /// Applies changed settings once they are valid; until then the old ones stay.
    fn reload(&mut self) {
        let reloaded = self.workspace.reload().and_then(|changed| changed.map(Workspace::joined).transpose());
        match reloaded {
            Ok(None) => self.report_settings(None),
            Ok(Some(workspace)) => {
                tracing::info!("the changed settings are in use");
                self.workspace = Arc::new(workspace);
                self.news = self.workspace.machines.rights_changes();
                self.delivery_order = self.workspace.delivery_order(self.ui.json);
                self.settings = self.workspace.pass_settings();
                self.report_settings(None);
                // Without parts there is no listener, which is fine.
                let _ = self.events.send(DaemonEvent::Settings(Arc::clone(&self.workspace)));
                self.ask_for_pass();
            }
            Err(error) => self.report_settings(Some(error.to_string())),
        }
    }
}

/// Ends when the reader of standard output, where that is a pipe, has closed it; else never.
async fn reader_closed(stdout: Option<&pipe::Sender>) {
    if let Some(pipe) = stdout
        && pipe.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// Standard output, where that is a pipe: only a pipe can lose its reader.
fn stdout() -> Option<pipe::Sender> {
    let out = std::io::stdout();
    let stat = rustix::fs::fstat(out.as_fd()).ok()?;
    let is_pipe = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Fifo;
    let own = is_pipe.then(|| out.as_fd().try_clone_to_owned().ok()).flatten()?;
    // Nothing is written through it, so it stays blocking, as other users of the pipe expect.
    pipe::Sender::from_owned_fd_unchecked(own).ok()
}
