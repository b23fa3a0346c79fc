//! Parses the host's message on standard input.
//!
//! Claude Code writes one JSON object. Every field may be missing or null, and unknown fields are ignored, so that a newer
//! host works with an older program.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

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
    /// Why a session ends: `clear`, `logout`, `prompt_input_exit`, `other`.
    pub reason: Option<String>,
    /// The cause of a compaction: `manual` or `auto`.
    pub trigger: Option<String>,
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
        anyhow::ensure!(
            bytes.len() as u64 <= MAX_BYTES,
            "standard input has more than {} MiB",
            MAX_BYTES >> 20
        );
        Self::parse(&bytes)
    }

    /// A message from its bytes.
    ///
    /// # Errors
    /// It is no message.
    pub fn parse(bytes: &[u8]) -> anyhow::Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        // The error's own words may quote the prompt; its kind and place don't.
        serde_json::from_slice(bytes).map_err(|error| {
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
}
