//! Parses the end of the host's transcript of a conversation (JSON Lines), or its beginning.
//!
//! The file belongs to the host and may be long, still growing, or of a later version. At most the last megabyte is
//! read, or the first 256 KiB. A line that isn't understood is skipped. Turns of sub-agents, and texts that the host
//! adds in the user's name, are left out.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::iter;
use std::path::Path;

use serde_json::Value;

use super::entry::{self, ContentPart, PieceKind, TranscriptEntry};
use crate::format::log::EventKind;
use crate::redact::Redactor;

/// The bytes that are read from the end.
const TAIL: u64 = 1 << 20;
/// The bytes that are read from the beginning.
const HEAD: u64 = 256 << 10;

/// One prompt and all that the assistant did about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptTurn {
    /// The user's prompt; empty where the transcript was cut before it.
    pub prompt: String,
    /// When, as the host wrote it.
    pub time: Option<jiff::Timestamp>,
    /// The assistant's words, one text a message.
    pub replies: Vec<String>,
    /// The tools that were called.
    pub calls: Vec<TranscriptCall>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptCall {
    /// The tool's name; an MCP tool's begins with `mcp__`.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
    /// Whether its result was an error.
    pub failed: bool,
    id: String,
}

/// The part of a conversation that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    /// Its turns, oldest first.
    pub turns: Vec<TranscriptTurn>,
    /// The host's name for it, if it has one.
    pub title: Option<String>,
    /// Whether it is the end of a conversation whose beginning and end together are not the whole.
    pub is_cut: bool,
}

impl TranscriptTurn {
    /// All of the assistant's words.
    pub fn words(&self) -> String {
        self.replies.join("\n\n")
    }
}

#[cfg(test)]
impl TranscriptCall {
    /// The texts among its arguments.
    pub fn texts(&self) -> Vec<&str> {
        fn collect<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
            match value {
                Value::String(text) => out.push(text),
                Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
                Value::Object(members) => members.values().for_each(|member| collect(member, out)),
                _ => {}
            }
        }
        let mut out = Vec::new();
        collect(&self.arguments, &mut out);
        out
    }
}

/// The end of the conversation at `path`.
///
/// # Errors
/// There is no such file, or it can't be read.
pub fn read_tail(path: &Path) -> io::Result<Transcript> {
    let (mut file, length) = open_transcript(path)?;
    let start = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    // The first line is cut unless the file begins there.
    let whole = if start == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1) };
    Ok(Transcript { is_cut: length > HEAD + TAIL, ..parse(&bytes[whole..]) })
}

/// The beginning of the conversation at `path`.
///
/// # Errors
/// There is no such file, or it can't be read.
pub fn read_head(path: &Path) -> io::Result<Transcript> {
    let (file, _) = open_transcript(path)?;
    let mut bytes = Vec::new();
    file.take(HEAD).read_to_end(&mut bytes)?;
    Ok(parse(&bytes))
}

/// Opens a transcript; with its length. A pipe or a device in its place would keep us waiting.
pub fn open_transcript(path: &Path) -> io::Result<(File, u64)> {
    let meta = std::fs::metadata(path)?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the transcript is not a file"));
    }
    Ok((File::open(path)?, meta.len()))
}

/// The turns in lines of a transcript.
pub fn parse(bytes: &[u8]) -> Transcript {
    let mut out = Transcript::default();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Ok(entry) = crate::format::lenient_json::from_slice::<Value>(line) else { continue };
        if entry["isSidechain"] == true || entry["isMeta"] == true || entry["isCompactSummary"] == true {
            continue;
        }
        match entry["type"].as_str() {
            Some("user" | "assistant") => entry::of(&entry).into_iter().for_each(|entry| out.take(entry)),
            Some("summary") => out.title = entry["summary"].as_str().map(str::to_owned).or(out.title),
            Some("ai-title" | "custom-title") => {
                let title = ["title", "aiTitle", "customTitle"].iter().find_map(|key| entry[*key].as_str());
                out.title = title.map(str::to_owned).or(out.title);
            }
            _ => {}
        }
    }
    out
}

impl Transcript {
    /// The transcript without secrets; the texts that we write must come from this one.
    pub fn masked(mut self, mask: &Redactor) -> Self {
        let calls = self.turns.iter_mut().flat_map(|turn| &mut turn.calls);
        calls.for_each(|call| mask.apply_to(&mut call.arguments));
        let words =
            self.turns.iter_mut().flat_map(|turn| iter::once(&mut turn.prompt).chain(&mut turn.replies));
        for text in words.chain(&mut self.title) {
            if let Cow::Owned(masked) = mask.apply(text) {
                *text = masked;
            }
        }
        self
    }

