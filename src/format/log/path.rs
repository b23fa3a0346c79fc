//! Builds and parses paths of logs. A log stands at `logs/<surface>/<context_id>/<window_start_utc>_<seq>.md`. A coding
//! agent's session stands at `logs/claude-code/<project>/<session>.md`; a person may move it to any folder below
//! `logs/claude-code/`.

use std::fmt;

use jiff::{Timestamp, civil, tz::TimeZone};

/// The surface of coding agents' sessions: the folder below the folder of logs.
pub const SESSIONS: &str = "claude-code";

/// The surface of routines: the folder below the folder of logs.
pub const ROUTINES: &str = "routines";

/// The place of a coding agent's session below the folder of logs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionPath {
    /// The folder in which it stands: the surface, and a project's or a person's folders below it.
    pub folder: String,
    /// The session's id; a sub-agent's with its own behind it.
    pub session: String,
}

impl SessionPath {
    /// The session whose log stands at a vault-relative path, where `logs` is the vault's folder of logs.
    pub fn parse(logs: &str, path: &str) -> Option<Self> {
        let (folder, name) = path.strip_prefix(logs)?.strip_prefix('/')?.rsplit_once('/')?;
        let (mut folders, session) = (folder.split('/'), name.strip_suffix(".md")?);
        // Below a project's folder, `files` holds what belongs to its logs.
        let is_one = folders.next() == Some(SESSIONS) && folders.skip(1).all(|name| name != "files");
        (is_one && is_word(session)).then(|| Self { folder: folder.to_owned(), session: session.to_owned() })
    }
}

impl fmt::Display for SessionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}.md", self.folder, self.session)
    }
}

/// The place of one context window below the folder of logs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogPath {
    /// `discord-channel` or `discord-thread`.
    pub surface: String,
    /// The channel's or thread's id.
    pub context_id: String,
    /// When the window began, to the second.
    pub started: Timestamp,
    /// From 1; more only where two windows began in the same second.
    pub seq: u16,
}

impl LogPath {
    /// Whether it is a log that the Discord bot writes.
    pub fn is_discord(&self) -> bool {
        matches!(self.surface.as_str(), "discord-channel" | "discord-thread")
    }

    /// Whether it is a log of the assistant's own work: of a routine, or of brains' calls outside of answers (its
    /// context has the name of its surface).
    pub fn is_internal(&self) -> bool {
        self.surface == ROUTINES || self.surface == self.context_id
    }

    /// The vault-relative path, in the vault's folder of logs.
    pub fn in_folder(&self, logs: &str) -> String {
        format!("{logs}/{self}")
    }

    /// The log at a vault-relative path, where `logs` is the vault's folder of logs; none where it stands elsewhere or
    /// isn't named like a log.
    pub fn parse(logs: &str, path: &str) -> Option<Self> {
        let mut parts = path.strip_prefix(logs)?.strip_prefix('/')?.split('/');
        let (surface, context_id, name) = (parts.next()?, parts.next()?, parts.next()?);
        let (start, seq) = name.strip_suffix(".md")?.split_once('_')?;
        let whole = parts.next().is_none() && is_word(surface) && is_word(context_id);
        let started =
            start.strip_suffix('Z').and_then(|text| civil::DateTime::strptime("%Y%m%dT%H%M%S", text).ok())?;
        let started = started.to_zoned(TimeZone::UTC).ok()?.timestamp();
        let digits = seq.len() == 4 && seq.bytes().all(|byte| byte.is_ascii_digit());
        (whole && digits).then_some(Self {
            surface: surface.to_owned(),
            context_id: context_id.to_owned(),
            started,
            seq: seq.parse().ok()?,
        })
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl fmt::Display for LogPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.started.strftime("%Y%m%dT%H%M%SZ");
        write!(f, "{}/{}/{start}_{:04}.md", self.surface, self.context_id, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back() {
        let text = "logs/discord-thread/123/20260130T142355Z_0001.md";
        let path = LogPath::parse("logs", text).unwrap();
        assert_eq!(path.in_folder("logs"), text);
        assert_eq!((path.started.to_string().as_str(), path.seq), ("2026-01-30T14:23:55Z", 1));
    }

    #[test]
    fn a_sessions_path_comes_back() {
        for folder in ["/garden-3f9a2c", "", "/old/2026 to keep", "/files"] {
            let text = format!("logs/claude-code{folder}/0b9c9e5e-6f5e_agent-a1.md");
            let path = SessionPath::parse("logs", &text).unwrap();
            assert_eq!(format!("logs/{path}"), text);
        }
        for other in [
            "logs/claude-code.md",
            "logs/claude-code/x/files/y.md",
            "logs/claude-code/x/my note.md",
            "logs/claude-code/x/y.txt",
            "logs/discord-thread/x/y.md",
        ] {
            assert_eq!(SessionPath::parse("logs", other), None, "{other}");
        }
    }

    #[test]
    fn other_paths_are_no_logs() {
        for text in [
            "logs/discord-thread/123/20260130T142355Z_1.md",
            "logs/discord-thread/../20260130T142355Z_0001.md",
            "logs/discord-thread/123/x/20260130T142355Z_0001.md",
            "other/discord-thread/123/20260130T142355Z_0001.md",
            "logs/discord-thread/123/20261330T142355Z_0001.md",
        ] {
            assert!(LogPath::parse("logs", text).is_none(), "{text}");
        }
    }
}
