//! Parses Reminder's marks, `(@2026-12-01 09:30)` and `(@[[2026-12-01]] 09:30)`, with a recurrence behind a 🔁 inside;
//! and Reminder Toast's: `@remind(2026-12-01 09:30)`, `@repeat(weekly on mon)`, `@before(1h, 15m)`.

use jiff::{Span, SpanRelativeTo};

use super::field::{self, FieldKind, TaskField, TaskTime};
use super::item::ListItem;
use super::{Rules, TaskFormat, moment};

/// The fields of both.
pub(super) fn fields(item: &ListItem<'_>, rules: &Rules) -> Vec<TaskField> {
    let body = item.body();
    if !body.contains('@') {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(at) = body.find("(@") {
        found.extend(round(item, item.body + at, rules));
    }
    for (word, key) in
        [("@remind(", FieldKind::Reminder), ("@repeat(", FieldKind::Repeat), ("@before(", FieldKind::Before)]
    {
        found.extend(call(item, word, key));
    }
    // Without a date nothing of it means anything.
    if !found.iter().any(|field| field.key == FieldKind::Reminder && field.when.is_some()) {
        return Vec::new();
    }
    found
}

/// `(@…)`, with its recurrence as a field of its own inside it.
fn round(item: &ListItem<'_>, at: usize, rules: &Rules) -> Vec<TaskField> {
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
    let mut fields = vec![TaskField {
        format: TaskFormat::Reminder,
        key: FieldKind::Reminder,
        at: whole.clone(),
        value,
        when: Some(when),
    }];
    if let Some((at, rule)) = repeat {
        let from = at + '🔁'.len_utf8() + rule.len() - rule.trim_start().len();
        let value = from..from + rule.trim().len();
        fields.push(TaskField {
            format: TaskFormat::Reminder,
            key: FieldKind::Repeat,
            at: at..whole.end - 1,
            value,
            when: None,
        });
    }
    fields
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
    let when = if key == FieldKind::Reminder { plain_when(raw.trim()) } else { None };
    if key == FieldKind::Reminder && when.is_none() {
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
