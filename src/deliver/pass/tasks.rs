//! Plans the notifications for task lines of other plugins: one for each time of a task. The line isn't edited.
//!
//! The key of a task is made of its words and its note; the key of an occurrence also of its local time. So a task with
//! a changed date or time is notified again. A line that moved within its note, or that stands beside a ticked line, is
//! not. A date without a time of day gets its time from the settings; a change of that setting makes no new occurrence.
//!
//! [`MovedTasks`] prevents a second notification of a task whose key has changed: it finds the notification that was
//! sent under an earlier key, if no line has the earlier key any more. There are four cases:
//!
//! - the same words at the same time, in another or a renamed note;
//! - the same words on the same day, after a change of the settings' time of day;
//! - the same words at the same instant, after a change of the settings' zone, if the note names an instant;
//! - a line of the same note at the same time, with tags added or removed.
//!
//! Other words are another task: a reworded line can't be distinguished from a new line beside a deleted one. A missed
//! task is worse than a second notification.

use jiff::{SignedDuration, Timestamp, ToSpan, civil};

use super::planned::{DAY, PassPlan, PendingSend, Readiness, late_seconds, readiness};
use super::{Pass, PassContext, PassMode, PassReport};
use crate::clock;
use crate::config::PathPatterns;
use crate::deliver::delivery_journal::{self, LineHash, NotifiedTask};
use crate::deliver::notice_once;
use crate::deliver::prelude::*;
use crate::format::task::{NotificationTime, TaskFormat, TaskLine};
use crate::format::{lines, shortened};
use crate::schedule::resolve;
use crate::sqlite::Result;
use crate::tasks::{Scanner, TaskSettings, task_id, words_of};

/// The wait of a line that was just written, because its date may be half typed.
const STILL: SignedDuration = SignedDuration::from_secs(5);
/// The most notes that are named of those with overdue tasks.
const NAMED: usize = 5;
/// The most characters of a task in a notification.
const TOLD: usize = 300;

/// An occurrence that is due and that the forms' beginnings let through.
#[derive(Debug)]
pub(super) struct DueTask {
    key: String,
    id: String,
    path: String,
    words: String,
    notification_time: NotificationTime,
    own: civil::DateTime,
    at: Timestamp,
    recurring: bool,
    new: Option<Timestamp>,
}

impl DueTask {
    /// The hash of the line with its date, if it names a day without a time of day: the time from the settings is left
    /// out.
    fn day(&self) -> Option<LineHash> {
        let own =
            self.notification_time.at.checked_add(i64::from(self.notification_time.lead).minutes()).ok()?;
        let says = || format!("{}\0{}\0{}", self.words, own.date(), self.notification_time.lead);
        (!self.notification_time.timed).then(|| LineHash::of(says().as_bytes()))
    }

    /// The line's text in a notification.
    fn said(&self) -> String {
        format!("{} · {}", shortened(&self.words, TOLD), self.path)
    }

    /// The hash of the line, for the journal.
    fn line(&self) -> LineHash {
        self.day().unwrap_or_else(|| LineHash::of(self.words.as_bytes()))
    }
}

