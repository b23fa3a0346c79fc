//! `doctor`: checks the vault, the machine and the daemon, and prints each result with its remedy. With `--fix` it
//! makes the repairs that need no decision of a person and lose nothing.

use super::init;
use crate::cli::prelude::*;
use crate::doctor::{Check, CheckExtent, ExtraCheck, Severity, examine, settings_failure};

/// Checks the vault, the machine and the daemon, and shows each problem with its fix.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// First fixes what needs no decision, and reports it: rights of secret files, edits that a crash cut short, a
    /// damaged index, a missing time zone.
    #[arg(long)]
    fix: bool,
}

/// Checks of other rooms.
const EXTRA_CHECKS: &[ExtraCheck] = &[
    #[cfg(feature = "assistant")]
    crate::doctor::discord,
    crate::doctor::embeddings,
    #[cfg(all(unix, feature = "assistant"))]
    crate::web::checks,
];

/// Runs `doctor`: exit code 1 where a check failed.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let fixed = if args.fix { fix_all(context)? } else { Vec::new() };
    let found = match Workspace::open(&context.vault_dir()?, context.clock.clone()) {
        Ok(workspace) => examine(&workspace, CheckExtent::Whole, EXTRA_CHECKS),
        Err(error) => vec![settings_failure(&error)],
    };
    let checks: Vec<Check> = fixed.into_iter().chain(found).collect();
    let is_fine = checks.iter().all(|check| check.status != Severity::Fail);
    context.ui.json(&checks);
    checks.iter().for_each(|check| context.ui.styled_line(&line(check)));
    Ok(Status::of(is_fine))
}

/// A check for people, with its remedy on a second line.
fn line(check: &Check) -> String {
    use anstyle::AnsiColor::{Green, Red, Yellow};
    let (mark, colour) = match check.status {
        Severity::Ok => ("ok  ", Green),
        Severity::Warn => ("warn", Yellow),
        Severity::Fail => ("FAIL", Red),
    };
    let style = colour.on_default();
    let fix = check.fix.as_ref().map(|fix| format!("\n     {:12} -> {fix}", "")).unwrap_or_default();
    format!("{style}{mark}{style:#} {:12} {}", check.check, printable(&format!("{}{fix}", check.detail)))
}

/// Fixes what can be fixed and reports each fix; a failed one is a warning.
fn fix_all(context: &Context) -> Result<Vec<Check>> {
    // Settings that can't be read are a finding of the checks.
    let Ok(workspace) = Workspace::open(&context.vault_dir()?, context.clock.clone()) else {
        return Ok(Vec::new());
    };
    let mut done = make_secrets_private(&workspace);
    // A running daemon does this itself, and may be in the middle of an edit.
    if DaemonLock::holder(&workspace.dirs.state).is_none() {
        done.extend(recover_edits(&workspace));
    }
    let had_settings = workspace.vault.exists(&workspace.note(config::FILE_NAME));
    let workspace = init::ensure_time_zone(context, workspace)?;
    if !had_settings && workspace.vault.exists(&workspace.note(config::FILE_NAME)) {
        let wrote = format!("wrote {} with the time zone {}", config::FILE_NAME, workspace.zone.name());
        done.push(fixed("settings", &wrote));
    }
    done.extend(rebuild_damaged_index(&workspace));
    Ok(done)
}

fn fixed(check: &'static str, what: &str) -> Check {
    Check::ok(check, format!("fixed: {what}"))
}

/// Removes the rights of others on secret files.
fn make_secrets_private(workspace: &Workspace) -> Vec<Check> {
    let settings = &workspace.settings;
    let (discord, notify) = (&settings.discord, &settings.notify);
    let named = [
        &discord.token_file,
        &discord.webhook_url_file,
        &notify.ntfy.token_file,
        &notify.email.password_file,
        &notify.webhook.url_file,
        &notify.webhook.secret_file,
        &settings.embed.key_file,
        &settings.rerank.key_file,
    ];
    let machines = settings.machines.iter().filter_map(|machines| machines.password_file.as_ref());
    let files = named
        .into_iter()
        .flatten()
        .chain(machines)
        .chain(settings.brains.iter().filter_map(|brain| brain.key_file.as_ref()))
        .chain(settings.mcp.iter().filter_map(|server| server.key_file.as_ref()))
        .chain(settings.skills.values().flat_map(|skill| skill.key_files.values()));
    // A file that isn't there is a finding of the checks.
    let changed = files.filter(|file| config::make_private(file, workspace.vault.root()).unwrap_or(false));
    changed.map(|file| fixed("secrets", &format!("`{file}` is yours alone now (mode 600)"))).collect()
}

/// Finishes or takes back edits that a crash cut short.
fn recover_edits(workspace: &Workspace) -> Vec<Check> {
    match workspace.editor.recover() {
        Ok(settled) => settled
            .into_iter()
            .map(|edit| fixed("notes", &format!("an interrupted edit of {} was settled", edit.path)))
            .collect(),
        Err(error) => vec![Check::warn("notes", error.to_string(), "an interrupted edit waits; try again")],
    }
}

/// Rebuilds a damaged index.
fn rebuild_damaged_index(workspace: &Workspace) -> Option<Check> {
    let index = workspace.index().ok()?;
    if !index.health(true).iter().any(|finding| finding.status == Severity::Fail) {
        return None;
    }
    let never = std::sync::atomic::AtomicBool::new(false);
    Some(match index.reindex(&|_| {}, &never) {
        Ok(made) => fixed("index", &format!("rebuilt from {} files", made.files)),
        Err(error) => Check::fail("index", error.to_string(), "run `vault-agent reindex`"),
    })
}
