//! Makes the status report, which `status` prints and the page shows.
//!
//! The report has the daemon, overdue and coming occurrences, waiting items, brains, budgets, MCP servers, routines,
//! and faults of other parts.

use jiff::Timestamp;
use serde::Serialize;

use crate::agenda::{
    Agenda, AgendaEntry, EntryKind, UpcomingItem, late_and_coming, or_record_problem, upcoming_items,
};
use crate::deliver::delivery_journal::{NotifierRefusal, OpenDelivery};
use crate::deliver::{Journal, instants};
use crate::format::approval;
use crate::instance::{DaemonLock, DaemonStatus, LastTick, LockError};
use crate::pause::Paused;
use crate::reminders::rfc3339;
use crate::tasks::Scanner;
use crate::vault::VaultError;
use crate::workspace::{ReadError, Workspace};

/// The answer of `status --json`.
#[derive(Debug, Serialize)]
pub struct StatusReport {
    /// Whether a daemon serves this vault now.
    pub running: bool,
    /// The daemon's last report of itself; without a running daemon, that of the last one.
    pub daemon: Option<DaemonStatus>,
    /// Without a running daemon, the last pass of `tick`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<LastTick>,
    /// The overdue unsent items of the last 30 days, the latest first, and tasks of other plugins last.
    pub late: Vec<AgendaEntry>,
    /// The next reminders, earliest first.
    pub next: Vec<UpcomingItem>,
    /// Deliveries that wait for another attempt, or were refused everywhere.
    pub waiting: Vec<OpenDelivery>,
    /// Places that refuse messages with the current settings.
    pub refused: Vec<NotifierRefusal>,
    /// The assistant's open questions.
    pub approvals: Vec<WaitingQuestion>,
    /// Why nothing fires on this machine, where another one does.
    pub read_only: Option<String>,
    /// Whether a pause holds.
    pub pause: Paused,
    /// The brains, as they are remembered.
    #[cfg(feature = "assistant")]
    pub brains: Vec<crate::agent::brains::ListedBrain>,
    /// The budgets of the day with their use.
    #[cfg(feature = "assistant")]
    pub budgets: Vec<crate::agent::budget::Budget>,
    /// Other MCP servers, as they were when they were last used.
    #[cfg(all(feature = "assistant", unix))]
    pub mcp: Vec<McpServerStatus>,
    /// The routines.
    #[cfg(feature = "assistant")]
    pub routines: Vec<crate::routines::ListedRoutine>,
    /// The process id of a daemon that serves this vault with another or a deleted state directory; 0 if the id is
    /// unknown.
    pub elsewhere: Option<u32>,
    /// The files that no snapshot holds, with the reasons.
    pub left_out: Vec<crate::history::LeftOut>,
    /// Why the history could not be pushed to `[history] remote`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_pushed: Option<String>,
    /// Mass deletions in the folders of coding agents' memories.
    pub lost: Vec<super::losses::NoteLoss>,
    /// Notes that can't be read: what stands in them is missing here.
    pub problems: Vec<String>,
}

/// A question that waits for its answer.
#[derive(Debug, Serialize)]
pub struct WaitingQuestion {
    /// Its id.
    pub id: String,
    /// The line in the note of approvals.
    pub line: usize,
    /// Until when it can be answered, in the vault's zone.
    pub until: String,
    /// The brain that asks.
    pub brain: String,
    /// The call that waits for approval.
    pub run: String,
}

/// Another MCP server.
#[cfg(all(feature = "assistant", unix))]
#[derive(Debug, Serialize)]
pub struct McpServerStatus {
    /// Its name.
    pub name: String,
    /// The recorded failures.
    #[serde(flatten)]
    pub seen: crate::brain::health::LastReply,
}

#[cfg(all(feature = "assistant", unix))]
impl McpServerStatus {
    /// How it is, in a few words.
    pub fn state(&self, now: Timestamp) -> String {
        let when = |at: Option<Timestamp>| at.map_or_else(String::new, |at| ago(at, now));
        match self.seen.is_well() {
            None => "not used yet".to_owned(),
            Some(true) => format!("answered {}", when(self.seen.last_ok)),
            Some(false) => {
                let why = crate::terminal::printable(
                    self.seen.last_error.as_deref().unwrap_or("it is not known why"),
                );
                format!("failed {}: {why}", when(self.seen.failed))
            }
        }
    }
}

