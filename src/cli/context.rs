//! Holds the context of a command: its output, the clock, its vault, and the caller (a person or the assistant).

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

#[cfg(all(unix, feature = "assistant"))]
use super::assistant_commands;
use super::error::{CommandError, CommandResult, Result, Status};
use crate::clock::{self, Clock};
use crate::config::{self, ConfigError};
use crate::format::changes::{changed_endings, unified};
use crate::history::parse_time;
use crate::schedule;
use crate::terminal::Ui;
use crate::vault::{Actor, Origin};
use crate::when::WhenError;
use crate::workspace::Workspace;

/// The context of a command.
#[derive(Debug)]
pub struct Context {
    /// The output.
    pub ui: Ui,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    vault: Option<PathBuf>,
    /// The assistant's turn, where it calls from its shell.
    #[cfg(all(unix, feature = "assistant"))]
    caller: Option<crate::agent::tools::Caller>,
}

impl Context {
    /// The context of one run; the environment may set the time and names the caller.
    ///
    /// # Errors
    /// The environment's time is no instant.
    pub(super) fn new(vault: Option<PathBuf>, ui: Ui) -> Result<Self> {
        let clock = clock::from_env().map_err(|value| {
            ConfigError::new(format!("`{}` is `{value}`, which is no instant", clock::NOW_VARIABLE))
                .suggest("give RFC 3339, such as `2026-12-01T09:30:00Z`")
        })?;
        Ok(Self {
            ui,
            clock,
            vault,
            #[cfg(all(unix, feature = "assistant"))]
            caller: crate::agent::bash::vault_proxy::caller_from_env(),
        })
    }

    /// The origin of writes: a person at the command line, or the assistant through its shell.
    pub fn origin(&self) -> Origin {
        #[cfg(all(unix, feature = "assistant"))]
        if let Some(caller) = &self.caller {
            return caller.origin();
        }
        Origin::new(Actor::Cli)
    }

    /// Checks that the assistant may call this command from its shell; a person may call all.
    #[cfg(all(unix, feature = "assistant"))]
    pub(super) fn check_permission(&self, matches: &clap::ArgMatches) -> Result<()> {
        self.caller.as_ref().map_or(Ok(()), |caller| assistant_commands::check(matches, caller.tainted))
    }

    /// The vault that `--vault`, the environment or the current folder names. Nothing is written for a
    /// folder that is none: neither in it nor in a state or cache directory of its own.
    ///
    /// # Errors
    /// No vault is near, or the named folder is none.
    pub fn vault_dir(&self) -> Result<PathBuf> {
        let dir = self.folder()?;
        let shown = dir.display();
        if config::is_vault(&dir) {
            Ok(dir)
        } else if dir.is_dir() {
            dir.join(".").metadata().map_err(|error| {
                CommandError::problem(format!("can't look into the folder `{shown}`: {error}"))
                    .hint("give yourself the right to read it")
            })?;
            Err(CommandError::usage(format!("`{shown}` is no vault: it holds neither `vault-agent.toml` nor `.obsidian`"))
                .hint(format!("make it one with `vault-agent init {shown}`: that adds what is missing and overwrites nothing")))
        } else {
            let what = if dir.exists() { "is no folder" } else { "is not there" };
            Err(CommandError::usage(format!("the vault `{shown}` {what}"))
                .hint("name a vault with `--vault DIR`, or make one: `vault-agent setup` asks, `vault-agent init DIR` doesn't"))
        }
    }

    /// The folder that is or may become the vault.
    ///
    /// # Errors
    /// None is named, and no vault is near.
    pub fn folder(&self) -> Result<PathBuf> {
        if let Some(dir) = &self.vault {
            return Ok(dir.clone());
        }
        let here = current_dir()?;
        config::find_vault(&here).ok_or_else(|| {
            CommandError::usage(format!("no vault at or above `{}`", here.display()))
                .hint("name one with `--vault DIR`, or make one: `vault-agent setup` asks, `vault-agent run --vault DIR` doesn't")
        })
    }

    /// The folder that `--vault` or the environment names, if one does.
    pub fn named_vault(&self) -> Option<&PathBuf> {
        self.vault.as_ref()
    }

    /// Opens the vault; where its settings are wrong, with the last valid ones, as the daemon does, and a note.
    ///
    /// # Errors
    /// There is no vault, or its settings are wrong and were never valid.
    pub fn workspace_or_last(&self) -> Result<Workspace> {
        self.opened(Workspace::open_or_last)
    }

    /// Opens the vault with its settings.
    ///
    /// # Errors
    /// There is no vault, or its settings are wrong.
    pub fn workspace(&self) -> Result<Workspace> {
        self.opened(Workspace::open)
    }

    /// The vault, with a note where its settings aren't those on disk.
    fn opened(&self, open: fn(&Path, Arc<dyn Clock>) -> Result<Workspace, ConfigError>) -> Result<Workspace> {
        let workspace = open(&self.vault_dir()?, Arc::clone(&self.clock))?;
        workspace.settings_problem().into_iter().for_each(|problem| self.ui.note(problem));
        // A person has finished editing and knows the note.
        workspace.editor.count_as_settled(self.origin().actor == Actor::Cli);
        Ok(workspace)
    }

