//! Decides which calls the settings allow without an approval. Also adds a pattern to `[assistant] allow`.
//!
//! Rejects questions that can't be put to a person: an empty or too long call, or a text with a secret of this vault.

use crate::agent::brain_clients;
use crate::agent::tools::{ApprovalSubject, ApprovalVerdict, Caller};
use crate::config::{self, DISCORD_TOKEN_VARIABLE, FILE_NAME, Settings};
use crate::vault::{Actor, ChangeReason, EditPlan, NotePath};
use crate::workspace::Workspace;

/// Characters that a person can be expected to read before a yes.
const MOST_CHARS: usize = 8_000;

/// A yes without a question, if the settings allow the call now: a person may have chosen "Always" since the turn
/// began. None for a turn that has read untrusted text.
///
/// # Errors
/// A sentence on why a person can't be asked about the call.
pub fn decide_without_asking(
    workspace: &Workspace,
    subject: &ApprovalSubject,
    caller: &Caller,
) -> Result<Option<ApprovalVerdict>, String> {
    check_askable(subject, workspace)?;
    Ok((!caller.tainted && is_allowed(workspace, subject)).then_some(ApprovalVerdict::Yes))
}

/// Checks that a person can be asked about the call.
fn check_askable(subject: &ApprovalSubject, workspace: &Workspace) -> Result<(), String> {
    let length = subject.run.chars().count();
    if subject.run.trim().is_empty() {
        return Err("it says nothing of what would run".to_owned());
    }
    if length > MOST_CHARS {
        let most = format!("a person is shown {MOST_CHARS} at most; make it shorter");
        return Err(format!("it has {length} characters, and {most}"));
    }
    let (settings, root) = (&workspace.settings, workspace.vault.root());
    let texts = [Some(&subject.run), Some(&subject.why), subject.always.as_ref()];
    let token =
        config::secret(DISCORD_TOKEN_VARIABLE, settings.discord.token_file.as_deref(), root).ok().flatten();
    let brains = brain_clients::prepare(settings, root);
    let holds = |text: &String| {
        brains.iter().any(|brain| brain.is_key_in(text))
            || token.as_ref().is_some_and(|token| brain_clients::is_secret_in(token, text))
    };
    if texts.into_iter().flatten().any(holds) {
        return Err("it holds a secret of this vault, which is written and shown nowhere".to_owned());
    }
    Ok(())
}

/// Whether the settings as they are now allow it.
pub(super) fn is_allowed(workspace: &Workspace, subject: &ApprovalSubject) -> bool {
    let Some(pattern) = &subject.always else { return false };
    let now = Settings::load(workspace.vault.root());
    now.as_ref().unwrap_or(&workspace.settings).assistant.allow.contains(pattern)
}

/// Adds a pattern to `[assistant] allow`; on disk when it returns.
///
/// # Errors
/// A sentence on why it can't be added.
pub fn allow(workspace: &Workspace, pattern: &str, actor: Actor) -> Result<(), String> {
    let why = ChangeReason::new(actor, format!("always allowed: {}", pattern.escape_debug()));
    let path = NotePath::new(FILE_NAME).map_err(|error| error.to_string())?;
    let mut refused = None;
    let report = workspace.editor.edit_with(&path, &why, |bytes| {
        let text = std::str::from_utf8(bytes).map_err(|_| format!("`{FILE_NAME}` is not UTF-8 text"));
        match text.and_then(|text| config::with_allowed(text, pattern)) {
            Ok(after) => {
                refused = None;
                EditPlan::Bytes(after.into_bytes())
            }
            Err(error) => {
                refused = Some(error);
                EditPlan::NOTHING
            }
        }
    });
    report.map_err(|error| error.to_string())?;
    refused.map_or(Ok(()), Err)
}
