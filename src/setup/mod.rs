//! Chooses the questions that `setup` asks, parses the answers, and makes the plan that follows from them. Pure;
//! `cli::setup` asks the person and writes.
//!
//! [`run`] asks one [`SetupQuestion`] after the other through a [`SetupIo`] (a terminal, a file), which also checks
//! answers: whether Discord accepts the token, whether the model answers. The result is a [`SetupPlan`] of all that
//! will be written; it is shown first. Nothing here reads a file, a clock or a socket.
//!
//! - `question`: a question and its key; `answers`: a file of answers, for a run without a person;
//! - `dialogue`: asks the questions in their order; has those about the folder, the zone, machines and the service;
//! - one file for each topic: `vault_folder`, `notifiers`, `discord`, `email`, `secrets`, `brains` with `ask_brain`;
//! - `plan`: computes from the answers all that will be written.

mod answers;
mod ask_brain;
mod brains;
mod dialogue;
mod discord;
mod email;
mod notifiers;
mod plan;
mod question;
mod secrets;
mod vault_folder;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use secrecy::SecretString;

use crate::config::{self, NotifyKind, Settings};
use crate::format::nearest;
use crate::schedule::Zone;

pub use answers::SetupAnswers;
pub use brains::BrainTrial;
pub use dialogue::run;
pub use question::{QuestionKey, SetupQuestion};

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
    /// The address of an Ollama on this machine, where it isn't the usual one.
    pub local_url: Option<String>,
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

/// The source of answers, and the checks on them. A failed check is a sentence for a person.
pub trait SetupIo {
    /// Why no more answers come.
    type End;

    /// Asks a question; the answer is a line.
    ///
    /// # Errors
    /// No more answers come.
    fn ask(&mut self, question: &SetupQuestion) -> Result<String, Self::End>;

    /// Looks at a folder that is to be the vault.
    ///
    /// # Errors
    /// It can't be the vault.
    fn vault_folder(&self, path: &Path) -> Result<VaultFolder, String>;

    /// Reads a secret that is there already, for the vault in this folder.
    ///
    /// # Errors
    /// It can't be read.
    fn secret(&self, source: &SecretSource, root: &Path) -> Result<SecretString, String>;

    /// Sends a test message.
    ///
    /// # Errors
    /// It didn't arrive.
    fn test_notifier(&self, trial: &NotifierTrial) -> Result<(), String>;

    /// Asks a test question.
    ///
    /// # Errors
    /// The brain doesn't answer.
    fn test_brain(&self, _: &BrainTrial) -> Result<(), String> {
        Err(NOT_BUILT.to_owned())
    }

    /// The bot that a token belongs to; `base` is `[discord] api_base`, a test server in Discord's place.
    ///
    /// # Errors
    /// Discord doesn't know the token.
    fn bot(&self, _token: &SecretString, _base: Option<&str>) -> Result<DiscordBot, String> {
        Err(NOT_BUILT.to_owned())
    }

    /// The channels that the bot can write in; none where it is in no server yet.
    ///
    /// # Errors
    /// Discord doesn't say.
    fn channels(&self, _token: &SecretString, _base: Option<&str>) -> Result<Vec<DiscordChannel>, String> {
        Err(NOT_BUILT.to_owned())
    }
}

/// The answer of a build without the part that a check is of.
pub const NOT_BUILT: &str = "this build of vault-agent can't do that";

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

/// A bot, as Discord knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscordBot {
    /// Its name.
    pub name: String,
    /// Its application, where Discord said which.
    pub application: Option<u64>,
    /// Its creator: name and id.
    pub owner: Option<(String, u64)>,
    /// Whether it may read messages; none where Discord doesn't say.
    pub may_read: Option<bool>,
}

/// A channel that the bot sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscordChannel {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its server's id.
    pub server: u64,
    /// Its server's name.
    pub server_name: String,
}

/// The place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In this environment variable, which is set.
    Variable(&'static str),
    /// In this file, as the settings name it.
    File(String),
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
    value: SecretString,
    kept: Option<SecretSource>,
}

/// The fault of an answer that is none of the names.
fn unknown_choice(typed: &str, names: &[&str]) -> String {
    let near = nearest(typed, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("`{typed}` is none of them: type {}{near}", names.join(", "))
}

/// The first of `name`, `name-2`, `name-3` and so on that is free.
fn free_name(name: &str, is_free: impl Fn(&String) -> bool) -> String {
    let mut names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name}-{n}")));
    names.find(is_free).unwrap_or_default()
}