    /// Prints a result, as JSON or as lines for people. The exit code says whether it is fine.
    ///
    /// # Errors
    /// None.
    pub fn report(
        &self,
        document: &impl Serialize,
        lines: impl IntoIterator<Item: AsRef<str>>,
        is_fine: bool,
    ) -> CommandResult {
        self.ui.json(document);
        lines.into_iter().for_each(|line| self.ui.line(line));
        Ok(Status::of(is_fine))
    }

    /// As [`Self::report`], with one text and exit code 0.
    ///
    /// # Errors
    /// None.
    pub fn answer(&self, document: &impl Serialize, text: impl AsRef<str>) -> CommandResult {
        self.report(document, [text], true)
    }

    /// Prints a list, as JSON or as one text for each item; `none` where it is empty. Exit code 0.
    ///
    /// # Errors
    /// None.
    pub fn list<T: Serialize>(
        &self,
        items: &[T],
        none: impl Into<String>,
        text: impl Fn(&T) -> String,
    ) -> CommandResult {
        let none = items.is_empty().then(|| none.into());
        self.report(&items, none.into_iter().chain(items.iter().map(text)), true)
    }

    /// Says how many tasks of other plugins are not delivered, and which setting turns them on.
    pub(super) fn note_disabled_forms(&self, workspace: &Workspace) {
        let Workspace { vault, settings, zone, clock, .. } = workspace;
        if let Ok(Some(offer)) = crate::tasks::count_disabled_forms(vault, settings, zone, clock.now()) {
            self.ui.note(format!("{}; {}", offer.count_text(), offer.setting_hint()));
        }
    }

    /// Shows how a text file changes, as a diff; nothing where it doesn't.
    pub(super) fn show_change(&self, path: &Path, before: &str, after: &str) {
        if before != after {
            let shown = path.to_string_lossy();
            let endings = changed_endings(before, after).map(|endings| endings + "\n").unwrap_or_default();
            let diff = format!("{endings}--- {shown}\n+++ {shown}\n{}", unified(before, after));
            self.ui.line(diff.trim_end());
        }
    }
}

/// An instant as options take it: RFC 3339, or a local date and time.
pub(super) fn instant(text: &str, workspace: &Workspace) -> Result<Timestamp> {
    schedule::exact_instant(text, &workspace.zone).ok_or_else(|| {
        CommandError::usage(format!("`{text}` is no instant"))
            .hint("write `2026-12-01T09:30:00Z`, or a local `2026-12-01 09:30`")
    })
}

/// An instant in the past as options take it: as [`parse_time`] reads it.
pub(super) fn past(text: &str, workspace: &Workspace) -> Result<Timestamp> {
    parse_time(text, workspace.clock.now(), &workspace.zone).map_err(|error| match error {
        WhenError::Ambiguous { .. } => error.into(),
        _ => CommandError::usage(format!("`{text}` is no time"))
            .hint("try `yesterday 18:00`, `7 days ago`, `2026-12-01`, or RFC 3339"),
    })
}

/// A note and the number of its line, from 1, as options take them: `MEMORY.md:12`.
pub(super) fn note_line(text: &str) -> Result<(&str, usize)> {
    let place = text.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
    place.filter(|(path, line)| !path.is_empty() && *line > 0).ok_or_else(|| {
        CommandError::usage(format!("`{text}` names no line of a note")).hint("write it as `MEMORY.md:12`")
    })
}

/// A day as options take it.
pub(super) fn day(text: &str) -> Result<jiff::civil::Date, &'static str> {
    text.parse().map_err(|_| "write a day as `2026-12-01`")
}

/// The current folder.
///
/// # Errors
/// It can't be used: it was deleted, or is not ours to read.
pub(super) fn current_dir() -> Result<PathBuf> {
    std::env::current_dir().map_err(|error| {
        CommandError::problem(format!("the current folder can't be used: {error}"))
            .hint("go to another folder, or name the vault with `--vault DIR`")
    })
}

/// The text on standard input, up to so many kB; `what` it is, for an error.
pub(super) fn stdin_text(what: &str, limit: u64) -> Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take((limit << 10) + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit << 10 {
        return Err(CommandError::usage(format!("{what} is longer than {limit} kB")));
    }
    let text = String::from_utf8(bytes);
    text.map_err(|_| CommandError::usage(format!("{what} on standard input is no UTF-8 text")))
}

/// A table without lines; the first cells of its rows are names.
pub(super) fn table() -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table
}

/// Runs a task on a runtime with worker threads, whose open connections are dropped with it.
///
/// # Errors
/// The system gives no threads, or the task fails.
pub(super) fn on_workers<T>(task: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(task);
    runtime.shutdown_background();
    result
}

/// A runtime of one thread.
///
/// # Errors
/// The system gives none.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
