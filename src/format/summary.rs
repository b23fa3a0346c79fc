//! Parses and writes `summaries/<log>/d0-0001.md`: a summary of some events of a log, with the ids and the hash of
//! these events.
//!
//! ```text
//! ---
//! id: sum_3f2a9c0d1e4b5a67
//! kind: leaf
//! depth: 0
//! covers: [^01JGXYZ0000000000000000000, ^01JGXYZ0000000000000000009]
//! sources: ["[[logs/discord-channel/7/20260130T142355Z_0001]]"]
//! sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//! sources_sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
//! text_sha256: 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
//! tokens: 412
//! brain: claude
//! at: 2026-11-22T09:30:00Z
//! type: Summary
//! generated: { by: claude/claude-sonnet-4-6, at: 2026-11-22T09:30:00Z }
//! ---
//! What was said.
//!
//! Expand for details about: the mast, the dentist.
//! ```
//!
//! A *leaf* summarises events; a *condensed* summary combines the summaries that its `sources` name. `covers` names the
//! first and the last event. `sha256` is the hash of the log's bytes from the beginning of the first event to the end
//! of the last. `sources_sha256` of a leaf is the hash of later edits and deletions of its events; that of a condensed
//! summary is the hash of the texts that it combines. `text_sha256` is the hash of the summary's own text, and shows
//! whether a person edited it. Notes of older versions lack `sources_sha256` and `text_sha256`. The keys `type`,
//! `sources` and `generated` are those of the Open Knowledge Format. Other keys are passed over. The grammar is
//! `grammar/summary.abnf`.

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::lines::frontmatter_end;
use super::{Finding, quote, yaml};
use crate::words::words;

/// The hexadecimal digits of an id.
const ID_DIGITS: usize = 16;
/// The beginning of the last line of a summary's text.
pub const EXPAND: &str = "Expand for details about: ";
/// The author of a summary that no brain wrote.
pub const EXTRACT: &str = "extract";
/// The history trailer of a write of a summary, which `undo` skips.
pub const TRAILER: &str = "Summary";
/// The value of the head's `type`.
const TYPE: &str = "Summary";

words! {
    /// The sources of a summary.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum SummaryKind, as_str {
        /// Events of a log.
        #[default]
        Leaf = "leaf",
        /// Other summaries.
        Condensed = "condensed",
    }
}

/// A summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// `sum_` and sixteen hexadecimal digits.
    pub id: String,
    /// Its kind of sources.
    pub kind: SummaryKind,
    /// How many summaries lie between it and the events; 0 for a leaf.
    pub depth: u32,
    /// The block ids of the first and the last event, without `^`; a condensed one may leave them to its sources.
    pub covers: Option<(String, String)>,
    /// The summaries that a condensed one is made from, oldest first.
    pub sources: Vec<String>,
    /// The log that a leaf is about, as its head links to it: a path without `.md`.
    pub log: Option<String>,
    /// The SHA-256 of the log's bytes from the first event to the last, in hexadecimal digits.
    pub sha256: String,
    /// The hash of what was said of its sources later: edits and deletions of its events; for a condensed one, the texts
    /// of the summaries that it is made from. A note of an older version has none.
    pub sources_sha256: Option<String>,
    /// Estimated tokens of its text.
    pub tokens: u64,
    /// The brain that wrote it, or [`EXTRACT`].
    pub brain: String,
    /// Its author in the form of the Open Knowledge Format: `<producer>/<version>` or `process:<name>`.
    pub by: String,
    /// When the log was read for it.
    pub at: Timestamp,
    /// Its text, without blank lines around it.
    pub text: String,
}

/// Whether a text is the id of a summary.
pub fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix("sum_");
    digits.is_some_and(|digits| digits.len() == ID_DIGITS && is_hex(digits))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Reads a note; none where its head lacks something or isn't understood, with what is wrong.
pub fn parse(bytes: &[u8]) -> (Option<Summary>, Vec<Finding>) {
    let Some(end) = frontmatter_end(bytes) else {
        let advice = "begin it as `grammar/summary.abnf` says, or move it elsewhere";
        return (None, vec![Finding::new(1, 1, "this note has no head, so it is no summary", advice)]);
    };
    let entries = yaml::entries(bytes, end);
    let mut wrong = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if entries[..at].iter().any(|before| before.key == entry.key) && KEYS.contains(&entry.key.as_str()) {
            let reason = format!("`{}` stands twice", entry.key);
            wrong.push(Finding::new(entry.line, 1, reason, "delete one of them"));
        }
    }
    let text = String::from_utf8_lossy(&bytes[end..]).replace("\r\n", "\n").trim().to_owned();
    let read = Head { entries: &entries, wrong: &mut wrong }.summary(text);
    wrong.sort_by_key(|finding| (finding.line, finding.column));
    match read {
        Err(missing) if wrong.is_empty() => (None, vec![Finding::new(1, 1, missing, AGAIN)]),
        read => (read.ok().filter(|_| wrong.is_empty()), wrong),
    }
}

