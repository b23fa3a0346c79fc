//! Names the events of a session, in our words and the host's.

/// An event of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostEvent {
    /// A session starts, goes on, was cleared, or was compacted.
    SessionStart,
    /// The user sent a prompt.
    UserPromptSubmit,
    /// The assistant has answered.
    Stop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// A session ends.
    SessionEnd,
}

impl HostEvent {
    /// All of them, in the order of a session.
    pub const ALL: [Self; 5] =
        [Self::SessionStart, Self::UserPromptSubmit, Self::Stop, Self::PreCompact, Self::SessionEnd];

    /// Its name on our command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::UserPromptSubmit => "user-prompt-submit",
            Self::Stop => "stop",
            Self::PreCompact => "pre-compact",
            Self::SessionEnd => "session-end",
        }
    }

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

    /// The event of a name on our command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }
}
