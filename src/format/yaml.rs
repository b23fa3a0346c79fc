//! Reads the part of YAML that a note's header needs: `key: value` lines with plain or quoted scalars. Also changes one
//! value in place ([`with_value`]).
//!
//! Headers are written by people, by Obsidian's property editor and by this program. A full YAML parser refuses a whole
//! header for one odd line, and doesn't report the byte range of a value, which an edit needs. So each line is parsed
//! on its own; lines of other shapes (lists, nested values, comments) are left alone. [`entries`] parses a whole header
//! with its lists, such as `skills: [a, b]` or the block form of Obsidian's property editor. Pure.

use std::ops::Range;

use super::lines::{lines, terminator_of};

/// A `key: value` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlEntry<'a> {
    pub key: &'a str,
    /// The value's bytes in the line, without quotes, comment and blanks around it.
    pub place: Range<usize>,
    /// The value, unquoted.
    pub value: String,
}

/// The entry that a line is, if its key starts in the first column; the key may stand in quotes.
pub(crate) fn entry(line: &[u8]) -> Option<YamlEntry<'_>> {
    let (key, value) = key(line)?;
    Some(YamlEntry::new(line, key, value))
}

/// The entry with this key that a line is; the key may have any letters, and stand in quotes.
pub(crate) fn entry_of<'a>(line: &[u8], key: &'a str) -> Option<YamlEntry<'a>> {
    let behind = |key: &String| Some(line.strip_prefix(key.as_bytes())?.trim_ascii_start());
    let spelled = [key.to_owned(), format!("\"{key}\""), format!("'{key}'")];
    let value = spelled.iter().find_map(behind)?.strip_prefix(b":")?;
    matches!(value.first(), None | Some(b' ' | b'\t')).then(|| YamlEntry::new(line, key, value))
}

impl<'a> YamlEntry<'a> {
    /// The entry of a line that ends with its value.
    fn new(line: &[u8], key: &'a str, value: &[u8]) -> Self {
        let blanks = value.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let at = line.len() - value.len() + blanks;
        let (place, value) = scalar(&value[blanks..]);
        Self { key, place: at + place.start..at + place.end, value }
    }
}

/// A key up to its colon, which a blank or the line's end follows, without quotes; and what comes behind the colon.
fn key(line: &[u8]) -> Option<(&str, &[u8])> {
    let (key, value) = line.split_at(memchr::memchr(b':', line)?);
    let key = std::str::from_utf8(key).ok()?.trim_end_matches(' ');
    let inner = |quote| key.strip_prefix(quote)?.strip_suffix(quote);
    let key = inner('"').or_else(|| inner('\'')).unwrap_or(key);
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let value = &value[1..];
    (is_key && matches!(value.first(), None | Some(b' ' | b'\t'))).then_some((key, value))
}

/// A scalar at the start of `text`: where its content stands, and the content unquoted.
fn scalar(text: &[u8]) -> (Range<usize>, String) {
    let quote = text.first().copied().filter(|b| matches!(b, b'"' | b'\''));
    if let Some((quote, end)) = quote.and_then(|quote| Some((quote, closing(&text[1..], quote)? + 1))) {
        let inner = String::from_utf8_lossy(&text[1..end]);
        let value = if quote == b'"' {
            serde_json::from_str(&format!("\"{inner}\"")).unwrap_or_else(|_| inner.into_owned())
        } else {
            inner.replace("''", "'")
        };
        return (1..end, value);
    }
    let comment = memchr::memchr_iter(b'#', text).find(|at| *at == 0 || matches!(text[at - 1], b' ' | b'\t'));
    let plain = text[..comment.unwrap_or(text.len())].trim_ascii_end();
    (0..plain.len(), String::from_utf8_lossy(plain).into_owned())
}

/// The offset at which the quote that is open at the start of `text` closes.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(quote, b'\\', &text[at..])?;
        match (text[at], text.get(at + 1)) {
            (b'\\', Some(_)) if quote == b'"' => at += 2,
            (b'\\', _) => at += 1,
            (_, Some(b'\'')) if quote == b'\'' => at += 2,
            _ => return Some(at),
        }
    }
}

/// Text as a scalar on one line: plain where YAML reads it back as this text, else in double quotes.
pub(crate) fn to_scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b" _-:./+@,".contains(&b))
        && !text.contains(": ")
        && !text.ends_with([' ', ':'])
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "null"
        )
        && !text.bytes().all(|b| b.is_ascii_digit() || b"._+-eE".contains(&b));
    if plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // `%%` and `<!--` would begin a comment that hides what comes after the head.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '%' | '<') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// One key of the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontmatterEntry {
    pub line: usize,
    /// The value's column, from 1.
    pub column: usize,
    pub key: String,
    pub value: String,
    /// The value as a list.
    pub items: Vec<String>,
}

/// The entries of the head that ends at `end`.
pub(crate) fn entries(bytes: &[u8], end: usize) -> Vec<FrontmatterEntry> {
    let mut found: Vec<FrontmatterEntry> = Vec::new();
    for line in lines(bytes).take_while(|line| line.start < end) {
        if let Some(entry) = entry(line.text) {
            let quoted = entry.place.start > 0 && matches!(line.text[entry.place.start - 1], b'"' | b'\'');
            let items = match entry.value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some(inner) if !quoted => list(inner),
                _ if entry.value.is_empty() => Vec::new(),
                _ => vec![entry.value.clone()],
            };
            let column = String::from_utf8_lossy(&line.text[..entry.place.start]).chars().count() + 1;
            found.push(FrontmatterEntry {
                line: line.number,
                column,
                key: entry.key.to_owned(),
                value: entry.value,
                items,
            });
        } else if let Some(item) = line.text.trim_ascii().strip_prefix(b"- ")
            && let Some(last) = found.last_mut().filter(|last| last.value.is_empty())
        {
            last.items.extend(Some(scalar(item.trim_ascii()).1).filter(|item| !item.is_empty()));
        }
    }
    found
}