/// The hash of some bytes, in hexadecimal digits.
pub fn hash(bytes: impl AsRef<[u8]>) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Whether somebody changed the note since it was written; unknown, and so no, for a note of an older version.
pub fn is_edited(summary: &Summary, bytes: &[u8]) -> bool {
    summary.sources_sha256.is_some() && render(summary).as_bytes() != bytes
}

const KEYS: [&str; 10] =
    ["id", "kind", "depth", "covers", "sources", "sha256", "sources_sha256", "tokens", "brain", "at"];

/// The remedy for a summary that can't be read.
const AGAIN: &str = "delete the note: it is made again";

/// The head of a note, with the findings in it.
struct Head<'a> {
    entries: &'a [yaml::FrontmatterEntry],
    wrong: &'a mut Vec<Finding>,
}

impl Head<'_> {
    /// The value of a key as `read` makes it; a finding where it makes nothing of it.
    fn value<T>(
        &mut self,
        key: &str,
        what: &str,
        read: impl Fn(&yaml::FrontmatterEntry) -> Option<T>,
    ) -> Option<T> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let value = read(entry);
        if value.is_none() {
            let reason = format!("{} is no {what}", quote(&entry.value));
            self.wrong.push(Finding::new(entry.line, entry.column, reason, AGAIN));
        }
        value
    }

    /// The summary, or the key that is missing.
    fn summary(mut self, text: String) -> Result<Summary, String> {
        let is_hash = |text: &str| text.len() == 64 && is_hex(text);
        let id = self.value("id", "id of a summary", |entry| valid(&entry.value, is_id));
        let what = "kind of summary: `leaf` or `condensed`";
        let kind = self.value("kind", what, |entry| SummaryKind::named(&entry.value));
        let depth: Option<u32> = self.value("depth", "number", |entry| entry.value.parse().ok());
        let covers = self.value("covers", "pair of block ids", |entry| covers(&entry.items));
        let sha256 = self.value("sha256", "SHA-256", |entry| valid(&entry.value, is_hash));
        let sources_sha256 = self.value("sources_sha256", "SHA-256", |entry| valid(&entry.value, is_hash));
        let tokens = self.value("tokens", "number", |entry| entry.value.parse().ok());
        let at = self.value("at", "instant", |entry| entry.value.parse().ok());
        let entry = |key: &str| self.entries.iter().find(|entry| entry.key == key);
        let sources = entry("sources").map_or(&[][..], |entry| &entry.items);
        let log = sources.iter().find_map(|item| item.strip_prefix("[[")?.strip_suffix("]]"));
        let sources: Vec<String> = sources.iter().filter(|item| is_id(item)).cloned().collect();
        let need = |what: &str| format!("this summary has no `{what}`");
        let kind = kind.ok_or_else(|| need("kind"))?;
        let is_leaf = kind == SummaryKind::Leaf;
        if is_leaf && covers.is_none() {
            return Err(need("covers"));
        }
        if !is_leaf && sources.is_empty() {
            return Err(need("sources"));
        }
        let depth = depth.ok_or_else(|| need("depth"))?;
        if is_leaf != (depth == 0) {
            return Err(format!("a {kind} summary has no depth {depth}"));
        }
        let brain = entry("brain").and_then(|entry| valid(&entry.value, |text| !text.is_empty()));
        let brain = brain.ok_or_else(|| need("brain"))?;
        Ok(Summary {
            id: id.ok_or_else(|| need("id"))?,
            kind,
            depth,
            covers,
            sources: if is_leaf { Vec::new() } else { sources },
            log: log.filter(|_| is_leaf).map(str::to_owned),
            sha256: sha256.ok_or_else(|| need("sha256"))?,
            sources_sha256,
            tokens: tokens.ok_or_else(|| need("tokens"))?,
            by: entry("generated").and_then(|entry| by(&entry.value)).unwrap_or_else(|| brain.clone()),
            brain,
            at: at.ok_or_else(|| need("at"))?,
            text,
        })
    }
}

fn valid(value: &str, holds: impl Fn(&str) -> bool) -> Option<String> {
    holds(value).then(|| value.to_owned())
}

/// `[^first, ^last]`
fn covers(items: &[String]) -> Option<(String, String)> {
    let id = |item: &String| item.strip_prefix('^').filter(|id| super::is_block_id(id)).map(str::to_owned);
    match items {
        [first, last] => Some((id(first)?, id(last)?)),
        _ => None,
    }
}

/// The `by` of `{ by: …, at: … }`.
fn by(value: &str) -> Option<String> {
    let inner = value.trim().strip_prefix('{')?.strip_suffix('}')?;
    let (_, rest) = inner.split_once("by:")?;
    let value = rest.rsplit_once(", at:").map_or(rest, |(by, _)| by).trim();
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let value =
        quoted.map_or_else(|| value.to_owned(), |value| value.replace("\\\"", "\"").replace("\\\\", "\\"));
    (!value.is_empty()).then_some(value)
}