    fn take(&mut self, entry: TranscriptEntry) {
        for piece in entry.pieces {
            match piece.kind {
                PieceKind::Said { kind: EventKind::User, parts, .. } => {
                    let prompt = texts(parts).collect::<Vec<_>>().join("\n").trim().to_owned();
                    let turn = TranscriptTurn { prompt, time: entry.at, ..TranscriptTurn::default() };
                    self.turns.extend(Some(turn).filter(|turn| !turn.prompt.is_empty()));
                }
                PieceKind::Said { kind: EventKind::Agent, parts, .. } => {
                    self.last().replies.extend(texts(parts));
                }
                PieceKind::Call { id, tool: name, arguments } => {
                    self.last().calls.push(TranscriptCall { name, arguments, failed: false, id });
                }
                PieceKind::Result { call, failed: true, .. } => {
                    let calls = self.turns.iter_mut().flat_map(|turn| &mut turn.calls);
                    calls.filter(|known| known.id == call).for_each(|known| known.failed = true);
                }
                PieceKind::Said { .. } | PieceKind::Result { .. } => {}
            }
        }
    }

    /// The newest turn; one without a prompt where the transcript was cut before it.
    fn last(&mut self) -> &mut TranscriptTurn {
        if self.turns.is_empty() {
            self.turns.push(TranscriptTurn::default());
        }
        self.turns.last_mut().expect("there is one")
    }
}

fn texts(parts: Vec<ContentPart>) -> impl Iterator<Item = String> {
    parts.into_iter().filter_map(|part| match part {
        ContentPart::Text(text) => Some(text),
        ContentPart::Data { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINES: &str = r#"{"type":"summary","summary":"Planning the garden","leafUuid":"x"}
{"type":"user","isMeta":true,"message":{"role":"user","content":"Caveat: ..."}}
{"type":"user","message":{"role":"user","content":"<command-name>/model</command-name>"}}
{"type":"user","message":{"role":"user","content":"Remember that I like oaks"},"timestamp":"2026-12-01T09:00:00.000Z"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t1","name":"mcp__vault__memory_save","input":{"text":"Likes oaks"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]}}
{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"from a sub-agent"}]}}
not json
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I've saved that."}]}}
{"type":"assistant","message":{"#;

    #[test]
    fn turns_hold_prompt_words_and_calls() {
        let transcript = parse(LINES.as_bytes());
        assert_eq!(transcript.title.as_deref(), Some("Planning the garden"));
        let [turn] = &transcript.turns[..] else { panic!("{:?}", transcript.turns) };
        assert_eq!(
            (turn.prompt.as_str(), turn.words().as_str()),
            ("Remember that I like oaks", "I've saved that.")
        );
        assert_eq!(turn.time, Some("2026-12-01T09:00:00Z".parse().unwrap()));
        let call = &turn.calls[0];
        assert_eq!(
            (call.name.as_str(), call.failed, call.texts()),
            ("mcp__vault__memory_save", true, vec!["Likes oaks"])
        );
    }

    #[test]
    fn only_the_end_of_a_long_file_is_read() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("t.jsonl");
        let line = |n: usize| {
            format!(
                "{{\"type\":\"user\",\"message\":{{\"content\":\"prompt {n} {}\"}}}}\n",
                "x".repeat(100_000)
            )
        };
        std::fs::write(&path, (0..40).map(line).collect::<String>()).unwrap();
        let tail = read_tail(&path).unwrap();
        assert!(tail.turns.len() < 12 && tail.turns.last().unwrap().prompt.starts_with("prompt 39 "));
        assert!(read_head(&path).unwrap().turns[0].prompt.starts_with("prompt 0 "));
        assert!(read_tail(temp.path()).is_err() && read_tail(&temp.path().join("none")).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_torn_transcript_is_read_as_far_as_it_goes(cut in 0..LINES.len(), flip in 0..LINES.len()) {
            let mut bytes = LINES.as_bytes().to_vec();
            bytes[flip] ^= 0x15;
            let _ = parse(&bytes);
            prop_assert!(parse(&LINES.as_bytes()[..cut]).turns.len() <= 1);
        }
    }
}
