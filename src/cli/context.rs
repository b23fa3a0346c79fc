//! Holds the context of a command: its output, the clock, its vault, and the caller (a person or the assistant).

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

#[cfg(all(unix, feature = "assistant"))]
use super::assistant_commands;
use super::error::{CommandError, CommandResult, Status};
use crate::clock::{self, Clock};
use crate::config::{self, ConfigError};
use crate::terminal::Ui;
use crate::vault::{Actor, Origin};
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
    pub(super) fn new(vault: Option<PathBuf>, ui: Ui) -> Result<Self, CommandError> {
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
    pub(super) fn check_permission(&self, matches: &clap::ArgMatches) -> Result<(), CommandError> {
        self.caller.as_ref().map_or(Ok(()), |_| assistant_commands::check(matches))
    }

    #[cfg(not(all(unix, feature = "assistant")))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "it has a caller in other builds")]
    pub(super) fn check_permission(&self, _: &clap::ArgMatches) -> Result<(), CommandError> {
        Ok(())
    }

    /// The vault that `--vault`, the environment or the current folder names. Nothing is written for a
    /// folder that is none: neither in it nor in a state or cache directory of its own.
    ///
    /// # Errors
    /// No vault is near, or the named folder is none.
    pub fn vault_dir(&self) -> Result<PathBuf, CommandError> {
        let dir = self.folder()?;
        let shown = dir.display();
        if config::is_vault(&dir) {
            Ok(dir)
        } else if dir.is_dir() {
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
    pub fn folder(&self) -> Result<PathBuf, CommandError> {
        if let Some(dir) = &self.vault {
            return Ok(dir.clone());
        }
        let here = std::env::current_dir()?;
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
    pub fn workspace_or_last(&self) -> Result<Workspace, CommandError> {
        let (workspace, wrong) = Workspace::open_or_last(&self.vault_dir()?, Arc::clone(&self.clock))?;
        if let Some(error) = wrong {
            let hint = error.suggestion.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
            self.ui.note(format!("the settings are wrong, the last good ones are used: {error}{hint}"));
        }
        workspace.editor.count_as_settled(true);
        Ok(workspace)
    }

    /// Opens the vault with its settings.
    ///
    /// # Errors
    /// There is no vault, or its settings are wrong.
    pub fn workspace(&self) -> Result<Workspace, CommandError> {
        let workspace = Workspace::open(&self.vault_dir()?, Arc::clone(&self.clock))?;
        // A person who types a command has finished editing.
        workspace.editor.count_as_settled(true);
        Ok(workspace)
    }

    /// Prints a result, as JSON or as text for people. Exit code 0.
    ///
    /// # Errors
    /// None.
    pub fn answer(&self, document: &impl Serialize, text: impl AsRef<str>) -> CommandResult {
        self.ui.json(document);
        self.ui.line(text);
        Ok(Status::Fine)
    }

    /// Prints a list, as JSON or as one text for each item; `none` where it is empty. Exit code 0.
    ///
    /// # Errors
    /// None.
    pub fn list<T: Serialize>(
        &self,
        items: &[T],
        none: impl AsRef<str>,
        text: impl Fn(&T) -> String,
    ) -> CommandResult {
        self.ui.json(&items);
        if items.is_empty() {
            self.ui.line(none);
        }
        items.iter().for_each(|item| self.ui.line(text(item)));
        Ok(Status::Fine)
    }
}

/// Runs a task on a runtime with worker threads, whose open connections are dropped with it.
///
/// # Errors
/// The system gives no threads, or the task fails.
pub(super) fn on_workers<T>(task: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(task);
    runtime.shutdown_background();
    result
}

/// A runtime for one pass of the scheduler.
///
/// # Errors
/// The system gives none.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
