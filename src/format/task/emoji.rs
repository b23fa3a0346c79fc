//! Parses Tasks' emoji fields: `Pay rent 🔁 every month 📅 2026-12-01`, and Reminder's `⏰ 2026-12-01 09:30` among them.
//!
//! Fields follow the words, in any order, with tags between them; a field before other words is text. A time may follow
//! any date, as in Reminder. An impossible date (`📅 2026-02-30`) is text, and so is everything before it.

use std::ops::Range;

use super::field::{FieldKind, TaskField, when};
use super::item::ListItem;
use super::{TaskFormat, TaskTime};

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

/// The fields behind the words.
pub(super) fn fields(item: &ListItem<'_>) -> Vec<TaskField> {
    let body = item.body();
    // All symbols are far from ASCII; most task lines have none.
    if body.is_ascii() {
        return Vec::new();
    }
    let mut found: Vec<TaskField> = Vec::new();
    for (at, symbol) in body.char_indices() {
        let Some(key) = key(symbol) else { continue };
        if let Some((value, end, when)) = value(body, at + symbol.len_utf8(), key) {
            let start = item.body;
            found.push(TaskField {
                format: TaskFormat::Tasks,
                key,
                at: start + at..start + end,
                value: start + value.start..start + value.end,
                when,
            });
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

/// The value behind a symbol: its place, where the field ends, and its date.
fn value(body: &str, from: usize, key: FieldKind) -> Option<(Range<usize>, usize, Option<TaskTime>)> {
    let rest = body[from..].strip_prefix('\u{fe0f}').unwrap_or(&body[from..]);
    let rest = rest.trim_start_matches(' ');
    let at = body.len() - rest.len();
    let run = |fits: fn(char) -> bool| {
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let length = rest[..length].trim_end().len();
        (length > 0).then_some((at..at + length, at + length, None))
    };
    match key {
        FieldKind::Priority => {
            let end =
                from + body[from..].chars().next().filter(|c| *c == '\u{fe0f}').map_or(0, char::len_utf8);
            Some((end..end, end, None))
        }
        FieldKind::Repeat => run(|c| c.is_ascii_alphanumeric() || matches!(c, ',' | ' ' | '!')),
        FieldKind::OnCompletion => run(|c| c.is_ascii_alphabetic()),
        FieldKind::Id => run(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')),
        FieldKind::DependsOn => run(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ',' | ' ')),
        FieldKind::Created | FieldKind::Done | FieldKind::Cancelled => {
            let (date, length) = super::field::date(rest)?;
            Some((at..at + length, at + length, Some(TaskTime { date, time: None })))
        }
        _ => {
            let (when, length) = when(rest)?;
            Some((at..at + length, at + length, Some(when)))
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
