//! Reads and edits a task of TaskNotes: a note with its fields in the frontmatter.
//!
//! A note is a task by its tag or by a property. Its reminders are the times of its notifications (`relative` to `due`
//! or `scheduled`, or `absolute`). Without a reminder, the notification comes at the due date, or else at the planned
//! date. If the due date of a recurring task is before its planned date, the due date belongs to an earlier occurrence,
//! and the planned date is used instead. If a date has no time of day, a relative reminder counts from the start of the
//! day, as in TaskNotes. A reminder that Snooze wrote ([`SNOOZE`]) is added to the others and replaces none. Properties
//! are changed in place, and every other byte stays.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use serde_json::Value;

use super::super::{lines, yaml};
use super::local_time::local_time;
use super::{NotificationTime, Rules, Task, TaskFormat, TaskTime, field};

/// The task that a note is, if it is open and has a date.
pub fn read(path: &str, bytes: &[u8], rules: &Rules) -> Option<Task> {
    let head = Head::read(bytes)?;
    let names = &rules.notes;
    if !head.is_task(rules) || head.text(&names.status).is_some_and(|status| names.done.contains(&status)) {
        return None;
    }
    let mut due = head.when(&names.due, rules);
    let scheduled = head.when(&names.scheduled, rules);
    let repeat = head.text(&names.recurrence).filter(|text| !text.trim().is_empty());
    // TaskNotes moves `scheduled` alone on, so a `due` before it is that of an earlier time.
    if let (Some(_), Some(was), Some(next)) = (&repeat, due, scheduled)
        && was.date < next.date
    {
        due = Some(TaskTime { time: next.time.or(was.time), ..next });
    }
    // The day that is done of a recurring one stands in a list, and its date stays until the plugin moves it.
    let day = scheduled.or(due).map(|when| when.date.to_string());
    let is_over = |list: &str| day.as_ref().is_some_and(|day| head.list(list).contains(day));
    if repeat.is_some() && (is_over(&names.instances) || is_over(&names.skipped)) {
        return None;
    }
    let all = head.value(&names.reminders).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut notification_times: Vec<NotificationTime> =
        all.iter().filter_map(|one| notification_time(one, due, scheduled, rules)).collect();
    let is_snooze = |one: &Value| one.get("id").and_then(Value::as_str) == Some(SNOOZE);
    if all.iter().all(is_snooze) {
        notification_times
            .extend(due.or(scheduled).map(|when| own(when.at(rules.default_time), when.time.is_some())));
    }
    notification_times.sort_unstable();
    notification_times.dedup_by_key(|time| time.at);
    if notification_times.is_empty() {
        return None;
    }
    Some(Task { format: TaskFormat::TaskNotes, words: head.title(path, rules), notification_times, repeat })
}

fn own(at: DateTime, timed: bool) -> NotificationTime {
    NotificationTime { at, timed, lead: 0, format: TaskFormat::TaskNotes }
}

/// When one entry of `reminders` tells the task.
fn notification_time(
    entry: &Value,
    due: Option<TaskTime>,
    scheduled: Option<TaskTime>,
    rules: &Rules,
) -> Option<NotificationTime> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    match text("type")? {
        "absolute" => {
            let when = read_when(text("absoluteTime")?, rules)?;
            Some(own(when.at(rules.default_time), when.time.is_some()))
        }
        "relative" => {
            let base = match text("relatedTo")? {
                "due" => due?,
                "scheduled" => scheduled?,
                _ => return None,
            };
            let at = rules.moved(base.at(Time::midnight()), offset(text("offset")?)?)?;
            let lead = at.duration_until(base.at(Time::midnight())).as_mins();
            let lead = u32::try_from(lead).unwrap_or(0);
            Some(NotificationTime { lead, ..own(at, true) })
        }
        _ => None,
    }
}

/// An ISO 8601 duration with a sign, as TaskNotes takes it: a month is 30 days, a year 365.
fn offset(text: &str) -> Option<SignedDuration> {
    let span: Span = text.parse().ok().filter(|_| text.trim_start_matches(['-', '+']).starts_with('P'))?;
    let days = i64::from(span.get_years()) * 365 + i64::from(span.get_months()) * 30;
    let rest = span.years(0).months(0).to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    rest.checked_add(SignedDuration::from_hours(days * 24))
}