/// The whole note.
pub fn render(summary: &Summary) -> String {
    let mut out = format!("---\nid: {}\nkind: {}\ndepth: {}\n", summary.id, summary.kind, summary.depth);
    out.extend(summary.covers.as_ref().map(|(first, last)| format!("covers: [^{first}, ^{last}]\n")));
    let sources = match summary.kind {
        SummaryKind::Condensed => Some(summary.sources.join(", ")),
        SummaryKind::Leaf => summary.log.as_ref().map(|log| yaml::item(&format!("[[{log}]]"))),
    };
    out.extend(sources.map(|sources| format!("sources: [{sources}]\n")));
    out.push_str(&format!("sha256: {}\n", summary.sha256));
    if let Some(sources) = &summary.sources_sha256 {
        out.push_str(&format!("sources_sha256: {sources}\ntext_sha256: {}\n", hash(summary.text.trim())));
    }
    let (brain, at) = (yaml::to_scalar(&summary.brain), summary.at);
    out.push_str(&format!("tokens: {}\nbrain: {brain}\nat: {at}\n", summary.tokens));
    out.push_str(&format!("type: {TYPE}\ngenerated: {{ by: {}, at: {at} }}\n---\n", yaml::item(&summary.by)));
    out.push_str(summary.text.trim());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> Summary {
        Summary {
            id: "sum_0123456789abcdef".into(),
            kind: SummaryKind::Leaf,
            depth: 0,
            covers: Some(("D1-1".into(), "D1-9".into())),
            sources: vec![],
            log: Some("logs/a/b/c".into()),
            sha256: "0".repeat(64),
            sources_sha256: Some("1".repeat(64)),
            tokens: 3,
            brain: EXTRACT.into(),
            by: "process:vault-agent".into(),
            at: "2026-11-22T09:30:00Z".parse().unwrap(),
            text: "Hi.\n\nExpand for details about: tea.".into(),
        }
    }

    #[test]
    fn what_obsidian_makes_of_a_head_is_understood() {
        let note = render(&sample());
        assert_eq!(parse(note.as_bytes()), (Some(sample()), vec![]));
        let as_properties = note
            .replace("covers: [^D1-1, ^D1-9]", "covers:\n  - ^D1-1\n  - ^D1-9")
            .replace("sources: [\"[[logs/a/b/c]]\"]", "sources:\n  - \"[[logs/a/b/c]]\"\ntags: [mine]")
            .replace('\n', "\r\n");
        assert_eq!(parse(as_properties.as_bytes()), (Some(sample()), vec![]));
        let old = Summary { sources_sha256: None, ..sample() };
        for (summary, note, edited) in [
            (sample(), note.clone(), false),
            (sample(), as_properties, true),
            (
                Summary { text: "Hey.".into(), ..sample() },
                note.replace("Hi.\n\nExpand for details about: tea.", "Hey."),
                true,
            ),
            (Summary { text: "Hey.".into(), ..old }, "of an older version".to_owned(), false),
        ] {
            assert_eq!(is_edited(&summary, note.as_bytes()), edited, "{note}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let note = render(&sample());
        let wrong = |from: &str, to: &str| {
            let (read, found) = parse(note.replace(from, to).as_bytes());
            assert_eq!(read, None);
            format!("{}:{} {}", found[0].line, found[0].column, found[0].reason)
        };
        assert_eq!(wrong("sum_01", "sum_0g"), "2:5 `sum_0g23456789abcdef` is no id of a summary");
        assert_eq!(
            wrong("kind: leaf", "kind: twig"),
            "3:7 `twig` is no kind of summary: `leaf` or `condensed`"
        );
        assert_eq!(wrong("kind: leaf", "kind: condensed"), "1:1 this summary has no `sources`");
        assert_eq!(wrong("depth: 0", "depth: 2"), "1:1 a leaf summary has no depth 2");
        assert_eq!(wrong(", ^D1-9]", "]"), "5:9 `[^D1-1]` is no pair of block ids");
        assert_eq!(wrong("tokens: 3\n", ""), "1:1 this summary has no `tokens`");
        assert_eq!(wrong("at: 2026", "depth: 0\nat: 2026"), "12:1 `depth` stands twice");
        assert_eq!(wrong("---\nid", "id"), "1:1 this note has no head, so it is no summary");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            text in "[^\\s\r]{1,9}([ \n]{1,3}[^\\s\r]{1,9}){0,4}",
            (brain, by) in ("[a-z0-9 :#%\"'-]{0,8}[a-z]", "[a-z][a-z0-9/., \"'-]{0,8}[a-z]"),
            (digits, depth) in ("[0-9a-f]{16}", 0u32..3),
        ) {
            let sources = if depth == 0 { vec![] } else { vec![format!("sum_{digits}"), sample().id] };
            let kind = if depth == 0 { SummaryKind::Leaf } else { SummaryKind::Condensed };
            let log = sample().log.filter(|_| depth == 0);
            let brain = brain.trim().to_owned();
            let summary = Summary { id: format!("sum_{digits}"), kind, depth, sources, log, brain, by, text, ..sample() };
            prop_assert_eq!(parse(render(&summary).as_bytes()), (Some(summary), vec![]));
        }

        #[test]
        fn no_bytes_panic(tail in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = parse(&[b"---\nid: sum_".as_slice(), &tail, b"\n---\n"].concat());
            let _ = parse(&tail);
        }
    }
}
