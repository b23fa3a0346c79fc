//! Checks Discord, if a bot is set up: token, intents, owners, server, channel, permissions.

use std::time::Duration;

use super::Check;
use crate::config::NotifyKind;
use crate::discord::{DiscordError, examine, setup};
use crate::workspace::Workspace;

/// The longest that all questions may take.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Asks Discord as the bot does at its start, for at most 15 s; empty where no bot is set up.
pub fn checks(workspace: &Workspace) -> Vec<Check> {
    let settings = &workspace.settings.discord;
    let api = match setup::api(settings, workspace.vault.root()) {
        Ok(Some(api)) => api,
        Ok(None) => return vec![],
        // Another check looks at the secrets where notifications need them.
        Err(DiscordError::Secret(_)) if workspace.settings.notify.is_used(NotifyKind::Discord) => {
            return vec![];
        }
        Err(DiscordError::Secret(error)) => {
            return vec![Check::unusable("discord", &error, "fix `[discord]` in vault-agent.toml")];
        }
        Err(problem) => return vec![failed(&problem)],
    };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return vec![];
    };
    let asked = runtime.block_on(async { tokio::time::timeout(TIMEOUT, examine(&api, settings)).await });
    let found = asked.unwrap_or_else(|_| {
        vec![Err(DiscordError::Unreachable(format!("no answer within {} s", TIMEOUT.as_secs())))]
    });
    found
        .into_iter()
        .map(|found| found.map_or_else(|problem| failed(&problem), |fine| Check::ok("discord", fine)))
        .collect()
}

/// A problem's sentence: what is wrong, then what to click where.
fn failed(problem: &DiscordError) -> Check {
    let words = problem.to_string();
    if problem.is_transient() {
        let fix = "it is retried automatically; check the network if this stays so";
        return Check::warn("discord", words, fix);
    }
    match words.split_once(": ") {
        Some((detail, fix)) => Check::fail("discord", detail, fix),
        None => Check::fail("discord", words, "see [discord] in vault-agent.toml"),
    }
}
