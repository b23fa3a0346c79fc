//! Parses the blocks of `COMMITMENTS.md`: the head and the text of each. Reports faults in a head, and ids that several
//! blocks share. Pure.

use std::ops::Range;

use jiff::Timestamp;

use super::{Commitment, CommitmentBlock, CommitmentStatus, CommitmentsFile, Precision, not_one_of};
use crate::format::lines::{LiveLines, is_rule};
use crate::format::yaml::{self, YamlEntry};
use crate::format::{Finding, Line, nearest, quote};

const KEYS: [&str; 7] = ["id", "status", "precision", "due", "scope", "created", "source"];

/// Everything in a file that is a commitment or looks like one.
pub fn parse(bytes: &[u8]) -> CommitmentsFile {
    let lines: Vec<(Line<'_>, bool)> = LiveLines::without_frontmatter(bytes).with_liveness().collect();
    let mut file = CommitmentsFile {
        findings: crate::format::lines::not_understood(bytes).into_iter().collect(),
        ..CommitmentsFile::default()
    };
    let heads = heads(&lines, &mut file.findings);
    for (place, head) in heads.iter().enumerate() {
        let end = heads.get(place + 1).map_or(lines.len(), |next| next.lines.start);
        block(&lines[head.lines.start..end], head, &mut file);
    }
    find_doubles(&mut file);
    file
}

/// Whether a text is the destination of a commitment: `channel:ID`, `thread:ID` or `user:ID`.
pub fn is_place(text: &str) -> bool {
    text.split_once(':').is_some_and(|(kind, id)| {
        ["channel", "thread", "user"].contains(&kind) && id.parse::<u64>().is_ok_and(|id| id > 0)
    })
}

/// An entry of a head, with its line.
type HeadEntry<'a> = (Line<'a>, YamlEntry<'a>);

/// The head of a block.
struct Head<'a> {
    /// Indices of its lines, both rules included.
    lines: Range<usize>,
    entries: Vec<HeadEntry<'a>>,
}

fn heads<'a>(lines: &[(Line<'a>, bool)], findings: &mut Vec<Finding>) -> Vec<Head<'a>> {
    let mut heads = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (line, live) = &lines[at];
        let opens = *live
            && is_rule(line.text)
            && lines.get(at + 1).is_some_and(|(next, _)| yaml::entry(next.text).is_some());
        if !opens {
            at += if *live { near_head(&lines[at..], findings) } else { 1 };
            continue;
        }
        let body = lines[at + 1..].iter().take_while(|(line, _)| is_head_line(line.text)).count();
        let close = at + 1 + body;
        let closed = lines.get(close).is_some_and(|(line, _)| is_rule(line.text));
        let entries: Vec<_> = lines[at + 1..close]
            .iter()
            .filter_map(|(line, _)| yaml::entry(line.text).map(|entry| (*line, entry)))
            .collect();
        let has = |key: &str| entries.iter().any(|(_, entry)| entry.key == key);
        if closed && has("id") {
            heads.push(Head { lines: at..close + 1, entries });
            at = close + 1;
            continue;
        }
        // A head without its end or its id is recognised by its keys, because a rule with a text after it looks
        // alike.
        if has("status") || (has("id") && has("due")) {
            let (line, reason, suggestion) = if has("id") {
                let end = lines.get(close).map_or(lines[close - 1].0.number + 1, |(line, _)| line.number);
                (end, "the head of this commitment isn't closed", "put a line `---` between head and text")
            } else {
                (line.number, "this commitment has no `id`", "add a line such as `id: c-2026-05-08-001`")
            };
            findings.push(Finding::new(line, 1, reason, suggestion));
        }
        at = close.max(at + 1);
    }
    heads
}