#[cfg(all(feature = "assistant", unix))]
fn servers(workspace: &Workspace) -> Vec<McpServerStatus> {
    let mut known = crate::agent::servers::ServerHealth::new(&workspace.dirs.state).load();
    let mut server =
        |name: &String| McpServerStatus { name: name.clone(), seen: known.remove(name).unwrap_or_default() };
    workspace.settings.mcp.iter().map(|one| server(&one.name)).collect()
}

impl StatusReport {
    /// Whether something waits or doesn't work.
    pub fn is_troubled(&self) -> bool {
        let failed = self.daemon.as_ref().is_some_and(|daemon| daemon.last_error.is_some());
        !self.waiting.is_empty()
            || !self.problems.is_empty()
            || self.elsewhere.is_some()
            || !self.refused.is_empty()
            || self.running && failed
    }
}

/// The state of all parts, with the next `count` items.
///
/// # Errors
/// The vault is gone. Unreadable notes, and a delivery journal that can't be used, are listed as problems.
pub fn report(workspace: &Workspace, count: usize, scanner: &mut Scanner) -> Result<StatusReport, ReadError> {
    let (mut late, mut problems) = match late_and_coming(workspace, scanner) {
        Ok((late, Agenda { problems, .. })) => (late, problems),
        // Without it the late items aren't known.
        Err(ReadError::Journal(error)) => {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            (Vec::new(), vec![format!("{error}{hint}")])
        }
        Err(error) => return Err(error),
    };
    // A task that was due before its form was turned on is told by nobody.
    late.sort_by_key(|one| one.kind == EntryKind::Task);
    let settings = workspace.pass_settings();
    problems.extend(super::notes::moved(workspace).into_iter().map(|found| found.reason));
    problems.extend(super::notes::with_copies(workspace).into_iter().chain(workspace.dirs.full_disk()));
    let running = DaemonLock::holder(&workspace.dirs.state).is_some();
    let daemon = DaemonStatus::read(&workspace.dirs.state);
    problems.extend(if running {
        daemon.as_ref().and_then(|daemon| daemon.settings_error.clone())
    } else {
        workspace.settings_problem()
    });
    let journal = workspace.journal().ok();
    let journal = journal.as_ref();
    Ok(StatusReport {
        running,
        daemon,
        tick: LastTick::read(&workspace.dirs.state).filter(|_| !running),
        late,
        next: upcoming_items(workspace, count, scanner).unwrap_or_default(),
        waiting: journal.map(Journal::open_deliveries).transpose()?.unwrap_or_default(),
        refused: journal.map(|it| it.refusals(&settings.notifiers)).transpose()?.unwrap_or_default(),
        approvals: or_record_problem(asked(workspace), &mut problems),
        read_only: settings.read_only.or_else(|| workspace.reason_for_not_sending()),
        pause: Paused::of(workspace),
        #[cfg(feature = "assistant")]
        brains: crate::agent::brains::listed(workspace),
        #[cfg(feature = "assistant")]
        budgets: crate::agent::budget::of_vault(workspace),
        #[cfg(all(feature = "assistant", unix))]
        mcp: servers(workspace),
        #[cfg(feature = "assistant")]
        routines: crate::routines::list(workspace).unwrap_or_default(),
        elsewhere: match DaemonLock::other_daemon(&workspace.dirs.state, workspace.vault.root()) {
            Some(LockError::Elsewhere(pid)) => Some(pid),
            _ => None,
        },
        left_out: crate::history::left_out_in(&workspace.dirs.state),
        not_pushed: crate::history::not_pushed(
            &workspace.dirs.state,
            workspace.settings.history.remote.as_deref(),
        ),
        lost: super::losses::recent(workspace),
        problems,
    })
}

/// The questions of the note of approvals that can still be answered.
fn asked(workspace: &Workspace) -> Result<Vec<WaitingQuestion>, VaultError> {
    let bytes = workspace.vault.read_or_empty(&workspace.note(&workspace.settings.paths.approvals))?;
    let now = workspace.clock.now();
    let lines = approval::parse(&bytes).lines.into_iter();
    let open = lines.filter(|line| {
        line.approval.is_open()
            && line.approval.mark == approval::CheckboxMark::Open
            && line.approval.until > now
    });
    let asked = open.map(|line| WaitingQuestion {
        id: line.approval.id,
        line: line.line,
        until: rfc3339(line.approval.until, workspace.zone.tz()),
        brain: line.approval.brain,
        run: line.approval.run,
    });
    Ok(asked.collect())
}

/// How long ago; a clock that went back is said.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    if then > now { "in the future: the clock went back".to_owned() } else { instants::distance(then, now) }
}
