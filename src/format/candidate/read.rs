//! Parses a line of `Inbox.md`. If a line looks like an attempt but has a mistake (a near miss), the mistake's place,
//! reason and remedy go out. Pure.

use jiff::Timestamp;

use super::{Candidate, CandidateRecord, Category, FactChange, PREFIX, ParsedBox};
use crate::format::approval::checkbox::{self, LineReader, is_name};
use crate::format::approval::quote::unquote;
use crate::format::{Fault, has_shape, is_block_id, nearest, quote};

/// The message about a missing space.
const SPACE: &str = "put one here";
const KEYS: [&str; 4] = ["asked", "by", "kept", "on"];
/// The separator of text and quote, with the quote's first sign: within a text that has a backslash before it.
const DOT: &str = " · \"";

/// Reads one line.
pub fn parse_line(line: &[u8]) -> ParsedBox<Candidate> {
    checkbox::parse_line(line, looks_meant, |text| LineReader::new(text).candidate())
}

/// Whether a line begins like a task, and holds an id of a candidate, or a category, a quote and a link.
fn looks_meant(text: &str) -> bool {
    let is_id = |word: &str| checkbox::looks_like_id(word, PREFIX);
    checkbox::task_body(text).is_some_and(|body| {
        body.split([' ', '\t']).any(is_id)
            || category_of(body).is_some() && body.contains(DOT) && body.contains("[[")
    })
}

/// The category behind a box.
fn category_of(body: &str) -> Option<Category> {
    let rest = body.split_once(']')?.1.trim_start().strip_prefix('[')?;
    Category::named(rest.split_once(']')?.0)
}

impl LineReader<'_> {
    fn candidate(mut self) -> Result<Candidate, Fault> {
        let mark = checkbox::mark(self.text, "tick it to keep it")?;
        self.spaces(SPACE)?;
        let category = self.category()?;
        let section = self.until(":", "the section", "write whom or what it is about, and a colon")?;
        self.spaces(SPACE)?;
        let text = self.until(DOT, "the text", "write what is to be remembered, ` · `, and the quote")?;
        self.at -= 1;
        let quote = self.said()?;
        self.spaces(SPACE)?;
        let (path, block) = self.link()?;
        self.spaces(SPACE)?;
        let change = self.change()?;
        let id = self.id(PREFIX, "candidate")?;
        let (record, block_id) = (self.record()?, self.block_id);
        Ok(Candidate { mark, category, section, text, quote, path, block, change, id, record, block_id })
    }

    fn category(&mut self) -> Result<Category, Fault> {
        let names = Category::ALL.map(Category::name);
        let how = format!("known are: {}", names.join(", "));
        let inside = self.rest().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((name, _)) = inside else {
            return Err(self.fault("the category is missing, as in `[profile]`", how));
        };
        let category = Category::named(name).ok_or_else(|| {
            let how = nearest(name, &names).map_or(how, |known| format!("did you mean `{known}`?"));
            Fault::new(self.at + 1, format!("{} is no category", quote(name)), how)
        })?;
        self.at += name.len() + 2;
        self.spaces(SPACE)?;
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

    fn said(&mut self) -> Result<String, Fault> {
        let (at, how) = (self.at, "write what was said between double quotes, as it stood");
        let value = self.quoted(how)?;
        if value.is_empty() { Err(Fault::new(at, "the quote is empty", how)) } else { Ok(value) }
    }

    fn link(&mut self) -> Result<(String, String), Fault> {
        let how = "write a link to the block where it was said, as in `[[logs/…#^id]]`";
        let inside = self.rest().strip_prefix("[[").and_then(|rest| rest.split_once("]]"));
        let parts = inside.and_then(|(link, _)| Some((link, link.split_once("#^")?)));
        let Some((link, (path, block))) = parts else {
            return Err(self.fault("the link is missing", how));
        };
        let is_name = |part: &str| !part.is_empty() && !part.contains(['[', ']', '|', '#', '^']);
        if !is_block_id(block) || !path.split('/').all(is_name) {
            return Err(self.fault("this is no link to a block", how));
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
        let words = self.said()?;
        self.spaces(SPACE)?;
        Ok(Some(if replaces { FactChange::Replaces(words) } else { FactChange::Joins(words) }))
    }

    /// The fields of a record, behind the id.
    fn record(&mut self) -> Result<Option<CandidateRecord>, Fault> {
        let mut found: [Option<&str>; 4] = [None; 4];
        while self.next_field(SPACE)? {
            let word = self.word();
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let Some(place) = KEYS.iter().position(|known| *known == key).filter(|_| word.contains('='))
            else {
                let how = format!("known are: {}", KEYS.join(", "));
                return Err(self.fault(format!("{} is no field", quote(word)), how));
            };
            if found[place].replace(value).is_some() {
                return Err(self.fault(format!("`{key}=` stands twice"), "delete one"));
            }
            let (fits, what, how) = match key {
                "by" | "on" => (is_name(value), "name", "write letters, digits and `-._~:/+@`"),
                _ => (instant(value).is_some(), "time", "write it as in `2026-12-01T09:30:00Z`"),
            };
            if !fits {
                let at = self.at + key.len() + 1;
                return Err(Fault::new(at, format!("{} is no {what}", quote(value)), how));
            }
            self.at += word.len();
        }
        let [asked, by, kept, on] = found;
        match (asked.and_then(instant), by) {
            (Some(asked), Some(by)) => {
                let (by, kept, on) = (by.to_owned(), kept.and_then(instant), on.map(str::to_owned));
                Ok(Some(CandidateRecord { asked, by, kept, on }))
            }
            _ if found.iter().all(Option::is_none) => Ok(None),
            _ => {
                let how = "a record has both; a question has neither";
                Err(self.fault("`asked=` or `by=` is missing", how))
            }
        }
    }
}

/// `2026-12-01T09:30:00Z`.
fn instant(text: &str) -> Option<Timestamp> {
    has_shape(text, "0000-00-00T00:00:00Z")
        .then(|| text.parse::<Timestamp>().ok())
        .flatten()
        .filter(|_| !text.starts_with("0000"))
}
