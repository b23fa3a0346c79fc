//! Parses Dataview's fields: `Pay rent [repeat:: every month] [due:: 2026-12-01]`, in brackets or parentheses, anywhere
//! in the line. `reminder` (or the name in Reminder's settings) gives the time of the notification.

use super::field::{Field, Key, when};
use super::item::Item;
use super::{Format, Rules};

/// The fields whose keys mean something here.
pub(super) fn fields(item: &Item<'_>, rules: &Rules) -> Vec<Field> {
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
        found.push(Field { format: Format::Dataview, key, at: open..from + length + 1, value, when });
        from += length + 1;
    }
    found
}

/// The date of a field that is nothing but a date.
fn read_when(key: Key, value: &str) -> Option<super::When> {
    let dated = !matches!(key, Key::Repeat | Key::Priority | Key::Id | Key::DependsOn | Key::OnCompletion);
    when(value).filter(|(_, used)| dated && *used == value.len()).map(|(when, _)| when)
}

fn key(word: &str, reminder: &str) -> Option<Key> {
    let known = [
        (reminder, Key::Reminder),
        ("due", Key::Due),
        ("scheduled", Key::Scheduled),
        ("start", Key::Start),
        ("created", Key::Created),
        ("completion", Key::Done),
        ("cancelled", Key::Cancelled),
        ("repeat", Key::Repeat),
        ("priority", Key::Priority),
        ("id", Key::Id),
        ("dependsOn", Key::DependsOn),
        ("onCompletion", Key::OnCompletion),
    ];
    known.into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, key)| key)
}
