//! Changes properties of a task that is a note, in place. Every other byte stays.

use jiff::civil::{Date, DateTime};

use super::super::super::{lines, yaml};
use super::super::Rules;
use super::{Head, span};

/// The id of the reminder that Snooze writes: there is at most one, and its time is written anew.
pub const SNOOZE: &str = "vault-agent-snooze";

/// The note told once more at another time; `None` where its frontmatter has a form that is none of TaskNotes'.
pub fn snoozed(bytes: &[u8], rules: &Rules, to: DateTime) -> Option<Vec<u8>> {
    let time = to.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let (start, close) = span(bytes)?;
    let in_head = lines::lines(bytes).filter(|line| line.start >= start && line.start < close);
    let mut ours = in_head.skip_while(|line| {
        let text = line.text.trim_ascii();
        text.strip_prefix(b"- id: ").is_none_or(|id| id != SNOOZE.as_bytes())
    });
    let is_ours = ours.next().is_some();
    let item = ours.take_while(|_| is_ours).take_while(|line| !line.text.trim_ascii().starts_with(b"- "));
    for line in item {
        let blanks = line.text.len() - line.text.trim_ascii_start().len();
        if line.text[blanks..].starts_with(b"absoluteTime:") {
            let at = line.start + blanks..line.start + line.text.len();
            let now = splice(bytes, at, format!("absoluteTime: {time}").as_bytes());
            Head::read(&now)?;
            return Some(now);
        }
    }
    let item = vec![
        format!("id: {SNOOZE}"),
        "type: absolute".to_owned(),
        format!("absoluteTime: {time}"),
        "description: Snoozed".to_owned(),
    ];
    changed(bytes, &[PropertyChange::Push(rules.notes.reminders.clone(), item)])
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
/// TaskNotes' (a list in braces, say), or none at all.
pub fn changed(bytes: &[u8], changes: &[PropertyChange]) -> Option<Vec<u8>> {
    let mut now = bytes.to_vec();
    for change in changes {
        now = match change {
            PropertyChange::Set(key, value) => set(&now, key, value)?,
            PropertyChange::Push(key, item) => push(&now, key, item)?,
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
    fn properties_change_where_they_stand() {
        let note = "---\r\nstatus: \"open\" # x\r\ntags: [task]\r\nreminders: []\r\n---\r\nbody\r\n";
        let done = changed(
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
        assert_eq!(changed(b"no head", &[PropertyChange::Set("a".into(), "b".into())]), None);
        let flow = changed(
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
        let told = super::super::read("Cake.md", &twice, &rules).unwrap().notification_times;
        let at: Vec<String> = told.iter().map(|time| time.at.to_string()).collect();
        assert_eq!(at, ["2026-12-01T09:00:00", "2026-12-02T08:00:00"]);
    }
}
