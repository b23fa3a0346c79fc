//! Reads `vault-agent.toml` into checked values.

mod changed_parts;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::error::ConfigError;
use super::explain::{explain, key_span};
use super::paused_until::PausedUntil;
use super::tables::assistant::{self, AssistantSettings, Route, SkillSettings};
use super::tables::mcp::{self, McpServer};
use super::tables::notify::{self, NotifySettings};
use super::tables::{
    BrainSettings, CaptureSettings, DiscordSettings, HookSettings, InboxSettings, MachineSettings,
    PathSettings, ReminderSettings, RerankSettings, SummarySettings, Validation, WebSettings, follow,
    in_range, wrong,
};
use crate::config::FILE_NAME;
use crate::defaults::defaults;

defaults! {
    /// All settings of a vault; `Settings::default()` is a vault without a settings file.
    #[derive(Debug, Clone, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Settings {
        /// The IANA name of the zone that dates and times of the vault are meant in.
        pub timezone: String = "Europe/London".to_owned(),
        /// Until when nothing is done by itself; none while nothing is paused.
        pub paused_until: Option<PausedUntil>,
        /// Whether reminders and follow-ups wait too while it is paused.
        pub pause_reminders: bool,
        /// The paths of the agent's notes.
        pub paths: PathSettings,
        /// Notifiers.
        pub notify: NotifySettings,
        /// Which task lines of other plugins are told too.
        pub reminders: ReminderSettings,
        /// When and by whom reminders fire.
        pub schedule: ScheduleSettings,
        /// How notes are written.
        pub edit: EditSettings,
        /// The Discord bot or webhook.
        pub discord: DiscordSettings,
        /// Snapshots.
        pub history: HistorySettings,
        /// Indexed files.
        pub index: IndexSettings,
        /// The source of vectors.
        pub embed: EmbedSettings,
        /// The reranker of deep searches.
        pub rerank: RerankSettings,
        /// The bounds of recall.
        pub recall: RecallSettings,
        /// The memory of the person.
        pub memory: MemorySettings,
        /// Hooks of assistants.
        pub hooks: HookSettings,
        /// Summaries of long conversations.
        pub summary: SummarySettings,
        /// Learning from conversations; the table alone turns it on.
        pub capture: Option<CaptureSettings>,
        /// How much is asked in the inbox.
        pub inbox: InboxSettings,
        /// Folders of other programs that are followed into `memory/NAME/`, by these names.
        pub follow: BTreeMap<String, String>,
        /// How the assistant answers.
        pub assistant: AssistantSettings,
        /// The models that can be asked.
        #[serde(rename = "brain")]
        pub brains: Vec<BrainSettings>,
        /// Which brain answers what.
        #[serde(rename = "route")]
        pub routes: Vec<Route>,
        /// Other MCP servers.
        pub mcp: Vec<McpServer>,
        /// The secrets of skills, by their names.
        #[serde(rename = "skill")]
        pub skills: BTreeMap<String, SkillSettings>,
        /// The local web page.
        pub web: WebSettings,
        /// The store through which several machines agree on the voice; one machine without it.
        pub machines: Option<MachineSettings>,
    }
}

defaults! {
    /// When and by whom reminders fire.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct ScheduleSettings {
        /// The host name of the one machine that fires, where the vault is on several.
        pub host: Option<String>,
        /// More missed reminders than this come together as one digest.
        pub digest_over: usize = 3,
        /// A reminder that is later than this many hours comes in a digest.
        pub digest_after_hours: u32 = 24,
    }
}

/// How notes are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EditSettings {
    /// The way a note is replaced.
    pub strategy: EditStrategy,
}

/// The way in which a note gets its new bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditStrategy {
    /// The lease where the system and the file allow one, else the swap.
    #[default]
    Auto,
    /// In place under a write lease, or not at all.
    Lease,
    /// A temporary file, exchanged with the note.
    Swap,
}

defaults! {
    /// Snapshots.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct HistorySettings {
        /// Whether snapshots are taken.
        pub enabled: bool = true,
        /// Glob patterns of further files to keep, beside notes, canvases, bases and settings.
        pub include: Vec<String>,
        /// Glob patterns of files to leave out.
        pub exclude: Vec<String>,
        /// Larger files are left out and listed.
        pub max_file_bytes: u64 = 1 << 20,
        /// Whether images and other attachments are kept too.
        pub attachments: bool,
        /// A git remote that snapshots are pushed to.
        pub remote: Option<String>,
    }
}

defaults! {
    /// Indexed files.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct IndexSettings {
        /// Glob patterns of further files to index, beside notes, canvases and bases.
        pub include: Vec<String>,
        /// Glob patterns of files to leave out.
        pub exclude: Vec<String>,
        /// Larger files are left out and listed.
        pub max_file_bytes: u64 = 16 << 20,
    }
}

defaults! {
    /// The source of vectors.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct EmbedSettings {
        /// `builtin`, `none`, `local:<dir>`, `google`, `openai` or `ollama`.
        pub provider: String = "builtin".to_owned(),
        /// The provider's model, where it has several.
        pub model: Option<String>,
        /// The endpoint, where it isn't the provider's own.
        pub url: Option<String>,
        /// A file with the provider's key, instead of its environment variable.
        pub key_file: Option<String>,
        /// A folder with a static model (model2vec's form) in the place of the one in the binary.
        pub table: Option<String>,
    }
}

defaults! {
    /// The bounds of recall.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct RecallSettings {
        /// The estimated tokens of an injection, at 4 characters each.
        pub budget_tokens: usize = 1000,
        /// The estimated tokens of one memory in it.
        pub memory_tokens: usize = 250,
        /// A brain that chooses from what was found what helps with a question of the assistant's; none: all of it is given.
        pub brain: Option<String>,
    }
}

