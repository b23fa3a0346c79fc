//! Runs one pass of the scheduler over everything that is due: read, claim, send, rewrite.
//!
//! The notes of reminders and follow-ups, the tasks of other plugins, the journal and the clock's instant come in;
//! messages, edits and a [`report`] go out. No schedule is kept: each pass asks [`crate::schedule`] for the due items
//! and the journal for the sent ones, and acts on the difference. A crash may come after any step:
//!
//! 1. Messages of an earlier pass that are still on their way are finished ([`send`]). A message that may have arrived
//!    is searched for at its destination before it is sent again.
//! 2. Items that are due and not sent are claimed in one transaction ([`plan`]) and sent, in the order of the file.
//! 3. Each line whose key (its id and due time) the journal records as sent is rewritten ([`rewrite_lines`]): deleted,
//!    moved to its next date, or marked delivered. A line that a stale editor buffer brought back is rewritten too, and
//!    never fires again.
//! 4. Lines without an id get one.
//! 5. Further notifiers get their copies, which were claimed in step 2.
//!
//! A rewrite waits until the note has been unchanged for some seconds; only the command `vault-agent tick`, which runs
//! one pass, doesn't wait. A notification never waits for a rewrite. If a line has no id and was already due when it
//! was written, a person may still be typing it. Such a line is sent after five seconds without a change, or after a
//! minute at the latest (at once in `tick`).
//!
//! [`notes`] reads the notes. [`plan`] compares them with the journal (reminders in [`reminders`], tasks of other
//! plugins in [`tasks`], the plan's values in [`planned`]). [`messages`] makes the texts. If there are several
//! machines, [`machine_claims`] limits the messages to this machine's share, and [`machine_lines`] the lines that it
//! rewrites.

mod machine_claims;
mod machine_lines;
mod messages;
mod notes;
mod plan;
mod planned;
mod reminders;
mod report;
mod rewrite_lines;
mod send;
mod tasks;

use send::MessageSelection;
pub(crate) use send::Sender;

use std::ops::Deref;
use std::time::{Duration, Instant};

use jiff::civil::Date;

use super::delivery_journal::{Journal, JournalLock, PASS_LOCK};
use super::delivery_order::DeliveryOrder;
use super::notifier::MessageKind;
use super::words::NotifyRules;
use crate::clock::Clock;
use crate::deliver::prelude::*;
use crate::machines::Machines;
use crate::schedule::{DigestRule, Pause, Zone};
use crate::sqlite::DatabaseError;
use crate::tasks::TaskSettings;
use crate::vault::{Editor, NotePath, Vault};

pub use notes::PassState;
pub use plan::unsent_tasks;
pub(crate) use plan::{commitment_fact, text_hash};
pub use planned::PendingSend;
pub(crate) use reminders::{meaning, reminder_fact};
pub use report::{DeliveredItem, PassReport};

use notes::PassNotes;
use planned::ChangedAfterSend;

/// A pass that takes longer is reported as a problem.
pub const BOUND: Duration = Duration::from_secs(2);

/// A pass stops sending after this long and goes on in the next one, which reads the notes again. Copies have as long
/// for themselves: no notifier that doesn't answer keeps another one from being told.
const SEND_BUDGET: Duration = Duration::from_secs(30);

/// How long a pass waits for another process's pass to end.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// All that a pass works with.
#[derive(Clone, Copy)]
pub struct PassContext<'a> {
    /// Reads the notes.
    pub vault: &'a Vault,
    /// Writes the notes.
    pub editor: &'a Editor,
    /// The record of sent messages.
    pub journal: &'a Journal,
    /// Sends.
    pub delivery_order: &'a DeliveryOrder,
    /// The time.
    pub clock: &'a dyn Clock,
    /// The user's settings.
    pub settings: &'a PassSettings,
    /// Whether this machine may send, where there are several.
    pub machines: &'a Machines,
}

/// One pass: what it works with, how it is run, and its instant.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'a> {
    context: &'a PassContext<'a>,
    mode: PassMode,
    pub now: Timestamp,
}

impl<'a> Deref for Pass<'a> {
    type Target = PassContext<'a>;
    fn deref(&self) -> &PassContext<'a> {
        self.context
    }
}

impl<'a> Pass<'a> {
    /// A pass at the clock's instant.
    pub fn new(context: &'a PassContext<'a>, mode: PassMode) -> Self {
        Self { context, mode, now: context.clock.now() }
    }

    /// The same pass as a dry run at another instant.
    fn dry_run_at(self, now: Timestamp) -> Self {
        Self { mode: PassMode::DryRun, now, ..self }
    }

    fn is_dry_run(&self) -> bool {
        self.mode == PassMode::DryRun
    }

    /// The instant this long after that of the pass.
    pub fn later(&self, by: SignedDuration) -> Timestamp {
        self.now.saturating_add(by).unwrap_or(self.now)
    }

    /// The local date of the pass.
    fn today(&self) -> Date {
        self.settings.zone.tz().to_datetime(self.now).date()
    }

