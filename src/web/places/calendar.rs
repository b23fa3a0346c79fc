//! Serves `/calendar`: a month or a week with its occurrences; past days show the deliveries.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp, ToSpan};

use super::prelude::*;
use crate::agenda::{self, Agenda, AgendaEntry, EntryKind, EntryState};
use crate::deliver::compose;
use crate::web::line_actions::minute;

/// The most entries of one day in a month's view; a week's view shows all.
const IN_A_DAY: usize = 5;
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The span of time that is shown.
struct CalendarView {
    from: Date,
    to: Date,
    is_week: bool,
}

fn asked(visit: &Visit<'_>) -> Result<CalendarView> {
    let today = visit.workspace.zone.tz().to_datetime(visit.now).date();
    if let Some(text) = visit.query("week") {
        let day: Date = text.parse().map_err(|_| {
            PageError::bad(format!("{} is no day", crate::format::quote(text)))
                .hint("give one as in `2026-12-01`")
        })?;
        let (from, to) = agenda::week(day);
        return Ok(CalendarView { from, to, is_week: true });
    }
    let this = today.strftime("%Y-%m").to_string();
    let text = visit.query("month").unwrap_or(&this);
    let (from, to) = agenda::month(text).ok_or_else(|| {
        PageError::bad(format!("{} is no month", crate::format::quote(text))).hint("give one as in `2026-12`")
    })?;
    Ok(CalendarView { from, to, is_week: false })
}

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let shown = asked(visit)?;
    let agenda = agenda::range(visit.workspace, shown.from, shown.to, &mut visit.tasks())?;
    let title = if shown.is_week {
        format!("Week of {}", visit.dates.day(shown.from))
    } else {
        shown.from.strftime("%B %Y").to_string()
    };
    visit.view(&title, &agenda, |agenda| {
        html! {
            (ways(visit, &shown))
            @for problem in &agenda.problems { p.refused { (problem) } }
            @if agenda.more { p.refused { "Only the first " (agenda::MOST_ENTRIES) " are shown." } }
            @if shown.is_week { (week(visit, &shown, agenda)) } @else { (month(visit, &shown, agenda)) }
        }
    })
}

/// The ways to other times.
fn ways(visit: &Visit<'_>, shown: &CalendarView) -> Markup {
    let step: Span = if shown.is_week { 7.days() } else { 1.month() };
    let to = |date: Date| {
        if shown.is_week {
            format!("/calendar?week={date}")
        } else {
            format!("/calendar?month={}", date.strftime("%Y-%m"))
        }
    };
    let today = visit.workspace.zone.tz().to_datetime(visit.now).date();
    html! {
        nav.pager aria-label="Time" {
            a href=(to(shown.from.saturating_sub(step))) rel="prev" { "Earlier" }
            a href=(to(today)) { "Today" }
            a href=(to(shown.from.saturating_add(step))) rel="next" { "Later" }
            @if shown.is_week { a href={ "/calendar?month=" (shown.from.strftime("%Y-%m")) } { "Month" } }
            @else { a href={ "/calendar?week=" (if shown.from <= today && today <= shown.to { today } else { shown.from }) } { "Week" } }
        }
    }
}

fn by_day(agenda: &Agenda) -> BTreeMap<Date, Vec<&AgendaEntry>> {
    let mut days: BTreeMap<Date, Vec<&AgendaEntry>> = BTreeMap::new();
    for entry in &agenda.entries {
        days.entry(entry.date).or_default().push(entry);
    }
    days
}

fn month(visit: &Visit<'_>, shown: &CalendarView, agenda: &Agenda) -> Markup {
    let days = by_day(agenda);
    let today = visit.workspace.zone.tz().to_datetime(visit.now).date();
    let (first, _) = agenda::week(shown.from);
    let (_, last) = agenda::week(shown.to);
    let all: Vec<Date> = first.series(1.day()).take_while(|day| *day <= last).collect();
    html! {
        table.month {
            thead { tr { @for name in WEEKDAYS { th scope="col" { (name) } } } }
            tbody {
                @for week in all.chunks(7) {
                    tr { @for day in week { (cell(visit, shown, *day, *day == today, days.get(day).map_or(&[][..], Vec::as_slice))) } }
                }
            }
        }
    }
}

