//! Checks the assistant, its tools and its routines. No brain (language model) is asked, and no server started or
//! called. The checks:
//! - the confinement of `bash`;
//! - the brains' programs, addresses, keys, cooldowns, budgets and prices;
//! - the programs, variables and keys of other MCP servers (`[[mcp]]`);
//! - the notes and key files of skills;
//! - routines: their notes, undelivered answers, and the brains, skills and servers that they name.

use super::{Check, Repair};
use crate::agent::skills::Skills;
use crate::agent::{self, brain_clients};
use crate::config::{BashMode, BrainKind, McpServer, ToolGroup, address_problem, is_executable, secret};
use crate::format::Finding;
use crate::reminders::PlacedFinding;
use crate::workspace::Workspace;

pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    let mut checks = brains(workspace);
    checks.extend(workspace.settings.mcp.iter().map(|server| mcp_server(workspace, server)));
    checks.extend(routines(workspace));
    checks.extend(key_files(workspace));
    checks
}

/// The files of `[skill.NAME] key_files` that can't be used.
fn key_files(workspace: &Workspace) -> impl Iterator<Item = Check> {
    let all =
        workspace.settings.skills.iter().flat_map(|(name, skill)| {
            skill.key_files.iter().map(move |(variable, file)| (name, variable, file))
        });
    all.filter_map(|(name, variable, file)| {
        let error = secret(variable, Some(file), workspace.vault.root()).err()?;
        let fix = error.suggestion.as_deref().unwrap_or("the skill can't be used until it is fixed");
        Some(Check::fail("skills", format!("{name}: {error}"), fix))
    })
}

fn brains(workspace: &Workspace) -> Vec<Check> {
    let fail = |detail: String, fix: &str| Check::fail("brain", detail, fix);
    let warn = |detail: String, fix: &str| Check::warn("brain", detail, fix);
    let prepared = brain_clients::prepare(&workspace.settings, workspace.vault.root());
    let now = workspace.clock.now();
    let mut checks = Vec::new();
    if workspace.settings.assistant.tools.contains(&ToolGroup::Bash) {
        let enforced = crate::confine::enforcement();
        if !enforced.is_whole() {
            let weak: Vec<String> =
                enforced.weak().map(|rule| format!("{}: {}", rule.name, rule.detail)).collect();
            let (what, fix) = match workspace.settings.assistant.bash {
                BashMode::Ask => ("every command is asked about", "take `bash` out of `[assistant] tools`"),
                BashMode::Confined => ("it is off", "set `[assistant] bash = \"ask\"`"),
            };
            let weak = weak.join("; ");
            let detail = format!("bash: this machine can't confine it wholly, so {what} ({weak})");
            checks.push(warn(detail, &format!("install what is missing, or {fix}")));
        }
    }
    for (listed, brain) in agent::brains::listed(workspace).into_iter().zip(&prepared) {
        let name = &listed.name;
        let program = brain.settings.command().into_iter().next();
        if let Some(program) = program.filter(|program| !is_executable(program)) {
            checks.push(fail(
                format!("{name}: the program `{program}` is not there"),
                "install it, or say where it is: `command = [\"/path/to/it\"]`",
            ));
        } else if let Some(wrong) = address_problem(&brain.url).filter(|_| !brain.url.is_empty()) {
            checks.push(fail(format!("{name}: {wrong}"), "fix its `url` in vault-agent.toml"));
        } else if let Some(problem) = &brain.problem {
            let detail = format!("{name}: {problem}");
            let fix = "set the key where the program runs, or a `key_file` that only you can read";
            checks.push(if brain.lacks_key() { fail(detail, fix) } else { warn(detail, fix) });
        } else if !listed.ok && listed.class.is_none() {
            let fix =
                "it is in use again after midnight; raise its `day_tokens` or `day_usd` if that is too late";
            checks.push(warn(format!("{name}: {}", listed.state(now)), fix));
        } else if !listed.ok {
            let fix = format!(
                "test it with `vault-agent brain test {name}`; clear the failure with `vault-agent brain reset {name}`"
            );
            let check = warn(format!("{name}: {}", listed.state(now)), &fix);
            checks.push(check.fixed_by(Repair::ForgetFailure(name.clone())));
        } else if listed.fails() {
            let fix = format!("see what it answers: `vault-agent brain test {name}`");
            let detail = format!("{name}: {}", listed.state(now));
            checks.push(match listed.last_ok {
                None => fail(detail, &fix),
                Some(_) => warn(detail, &fix),
            });
        } else if is_open(&listed.url) {
            let detail = format!("{name}: questions and the key go to {} in the clear", listed.url);
            checks.push(warn(detail, "use `https://`"));
        } else {
            let detail = format!("{name}: {} at {}, {}", listed.model, listed.url, listed.state(now));
            checks.push(Check::ok("brain", detail));
        }
        let in_usd = workspace.settings.assistant.day_usd.or(brain.settings.day_usd).is_some();
        if in_usd
            && brain.settings.price.is_none()
            && brain.settings.kind != BrainKind::ClaudeCode
            && !is_private_address(&listed.url)
        {
            let detail = format!("{name}: `day_usd` bounds what is spent, and this brain has no `price`");
            checks.push(warn(detail, "add `price = { input = …, output = … }` to it"));
        }
    }
    checks
}

