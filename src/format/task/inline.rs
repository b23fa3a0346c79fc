//! Parses Dataview's fields: `Pay rent [repeat:: every month] [due:: 2026-12-01]`, in brackets or parentheses, anywhere
//! in the line. `reminder` (or the name in Reminder's settings) gives the time of the notification.

use super::field::{FieldKind, TaskField, when};
use super::item::ListItem;
use super::{Rules, TaskFormat};

/// The fields whose keys mean something here.
pub(super) fn fields(item: &ListItem<'_>, rules: &Rules) -> Vec<TaskField> {
    let text = item.text;
    let mut found = Vec::new();
    if !item.body().contains(':') {
        return found;
    }
    let mut from = item.body;
    while let Some(colons) = text[from..item.end].find("::") {
        let colons = from + colons;
        from = colons + 2;
        let name = text[item.body..colons].trim_end_matches(' ');
        let name_at = name.rfind(['[', '(']).map(|at| item.body + at);
        let Some(open) = name_at else { continue };
        let word = text[open + 1..colons].trim();
        let Some(key) = key(word, &rules.reminder_field) else { continue };
        let close = if text.as_bytes()[open] == b'[' { ']' } else { ')' };
        let Some(length) = text[from..item.end].find(['[', ']', '(', ')']) else { continue };
        if !text[from + length..].starts_with(close) {
            continue;
        }
        let raw = &text[from..from + length];
        let start = from + raw.len() - raw.trim_start().len();
        let value = start..start + raw.trim().len();
        let when = read_when(key, &text[value.clone()]);
        found.push(TaskField { format: TaskFormat::Dataview, key, at: open..from + length + 1, value, when });
        from += length + 1;
    }
    found
}

/// The date of a field that is nothing but a date.
fn read_when(key: FieldKind, value: &str) -> Option<super::TaskTime> {
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

fn key(word: &str, reminder: &str) -> Option<FieldKind> {
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