/// Reads the vault's tasks; `None` if none are notified, or if they can't be read.
pub(super) fn read(
    pass: Pass<'_>,
    scanner: &mut Scanner,
    report: &mut PassReport,
) -> Result<Option<Vec<DueTask>>> {
    let now = pass.now;
    let is_writing = !pass.is_dry_run() && pass.settings.read_only.is_none() && clock::is_plausible(now);
    let known = pass.journal.task_scopes()?;
    let Some(settings) = &pass.settings.tasks else {
        if is_writing && !known.is_empty() {
            pass.journal.set_task_scopes(&[], now)?;
        }
        return Ok(None);
    };
    match scanner.scan(pass.vault, settings, now) {
        Ok(problems) => report.problems.extend(problems),
        Err(problem) => {
            report.problems.push(problem);
            return Ok(None);
        }
    }
    let scopes = scopes(settings, scanner.filter());
    let mut names: Vec<&str> = scopes.iter().map(|scope| scope.name.as_str()).collect();
    let mut new: Vec<&str> = names.iter().copied().filter(|name| !known.contains_key(*name)).collect();
    let replaced = replaced_scopes(&scopes, scanner.filter(), &known, now);
    names.extend(replaced.iter().map(|scope| scope.name.as_str()));
    let zone = &pass.settings.zone;
    // Tasks that other machines may have to know are included.
    let ahead = if pass.machines.is_alone() { now } else { pass.later(DAY) };
    let mut tasks = Vec::new();
    let mut overdue: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, found) in scanner.tasks() {
        let own = found.task.notification_times.last().map_or(civil::DateTime::MIN, |time| time.at);
        for notification_time in &found.task.notification_times {
            let at = resolve(zone, notification_time.at);
            if at > ahead {
                continue;
            }
            // Notified since the oldest scope that fits; from now on, if none is known.
            let fitting = scopes
                .iter()
                .chain(&replaced)
                .filter(|scope| scope.has(notification_time.format, path, &found.task.words));
            match fitting.filter_map(|scope| known.get(&scope.name).copied()).min() {
                Some(since) if at >= since => {}
                Some(_) => continue,
                None if at > now => continue,
                None => {
                    *overdue.entry(path).or_default() += 1;
                    continue;
                }
            }
            tasks.push(DueTask {
                key: delivery_journal::key(&found.id, notification_time.at, None),
                id: found.id.clone(),
                path: path.to_owned(),
                words: found.task.words.clone(),
                notification_time: *notification_time,
                own,
                at,
                recurring: found.task.repeat.is_some(),
                new: found.new,
            });
        }
    }
    if is_writing {
        if !new.is_empty() && pass.machines.is_voice() {
            let forms = settings.on.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
            new.sort_unstable();
            let name = format!("tasks-on:{}:{}", new.join(" "), now.as_second() / 86_400);
            notice_once(pass.journal, &name, &turned_on_notice(&forms, &overdue), now)?;
        }
        if !new.is_empty() || known.len() != names.len() || known.values().any(|since| *since > now) {
            pass.journal.set_task_scopes(&names, now)?;
        }
    }
    Ok(Some(tasks))
}

/// The notice that is sent once, when forms are turned on.
fn turned_on_notice(forms: &str, overdue: &BTreeMap<&str, usize>) -> String {
    let all: usize = overdue.values().sum();
    if all == 0 {
        return format!("Tasks in your notes are delivered from now on ({forms}). None is overdue.");
    }
    let mut notes: Vec<(&&str, &usize)> = overdue.iter().collect();
    notes.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let shown: Vec<String> =
        notes.iter().take(NAMED).map(|(path, count)| format!("- {path} ({count})")).collect();
    let more = match notes.len().saturating_sub(NAMED) {
        0 => String::new(),
        1 => "\n- 1 more note".to_owned(),
        rest => format!("\n- {rest} more notes"),
    };
    format!(
        "Tasks in your notes are delivered from now on ({forms}). {all} already overdue, so not delivered one by one:\n{}{more}",
        shown.join("\n")
    )
}

/// A form with its filter, in the notes of a pattern (`None` for all).
struct TaskScope {
    format: TaskFormat,
    /// What a task's words must have; empty for the present filter, which the scanner keeps to.
    filter: String,
    glob: Option<PathPatterns>,
    name: String,
}

impl TaskScope {
    /// None where the pattern is no longer one.
    fn new(format: TaskFormat, name: String, filter: &str, pattern: &str) -> Option<Self> {
        let glob = (!pattern.is_empty()).then(|| PathPatterns::new(&[pattern.to_owned()]));
        Some(Self { format, filter: filter.to_owned(), glob: glob.transpose().ok()?, name })
    }

    fn has(&self, format: TaskFormat, path: &str, words: &str) -> bool {
        self.format == format
            && words.contains(&self.filter)
            && self.glob.as_ref().is_none_or(|glob| glob.matches(path))
    }
}

/// The scopes that the settings name.
fn scopes(settings: &TaskSettings, filter: &str) -> Vec<TaskScope> {
    let all = [String::new()];
    let from = if settings.from.is_empty() { &all[..] } else { &settings.from[..] };
    let scope = |pattern: &String, format: TaskFormat| {
        let filter = if matches!(format, TaskFormat::Tasks | TaskFormat::Dataview) { filter } else { "" };
        TaskScope::new(format, format!("{format}|{filter}|{pattern}"), "", pattern)
    };
    let of_pattern = |pattern| settings.on.iter().map(move |format| scope(pattern, *format));
    from.iter().flat_map(of_pattern).flatten().collect()
}