/// A date or a date and time; with an offset it is an instant, told in the vault's zone.
fn read_when(text: &str, rules: &Rules) -> Option<TaskTime> {
    let text = text.trim();
    let instant = text.parse::<Timestamp>().ok().map(|at| local_time(&rules.zone, at));
    let (_, date_length) = field::date(text)?;
    let at = instant.or_else(|| text.parse::<DateTime>().ok())?;
    let time = Time::new(at.hour(), at.minute(), 0, 0).ok().filter(|_| text.len() > date_length);
    Some(TaskTime { date: at.date(), time })
}

/// The frontmatter of a note.
struct Head {
    map: serde_json::Map<String, Value>,
}

impl Head {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (start, end) = span(bytes)?;
        let yaml = std::str::from_utf8(&bytes[start..end]).ok()?;
        match serde_saphyr::from_str::<Value>(yaml) {
            Ok(Value::Object(map)) => Some(Self { map }),
            _ => None,
        }
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.map.get(key)
    }

    fn text(&self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(truth) => Some(truth.to_string()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn list(&self, key: &str) -> Vec<String> {
        match self.value(key) {
            Some(Value::Array(items)) => {
                items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
            }
            Some(Value::String(text)) => text.split([' ', ',']).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    fn when(&self, key: &str, rules: &Rules) -> Option<TaskTime> {
        read_when(&self.text(key)?, rules)
    }

    fn is_task(&self, rules: &Rules) -> bool {
        let names = &rules.notes;
        let tags: Vec<String> =
            self.list("tags").iter().map(|tag| tag.trim_start_matches('#').to_lowercase()).collect();
        let has = |wanted: &str| {
            let wanted = wanted.trim_start_matches('#').to_lowercase();
            tags.iter().any(|tag| {
                *tag == wanted || tag.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('/'))
            })
        };
        let is = match &names.property {
            Some((property, value)) if value.is_empty() => self.value(property).is_some(),
            Some((property, value)) => {
                self.text(property).as_ref() == Some(value) || self.list(property).contains(value)
            }
            None => has(&names.tag),
        };
        is && !has(&names.archived)
    }

    fn title(&self, path: &str, rules: &Rules) -> String {
        let name = path.rsplit('/').next().unwrap_or(path);
        let name = name.strip_suffix(".md").unwrap_or(name);
        let title = self.text(&rules.notes.title).filter(|title| !title.trim().is_empty());
        crate::format::one_line(&title.unwrap_or_else(|| name.to_owned()))
    }
}

/// The beginning and the end of the frontmatter's text.
fn span(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = lines::frontmatter_end(bytes)?;
    let mut all = lines::lines(bytes);
    let start = all.next()?.end();
    let close = lines::lines(bytes).take_while(|line| line.end() <= end).last()?.start;
    (start <= close).then_some((start, close))
}

/// The fields of a task note besides those of [`read`], for computing its next occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNoteFields {
    /// When it is due.
    pub due: Option<TaskTime>,
    /// When it is planned for.
    pub scheduled: Option<TaskTime>,
    /// When it was written.
    pub created: Option<Date>,
    /// How it comes again, as it stands there.
    pub recurrence: Option<String>,
    /// Whether it counts on from the day on which it was done.
    pub from_completion: bool,
    /// The days that are done.
    pub instances: Vec<String>,
    /// The days that were left out.
    pub skipped: Vec<String>,
    /// Whether it keeps the time of its last change.
    pub has_modified: bool,
}

/// Reads the frontmatter of a note; `None` where it has none that can be read.
pub fn fields(bytes: &[u8], rules: &Rules) -> Option<TaskNoteFields> {
    let head = Head::read(bytes)?;
    let names = &rules.notes;
    Some(TaskNoteFields {
        due: head.when(&names.due, rules),
        scheduled: head.when(&names.scheduled, rules),
        created: head.when("dateCreated", rules).map(|when| when.date),
        recurrence: head.text(&names.recurrence).filter(|text| !text.trim().is_empty()),
        from_completion: head.text(&names.anchor).is_some_and(|anchor| anchor == "completion"),
        instances: head.list(&names.instances),
        skipped: head.list(&names.skipped),
        has_modified: head.value(&names.modified).is_some(),
    })
}

/// The id of the reminder that Snooze writes: there is at most one, and its time is written anew.
pub const SNOOZE: &str = "vault-agent-snooze";

/// The note with a further notification at another time; `None` if its frontmatter has a form that TaskNotes doesn't
/// write.
pub fn snoozed(bytes: &[u8], rules: &Rules, to: DateTime) -> Option<Vec<u8>> {
    let item = vec![
        format!("id: {SNOOZE}"),
        "type: absolute".to_owned(),
        format!("absoluteTime: {}", to.strftime("%Y-%m-%dT%H:%M:%S")),
        "description: Snoozed".to_owned(),
    ];
    let push = PropertyChange::Push(rules.notes.reminders.clone(), item);
    with_changes(&without_snooze(bytes, rules), &[push])
}

/// The note without the reminder that Snooze wrote.
pub fn without_snooze(bytes: &[u8], rules: &Rules) -> Vec<u8> {
    let cut = || {
        let (start, close) = span(bytes)?;
        let head: Vec<_> =
            lines::lines(bytes).filter(|line| line.start >= start && line.start < close).collect();
        let indent = |at: usize| head[at].text.len() - head[at].text.trim_ascii_start().len();
        let is_item = |at: usize| head[at].text[indent(at)..].starts_with(b"- ");
        let at = head.iter().position(|line| {
            line.text.trim_ascii().strip_prefix(b"- id: ").is_some_and(|id| id == SNOOZE.as_bytes())
        })?;
        let next = (at + 1..head.len()).find(|next| indent(*next) <= indent(at));
        let key = &rules.notes.reminders;
        let list = at.checked_sub(1).map(|before| &head[before]);
        let list = list.and_then(|list| Some(list.start + yaml::entry_of(list.text, key)?.place.start));
        let end = next.map_or(close, |next| head[next].start);
        let after = match list.filter(|_| !next.is_some_and(is_item)) {
            Some(at) => {
                let empty = format!(" []{}", lines::terminator_of(bytes));
                splice(bytes, behind_colon(bytes, at)..end, empty.as_bytes())
            }
            None => splice(bytes, head[at].start..end, b""),
        };
        Head::read(&after).map(|_| after)
    };
    cut().unwrap_or_else(|| bytes.to_vec())
}

/// One change of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyChange {
    /// Its value, written plainly.
    Set(String, String),
    /// One more item of its list; further lines of the item are indented below it.
    Push(String, Vec<String>),
}

