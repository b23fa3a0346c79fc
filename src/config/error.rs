//! Defines the errors of settings, secrets and directories, worded for people, and finds an error's line and column in
//! the text of a settings file.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use crate::format::nearest;

/// A setting, secret or directory that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, where one is at fault.
    pub path: Option<PathBuf>,
    /// 1-based line and column in that file.
    pub place: Option<(usize, usize)>,
    /// The fault, in one sentence.
    pub message: String,
    /// The remedy.
    pub suggestion: Option<String>,
}

impl ConfigError {
    /// An error about no particular line of a file.
    pub fn new(message: impl Into<String>) -> Self {
        Self { path: None, place: None, message: message.into(), suggestion: None }
    }

    /// Names the file that is at fault.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Names the place in `text` by byte offset.
    #[must_use]
    pub fn at(mut self, text: &str, offset: usize) -> Self {
        self.place = Some(line_and_column(text, offset));
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// The error in words, and what to do about it.
    pub fn in_full(&self) -> String {
        self.suggestion.iter().fold(self.to_string(), |words, hint| format!("{words}; {hint}"))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}", path.display())?;
            if let Some((line, column)) = self.place {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for ConfigError {}

/// The 1-based line and column (in characters) of a byte offset.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// The spans of a dotted key's last name and of its value in the text; of `mcp[1]`, the second of these blocks.
pub(super) fn find_key(text: &str, key: &str) -> Option<(Range<usize>, Range<usize>)> {
    let root = DeTable::parse(text).ok()?;
    let (mut table, mut found) = (Some(root.get_ref()), None);
    for part in key.split('.') {
        let (part, index) = part.split_once('[').unwrap_or((part, ""));
        let (name, mut value) = table?.iter().find(|(name, _)| name.get_ref() == part)?;
        if let (DeValue::Array(all), Ok(index)) = (value.get_ref(), index.trim_end_matches(']').parse()) {
            value = all.get::<usize>(index).unwrap_or(value);
        }
        table = match value.get_ref() {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
        found = Some((name.span(), value.span()));
    }
    found
}

/// The error of a list in a table's place (`[[notify]]`), whose values serde would take by their positions.
pub(super) fn doubled<T: DeserializeOwned>(text: &str) -> Option<ConfigError> {
    let root = DeTable::parse(text).ok()?;
    let mut open: Vec<(String, &DeTable<'_>)> = vec![(String::new(), root.get_ref())];
    while let Some((above, table)) = open.pop() {
        for (name, value) in table {
            let key = format!("{above}{}", name.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) => open.push((format!("{key}."), inner)),
                DeValue::Array(_) if takes_table::<T>(&key) => {
                    let error = ConfigError::new(format!("`{key}` is one table, not a list"));
                    let hint = format!("write `[{key}]` with one pair of brackets, and its keys below it");
                    return Some(error.suggest(hint).at(text, name.span().start));
                }
                _ => {}
            }
        }
    }
    None
}

/// Whether a table stands at this key: then an empty one is read, or lacks keys.
fn takes_table<T: DeserializeOwned>(key: &str) -> bool {
    match toml::from_str::<T>(&format!("{key} = {{}}")) {
        Ok(_) => true,
        Err(error) => error.message().starts_with("missing field"),
    }
}

/// An error of reading TOML as a `T` in our words, with the nearest known name where a name is wrong.
pub(super) fn explain<T: DeserializeOwned>(text: &str, error: &toml::de::Error) -> ConfigError {
    let message = error.message();
    let ours = match quoted(message).as_slice() {
        [wrong, known @ ..] if message.starts_with("unknown field") => {
            let said = ConfigError::new(format!("unknown key `{wrong}`"));
            said.suggest(match (header_left_out::<T>(text, error), nearest(wrong, known)) {
                (Some(hint), _) => hint,
                (None, Some(name)) => format!("did you mean `{name}`?"),
                (None, None) => format!("known here: {}", known.join(", ")),
            })
        }
        [wrong, known @ ..] if message.starts_with("unknown variant") => {
            let error = ConfigError::new(format!("unknown value `{wrong}`"));
            error.suggest(match nearest(wrong, known) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("give one of: {}", known.join(", ")),
            })
        }
        _ if message.starts_with("duplicate key") => {
            let key = error.span().and_then(|span| text.get(span)).unwrap_or("this");
            let said = ConfigError::new(format!("`{key}` stands twice in the file"));
            let first = error.span().and_then(|span| first_of(text, span.start));
            said.suggest(match (header_left_out::<T>(text, error), first) {
                (Some(hint), _) => hint,
                (None, Some(first)) => format!(
                    "line {first} has the first one: move what stands below this line there, and delete this line"
                ),
                (None, None) => "join the two".to_owned(),
            })
        }
        _ => {
            let error = ConfigError::new(message.lines().next().unwrap_or("can't be understood").to_owned());
            match form_of(message) {
                Some(form) => error.suggest(form),
                None => error,
            }
        }
    };
    match error.span() {
        Some(span) => ours.at(text, span.start),
        None => ours,
    }
}

/// The number, from 1, of the line that has the table's header or the key at this place for the first time.
fn first_of(text: &str, at: usize) -> Option<usize> {
    let (lines, second) = (text.lines().collect::<Vec<_>>(), text.get(..at)?.matches('\n').count());
    let name = |line: &&str| {
        let line = line.split('#').next().unwrap_or_default();
        line.split_once('=').map_or(line, |(key, _)| key).trim().to_owned()
    };
    let (earlier, wanted) = (lines.get(..second)?, name(lines.get(second)?));
    let is_it = |line: &&str| name(line) == wanted;
    let index = if wanted.starts_with('[') {
        earlier.iter().position(is_it)
    } else {
        earlier.iter().rposition(is_it)
    };
    index.map(|index| index + 1)
}

/// The hint where the header above a wrong key is commented out and the key belongs to its table.
fn header_left_out<T: DeserializeOwned>(text: &str, error: &toml::de::Error) -> Option<String> {
    let at = error.span()?.start;
    let before = text.get(..at)?;
    let is_header = |line: &&str| line.starts_with('[') || line.starts_with("#[");
    let line = before.lines().rev().find(is_header).filter(|line| line.starts_with('#'))?;
    let start = before.rfind(line)?;
    let with_header = format!("{}{}", &text[..start], &text[start + 1..]);
    // The known keys differ with the table.
    let words = |error: &toml::de::Error| error.message().split(',').next().unwrap_or_default().to_owned();
    let is_same = |other: toml::de::Error| {
        let is_wrong = words(&other) == words(error) || other.message().starts_with("unknown field");
        is_wrong && other.span().is_some_and(|span| span.start + 1 == at)
    };
    let header = line.trim_start_matches('#').split('#').next()?.trim();
    let number = before[..start].matches('\n').count() + 1;
    let is_of_it = !toml::from_str::<T>(&with_header).err().is_some_and(is_same);
    is_of_it.then(|| format!("line {number} begins its table: take the `#` before `{header}` away"))
}

/// How a value is written that has the wrong type.
pub(super) fn form_of(message: &str) -> Option<&'static str> {
    if message.starts_with("invalid value: integer `-") {
        return Some("write a number of 0 or more");
    }
    if message.starts_with("invalid socket address") {
        return Some("write numbers and a port, as in `127.0.0.1:8790`");
    }
    let expected = message.strip_prefix("invalid type: ")?.rsplit_once("expected ")?.1.lines().next()?;
    match expected {
        "a sequence" => Some("write a list, as in `[\"one\", \"two\"]`"),
        "a string" => Some("put it between quotes"),
        "a boolean" => Some("write `true` or `false`, without quotes"),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" | "f64" => {
            Some("write a number, without quotes")
        }
        _ => None,
    }
}

/// The texts between backticks.
pub(super) fn quoted(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use crate::config::Settings;

    #[test]
    fn what_stands_twice_names_the_line_of_the_first() {
        let said = |text: &str| Settings::parse(text).unwrap_err().to_string();
        for (text, line) in [
            ("[notify]\n\n[discord]\n[notify]  # again\nkind = \"discord\"\n", "line 1 has"),
            ("# x\n[hooks]\nmax_chars = 1000\nmax_chars = 2000\n", "line 3 has"),
        ] {
            let error = Settings::parse(text).unwrap_err();
            let whole = format!("{error} {error:?}");
            assert!(whole.contains(line), "{whole}");
        }
        assert!(said("[notify]\n[notify]\n").contains("`notify` stands twice"));
        let error =
            Settings::parse("timezone = \"UTC\"\n#[[mcp]]\n#x = 1\ntimezone = \"UTC\"\n").unwrap_err();
        assert!(error.suggestion.unwrap_or_default().starts_with("line 1 has"), "not of that table");
    }

    #[test]
    fn a_key_under_a_commented_header_names_it() {
        let error = |text: &str| Settings::parse(text).unwrap_err();
        let hint = |text: &str| error(text).suggestion.unwrap_or_default();
        assert!(hint("# x\n#[notify]\n#kinds = []\nkind = \"console\"\n").contains("line 2 begins"), "root");
        assert!(hint("[history]\n#[notify] # who\nkind = \"console\"\n").contains("before `[notify]`"));
        assert!(hint("#[[mcp]]\n#x = 1\n\ntimezon = \"UTC\"\n").contains("`timezone`"), "not of that table");
        assert!(hint("url = 'a'\n#[embed]\nurl = 'b'\n").contains("line 2 begins"), "twice at the root");
        assert!(hint("#[notify]\n[history]\nenable = true\n").contains("`enabled`"));
    }
}
