//! Checks this machine: directories, daemon, deliveries, pause, Discord's secrets, time zone data, notifiers, the
//! sandbox of commands, and the hooks of coding agents. Also checks the machines that share the vault, by the
//! daemon's last report of them. Makes no request over the network.

use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Check, CheckExtent, Checked, Repair, all, directories, time_zone};
use crate::agenda::{EntryKind, late_and_coming};
use crate::config::{
    DISCORD_TOKEN_VARIABLE, ETCD_PASSWORD_VARIABLE, NotifyKind, OnPartition, WEBHOOK_VARIABLE, is_executable,
    machine_name, secret,
};
use crate::confine::{self, EnforcementLevel};
use crate::deliver::instants::format_instant;
use crate::deliver::{Console, Desktop, Notifier};
use crate::format::quote;
use crate::hooks::install::{caller, installed, user_settings};
use crate::instance::{DaemonLock, DaemonStatus, ONE_STATE};
use crate::machines::identity::{self, Identity};
use crate::machines::status::MachinesStatus;
use crate::sqlite::DatabaseError;
use crate::tasks::Scanner;
use crate::workspace::Workspace;

/// A daemon whose last pass is older than this is stuck.
const STUCK_AFTER: SignedDuration = SignedDuration::from_mins(3);

pub(super) fn checks(workspace: &Workspace, look: CheckExtent) -> Vec<Check> {
    let mut checks = directories::checks(workspace);
    checks.push(daemon(workspace, look));
    checks.extend(all(deliveries(workspace)));
    checks.extend(firing(workspace));
    checks.extend(secrets(workspace));
    checks.push(time_zone::check(workspace));
    checks
}

fn daemon(workspace: &Workspace, look: CheckExtent) -> Check {
    let fail = |detail: String, fix: &str| Check::fail("daemon", detail, fix);
    let warn = |detail: String, fix: &str| Check::warn("daemon", detail, fix);
    let ok = |detail: String| Check::ok("daemon", detail);
    if let Some(other) = DaemonLock::other_daemon(&workspace.dirs.state, workspace.vault.root()) {
        return fail(other.to_string(), ONE_STATE);
    }
    let Some(pid) = DaemonLock::holder(&workspace.dirs.state) else {
        // It reads all notes, for the tasks of other plugins.
        let whole = (look == CheckExtent::Whole).then(|| late_and_coming(workspace, &mut Scanner::default()));
        let late = whole.and_then(Result::ok);
        let late = late.map_or(0, |(all, _)| all.iter().filter(|one| one.kind != EntryKind::Task).count());
        let overdue = if late > 0 { format!("; overdue and not delivered: {late}") } else { String::new() };
        // A `tick` remembers nothing of the other machines.
        let fix = match workspace.settings.machines {
            Some(_) => "start `vault-agent run`, or install it with `vault-agent service install`",
            None => {
                "start `vault-agent run`, install it with `vault-agent service install`, or let cron call `vault-agent tick`"
            }
        };
        return warn(format!("not running: reminders are not delivered{overdue}"), fix);
    };
    let Some(status) = DaemonStatus::read(&workspace.dirs.state) else {
        return ok(format!("process {pid} has just started"));
    };
    if let Some(error) = &status.settings_error {
        return warn(
            format!("works with the old settings: {error}"),
            "fix vault-agent.toml; the daemon reads it at once",
        );
    }
    let now = workspace.clock.now();
    match status.last_pass {
        Some(last) if last.duration_until(now) > STUCK_AFTER => fail(
            format!("process {pid} made its last pass {}", format_instant(last, now, workspace.zone.tz())),
            "look at its log, and restart it",
        ),
        _ => match &status.last_error {
            Some(error) => {
                warn(format!("process {pid}: {error}"), "`vault-agent status` shows the full text")
            }
            None => ok(format!("process {pid}, {}", status.watcher)),
        },
    }
}

fn deliveries(workspace: &Workspace) -> Checked {
    let fail = |error: DatabaseError| {
        Check::fail("deliveries", error.to_string(), error.hint().unwrap_or("look at its folder"))
    };
    let journal = workspace.journal().map_err(fail)?;
    let mut checks = Vec::new();
    for refusal in journal.refusals(&workspace.pass_settings().notifiers).unwrap_or_default() {
        checks.push(Check::warn(
            "deliveries",
            format!("{} refuses messages: {}", refusal.place, refusal.reason),
            "change the settings that it names, and it is tried again; the console showed the refused messages",
        ));
    }
    let copies = journal.open_copies().unwrap_or_default();
    for open in journal.open_deliveries().unwrap_or_default().into_iter().chain(copies) {
        let error = open.error.as_deref().unwrap_or("not attempted yet");
        checks.push(Check::warn(
            "deliveries",
            format!("{} (`{}`) waits: {error}", quote(&open.fact.msg), open.fact.id),
            "it is retried automatically",
        ));
    }
    if checks.is_empty() {
        checks.push(Check::ok("deliveries", "nothing waits, nothing is refused"));
    }
    Ok(checks)
}

