//! Reads `[paths]`: the paths of the agent's notes.

use crate::defaults::defaults;
use serde::Deserialize;

defaults! {
    /// Vault-relative paths of the agent's notes, with `/` between parts.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct PathSettings {
        /// One reminder a line.
        pub reminders: String = "Reminders.md".to_owned(),
        /// Follow-ups, one block each.
        pub commitments: String = "COMMITMENTS.md".to_owned(),
        /// Durable facts.
        pub memory: String = "MEMORY.md".to_owned(),
        /// Pinned memories.
        pub pinned: String = "Pinned.md".to_owned(),
        /// The folder of the days' notes.
        pub daily: String = "daily".to_owned(),
        /// The user's profile.
        pub profile: String = "user/profile.md".to_owned(),
        /// Working memory, with an expiry.
        pub working: String = "user/working.md".to_owned(),
        /// The folder of scheduled prompts.
        pub routines: String = "routines".to_owned(),
        /// The folder of transcripts.
        pub logs: String = "logs".to_owned(),
        /// The assistant's questions.
        pub approvals: String = "Approvals.md".to_owned(),
        /// The folder of skills.
        pub skills: String = "skills".to_owned(),
        /// The folder of summaries of transcripts.
        pub summaries: String = "summaries".to_owned(),
        /// Candidates for memories, to be ticked.
        pub inbox: String = "Inbox.md".to_owned(),
    }
}

impl PathSettings {
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
