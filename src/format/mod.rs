//! Parses and writes the text formats of the vault's notes, one module for each format.
//!
//! Text comes in; values, or changed text, go out. Pure: no file, no clock. Parsing a note never fails: a line that
//! isn't understood is left alone, and reported as a [`Finding`] if it looks like a failed attempt at the format. An
//! edit changes the value that it means and no other byte. Most formats have a grammar (ABNF) in `grammar/`, with
//! examples and conformance vectors; tests check the parsers against both.
//!
//! - for the person and the agent: `reminder`, `commitment`, `memory`, `daily`, `pinned`, `working_memory`, `struck`,
//!   `candidate`, `approval`, `routine`, `skill`, `log`, `summary`;
//! - other plugins' lines: `task`, `dated_tasks`;
//! - shared by all: `lines`, `yaml`, `tags`, `invisible`, `harmless`, `lenient_json`, `changes`, and the functions
//!   below.

pub mod approval;
pub mod candidate;
pub mod changes;
pub mod commitment;
pub mod daily;
pub mod dated_tasks;
pub mod harmless;
pub mod invisible;
pub mod lenient_json;
pub mod lines;
pub mod log;
pub mod memory;
pub mod pinned;
pub mod reminder;
pub mod routine;
pub mod skill;
pub mod struck;
pub mod summary;
pub mod tags;
pub mod task;
pub mod working_memory;
pub(crate) mod yaml;

use std::borrow::Cow;
use std::sync::LazyLock;

use jiff::civil;
pub use lines::{Line, lines};
pub use reminder::ReminderId;

/// The English names of the months, from January on, as they stand in a sentence.
static MONTHS: LazyLock<[String; 12]> = LazyLock::new(|| {
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
        .map(|month| civil::date(2000, month, 1).strftime("%B").to_string())
});

/// The same in lower case, as they are compared.
pub(crate) static MONTHS_LOWER: LazyLock<[String; 12]> =
    LazyLock::new(|| MONTHS.each_ref().map(|name| name.to_lowercase()));

/// The English names of the days of the week, from Monday on.
static WEEKDAYS: LazyLock<[String; 7]> =
    LazyLock::new(|| [1, 2, 3, 4, 5, 6, 7].map(|day| civil::date(2001, 1, day).strftime("%A").to_string()));

/// The same in lower case.
pub(crate) static WEEKDAYS_LOWER: LazyLock<[String; 7]> =
    LazyLock::new(|| WEEKDAYS.each_ref().map(|name| name.to_lowercase()));

/// Something in a file that looks like an attempt at a format but isn't understood, in words for its writer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1: in characters, or in bytes where the line isn't valid UTF-8.
    pub column: usize,
    /// The fault, in lower case.
    pub reason: String,
    /// The remedy.
    pub suggestion: String,
}

impl Finding {
    /// A finding at this line and column, each from 1.
    pub fn new(line: usize, column: usize, reason: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self { line, column, reason: reason.into(), suggestion: suggestion.into() }
    }
}

/// Whether a text can be a block id, without its `^`.
fn is_block_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Something wrong at a place in a line.
#[derive(Debug)]
struct Fault {
    /// The place from 0: a byte offset until [`Fault::in_characters`].
    at: usize,
    reason: String,
    suggestion: String,
}

impl Fault {
    fn new(at: usize, reason: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self { at, reason: reason.into(), suggestion: suggestion.into() }
    }

    /// The fault of a line that is no text, at its byte.
    fn not_utf8(line: &[u8], error: std::str::Utf8Error) -> Self {
        let at = error.valid_up_to();
        Self::new(at, format!("byte 0x{:02X} is not valid UTF-8", line[at]), "save the file as UTF-8")
    }

    /// The finding in a line that is the first one.
    fn finding(self) -> Finding {
        Finding::new(1, self.at + 1, self.reason, self.suggestion)
    }

    fn moved(self, by: usize) -> Self {
        Self { at: self.at + by, ..self }
    }

    /// The same with its place counted in characters of `text`.
    fn in_characters(self, text: &str) -> Self {
        Self { at: text.get(..self.at).unwrap_or(text).chars().count(), ..self }
    }
}

/// Quotes text of unknown length for an error message: in backticks, cut after 40 characters, with control
/// characters shown as escapes.
pub(crate) fn quote(text: &str) -> String {
    let mut shown = String::from("`");
    for (count, c) in text.chars().enumerate() {
        if count == 40 {
            shown.push('…');
            break;
        }
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown.push('`');
    shown
}

/// Whether a text has digits where `shape` has zeros, and else its characters.
pub(crate) fn has_shape(text: &str, shape: &str) -> bool {
    let same = |(b, s): (u8, u8)| if s == b'0' { b.is_ascii_digit() } else { b == s };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(same)
}

/// The one of `names` nearest to `word`, if it is near enough to be what was meant.
pub(crate) fn nearest<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    if word.is_empty() || word.len() > 32 {
        return None;
    }
    let word = word.to_lowercase();
    names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&word, name), *name))
        .filter(|(distance, name)| *distance <= name.len().max(3) / 3 + 1 && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `a, b and c`, with another word for `and`.
fn listed(mut all: Vec<String>, and: &str) -> String {
    match (all.pop(), all.is_empty()) {
        (Some(last), false) => format!("{} {and} {last}", all.join(", ")),
        (last, _) => last.unwrap_or_default(),
    }
}

/// The words on one line, with one space between them.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with LF as its only line end. A CR alone ends a line in Markdown, too.
pub(crate) fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The same without other control characters than tabs.
#[cfg(feature = "assistant")]
pub(crate) fn plain_lines(text: &str) -> String {
    with_line_feeds(text).chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// The text without the mentions at its beginning and end, which are only a form of address.
pub fn strip_mentions(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text.len();
        if let Some(rest) = text.strip_prefix("<@")
            && let Some((id, rest)) = rest.split_once('>')
            && is_id(id)
        {
            text = rest.trim_start();
        }
        if let Some(rest) = text.strip_suffix('>')
            && let Some((rest, id)) = rest.rsplit_once("<@")
            && is_id(id)
        {
            text = rest.trim_end();
        }
        if text.len() == before {
            return text;
        }
    }
}

fn is_id(text: &str) -> bool {
    let digits = text.trim_start_matches(['!', '&']);
    !digits.is_empty() && digits.len() + 1 >= text.len() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The text with its first letter in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A text in a block of code, with a fence that is longer than any in it.
pub(crate) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

/// The first `most` characters, with `…` after them where more follows.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", text[..end].trim_end())),
        None => Cow::Borrowed(text),
    }
}

/// At most `most` characters, cut at a word's end, with `…` after them where more follows.
pub(crate) fn cut_at_word(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(1)).collect();
    let end = cut.rfind(' ').filter(|at| *at * 2 > cut.len()).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end())
}

/// The text between two marks, of which the second, `[END]`, stands nowhere in it.
pub(crate) fn enclosed(notice: &str, text: &str, end: &str) -> String {
    let numbered = (1..).map(|n| if n == 1 { end.to_owned() } else { format!("{end} {n}") });
    let mut free = numbered.filter(|end| !text.contains(&format!("[{end}]")));
    format!("[{notice}]\n{}\n[{}]", text.trim_end_matches('\n'), free.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shortened_where_it_is_too_long() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äö ü", 3), "äö…");
        assert_eq!(one_line(" a\n\tb  c "), "a b c");
        assert_eq!(plain_lines("a\r\n\tb\rc\0\u{1b}[1m\n"), "a\n\tb\nc[1m\n");
    }
}
