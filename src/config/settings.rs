//! Reads `vault-agent.toml` into checked values. An unknown key is an error with its line, and with a similar known key
//! if there is one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::civil;
use serde::Deserialize;

use super::error::{ConfigError, doubled, explain, find_key, line_and_column};
use super::note_paths::{self, SetPath};
use super::secret::OWN_KEYS;
use super::tables::{
    self, AssistantSettings, BrainSettings, CaptureSettings, DiscordSettings, EditSettings, EmbedSettings,
    HistorySettings, HookSettings, InboxSettings, IndexSettings, MachineSettings, McpServer, MemorySettings,
    NotifySettings, PathSettings, RecallSettings, ReminderSettings, RerankSettings, Route, ScheduleSettings,
    SkillSettings, SummarySettings, Validation, WebSettings, ensure, in_range, settings, wrong,
};
use crate::config::{FILE_NAME, PathPatterns};
use crate::format::candidate::Category;

/// The folder of the vault that holds one folder for each program that is followed.
pub const FOLLOWED: &str = "memory";

settings! {
    /// All settings of a vault; `Settings::default()` is a vault without a settings file.
    pub struct Settings {
        /// The IANA name of the zone that dates and times of the vault are meant in.
        pub timezone: String = "Europe/London".to_owned(),
        /// The end of the pause of unasked work; none if there is no pause.
        pub paused_until: Option<PausedUntil>,
        /// Whether reminders and follow-ups wait too while it is paused.
        pub pause_reminders: bool,
        /// The paths of the agent's notes.
        pub paths: PathSettings,
        /// Notifiers.
        pub notify: NotifySettings,
        /// The task lines of other plugins that are sent too.
        pub reminders: ReminderSettings,
        /// The machine that fires reminders, and the rule of digests.
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
        /// The rules for the brain of a question.
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
        let is_inside = |real: PathBuf| std::fs::canonicalize(root).is_ok_and(|root| real.starts_with(root));
        if path.is_symlink() && !std::fs::canonicalize(&path).is_ok_and(is_inside) {
            let wrong =
                ConfigError::new("is a symbolic link to no file of the vault, which is never followed");
            return Err(wrong.suggest("put the file itself in its place").in_file(&path));
        }
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok((Self::default(), String::new()));
            }
            read => {
                let wrong = |error| ConfigError::new(format!("can't be read: {error}")).in_file(&path);
                read.map_err(|error| wrong(error).suggest("make it readable"))?
            }
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..valid]);
            let wrong = ConfigError::new("is not UTF-8 text").at(&before, valid);
            wrong.suggest("save it again as UTF-8").in_file(&path)
        })?;
        let settings = Self::parse(&text).map_err(|error| error.in_file(&path))?;
        Ok((settings, text))
    }

    /// Settings from the text of a settings file.
    ///
    /// # Errors
    /// As [`Settings::load`]; places are in `text`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Some(error) = doubled::<Self>(text) {
            return Err(error);
        }
        let settings: Self = toml::from_str(text).map_err(|error| explain::<Self>(text, &error))?;
        settings.validate().map_err(|(key, error)| match find_key(text, &key) {
            Some((_, span)) => error.at(text, span.start),
            None => error,
        })?;
        Ok(settings)
    }

    /// The namespace of the shared notes; without one they are off.
    pub fn namespace(&self) -> Option<&str> {
        self.memory.user_namespace.as_deref().filter(|name| !name.trim().is_empty())
    }

    /// The path of a note in the shared folder, unless the settings say where it is.
    pub fn shared_path(&self, path: &str, default: &str) -> Option<String> {
        let namespace = self.namespace()?.trim_matches('/');
        let name = default.rsplit('/').next().unwrap_or(default);
        Some(if path == default { format!("{namespace}/{name}") } else { path.to_owned() })
    }

    /// The path of working memory; none where it is off.
    pub fn working_path(&self) -> Option<String> {
        self.shared_path(&self.paths.working, &PathSettings::default().working)
    }

    /// The vault's folders with the notes of other programs that are followed.
    pub fn followed_folders(&self) -> impl Iterator<Item = String> {
        self.follow.keys().map(|name| format!("{FOLLOWED}/{name}"))
    }

    /// The 1-based line and column of a dotted key in a settings text, if it is written there.
    pub fn place_of(text: &str, key: &str) -> Option<(usize, usize)> {
        find_key(text, key).map(|(_, span)| line_and_column(text, span.start))
    }

    /// Whether logs are searched for candidates: as the settings say, else if any brain is named.
    pub fn captures(&self) -> bool {
        self.capture.as_ref().map_or(!self.brains.is_empty(), |capture| capture.enabled.unwrap_or(true))
    }

    /// The brain that finds candidates; none for rules.
    pub fn capture_brain(&self) -> Option<&str> {
        self.capture.as_ref()?.brain.as_deref()
    }

    /// Whether candidates of a category are kept without a question.
    pub fn captures_at_once(&self, category: Category) -> bool {
        self.capture.as_ref().is_some_and(|capture| capture.auto.contains(&category))
    }

    /// Whether an environment variable holds a key of this program: a bot's, a notifier's, a model's, a server's. No
    /// skill gets such a variable.
    pub fn is_own_key(&self, variable: &str) -> bool {
        let of_brains = self.brains.iter().flat_map(|brain| brain.key_env.iter().chain(&brain.key_envs));
        let mut named = of_brains.chain(self.mcp.iter().filter_map(|server| server.key_env.as_ref()));
        let is_usual = variable.starts_with("VAULT_AGENT_") || OWN_KEYS.contains(&variable);
        is_usual || named.any(|own| own == variable)
    }

    /// Whether `other` differs in nothing but the assistant's settings and the pause: then the daemon makes only its
    /// assistant anew.
    pub fn differs_only_for_assistant(&self, other: &Self) -> bool {
        let mut same = self.clone();
        (same.paused_until, same.pause_reminders) = (other.paused_until, other.pause_reminders);
        same.assistant.clone_from(&other.assistant);
        same.brains.clone_from(&other.brains);
        same.routes.clone_from(&other.routes);
        same.recall.brain.clone_from(&other.recall.brain);
        same.summary.clone_from(&other.summary);
        same.capture.clone_from(&other.capture);
        same.inbox.clone_from(&other.inbox);
        same.mcp.clone_from(&other.mcp);
        same.skills.clone_from(&other.skills);
        same == *other
    }

    /// Each path that leads to a note or a folder, after the key that it comes from.
    fn note_paths(&self) -> Vec<SetPath> {
        let usual = PathSettings::default().all();
        let named = |(key, path): (String, String)| {
            let is_shared = matches!(&*key, "profile" | "working");
            let shared = is_shared.then(|| self.shared_path(&path, &usual[&key])).flatten();
            match shared.filter(|shared| *shared != path) {
                Some(shared) => ("memory.user_namespace".to_owned(), shared),
                None => (format!("paths.{key}"), path),
            }
        };
        let persona = (note_paths::PERSONA.to_owned(), self.assistant.persona.clone());
        self.paths.all().into_iter().map(named).chain([persona]).collect()
    }

    fn validate(&self) -> Validation {
        let memory = &self.memory;
        memory.user_namespace.iter().try_for_each(|name| note_paths::check("memory.user_namespace", name))?;
        let paths = self.note_paths();
        paths.iter().try_for_each(|(key, path)| note_paths::check(key, path))?;
        note_paths::check_owners(&paths, &Self::default().note_paths())?;
        in_range("memory.working_memory_ttl_days", memory.working_memory_ttl_days as usize, 1, 365)?;
        in_range("memory.working_memory_max_tokens", memory.working_memory_max_tokens as usize, 100, 4000)?;
        self.hooks.validate()?;
        self.embed.validate()?;
        self.rerank.validate()?;
        in_range("inbox.per_day", self.inbox.per_day, 0, 1000)?;
        in_range("inbox.open", self.inbox.open, 0, 10_000)?;
        in_range("recall.budget_tokens", self.recall.budget_tokens, 50, 100_000)?;
        in_range("recall.memory_tokens", self.recall.memory_tokens, 10, self.recall.budget_tokens)?;
        let turn = &self.assistant;
        in_range("assistant.max_rounds", turn.max_rounds as usize, 1, 100)?;
        in_range("assistant.turn_minutes", turn.turn_minutes as usize, 1, 240)?;
        in_range("assistant.turn_tokens", turn.turn_tokens as usize, 1000, 100_000_000)?;
        tables::mcp::validate(&self.mcp)?;
        tables::memory::validate_follow(&self.follow)?;
        tables::notify::validate(&self.notify)?;
        let host = self.schedule.host.as_deref();
        let is_named = host.is_none_or(|host| !host.trim().is_empty());
        let hint = "give the name that `hostname` prints on the machine that fires, or delete the line";
        ensure(is_named, "schedule.host", "`schedule.host` is empty", hint)?;
        self.reminders.validate()?;
        let (history, index) = (&self.history, &self.index);
        for (key, patterns) in [
            ("history.include", &history.include),
            ("history.exclude", &history.exclude),
            ("index.include", &index.include),
            ("index.exclude", &index.exclude),
            ("reminders.from", &self.reminders.from),
        ] {
            if let Err((pattern, why)) = PathPatterns::new(patterns) {
                let hint = "write `Projects` for a folder, `Projects/**/*.md` for its notes, `*.secret.md` for names at any depth, `[[]` for a bracket";
                return wrong(key, format!("`{key}` holds `{pattern}`, which is no pattern: {why}"), hint);
            }
        }
        self.web.validate()?;
        self.machines.as_ref().map_or(Ok(()), MachineSettings::validate)?;
        let named = [
            ("recall.brain", self.recall.brain.as_deref()),
            ("summary.brain", self.summary.brain.as_deref()),
            ("capture.brain", self.capture_brain()),
        ];
        tables::assistant::validate(turn, &self.brains, &self.routes, named)
    }
}

