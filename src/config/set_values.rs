//! Sets or comments out values in the text of a settings file. Pure.
//!
//! Comments and layout stay. A value that is in the text is replaced in place. Otherwise a commented-out line with the
//! key is replaced. Without such a line, the value is added below its table's header, which is uncommented if
//! necessary. The result is checked: the new text must mean the old settings with these changes, and nothing else.

use std::ops::Range;

use toml::{Table, Value};

use super::error::find_key;
use super::{FILE_NAME, Settings};

/// Pairs of keys for one setting: one key replaces the other.
const EITHER: [(&str, &str); 2] =
    [("notify.kind", "notify.kinds"), ("notify.webhook.url", "notify.webhook.url_file")];

/// The text of a settings file with other values: `timezone`, `notify.ntfy.topic`, `discord.channel_id`, …
///
/// # Errors
/// A sentence on why the text can't be changed; the person changes it by hand then.
pub fn with_values<K: AsRef<str>>(text: &str, values: &[(K, Value)]) -> Result<String, String> {
    let (bom, body) = split_bom(text);
    let mut expected = parse_table(body)?;
    let mut after = body.to_owned();
    for (path, value) in values.iter().map(|(path, value)| (path.as_ref(), value)) {
        let ((table, key), other) = (split_path(path), equivalent_key(path));
        after = put(&after, path, other, &value.to_string());
        let mut inner = Some(&mut expected);
        for name in table.into_iter().flat_map(|table| table.split('.')) {
            inner = inner
                .and_then(|at| at.entry(name).or_insert_with(|| Value::Table(Table::new())).as_table_mut());
        }
        let inner = inner.ok_or_else(|| not_editable(path))?;
        if let Some(other) = other {
            inner.remove(split_path(other).1);
        }
        inner.insert(key.to_owned(), value.clone());
    }
    verify(bom, &after, &expected, values.iter().map(|(path, _)| path.as_ref()))
}

/// The text of a settings file with one more `[[brain]]` at its end.
///
/// # Errors
/// As [`with_values`].
pub fn with_brain(text: &str, brain: &Table) -> Result<String, String> {
    let (bom, body) = split_bom(text);
    let mut expected = parse_table(body)?;
    let known = expected.entry("brain").or_insert_with(|| Value::Array(Vec::new()));
    known.as_array_mut().ok_or_else(|| not_editable("brain"))?.push(Value::Table(brain.clone()));
    let end = line_end(body);
    let gap = if body.is_empty() || body.ends_with("\n\n") { "" } else { end };
    let open = if body.is_empty() || body.ends_with('\n') { "" } else { end };
    let lines: String = brain.iter().map(|(key, value)| format!("{key} = {value}{end}")).collect();
    let after = format!("{body}{open}{gap}[[brain]]{end}{lines}");
    verify(bom, &after, &expected, ["brain"].into_iter())
}

/// The text of a settings file in which these keys are commented out, if they stand before the first table; others are
/// left as they are.
///
/// # Errors
/// As [`with_values`].
pub fn without(text: &str, keys: &[&str]) -> Result<String, String> {
    let (bom, body) = split_bom(text);
    let mut expected = parse_table(body)?;
    let mut after = body.to_owned();
    for key in keys {
        expected.remove(*key);
        if let Some((name, _)) = find_key(&after, key) {
            after.insert(name.start, '#');
        }
    }
    verify(bom, &after, &expected, keys.iter().copied())
}

fn verify<'a>(
    bom: &str,
    after: &str,
    expected: &Table,
    paths: impl Iterator<Item = &'a str>,
) -> Result<String, String> {
    if parse_table(after).as_ref() != Ok(expected) {
        return Err(not_editable(&paths.collect::<Vec<_>>().join("`, `")));
    }
    Settings::parse(after).map_err(|error| error.to_string())?;
    Ok(format!("{bom}{after}"))
}

fn not_editable(paths: &str) -> String {
    format!("`{FILE_NAME}` is written in a way that can't be added to: set `{paths}` there yourself")
}

/// The byte order mark of a text, or nothing, and what follows it.
pub(crate) fn split_bom(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body))
}

fn parse_table(text: &str) -> Result<Table, String> {
    text.parse().map_err(|error| format!("`{FILE_NAME}` can't be read: {error}"))
}

pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The table of a key, if it is in one, and its name in there.
fn split_path(path: &str) -> (Option<&str>, &str) {
    path.rsplit_once('.').map_or((None, path), |(table, key)| (Some(table), key))
}

