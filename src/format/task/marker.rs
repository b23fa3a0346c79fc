//! Parses the date marks and fields of the plugins Reminder, Reminder Toast, Kanban, Tasks and Dataview in a task line.
//!
//! - Reminder: `(@2026-12-01 09:30)`, `(@[[2026-12-01]] 09:30)`, with a recurrence behind a 🔁 inside.
//! - Reminder Toast: `@remind(2026-12-01 09:30)`, `@repeat(weekly on mon)`, `@before(1h, 15m)`. vault-agent adds its
//!   own `@snooze(2026-12-01 10:00)`.
//! - Kanban: `Task @{2026-12-01} @@{20:26}`, `@[[2026-12-01]]`, with the triggers and formats of its settings.
//! - Tasks: emoji fields at the line's end, in any order, perhaps with tags between them: `Pay rent 🔁 every month 📅
//!   2026-12-01`. A field with other words after it is text. A time may follow any date, as in Reminder (`⏰ 2026-12-01
//!   09:30`). An impossible date (`📅 2026-02-30`) is text, and so is everything before it.
//! - Dataview: the fields of Tasks, in brackets or parentheses, anywhere in the line: `Pay rent [repeat:: every month]
//!   [due:: 2026-12-01]`. The field `reminder` (or the name in Reminder's settings) is the time of the notification.

use std::ops::Range;

use jiff::{Span, SpanRelativeTo};

use super::field::{self, FieldKind, ListItem, TaskField, when};
use super::{KanbanRules, Rules, TaskFormat, TaskTime, moment};

/// The fields of Reminder and Reminder Toast.
pub(super) fn fields(item: &ListItem<'_>, rules: &Rules) -> Vec<TaskField> {
    let body = item.body();
    if !body.contains('@') {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(at) = body.find("(@") {
        found.extend(reminder_mark(item, item.body + at, rules));
    }
    for (word, key) in [
        ("@remind(", FieldKind::Reminder),
        ("@repeat(", FieldKind::Repeat),
        ("@before(", FieldKind::Before),
        ("@snooze(", FieldKind::Snooze),
    ] {
        found.extend(call(item, word, key));
    }
    // Without a date nothing of it means anything.
    if !found.iter().any(|field| field.key == FieldKind::Reminder && field.when.is_some()) {
        return Vec::new();
    }
    found
}

/// `(@…)`, with its recurrence as a field of its own inside it.
fn reminder_mark(item: &ListItem<'_>, at: usize, rules: &Rules) -> Vec<TaskField> {
    let text = item.text;
    let start = at + 2;
    let Some(length) = text[start..item.end].find(')') else { return Vec::new() };
    let whole = at..start + length + 1;
    let inside = &text[start..start + length];
    let (date, repeat) = match inside.split_once('🔁') {
        Some((date, rule)) => (date, Some((start + date.len(), rule))),
        None => (inside, None),
    };
    let Some(when) = read_when(date, rules) else { return Vec::new() };
    let value = start + date.len() - date.trim_start().len()..start + date.trim_end().len();
    let field = |key, at, value, when| TaskField { format: TaskFormat::Reminder, key, at, value, when };
    let repeat = repeat.map(|(at, rule)| {
        let from = at + '🔁'.len_utf8() + rule.len() - rule.trim_start().len();
        field(FieldKind::Repeat, at..whole.end - 1, from..from + rule.trim().len(), None)
    });
    [field(FieldKind::Reminder, whole.clone(), value, Some(when))].into_iter().chain(repeat).collect()
}

/// A date as Reminder takes it: in its own formats, else as everybody writes it; perhaps linked.
fn read_when(text: &str, rules: &Rules) -> Option<TaskTime> {
    let plain = text.replace("[[", "").replace("]]", "");
    let plain = plain.trim();
    let own = moment::read(plain, &rules.reminder_date_time).filter(|when| when.time.is_some());
    own.or_else(|| moment::read(plain, &rules.reminder_date)).or_else(|| plain_when(plain))
}

/// `@word(…)`, whatever its case.
fn call(item: &ListItem<'_>, word: &str, key: FieldKind) -> Option<TaskField> {
    let body = item.body();
    let at = body
        .match_indices('@')
        .map(|(at, _)| at)
        .find(|at| body.get(*at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)))?;
    let (at, start) = (item.body + at, item.body + at + word.len());
    let length = item.text[start..item.end].find(')')?;
    let raw = &item.text[start..start + length];
    let value = start + raw.len() - raw.trim_start().len()..start + raw.trim_end().len();
    let is_dated = matches!(key, FieldKind::Reminder | FieldKind::Snooze);
    let when = if is_dated { plain_when(raw.trim()) } else { None };
    if is_dated && when.is_none() {
        return None;
    }
    Some(TaskField { format: TaskFormat::Reminder, key, at: at..start + length + 1, value, when })
}

