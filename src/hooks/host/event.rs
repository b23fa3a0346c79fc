//! Names the events of a session, in our words and the host's.

use crate::words::words;

words! {
    /// An event of the host.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum HostEvent, as_str {
        /// A session starts, goes on, was cleared, or was compacted.
        SessionStart = "session-start",
        /// The user sent a prompt.
        UserPromptSubmit = "user-prompt-submit",
        /// The assistant has answered.
        Stop = "stop",
        /// The conversation is about to be compacted.
        PreCompact = "pre-compact",
        /// A session ends.
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
