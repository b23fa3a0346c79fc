//! Parses a note's frontmatter into keys with values and lists: `skills: [a, b]`, or the block form of Obsidian's
//! property editor. Pure; each line is read on its own, as in [`yaml`].

use super::{lines::lines, yaml};

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
        if let Some(entry) = yaml::entry(line.text) {
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
            last.items.extend(list(&String::from_utf8_lossy(&guarded(item))));
        }
    }
    found
}

/// A block's item as one item of a list, whatever commas are in it.
fn guarded(item: &[u8]) -> Vec<u8> {
    let item = item.trim_ascii();
    let quoted =
        item.first().is_some_and(|first| matches!(first, b'"' | b'\'')) && item.last() == item.first();
    if quoted { item.to_vec() } else { [b"'", item.to_vec().as_slice(), b"'"].concat() }
}

/// The items between the brackets of a list, unquoted.
fn list(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let (mut item, mut quote, mut was_quoted) = (String::new(), None, false);
    let mut chars = text.chars();
    let mut end = |item: &mut String, was_quoted: &mut bool| {
        let done = if *was_quoted { std::mem::take(item) } else { std::mem::take(item).trim().to_owned() };
        if !done.is_empty() {
            items.push(done);
        }
        *was_quoted = false;
    };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('"'), '\\') => item.extend(chars.next()),
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => item.push(c),
            (None, '"' | '\'') if item.trim().is_empty() => {
                item.clear();
                (quote, was_quoted) = (Some(c), true);
            }
            (None, ',') => end(&mut item, &mut was_quoted),
            (None, c) if was_quoted && c.is_whitespace() => {}
            (None, c) => item.push(c),
        }
    }
    end(&mut item, &mut was_quoted);
    items
}

/// An item as it stands between brackets.
pub(crate) fn item(text: &str) -> String {
    let plain = !text.contains([',', '[', ']', '"', '\'']);
    if plain {
        yaml::to_scalar(text)
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// The bytes with this value for a key of the head that ends at `end`; a missing key is put last.
pub(crate) fn with_value(bytes: &[u8], end: usize, key: &str, value: &str) -> Option<Vec<u8>> {
    let mut last = None;
    for line in lines(bytes).take_while(|line| line.start < end) {
        if let Some(entry) = yaml::entry(line.text).filter(|entry| entry.key == key) {
            let at = line.start + entry.place.start..line.start + entry.place.end;
            return Some([&bytes[..at.start], value.as_bytes(), &bytes[at.end..]].concat());
        }
        last = Some(line);
    }
    // The last line of the head is its closing `---`.
    let closing = last?;
    let eol: &[u8] = if bytes[..closing.start].ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
    let new = [key.as_bytes(), b": ", value.as_bytes(), eol].concat();
    Some([&bytes[..closing.start], &new, &bytes[closing.start..]].concat())
}
