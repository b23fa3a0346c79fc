//! Parses one line of a host's transcript into the pieces that a session's log gets. Pure.
//!
//! A line is one JSON object (an entry). Its text, tool calls and results become pieces. A piece's name is made from
//! the id of the entry and from the piece's content, so the same entry always gets the same names. Claude Code writes
//! entries twice (after compactions, when a session is resumed), and copies the entries of a session that is forked. A
//! copy keeps the id of its original, or names it (`forkedFrom`).
//!
//! The model's thinking, the host's bookkeeping, and reminders and memories for the model from the host and its hooks
//! are left out, because they are no part of the conversation.

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use crate::format::log::{EventKind, INJECTED};

/// The beginnings of texts that the host itself writes in the place of a prompt.
#[rustfmt::skip]
pub const HOST_MARKS: &[&str] = &[
    "<command-name>", "<command-message>", "<local-command-", "<bash-input>", "<bash-stdout>",
    "<task-notification>", "<system-reminder>", "[Request interrupted", "Caveat: The messages below",
];

/// One line, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptEntry {
    /// When; none where the host doesn't say.
    pub at: Option<Timestamp>,
    /// The folder that the assistant worked in.
    pub cwd: Option<PathBuf>,
    /// The conversation that the line says it belongs to; a copy's may be the other one.
    pub session: Option<String>,
    /// The sub-agent whose it is; empty where it has no name.
    pub agent: Option<String>,
    /// Whether it is a prompt that begins a turn.
    pub is_prompt: bool,
    /// The pieces that it adds, in order.
    pub pieces: Vec<EntryPiece>,
}

/// A part of an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryPiece {
    /// Its name: 80 bits.
    pub name: u128,
    /// Its kind.
    pub kind: PieceKind,
}

/// The kind of a piece.
#[derive(Debug, Clone, PartialEq)]
pub enum PieceKind {
    /// Something that was said.
    Said {
        /// By whom.
        kind: EventKind,
        /// The model, or who speaks for the host.
        author: String,
        /// The kind.
        parts: Vec<ContentPart>,
    },
    /// A tool is called.
    Call {
        /// The id that its result will name.
        id: String,
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
    },
    /// A tool has answered.
    Result {
        /// The call.
        call: String,
        /// Its answer.
        parts: Vec<ContentPart>,
        /// Whether it failed.
        failed: bool,
    },
}

/// Text, or something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentPart {
    /// Text.
    Text(String),
    /// A picture or a document, in base64.
    Data {
        /// Its media type.
        media: String,
        /// Its bytes in base64.
        base64: String,
    },
}

/// Reads a line; `None` where it is no entry or adds nothing, an error where it is no JSON.
pub fn read(line: &[u8]) -> serde_json::Result<Option<TranscriptEntry>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    crate::format::lenient_json::from_slice(line).map(|entry| of(&entry))
}

/// As [`read`], of a line that is parsed.
pub fn of(entry: &Value) -> Option<TranscriptEntry> {
    let text = |key: &str| entry[key].as_str();
    let mut pieces = Pieces { salt: salt(entry), found: Vec::new() };
    let kind = text("type")?;
    match kind {
        "user" => user(entry, &mut pieces),
        "assistant" => assistant(entry, &mut pieces),
        "system" => system(entry, &mut pieces),
        "attachment" => queued(&entry["attachment"], &mut pieces),
        _ => {}
    }
    let agent = (entry["isSidechain"] == true).then(|| text("agentId").unwrap_or_default().to_owned());
    Some(TranscriptEntry {
        at: text("timestamp").and_then(|at| at.parse().ok()),
        cwd: text("cwd").map(PathBuf::from),
        session: text("sessionId").map(str::to_owned),
        agent,
        is_prompt: kind == "user" && pieces.found.iter().any(is_by_user),
        pieces: pieces.found,
    })
}

fn is_by_user(piece: &EntryPiece) -> bool {
    matches!(piece.kind, PieceKind::Said { kind: EventKind::User, .. })
}

/// The identity of an entry: its id, of a copy the first one's.
fn salt(entry: &Value) -> String {
    let id = entry["forkedFrom"]["messageUuid"].as_str().or(entry["uuid"].as_str());
    match id {
        Some(id) => id.to_owned(),
        // An entry without an id is known by its time, who speaks and what is said.
        None => format!("{} {}", entry["timestamp"], entry["type"]),
    }
}

/// The name of a piece with this hash.
pub fn name_of(hash: &blake3::Hash) -> u128 {
    let mut bytes = [0; 16];
    bytes[6..].copy_from_slice(&hash.as_bytes()[..10]);
    u128::from_be_bytes(bytes)
}

struct Pieces {
    salt: String,
    found: Vec<EntryPiece>,
}