/// A date as everybody writes it, perhaps with a time: `2026-12-01`, `2026-12-01 9:30pm`.
fn plain_when(text: &str) -> Option<TaskTime> {
    let (date, used) = field::date(text)?;
    let rest = &text[used..];
    if rest.is_empty() {
        return Some(TaskTime { date, time: None });
    }
    let clock = rest.strip_prefix('T').unwrap_or_else(|| rest.trim_start());
    let (time, used) = field::time(clock, false)?;
    (clock.len() < rest.len() && used == clock.len()).then_some(TaskTime { date, time: Some(time) })
}

/// The most leads that a line may have.
const MAX_LEADS: usize = 10;
/// The longest lead, in minutes.
const MAX_LEAD: u32 = 365 * 24 * 60;

/// The minutes of `1h, 15m`, longest first; none if a part isn't understood.
pub(super) fn leads(text: &str) -> Vec<u32> {
    let parts = text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty());
    let Some(mut leads) = parts.map(lead).collect::<Option<Vec<u32>>>() else { return Vec::new() };
    leads.sort_unstable_by(|a, b| b.cmp(a));
    leads.dedup();
    leads.truncate(MAX_LEADS);
    leads
}

/// `30m`, `1h30m`, `2 hours`, `1d`, `45` (minutes).
fn lead(text: &str) -> Option<u32> {
    let minutes = text.parse::<i64>().ok().or_else(|| {
        let span: Span = text.to_ascii_lowercase().parse().ok()?;
        let known = Span::new().days(span.get_days()).hours(span.get_hours()).minutes(span.get_minutes());
        let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        (span.fieldwise() == known).then_some(length.as_mins())
    })?;
    u32::try_from(minutes).ok().filter(|minutes| (1..=MAX_LEAD).contains(minutes))
}

/// The date, which holds the time too where there is one, and the time for itself.
pub(super) fn kanban_fields(item: &ListItem<'_>, rules: &KanbanRules) -> Vec<TaskField> {
    let (date_trigger, time_trigger) = (rules.date_trigger.as_str(), rules.time_trigger.as_str());
    // Most task lines hold neither, and none of them needs to be searched for both.
    if !date_trigger.is_empty() && !item.body().contains(date_trigger) {
        return Vec::new();
    }
    let time = marked(item, time_trigger, "{", "}", None);
    let not = (time_trigger != date_trigger).then_some(time_trigger);
    let date =
        marked(item, date_trigger, "{", "}", not).or_else(|| marked(item, date_trigger, "[[", "]]", not));
    let Some((at, value)) = date else { return Vec::new() };
    let text = &item.text[value.clone()];
    let read = moment::read(text, moment::format_of(text, &rules.date_format, moment::DATES));
    let Some(read) = read else { return Vec::new() };
    let clock = time.and_then(|(at, value)| {
        let text = &item.text[value.clone()];
        let time = moment::read_time(text, moment::format_of(text, &rules.time_format, moment::TIMES))?;
        Some((at, value, time))
    });
    let when = TaskTime { date: read.date, time: clock.as_ref().map(|(_, _, time)| *time) };
    let field = |key, at, value, when| TaskField { format: TaskFormat::Kanban, key, at, value, when };
    let clock = clock.map(|(at, value, _)| field(FieldKind::Time, at, value, None));
    [field(FieldKind::Due, at, value, Some(when))].into_iter().chain(clock).collect()
}

