//! `doctor --fix`: fixes what needs no decision of a person and can't lose anything.

use crate::cli::context::Context;
use crate::cli::error::CommandError;
use crate::cli::init;
use crate::config;
use crate::doctor::Check;
use crate::instance::DaemonLock;
use crate::workspace::Workspace;

/// Fixes what can be fixed and reports each fix; a failed one is a warning.
pub(super) fn fix_all(context: &Context) -> Result<Vec<Check>, CommandError> {
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
        done.push(fixed(
            "settings",
            &format!("wrote {} with the time zone {}", config::FILE_NAME, workspace.zone.name()),
        ));
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
    let files = named
        .into_iter()
        .flatten()
        .chain(settings.brains.iter().filter_map(|brain| brain.key_file.as_ref()))
        .chain(settings.mcp.iter().filter_map(|server| server.key_file.as_ref()))
        .chain(settings.skills.values().flat_map(|skill| skill.key_files.values()));
    files
        .filter_map(|file| match config::make_private(file, workspace.vault.root()) {
            Ok(true) => Some(fixed("secrets", &format!("`{file}` is yours alone now (mode 600)"))),
            // A file that isn't there is a finding of the checks.
            Ok(false) | Err(_) => None,
        })
        .collect()
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
    use crate::search::Severity;
    let index = workspace.index().ok()?;
    if !index.health().iter().any(|finding| finding.status == Severity::Fail) {
        return None;
    }
    let never = std::sync::atomic::AtomicBool::new(false);
    Some(match index.reindex(&|_| {}, &never) {
        Ok(made) => fixed("index", &format!("made anew from {} files", made.files)),
        Err(error) => Check::fail("index", error.to_string(), "run `vault-agent reindex`"),
    })
}
