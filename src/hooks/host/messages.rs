//! Defines the events of a session, parses the host's message on standard input, and formats the answer to it.
//!
//! Claude Code writes one JSON object. Every field may be missing or null, and unknown fields are ignored, so that a
//! newer host works with an older program.
//!
//! An answer is one line of JSON on standard output with exit code 0, or nothing at all. Claude Code cuts the output of
//! hooks at 10,000 characters. So the whole line stays below that, counted in UTF-16 units as the host counts.
//!
//! A host that is connected to vault-agent's MCP server can call the tool [`HOOK_TOOL`] there instead of starting a
//! process, for a prompt and for the end of an answer. The server doesn't list this tool, because it is for the host
//! and not for the model. The tool's arguments are the fields of the host's message, as texts. Its answer is the line
//! that the command would print, or `{}` if that line is empty.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::words::words;

/// A person types no more than this; a longer input is no prompt.
const MAX_BYTES: u64 = 8 << 20;

/// One message of the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookInput {
    /// The conversation.
    pub session_id: Option<String>,
    /// The file with what was said so far, JSON Lines.
    pub transcript_path: Option<PathBuf>,
    /// The folder that the assistant works in.
    pub cwd: Option<PathBuf>,
    /// The event's name, as the host calls it.
    pub hook_event_name: Option<String>,
    /// The user's prompt (user-prompt-submit).
    pub prompt: Option<String>,
    /// Why a session starts: `startup`, `resume`, `clear` or `compact`.
    pub source: Option<String>,
    /// Whether the assistant goes on because a stop hook made it (stop).
    pub stop_hook_active: Option<bool>,
    /// The assistant's last words (stop, newer hosts).
    pub last_assistant_message: Option<String>,
}

impl HookInput {
    /// Reads a message to its end.
    ///
    /// # Errors
    /// Reading fails, it is too long, or it is no message.
    pub fn read(from: impl Read) -> anyhow::Result<Self> {
        let mut bytes = Vec::new();
        let read = from.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| anyhow::anyhow!("standard input can't be read: {error}"))?;
        let most = MAX_BYTES >> 20;
        anyhow::ensure!(bytes.len() as u64 <= MAX_BYTES, "standard input has more than {most} MiB");
        Self::parse(&bytes)
    }

    /// A message from its bytes.
    ///
    /// # Errors
    /// It is no message.
    pub fn parse(bytes: &[u8]) -> anyhow::Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        // The error's own words may quote the prompt; its kind and place don't.
        crate::format::lenient_json::from_slice(bytes).map_err(|error| {
            let what = format!("{:?}", error.classify()).to_lowercase();
            let (line, column) = (error.line(), error.column());
            anyhow::anyhow!("standard input is no message of a host ({what} at line {line}, column {column})")
        })
    }

    /// The conversation's id; hosts that name none share one.
    pub fn session(&self) -> &str {
        self.session_id.as_deref().unwrap_or_default()
    }

    /// The transcript's path, with `~/` resolved against `home`.
    pub fn transcript(&self, home: Option<&Path>) -> Option<PathBuf> {
        let path = self.transcript_path.as_ref()?;
        match (path.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => Some(home.join(rest)),
            _ => Some(path.clone()),
        }
    }
}

words! {
    /// An event of the host, and a subcommand of `hook`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::Subcommand)]
    pub enum HostEvent, as_str {
        /// Gives profile, working memory and the project's memories when a session starts or was compacted.
        SessionStart = "session-start",
        /// Prints the few memories that are relevant to a prompt.
        UserPromptSubmit = "user-prompt-submit",
        /// Checks what the assistant says it saved, and offers what looks worth saving.
        Stop = "stop",
        /// Writes working memory before a conversation is compacted.
        PreCompact = "pre-compact",
        /// Writes the session into the day's note.
        SessionEnd = "session-end",
    }
}

impl HostEvent {
    /// Its name at the host.
    pub fn host_name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::PreCompact => "PreCompact",
            Self::SessionEnd => "SessionEnd",
        }
    }
}

/// The host's own limit for one hook's output.
pub const HOST_LIMIT: usize = 10_000;

/// A hook's answer. The default is no word at all: the host goes on as if there were no hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// Text that is put before the model.
    pub context: Option<String>,
    /// Why the assistant may not stop yet.
    pub block: Option<String>,
    /// A word for the person at the screen.
    pub message: Option<String>,
}

impl HookAnswer {
    /// Text for the model; blank text is nothing.
    pub fn context(text: String) -> Self {
        Self { context: (!text.trim().is_empty()).then_some(text), ..Self::default() }
    }

    /// The line for standard output, without its line break; empty where there is nothing to say, and
    /// where the line would be longer than the host takes.
    pub fn to_line(&self, event: HostEvent) -> String {
        if *self == Self::default() {
            return String::new();
        }
        let mut out = json!({});
        if let Some(reason) = &self.block {
            (out["decision"], out["reason"]) = ("block".into(), reason.as_str().into());
        }
        if let Some(message) = &self.message {
            out["systemMessage"] = message.as_str().into();
        }
        if let Some(context) = &self.context {
            out["hookSpecificOutput"] =
                json!({ "hookEventName": event.host_name(), "additionalContext": context });
        }
        let line = out.to_string();
        if units(&line) < HOST_LIMIT { line } else { String::new() }
    }
}

