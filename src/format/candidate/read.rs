//! Parses a line of `Inbox.md`, and explains near misses.

use jiff::Timestamp;

use super::{Candidate, CandidateRecord, Category, FactChange, PREFIX, ParsedBox, is_id};
use crate::format::approval::checkbox::{self, HEAD, LineTail, is_name};
use crate::format::approval::quote::unquote;
use crate::format::{Fault, has_shape, is_block_id, nearest, quote};

const KEYS: [&str; 4] = ["asked", "by", "kept", "on"];
/// The separator of text and quote, with the quote's first sign: within a text that has a backslash before it.
const DOT: &str = " · \"";

/// Reads one line.
pub fn parse_line(line: &[u8]) -> ParsedBox<Candidate> {
    checkbox::parse_line(line, looks_meant, |text| Reader { text, at: HEAD }.candidate())
}

/// Whether a line begins like a task and holds an id of a candidate.
fn looks_meant(text: &str) -> bool {
    let is_id = |word: &str| checkbox::looks_like_id(word, PREFIX);
    checkbox::task_body(text).is_some_and(|body| body.split([' ', '\t']).any(is_id))
}

/// A place in a line.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn candidate(mut self) -> Result<Candidate, Fault> {
        let mark = checkbox::mark(self.text, "tick it to keep it")?;
        self.spaces()?;
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

    fn category(&mut self) -> Result<Category, Fault> {
        let names = Category::ALL.map(Category::name);
        let how = format!("known are: {}", names.join(", "));
        let inside = self.rest().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((name, _)) = inside else {
            return Err(Fault::new(self.at, "the category is missing, as in `[profile]`", how));
        };
        let category = Category::named(name).ok_or_else(|| {
            let how = nearest(name, &names).map_or(how, |known| format!("did you mean `{known}`?"));
            Fault::new(self.at + 1, format!("{} is no category", quote(name)), how)
        })?;
        self.at += name.len() + 2;
        self.spaces()?;
        Ok(category)
    }

    /// The text up to a sign that no backslash stands before; behind it the reader goes on.
    fn until(&mut self, sign: &str, what: &str, how: &str) -> Result<String, Fault> {
        let (from, rest) = (self.at, self.rest());
        let mut escaped = false;
        let end = rest.char_indices().find(|(at, c)| {
            let is_here = !escaped && rest[*at..].starts_with(sign);
            escaped = *c == '\\' && !escaped;
            is_here
        });
        let missing = || Fault::new(from, format!("{what} is missing"), how);
        let (end, _) = end.ok_or_else(missing)?;
        let raw = &rest[..end];
        let (value, length) = unquote(&format!("\"{raw}\""))
            .map_err(|(place, reason)| Fault::new(from + place.saturating_sub(1), reason, how))?;
        // A quote before the sign ends the text too early.
        if raw.is_empty() || length != raw.len() + 2 {
            return Err(missing());
        }
        if value.trim() != value || value.is_empty() {
            return Err(Fault::new(from, format!("{what} begins or ends with a blank"), "leave one space"));
        }
        self.at = from + end + sign.len();
        Ok(value)
    }

    fn quoted(&mut self) -> Result<String, Fault> {
        let at = self.at;
        let how = "write what was said between double quotes, as it stood";
        let (value, length) =
            unquote(self.rest()).map_err(|(place, reason)| Fault::new(at + place, reason, how))?;
        if value.is_empty() {
            return Err(Fault::new(at, "the quote is empty", how));
        }
        self.at += length;
        Ok(value)
    }

    fn link(&mut self) -> Result<(String, String), Fault> {
        let how = "write a link to the block where it was said, as in `[[logs/…#^id]]`";
        let inside = self.rest().strip_prefix("[[").and_then(|rest| rest.split_once("]]"));
        let parts = inside.and_then(|(link, _)| Some((link, link.split_once("#^")?)));
        let Some((link, (path, block))) = parts else {
            return Err(Fault::new(self.at, "the link is missing", how));
        };
        let is_name = |part: &str| !part.is_empty() && !part.contains(['[', ']', '|', '#', '^']);
        if !is_block_id(block) || !path.split('/').all(is_name) {
            return Err(Fault::new(self.at, "this is no link to a block", how));
        }
        self.at += link.len() + 4;
        Ok((path.to_owned(), block.to_owned()))
    }

    fn change(&mut self) -> Result<Option<FactChange>, Fault> {
        let replaces = self.rest().starts_with("replaces ");
        if !replaces && !self.rest().starts_with("joins ") {
            return Ok(None);
        }
        self.at += if replaces { "replaces ".len() } else { "joins ".len() };
        let words = self.quoted()?;
        self.spaces()?;
        Ok(Some(if replaces { FactChange::Replaces(words) } else { FactChange::Joins(words) }))
    }

    fn id(&mut self) -> Result<String, Fault> {
        let id = self.word();
        if !is_id(id) {
            let reason = format!("{} is no id of a candidate", quote(id));
            return Err(Fault::new(self.at, reason, "one is `cap_` and 12 characters of A-Z and 2-7"));
        }
        self.at += id.len();
        Ok(id.to_owned())
    }

    /// The part behind the id: the fields of a record, a block id.
    fn tail(&mut self) -> Result<(Option<CandidateRecord>, Option<String>), Fault> {
        let mut found: [Option<&str>; 4] = [None; 4];
        let mut tail = LineTail::default();
        loop {
            self.spaces()?;
            if self.rest().is_empty() {
                break;
            }
            if let Some(end) = tail.take(self.text, self.at)? {
                self.at = end;
                continue;
            }
            let word = self.word();
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let Some(place) = KEYS.iter().position(|known| *known == key).filter(|_| word.contains('='))
            else {
                let how = format!("known are: {}", KEYS.join(", "));
                return Err(Fault::new(self.at, format!("{} is no field", quote(word)), how));
            };
            if found[place].replace(value).is_some() {
                return Err(Fault::new(self.at, format!("`{key}=` stands twice"), "delete one"));
            }
            if matches!(key, "by" | "on") && !is_name(value) {
                let how = "write letters, digits and `-._~:/+@`";
                return Err(Fault::new(self.at + key.len() + 1, format!("{} is no name", quote(value)), how));
            }
            if matches!(key, "asked" | "kept") && instant(value).is_none() {
                let how = "write it as in `2026-12-01T09:30:00Z`";
                return Err(Fault::new(self.at + key.len() + 1, format!("{} is no time", quote(value)), how));
            }
            self.at += word.len();
        }
        let [asked, by, kept, on] = found;
        let record = match (asked.and_then(instant), by) {
            (Some(asked), Some(by)) => {
                let (by, kept, on) = (by.to_owned(), kept.and_then(instant), on.map(str::to_owned));
                Some(CandidateRecord { asked, by, kept, on })
            }
            _ if found.iter().all(Option::is_none) => None,
            _ => {
                let how = "a record has both; a question has neither";
                return Err(Fault::new(self.at, "`asked=` or `by=` is missing", how));
            }
        };
        Ok((record, tail.block_id))
    }

    /// One or more spaces, or the end of the line.
    fn spaces(&mut self) -> Result<(), Fault> {
        self.at = checkbox::spaces(self.text, self.at, "put one here")?;
        Ok(())
    }

    fn word(&self) -> &'a str {
        self.rest().split(' ').next().unwrap_or_default()
    }
}

/// `2026-12-01T09:30:00Z`.
fn instant(text: &str) -> Option<Timestamp> {
    has_shape(text, "0000-00-00T00:00:00Z")
        .then(|| text.parse::<Timestamp>().ok())
        .flatten()
        .filter(|_| !text.starts_with("0000"))
}
