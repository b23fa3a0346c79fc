//! Explains why a line that looks meant as a reminder isn't one.
//!
//! A line looks meant if it begins like an open task, however sloppily, and holds a key of the grammar (`date=`,
//! `time=`, `recur=`, `msg=`), or if it has no checkbox but begins with such a key and holds a second. The first thing
//! wrong, from left to right, is named; a missing field comes last.

use super::ParsedLine;
use super::mistakes::{KEYS, check_value};
use crate::format::{Fault, listed, nearest, quote};

/// Cuts the work on lines that are far too long to be meant: this much of a line decides whether it is.
const LOOK_AT: usize = 4096;

const HEAD: &str = "- [ ] ";

/// Says what a line is that the grammar refused.
pub(super) fn diagnose(line: &[u8]) -> ParsedLine {
    let Some(sort) = sort(line) else { return ParsedLine::Other };
    if sort == Sort::Ticked {
        return ParsedLine::Ticked;
    }
    let problem = match std::str::from_utf8(line) {
        Ok(text) => first_problem(text).in_characters(text),
        // The text before the bad byte may be wrong already, but nothing is known about the rest.
        Err(error) => Fault::not_utf8(line, error),
    };
    ParsedLine::NearMiss(problem.finding())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Ticked,
    Meant,
}