fn cell(
    visit: &Visit<'_>,
    shown: &CalendarView,
    day: Date,
    is_today: bool,
    entries: &[&AgendaEntry],
) -> Markup {
    let is_other = day < shown.from || shown.to < day;
    let kind = [(is_other, "other"), (is_today, "today"), (entries.is_empty(), "bare")];
    let kind: Vec<&str> = kind.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    html! {
        td class=(kind.join(" ")) {
            a.day href={ "/calendar?week=" (day) "#d" (day) } aria-label=(visit.dates.weekday(day)) aria-current=[is_today.then_some("date")] {
                (day.day())
            }
            @if !entries.is_empty() {
                ul {
                    @for entry in entries.iter().take(IN_A_DAY) { li class=(class(entry)) { (entry.time) " " (entry.msg) (times(entry)) } }
                    @if entries.len() > IN_A_DAY { li { a href={ "/calendar?week=" (day) "#d" (day) } { (entries.len() - IN_A_DAY) " more" } } }
                }
            }
        }
    }
}

fn class(entry: &AgendaEntry) -> &'static str {
    match entry.state {
        EntryState::Late | EntryState::NotTold => "late",
        EntryState::Told | EntryState::Ran => "done",
        EntryState::Coming | EntryState::IfDone => "",
    }
}

fn times(entry: &AgendaEntry) -> Markup {
    html! { @if entry.times > 1 { " (" (entry.times) " times)" } }
}

fn week(visit: &Visit<'_>, shown: &CalendarView, agenda: &Agenda) -> Markup {
    let days = by_day(agenda);
    let lines = lines(visit, agenda);
    // A form is about the next occurrence of its line, so it stands there alone.
    let mut next: HashMap<&str, usize> = HashMap::new();
    for (at, entry) in agenda.entries.iter().enumerate() {
        if let (Some(id), EntryState::Coming | EntryState::Late) = (&entry.id, entry.state)
            && lines.is_next(entry)
        {
            next.entry(id).or_insert(at);
        }
    }
    html! {
        @for day in shown.from.series(1.day()).take_while(|day| *day <= shown.to) {
            section id={ "d" (day) } {
                h2 { (visit.dates.weekday(day)) }
                @match days.get(&day) {
                    None => (parts::empty("Nothing.")),
                    Some(entries) => ul.plainlist {
                        @for entry in entries {
                            li {
                                (head(visit, entry))
                                @let is_next = entry.id.as_deref().and_then(|id| next.get(id)).is_some_and(|at| std::ptr::eq(&raw const agenda.entries[*at], *entry));
                                @if is_next { (forms(visit, entry, &lines)) }
                            }
                        }
                    },
                }
            }
        }
    }
}

/// The present lines of reminders and tasks, for forms.
#[derive(Default)]
struct PresentLines {
    /// By id; the first of tasks with the same words.
    standing: HashMap<String, String>,
    /// The next times of reminders.
    next: HashMap<String, Timestamp>,
}

fn lines(visit: &Visit<'_>, agenda: &Agenda) -> PresentLines {
    let mut lines = PresentLines::default();
    let reminders = visit.workspace.vault_reminders();
    for line in &agenda.reminders.reminders {
        let Some(id) = line.reminder.id.as_ref().map(ToString::to_string) else { continue };
        let next = reminders.coming(&id, &line.reminder, visit.now).next();
        lines.next.extend(next.map(|next| (id.clone(), next.at)));
        lines.standing.insert(id, String::from_utf8_lossy(&line.text).trim().to_owned());
    }
    let follow_ups = visit.workspace.memory().ledger().list(false).unwrap_or_default();
    lines.standing.extend(follow_ups.into_iter().map(|one| (one.id.clone(), one.fingerprint())));
    for (_, found) in visit.tasks().tasks() {
        lines.standing.entry(found.id.clone()).or_insert_with(|| found.fingerprint());
    }
    lines
}

impl PresentLines {
    /// Whether an entry is what a form of its line would be about: what is late, or the very next.
    fn is_next(&self, entry: &AgendaEntry) -> bool {
        let next = entry.id.as_ref().and_then(|id| self.next.get(id));
        entry.state == EntryState::Late || entry.kind != EntryKind::Reminder || next == Some(&entry.instant)
    }
}