/// Looks at lines that begin no head, and reports a head whose first rule is missing, or is followed by something else
/// than an entry. Returns how many lines it looked at, at least 1.
fn near_head(lines: &[(Line<'_>, bool)], findings: &mut Vec<Finding>) -> usize {
    let first = lines[0].0;
    let has_rule = is_rule(first.text);
    if !has_rule && yaml::entry(first.text).is_none_or(|entry| !KEYS.contains(&entry.key)) {
        return 1;
    }
    let from = usize::from(has_rule);
    let body: Vec<_> = lines[from..].iter().take_while(|(line, _)| is_head_line(line.text)).collect();
    let end = from + body.len();
    let keys: Vec<_> = body
        .iter()
        .filter_map(|(line, _)| yaml::entry(line.text.trim_ascii_start()))
        .map(|entry| entry.key)
        .collect();
    let is_closed = lines.get(end).is_some_and(|(line, _)| is_rule(line.text));
    if is_closed && keys.contains(&"id") && (keys.contains(&"status") || keys.contains(&"due")) {
        let (reason, suggestion) = match has_rule {
            true => (
                "the head of this commitment doesn't begin with a `key: value`",
                "write `id: …` in the first column of the line behind `---`",
            ),
            false => ("the head of this commitment has no `---` before it", "put a line `---` before it"),
        };
        findings.push(Finding::new(first.number + from, 1, reason, suggestion));
    }
    end.max(1)
}

/// Whether a line can stand in a head: an entry, a comment, blank, or the continuation of an entry.
fn is_head_line(text: &[u8]) -> bool {
    match text.first() {
        None | Some(b' ' | b'\t' | b'#') => true,
        Some(b'-') => text.starts_with(b"- "),
        Some(_) => yaml::entry(text).is_some(),
    }
}

/// Reads one block: its head, and its lines up to the next block.
fn block(lines: &[(Line<'_>, bool)], head: &Head<'_>, file: &mut CommitmentsFile) {
    let first = lines[0].0;
    let (text_from, last) = (head.lines.len(), lines[lines.len() - 1].0);
    let mut fields = Fields { entries: &head.entries, findings: Vec::new() };
    fields.check_keys();
    let id = fields.word("id", first.number, "c-2026-05-08-001");
    let status = fields.status(first.number);
    let due = fields.instant("due");
    let due_range = due.and_then(|_| fields.find("due")).map(place);
    let commitment = Commitment {
        id: id.clone().unwrap_or_default(),
        status: status.as_ref().map_or(CommitmentStatus::Pending, |(status, _)| *status),
        precision: fields.named("precision", Precision::named, &Precision::NAMES).map(|(it, _)| it),
        due,
        scope: fields.scope(),
        created: fields.instant("created"),
        source: fields.find("source").map(|(_, entry)| entry.value.clone()),
        text: text(&lines[text_from..]),
    };
    if commitment.text.is_empty() {
        let suggestion = "write what was promised below the second `---`";
        fields.findings.push(Finding::new(first.number, 1, "this commitment has no text", suggestion));
    }
    file.findings.append(&mut fields.findings);
    match (id, status) {
        (Some(_), Some((_, status_range))) if !commitment.text.is_empty() => {
            file.blocks.push(CommitmentBlock {
                line: first.number,
                end_line: last.number,
                range: first.start..last.end(),
                status_range,
                due_range,
                commitment,
            });
        }
        (id, _) => file.other_ids.extend(id),
    }
}

/// The bytes of an entry's value in the file.
fn place((line, entry): &HeadEntry<'_>) -> Range<usize> {
    line.start + entry.place.start..line.start + entry.place.end
}

/// A text's lines joined by LF, without the blank lines around them.
fn text(lines: &[(Line<'_>, bool)]) -> String {
    let blank = |(line, _): &(Line<'_>, bool)| line.text.trim_ascii().is_empty();
    let Some(from) = lines.iter().position(|line| !blank(line)) else { return String::new() };
    let to = lines.iter().rposition(|line| !blank(line)).map_or(from, |last| last + 1);
    let texts: Vec<_> = lines[from..to].iter().map(|(line, _)| String::from_utf8_lossy(line.text)).collect();
    texts.join("\n")
}

/// The entries of a head, and what is wrong with them.
struct Fields<'h, 'a> {
    entries: &'h [HeadEntry<'a>],
    findings: Vec<Finding>,
}

impl<'h, 'a> Fields<'h, 'a> {
    fn find(&self, key: &str) -> Option<&'h HeadEntry<'a>> {
        self.entries.iter().find(|(_, entry)| entry.key == key)
    }

    /// Notes what is wrong at the value of an entry.
    fn note(&mut self, (line, entry): &HeadEntry<'a>, reason: String, suggestion: impl Into<String>) {
        let before = &line.text[..entry.place.start];
        let column = match std::str::from_utf8(line.text) {
            Ok(_) => String::from_utf8_lossy(before).chars().count(),
            Err(_) => before.len(),
        };
        self.findings.push(Finding::new(line.number, column + 1, reason, suggestion));
    }

    /// Doubled keys, and keys that are nearly one of ours where ours is missing.
    fn check_keys(&mut self) {
        for (place, (line, entry)) in self.entries.iter().enumerate() {
            if KEYS.contains(&entry.key) {
                if self.entries[..place].iter().any(|(_, earlier)| earlier.key == entry.key) {
                    let reason = format!("`{}` stands twice in this head: the first one counts", entry.key);
                    self.findings.push(Finding::new(line.number, 1, reason, "remove one of them"));
                }
            } else if let Some(name) = nearest(entry.key, &KEYS).filter(|name| self.find(name).is_none()) {
                let reason = format!("unknown field {}", quote(entry.key));
                self.findings.push(Finding::new(line.number, 1, reason, format!("did you mean `{name}`?")));
            }
        }
    }

    /// A value that is one word.
    fn word(&mut self, key: &str, line: usize, example: &str) -> Option<String> {
        let Some(found) = self.find(key) else {
            let (reason, suggestion) = (format!("`{key}` is missing"), format!("add `{key}: {example}`"));
            self.findings.push(Finding::new(line, 1, reason, suggestion));
            return None;
        };
        let value = &found.1.value;
        if value.is_empty() || value.contains(|c: char| c.is_whitespace() || c.is_control()) {
            self.note(found, format!("`{key}` must be one word"), format!("write it as `{key}: {example}`"));
            return None;
        }
        Some(value.clone())
    }

    /// The value of a field that has one of a few words, and its place.
    fn named<T>(
        &mut self,
        key: &str,
        named: fn(&str) -> Option<T>,
        names: &[&str],
    ) -> Option<(T, Range<usize>)> {
        let found = self.find(key)?;
        let value = &found.1.value;
        if let Some(one) = named(value) {
            return Some((one, place(found)));
        }
        let suggestion = match nearest(value, names) {
            Some(name) => format!("did you mean `{key}: {name}`?"),
            None => format!("write `{key}: {}`", names[0]),
        };
        self.note(found, format!("unknown {key}: {}", not_one_of(value, names)), suggestion);
        None
    }

    fn status(&mut self, line: usize) -> Option<(CommitmentStatus, Range<usize>)> {
        if self.find("status").is_none() {
            self.findings.push(Finding::new(line, 1, "`status` is missing", "add `status: pending`"));
        }
        self.named("status", CommitmentStatus::named, &CommitmentStatus::NAMES)
    }

    fn instant(&mut self, key: &str) -> Option<Timestamp> {
        let found = self.find(key)?;
        let value = &found.1.value;
        match value.parse::<Timestamp>() {
            Ok(instant) => Some(instant),
            Err(_) => {
                let (reason, suggestion) = match value.parse::<jiff::civil::DateTime>() {
                    Ok(local) => (
                        format!("{} lacks an offset from UTC", quote(value)),
                        format!("write `{key}: {local}Z` for UTC, or an offset such as `+01:00` at its end"),
                    ),
                    Err(_) => (
                        format!("{} is not an instant", quote(value)),
                        format!("write it as `{key}: 2026-05-08T19:00:00Z`"),
                    ),
                };
                self.note(found, reason, suggestion);
                None
            }
        }
    }

    fn scope(&mut self) -> Option<String> {
        let found = self.find("scope")?;
        let value = found.1.value.clone();
        if !is_place(&value) {
            let reason = format!("{} is not a scope", quote(&value));
            self.note(found, reason, "write `channel:ID`, `thread:ID` or `user:ID` with the number of it");
        }
        (!value.is_empty()).then_some(value)
    }
}

/// Reports ids that more than one block has.
fn find_doubles(file: &mut CommitmentsFile) {
    let mut first = std::collections::HashMap::new();
    for block in &file.blocks {
        let id = block.commitment.id.as_str();
        if let Some(line) = first.get(id) {
            let reason = format!("the id {} stands in line {line} too", quote(id));
            file.findings.push(Finding::new(block.line, 1, reason, "give one of them another id"));
        } else {
            first.insert(id, block.line);
        }
    }
    file.findings.sort_by_key(|finding| (finding.line, finding.column));
}
