//! Parses a reminder line with nom, over byte slices: a line is a reminder or it isn't. `diagnose` explains faults
//! later, so that the common lines stay fast.
//!
//! The two edits of a line, adding an id and moving its schedule, work on the line's bytes and replace only that value.
//! A line that isn't a valid reminder is returned as it is.

use std::ops::Range;

use jiff::civil::{Date, Time};
use memchr::memchr2;
use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_while, take_while1};
use nom::combinator::{eof, map, map_opt, opt, value};
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use super::{Recur, Reminder, ReminderId};

/// Failure without an explanation, which costs nothing.
type Parse<'a, T> = IResult<&'a [u8], T, ()>;

/// One `key=value` of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ReminderField<'a> {
    Date(Date),
    Time(Time),
    Recur(Recur),
    Day(i8),
    Msg(&'a str),
    Id(ReminderId),
}

/// The beginning of every reminder line, before the space.
const HEAD: &[u8] = b"- [ ]";

/// The reminder that a whole line is.
pub(super) fn reminder(line: &[u8]) -> Option<Reminder> {
    let mut rest = line.strip_prefix(HEAD)?;
    let (mut date, mut time, mut recur, mut day, mut msg, mut id) = (None, None, None, None, None, None);
    for (found, place) in fields(line) {
        // A second field of a kind makes the line invalid.
        let first = match found {
            ReminderField::Date(found) => date.replace(found).is_none(),
            ReminderField::Time(found) => time.replace(found).is_none(),
            ReminderField::Recur(found) => recur.replace(found).is_none(),
            ReminderField::Day(found) => day.replace(found).is_none(),
            ReminderField::Msg(found) => msg.replace(found).is_none(),
            ReminderField::Id(found) => id.replace(found).is_none(),
        };
        if !first {
            return None;
        }
        rest = &line[place.end..];
    }
    let block_id = end_of_line(rest).ok()?.1.map(str::to_owned);
    Some(Reminder { date: date?, time: time?, recur: recur?, day, msg: unescape(msg?), id, block_id })
}

/// The fields behind the head and where they stand, up to the first thing that is none.
fn fields(line: &[u8]) -> impl Iterator<Item = (ReminderField<'_>, Range<usize>)> {
    let mut at = HEAD.len();
    std::iter::from_fn(move || {
        let (rest, (spaces, found)) = (spaces, field).parse_complete(line.get(at..)?).ok()?;
        let start = at + spaces.len();
        at = line.len() - rest.len();
        Some((found, start..at))
    })
}

#[inline]
fn spaces(input: &[u8]) -> Parse<'_, &[u8]> {
    take_while1(|b| b == b' ').parse_complete(input)
}

/// One field, up to the space or the end after it.
#[inline]
fn field(input: &[u8]) -> Parse<'_, ReminderField<'_>> {
    let (rest, found) = match input.first() {
        Some(b'd') => alt((
            map(preceded(tag("date="), date), ReminderField::Date),
            map(preceded(tag("day="), day), ReminderField::Day),
        ))
        .parse_complete(input),
        Some(b't') => map(preceded(tag("time="), time), ReminderField::Time).parse_complete(input),
        Some(b'r') => map(preceded(tag("recur="), recur), ReminderField::Recur).parse_complete(input),
        Some(b'm') => map(preceded(tag("msg="), msg), ReminderField::Msg).parse_complete(input),
        Some(b'i') => map(preceded(tag("id="), id), ReminderField::Id).parse_complete(input),
        _ => Err(nom::Err::Error(())),
    }?;
    match rest.first() {
        None | Some(b' ') => Ok((rest, found)),
        Some(_) => Err(nom::Err::Error(())),
    }
}

/// The permitted end behind the last field: a block id, and spaces.
fn end_of_line(input: &[u8]) -> Parse<'_, Option<&str>> {
    terminated(opt(preceded((spaces, tag("^")), block_id)), (take_while(|b| b == b' '), eof))
        .parse_complete(input)
}

