//! Parses a reminder line with nom, over byte slices: a line is a reminder or it isn't. `diagnose` explains faults
//! later, so that the common lines stay fast.
//!
//! The two changes of a line, adding an id and moving its schedule, work on the line's bytes and change only the value
//! that they mean. A line that isn't a valid reminder is returned as it is.

use std::ops::Range;

use jiff::civil::{Date, Time};
use memchr::memchr2;
use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_while, take_while1};
use nom::combinator::{eof, map, map_opt, opt, value};
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use super::{RawMsg, Recur, ReminderId, ReminderRef, parse_ref};

/// Failure without an explanation, which costs nothing.
type Parse<'a, T> = IResult<&'a [u8], T, ()>;

/// One `key=value` of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ReminderField<'a> {
    Date(Date),
    Time(Time),
    Recur(Recur),
    Day(i8),
    Msg(RawMsg<'a>),
    Id(ReminderId),
}

/// The beginning of every reminder line, before the space.
pub(super) const HEAD: &[u8] = b"- [ ]";

/// The reminder that a whole line is.
pub(super) fn reminder(line: &[u8]) -> Option<ReminderRef<'_>> {
    let mut rest = line.strip_prefix(HEAD)?;
    let (mut date, mut time, mut recur, mut day, mut msg, mut id) = (None, None, None, None, None, None);
    let mut block = None;
    while let Ok((after, found)) = preceded(spaces, field).parse_complete(rest) {
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
        rest = after;
    }
    if !rest.is_empty() {
        block = end_of_line(rest).ok()?.1;
    }
    let (Some(date), Some(time), Some(recur), Some(msg)) = (date, time, recur, msg) else { return None };
    Some(ReminderRef { date, time, recur, day, id, block_id: block, msg })
}

#[inline]
fn spaces(input: &[u8]) -> Parse<'_, &[u8]> {
    take_while1(|b| b == b' ').parse_complete(input)
}

/// One field, up to the space or the end after it.
#[inline]
pub(super) fn field(input: &[u8]) -> Parse<'_, ReminderField<'_>> {
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
pub(super) fn date(input: &[u8]) -> Parse<'_, Date> {
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
pub(super) fn time(input: &[u8]) -> Parse<'_, Time> {
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

/// A double-quoted message.
#[inline]
fn msg(input: &[u8]) -> Parse<'_, RawMsg<'_>> {
    let (body, _) = tag("\"").parse_complete(input)?;
    let mut has_backslash = false;
    let mut end = 0;
    loop {
        end += memchr2(b'"', b'\\', &body[end..]).ok_or(nom::Err::Error(()))?;
        if body[end] == b'"' {
            break;
        }
        has_backslash = true;
        // Only `\"` and `\\` are escapes; after any other backslash the next character is looked at anew.
        end += if matches!(body.get(end + 1), Some(b'"' | b'\\')) { 2 } else { 1 };
    }
    let raw = &body[..end];
    if raw.is_empty() || !is_plain_text(raw) {
        return Err(nom::Err::Error(()));
    }
    Ok((&body[end + 1..], RawMsg { bytes: raw, has_backslash }))
}

/// Whether the bytes are UTF-8 without control characters, of which those beyond ASCII are C2 80 to C2 9F.
fn is_plain_text(raw: &[u8]) -> bool {
    let is_control = |at: usize| raw.get(at + 1).is_some_and(|next| *next < 0xA0);
    !raw.iter().any(u8::is_ascii_control)
        && std::str::from_utf8(raw).is_ok()
        && !memchr::memchr_iter(0xC2, raw).any(is_control)
}

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