defaults! {
    /// The memory of the person.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct MemorySettings {
        /// Turns on the shared identity and working memory; without it both are inert.
        pub user_namespace: Option<String>,
        /// How many days working memory stays valid, 1 to 365.
        pub working_memory_ttl_days: u32 = 14,
        /// The estimated tokens of working memory, 100 to 4000.
        pub working_memory_max_tokens: u32 = 1000,
        /// Whether the assistant is asked to mention what was last worked on.
        pub proactive_session_greeting: bool,
    }
}

impl Settings {
    /// The settings of the vault at `root`; without a settings file, the defaults.
    ///
    /// # Errors
    /// The file can't be read, is no valid TOML, has an unknown key or a value out of its range.
    pub fn load(root: &Path) -> Result<Self, ConfigError> {
        Self::read(root).map(|(settings, _)| settings)
    }

    /// As [`Settings::load`], with the same errors and the file's text; empty without a file.
    pub fn read(root: &Path) -> Result<(Self, String), ConfigError> {
        let path = root.join(FILE_NAME);
        // A pipe may have no writer, and reading it would wait for ever.
        if std::fs::metadata(&path).is_ok_and(|meta| !meta.is_file()) {
            return Err(ConfigError::new("is no file; move it out of the way").in_file(&path));
        }
        match std::fs::read(&path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => match Self::parse(&text) {
                    Ok(settings) => Ok((settings, text)),
                    Err(error) => Err(error.in_file(&path)),
                },
                Err(_) => Err(ConfigError::new("is not UTF-8 text").in_file(&path)),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok((Self::default(), String::new()))
            }
            Err(error) => Err(ConfigError::new(format!("can't be read: {error}")).in_file(&path)),
        }
    }

    /// Settings from the text of a settings file.
    ///
    /// # Errors
    /// As [`Settings::load`]; places are in `text`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let settings: Self = toml::from_str(text).map_err(|error| explain::<Self>(text, &error))?;
        settings.validate().map_err(|(key, error)| match key_span(text, &key) {
            Some(span) => error.at(text, span.start),
            None => error,
        })?;
        Ok(settings)
    }

    /// The 1-based line and column of a dotted key in a settings text, if it is written there.
    pub fn place_of(text: &str, key: &str) -> Option<(usize, usize)> {
        key_span(text, key).map(|span| crate::config::error::line_and_column(text, span.start))
    }

    fn validate(&self) -> Validation {
        for (key, path) in self.paths.all() {
            if let Some(reason) = bad_path(path) {
                let key = format!("paths.{key}");
                let message = format!("`{key}` is `{path}`, {reason}");
                return wrong(key, message, "give a path inside the vault, such as `Notes/Reminders.md`");
            }
        }
        // Questions are in a note that no tool writes.
        let approvals = &self.paths.approvals;
        let taken = |(key, path): &(&str, &str)| {
            *key != "approvals" && (path == approvals || approvals.starts_with(&format!("{path}/")))
        };
        if approvals == FILE_NAME || self.paths.all().iter().any(taken) {
            let message = format!("`paths.approvals` is `{approvals}`, which is used for something else");
            return wrong("paths.approvals", message, "name a note of its own, such as `Approvals.md`");
        }
        let memory = &self.memory;
        if let Some((name, reason)) =
            memory.user_namespace.as_deref().and_then(|name| Some((name, bad_path(name)?)))
        {
            let key = "memory.user_namespace";
            let message = format!("`{key}` is `{name}`, {reason}");
            return wrong(key, message, "name a folder of the vault, such as `user`");
        }
        in_range("memory.working_memory_ttl_days", memory.working_memory_ttl_days as usize, 1, 365)?;
        in_range("memory.working_memory_max_tokens", memory.working_memory_max_tokens as usize, 100, 4000)?;
        self.hooks.validate()?;
        self.rerank.validate()?;
        self.inbox.validate()?;
        in_range("recall.budget_tokens", self.recall.budget_tokens, 50, 100_000)?;
        in_range("recall.memory_tokens", self.recall.memory_tokens, 10, self.recall.budget_tokens)?;
        let turn = &self.assistant;
        if let Some(reason) = bad_path(&turn.persona) {
            let message = format!("`assistant.persona` is `{}`, {reason}", turn.persona);
            return wrong("assistant.persona", message, "name a note of the vault, such as `Assistant.md`");
        }
        in_range("assistant.max_rounds", turn.max_rounds as usize, 1, 100)?;
        in_range("assistant.turn_minutes", turn.turn_minutes as usize, 1, 240)?;
        in_range("assistant.turn_tokens", turn.turn_tokens as usize, 1000, 100_000_000)?;
        mcp::validate(&self.mcp)?;
        follow::validate(&self.follow)?;
        notify::validate(&self.notify)?;
        self.reminders.validate()?;
        self.web.validate()?;
        self.machines.as_ref().map_or(Ok(()), MachineSettings::validate)?;
        let named = [
            ("recall.brain", self.recall.brain.as_deref()),
            ("summary.brain", self.summary.brain.as_deref()),
            ("capture.brain", self.capture_brain()),
        ];
        assistant::validate(turn, &self.brains, &self.routes, &named)
    }
}

fn bad_path(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("which is empty");
    }
    if path.starts_with('/') || path.contains('\\') || path.contains(':') && cfg!(windows) {
        return Some("which isn't relative to the vault");
    }
    if path.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return Some("which leaves the vault or has an empty part");
    }
    path.contains('\0').then_some("which has a null character")
}

#[cfg(test)]
mod tests;