    fn report(&self) -> PassReport {
        let now = rfc3339(self.now, self.settings.zone.tz());
        PassReport { now, dry_run: self.is_dry_run(), ..PassReport::default() }
    }
}

/// The user's settings.
#[derive(Debug, Clone)]
pub struct PassSettings {
    /// The zone of the reminders.
    pub zone: Zone,
    /// The note of the reminders.
    pub reminders: NotePath,
    /// The note of the follow-ups.
    pub commitments: NotePath,
    /// The task lines of other plugins that are notified; `None` for none.
    pub tasks: Option<TaskSettings>,
    /// When missed items come together in a digest.
    pub digest: DigestRule,
    /// Why this machine fires nothing, where another one does (`[schedule] host`).
    pub read_only: Option<String>,
    /// The pause of the settings; only one that holds for reminders too keeps a pass from firing.
    pub pause: Option<Pause>,
    /// Changes whenever the settings of the notifiers do; refused messages are then tried again.
    pub notifiers: String,
    /// The rules of recipients and quiet hours.
    pub notify_rules: NotifyRules,
    /// Whether a brain's phrases are used, and reminders that are soon due are reported so that one can be asked.
    pub phrase: bool,
}

impl PassSettings {
    /// Why nothing fires at an instant, if so.
    pub fn reason_for_silence(&self, now: Timestamp) -> Option<String> {
        let pause = || self.pause.filter(|pause| pause.reminders && pause.holds(now));
        self.read_only.clone().or_else(|| pause().map(|pause| pause.words(self.zone.tz())))
    }
}

/// How a pass is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassMode {
    /// By the daemon: rewriting waits until a note is still.
    Daemon,
    /// By `tick`: the notes count as still.
    Tick,
    /// Reports what a tick would fire; sends, writes and remembers nothing.
    DryRun,
}

/// The result of a part of a pass.
type Result<T> = std::result::Result<T, PassError>;

/// A pass could not be made at all.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// The delivery journal can't be used; nothing may be sent without it.
    #[error(transparent)]
    Journal(#[from] DatabaseError),
    /// Another process is in the middle of a pass.
    #[error("another pass over this vault has been running for {} s; it goes on", .0.as_secs())]
    Busy(Duration),
}

/// Why nothing fires here, if the settings' `host` isn't this machine's name.
pub fn read_only(host: Option<&str>, here: &str) -> Option<String> {
    let host = host.filter(|host| !host.eq_ignore_ascii_case(here))?;
    Some(format!(
        "`{host}` fires the reminders of this vault (`[schedule] host`), and this machine is `{here}`"
    ))
}

/// Makes one pass at the clock's instant.
///
/// Notes that can't be read or written are named in the report; the pass does the rest.
///
/// # Errors
/// The journal can't be used, or another process is in a pass.
pub async fn pass(context: &PassContext<'_>, memory: &mut PassState, mode: PassMode) -> Result<PassReport> {
    let pass = Pass::new(context, mode);
    let mut report = pass.report();
    let lock = if pass.is_dry_run() { None } else { Some(lock(context.journal).await?) };
    // The wait for another process's pass isn't this one's.
    let started = Instant::now();
    let mut notes = PassNotes::read(pass, &mut report);
    if let Some(note) = notes.reminders.as_mut().filter(|_| mode == PassMode::Daemon) {
        let lines = note.without_id().map(|line| line.text.as_slice());
        note.just_written = memory.observe_lines_without_id(lines, pass.now);
    }
    notes.tasks = tasks::read(pass, &mut memory.tasks, &mut report)?;
    machine_lines::set_notes(pass, &notes);
    let changed = if let Some(reason) = context.settings.reason_for_silence(pass.now) {
        report.read_only = Some(reason);
        if !pass.is_dry_run() {
            // Confirmations of changes that were made here.
            machine_claims::announce_sends(pass, &notes, None)?;
            Sender::new(pass, SEND_BUDGET, &mut report).resume(MessageSelection::All).await?;
        }
        Vec::new()
    } else if pass.is_dry_run() {
        let plan = plan::plan(pass, &notes)?;
        plan.fires.iter().for_each(|fire| report.fired(&fire.fact, pass));
        plan.changed
    } else {
        let plan = work(pass, &notes, &mut report).await?;
        memory.record_waiting(plan.has_young, pass.now);
        if mode == PassMode::Daemon {
            machine_lines::check_lines(pass, &mut memory.near, &notes, &mut report)?;
        }
        rewrite_lines::rewrite_notes(pass, memory, &notes, &plan, &mut report)?;
        Sender::new(pass, SEND_BUDGET, &mut report).resume(MessageSelection::Copies).await?;
        if context.settings.phrase && mode == PassMode::Daemon {
            report.upcoming = plan::upcoming(pass.dry_run_at(context.clock.now()), &notes)?;
        }
        plan.changed
    };
    report_findings(pass, &notes, &changed, &mut report)?;
    drop(lock);
    finish(started, &mut report);
    Ok(report)
}