fn firing(workspace: &Workspace) -> Option<Check> {
    if let Some(reason) = workspace.pass_settings().read_only {
        return Some(Check::warn(
            "firing",
            reason,
            "this is as configured; change `[schedule] host` to fire here",
        ));
    }
    let reason = workspace.reason_for_rest().filter(|_| workspace.is_paused())?;
    Some(
        Check::warn("pause", reason, "this is as configured; `vault-agent resume` ends it")
            .fixed_by(Repair::Resume),
    )
}

fn secrets(workspace: &Workspace) -> Option<Check> {
    if !workspace.settings.notify.is_used(NotifyKind::Discord) {
        return None;
    }
    let (discord, root) = (&workspace.settings.discord, workspace.vault.root());
    let token = secret(DISCORD_TOKEN_VARIABLE, discord.token_file.as_deref(), root);
    let webhook = secret(WEBHOOK_VARIABLE, discord.webhook_url_file.as_deref(), root);
    Some(match (token, webhook) {
        (Err(error), _) | (_, Err(error)) => Check::unusable("secrets", &error, ""),
        (Ok(None), Ok(None)) => Check::fail(
            "secrets",
            "Discord is a notifier, but there is neither a bot token nor a webhook",
            format!("set `{DISCORD_TOKEN_VARIABLE}` or `{WEBHOOK_VARIABLE}`, or `[discord] token_file`"),
        ),
        _ => Check::ok("secrets", "a bot token or webhook is there, for its owner alone"),
    })
}

