//! Checks the notifiers: whether each kind of the settings can be used.

use std::sync::Arc;

use super::Check;
use crate::config::NotifyKind;
use crate::deliver::{Console, Notifier};
use crate::workspace::Workspace;

/// One check for each kind but Discord, which has checks of its own.
pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    let console: Arc<dyn Notifier> = Arc::new(Console::stderr(workspace.zone.tz().clone()));
    let kinds = workspace.settings.notify.all();
    let others = kinds.into_iter().filter(|kind| !matches!(kind, NotifyKind::Discord | NotifyKind::Console));
    others
        .map(|kind| match workspace.notifier(kind, &console) {
            Ok(_) => Check::ok("notify", format!("`{}` has all that it needs", kind.as_str())),
            Err(error) => {
                let fix =
                    error.suggestion.clone().unwrap_or_else(|| "see [notify] in vault-agent.toml".to_owned());
                Check::fail("notify", format!("`{}` can't be used: {}", kind.as_str(), error.message), fix)
            }
        })
        .collect()
}