fn head(visit: &Visit<'_>, entry: &AgendaEntry) -> Markup {
    html! {
        p class=(class(entry)) {
            time datetime=(entry.at) { (entry.time) } " " strong { (entry.msg) } (times(entry)) " "
            @if entry.kind != EntryKind::Reminder { (parts::badge(entry.kind.as_str(), "")) " " }
            @if let Some(recur) = &entry.recur { span.soft { (recur) } " " }
            @match entry.state {
                EntryState::Coming => {}
                EntryState::IfDone => { span.soft title="Due after the previous occurrence is done" { "if done" } " " }
                _ => { (parts::badge(&entry.state.as_str().replace('-', " "), if class(entry) == "late" { "bad" } else { "good" })) " " }
            }
            @if let Some(told) = &entry.told { span.soft { (told_words(told)) } " " }
            @if !entry.path.is_empty() { (visit.note_link(&entry.path)) }
        }
    }
}

/// `at 09:31, 1 min late, by discord`.
fn told_words(told: &agenda::DeliveryDetail) -> String {
    let at = told.at.as_ref().map(|at| format!("at {}", at.get(11..16).unwrap_or(at)));
    let late = (told.late_seconds >= 60)
        .then(|| format!("{} late", compose::duration(SignedDuration::from_secs(told.late_seconds))));
    let by = (!told.by.is_empty()).then(|| format!("by {}", told.by.join(", ")));
    let missed = (told.missed > 0).then(|| format!("{} missed before it", told.missed));
    [at, late, by, missed, told.outcome.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The actions on it; the forms lead back to this week.
fn forms(visit: &Visit<'_>, entry: &AgendaEntry, lines: &PresentLines) -> Markup {
    let Some(id) = entry.id.as_deref().filter(|_| entry.kind != EntryKind::Routine) else { return html! {} };
    let was = lines.standing.get(id).map_or("", String::as_str);
    let at = minute(entry.written);
    let values = [("id", id), ("was", was), ("at", at.as_str())];
    let action = &visit.address_with(&[]);
    let typed = |what: &str, name: &str| visit.typed_of(what, &[("id", id)], name);
    let hidden = parts::hidden_values(&values);
    let is_known = !was.is_empty();
    let is_own = entry.kind == EntryKind::Reminder && is_known;
    let is_coming = is_known && entry.state == EntryState::Coming;
    // Done leaves out the late time of a recurring reminder; the other plugins' tasks go on when they are done.
    let may_skip = is_coming && entry.recur.is_some();
    let time = format!("{} {}", entry.date, entry.time);
    let line = |what: &str, name: &str, label: &str, otherwise: &str| {
        html! { label { span { (label) } input name=(name) value=(typed(what, name).unwrap_or(otherwise)) autocomplete="off"; } }
    };
    html! {
        @if entry.kind != EntryKind::Reminder || (is_own && (entry.recur.is_none() || entry.state == EntryState::Late)) { (parts::button(visit, action, "done", &values, "Done")) }
        @if may_skip { (parts::button(visit, action, "skip", &values, "Skip this occurrence")) }
        @if entry.kind == EntryKind::FollowUp {
            (parts::confirmed(visit, action, "cancel", &values, "Cancel", "The entry stays in the note, marked as cancelled."))
        }
        details.more id={ "change-" (id) } open[["snooze", "move", "edit"].iter().any(|what| typed(what, "id").is_some())] {
            summary { "Change" }
            (parts::form(visit, action, "snooze", &html! { (hidden) (line("snooze", "when", "Snooze until (empty: 10 minutes)", "")) }, "Snooze"))
            @if is_coming || (is_known && !is_own) {
                (parts::form(visit, action, "move", &html! { (hidden) (line("move", "when", "Move this occurrence to", &time)) }, "Move"))
            }
            @if is_known {
                (parts::form(visit, action, "edit", &html! {
                    (hidden)
                    (parts::hidden_values(&[("message_was", &entry.msg)]))
                    @if entry.kind == EntryKind::FollowUp {
                        // An input would take its line breaks away.
                        label { span { "Text" } textarea name="message" rows="2" { (typed("edit", "message").unwrap_or(&entry.msg)) } }
                    } @else {
                        (line("edit", "message", "Text", &entry.msg))
                    }
                    (line("edit", "when", "New time (empty: unchanged)", ""))
                    @if is_own { (line("edit", "recur", "Recurrence (none, daily, weekly, monthly)", entry.recur.as_deref().unwrap_or("none"))) }
                }, "Save"))
                @if entry.kind != EntryKind::FollowUp {
                    (parts::confirmed(visit, action, "remove", &values, "Remove", "The line is removed from the note; history keeps it, unless it is turned off."))
                }
            }
        }
    }
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    let said = visit.act_on_line(form)?.ok_or_else(|| PageError::no_such_action(form.get("do")))?;
    Ok(MadeChange::new(visit.address_with(&[]), said))
}