/// The other key for the same setting.
fn equivalent_key(path: &str) -> Option<&'static str> {
    EITHER.into_iter().find_map(|(a, b)| match path {
        _ if path == a => Some(b),
        _ if path == b => Some(a),
        _ => None,
    })
}

/// Puts a value where its key stands, where `other` stands in its place, or where it belongs.
pub(super) fn put(text: &str, path: &str, other: Option<&str>, value: &str) -> String {
    let ((table, key), end) = (split_path(path), line_end(text));
    if let Some((_, span)) = find_key(text, path) {
        return format!("{}{value}{}", &text[..span.start], &text[span.end..]);
    }
    if let Some((name, span)) = other.and_then(|other| find_key(text, other)) {
        let (before, between, after) = (&text[..name.start], &text[name.end..span.start], &text[span.end..]);
        return format!("{before}{key}{between}{value}{after}");
    }
    let Some(section) = section(text, table) else {
        if let Some(header) = table.and_then(|table| commented_header(text, table)) {
            let text = format!("{}{}", &text[..header], &text[header + 1..]);
            return put(&text, path, other, value);
        }
        let table = table.unwrap_or_default();
        let open = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        let gap = if text.is_empty() { "" } else { end };
        return format!("{text}{open}{gap}[{table}]{end}{key} = {value}{end}");
    };
    let commented = |key: &str| commented(text, section.clone(), key);
    if let Some(line) = commented(key).or_else(|| commented(split_path(other?).1)) {
        return format!("{}{key} = {value}{}", &text[..line.start], &text[line.end..]);
    }
    let at = section.start;
    let open = if at == 0 || text[..at].ends_with('\n') { "" } else { end };
    format!("{}{open}{key} = {value}{end}{}", &text[..at], &text[at..])
}

/// The lines of a text with their ends, each with the place where it begins.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |end, line| Some((std::mem::replace(end, *end + line.len()), line)))
}

/// The bytes of a table, from after its header; without a name, what stands before the first header.
fn section(text: &str, table: Option<&str>) -> Option<Range<usize>> {
    // A table that the template has commented out counts, too.
    let mut headers = lines(text).filter(|(_, line)| line.starts_with('[') || line.starts_with("#["));
    let start = match table {
        Some(_) => headers.find(|(_, line)| header_name(line) == table).map(|(at, line)| at + line.len())?,
        None => 0,
    };
    Some(start..headers.next().map_or(text.len(), |(at, _)| at))
}

/// The name of the table that a line begins.
fn header_name(line: &str) -> Option<&str> {
    let bare = line.split('#').next()?.trim();
    bare.strip_prefix('[')?.strip_suffix(']').map(str::trim)
}

/// The place of the `#` before the header of a table that is commented out.
fn commented_header(text: &str, table: &str) -> Option<usize> {
    let is_it = |line: &str| line.strip_prefix('#').and_then(header_name) == Some(table);
    lines(text).find(|(_, line)| is_it(line)).map(|(at, _)| at)
}

