//! Checks the machine: directories, file system, daemon, deliveries, time zone data; the notifiers, the box for commands,
//! and the hooks of coding agents.

use std::path::Path;
use std::sync::Arc;

use jiff::SignedDuration;

use super::{Check, Checked, Repair, all};
use crate::config::{DISCORD_TOKEN_VARIABLE, NotifyKind, WEBHOOK_VARIABLE, secret};
use crate::confine::{self, EnforcementLevel};
use crate::deliver::instants::format_instant;
use crate::deliver::{Console, Notifier};
use crate::hooks::install::{installed, user_settings};
use crate::instance::{DaemonLock, DaemonStatus, LockError, ONE_STATE};
use crate::schedule::{self, compare_zone_data};
use crate::workspace::Workspace;

/// A daemon whose last pass is older than this is stuck.
const STUCK_AFTER: SignedDuration = SignedDuration::from_mins(3);

/// How far ahead the two time zone databases are compared.
const YEARS_AHEAD: u32 = 2;

pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    let mut checks = vec![directories(workspace), daemon(workspace)];
    checks.extend(all(deliveries(workspace)));
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
    let (state, cache) = (workspace.dirs.state.display(), workspace.dirs.cache.display());
    Check::ok("directories", format!("state {state}, cache {cache}"))
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

fn deliveries(workspace: &Workspace) -> Checked {
    let fix = "nothing is sent without the delivery journal: mend its folder, or move the file away to begin a new one";
    let journal = workspace.journal().map_err(|error| Check::fail("deliveries", error.to_string(), fix))?;
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
    Ok(checks)
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
            Err(error) => return Some(Check::unusable("secrets", &error, "")),
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
    let (ours, other) = (schedule::database_version(), schedule::other_database_version());
    let versions = format!("{}, rules {ours} (second opinion {other})", workspace.zone.name());
    let Some(first) = differences.first() else { return Check::ok("time zone", versions) };
    let from = format_instant(first.from, workspace.clock.now(), workspace.zone.tz());
    Check::warn(
        "time zone",
        format!("{versions}: the two differ from {from}; the first one counts"),
        "if other programs on this machine show another hour then, their rules are old",
    )
}

/// One check for each kind but Discord, which has checks of its own.
pub(super) fn notifiers(workspace: &Workspace) -> Vec<Check> {
    let console: Arc<dyn Notifier> = Arc::new(Console::stderr(workspace.zone.tz().clone()));
    let kinds = workspace.settings.notify.all();
    let others = kinds.into_iter().filter(|kind| !matches!(kind, NotifyKind::Discord | NotifyKind::Console));
    others
        .map(|kind| match workspace.notifier(kind, &console) {
            Ok(_) => Check::ok("notify", format!("`{kind}` has all that it needs")),
            Err(error) => {
                let fix = error.suggestion.as_deref().unwrap_or("see [notify] in vault-agent.toml");
                Check::fail("notify", format!("`{kind}` can't be used: {}", error.message), fix)
            }
        })
        .collect()
}

/// The check of archived sessions; none if they are not to be archived.
pub(super) fn sessions(workspace: &Workspace) -> Vec<Check> {
    if !workspace.settings.hooks.archive {
        return Vec::new();
    }
    let Some(settings) = user_settings() else { return Vec::new() };
    let text = std::fs::read_to_string(&settings).unwrap_or_default();
    if installed(&text).is_ok_and(|hooks| !hooks.is_empty()) {
        let folder = workspace.settings.paths.sessions();
        return vec![Check::ok("sessions", format!("coding agents' sessions are kept in {folder}"))];
    }
    let detail = format!("`[hooks] archive` is on, but `{}` calls no hook", settings.display());
    let fix = "`vault-agent hook install` (or `--project` in each project); `vault-agent hook archive FILE…` brings in transcripts";
    vec![Check::warn("sessions", detail, fix)]
}

pub(super) fn sandbox() -> Vec<Check> {
    let enforcement = confine::enforcement();
    let why = enforcement.without_namespaces.as_deref();
    let without = why.map(|why| format!("; without user namespaces: {why}")).unwrap_or_default();
    let rules: Vec<String> = enforcement
        .rules
        .iter()
        .filter(|rule| rule.level == EnforcementLevel::Enforced)
        .map(|rule| format!("{} ({})", rule.name, rule.detail))
        .collect();
    let mut checks = Vec::new();
    if !rules.is_empty() {
        checks.push(Check::ok("box", format!("a command is held to: {}{without}", rules.join(", "))));
    }
    checks.extend(enforcement.weak().map(|rule| {
        let part = if rule.level == EnforcementLevel::Partly { "only in part" } else { "not" };
        Check::warn(
            "box",
            format!("a command is {part} held to: {} ({}){without}", rule.name, rule.detail),
            "`bash` is off here unless `[assistant] bash = \"ask\"`; `docs/tools.md` says what each rule needs",
        )
    }));
    checks
}
