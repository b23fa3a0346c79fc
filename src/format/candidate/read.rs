//! Parses a line of `Inbox.md`, and explains near misses.

use jiff::Timestamp;

use super::{Candidate, Category, Change, Mark, Parsed, Record, is_id};
use crate::format::approval::quote::unquote;
use crate::format::{nearest, quote, tasks};

/// The place of the box's mark.
const BOX: usize = 3;
/// The end of the box.
const HEAD: usize = 5;
const KEYS: [&str; 4] = ["asked", "by", "kept", "on"];
/// The separator of text and quote, with the quote's first sign: within a text that has a backslash before it.
const DOT: &str = " · \"";

/// Something wrong in a line, by its byte.
struct Wrong {
    at: usize,
    reason: String,
    suggestion: String,
}

fn wrong(at: usize, reason: impl Into<String>, suggestion: impl Into<String>) -> Wrong {
    Wrong { at, reason: reason.into(), suggestion: suggestion.into() }
}

/// Reads one line.
pub fn parse_line(line: &[u8]) -> Parsed {
    let Ok(text) = std::str::from_utf8(line) else {
        let text = String::from_utf8_lossy(line);
        let at = line.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
        return if looks_meant(&text) {
            let reason = format!("byte 0x{:02X} is not valid UTF-8", line[at]);
            Parsed::NearMiss { column: at + 1, reason, suggestion: "save the file as UTF-8".to_owned() }
        } else {
            Parsed::Other
        };
    };
    match (Reader { text, at: 0 }).candidate() {
        Ok(candidate) => Parsed::Candidate(Box::new(candidate)),
        Err(Wrong { at, reason, suggestion }) if looks_meant(text) => {
            let column = text.get(..at).unwrap_or(text).chars().count() + 1;
            Parsed::NearMiss { column, reason, suggestion }
        }
        Err(_) => Parsed::Other,
    }
}

/// Whether a line begins like a task and holds an id of a candidate.
fn looks_meant(text: &str) -> bool {
    let body = text.trim_start();
    let body = body.strip_prefix(['-', '*', '+']).unwrap_or(body).trim_start();
    let id =
        |word: &str| word.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("cap_")) && word.len() > 8;
    body.starts_with('[') && body.split([' ', '\t']).any(id)
}