/// Whether it lies in the open between here and a server elsewhere.
fn is_open(url: &str) -> bool {
    url.starts_with("http://") && !is_private_address(url)
}

/// Whether the server is on this machine or in a private network.
fn is_private_address(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    match host.parse() {
        Ok(std::net::IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(std::net::IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        Err(_) => host == "localhost" || !host.contains('.') || host.ends_with(".local"),
    }
}

fn mcp_server(workspace: &Workspace, server: &McpServer) -> Check {
    let fail = |detail: String, fix: &str| Check::fail("mcp", detail, fix);
    let ok = |detail: String| Check::ok("mcp", detail);
    let name = &server.name;
    if let Some(program) = server.command.first().filter(|program| !is_executable(program)) {
        return fail(
            format!("{name}: the program `{program}` is not there"),
            "install it, or say where it is: `command = [\"/path/to/it\"]`",
        );
    }
    let is_unset = |variable: &&String| std::env::var_os(variable.as_str()).is_none();
    if let Some(variable) = server.env.iter().find(is_unset) {
        return fail(
            format!("{name}: the environment variable `{variable}` is not set"),
            "set it where the program runs, or take it out of `env`",
        );
    }
    // Its arguments and the path of an address aren't shown: a secret may stand there, against all advice.
    let Some(url) = &server.url else {
        return ok(format!("{name}: `{}`, {}", server.command[0], tools(server)));
    };
    if server.key_env.is_some() || server.key_file.is_some() {
        let variable = server.key_env.as_deref().unwrap_or_default();
        let fix = "set the key where the program runs, or a `key_file` that only you can read";
        match secret(variable, server.key_file.as_deref(), workspace.vault.root()) {
            Ok(Some(_)) => {}
            Ok(None) => return fail(format!("{name}: `{variable}` is not set"), fix),
            Err(error) => return fail(format!("{name}: {error}"), fix),
        }
    }
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let Some(host) = host.filter(|host| !host.is_empty()) else {
        return fail(format!("{name}: its `url` names no server"), "fix it in vault-agent.toml");
    };
    if is_open(url) {
        let detail = format!("{name}: what is asked goes to {host} in the clear");
        return Check::warn("mcp", detail, "use `https://`");
    }
    ok(format!("{name}: {host}, {}", tools(server)))
}

fn tools(server: &McpServer) -> String {
    match server.tools.len() {
        1 => "1 tool may be used".to_owned(),
        count => format!("{count} tools may be used"),
    }
}

/// A warning for each answer of a routine that can't be delivered, for each problem of a skill or a routine's note, and
/// for each brain, skill and MCP server that a routine names and that isn't there.
fn routines(workspace: &Workspace) -> Vec<Check> {
    let Ok(notes) = crate::routines::read_all(workspace) else { return Vec::new() };
    let settings = &workspace.settings;
    let skills = Skills::of(workspace).list().unwrap_or_default();
    let undelivered = |one: &crate::routines::ListedRoutine| {
        let detail = format!("{}: {}", one.name, one.undelivered()?);
        let fix = "fix that: the run is retried each minute; until then no other run of the routine begins";
        Some(Check::warn("routines", detail, fix))
    };
    let listed = crate::routines::list(workspace).unwrap_or_default();
    let mut checks: Vec<Check> = listed.iter().filter_map(undelivered).collect();
    for PlacedFinding { path, line, reason, suggestion, .. } in skills.iter().flat_map(|one| &one.problems) {
        checks.push(Check::warn("skills", format!("{path}:{line}: {reason}"), suggestion.as_str()));
    }
    for note in notes {
        let is_off = note.routine.as_ref().is_none_or(|routine| !routine.enabled);
        for Finding { line, reason, suggestion, .. } in note.findings.iter().filter(|_| is_off) {
            let detail = format!("{}:{line}: {reason}", note.path);
            checks.push(Check::warn("routines", detail, suggestion.as_str()));
        }
        let Some(routine) = note.routine else { continue };
        let mut warn = |what: &str, name: &str, fix: &str| {
            let detail = format!("{}: it names the {what} `{name}`, and there is none", note.path);
            checks.push(Check::warn("routines", detail, fix));
        };
        for name in routine.brain.iter().filter(|name| settings.brains.iter().all(|one| one.name != **name)) {
            warn("brain", name, "name one of `vault-agent brain list`; until then the chain is asked");
        }
        for name in routine.skills.iter().filter(|name| skills.iter().all(|one| one.folder != **name)) {
            let fix = "name one of `vault-agent skill list`; until then the routine goes without it";
            warn("skill", name, fix);
        }
        for name in routine.mcp.iter().filter(|name| settings.mcp.iter().all(|one| one.name != **name)) {
            let fix = "add it as `[[mcp]]` to the settings; until then the routine goes without it";
            warn("MCP server", name, fix);
        }
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_address_is_told() {
        for url in ["https://api.openai.com", "http://127.0.0.1:8080/v1", "http://[::1]:11434"] {
            assert!(!is_open(url), "{url}");
        }
        assert!(
            is_open("http://example.org") && !is_open("http://nas:11434") && !is_open("http://192.168.1.5")
        );
    }
}