/// Whether a line is a ticked task or looks meant as a reminder; neither is by far the commonest answer, and
/// the cheapest.
fn sort(line: &[u8]) -> Option<Sort> {
    let mut end = line.len().min(LOOK_AT);
    // Not in the middle of a character: a cut one would look like bad UTF-8 and be replaced.
    while end < line.len() && end > 0 && line[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    let first = *line.iter().find(|b| !b.is_ascii_whitespace())?;
    if !matches!(first, b'-' | b'*' | b'+' | b'[' | b'0'..=b'9' | 0x80..) && !first.is_ascii_alphabetic() {
        return None;
    }
    if first.is_ascii_alphabetic() && memchr::memchr(b'=', &line[..end]).is_none() {
        return None;
    }
    let text = String::from_utf8_lossy(&line[..end]);
    let body = after_marker(text.trim_start_matches(is_blank));
    let (checkbox, rest) = match body.strip_prefix('[') {
        Some(inside) => match inside.find(']').filter(|close| *close <= 8) {
            Some(close) => {
                let mark = inside[..close].trim_matches(is_blank);
                if mark.chars().count() == 1 {
                    return Some(Sort::Ticked);
                }
                (mark.is_empty(), &inside[close + 1..])
            }
            None => (false, inside),
        },
        None => (false, body),
    };
    let keys = keys_in(rest);
    let starts_with_key =
        KEYS.iter().any(|key| rest.trim_start_matches(is_blank).starts_with(&format!("{key}=")));
    let meant =
        if checkbox { keys.sure >= 1 || keys.perhaps >= 2 } else { starts_with_key && keys.sure >= 2 };
    meant.then_some(Sort::Meant)
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

/// The first thing wrong with a line.
fn first_problem(text: &str) -> Fault {
    head_problem(text).or_else(|| body_problem(text)).unwrap_or_else(|| {
        // Unreachable as long as this file follows the grammar, which a property test holds it to.
        Fault::new(0, "this line isn't a valid reminder", "compare it with the grammar in the documentation")
    })
}

/// The fault before the first field.
fn head_problem(text: &str) -> Option<Fault> {
    let (at, found) =
        text.char_indices().zip(HEAD.chars()).find(|((_, c), expected)| c != expected).map(|(c, _)| c)?;
    if let Some(problem) = odd_space(at, found) {
        return Some(problem);
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
    Some(Fault::new(at, reason, suggestion))
}

/// The problem that a character is, if it is no plain space but looks like one.
fn odd_space(at: usize, c: char) -> Option<Fault> {
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

/// The fault in the fields.
fn body_problem(text: &str) -> Option<Fault> {
    let mut seen: Vec<&str> = Vec::new();
    let mut at = HEAD.len();
    let mut last_end = HEAD.len() - 1;
    loop {
        at += text[at..].bytes().take_while(|b| *b == b' ').count();
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        if let Some(problem) = odd_space(at, first) {
            return Some(problem);
        }
        if let Some(block) = rest.strip_prefix('^') {
            match block_problem(at, block) {
                Some(problem) => return Some(problem),
                None => break,
            }
        }
        let word = word(rest);
        let Some((key, value)) = word.split_once('=') else { return Some(stray_word(at, word, rest)) };
        if !KEYS.contains(&key) {
            return Some(unknown_key(at, key));
        }
        if seen.contains(&key) {
            return Some(Fault::new(at, format!("`{key}` stands twice"), format!("keep one `{key}=`")));
        }
        seen.push(key);
        let value_at = at + key.len() + 1;
        match check_value(key, value, &text[value_at..]) {
            Ok(length) => at = value_at + length,
            Err(problem) => return Some(problem.moved(value_at)),
        }
        last_end = at;
        match text[at..].chars().next() {
            None | Some(' ') => {}
            Some(c) => return Some(odd_space(at, c).unwrap_or_else(|| glued(at, key))),
        }
    }
    missing(&seen, last_end)
}

/// The first word of a text: up to any white space.
fn word(text: &str) -> &str {
    text.find(is_blank).map_or(text, |end| &text[..end])
}

fn block_problem(at: usize, block: &str) -> Option<Fault> {
    let name = block.trim_end_matches(' ');
    let odd = name.char_indices().find(|(_, c)| !c.is_ascii_alphanumeric() && *c != '-');
    match odd {
        Some((place, ' ')) => Some(Fault::new(
            at + 1 + place + 1,
            "there is text after the block id",
            "a block id (`^name`) stays last: move it to the end of the line",
        )),
        Some((place, c)) => Some(odd_space(at + 1 + place, c).unwrap_or_else(|| {
            Fault::new(
                at + 1 + place,
                format!("`{c}` can't stand in a block id"),
                "use letters, digits and hyphens only",
            )
        })),
        None if name.is_empty() => Some(Fault::new(
            at,
            "a block id has no name after its `^`",
            "remove the `^`, or write a name of letters, digits and hyphens",
        )),
        None => None,
    }
}

fn stray_word(at: usize, word: &str, rest: &str) -> Fault {
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

fn unknown_key(at: usize, key: &str) -> Fault {
    let lower = key.to_lowercase();
    let suggestion = if KEYS.contains(&lower.as_str()) {
        format!("write it in small letters: `{lower}=`")
    } else {
        match nearest(key, &KEYS) {
            Some(name) => format!("did you mean `{name}=`?"),
            None => "the fields are `date`, `time`, `recur`, `msg` and `id`".to_owned(),
        }
    };
    Fault::new(at, format!("unknown field {}", quote(key)), suggestion)
}

fn glued(at: usize, key: &str) -> Fault {
    if key == "msg" {
        return Fault::new(
            at,
            "there is text right after the message's closing quote",
            "write a quote inside the message as `\\\"`, or put a space after the closing quote",
        );
    }
    Fault::new(at, format!("there is text right after the value of `{key}`"), "put a space after the value")
}

fn missing(seen: &[&str], at: usize) -> Option<Fault> {
    const EXAMPLES: [(&str, &str); 4] =
        [("date", "date=2026-12-01"), ("time", "time=09:30"), ("recur", "recur=none"), ("msg", "msg=\"…\"")];
    let missing = EXAMPLES.into_iter().filter(|(key, _)| !seen.contains(key));
    let (names, examples): (Vec<String>, Vec<&str>) =
        missing.map(|(key, example)| (format!("`{key}`"), example)).unzip();
    let verb = if names.len() == 1 { "is" } else { "are" };
    let reason = format!("{} {verb} missing", listed(names, "and"));
    (!examples.is_empty()).then(|| Fault::new(at, reason, format!("add `{}`", examples.join(" "))))
}
