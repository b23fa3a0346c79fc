//! `[paths]`: the paths of the agent's notes.

use serde::Deserialize;

/// Vault-relative paths of the agent's notes, with `/` between parts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    /// One reminder a line.
    pub reminders: String,
    /// Follow-ups, one block each.
    pub commitments: String,
    /// Durable facts.
    pub memory: String,
    /// Pinned memories.
    pub pinned: String,
    /// The folder of the days' notes.
    pub daily: String,
    /// The user's profile.
    pub profile: String,
    /// Working memory, with an expiry.
    pub working: String,
    /// The folder of scheduled prompts.
    pub routines: String,
    /// The folder of transcripts.
    pub logs: String,
    /// The assistant's questions.
    pub approvals: String,
    /// The folder of skills.
    pub skills: String,
    /// The folder of summaries of transcripts.
    pub summaries: String,
    /// Candidates for memories, to be ticked.
    pub inbox: String,
}

impl Default for Paths {
    fn default() -> Self {
        Self {
            reminders: "Reminders.md".to_owned(),
            commitments: "COMMITMENTS.md".to_owned(),
            memory: "MEMORY.md".to_owned(),
            pinned: "Pinned.md".to_owned(),
            daily: "daily".to_owned(),
            profile: "user/profile.md".to_owned(),
            working: "user/working.md".to_owned(),
            routines: "routines".to_owned(),
            logs: "logs".to_owned(),
            approvals: "Approvals.md".to_owned(),
            skills: "skills".to_owned(),
            summaries: "summaries".to_owned(),
            inbox: "Inbox.md".to_owned(),
        }
    }
}

impl Paths {
    /// The folder of coding agents' sessions, with `/` at its end.
    pub fn sessions(&self) -> String {
        format!("{}/{}/", self.logs.trim_end_matches('/'), crate::format::log::SESSIONS)
    }

    /// Each with its key in the settings.
    pub fn all(&self) -> [(&'static str, &str); 13] {
        [
            ("reminders", &self.reminders),
            ("commitments", &self.commitments),
            ("memory", &self.memory),
            ("pinned", &self.pinned),
            ("daily", &self.daily),
            ("profile", &self.profile),
            ("working", &self.working),
            ("routines", &self.routines),
            ("logs", &self.logs),
            ("approvals", &self.approvals),
            ("skills", &self.skills),
            ("summaries", &self.summaries),
            ("inbox", &self.inbox),
        ]
    }
}
