//! The short way to read a line that stands as this program writes it: fields in canonical order, one space
//! between them, nothing after the id. Every field then has a known column, and a pass over a large file,
//! which reads every line once a minute, costs little more than finding the lines.
//!
//! It only ever answers "this reminder" or "don't know": the grammar in [`super::syntax`] decides all else,
//! and a property test holds the two to the same answers.

use jiff::civil::{Date, Time};

use super::{RawMsg, Recur, ReminderId, ReminderRef, syntax::is_text_without_c1};
use crate::format::swar::{by_template, eight, high, plain_prefix};

/// The reminder on a canonical line; `None` says nothing.
#[inline(always)]
pub(super) fn reminder(line: &[u8]) -> Option<ReminderRef<'_>> {
    let (head, rest) = line.split_first_chunk::<39>()?;
    if head[..11] != *b"- [ ] date=" || head[35..] != *b"cur=" {
        return None;
    }
    let year_month = by_template(eight(head, 11), b"0000-00-")?;
    let day = by_template(eight(head, 19), b"00 time=")?;
    let clock = by_template(eight(head, 27), b"00:00 re")?;
    let year = i16::from(year_month[0]) * 100 + i16::from(year_month[2]);
    if year == 0 {
        return None;
    }
    let date = Date::new(year, year_month[5] as i8, day[0] as i8).ok()?;
    let time = Time::new(clock[0] as i8, clock[3] as i8, 0, 0).ok()?;
    let (recur, rest) = match rest.first()? {
        b'n' => (Recur::None, rest.strip_prefix(b"none")?),
        b'd' => (Recur::Daily, rest.strip_prefix(b"daily")?),
        b'w' => (Recur::Weekly, rest.strip_prefix(b"weekly")?),
        _ => (Recur::Monthly, rest.strip_prefix(b"monthly")?),
    };
    let body = rest.strip_prefix(b" msg=\"")?;
    let (msg, rest) = msg(body)?;
    let id = match rest {
        [] => None,
        _ => Some(ReminderId::from_bytes(rest.strip_prefix(b" id=")?)?),
    };
    Some(ReminderRef { date, time, recur, day: None, id, block_id: None, msg })
}

/// The message up to its closing quote, and what follows the quote.
#[inline(always)]
fn msg(body: &[u8]) -> Option<(RawMsg<'_>, &[u8])> {
    let (mut end, mut has_backslash, mut is_high) = (0, false, false);
    loop {
        while let Some(chunk) = body.get(end..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*chunk);
            is_high |= high(eight);
            if let Some(plain) = plain_prefix(eight) {
                end += plain;
                break;
            }
            end += 8;
        }
        match *body.get(end)? {
            b'"' => break,
            b'\\' => {
                has_backslash = true;
                end += if matches!(body.get(end + 1), Some(b'"' | b'\\')) { 2 } else { 1 };
            }
            // A plain byte of the last seven.
            b' '..=b'~' => end += 1,
            // A control, or among the last seven what isn't ASCII.
            _ => return None,
        }
    }
    let bytes = &body[..end];
    // A few bytes after the message may have counted as high; to look once too often does no harm.
    let plain = !is_high || is_text_without_c1(bytes);
    (plain && end > 0).then_some((RawMsg { bytes, has_backslash }, &body[end + 1..]))
}
