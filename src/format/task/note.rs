//! TaskNotes: a note that is a task, in its frontmatter.
//!
//! A note is a task by its tag or by a property. Its reminders say when it is told (`relative` to `due` or `scheduled`, or
//! `absolute`); without any it is told when it is due, else when it is planned for. A relative reminder counts from the
//! start of the day where its date has no time of day, as TaskNotes' own does.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::super::{lines, yaml};
use super::{Format, Rules, Task, Telling, When, field};

/// The task that a note is, if it is open and has a date.
pub fn read(path: &str, bytes: &[u8], rules: &Rules) -> Option<Task> {
    let head = Head::read(bytes)?;
    let names = &rules.notes;
    if !head.is_task(rules) || head.text(&names.status).is_some_and(|status| names.done.contains(&status)) {
        return None;
    }
    let due = head.when(&names.due, rules);
    let scheduled = head.when(&names.scheduled, rules);
    let repeat = head.text(&names.recurrence).filter(|text| !text.trim().is_empty());
    // The day that is done of a recurring one stands in a list, and its date stays until the plugin moves it.
    let day = scheduled.or(due).map(|when| when.date.to_string());
    let is_over = |list: &str| day.as_ref().is_some_and(|day| head.list(list).contains(day));
    if repeat.is_some() && (is_over(&names.instances) || is_over(&names.skipped)) {
        return None;
    }
    let mut tellings: Vec<Telling> = match head.value(&names.reminders) {
        Some(Value::Array(all)) if !all.is_empty() => {
            all.iter().filter_map(|one| telling(one, due, scheduled, rules)).collect()
        }
        _ => due
            .or(scheduled)
            .map(|when| own(when.at(rules.default_time), when.time.is_some()))
            .into_iter()
            .collect(),
    };
    tellings.sort_unstable();
    tellings.dedup_by_key(|telling| telling.at);
    if tellings.is_empty() {
        return None;
    }
    Some(Task { format: Format::TaskNotes, words: head.title(path, rules), tellings, repeat })
}

fn own(at: DateTime, timed: bool) -> Telling {
    Telling { at, timed, lead: 0, format: Format::TaskNotes }
}

/// When one entry of `reminders` tells the task.
fn telling(entry: &Value, due: Option<When>, scheduled: Option<When>, rules: &Rules) -> Option<Telling> {
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
            let at = base.at(Time::midnight()).checked_add(offset(text("offset")?)?).ok()?;
            let lead = at.duration_until(base.at(Time::midnight())).as_mins();
            let lead = u32::try_from(lead).unwrap_or(0);
            Some(Telling { lead, ..own(at, true) })
        }
        _ => None,
    }
}

/// An ISO 8601 duration with a sign, as TaskNotes takes it: a month is 30 days, a year 365.
fn offset(text: &str) -> Option<SignedDuration> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut rest = rest.strip_prefix('P')?;
    let mut in_time = false;
    let mut seconds: i64 = 0;
    let mut parts = 0;
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T').filter(|_| !in_time) {
            (in_time, rest) = (true, time);
            continue;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest[..digits].parse().ok()?;
        let day = 86_400;
        let unit = match (rest[digits..].chars().next()?, in_time) {
            ('Y', false) => 365 * day,
            ('M', false) => 30 * day,
            ('W', false) => 7 * day,
            ('D', false) => day,
            ('H', true) => 3600,
            ('M', true) => 60,
            ('S', true) => 1,
            _ => return None,
        };
        seconds = seconds.checked_add(number.checked_mul(unit)?)?;
        rest = &rest[digits + 1..];
        parts += 1;
    }
    (parts > 0).then(|| SignedDuration::from_secs(sign * seconds))
}

/// A date or a date and time; with an offset it is an instant, told in the vault's zone.
fn read_when(text: &str, rules: &Rules) -> Option<When> {
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        let local = rules.zone.to_datetime(at);
        return Some(When {
            date: local.date(),
            time: Some(local.time().with().second(0).subsec_nanosecond(0).build().ok()?),
        });
    }
    let (date, used) = field::date(text)?;
    let rest = &text[used..];
    if rest.is_empty() {
        return Some(When { date, time: None });
    }
    let clock = rest.strip_prefix(['T', ' '])?;
    let time = clock.get(..5).and_then(|clock| field::time(clock, true)).map(|(time, _)| time)?;
    let seconds = &clock[5..];
    let is_seconds = seconds.is_empty()
        || seconds
            .strip_prefix(':')
            .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    is_seconds.then_some(When { date, time: Some(time) })
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

    fn when(&self, key: &str, rules: &Rules) -> Option<When> {
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
        title.unwrap_or_else(|| name.to_owned()).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Where the frontmatter's text begins and ends.
fn span(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = lines::frontmatter_end(bytes)?;
    let mut all = lines::lines(bytes);
    let start = all.next()?.end();
    let close = lines::lines(bytes).take_while(|line| line.end() <= end).last()?.start;
    (start <= close).then_some((start, close))
}

/// What a task that is a note says beyond [`read`], for who moves it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dates {
    /// When it is due.
    pub due: Option<When>,
    /// When it is planned for.
    pub scheduled: Option<When>,
    /// When it was written.
    pub created: Option<Date>,
}

/// The dates of a note that is a task.
pub fn dates(bytes: &[u8], rules: &Rules) -> Option<Dates> {
    let head = Head::read(bytes)?;
    let names = &rules.notes;
    let created = head.when("dateCreated", rules).map(|when| when.date);
    Some(Dates { due: head.when(&names.due, rules), scheduled: head.when(&names.scheduled, rules), created })
}

/// One change of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Its value, written plainly.
    Set(String, String),
    /// One more item of its list; further lines of the item are indented below it.
    Push(String, Vec<String>),
}

