//! Checks the machine: directories, file system, daemon, deliveries, time zone data.

use std::path::Path;

use jiff::SignedDuration;

use super::{Check, Repair};
use crate::config::{DISCORD_TOKEN_VARIABLE, NotifyKind, WEBHOOK_VARIABLE, secret};
use crate::deliver::instants::format_instant;
use crate::instance::{DaemonLock, DaemonStatus, LockError, ONE_STATE};
use crate::schedule::{self, compare_zone_data};
use crate::workspace::Workspace;

/// A daemon whose last pass is older than this is stuck.
const STUCK_AFTER: SignedDuration = SignedDuration::from_mins(3);

/// How far ahead the two time zone databases are compared.
const YEARS_AHEAD: u32 = 2;

pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    let mut checks = vec![directories(workspace), daemon(workspace)];
    checks.extend(deliveries(workspace));
    checks.extend(firing(workspace));
    checks.extend(secrets(workspace));
    checks.push(time_zone(workspace));
    checks
}

fn directories(workspace: &Workspace) -> Check {
    let fail = |detail: String, fix: &str| Check::fail("directories", detail, fix);
    let root = workspace.vault.root();
    for dir in [&workspace.dirs.state, &workspace.dirs.cache] {
        if dir.canonicalize().is_ok_and(|dir| dir.starts_with(root)) {
            let detail =
                format!("`{}` lies in the vault, where sync tools would carry databases", dir.display());
            return fail(detail, "name another with VAULT_AGENT_STATE_DIR and VAULT_AGENT_CACHE_DIR");
        }
        if let Err(error) = try_write(dir) {
            let detail = format!("can't write `{}`: {error}", dir.display());
            return fail(detail, "free some space, or give yourself the right to write there");
        }
    }
    if rustix::fs::access(root, rustix::fs::Access::WRITE_OK).is_err() {
        let detail = format!("can't write in the vault `{}`", root.display());
        return fail(detail, "give yourself the right to write there, or mount it writable");
    }
    Check::ok(
        "directories",
        format!("state {}, cache {}", workspace.dirs.state.display(), workspace.dirs.cache.display()),
    )
}

fn try_write(dir: &Path) -> std::io::Result<()> {
    let probe = dir.join(".doctor");
    std::fs::write(&probe, b"probe")?;
    std::fs::remove_file(probe)
}

fn daemon(workspace: &Workspace) -> Check {
    let fail = |detail: String, fix: &str| Check::fail("daemon", detail, fix);
    let warn = |detail: String, fix: &str| Check::warn("daemon", detail, fix);
    let ok = |detail: String| Check::ok("daemon", detail);
    if let Some(pid) = DaemonLock::other_daemon(&workspace.dirs.state, workspace.vault.root()) {
        return fail(LockError::Elsewhere(pid).to_string(), ONE_STATE);
    }
    let Some(pid) = DaemonLock::holder(&workspace.dirs.state) else {
        return warn(
            "not running: nothing fires by itself".to_owned(),
            "start `vault-agent run`, install it with `vault-agent service install`, or let cron call `vault-agent tick`",
        );
    };
    let Some(status) = DaemonStatus::read(&workspace.dirs.state) else {
        return ok(format!("process {pid} has just started"));
    };
    if let Some(error) = &status.settings_error {
        return warn(
            format!("works with the old settings: {error}"),
            "mend vault-agent.toml; it is taken on at once",
        );
    }
    let now = workspace.clock.now();
    match status.last_pass {
        Some(last) if last.duration_until(now) > STUCK_AFTER => fail(
            format!("process {pid} made its last pass {}", format_instant(last, now, workspace.zone.tz())),
            "look at its log, and restart it",
        ),
        _ => match &status.last_error {
            Some(error) => warn(format!("process {pid}: {error}"), "`vault-agent status` shows it whole"),
            None => ok(format!("process {pid}, {}", status.watcher)),
        },
    }
}

fn deliveries(workspace: &Workspace) -> Vec<Check> {
    let journal = match workspace.journal() {
        Ok(journal) => journal,
        Err(error) => {
            return vec![Check::fail(
                "deliveries",
                error.to_string(),
                "nothing is sent without the delivery journal: mend its folder, or move the file away to begin a new one",
            )];
        }
    };
    let mut checks = Vec::new();
    for refusal in journal.refusals(&workspace.pass_settings().notifiers).unwrap_or_default() {
        checks.push(Check::warn(
            "deliveries",
            format!("{} refuses messages: {}", refusal.place, refusal.reason),
            "change the settings that it names: it is then asked again; what the console took in its place was told there",
        ));
    }
    let copies = journal.open_copies().unwrap_or_default();
    for open in journal.open_deliveries().unwrap_or_default().into_iter().chain(copies) {
        let error = open.error.as_deref().unwrap_or("not attempted yet");
        checks.push(Check::warn(
            "deliveries",
            format!("`{}` waits: {error}", open.fact.id),
            "it is tried again by itself",
        ));
    }
    if checks.is_empty() {
        checks.push(Check::ok("deliveries", "nothing waits, nothing is refused"));
    }
    checks
}

fn firing(workspace: &Workspace) -> Option<Check> {
    if let Some(reason) = workspace.pass_settings().read_only {
        return Some(Check::warn("firing", reason, "that is as set; change `[schedule] host` to fire here"));
    }
    let reason = workspace.at_rest().filter(|_| workspace.is_paused())?;
    Some(
        Check::warn("pause", reason, "that is as set; `vault-agent resume` ends it").fixed_by(Repair::Resume),
    )
}

fn secrets(workspace: &Workspace) -> Option<Check> {
    if !workspace.settings.notify.tells(NotifyKind::Discord) {
        return None;
    }
    let discord = &workspace.settings.discord;
    let root = workspace.vault.root();
    let found = [
        secret(DISCORD_TOKEN_VARIABLE, discord.token_file.as_deref(), root),
        secret(WEBHOOK_VARIABLE, discord.webhook_url_file.as_deref(), root),
    ];
    let mut some = false;
    for found in found {
        match found {
            Ok(value) => some |= value.is_some(),
            Err(error) => {
                let fix = error.suggestion.clone().unwrap_or_default();
                return Some(Check::fail("secrets", error.to_string(), fix));
            }
        }
    }
    Some(if some {
        Check::ok("secrets", "a bot token or webhook is there, for its owner alone")
    } else {
        Check::fail(
            "secrets",
            "Discord is to be told, but there is neither a bot token nor a webhook",
            format!("set `{DISCORD_TOKEN_VARIABLE}` or `{WEBHOOK_VARIABLE}`, or `[discord] token_file`"),
        )
    })
}

fn time_zone(workspace: &Workspace) -> Check {
    let differences = compare_zone_data(&workspace.zone, workspace.clock.now(), YEARS_AHEAD);
    let versions = format!(
        "{}, rules {} (second opinion {})",
        workspace.zone.name(),
        schedule::database_version(),
        schedule::other_database_version()
    );
    match differences.first() {
        None => Check::ok("time zone", versions),
        Some(first) => Check::warn(
            "time zone",
            format!(
                "{versions}: the two differ from {}; the first one counts",
                format_instant(first.from, workspace.clock.now(), workspace.zone.tz())
            ),
            "if other programs on this machine show another hour then, their rules are old",
        ),
    }
}
