//! Makes the two changes of a reminder line: adding an id, and moving its schedule.
//!
//! Both work on the line's bytes and change only the value that they mean. A line that isn't a valid reminder is
//! returned as it is.

use std::ops::Range;

use jiff::civil::{Date, Time};

use super::{
    DateText, ReminderId, TimeText, parse_ref,
    syntax::{HEAD, ReminderField, field},
};

/// The line with ` id=…` after its last field; a block id and trailing spaces stay last. A line that has an
/// id, or isn't a valid reminder, comes back as it is.
pub fn with_id(line: &[u8], id: &ReminderId) -> Vec<u8> {
    match parse_ref(line) {
        Some(reminder) if reminder.id.is_none() => {
            let end = places(line).last().map_or(line.len(), |(_, place)| place.end);
            splice(line, end..end, &format!(" id={id}"))
        }
        _ => line.to_vec(),
    }
}

/// The line with this date, this time (if given) and this `day=` (removed, if `None`), each changed in
/// place. A new `day=` comes after `recur`. A line that isn't a valid reminder comes back as it is.
pub fn with_schedule(line: &[u8], date: Date, time: Option<Time>, day: Option<i8>) -> Vec<u8> {
    let Some(old) = parse_ref(line) else { return line.to_vec() };
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (found, place) in places(line) {
        // The value's range: after `key=`.
        let value = |key: &str| place.start + key.len() + 1..place.end;
        match (found, day) {
            (ReminderField::Date(_), _) => edits.push((value("date"), DateText(date).to_string())),
            (ReminderField::Time(_), _) => {
                edits.extend(time.map(|time| (value("time"), TimeText(time).to_string())));
            }
            (ReminderField::Recur(_), Some(day)) if old.day.is_none() => {
                edits.push((place.end..place.end, format!(" day={day}")));
            }
            (ReminderField::Day(_), Some(day)) => edits.push((value("day"), day.to_string())),
            (ReminderField::Day(_), None) => edits.push((with_one_space(line, place), String::new())),
            _ => {}
        }
    }
    edits.into_iter().rev().fold(line.to_vec(), |line, (place, text)| splice(&line, place, &text))
}

/// The field and the one space that goes with it: the one before, or after it where the one before belongs
/// to the line's head.
fn with_one_space(line: &[u8], place: Range<usize>) -> Range<usize> {
    if place.start > HEAD.len() + 1 {
        place.start - 1..place.end
    } else {
        place.start..(place.end + 1).min(line.len())
    }
}

/// The fields of a valid line and where they stand.
fn places(line: &[u8]) -> Vec<(ReminderField<'_>, Range<usize>)> {
    let mut places = Vec::with_capacity(6);
    let mut at = HEAD.len().min(line.len());
    loop {
        at += line[at..].iter().take_while(|b| **b == b' ').count();
        match field(&line[at..]) {
            Ok((rest, found)) => {
                let end = line.len() - rest.len();
                places.push((found, at..end));
                at = end;
            }
            Err(_) => return places,
        }
    }
}

fn splice(line: &[u8], place: Range<usize>, text: &str) -> Vec<u8> {
    [&line[..place.start], text.as_bytes(), &line[place.end..]].concat()
}