/// The note with properties changed, and no other byte of it; `None` where its frontmatter has a form that is none of
/// TaskNotes' (a list in braces, a value below its key), or none at all.
pub fn with_changes(bytes: &[u8], changes: &[PropertyChange]) -> Option<Vec<u8>> {
    let mut now = bytes.to_vec();
    for change in changes {
        now = match change {
            PropertyChange::Set(key, value) => {
                yaml::with_value(&now, lines::frontmatter_end(&now)?, key, &scalar(value))?
            }
            PropertyChange::Push(key, item) => push(&now, key, item)?,
        };
    }
    let head = Head::read(&now)?;
    let holds = |change: &PropertyChange| match change {
        PropertyChange::Set(key, value) => head.text(key).as_ref() == Some(value),
        PropertyChange::Push(..) => true,
    };
    changes.iter().all(holds).then_some(now)
}

/// The offset behind the colon before a value that begins at `at`.
fn behind_colon(bytes: &[u8], at: usize) -> usize {
    bytes[..at].trim_ascii_end().len()
}

fn splice(bytes: &[u8], at: std::ops::Range<usize>, with: &[u8]) -> Vec<u8> {
    [&bytes[..at.start], with, &bytes[at.end..]].concat()
}

/// A value as TaskNotes writes it: a date stands plain, though YAML's own writers would quote it.
fn scalar(value: &str) -> String {
    if value.parse::<Date>().is_ok() { value.to_owned() } else { yaml::to_scalar(value) }
}