/// The first `trigger{…}` of the body: its place and that of its value. One that is the end of `not` isn't it.
fn marked(
    item: &ListItem<'_>,
    trigger: &str,
    open: &str,
    close: &str,
    not: Option<&str>,
) -> Option<(Range<usize>, Range<usize>)> {
    if trigger.is_empty() {
        return None;
    }
    let opening = format!("{trigger}{open}");
    let body = item.body();
    let at = body.match_indices(&opening).map(|(at, _)| at).find(|at| {
        // `(@[[…]]` is Reminder's.
        !body[..*at].ends_with('(')
            && !not.is_some_and(|not| not.ends_with(trigger) && body[..at + trigger.len()].ends_with(not))
    })?;
    let start = item.body + at + opening.len();
    let length = item.text[start..item.end].find(close)?;
    Some((item.body + at..start + length + close.len(), start..start + length))
}

const fn key(symbol: char) -> Option<FieldKind> {
    Some(match symbol {
        '📅' | '📆' | '🗓' => FieldKind::Due,
        '⏳' | '⌛' => FieldKind::Scheduled,
        '🛫' => FieldKind::Start,
        '➕' => FieldKind::Created,
        '✅' => FieldKind::Done,
        '❌' => FieldKind::Cancelled,
        '⏰' => FieldKind::Reminder,
        '🔁' => FieldKind::Repeat,
        '🏁' => FieldKind::OnCompletion,
        '⛔' => FieldKind::DependsOn,
        '🆔' => FieldKind::Id,
        '🔺' | '⏫' | '🔼' | '🔽' | '⏬' => FieldKind::Priority,
        _ => return None,
    })
}

/// Tasks' emoji fields behind the words.
pub(super) fn emoji_fields(item: &ListItem<'_>) -> Vec<TaskField> {
    let body = item.body();
    // All symbols are far from ASCII; most task lines have none.
    if body.is_ascii() {
        return Vec::new();
    }
    let mut found: Vec<TaskField> = Vec::new();
    for (at, symbol) in body.char_indices() {
        let Some(key) = key(symbol) else { continue };
        if let Some((value, when)) = value(body, at + symbol.len_utf8(), key) {
            let (at, value) = (item.body + at, item.body + value.start..item.body + value.end);
            found.push(TaskField { format: TaskFormat::Tasks, key, at: at..value.end, value, when });
        }
    }
    // From the end: fields with nothing but blanks and tags behind them.
    let mut end = item.end;
    let kept = found.iter().rev().take_while(|field| {
        let only = only_tags(&item.text[field.at.end.min(end)..end]);
        end = field.at.start;
        only
    });
    let kept = kept.count();
    found.split_off(found.len() - kept)
}

