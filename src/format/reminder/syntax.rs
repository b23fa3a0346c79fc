//! Parses a reminder line with nom: its fields with their places, or the first fault from left to right.
//!
//! The two edits of a line, adding an id and moving its schedule, work on the line's bytes and change nothing else. A
//! line that isn't a valid reminder is returned as it is.

use std::ops::Range;

use jiff::civil::{Date, Time};
use nom::bytes::complete::{tag, take_till, take_while};
use nom::combinator::rest;
use nom::sequence::separated_pair;
use nom::{IResult, Parser};

use super::diagnose::{
    HEAD, block_id, glued, head_problem, missing, odd_space, stray_word, unknown_key, word,
};
use super::values::{self, KEYS};
use super::{Reminder, ReminderId};
use crate::format::Fault;

/// The fields of a line, each by its key, in their order.
type Places = Vec<(&'static str, Range<usize>)>;

/// A parser's result; what is wrong is said where the place is known.
type Parsed<'a, T> = IResult<&'a str, T, ()>;

/// Spaces, or none.
fn spaces(input: &str) -> Parsed<'_, &str> {
    take_while(|c| c == ' ').parse_complete(input)
}

/// A field's key and value.
fn field(word: &str) -> Parsed<'_, (&str, &str)> {
    separated_pair(take_till(|c| c == '='), tag("="), rest).parse_complete(word)
}

/// The reminder that a whole line is, and its fields' places; else what is wrong, in characters from the line's start.
pub(super) fn read(line: &[u8]) -> Result<(Reminder, Places), Fault> {
    // The text before the bad byte may be wrong already, but nothing is known about the rest.
    let text = std::str::from_utf8(line).map_err(|error| Fault::not_utf8(line, error))?;
    fields(text).map_err(|fault| fault.in_characters(text))
}

fn fields(text: &str) -> Result<(Reminder, Places), Fault> {
    if !text.starts_with(HEAD) {
        return Err(head_problem(text));
    }
    let (mut date, mut time, mut recur, mut day, mut msg, mut id) = (None, None, None, None, None, None);
    let (mut block, mut places, mut at) = (None, Places::new(), HEAD.len());
    loop {
        let (rest, between) = spaces(&text[at..]).unwrap_or((&text[at..], ""));
        at += between.len();
        let Some(first) = rest.chars().next() else { break };
        if let Some(fault) = odd_space(at, first) {
            return Err(fault);
        }
        if let Some(name) = rest.strip_prefix('^') {
            block = Some(block_id(at, name)?.to_owned());
            break;
        }
        let word = word(rest);
        let (_, (key, value)) = field(word).map_err(|_| stray_word(at, word, rest))?;
        let known = KEYS.into_iter().find(|known| *known == key);
        let key = known.ok_or_else(|| unknown_key(at, key))?;
        if places.iter().any(|(seen, _)| *seen == key) {
            return Err(Fault::new(at, format!("`{key}` stands twice"), format!("keep one `{key}=`")));
        }
        let (value_at, mut end) = (at + key.len() + 1, at + word.len());
        let in_value = |fault: Fault| fault.moved(value_at);
        values::plain(key, value).map_err(in_value)?;
        match key {
            "date" => date = Some(values::date(value).map_err(in_value)?),
            "time" => time = Some(values::time(value).map_err(in_value)?),
            "recur" => recur = Some(values::recur(value).map_err(in_value)?),
            "day" => day = Some(values::day(value).map_err(in_value)?),
            "id" => id = Some(values::id(value).map_err(in_value)?),
            _ => {
                let (said, length) = values::msg(value, &text[value_at..]).map_err(in_value)?;
                (msg, end) = (Some(said), value_at + length);
            }
        }
        places.push((key, at..end));
        at = end;
        if let Some(c) = text[at..].chars().next().filter(|c| *c != ' ') {
            return Err(odd_space(at, c).unwrap_or_else(|| glued(at, key)));
        }
    }
    let (Some(date), Some(time), Some(recur), Some(msg)) = (date, time, recur, msg) else {
        return Err(missing(&places));
    };
    Ok((Reminder { date, time, recur, day, msg, id, block_id: block }, places))
}

/// The line with ` id=…` after its last field; a block id and trailing spaces stay last. A line that has an
/// id, or isn't a valid reminder, comes back as it is.
pub fn with_id(line: &[u8], id: &ReminderId) -> Vec<u8> {
    match read(line) {
        Ok((reminder, places)) if reminder.id.is_none() => {
            let end = places.last().map_or(line.len(), |(_, place)| place.end);
            splice(line, end..end, &format!(" id={id}"))
        }
        _ => line.to_vec(),
    }
}

/// The line without its ` id=rid_…`, and the id; none where it has none.
pub fn split_id(line: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let at = memchr::memmem::find(line, b" id=rid_")?;
    let end = memchr::memchr(b' ', &line[at + 1..]).map_or(line.len(), |length| at + 1 + length);
    Some(([&line[..at], &line[end..]].concat(), &line[at + 1..end]))
}

/// The line with this date, this time (if given) and this `day=` (removed, if `None`), each changed in
/// place. A new `day=` comes after `recur`. A line that isn't a valid reminder comes back as it is.
pub fn with_schedule(line: &[u8], date: Date, time: Option<Time>, day: Option<i8>) -> Vec<u8> {
    let Ok((old, places)) = read(line) else { return line.to_vec() };
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (key, place) in places {
        // After `key=`.
        let value = place.start + key.len() + 1..place.end;
        match (key, day) {
            ("date", _) => edits.push((value, date.to_string())),
            ("time", _) => edits.extend(time.map(|time| (value, time.strftime("%H:%M").to_string()))),
            ("recur", Some(day)) if old.day.is_none() => {
                edits.push((place.end..place.end, format!(" day={day}")));
            }
            ("day", Some(day)) => edits.push((value, day.to_string())),
            ("day", None) => edits.push((with_one_space(line, place), String::new())),
            _ => {}
        }
    }
    edits.into_iter().rev().fold(line.to_vec(), |line, (place, text)| splice(&line, place, &text))
}

/// The field and the one space that goes with it: the one before, or after it where the one before belongs
/// to the line's head.
fn with_one_space(line: &[u8], place: Range<usize>) -> Range<usize> {
    if place.start > HEAD.len() {
        place.start - 1..place.end
    } else {
        place.start..(place.end + 1).min(line.len())
    }
}

fn splice(line: &[u8], place: Range<usize>, text: &str) -> Vec<u8> {
    [&line[..place.start], text.as_bytes(), &line[place.end..]].concat()
}
