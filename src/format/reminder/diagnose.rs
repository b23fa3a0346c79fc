//! Explains the fault of a line that looks like an attempt at a reminder: a wrong beginning, a stray word, an unknown
//! or missing key. `values` explains the faults of a value.
//!
//! A line is an attempt if it begins like an open task, even with errors in the checkbox, and contains a key of the
//! grammar or two misspelt keys. The keys are `date=`, `time=`, `recur=` and `msg=`. A line without a checkbox is an
//! attempt if it begins with a key and contains a second key. The first fault from left to right is named; a missing
//! field comes last.

use std::ops::Range;

use super::ParsedLine;
use super::values::KEYS;
use crate::format::{Fault, listed, nearest, quote};

/// Cuts the work on lines that are far too long to be meant: this much of a line decides whether it is.
const LOOK_AT: usize = 4096;

/// The beginning of every reminder line.
pub(super) const HEAD: &str = "- [ ] ";

/// Says what a line is that the grammar refused for this fault: a near miss only if it looks like an attempt at a reminder.
pub(super) fn sort(line: &[u8], fault: Fault) -> ParsedLine {
    let mut end = line.len().min(LOOK_AT);
    // Not in the middle of a character: a cut one would look like bad UTF-8 and be replaced.
    while end < line.len() && end > 0 && line[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    let text = String::from_utf8_lossy(&line[..end]);
    let body = after_marker(text.trim_start_matches(is_blank));
    let (checkbox, rest) = match body.strip_prefix('[') {
        Some(inside) => match inside.find(']').filter(|close| *close <= 8) {
            Some(close) => {
                let mark = inside[..close].trim_matches(is_blank);
                if mark.chars().count() == 1 {
                    return ParsedLine::Ticked;
                }
                (mark.is_empty(), &inside[close + 1..])
            }
            None => (false, inside),
        },
        None => (false, body),
    };
    let first = rest.trim_start_matches(is_blank).split_once('=');
    if !checkbox && first.is_none_or(|(key, _)| !KEYS.contains(&key)) {
        return ParsedLine::Other;
    }
    let keys = keys_in(rest);
    let meant = if checkbox { keys.sure >= 1 || keys.perhaps >= 2 } else { keys.sure >= 2 };
    if meant { ParsedLine::NearMiss(fault.finding()) } else { ParsedLine::Other }
}

/// The text after a list marker, if it begins with one.
fn after_marker(text: &str) -> &str {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match text.as_bytes().get(digits) {
        Some(b'.' | b')') if digits > 0 => &text[digits + 1..],
        Some(b'-' | b'*' | b'+') if digits == 0 => &text[1..],
        _ => return text,
    };
    rest.trim_start_matches(is_blank)
}

/// White space, and what looks like none at all.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// How many words of a text look like a key of ours.
struct Keys {
    /// `date=` as it should be, or in capitals, or with blanks before the `=`.
    sure: usize,
    /// The same with a typing error, or with a colon.
    perhaps: usize,
}

fn keys_in(text: &str) -> Keys {
    let mut keys = Keys { sure: 0, perhaps: 0 };
    for (at, _) in text.match_indices(['=', ':']) {
        let before = text[..at].trim_end_matches(is_blank);
        let start = before.char_indices().rev().find(|(_, c)| !c.is_ascii_alphabetic());
        let word = match start {
            // A key stands at the start of a word.
            Some((start, c)) if is_blank(c) || matches!(c, ']' | '"' | '\u{fffd}') => {
                &before[start + c.len_utf8()..]
            }
            Some(_) => continue,
            None => before,
        };
        if word.is_empty() || word.len() > 12 {
            continue;
        }
        let lower = word.to_ascii_lowercase();
        if text.as_bytes()[at] == b'=' && ["date", "time", "recur", "msg"].contains(&lower.as_str()) {
            keys.sure += 1;
        } else if nearest(&lower, &KEYS).is_some() {
            keys.perhaps += 1;
        }
    }
    keys.perhaps += keys.sure;
    keys
}

/// The fault before the first field, of a line that doesn't begin with [`HEAD`].
pub(super) fn head_problem(text: &str) -> Fault {
    let mut pairs = text.char_indices().zip(HEAD.chars());
    let (at, found) = pairs.find(|((_, c), head)| c != head).map_or((0, '-'), |(found, _)| found);
    if let Some(problem) = odd_space(at, found) {
        return problem;
    }
    let body = text.trim_start_matches(is_blank);
    let (reason, suggestion) = if at == 0 && found == ' ' {
        ("a reminder starts in the first column, this line is indented", "remove the spaces before it")
    } else if at == 0 && matches!(found, '*' | '+' | '0'..='9') && after_marker(body).starts_with('[') {
        ("a reminder starts with `- `, not with another list marker", "start the line with `- [ ] `")
    } else if at == 5 {
        ("there is no space after `- [ ]`", "put a space after the `]`")
    } else {
        (
            "a reminder starts with `- [ ] `",
            "start the line with `- [ ] `: hyphen, space, `[`, space, `]`, space",
        )
    };
    Fault::new(at, reason, suggestion)
}

/// The problem that a character is, if it is no plain space but looks like one.
pub(super) fn odd_space(at: usize, c: char) -> Option<Fault> {
    let name = match c {
        '\t' => "tab",
        '\u{a0}' => "no-break space",
        '\u{1680}' => "ogham space mark",
        '\u{2000}' | '\u{2002}' => "en space",
        '\u{2001}' | '\u{2003}' => "em space",
        '\u{2004}'..='\u{2006}' => "fraction of an em space",
        '\u{2007}' => "figure space",
        '\u{2008}' => "punctuation space",
        '\u{2009}' => "thin space",
        '\u{200a}' => "hair space",
        '\u{200b}' => "zero width space",
        '\u{200c}' | '\u{200d}' => "zero width joiner",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        '\u{202f}' => "narrow no-break space",
        '\u{205f}' => "medium mathematical space",
        '\u{2060}' => "word joiner",
        '\u{3000}' => "ideographic space",
        '\u{feff}' => "zero width no-break space (byte order mark)",
        '\r' => "carriage return",
        '\u{b}' => "vertical tab",
        '\u{c}' => "form feed",
        '\u{85}' => "next line character",
        _ => return None,
    };
    Some(Fault::new(
        at,
        format!("there is a {name} (U+{:04X}) where a space should be", u32::from(c)),
        "replace it with a plain space",
    ))
}

/// The first word of a text: up to any white space.
pub(super) fn word(text: &str) -> &str {
    text.find(is_blank).map_or(text, |end| &text[..end])
}

/// The name of the block id whose `^` stands at `at`.
pub(super) fn block_id(at: usize, block: &str) -> Result<&str, Fault> {
    let name = block.trim_end_matches(' ');
    match name.char_indices().find(|(_, c)| !c.is_ascii_alphanumeric() && *c != '-') {
        Some((place, ' ')) => Err(Fault::new(
            at + 1 + place + 1,
            "there is text after the block id",
            "a block id (`^name`) stays last: move it to the end of the line",
        )),
        Some((place, c)) => Err(odd_space(at + 1 + place, c).unwrap_or_else(|| {
            Fault::new(
                at + 1 + place,
                format!("`{c}` can't stand in a block id"),
                "use letters, digits and hyphens only",
            )
        })),
        None if name.is_empty() => Err(Fault::new(
            at,
            "a block id has no name after its `^`",
            "remove the `^`, or write a name of letters, digits and hyphens",
        )),
        None => Ok(name),
    }
}

pub(super) fn stray_word(at: usize, word: &str, rest: &str) -> Fault {
    let after = rest[word.len()..].trim_start();
    if KEYS.contains(&word) && after.starts_with('=') {
        return Fault::new(
            at + word.len(),
            format!("there is a space before the `=` of `{word}`"),
            format!("write `{word}=` and its value without spaces between"),
        );
    }
    if let Some((key, _)) = word.split_once(':').filter(|(key, _)| KEYS.contains(key)) {
        return Fault::new(
            at + key.len(),
            format!("`{key}` is followed by `:` instead of `=`"),
            format!("write `{key}=`"),
        );
    }
    Fault::new(
        at,
        format!("{} is not a `key=value` field", quote(word)),
        "put the words of the message into `msg=\"…\"` and remove the rest",
    )
}

pub(super) fn unknown_key(at: usize, key: &str) -> Fault {
    let lower = key.to_lowercase();
    let suggestion = if KEYS.contains(&lower.as_str()) {
        format!("write it in small letters: `{lower}=`")
    } else if let Some(name) = nearest(key, &KEYS) {
        format!("did you mean `{name}=`?")
    } else {
        "the fields are `date`, `time`, `recur`, `msg` and `id`".to_owned()
    };
    Fault::new(at, format!("unknown field {}", quote(key)), suggestion)
}

pub(super) fn glued(at: usize, key: &str) -> Fault {
    if key == "msg" {
        return Fault::new(
            at,
            "there is text right after the message's closing quote",
            "write a quote inside the message as `\\\"`, or put a space after the closing quote",
        );
    }
    Fault::new(at, format!("there is text right after the value of `{key}`"), "put a space after the value")
}

/// The fault of a line whose fields lack one that is needed.
pub(super) fn missing(fields: &[(&str, Range<usize>)]) -> Fault {
    const EXAMPLES: [(&str, &str); 4] =
        [("date", "date=2026-12-01"), ("time", "time=09:30"), ("recur", "recur=none"), ("msg", "msg=\"…\"")];
    let missing = EXAMPLES.into_iter().filter(|(key, _)| fields.iter().all(|(seen, _)| seen != key));
    let (names, examples): (Vec<String>, Vec<&str>) =
        missing.map(|(key, example)| (format!("`{key}`"), example)).unzip();
    let verb = if names.len() == 1 { "is" } else { "are" };
    let reason = format!("{} {verb} missing", listed(names, "and"));
    let at = fields.last().map_or(HEAD.len() - 1, |(_, place)| place.end);
    Fault::new(at, reason, format!("add `{}`", examples.join(" ")))
}