/// The key of the settings that pauses.
pub const PAUSED_UNTIL: &str = "paused_until";
/// The key of the settings that lets a pause hold for reminders too.
pub const PAUSE_REMINDERS: &str = "pause_reminders";

/// The word in the place of a time: the pause ends when a person ends it.
const RESUMED: &str = "resumed";

/// The end of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum PausedUntil {
    /// `vault-agent resume`, or the key's removal.
    Resumed,
    /// A local time in the vault's zone.
    At(civil::DateTime),
}

impl TryFrom<String> for PausedUntil {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        if text == RESUMED {
            return Ok(Self::Resumed);
        }
        let is_local = text.bytes().all(|byte| byte.is_ascii_digit() || b"-: T".contains(&byte));
        match text.parse() {
            Ok(at) if is_local => Ok(Self::At(at)),
            _ => Err(format!(
                "`{PAUSED_UNTIL}` is `{text}`: write a local time, as in `2026-12-24 18:00`, or `{RESUMED}`"
            )),
        }
    }
}

impl std::fmt::Display for PausedUntil {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resumed => formatter.write_str(RESUMED),
            Self::At(at) => write!(formatter, "{}", at.strftime("%Y-%m-%d %H:%M")),
        }
    }
}

#[cfg(test)]
pub(in crate::config) mod tests;