/// The length of a text as the host counts it.
pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The tool's name.
pub const HOOK_TOOL: &str = "vault_agent_hook";

/// Whether an event can be a tool's: at a session's start and end the host's servers may not be connected.
pub fn can_be_tool(event: HostEvent) -> bool {
    matches!(event, HostEvent::UserPromptSubmit | HostEvent::Stop)
}

/// The arguments that the host is to give: `${…}` are fields of its message.
pub fn tool_arguments(event: HostEvent) -> Value {
    let field = |name: &str| Value::from(format!("${{{name}}}"));
    let mut all = json!({ "event": event.as_str() });
    let more = match event {
        HostEvent::Stop => &["stop_hook_active", "last_assistant_message"][..],
        _ => &["prompt"],
    };
    for name in ["session_id", "transcript_path", "cwd"].iter().chain(more) {
        all[*name] = field(name);
    }
    all
}

/// The event and the host's message, from the arguments of a call; none where they are of another kind.
pub fn tool_message(given: &Map<String, Value>) -> Option<(HostEvent, Vec<u8>)> {
    let event = HostEvent::named(given.get("event")?.as_str()?).filter(|event| can_be_tool(*event))?;
    let mut message = Map::new();
    for (name, value) in given.iter().filter(|(name, _)| *name != "event") {
        let value = match value.as_str() {
            // A field that the message lacks arrives as an empty text.
            Some("") => continue,
            Some(text) if name == "stop_hook_active" => Value::from(text == "true"),
            _ => value.clone(),
        };
        message.insert(name.clone(), value);
    }
    message.insert("hook_event_name".to_owned(), event.host_name().into());
    Some((event, Value::Object(message).to_string().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_may_be_missing_null_or_new() {
        assert_eq!(HookInput::parse(b"{}").unwrap(), HookInput::default());
        let text = br#"{"session_id":null,"prompt":"hi","permission_mode":"plan","effort":{"level":3}}"#;
        let input = HookInput::parse(text).unwrap();
        assert_eq!((input.session(), input.prompt.as_deref()), ("", Some("hi")));
    }

    #[test]
    fn errors_never_repeat_what_was_said() {
        for (text, said) in [
            (&br#"{"prompt": 7"#[..], "(data at line 1, column 12)"),
            (br#"{"stop_hook_active":"my secret"}"#, "(data at line 1, column 31)"),
            (b"my secret", "(syntax at line 1, column 1)"),
            (b"", "(eof at line 1, column 0)"),
            (b"\xff\xfe{}", "(syntax at line 1, column 1)"),
        ] {
            let error = HookInput::parse(text).unwrap_err().to_string();
            assert!(error.ends_with(said) && !error.contains("secret"), "{error}");
        }
        let error = HookInput::read(std::io::repeat(b' ')).unwrap_err().to_string();
        assert_eq!(error, "standard input has more than 8 MiB");
    }

    #[test]
    fn a_transcript_may_be_below_home() {
        let input = HookInput { transcript_path: Some("~/.claude/x.jsonl".into()), ..HookInput::default() };
        assert_eq!(input.transcript(Some(Path::new("/home/a"))), Some("/home/a/.claude/x.jsonl".into()));
        assert_eq!(input.transcript(None), Some("~/.claude/x.jsonl".into()));
    }

    #[test]
    fn answers_are_in_the_hosts_format() {
        assert_eq!(HookAnswer::default().to_line(HostEvent::Stop), "");
        assert_eq!(HookAnswer::context("  \n".into()), HookAnswer::default());
        insta::assert_snapshot!(
            HookAnswer::context("a \"b\"\n".into()).to_line(HostEvent::UserPromptSubmit),
            @r#"{"hookSpecificOutput":{"additionalContext":"a \"b\"\n","hookEventName":"UserPromptSubmit"}}"#
        );
        let stop = HookAnswer { block: Some("why".into()), message: Some("psst".into()), context: None };
        insta::assert_snapshot!(stop.to_line(HostEvent::Stop), @r#"{"decision":"block","reason":"why","systemMessage":"psst"}"#);
    }

    #[test]
    fn a_line_that_the_host_would_cut_is_not_given() {
        assert_eq!(HookAnswer::context("😀".repeat(5000)).to_line(HostEvent::SessionStart), "");
        assert!(!HookAnswer::context("😀".repeat(4900)).to_line(HostEvent::SessionStart).is_empty());
    }

    #[test]
    fn what_the_host_fills_in_is_its_message() {
        let mut given = tool_arguments(HostEvent::Stop).as_object().unwrap().clone();
        given["stop_hook_active"] = "true".into();
        given["session_id"] = "s-1".into();
        given["last_assistant_message"] = "".into();
        let (event, bytes) = tool_message(&given).unwrap();
        let input = HookInput::parse(&bytes).unwrap();
        assert_eq!(
            (event, input.stop_hook_active, input.session_id.as_deref()),
            (HostEvent::Stop, Some(true), Some("s-1"))
        );
        assert_eq!(input.last_assistant_message, None);
        for other in [json!({}), json!({"event": "session-start"}), json!({"event": 3})] {
            assert!(tool_message(other.as_object().unwrap()).is_none());
        }
    }
}
