//! `doctor`: what is wrong, and how to mend it.
//!
//! Each check looks at one thing and says so even where all is well, so that a person sees what was
//! looked at. A check never changes anything and never ends the others; what `--fix` mends is mended before ([`mend`]).
//!
//! - `machine`, `confine`, `rooms`, `embeddings`: the machine, the box for commands, history and index, the vectors' model;
//! - `notes`, `notify`, `routines`: the notes, who is told, scheduled prompts;
//! - `brains`, `servers`, `discord`, `page`, `sessions`: the assistant, other MCP servers, the bot, the page, coding agents.

#[cfg(feature = "assistant")]
mod brains;
mod confine;
#[cfg(feature = "discord")]
mod discord;
#[cfg(feature = "index")]
mod embeddings;
mod machine;
mod mend;
mod notes;
mod notify;
#[cfg(all(unix, feature = "web"))]
mod page;
mod rooms;
#[cfg(feature = "assistant")]
mod routines;
#[cfg(feature = "assistant")]
mod servers;
mod sessions;

use serde::Serialize;

use super::context::Context;
use super::error::{CommandResult, Status};
use crate::config::ConfigError;
use crate::workspace::Workspace;

/// Looks at the vault, the machine and the daemon, and says what is wrong and how to mend it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Mends first what needs no decision, and says what it did: rights of secret files, edits that a crash cut short,
    /// a damaged index, a missing time zone.
    #[arg(long)]
    fix: bool,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All is well.
    Ok,
    /// It works, but a person should look.
    Warn,
    /// It doesn't work.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub check: &'static str,
    /// How it is.
    pub status: Outcome,
    /// What was seen.
    pub detail: String,
    /// What to do, where something is wrong.
    pub fix: Option<String>,
}

impl Check {
    /// All is well.
    pub fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, status: Outcome::Ok, detail: detail.into(), fix: None }
    }

    /// It works, but a person should look.
    pub fn warn(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Outcome::Warn, detail: detail.into(), fix: Some(fix.into()) }
    }

    /// It doesn't work.
    pub fn fail(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Outcome::Fail, detail: detail.into(), fix: Some(fix.into()) }
    }
}

/// Runs `doctor`: exit code 1 where a check failed.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let mended = if args.fix { mend::mend(context)? } else { Vec::new() };
    let found = match crate::workspace::Workspace::open(&context.vault_dir()?, context.clock.clone()) {
        Ok(workspace) => examine(&workspace),
        Err(error) => vec![settings_failure(&error)],
    };
    let checks: Vec<Check> = mended.into_iter().chain(found).collect();
    context.ui.json(&checks);
    checks.iter().for_each(|check| show(context, check));
    let failed = checks.iter().any(|check| check.status == Outcome::Fail);
    Ok(if failed { Status::Problem } else { Status::Fine })
}

fn examine(workspace: &Workspace) -> Vec<Check> {
    let mut checks = vec![Check::ok("settings", "vault-agent.toml is understood")];
    checks.extend(machine::checks(workspace));
    checks.extend(notify::checks(workspace));
    checks.extend(notes::checks(workspace));
    checks.extend(sessions::checks(workspace));
    #[cfg(feature = "assistant")]
    checks.extend(brains::checks(workspace));
    #[cfg(feature = "assistant")]
    checks.extend(servers::checks(workspace));
    #[cfg(feature = "assistant")]
    checks.extend(routines::checks(workspace));
    checks.extend(confine::checks());
    #[cfg(feature = "discord")]
    checks.extend(discord::checks(workspace));
    #[cfg(all(unix, feature = "web"))]
    checks.extend(page::checks(workspace));
    #[cfg(feature = "history")]
    checks.extend(rooms::history(workspace));
    #[cfg(feature = "index")]
    checks.extend(rooms::index(workspace));
    #[cfg(feature = "index")]
    checks.extend(embeddings::checks(workspace));
    checks
}

fn settings_failure(error: &ConfigError) -> Check {
    let fix = error.suggestion.clone().unwrap_or_else(|| "mend the line that is named".to_owned());
    Check::fail("settings", error.to_string(), fix)
}

fn show(context: &Context, check: &Check) {
    use anstyle::AnsiColor::{Green, Red, Yellow};
    let (mark, colour) = match check.status {
        Outcome::Ok => ("ok  ", Green),
        Outcome::Warn => ("warn", Yellow),
        Outcome::Fail => ("FAIL", Red),
    };
    let style = colour.on_default();
    context.ui.line(format!("{style}{mark}{style:#} {:12} {}", check.check, check.detail));
    if let Some(fix) = &check.fix {
        context.ui.line(format!("     {:12} -> {fix}", ""));
    }
}