/// The items between the brackets of a list, unquoted.
fn list(text: &str) -> Vec<String> {
    let (mut items, mut rest) = (Vec::new(), text.as_bytes());
    while !rest.is_empty() {
        rest = rest.trim_ascii_start();
        let quote = rest.first().copied().filter(|b| matches!(b, b'"' | b'\''));
        let behind = quote.and_then(|quote| closing(&rest[1..], quote)).map_or(0, |end| end + 2);
        let end = memchr::memchr(b',', &rest[behind..]).map_or(rest.len(), |at| behind + at);
        items.push(scalar(&rest[..end]).1);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    items.retain(|item| !item.is_empty());
    items
}

/// An item as it stands between brackets.
pub(crate) fn item(text: &str) -> String {
    let plain = !text.contains([',', '[', ']', '"', '\'']);
    if plain { to_scalar(text) } else { quoted(text) }
}

/// The bytes with this value for a key of the head that ends at `end`; a missing key is put last.
pub(crate) fn with_value(bytes: &[u8], end: usize, key: &str, value: &str) -> Option<Vec<u8>> {
    let mut last = None;
    for line in lines(bytes).take_while(|line| line.start < end) {
        if let Some(entry) = entry_of(line.text, key) {
            let mut at = line.start + entry.place.start..line.start + entry.place.end;
            let with = match bytes[at.start - 1] {
                b':' => format!(" {value}"),
                // A value with quotes of its own takes the place of the old ones.
                b'"' | b'\'' if value.starts_with('"') => {
                    at = at.start - 1..at.end + 1;
                    value.to_owned()
                }
                // Nothing stands between the key and a comment.
                _ if bytes.get(at.end) == Some(&b'#') => format!("{value} "),
                _ => value.to_owned(),
            };
            return Some([&bytes[..at.start], with.as_bytes(), &bytes[at.end..]].concat());
        }
        last = Some(line);
    }
    // The last line of the head is its closing `---`.
    let (head, rest) = bytes.split_at(last?.start);
    let line = format!("{key}: {value}{}", terminator_of(bytes));
    Some([head, line.as_bytes(), rest].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(line: &str) -> Option<(&str, String)> {
        let entry = entry(line.as_bytes())?;
        Some((&line[entry.place], entry.value))
    }

    #[test]
    fn values_are_found_where_they_stand() {
        assert_eq!(value("status: pending   # a | b"), Some(("pending", "pending".into())));
        assert_eq!(value("a: \"x \\\" # y\" # z"), Some(("x \\\" # y", "x \" # y".into())));
        assert_eq!(value("a: 'it''s' "), Some(("it''s", "it's".into())));
        assert_eq!(value("a:"), Some(("", String::new())));
        assert_eq!(
            value("a: turn-2026-05-08T13:55Z#x"),
            Some(("turn-2026-05-08T13:55Z#x", "turn-2026-05-08T13:55Z#x".into()))
        );
        assert_eq!(value("\"a\": x"), Some(("x", "x".into())));
        assert_eq!(value("'a' : x"), Some(("x", "x".into())));
        assert_eq!(value("a:b"), None);
        assert_eq!(value("\"a: b"), None);
        assert_eq!(value(" a: b"), None);
        assert_eq!(value("- a: b"), None);
    }

    #[test]
    fn a_value_is_set_where_it_stands() {
        let note = "---\na: 'x' # y\nb:\n---\n";
        let set = |key, value| {
            let done = with_value(note.as_bytes(), note.len(), key, value).unwrap();
            String::from_utf8(done).unwrap()
        };
        assert_eq!(set("a", "z"), "---\na: 'z' # y\nb:\n---\n");
        assert_eq!(set("a", "\"it's\""), "---\na: \"it's\" # y\nb:\n---\n");
        assert_eq!(set("b", "z"), "---\na: 'x' # y\nb: z\n---\n");
        assert_eq!(set("c", "z"), "---\na: 'x' # y\nb:\nc: z\n---\n");
        let commented = "---\nd: # y\n---\n";
        let done = with_value(commented.as_bytes(), commented.len(), "d", "z").unwrap();
        assert_eq!(String::from_utf8(done).unwrap(), "---\nd: z # y\n---\n");
    }

    #[test]
    fn a_list_stands_between_brackets_or_below_its_key() {
        let items = |text: &str| entries(text.as_bytes(), text.len()).remove(0).items;
        assert_eq!(
            items("a: [x, \"b, \\\"c\\\"\" , 'it''s', , \"[[d]]\"]\n"),
            ["x", "b, \"c\"", "it's", "[[d]]"]
        );
        assert_eq!(items("a:\n- x, y\n- \n- \"z\"\n"), ["x, y", "z"]);
        assert_eq!(items("a: x, y\n"), ["x, y"]);
        assert_eq!(items("a: []\n"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_item_comes_back(text in "[^#]{1,30}") {
            let line = format!("key: [{}]", item(&text));
            prop_assert_eq!(&entries(line.as_bytes(), line.len())[0].items, &[text]);
        }

        #[test]
        fn any_text_comes_back(text in "(?s).{0,30}") {
            let line = format!("key: {}", to_scalar(&text));
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(entry(line.as_bytes()).unwrap().value, text);
        }
    }
}
