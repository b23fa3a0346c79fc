//! Decides the questions of `setup`, parses the answers, and makes the plan that follows from them. Pure; `cli::setup`
//! asks the person and writes.
//!
//! A [`Dialogue`] is a state machine. It returns the next [`SetupQuestion`], takes a text as the answer, and may ask
//! for a check ([`SetupCheck`]) first: whether Discord accepts the token, whether the model answers. The caller (a
//! terminal, a file) makes the check and reports the [`CheckResult`]. The end is a [`SetupPlan`]: all that will be
//! written, shown first. Nothing here reads a file, a clock or a socket.
//!
//! - `question`, `question_texts`: a question's key, and its words; `answers`: a file of answers, for machines;
//! - `dialogue`: the order of the questions, and the effect of an answer;
//! - one file a topic: `vault_folder`, `notifiers`, `discord`, `email`, `secrets`, `brains`;
//! - `plan`: computes from the answers all that will be written.

mod answers;
mod brains;
mod dialogue;
mod discord;
mod email;
mod notifiers;
mod plan;
mod question;
mod question_texts;
mod secrets;
mod vault_folder;

use std::path::PathBuf;

use jiff::Timestamp;
use secrecy::SecretString;

use crate::config::{self, NotifyKind, Settings};
use crate::schedule::Zone;

pub use answers::SetupAnswers;
pub use brains::BrainTrial;
pub use dialogue::{Dialogue, NextStep};
pub use discord::{DiscordBot, DiscordChannel};
pub use question::{QuestionKey, SetupQuestion};
pub use vault_folder::folder_path;

/// Facts about the machine, gathered before the first question.
#[derive(Debug, Clone, Default)]
pub struct MachineFacts {
    /// The person's home.
    pub home: PathBuf,
    /// The folder that relative paths count from.
    pub working_folder: PathBuf,
    /// The vault that is probably meant.
    pub vault: Option<PathBuf>,
    /// The machine's time zone, where it has a name that is known.
    pub zone: Option<Zone>,
    /// The time.
    pub now: Timestamp,
    /// Whether there is a desktop session to show notifications on.
    pub has_desktop: bool,
    /// Whether a service of the user's can be started here.
    pub has_services: bool,
    /// The environment variables with secrets that are set.
    pub variables: Vec<&'static str>,
    /// The coding agents that are installed.
    pub programs: Vec<&'static str>,
    /// The models of an Ollama on this machine.
    pub local_models: Vec<String>,
    /// The names in `~/.config/vault-agent`, where secrets are kept.
    pub used_names: Vec<String>,
    /// A topic for ntfy that is hard to guess.
    pub topic: String,
    /// A secret that could sign.
    pub signing_secret: SecretString,
}

/// A folder that may become the vault, as it is now.
#[derive(Debug, Clone, Default)]
pub struct VaultFolder {
    /// Its absolute path.
    pub root: PathBuf,
    /// Whether it is there.
    pub exists: bool,
    /// How many Markdown notes lie in it; a hundred means a hundred or more.
    pub notes: usize,
    /// The settings file, if there is one.
    pub text: Option<String>,
    /// Its settings, else the defaults.
    pub settings: Settings,
}

/// A check that is made before an answer is accepted.
#[derive(Debug, Clone)]
pub enum SetupCheck {
    /// Can this folder be the vault?
    VaultFolder(PathBuf),
    /// Does Discord know this token?
    Bot(SecretString, ApiBase),
    /// Which channels can the bot write in?
    Channels(SecretString, ApiBase),
    /// Send a test message.
    Test(Box<NotifierTrial>),
    /// Ask a test question.
    Brain(Box<BrainTrial>),
    /// Read a secret that is there already, for the vault in this folder; what is to be done with it comes next.
    Secret(SecretSource, PathBuf),
}

/// A notifier that is tried before it is saved.
#[derive(Debug, Clone)]
pub struct NotifierTrial {
    /// Which one.
    pub kind: NotifyKind,
    /// The settings as they would be.
    pub notify: config::NotifySettings,
    /// Those of Discord.
    pub discord: config::DiscordSettings,
    /// Its token, password or signing secret, which is in no file yet.
    pub secret: Option<SecretString>,
    /// The address of a webhook, Discord's among them.
    pub address: Option<SecretString>,
    /// The vault's folder.
    pub root: PathBuf,
}

/// `[discord] api_base`: a test server in Discord's place.
pub type ApiBase = Option<String>;

/// The place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In this environment variable, which is set.
    Variable(&'static str),
    /// In this file, as the settings name it.
    File(String),
    /// In the settings, where a person put it.
    Settings,
}

/// The result of a check.
#[derive(Debug, Clone)]
pub enum CheckResult {
    /// The folder can be the vault.
    VaultFolder(Box<VaultFolder>),
    /// The bot that the token belongs to.
    Bot(DiscordBot),
    /// The channels; none where the bot is in no server yet.
    Channels(Vec<DiscordChannel>),
    /// The secret.
    Secret(SecretString),
    /// The check succeeded, in words.
    Well(String),
}

/// All that will be written.
#[derive(Debug, Clone)]
pub struct SetupPlan {
    /// The vault's folder.
    pub root: PathBuf,
    /// The zone of its times.
    pub zone: Zone,
    /// The settings file as it is, if it is there.
    pub before: Option<String>,
    /// The settings file as it will be, or why it can't be changed.
    pub settings: Result<String, String>,
    /// Files with secrets, outside the vault.
    pub secrets: Vec<SecretFile>,
    /// Whether a service is installed.
    pub service: bool,
    /// A summary, a line each.
    pub lines: Vec<String>,
}

/// A file that only its owner can read.
#[derive(Debug, Clone)]
pub struct SecretFile {
    /// The path.
    pub path: PathBuf,
    /// The value of its first line.
    pub value: SecretString,
}

/// A secret, and where it is kept; none where it was typed and has to be written.
#[derive(Debug, Clone)]
struct HeldSecret {
    value: Option<SecretString>,
    kept: Option<SecretSource>,
}

/// The first of `name`, `name-2`, `name-3` and so on that is free.
fn free_name(name: &str, is_free: impl Fn(&String) -> bool) -> String {
    let mut names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name}-{n}")));
    names.find(is_free).unwrap_or_default()
}