/// The value behind a symbol, with which its field ends: its place, and its date.
fn value(body: &str, from: usize, key: FieldKind) -> Option<(Range<usize>, Option<TaskTime>)> {
    let rest = body[from..].strip_prefix('\u{fe0f}').unwrap_or(&body[from..]);
    let rest = rest.trim_start_matches(' ');
    let at = body.len() - rest.len();
    let run = |fits: fn(char) -> bool| {
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let length = rest[..length].trim_end().len();
        (length > 0).then_some((at..at + length, None))
    };
    match key {
        FieldKind::Priority => {
            let end =
                from + body[from..].chars().next().filter(|c| *c == '\u{fe0f}').map_or(0, char::len_utf8);
            Some((end..end, None))
        }
        FieldKind::Repeat => run(|c| c.is_ascii_alphanumeric() || matches!(c, ',' | ' ' | '!')),
        FieldKind::OnCompletion => run(|c| c.is_ascii_alphabetic()),
        FieldKind::Id => run(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')),
        FieldKind::DependsOn => run(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ',' | ' ')),
        FieldKind::Created | FieldKind::Done | FieldKind::Cancelled => {
            let (date, length) = field::date(rest)?;
            Some((at..at + length, Some(TaskTime { date, time: None })))
        }
        _ => {
            let (when, length) = when(rest)?;
            Some((at..at + length, Some(when)))
        }
    }
}

/// Whether text is nothing but blanks and tags.
fn only_tags(text: &str) -> bool {
    text.split_whitespace().all(|word| {
        word.strip_prefix('#').is_some_and(|tag| {
            !tag.is_empty() && !tag.contains(|c: char| "!@#$%^&*(),.?\":{}|<>".contains(c))
        })
    })
}

/// The fields whose keys mean something here.
pub(super) fn inline_fields(item: &ListItem<'_>, rules: &Rules) -> Vec<TaskField> {
    let text = item.text;
    let mut found = Vec::new();
    let mut from = item.body;
    while let Some(colons) = text[from..item.end].find("::") {
        let colons = from + colons;
        from = colons + 2;
        let name = text[item.body..colons].trim_end_matches(' ');
        let Some(open) = name.rfind(['[', '(']).map(|at| item.body + at) else { continue };
        let word = text[open + 1..colons].trim();
        let Some(key) = inline_key(word, &rules.reminder_field) else { continue };
        let close = if text.as_bytes()[open] == b'[' { ']' } else { ')' };
        let Some(length) = text[from..item.end].find(['[', ']', '(', ')']) else { continue };
        if !text[from + length..].starts_with(close) {
            continue;
        }
        let raw = &text[from..from + length];
        let start = from + raw.len() - raw.trim_start().len();
        let value = start..start + raw.trim().len();
        let when = only_date(key, &text[value.clone()]);
        found.push(TaskField { format: TaskFormat::Dataview, key, at: open..from + length + 1, value, when });
        from += length + 1;
    }
    found
}

/// The date of a field that is nothing but a date.
fn only_date(key: FieldKind, value: &str) -> Option<TaskTime> {
    let dated = !matches!(
        key,
        FieldKind::Repeat
            | FieldKind::Priority
            | FieldKind::Id
            | FieldKind::DependsOn
            | FieldKind::OnCompletion
    );
    when(value).filter(|(_, used)| dated && *used == value.len()).map(|(when, _)| when)
}

fn inline_key(word: &str, reminder: &str) -> Option<FieldKind> {
    let known = [
        (reminder, FieldKind::Reminder),
        ("due", FieldKind::Due),
        ("scheduled", FieldKind::Scheduled),
        ("start", FieldKind::Start),
        ("created", FieldKind::Created),
        ("completion", FieldKind::Done),
        ("cancelled", FieldKind::Cancelled),
        ("repeat", FieldKind::Repeat),
        ("priority", FieldKind::Priority),
        ("id", FieldKind::Id),
        ("dependsOn", FieldKind::DependsOn),
        ("onCompletion", FieldKind::OnCompletion),
    ];
    known.into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_in_their_many_forms() {
        assert_eq!(leads("1h, 15m"), [60, 15]);
        assert_eq!(leads("5m;1d,3h"), [1440, 180, 5]);
        assert_eq!(leads("1h30m, 90, 2 hours"), [120, 90]);
        for wrong in ["soon", "1h, soon", "0", "1m1h", "", "366d", "1x", "5 5"] {
            assert!(leads(wrong).is_empty() || wrong == "5 5" && leads(wrong) == [55], "{wrong}");
        }
    }
}