fn push(bytes: &[u8], key: &str, item: &[String]) -> Option<Vec<u8>> {
    let (start, close) = span(bytes)?;
    let end = lines::terminator_of(bytes);
    let block = |indent: &str| -> String {
        let dashed = item.iter().enumerate();
        dashed.map(|(at, text)| format!("{indent}{}{text}{end}", if at == 0 { "- " } else { "  " })).collect()
    };
    let head: Vec<_> = lines::lines(bytes).filter(|line| line.start >= start && line.start < close).collect();
    let Some(at) = head.iter().position(|line| yaml::entry_of(line.text, key).is_some()) else {
        let text = format!("{key}:{end}{}", block("  "));
        return Some(splice(bytes, close..close, text.as_bytes()));
    };
    let line = head[at];
    let entry = yaml::entry_of(line.text, key)?;
    let place = line.start + entry.place.start..line.start + entry.place.end;
    if !entry.value.is_empty() {
        let inner = entry.value.strip_prefix('[')?.strip_suffix(']')?;
        if inner.trim().is_empty() {
            let text = format!("{end}{}", block("  "));
            return Some(splice(bytes, behind_colon(bytes, place.start)..line.end(), text.as_bytes()));
        }
        let [one] = item else { return None };
        let close = place.end - 1;
        return Some(splice(bytes, close..close, format!(", {one}").as_bytes()));
    }
    let is_nested = |line: &&lines::Line<'_>| matches!(line.text.first(), None | Some(b' ' | b'\t' | b'-'));
    let nested: Vec<_> = head[at + 1..].iter().take_while(is_nested).collect();
    let first = nested.iter().find(|line| line.text.trim_ascii_start().starts_with(b"- "));
    let indent = first.map_or(2, |line| line.text.len() - line.text.trim_ascii_start().len());
    let from = nested.iter().rev().find(|line| !line.text.is_empty()).map_or(line.end(), |line| line.end());
    Some(splice(bytes, from..from, block(&" ".repeat(indent)).as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_change_where_they_stand() {
        let note = "---\r\nstatus: \"open\" # x\r\ntags: [task]\r\nreminders: []\r\n---\r\nbody\r\n";
        let done = with_changes(
            note.as_bytes(),
            &[
                PropertyChange::Set("status".into(), "done".into()),
                PropertyChange::Set("completedDate".into(), "2026-12-01".into()),
                PropertyChange::Push("reminders".into(), vec!["id: a".into(), "type: absolute".into()]),
                PropertyChange::Push("reminders".into(), vec!["id: b".into()]),
                PropertyChange::Push("complete_instances".into(), vec!["2026-12-01".into()]),
            ],
        );
        let expected = "---\r\nstatus: \"done\" # x\r\ntags: [task]\r\nreminders:\r\n  - id: a\r\n    type: absolute\r\n  - id: b\r\ncompletedDate: 2026-12-01\r\ncomplete_instances:\r\n  - 2026-12-01\r\n---\r\nbody\r\n";
        assert_eq!(String::from_utf8(done.unwrap()).unwrap(), expected);
        assert_eq!(with_changes(b"no head", &[PropertyChange::Set("a".into(), "b".into())]), None);
        let flow = with_changes(
            b"---\na: [x]\nb:\n- y\nc:\n---\n",
            &[
                PropertyChange::Push("a".into(), vec!["z".into()]),
                PropertyChange::Push("b".into(), vec!["z".into()]),
                PropertyChange::Set("c".into(), "d".into()),
            ],
        );
        assert_eq!(String::from_utf8(flow.unwrap()).unwrap(), "---\na: [x, z]\nb:\n- y\n- z\nc: d\n---\n");
    }

    #[test]
    fn a_second_snooze_moves_the_first() {
        let rules = Rules::default();
        let note = "---\ntags: [task]\ndue: 2026-12-01\n---\n";
        let once = snoozed(note.as_bytes(), &rules, "2026-12-01T10:30".parse().unwrap()).unwrap();
        let twice = snoozed(&once, &rules, "2026-12-02T08:00".parse().unwrap()).unwrap();
        assert_eq!(
            String::from_utf8(twice.clone()).unwrap(),
            "---\ntags: [task]\ndue: 2026-12-01\nreminders:\n  - id: vault-agent-snooze\n    type: absolute\n    absoluteTime: 2026-12-02T08:00:00\n    description: Snoozed\n---\n"
        );
        let told = read("Cake.md", &twice, &rules).unwrap().notification_times;
        let at: Vec<String> = told.iter().map(|time| time.at.to_string()).collect();
        assert_eq!(at, ["2026-12-01T09:00:00", "2026-12-02T08:00:00"]);
    }

    #[test]
    fn offsets() {
        let read = |text: &str| offset(text).map(|length| length.as_secs());
        assert_eq!(read("-PT15M"), Some(-900));
        assert_eq!(read("P1DT2H"), Some(93_600));
        assert_eq!(read("-P2W"), Some(-14 * 86_400));
        assert_eq!(read("PT0S"), Some(0));
        for wrong in ["", "P", "PT", "15M", "PT15", "P15H", "PT1D", "-PTT1M"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