impl Pieces {
    fn add(&mut self, what: PieceKind) {
        let mut hasher = blake3::Hasher::new();
        let mut part = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        part(&self.salt);
        part(&self.found.len().to_string());
        match &what {
            PieceKind::Said { kind, parts, .. } => {
                part(kind.as_str());
                parts.iter().for_each(|one| part(one.raw()));
            }
            PieceKind::Call { id, tool, arguments } => {
                for one in [id, tool, &arguments.to_string()] {
                    part(one);
                }
            }
            PieceKind::Result { call, parts, .. } => {
                part(call);
                parts.iter().for_each(|one| part(one.raw()));
            }
        }
        self.found.push(EntryPiece { name: name_of(&hasher.finalize()), kind: what });
    }

    fn add_spoken(&mut self, kind: EventKind, author: &str, parts: Vec<ContentPart>) {
        if parts.iter().any(|part| !part.raw().trim().is_empty()) {
            self.add(PieceKind::Said { kind, author: author.to_owned(), parts });
        }
    }
}

impl ContentPart {
    fn raw(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Data { base64, .. } => base64,
        }
    }

    /// A content block that is text, a picture or a document.
    fn of(block: &Value) -> Option<Self> {
        match block["type"].as_str()? {
            "text" => Some(Self::Text(block["text"].as_str()?.to_owned())),
            "image" | "document" => {
                let source = &block["source"];
                let text = |key: &str| source[key].as_str().map(str::to_owned);
                match source["type"].as_str()? {
                    "base64" => Some(Self::Data { media: text("media_type")?, base64: text("data")? }),
                    "text" => text("data").map(Self::Text),
                    "url" => text("url").map(Self::Text),
                    _ => None,
                }
            }
            "tool_reference" => Some(Self::Text(block["tool_name"].as_str()?.to_owned())),
            _ => None,
        }
    }
}

/// The parts of a `content` that is either a text or a list of blocks.
fn parts(content: &Value) -> Vec<ContentPart> {
    match content {
        Value::String(text) => vec![ContentPart::Text(text.clone())],
        Value::Array(blocks) => blocks.iter().filter_map(ContentPart::of).collect(),
        _ => Vec::new(),
    }
}

/// Whether the host put a text before the model, memory among it.
fn is_injected(part: &ContentPart) -> bool {
    let ContentPart::Text(text) = part else { return false };
    let begin = text.trim_start();
    begin.starts_with("<system-reminder>")
        || begin.starts_with("Caveat: The messages below")
        || begin.starts_with("<user-prompt-submit-hook>")
        || (text.contains(INJECTED) && HOST_MARKS.iter().any(|mark| begin.starts_with(mark)))
}

fn is_host_text(part: &ContentPart) -> bool {
    matches!(part, ContentPart::Text(text) if HOST_MARKS.iter().any(|mark| text.trim_start().starts_with(mark)))
}

fn user(entry: &Value, pieces: &mut Pieces) {
    let content = &entry["message"]["content"];
    for block in content.as_array().into_iter().flatten().filter(|block| block["type"] == "tool_result") {
        result(block, pieces);
    }
    let mut said = parts(content);
    said.retain(|part| !is_injected(part));
    if entry["isCompactSummary"] == true {
        said.insert(0, ContentPart::Text("The host's summary of what was said before:".to_owned()));
        return pieces.add_spoken(EventKind::System, "host", said);
    }
    if entry["isMeta"] == true {
        said.retain(|part| !matches!(part, ContentPart::Text(text) if text.contains(INJECTED)));
        return pieces.add_spoken(EventKind::System, "host", said);
    }
    let (host, own): (Vec<ContentPart>, Vec<ContentPart>) = said.into_iter().partition(is_host_text);
    pieces.add_spoken(EventKind::System, "host", host);
    pieces.add_spoken(EventKind::User, if entry["isSidechain"] == true { "agent" } else { "" }, own);
}

fn result(block: &Value, pieces: &mut Pieces) {
    let Some(call) = block["tool_use_id"].as_str() else { return };
    let (call, failed) = (call.to_owned(), block["is_error"] == true);
    let parts = match &block["content"] {
        Value::String(_) | Value::Array(_) => parts(&block["content"]),
        Value::Null => Vec::new(),
        other => vec![ContentPart::Text(other.to_string())],
    };
    pieces.add(PieceKind::Result { call, parts, failed });
}

fn assistant(entry: &Value, pieces: &mut Pieces) {
    let message = &entry["message"];
    let model = message["model"].as_str().filter(|model| !model.starts_with('<')).unwrap_or_default();
    let (kind, author) = match entry["isApiErrorMessage"] == true {
        true => (EventKind::System, "host"),
        false => (EventKind::Agent, model),
    };
    if let Value::String(text) = &message["content"] {
        return pieces.add_spoken(kind, author, vec![ContentPart::Text(text.clone())]);
    }
    for block in message["content"].as_array().into_iter().flatten() {
        let name = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        match block["type"].as_str().unwrap_or_default() {
            "tool_use" | "server_tool_use" | "mcp_tool_use" => pieces.add(PieceKind::Call {
                id: name("id"),
                tool: name("name"),
                arguments: block["input"].clone(),
            }),
            kind if kind.ends_with("tool_result") => result(block, pieces),
            _ => pieces.add_spoken(kind, author, ContentPart::of(block).into_iter().collect()),
        }
    }
}

