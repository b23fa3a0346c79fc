//! Writes the plan of `setup`: secrets, the vault, its settings, the service. In this order a stop
//! between two steps does the least harm.

use std::path::Path;

use secrecy::ExposeSecret;

use crate::cli::context::Context;
use crate::cli::daemon::service;
use crate::cli::error::{CommandError, CommandResult, Status};
use crate::cli::init;
use crate::config::{FILE_NAME, json_file};
use crate::setup::{SecretFile, SetupPlan};
use crate::vault::{Actor, ChangeReason, EditError, NotePath, Operation};
use crate::workspace::Workspace;

/// Writes the plan and prints the next steps.
pub(super) fn write(context: &Context, plan: &SetupPlan) -> CommandResult {
    let settings = plan.settings.clone().map_err(CommandError::problem)?;
    for secret in &plan.secrets {
        write_secret(secret).map_err(|error| {
            CommandError::problem(format!("can't write `{}`: {error}", secret.path.display()))
        })?;
    }
    let (workspace, written) = init::write_template(context, &plan.root, Some((&plan.zone, &settings)))?;
    if let Some(before) = plan.before.as_ref().filter(|before| **before != settings) {
        replace_settings(&workspace, before, &settings)?;
    }
    context.ui.note(format!("made {} files in {}", written.created.len(), plan.root.display()));
    let runs = plan.service && service::install_for(context, &plan.root)?;
    print_next_steps(context, plan, runs);
    Ok(Status::of(runs == plan.service))
}

/// Writes a file that only its owner can read, whole or not at all.
fn write_secret(secret: &SecretFile) -> std::io::Result<()> {
    let folder = secret.path.parent().unwrap_or(Path::new("/"));
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let line = format!("{}\n", secret.value.expose_secret());
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    json_file::replace_with(&secret.path, line.as_bytes(), true, Some(&owner_only))
}

/// Replaces the settings that were shown by the planned ones.
fn replace_settings(workspace: &Workspace, before: &str, after: &str) -> Result<(), CommandError> {
    let path = NotePath::new(FILE_NAME)?;
    let with = Operation::ReplaceAll { expect: Some(before.into()), with: after.into() };
    workspace.editor.count_as_settled(true);
    let report =
        workspace.editor.edit(&path, &[with], &ChangeReason::new(Actor::Cli, "setup: changed the settings"));
    match report {
        Ok(report) if report.all_done() => Ok(()),
        Ok(_) | Err(EditError::Vault(_)) => Err(CommandError::problem(format!(
            "`{FILE_NAME}` was changed by someone just now; nothing of it was touched"
        ))
        .hint("run `vault-agent setup` again")),
        Err(error) => Err(error.into()),
    }
}

fn print_next_steps(context: &Context, plan: &SetupPlan, runs: bool) {
    let ui = context.ui;
    let dir = init::shell_word(&plan.root);
    if runs {
        ui.line("It runs. A sample reminder comes within a minute; `vault-agent status` tells the rest, and `vault-agent web` shows it.");
    } else {
        ui.line(format!("Start it: vault-agent run --vault {dir}"));
    }
    ui.line(format!("Open {} in Obsidian, and look at Reminders.md.", plan.root.display()));
}
