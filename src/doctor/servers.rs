//! Checks the programs, variables and keys of other MCP servers (`[[mcp]]`), without starting or calling any.

use super::Check;
use super::brains::{is_executable, is_open};
use crate::config::{McpServer, secret};
use crate::workspace::Workspace;

pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    workspace.settings.mcp.iter().map(|server| check(workspace, server)).collect()
}

fn check(workspace: &Workspace, server: &McpServer) -> Check {
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
        return fail(format!("{name}: its `url` names no server"), "mend it in vault-agent.toml");
    };
    if is_open(url) {
        return Check::warn(
            "mcp",
            format!("{name}: what is asked goes to {host} in the clear"),
            "use `https://`",
        );
    }
    ok(format!("{name}: {host}, {}", tools(server)))
}

fn tools(server: &McpServer) -> String {
    match server.tools.len() {
        1 => "1 tool may be used".to_owned(),
        count => format!("{count} tools may be used"),
    }
}