fn system(entry: &Value, pieces: &mut Pieces) {
    let text = match entry["subtype"].as_str() {
        Some("compact_boundary") => {
            let about = &entry["compactMetadata"];
            let by = about["trigger"].as_str().map(|by| format!(" ({by})")).unwrap_or_default();
            let tokens = about["preTokens"].as_u64();
            let tokens = tokens.map(|count| format!("; it had {count} tokens")).unwrap_or_default();
            format!("The host compacted the conversation here{by}{tokens}.")
        }
        Some("local_command") => entry["content"].as_str().unwrap_or_default().to_owned(),
        _ => return,
    };
    pieces.add_spoken(EventKind::System, "host", vec![ContentPart::Text(text)]);
}

/// A prompt that the user typed while the assistant was at work.
fn queued(attachment: &Value, pieces: &mut Pieces) {
    if attachment["type"] == "queued_command" {
        let (host, own): (Vec<ContentPart>, Vec<ContentPart>) =
            parts(&attachment["prompt"]).into_iter().partition(is_host_text);
        pieces.add_spoken(EventKind::System, "host", host);
        pieces.add_spoken(EventKind::User, "", own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Vec<String> {
        let entry = read(line.as_bytes()).unwrap().unwrap();
        let show = |parts: &[ContentPart]| parts.iter().map(ContentPart::raw).collect::<Vec<_>>().join("|");
        let piece = |piece: &EntryPiece| match &piece.kind {
            PieceKind::Said { kind, author, parts } => format!("{kind} {author}: {}", show(parts)),
            PieceKind::Call { id, tool, arguments } => format!("call {id} {tool} {arguments}"),
            PieceKind::Result { call, parts, failed } => format!("result {call} {failed} {}", show(parts)),
        };
        entry.pieces.iter().map(piece).collect()
    }

    #[test]
    fn what_was_said_and_done_is_taken() {
        for (line, expected) in [
            (r#"{"type":"user","message":{"content":"Hi"}}"#, vec!["user : Hi"]),
            (
                r#"{"type":"user","message":{"content":[{"type":"text","text":"<system-reminder>x"},{"type":"text","text":"Look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}}"#,
                vec!["user : Look|AAAA"],
            ),
            (
                r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no"}]}]}}"#,
                vec!["result t1 true no"],
            ),
            (
                r#"{"type":"assistant","message":{"model":"m-1","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Yes"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
                vec!["agent m-1: Yes", r#"call t1 Bash {"command":"ls"}"#],
            ),
            (
                r#"{"type":"user","isMeta":true,"message":{"content":"Stop hook feedback"}}"#,
                vec!["system host: Stop hook feedback"],
            ),
            (
                r#"{"type":"user","message":{"content":"<command-name>/model</command-name>"}}"#,
                vec!["system host: <command-name>/model</command-name>"],
            ),
            (
                r#"{"type":"user","isMeta":true,"message":{"content":"INJECTED_CONTEXT_RELEVANT_MEMORIES\n{}"}}"#,
                vec![],
            ),
            (
                r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"and tea"}}"#,
                vec!["user : and tea"],
            ),
            (
                r#"{"type":"attachment","attachment":{"type":"hook_additional_context","content":["x"]}}"#,
                vec![],
            ),
            (
                r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":155000}}"#,
                vec!["system host: The host compacted the conversation here (auto); it had 155000 tokens."],
            ),
            (r#"{"type":"file-history-snapshot","messageId":"m"}"#, vec![]),
            (r#"{"type":"user","message":{"content":7}}"#, vec![]),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
        assert!(read(b"no json").is_err() && read(b"{\"type\":\"user\",\"message\":").is_err());
    }

    #[test]
    fn a_copy_has_the_same_names_and_another_entry_others() {
        let entry = |line: &str| read(line.as_bytes()).unwrap().unwrap();
        let names = |line: &str| entry(line).pieces.iter().map(|p| p.name).collect::<Vec<_>>();
        let line = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"content":"yes"}}"#;
        for same in [
            r#"{"type":"user","uuid":"u1","sessionId":"s2","version":"2.2","parentUuid":"x","message":{"content":"yes"}}"#,
            r#"{"type":"user","uuid":"u9","forkedFrom":{"sessionId":"s1","messageUuid":"u1"},"message":{"content":[{"type":"text","text":"yes"}]}}"#,
        ] {
            assert_eq!(names(same), names(line), "{same}");
        }
        for other in [line.replace("u1", "u2"), line.replace("yes", "no")] {
            assert_ne!(names(&other), names(line), "{other}");
        }
        assert!(names(line)[0] < 1 << 80);
    }
}