/// Sends the due messages, and returns the items to write down.
async fn work(pass: Pass<'_>, notes: &PassNotes, report: &mut PassReport) -> Result<planned::PassPlan> {
    pass.journal.release_unsent()?;
    machine_claims::mark_left_open(pass)?;
    notes::tell_of_copies(pass)?;
    let mut sender = Sender::new(pass, SEND_BUDGET, report);
    sender.resume(MessageSelection::Counting).await?;
    let mut plan = plan::plan(pass, notes)?;
    while !plan.fires.is_empty() {
        fail::fail_point!("deliver::before-claim");
        let phrases = plan::phrases(pass, &plan.fires)?;
        let mut messages = messages::counting(pass, &plan.fires, &phrases)?;
        messages.extend(messages::copies(pass, &plan.fires, &phrases)?);
        let messages = machine_claims::allowed(pass, messages, sender.report).await?;
        let claimed = pass.journal.claim(&messages, |to| pass.delivery_order.limit(to))?;
        fail::fail_point!("deliver::after-claim");
        // Copies are on disk too, and go out once the notes are written.
        let counting = claimed.into_iter().filter(|message| !message.to.is_copy()).collect();
        sender.has_released = false;
        sender.deliver(counting).await?;
        let is_more = sender.has_released && !sender.out_of_time;
        if is_more {
            sender.resume(MessageSelection::Counting).await?;
        }
        plan = plan::plan(pass, notes)?;
        if !is_more {
            break;
        }
    }
    let out_of_time = sender.out_of_time;
    machine_claims::announce_sends(pass, notes, Some(&plan))?;
    report.waiting = plan.waiting.len() + plan.fires.len();
    plan.waiting.iter().for_each(|at| report.request_pass(*at));
    if out_of_time && !plan.fires.is_empty() {
        report.request_pass(pass.now);
    }
    Ok(plan)
}

/// Sends queued messages (confirmations, and messages on their way) without reading the notes. If a pass is going on,
/// that or the next one sends them.
///
/// # Errors
/// The journal can't be used.
pub async fn flush(context: &PassContext<'_>) -> Result<PassReport> {
    send_queued(context, MessageSelection::All).await
}

/// Sends queued confirmations, and nothing else: for a process that isn't the scheduler, whose console and secrets may
/// be others. One that is refused stays queued. If a pass is going on, that or the next one sends them.
///
/// # Errors
/// The journal can't be used.
pub async fn flush_confirmations(context: &PassContext<'_>) -> Result<PassReport> {
    send_queued(context, MessageSelection::Confirmations).await
}

async fn send_queued(context: &PassContext<'_>, which: MessageSelection) -> Result<PassReport> {
    let started = Instant::now();
    let pass = Pass::new(context, PassMode::Tick);
    let mut report = pass.report();
    if let Some(_lock) = context.journal.lock(PASS_LOCK)? {
        Sender::new(pass, SEND_BUDGET, &mut report).resume(which).await?;
    }
    finish(started, &mut report);
    Ok(report)
}

async fn lock(journal: &Journal) -> Result<JournalLock> {
    let started = Instant::now();
    loop {
        if let Some(lock) = journal.lock(PASS_LOCK)? {
            return Ok(lock);
        }
        if started.elapsed() > LOCK_WAIT {
            return Err(PassError::Busy(started.elapsed()));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Reports near misses, once each.
fn report_findings(
    pass: Pass<'_>,
    notes: &PassNotes,
    changed: &[ChangedAfterSend],
    report: &mut PassReport,
) -> Result<()> {
    for (path, mut found) in notes.findings(pass.settings) {
        let kind =
            if path == pass.settings.reminders { MessageKind::Reminder } else { MessageKind::Commitment };
        let here = changed.iter().filter(|changed| changed.kind == kind);
        found.extend(here.map(|changed| delivered_already(&path, changed)));
        let keys = notes.finding_keys(pass.settings, &found);
        let current = keys.iter().copied().collect();
        let new = pass.journal.new_findings(path.as_str(), &current, !pass.is_dry_run())?;
        let told = keys.iter().zip(found).filter(|(key, _)| new.contains(key)).map(|(_, finding)| finding);
        report.near_misses.extend(told);
    }
    Ok(())
}

/// The finding about a line or block whose text was changed after it was delivered, but not its date and time: it
/// stays, and waits for the person.
fn delivered_already(
    path: &NotePath,
    ChangedAfterSend { kind, line, key, .. }: &ChangedAfterSend,
) -> PlacedFinding {
    let (what, suggestion) = match kind {
        MessageKind::Commitment => ("follow-up", "give it another `due`, or set its `status` to delivered"),
        _ => ("reminder", "give it a new date or time, or delete the line"),
    };
    PlacedFinding {
        path: path.as_str().to_owned(),
        line: *line,
        column: 1,
        reason: format!(
            "this {what} was delivered already (`{key}`), before its text was changed; it does not fire again"
        ),
        suggestion: suggestion.to_owned(),
    }
}

fn finish(started: Instant, report: &mut PassReport) {
    let took = started.elapsed();
    report.took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    report.over_time = took > BOUND;
    report.forget_mended();
    if report.over_time {
        tracing::error!(took_ms = report.took_ms, "a pass took longer than 2 s");
    }
}
