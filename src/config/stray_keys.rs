//! Finds keys right below a commented-out table header in a settings file: TOML assigns them to another table. Pure.

use toml::de::{DeTable, DeValue};

use super::set_values::lines;

/// A key under a header that is commented out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayKey {
    /// Its line, from 1.
    pub line: usize,
    /// Its name.
    pub key: String,
    /// The header as it stands there, without the comment's sign: `[web]`.
    pub header: String,
    /// The table that TOML assigns it to; none for the top of the file.
    pub table: Option<String>,
}

/// The first key after each commented-out header, unless another header stands between them; empty for a file that
/// can't be parsed.
pub fn strays(text: &str) -> Vec<StrayKey> {
    let Ok(root) = DeTable::parse(text) else { return Vec::new() };
    let mut keys = Vec::new();
    collect(root.get_ref(), "", &mut keys);
    keys.sort();
    let mut strays: Vec<StrayKey> = Vec::new();
    for (at, line) in lines(text) {
        let (Some(header), end) = (commented_header(line), at + line.len()) else { continue };
        let Some((start, key, table)) = keys.iter().find(|(start, ..)| *start >= end) else { continue };
        let before = &text[..*start];
        // The name in a header is a key too.
        let is_header = before.rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with('['));
        let number = before.matches('\n').count() + 1;
        if !is_header {
            // Of several headers before one key the nearest is meant.
            strays.retain(|stray| stray.line != number);
            let table = (!table.is_empty()).then(|| table.clone());
            strays.push(StrayKey { line: number, key: key.clone(), header: header.to_owned(), table });
        }
    }
    strays
}

/// Every key, with its offset and its table.
fn collect(table: &DeTable<'_>, path: &str, keys: &mut Vec<(usize, String, String)>) {
    for (key, value) in table {
        let name = key.get_ref().to_string();
        let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value.get_ref() {
            DeValue::Table(table) => collect(table, &inner, keys),
            DeValue::Array(all) => {
                for one in all {
                    if let DeValue::Table(table) = one.get_ref() {
                        collect(table, &inner, keys);
                    }
                }
            }
            _ => {}
        }
        keys.push((key.span().start, name, path.to_owned()));
    }
}

/// `[web]` of `# [web]`.
fn commented_header(line: &str) -> Option<&str> {
    let header = line.trim().strip_prefix('#')?.trim();
    let name = header.strip_prefix('[')?.strip_suffix(']')?;
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
    is_name.then_some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let words = |stray: StrayKey| {
            format!("{} {} {} {}", stray.line, stray.key, stray.header, stray.table.as_deref().unwrap_or("-"))
        };
        strays(text).into_iter().map(words).collect()
    }

    #[test]
    fn a_key_under_a_commented_header_is_seen() {
        assert_eq!(
            of("[history]\nkeep = 1\n\n# [web]\n# listen = \"x\"\nenabled = true\n"),
            ["6 enabled [web] history"]
        );
        assert_eq!(of("# [a]\n# [[brain]]\nname = \"x\"\n"), ["3 name [[brain]] -"]);
        assert_eq!(
            of("[[brain]]\nname = \"x\"\n# [brain.price]\ninput = 1\n"),
            ["4 input [brain.price] brain"]
        );
    }

    #[test]
    fn what_has_its_header_is_none() {
        for text in [
            "# [web]\n# enabled = true\n[web]\nenabled = true\n",
            "[a]\nx = 1\n# [web]\n# enabled = true\n",
            "# [web]\n\n[[brain]]\nname = \"x\"\n",
            "# [see the docs]\nx = 1\n",
            "x = ",
        ] {
            assert_eq!(of(text), Vec::<String>::new(), "{text}");
        }
    }
}