/// The line of a key that is commented out, without its end.
fn commented(text: &str, section: Range<usize>, key: &str) -> Option<Range<usize>> {
    let (at, line) = lines(&text[section.clone()]).find(|(_, line)| {
        let named = line.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix(key));
        named.is_some_and(|rest| rest.trim_start().starts_with('='))
    })?;
    let start = section.start + at;
    Some(start..start + line.trim_end_matches(['\n', '\r']).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, path: &str, value: impl Into<Value>) -> String {
        with_values(text, &[(path, value.into())]).unwrap()
    }

    #[test]
    fn a_value_comes_where_it_belongs_and_all_else_stays() {
        for (text, expected) in [
            ("", "\n[notify]\nkind = \"desktop\"\n"),
            ("[notify] # who\n#kind = \"console\"\nx", "[notify] # who\nkind = \"desktop\"\nx"),
            ("[notify]\nkind = 'console' # me\n", "[notify]\nkind = \"desktop\" # me\n"),
            ("[notify]\r\n\r\n[edit]\r\n", "[notify]\r\nkind = \"desktop\"\r\n\r\n[edit]\r\n"),
            ("#[notify]\n#kind = 'a'\n#[edit]\n", "[notify]\nkind = \"desktop\"\n#[edit]\n"),
            ("#[notify.ntfy]\n#[notify] # who\n", "#[notify.ntfy]\n[notify] # who\nkind = \"desktop\"\n"),
            ("notify.kind = \"console\"\n", "notify.kind = \"desktop\"\n"),
            ("notify = { kind = \"console\" }\n", "notify = { kind = \"desktop\" }\n"),
        ] {
            let (text, expected) = (text.replace("\nx", "\n[edit]\n"), expected.replace("\nx", "\n[edit]\n"));
            assert_eq!(put(&text, "notify.kind", "desktop"), expected.trim_start_matches('\n'), "{text}");
        }
        assert_eq!(put("# a\n[edit]\n", "timezone", "UTC"), "timezone = \"UTC\"\n# a\n[edit]\n");
    }

    #[test]
    fn the_template_keeps_its_layout() {
        let template = include_str!("../../vault-template/vault-agent.toml");
        let ids = Value::Array(vec![Value::Integer(7)]);
        let after = with_values(
            template,
            &[
                ("timezone", "Asia/Tokyo".into()),
                ("notify.kind", "discord".into()),
                ("discord.owner_ids", ids),
                ("discord.channel_id", Value::Integer(5)),
            ],
        )
        .unwrap();
        let changed: Vec<_> =
            after.lines().zip(template.lines()).filter(|(a, b)| a != b).map(|(a, _)| a).collect();
        assert_eq!(after.lines().count(), template.lines().count());
        assert_eq!(
            changed,
            [
                "timezone = \"Asia/Tokyo\"",
                "[notify]",
                "kind = \"discord\"",
                "[discord]",
                "channel_id = 5",
                "owner_ids = [7]"
            ]
        );
        assert_eq!(Settings::parse(&after).unwrap().discord.channel_id, Some(5));
    }

    #[test]
    fn what_says_the_same_takes_the_others_place() {
        let both = || Value::Array(vec!["ntfy".into(), "desktop".into()]);
        let with =
            |text: &str| with_values(text, &[("notify.ntfy.topic", "t".into()), ("notify.kinds", both())]);
        for (text, expected) in [
            (
                "[notify]\nkind = \"desktop\" # me\n",
                "[notify]\nkinds = [\"ntfy\", \"desktop\"] # me\n\n[notify.ntfy]\ntopic = \"t\"\n",
            ),
            (
                "[notify]\n#kind = \"console\"\n[notify.ntfy]\n",
                "[notify]\nkinds = [\"ntfy\", \"desktop\"]\n[notify.ntfy]\ntopic = \"t\"\n",
            ),
            (
                "notify = { kind = \"console\", ntfy = { topic = \"old\" } }\n",
                "notify = { kinds = [\"ntfy\", \"desktop\"], ntfy = { topic = \"t\" } }\n",
            ),
        ] {
            assert_eq!(with(text).unwrap(), expected);
        }
        assert_eq!(
            put("[notify]\nkinds = [\"console\"]\n", "notify.kind", "desktop"),
            "[notify]\nkind = \"desktop\"\n"
        );
        assert!(with("notify = { kind = \"console\" }\n").is_err(), "there is no place for a table in one");
        assert!(with("notify = { ntfy = 3 }\n").is_err());
    }

    #[test]
    fn a_key_is_commented_out_and_takes_its_place_again() {
        let template = include_str!("../../vault-template/vault-agent.toml");
        let paused = put(template, "paused_until", "resumed");
        assert_eq!(paused.lines().count(), template.lines().count());
        assert_eq!(
            without(&paused, &["paused_until", "pause_reminders"]).unwrap().lines().count(),
            template.lines().count()
        );
        assert_eq!(
            without("paused_until = 'resumed' # me\r\n", &["paused_until"]).unwrap(),
            "#paused_until = 'resumed' # me\r\n"
        );
        assert_eq!(without("", &["paused_until"]).unwrap(), "");
    }

    #[test]
    fn a_brain_comes_at_the_end() {
        let brain: Table =
            "name = \"a\"\nkind = \"chat\"\nmodel = \"m\"\nurl = \"http://127.0.0.1:1\"\n".parse().unwrap();
        let template = include_str!("../../vault-template/vault-agent.toml");
        let once = with_brain(template, &brain).unwrap();
        assert!(once.starts_with(template) && once.ends_with("url = \"http://127.0.0.1:1\"\n"), "{once}");
        assert!(with_brain(&once, &brain).is_err(), "two of one name");
        assert_eq!(Settings::parse(&once).unwrap().brains.len(), 1);
    }

    #[test]
    fn what_can_not_be_put_is_said() {
        for (text, path) in
            [("notify = 3", "notify.kind"), ("timezon = 3\n", "notify.kind"), ("", "notify.kin")]
        {
            assert!(with_values(text, &[(path, "console".into())]).is_err(), "{text}");
        }
        assert!(with_values("", &[("timezone", Value::Integer(3))]).is_err());
    }
}