/// The scopes that others of the same form replaced within the last day: what they had and was not sent yet is sent.
fn replaced_scopes(
    scopes: &[TaskScope],
    filter: &str,
    known: &HashMap<String, Timestamp>,
    now: Timestamp,
) -> Vec<TaskScope> {
    let is_new =
        |scope: &&TaskScope| known.get(&scope.name).is_none_or(|since| now.duration_since(*since) < DAY);
    let changed: Vec<TaskFormat> = scopes.iter().filter(is_new).map(|scope| scope.format).collect();
    let gone = known.keys().filter(|name| scopes.iter().all(|scope| scope.name != **name));
    let replaced = gone.filter_map(|name| {
        let (form, rest) = name.split_once('|')?;
        let format = *changed.iter().find(|format| format.to_string() == form)?;
        // A pattern may hold a `|`, too; and a filter, though hardly.
        let same = rest.strip_prefix(filter).and_then(|rest| rest.strip_prefix('|'));
        let (old, pattern) = same.map(|pattern| ("", pattern)).or_else(|| rest.split_once('|'))?;
        TaskScope::new(format, name.clone(), old, pattern)
    });
    replaced.collect()
}

/// Plans the tasks that are notified now.
pub(super) fn plan(pass: Pass<'_>, tasks: &[DueTask], plan: &mut PassPlan) -> Result<()> {
    let now = pass.now;
    let standing = tasks.iter().map(|due| due.key.as_str()).collect();
    let mut moved = MovedTasks { pass, standing, taken: HashSet::new() };
    let mut days = Vec::new();
    for due in tasks.iter().filter(|due| due.at <= now) {
        let row = pass.journal.row(&due.key)?;
        let is_new = row.is_none();
        match readiness(pass, row) {
            // A task line is notified and never edited. Older journals keep no more than the words.
            Readiness::Sent(row) => {
                let old = row.line == LineHash::of(due.words.as_bytes());
                days.extend(due.day().filter(|_| old).map(|day| (due.key.as_str(), day)));
            }
            Readiness::Wait(at) => {
                plan.waiting.extend(at);
                plan.open.insert(due.key.clone());
            }
            Readiness::Fire => {
                if plan.open.contains(&due.key) || is_new && moved.was_sent(due)? {
                    continue;
                }
                // A clock that was ahead makes no line wait for it.
                let new = due.new.filter(|new| *new <= now);
                let still = new.and_then(|new| new.checked_add(STILL).ok());
                if let Some(at) = still.filter(|at| *at > now && pass.mode == PassMode::Daemon) {
                    plan.waiting.push(at);
                    continue;
                }
                plan.open.insert(due.key.clone());
                plan.fires.push(PendingSend {
                    key: due.key.clone(),
                    line: due.line(),
                    fact: fact(due, pass),
                    scope: None,
                });
            }
        }
    }
    if !pass.is_dry_run() {
        pass.journal.set_task_lines(&days)?;
    }
    Ok(())
}

fn fact(due: &DueTask, pass: Pass<'_>) -> NotifiedItem {
    let (now, local_now) = (pass.now, pass.settings.zone.tz().to_datetime(pass.now));
    NotifiedItem {
        kind: MessageKind::Task,
        id: due.id.clone(),
        local: due.notification_time.at,
        due: due.at,
        late_seconds: late_seconds(due.at, now),
        missed: 0,
        msg: due.said(),
        recurring: due.recurring,
        // If only times before its own are notified, none of them is the next.
        next: (due.notification_time.lead > 0 && due.own > due.notification_time.at.max(local_now))
            .then_some(due.own),
        note: Some(due.path.clone()),
    }
}

/// Finds notifications that were sent under an earlier key of a task.
struct MovedTasks<'a> {
    pass: Pass<'a>,
    /// The keys of all lines that are due.
    standing: HashSet<&'a str>,
    taken: HashSet<String>,
}

