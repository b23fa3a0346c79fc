//! Checks the machines that share the vault, as the daemon last saw them. Nothing is asked over the network.

use std::path::Path;

use super::Check;
use crate::config::machine_name;
use crate::instance::{DaemonLock, DaemonStatus};
use crate::machines::identity::{self, Identity};
use crate::machines::status::MachinesStatus;
use crate::workspace::Workspace;

/// The name of the check.
const MACHINES: &str = "machines";

pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    let warn = |detail: String, fix: &str| Check::warn(MACHINES, detail, fix);
    let state = &workspace.dirs.state;
    let Some(settings) = &workspace.settings.machines else {
        return Identity::is_kept(state).then(|| lost_table(state)).into_iter().collect();
    };
    let mut checks = Vec::new();
    if let Err(error) = machine_name() {
        checks.push(Check::unusable(MACHINES, &error, ""));
    }
    if let Some(host) = &workspace.settings.schedule.host {
        checks.push(warn(
            format!("`[schedule] host` lets `{host}` alone tell, though several machines agree on it"),
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
        Some(status) => checks.extend(seen(&status)),
        None => checks.push(Check::ok(
            MACHINES,
            format!("shared over {}; `vault-agent machines` asks the store itself", settings.engine.as_str()),
        )),
    }
    checks
}

/// The settings came without the table, or a person took it out: this machine can't know which.
fn lost_table(state: &Path) -> Check {
    let file = state.join(identity::FILE_NAME);
    Check::warn(
        MACHINES,
        "`[machines]` is not in the settings, though this machine took part: it tells everything by itself",
        format!(
            "if other machines still share this vault, stop the daemon here until the settings have the table again; if \
             not, remove `{}`",
            file.display()
        ),
    )
}

fn seen(status: &MachinesStatus) -> Vec<Check> {
    if let Some(problem) = &status.problem {
        let fix = "until it is mended this machine tells nothing that is due; see docs/machines.md";
        return vec![Check::fail(MACHINES, problem, fix)];
    }
    let names: Vec<&str> = status.machines.iter().map(|one| one.name.as_str()).collect();
    let voice = status
        .voice
        .as_deref()
        .map_or("none is the voice yet".to_owned(), |name| format!("`{name}` is the voice"));
    let mut checks =
        vec![Check::ok(MACHINES, format!("over {}: {}; {voice}", status.engine, names.join(", ")))];
    for lagging in status.machines.iter().filter(|one| one.notes_behind) {
        checks.push(Check::warn(
            MACHINES,
            format!("the notes of `{}` are others than the voice's", lagging.name),
            "they are brought together by the sync tool: look at it if that stays so",
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
        let outcomes: Vec<Severity> = seen(&status).iter().map(|check| check.status).collect();
        assert_eq!(outcomes, [Severity::Ok, Severity::Warn]);
        status.problem = Some("it is not reached".to_owned());
        assert_eq!(seen(&status)[0].status, Severity::Fail);
    }
}