/// The note with properties changed, and no other byte of it; `None` where its frontmatter has a form that is none of
/// TaskNotes' (a list in braces, say), or none at all.
pub fn changed(bytes: &[u8], changes: &[Change]) -> Option<Vec<u8>> {
    let mut now = bytes.to_vec();
    for change in changes {
        now = match change {
            Change::Set(key, value) => set(&now, key, value)?,
            Change::Push(key, item) => push(&now, key, item)?,
        };
    }
    Head::read(&now)?;
    Some(now)
}

fn splice(bytes: &[u8], at: std::ops::Range<usize>, with: &[u8]) -> Vec<u8> {
    [&bytes[..at.start], with, &bytes[at.end..]].concat()
}

/// The line end of the note's first line.
fn line_end(bytes: &[u8]) -> &'static str {
    if lines::lines(bytes).next().is_some_and(|line| line.terminator == b"\r\n") { "\r\n" } else { "\n" }
}

/// A value as TaskNotes writes it: a date stands plain, though YAML's own writers would quote it.
fn scalar(value: &str) -> String {
    if value.parse::<Date>().is_ok() { value.to_owned() } else { yaml::to_scalar(value) }
}

fn set(bytes: &[u8], key: &str, value: &str) -> Option<Vec<u8>> {
    let (start, close) = span(bytes)?;
    let in_head = lines::lines(bytes).filter(|line| line.start >= start && line.start < close);
    for line in in_head {
        let Some(entry) = yaml::entry(line.text).filter(|entry| entry.key == key) else { continue };
        let place = line.start + entry.place.start..line.start + entry.place.end;
        let with = if entry.place.is_empty() && line.text.last() == Some(&b':') {
            format!(" {}", scalar(value))
        } else if bytes.get(place.start.wrapping_sub(1)).is_some_and(|b| matches!(b, b'"' | b'\'')) {
            value.to_owned()
        } else {
            scalar(value)
        };
        return Some(splice(bytes, place, with.as_bytes()));
    }
    let line = format!("{key}: {}{}", scalar(value), line_end(bytes));
    Some(splice(bytes, close..close, line.as_bytes()))
}

fn push(bytes: &[u8], key: &str, item: &[String]) -> Option<Vec<u8>> {
    let (start, close) = span(bytes)?;
    let end = line_end(bytes);
    let block = |indent: &str| -> String {
        let dashed = item.iter().enumerate();
        dashed.map(|(at, text)| format!("{indent}{}{text}{end}", if at == 0 { "- " } else { "  " })).collect()
    };
    let head: Vec<_> = lines::lines(bytes).filter(|line| line.start >= start && line.start < close).collect();
    let Some(at) = head.iter().position(|line| yaml::entry(line.text).is_some_and(|entry| entry.key == key))
    else {
        let text = format!("{key}:{end}{}", block("  "));
        return Some(splice(bytes, close..close, text.as_bytes()));
    };
    let line = head[at];
    let entry = yaml::entry(line.text)?;
    let place = line.start + entry.place.start..line.start + entry.place.end;
    if !entry.value.is_empty() {
        let inner = entry.value.strip_prefix('[')?.strip_suffix(']')?;
        if inner.trim().is_empty() {
            let from = line.start + entry.key.len() + 1;
            let text = format!("{end}{}", block("  "));
            return Some(splice(bytes, from..line.end(), text.as_bytes()));
        }
        let [one] = item else { return None };
        let close = place.end - 1;
        return Some(splice(bytes, close..close, format!(", {one}").as_bytes()));
    }
    let nested = head[at + 1..].iter().take_while(|line| {
        line.text.first().is_some_and(|b| matches!(b, b' ' | b'\t' | b'-')) || line.text.is_empty()
    });
    let nested: Vec<_> = nested.collect();
    let first = nested.iter().find(|line| line.text.trim_ascii_start().starts_with(b"- "));
    let indent = first.map_or("  ".to_owned(), |line| {
        let blanks = line.text.len() - line.text.trim_ascii_start().len();
        " ".repeat(blanks)
    });
    let from = nested.iter().rev().find(|line| !line.text.is_empty()).map_or(line.end(), |line| line.end());
    Some(splice(bytes, from..from, block(&indent).as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn properties_change_where_they_stand() {
        let note = "---\r\nstatus: \"open\" # x\r\ntags: [task]\r\nreminders: []\r\n---\r\nbody\r\n";
        let done = changed(
            note.as_bytes(),
            &[
                Change::Set("status".into(), "done".into()),
                Change::Set("completedDate".into(), "2026-12-01".into()),
                Change::Push("reminders".into(), vec!["id: a".into(), "type: absolute".into()]),
                Change::Push("reminders".into(), vec!["id: b".into()]),
                Change::Push("complete_instances".into(), vec!["2026-12-01".into()]),
            ],
        );
        let expected = "---\r\nstatus: \"done\" # x\r\ntags: [task]\r\nreminders:\r\n  - id: a\r\n    type: absolute\r\n  - id: b\r\ncompletedDate: 2026-12-01\r\ncomplete_instances:\r\n  - 2026-12-01\r\n---\r\nbody\r\n";
        assert_eq!(String::from_utf8(done.unwrap()).unwrap(), expected);
        assert_eq!(changed(b"no head", &[Change::Set("a".into(), "b".into())]), None);
        let flow = changed(
            b"---\na: [x]\nb:\n- y\nc:\n---\n",
            &[
                Change::Push("a".into(), vec!["z".into()]),
                Change::Push("b".into(), vec!["z".into()]),
                Change::Set("c".into(), "d".into()),
            ],
        );
        assert_eq!(String::from_utf8(flow.unwrap()).unwrap(), "---\na: [x, z]\nb:\n- y\n- z\nc: d\n---\n");
    }
}