impl MovedTasks<'_> {
    /// Whether a task without a row was notified, or is being notified, under an earlier key; its row then gets the new
    /// key.
    fn was_sent(&mut self, due: &DueTask) -> Result<bool> {
        let Some(gone) = self.gone(due)? else { return Ok(false) };
        if gone.is_certain && !self.pass.is_dry_run() {
            let (id, note) = (due.id.clone(), Some(due.path.clone()));
            let fact = NotifiedItem { id, msg: due.said(), note, ..gone.fact };
            self.pass.journal.task_moved(&gone.key, &due.key, &due.line(), &fact)?;
        }
        self.taken.insert(gone.key);
        Ok(true)
    }

    fn gone(&self, due: &DueTask) -> Result<Option<NotifiedTask>> {
        let Some(words) = words_of(&due.id) else { return Ok(None) };
        // Only TaskNotes has instants, whose local time is another one once the zone of the settings is.
        let instant = (due.notification_time.format == TaskFormat::TaskNotes).then_some(due.at);
        let (local, day) = (due.notification_time.at, due.day());
        let same = self.pass.journal.notified_tasks(words, local, day.as_ref(), instant)?;
        let is_moved = |told: &NotifiedTask| {
            let note = told.fact.note.as_deref().filter(|note| *note != due.path);
            self.is_free(told) && !note.is_some_and(|note| is_in_note(&self.pass, note, &told.fact))
        };
        if let Some(gone) = same.into_iter().find(is_moved) {
            return Ok(Some(gone));
        }
        let tagged = |told: &NotifiedTask| {
            self.is_free(told) && is_tagged(told, due) && !is_in_note(&self.pass, &due.path, &told.fact)
        };
        let at_the_time = self.pass.journal.notified_tasks_at(due.notification_time.at)?;
        Ok(at_the_time.into_iter().find(tagged))
    }

    fn is_free(&self, told: &NotifiedTask) -> bool {
        !self.standing.contains(told.key.as_str()) && !self.taken.contains(&told.key)
    }
}

/// Whether a line of the same note differs from the notified one by added tags, or by removed ones.
fn is_tagged(told: &NotifiedTask, due: &DueTask) -> bool {
    let fact = &told.fact;
    let words = fact.msg.strip_suffix(&due.path).and_then(|words| words.strip_suffix(" · "));
    let Some(words) = words.filter(|_| fact.note.as_ref() == Some(&due.path)) else { return false };
    let new = shortened(&due.words, TOLD);
    let ((words, tags), (new_words, new_tags)) = (split_tags(words), split_tags(&new));
    words == new_words && !words.is_empty() && (tags.is_subset(&new_tags) || new_tags.is_subset(&tags))
}

/// The words without tags, and the tags.
fn split_tags(text: &str) -> (Vec<&str>, HashSet<&str>) {
    let is_tag = |word: &&str| word.len() > 1 && word.starts_with('#');
    (
        text.split_whitespace().filter(|word| !is_tag(word)).collect(),
        text.split_whitespace().filter(is_tag).collect(),
    )
}

/// Whether the note still has the notified line, open or done: its words with its time, or with its day where it has no
/// time of day. Then the new line is another task. If that isn't known, it counts as another, too.
fn is_in_note(context: &PassContext<'_>, path: &str, told: &NotifiedItem) -> bool {
    let Some(settings) = &context.settings.tasks else { return true };
    let rules = crate::tasks::rules(context.vault, settings);
    let bytes =
        crate::vault::NotePath::new(path).ok().and_then(|path| context.vault.read_or_empty(&path).ok());
    let (Ok(rules), Some(bytes)) = (rules, bytes) else { return true };
    let is_then = |time: &NotificationTime| {
        time.at == told.local || (!time.timed && time.at.date() == told.local.date())
    };
    let is_it = |text: &[u8]| {
        let line = std::str::from_utf8(text).ok().and_then(|text| TaskLine::read(text, &rules));
        line.and_then(|line| line.task(&rules)).is_some_and(|task| {
            words_of(&task_id(path, &task.words)) == words_of(&told.id)
                && task.notification_times.iter().any(is_then)
        })
    };
    lines::LiveLines::new(&bytes).any(|line| is_it(line.text))
}