/// A place in a line.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn candidate(mut self) -> Result<Candidate, Wrong> {
        let mark = self.mark()?;
        let category = self.category()?;
        let section = self.until(":", "the section", "write whom or what it is about, and a colon")?;
        self.spaces()?;
        let text = self.until(DOT, "the text", "write what is to be remembered, ` · `, and the quote")?;
        self.at -= 1;
        let quote = self.quoted()?;
        self.spaces()?;
        let (path, block) = self.link()?;
        self.spaces()?;
        let change = self.change()?;
        let id = self.id()?;
        let (record, block_id) = self.tail()?;
        Ok(Candidate { mark, category, section, text, quote, path, block, change, id, record, block_id })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn mark(&mut self) -> Result<Mark, Wrong> {
        let mark = match self.text.get(..HEAD) {
            Some("- [ ]") => Mark::Open,
            Some("- [x]" | "- [X]") => Mark::Ticked,
            Some("- [-]") => Mark::Declined,
            _ if self.text.starts_with("- [") && self.text[BOX..].chars().nth(1) == Some(']') => {
                let how = "tick it to keep it, or put `-` into it to decline";
                return Err(wrong(BOX, "the box says nothing that is understood", how));
            }
            _ => {
                let how = "begin it with `- [ ] ` in the first column";
                return Err(wrong(0, "the line doesn't begin with `- [ ] `", how));
            }
        };
        self.at = HEAD;
        self.spaces()?;
        Ok(mark)
    }

    fn category(&mut self) -> Result<Category, Wrong> {
        let names = Category::ALL.map(Category::name);
        let how = format!("known are: {}", names.join(", "));
        let inside = self.rest().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((name, _)) = inside else {
            return Err(wrong(self.at, "the category is missing, as in `[profile]`", how));
        };
        let category = name.parse().map_err(|()| {
            let how = nearest(name, &names).map_or(how, |known| format!("did you mean `{known}`?"));
            wrong(self.at + 1, format!("{} is no category", quote(name)), how)
        })?;
        self.at += name.len() + 2;
        self.spaces()?;
        Ok(category)
    }

    /// The text up to a sign that no backslash stands before; behind it the reader goes on.
    fn until(&mut self, sign: &str, what: &str, how: &str) -> Result<String, Wrong> {
        let (from, rest) = (self.at, self.rest());
        let mut escaped = false;
        let end = rest.char_indices().find(|(at, c)| {
            let is_here = !escaped && rest[*at..].starts_with(sign);
            escaped = *c == '\\' && !escaped;
            is_here
        });
        let missing = || wrong(from, format!("{what} is missing"), how);
        let (end, _) = end.ok_or_else(missing)?;
        let raw = &rest[..end];
        let (value, length) = unquote(&format!("\"{raw}\""))
            .map_err(|(place, reason)| wrong(from + place.saturating_sub(1), reason, how))?;
        // A quote before the sign ends the text too early.
        if raw.is_empty() || length != raw.len() + 2 {
            return Err(missing());
        }
        if value.trim() != value || value.is_empty() {
            return Err(wrong(from, format!("{what} begins or ends with a blank"), "leave one space"));
        }
        self.at = from + end + sign.len();
        Ok(value)
    }

    fn quoted(&mut self) -> Result<String, Wrong> {
        let at = self.at;
        let how = "write what was said between double quotes, as it stood";
        let (value, length) =
            unquote(self.rest()).map_err(|(place, reason)| wrong(at + place, reason, how))?;
        if value.is_empty() {
            return Err(wrong(at, "the quote is empty", how));
        }
        self.at += length;
        Ok(value)
    }

    fn link(&mut self) -> Result<(String, String), Wrong> {
        let how = "write a link to the block where it was said, as in `[[logs/…#^id]]`";
        let inside = self.rest().strip_prefix("[[").and_then(|rest| rest.split_once("]]"));
        let parts = inside.and_then(|(link, _)| Some((link, link.split_once("#^")?)));
        let Some((link, (path, block))) = parts else {
            return Err(wrong(self.at, "the link is missing", how));
        };
        let is_name = |part: &str| !part.is_empty() && !part.contains(['[', ']', '|', '#', '^']);
        let is_block = !block.is_empty() && block.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !is_block || !path.split('/').all(is_name) {
            return Err(wrong(self.at, "this is no link to a block", how));
        }
        self.at += link.len() + 4;
        Ok((path.to_owned(), block.to_owned()))
    }

    fn change(&mut self) -> Result<Option<Change>, Wrong> {
        let replaces = self.rest().starts_with("replaces ");
        if !replaces && !self.rest().starts_with("joins ") {
            return Ok(None);
        }
        self.at += if replaces { "replaces ".len() } else { "joins ".len() };
        let words = self.quoted()?;
        self.spaces()?;
        Ok(Some(if replaces { Change::Replaces(words) } else { Change::Joins(words) }))
    }

    fn id(&mut self) -> Result<String, Wrong> {
        let id = self.word();
        if !is_id(id) {
            let reason = format!("{} is no id of a candidate", quote(id));
            return Err(wrong(self.at, reason, "one is `cap_` and 12 characters of A-Z and 2-7"));
        }
        self.at += id.len();
        Ok(id.to_owned())
    }

    /// The part behind the id: the fields of a record, a block id.
    fn tail(&mut self) -> Result<(Option<Record>, Option<String>), Wrong> {
        let mut found: [Option<&str>; 4] = [None; 4];
        let (mut block_id, mut is_dated) = (None, false);
        loop {
            self.spaces()?;
            if self.rest().is_empty() {
                break;
            }
            if let Some(length) = tasks::end_date(self.rest()).filter(|_| !is_dated) {
                self.at += length;
                is_dated = true;
                continue;
            }
            if let Some(block) = self.rest().strip_prefix('^') {
                let name = block.trim_end_matches(' ');
                if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
                    let how = "delete it, or write `^` with letters, digits and `-`";
                    return Err(wrong(self.at, "this is no block id", how));
                }
                block_id = Some(name.to_owned());
                break;
            }
            if is_dated {
                return Err(wrong(self.at, "something stands behind the date", "put it before the date"));
            }
            let word = self.word();
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let Some(place) = KEYS.iter().position(|known| *known == key).filter(|_| word.contains('='))
            else {
                let how = format!("known are: {}", KEYS.join(", "));
                return Err(wrong(self.at, format!("{} is no field", quote(word)), how));
            };
            if found[place].replace(value).is_some() {
                return Err(wrong(self.at, format!("`{key}=` stands twice"), "delete one"));
            }
            if matches!(key, "by" | "on") && !is_name(value) {
                let how = "write letters, digits and `-._~:/+@`";
                return Err(wrong(self.at + key.len() + 1, format!("{} is no name", quote(value)), how));
            }
            if matches!(key, "asked" | "kept") && instant(value).is_none() {
                let how = "write it as in `2026-12-01T09:30:00Z`";
                return Err(wrong(self.at + key.len() + 1, format!("{} is no time", quote(value)), how));
            }
            self.at += word.len();
        }
        let [asked, by, kept, on] = found;
        let record = match (asked.and_then(instant), by) {
            (Some(asked), Some(by)) => {
                let (by, kept, on) = (by.to_owned(), kept.and_then(instant), on.map(str::to_owned));
                Some(Record { asked, by, kept, on })
            }
            _ if found.iter().all(Option::is_none) => None,
            _ => {
                let how = "a record has both; a question has neither";
                return Err(wrong(self.at, "`asked=` or `by=` is missing", how));
            }
        };
        Ok((record, block_id))
    }

    /// One or more spaces, or the end of the line.
    fn spaces(&mut self) -> Result<(), Wrong> {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start_matches(' ').len();
        if blank == 0 && !rest.is_empty() {
            return Err(wrong(self.at, "a space is missing", "put one here"));
        }
        self.at += blank;
        Ok(())
    }

    fn word(&self) -> &'a str {
        self.rest().split(' ').next().unwrap_or_default()
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~:/+@".contains(&b))
}

/// `2026-12-01T09:30:00Z`.
fn instant(text: &str) -> Option<Timestamp> {
    let shape = text.len() == 20
        && text.bytes().enumerate().all(|(at, b)| match at {
            4 | 7 => b == b'-',
            10 => b == b'T',
            13 | 16 => b == b':',
            19 => b == b'Z',
            _ => b.is_ascii_digit(),
        });
    shape.then(|| text.parse::<Timestamp>().ok()).flatten().filter(|_| !text.starts_with("0000"))
}