/// One check for each kind but Discord, which has checks of its own.
pub(super) fn notifiers(workspace: &Workspace) -> Vec<Check> {
    let console: Arc<dyn Notifier> = Arc::new(Console::stderr(workspace.zone.tz().clone()));
    let kinds = workspace.settings.notify.all();
    let others = kinds.into_iter().filter(|kind| !matches!(kind, NotifyKind::Discord | NotifyKind::Console));
    others
        .map(|kind| match workspace.notifier(kind, &console) {
            Ok(notifier) => {
                let missing = (kind == NotifyKind::Desktop).then(Desktop::missing).flatten();
                match (notifier.obstacle(), missing) {
                    (None, None) => Check::ok("notify", format!("`{kind}` has all that it needs")),
                    (Some(why), _) => Check::warn(
                        "notify",
                        format!("`{kind}` is left to other machines: {why}"),
                        "set another `[notify] kind` if none of them has it",
                    ),
                    (None, Some(why)) => Check::warn(
                        "notify",
                        format!("`{kind}` can't show anything from here: {why}"),
                        "a daemon with a desktop shows it; one without uses the console",
                    ),
                }
            }
            Err(error) => {
                let fix = error.suggestion.as_deref().unwrap_or("see [notify] in vault-agent.toml");
                let others = workspace.settings.machines.as_ref().map_or("", |_| "; other machines deliver");
                Check::fail("notify", format!("`{kind}` can't be used{others}: {}", error.message), fix)
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
    let here = std::env::current_dir().unwrap_or_default().join(".claude");
    let files = [settings.clone(), here.join("settings.json"), here.join("settings.local.json")];
    let found: Vec<Option<String>> =
        files.iter().filter_map(|file| uncalled(workspace, &std::fs::read_to_string(file).ok()?)).collect();
    if found.iter().any(Option::is_none) {
        let folder = workspace.settings.paths.sessions();
        return vec![Check::ok("sessions", format!("coding agents' sessions are kept in {folder}"))];
    }
    let why = found.into_iter().flatten().next();
    let why = why.unwrap_or_else(|| format!("`{}` calls no hook", settings.display()));
    let detail = format!("`[hooks] archive` is on, but {why}");
    let fix = "`vault-agent hook install` (or `--project` in each project); `vault-agent hook archive FILE…` brings in transcripts";
    vec![Check::warn("sessions", detail, fix)]
}

/// Why the hooks in a host's settings don't reach this vault, if so; none where the settings have no hook of ours.
fn uncalled(workspace: &Workspace, text: &str) -> Option<Option<String>> {
    installed(text).ok().filter(|hooks| !hooks.is_empty())?;
    // A hook that names no vault takes that of the environment.
    let Some(caller) = caller(text).ok()? else { return Some(None) };
    let is_here = Path::new(&caller.vault).canonicalize().is_ok_and(|vault| vault == workspace.vault.root());
    Some(if !is_executable(&caller.program) {
        Some(format!("the hooks call `{}`, which is not there", caller.program))
    } else {
        (!is_here).then(|| format!("the hooks are those of the vault `{}`", caller.vault))
    })
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

/// The name of the check.
const MACHINES: &str = "machines";

pub(super) fn machines(workspace: &Workspace) -> Vec<Check> {
    let warn = |detail: String, fix: &str| Check::warn(MACHINES, detail, fix);
    let state = &workspace.dirs.state;
    let Some(settings) = &workspace.settings.machines else {
        return Identity::is_kept(state).then(|| lost_table(state)).into_iter().collect();
    };
    let mut checks = Vec::new();
    if let Err(error) = machine_name() {
        checks.push(Check::unusable(MACHINES, &error, ""));
    }
    let password = settings.password_file.as_deref();
    if let Err(error) = secret(ETCD_PASSWORD_VARIABLE, password, workspace.vault.root()) {
        checks.push(Check::unusable(MACHINES, &error, ""));
    }
    if let Some(host) = &workspace.settings.schedule.host {
        checks.push(warn(
            format!(
                "`[schedule] host` lets only `{host}` deliver, but `[machines]` shares this among several"
            ),
            "take `host` out of `[schedule]`, or the table `[machines]`",
        ));
    }
    if settings.vault.is_none() {
        checks.push(warn(
            "`[machines]` has no id of the vault, so another vault's store would not be recognised"
                .to_owned(),
            "run `vault-agent machines join` once",
        ));
    }
    let is_served = DaemonLock::holder(state).is_some();
    let report = DaemonStatus::read(state).filter(|_| is_served);
    match report.and_then(|report| report.machines) {
        Some(status) => checks.extend(seen(&status, settings.on_partition, workspace.clock.now())),
        None => checks.push(Check::ok(
            MACHINES,
            format!(
                "shared over {}; no daemon has asked the store, `vault-agent machines` does",
                settings.engine.as_str()
            ),
        )),
    }
    checks
}

/// The settings came without the table, or a person took it out: this machine can't know which.
fn lost_table(state: &Path) -> Check {
    let file = state.join(identity::FILE_NAME);
    Check::warn(
        MACHINES,
        "`[machines]` is not in the settings, though this machine took part: it delivers everything by itself",
        format!(
            "if other machines still share this vault, stop the daemon here until the settings have the table again; if \
             not, remove `{}`",
            file.display()
        ),
    )
}

fn seen(status: &MachinesStatus, on_partition: OnPartition, now: Timestamp) -> Vec<Check> {
    if let Some(problem) = &status.problem {
        let meanwhile = match on_partition {
            OnPartition::Wait => "delivers nothing",
            OnPartition::Tell => "delivers by itself (`on_partition`)",
        };
        let fix = format!("until this is fixed, this machine {meanwhile}; see docs/machines.md");
        return vec![Check::fail(MACHINES, problem, fix)];
    }
    let names: Vec<&str> = status.machines.iter().map(|one| one.name.as_str()).collect();
    let voice = status
        .voice
        .as_deref()
        .map_or("none is the voice yet".to_owned(), |name| format!("`{name}` is the voice"));
    let mut checks =
        vec![Check::ok(MACHINES, format!("over {}: {}; {voice}", status.engine, names.join(", ")))];
    for lagging in status.machines.iter().filter(|one| one.notes_behind && !one.is_off(now)) {
        checks.push(Check::warn(
            MACHINES,
            format!("the notes of `{}` differ from the voice's", lagging.name),
            "the sync tool brings them together: check it if this stays so",
        ));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use crate::machines::status::MachineStatus;

    #[test]
    fn what_keeps_a_machine_away_is_a_failure_and_lagging_notes_a_word() {
        let machine = MachineStatus {
            name: "laptop".to_owned(),
            seen: None,
            version: "1".to_owned(),
            clock_ms: 0,
            notes_behind: true,
            holds: false,
        };
        let mut status = MachinesStatus {
            engine: "git".to_owned(),
            ok: true,
            voice: Some("server".to_owned()),
            machines: vec![machine],
            ..MachinesStatus::default()
        };
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1);
        let outcomes = |status: &MachinesStatus| -> Vec<Severity> {
            seen(status, OnPartition::Wait, now).iter().map(|check| check.status).collect()
        };
        assert_eq!(outcomes(&status), [Severity::Ok, Severity::Warn]);
        status.machines[0].seen = Some(Timestamp::UNIX_EPOCH);
        assert_eq!(outcomes(&status), [Severity::Ok]);
        status.problem = Some("it is not reached".to_owned());
        for (on_partition, fix) in
            [(OnPartition::Wait, "delivers nothing"), (OnPartition::Tell, "delivers by itself")]
        {
            let check = &seen(&status, on_partition, now)[0];
            assert!(
                check.status == Severity::Fail && check.fix.as_deref().unwrap().contains(fix),
                "{check:?}"
            );
        }
    }
}