fn block_id(input: &[u8]) -> Parse<'_, &str> {
    map_opt(take_while1(|b: u8| b.is_ascii_alphanumeric() || b == b'-'), |bytes| {
        std::str::from_utf8(bytes).ok()
    })
    .parse_complete(input)
}

#[inline]
fn digits(bytes: &[u8]) -> Option<i16> {
    bytes.iter().try_fold(0, |number: i16, b| b.is_ascii_digit().then(|| number * 10 + i16::from(b - b'0')))
}

#[inline]
fn date(input: &[u8]) -> Parse<'_, Date> {
    map_opt(take(10usize), |text: &[u8]| {
        if text[4] != b'-' || text[7] != b'-' {
            return None;
        }
        let (year, month, day) = (digits(&text[..4])?, digits(&text[5..7])?, digits(&text[8..])?);
        if year == 0 {
            return None;
        }
        Date::new(year, month as i8, day as i8).ok()
    })
    .parse_complete(input)
}

#[inline]
fn time(input: &[u8]) -> Parse<'_, Time> {
    map_opt(take(5usize), |text: &[u8]| {
        let (hour, minute) = (digits(&text[..2])?, digits(&text[3..])?);
        if text[2] != b':' { None } else { Time::new(hour as i8, minute as i8, 0, 0).ok() }
    })
    .parse_complete(input)
}

fn recur(input: &[u8]) -> Parse<'_, Recur> {
    let begins = |recur: &Recur| input.starts_with(recur.name().as_bytes());
    match Recur::ALL.into_iter().find(begins) {
        Some(recur) => Ok((&input[recur.name().len()..], recur)),
        None => Err(nom::Err::Error(())),
    }
}

fn day(input: &[u8]) -> Parse<'_, i8> {
    alt((value(29, tag("29")), value(30, tag("30")), value(31, tag("31")))).parse_complete(input)
}

#[inline]
fn id(input: &[u8]) -> Parse<'_, ReminderId> {
    map_opt(take(16usize), ReminderId::from_bytes).parse_complete(input)
}

/// A double-quoted message as it stands between its quotes: text without control characters.
#[inline]
fn msg(input: &[u8]) -> Parse<'_, &str> {
    let (body, _) = tag("\"").parse_complete(input)?;
    let mut end = 0;
    loop {
        end += memchr2(b'"', b'\\', &body[end..]).ok_or(nom::Err::Error(()))?;
        if body[end] == b'"' {
            break;
        }
        // Only `\"` and `\\` are escapes; after any other backslash the next character is looked at anew.
        end += if matches!(body.get(end + 1), Some(b'"' | b'\\')) { 2 } else { 1 };
    }
    match std::str::from_utf8(&body[..end]) {
        Ok(text) if !text.is_empty() && !text.contains(char::is_control) => Ok((&body[end + 1..], text)),
        _ => Err(nom::Err::Error(())),
    }
}

/// `\"` is a quote, `\\` a backslash, any other backslash itself.
fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        match after.chars().next() {
            Some(c @ ('"' | '\\')) => {
                text.push(c);
                rest = &after[1..];
            }
            _ => {
                text.push('\\');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

/// The line with ` id=…` after its last field; a block id and trailing spaces stay last. A line that has an
/// id, or isn't a valid reminder, comes back as it is.
pub fn with_id(line: &[u8], id: &ReminderId) -> Vec<u8> {
    match reminder(line) {
        Some(reminder) if reminder.id.is_none() => {
            let end = fields(line).last().map_or(line.len(), |(_, place)| place.end);
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
    let Some(old) = reminder(line) else { return line.to_vec() };
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (found, place) in fields(line) {
        // The value's range: after `key=`.
        let value = |key: &str| place.start + key.len() + 1..place.end;
        match (found, day) {
            (ReminderField::Date(_), _) => edits.push((value("date"), date.to_string())),
            (ReminderField::Time(_), _) => {
                edits.extend(time.map(|time| (value("time"), time.strftime("%H:%M").to_string())));
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

fn splice(line: &[u8], place: Range<usize>, text: &str) -> Vec<u8> {
    [&line[..place.start], text.as_bytes(), &line[place.end..]].concat()
}
