//! Reads the YAML header of a note: aliases, tags, title and date. Reading never fails.
//!
//! The header is always searched as text. If it isn't YAML, its `key: value` lines are read one by one (lists over
//! several lines are lost), and a finding names the line at which the YAML breaks.

use jiff::tz::TimeZone;

use crate::format::lines::frontmatter_end;
use crate::search::read::block::ParsedNote;
use crate::search::read::{Block, Kind};

/// The ranges of the header and the body of `text`: `(yaml, body_start)`.
pub fn split(text: &str) -> Option<(std::ops::Range<usize>, usize)> {
    let body = frontmatter_end(text.as_bytes())?;
    let start = text.find('\n')? + 1;
    Some((start..text[..body].rfind("---")?, body))
}

/// Reads the header `yaml`, which begins at byte `offset`, into `note`. Dates without an offset are those of `zone`.
pub fn read(yaml: &str, offset: usize, zone: &TimeZone, note: &mut ParsedNote) {
    match serde_saphyr::from_str::<serde_json::Value>(yaml) {
        Ok(serde_json::Value::Object(map)) => {
            for (key, value) in &map {
                property(&key.to_lowercase(), &strings(value), zone, note);
            }
        }
        Ok(_) => {}
        Err(error) => {
            let line = error.location().map_or(1, |at| u32::try_from(at.line()).unwrap_or(1));
            note.findings
                .push((line + 1, "the frontmatter is not valid YAML; it is searched as text".to_owned()));
            for line in yaml.lines() {
                if let Some((key, value)) = line.split_once(':') {
                    let value = value.trim().trim_matches(['[', ']']);
                    let values: Vec<String> =
                        value.split(',').map(|v| v.trim().trim_matches(['"', '\'']).to_owned()).collect();
                    property(&key.trim().to_lowercase(), &values, zone, note);
                }
            }
        }
    }
    if !yaml.trim().is_empty() {
        let yaml = yaml.trim_end();
        note.blocks.push(Block::new(Kind::Properties, offset, offset + yaml.len(), yaml.to_owned()));
    }
}

fn property(key: &str, values: &[String], zone: &TimeZone, note: &mut ParsedNote) {
    let time = || values.first().and_then(|value| instant(value, zone));
    match key {
        "alias" | "aliases" => note.aliases.extend(values.iter().filter(|v| !v.is_empty()).cloned()),
        "tag" | "tags" => {
            for value in values {
                let tags = value.split([' ', ',']).map(|tag| tag.trim_start_matches('#'));
                note.tags.extend(tags.filter(|tag| !tag.is_empty()).map(str::to_owned));
            }
        }
        "title" => {
            if let Some(title) = values.first().filter(|title| !title.is_empty()) {
                note.title.clone_from(title);
            }
        }
        "date" => note.time = time().or(note.time),
        "created" | "created_at" => note.time = note.time.or_else(time),
        _ => {}
    }
}

fn strings(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(items) => items.iter().flat_map(strings).collect(),
        serde_json::Value::Number(number) => vec![number.to_string()],
        _ => Vec::new(),
    }
}

/// Seconds since 1970 of a date, optionally with a time, and with any text behind it.
pub fn instant(text: &str, zone: &TimeZone) -> Option<i64> {
    let text = text.trim();
    [text.len(), 19, 16, 10].into_iter().find_map(|length| stamped(text.get(..length)?, zone))
}

/// Seconds since 1970 of `YYYY-MM-DD`, optionally with a time; without an offset it is read in `zone`.
pub fn stamped(text: &str, zone: &TimeZone) -> Option<i64> {
    let exact = text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_second).ok();
    exact.or_else(|| seconds(text.parse().ok()?, zone))
}

/// Seconds since 1970 of a time in `zone`.
pub fn seconds(civil: jiff::civil::DateTime, zone: &TimeZone) -> Option<i64> {
    civil.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> ParsedNote {
        let mut note = ParsedNote::default();
        let (yaml, _) = split(text).unwrap();
        read(&text[yaml.clone()], yaml.start, &TimeZone::UTC, &mut note);
        note
    }

    #[test]
    fn aliases_tags_title_and_date_are_fields() {
        let note = header(
            "---\naliases: [One, \"Two, too\"]\ntags:\n  - a/b\n  - '#c'\ntitle: T\ndate: 2026-11-20\n---\nx",
        );
        assert_eq!(note.aliases, ["One", "Two, too"]);
        assert_eq!(note.tags, ["a/b", "c"]);
        assert_eq!((note.title.as_str(), note.time), ("T", instant("2026-11-20T00:00:00Z", &TimeZone::UTC)));
        assert_eq!(header("---\ntags: a, b c\n---\n").tags, ["a", "b", "c"]);
        for (text, time) in [
            ("2026-11-20 (a Friday)", "2026-11-20T00:00:00Z"),
            (" 2026-11-20 14:02 or so", "2026-11-20T14:02:00Z"),
            ("2026-11-20T14:02:03+01:00", "2026-11-20T13:02:03Z"),
        ] {
            assert_eq!(instant(text, &TimeZone::UTC), stamped(time, &TimeZone::UTC), "{text}");
        }
    }

    #[test]
    fn a_broken_header_is_text_with_a_finding() {
        let note = header("---\ntags: [a, b\naliases: : x: [\n---\nbody");
        assert_eq!(note.findings.len(), 1);
        assert_eq!(note.tags, ["a", "b"]);
        assert!(note.blocks[0].text.contains("aliases"));
    }

    #[test]
    fn only_a_closed_header_at_the_top_counts() {
        assert_eq!(split("--- \r\na: 1\r\n---\r\nx"), Some((6..12, 17)));
        assert_eq!(split("text\n---\na: 1\n---\n"), None);
        assert_eq!(split("---\nnever closed\n"), None);
        assert_eq!(split("---"), None);
    }
}
