//! Finds our MCP server in Claude Code's settings, so that its hooks call the server instead of starting a process.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The first version that calls tools from hooks.
const SINCE: [u64; 3] = [2, 1, 118];

/// The server's name at the host; none where the host is too old, isn't there, or doesn't have the server of this
/// vault. `config` is the host's own folder; `project` is given where a project's own servers count too.
pub(in crate::cli) fn name(vault: &str, config: &Path, project: Option<&Path>) -> Option<String> {
    let home = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    let file =
        if home.is_some() { config.join(".claude.json") } else { config.with_file_name(".claude.json") };
    let all = read(&file);
    let own = project.and_then(Path::to_str).map(|project| all["projects"][project]["mcpServers"].clone());
    let shared = project.map(|project| read(&project.join(".mcp.json"))["mcpServers"].clone());
    let places = [own, shared, Some(all["mcpServers"].clone())];
    let found = places.iter().flatten().find_map(|servers| find_our_server(servers, vault))?;
    host_calls_tools().then_some(found)
}

fn read(file: &Path) -> Value {
    std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null)
}

/// The first server that is ours, for this vault.
fn find_our_server(servers: &Value, vault: &str) -> Option<String> {
    let is_ours = |server: &Value| {
        let program = server["command"].as_str().and_then(|command| command.rsplit(['/', '\\']).next());
        let words: Vec<&str> =
            server["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let named = words.windows(2).find(|pair| pair[0] == "--vault").map(|pair| pair[1]);
        let named = named.or_else(|| server["env"]["VAULT_AGENT_VAULT"].as_str());
        let is_here = named.is_some_and(|named| {
            named == vault || Path::new(named).canonicalize().is_ok_and(|named| named == Path::new(vault))
        });
        matches!(program, Some("vault-agent" | "vault-agent.exe")) && words.contains(&"mcp") && is_here
    };
    servers.as_object()?.iter().find(|(_, server)| is_ours(server)).map(|(name, _)| name.clone())
}

/// Whether the host that is installed calls tools from hooks.
fn host_calls_tools() -> bool {
    let output = Command::new("claude").arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    output.is_ok_and(|output| {
        version(&String::from_utf8_lossy(&output.stdout)).is_some_and(|version| version >= SINCE)
    })
}

/// `2.1.197 (Claude Code)`.
fn version(said: &str) -> Option<[u64; 3]> {
    let mut parts = said.split_whitespace().next()?.splitn(3, '.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn our_server_is_known_by_its_program_and_vault() {
        let server = |command: &str, args: Value| json!({ "a": { "command": "npx", "args": [] }, "notes": { "command": command, "args": args } });
        let args = json!(["--vault", "/v", "mcp"]);
        assert_eq!(
            find_our_server(&server("/opt/vault-agent", args.clone()), "/v").as_deref(),
            Some("notes")
        );
        assert_eq!(find_our_server(&server("/opt/vault-agent", args.clone()), "/other"), None);
        assert_eq!(find_our_server(&server("/opt/other", args), "/v"), None);
        assert_eq!(find_our_server(&server("vault-agent", json!(["mcp"])), "/v"), None);
        assert_eq!(find_our_server(&Value::Null, "/v"), None);
    }

    #[test]
    fn versions_are_read_and_compared() {
        assert!(version("2.1.197 (Claude Code)\n").unwrap() >= SINCE);
        assert!(version("2.0.999").unwrap() < SINCE && version("3.0.0").unwrap() >= SINCE);
        assert_eq!((version("unknown"), version("2.1"), version("")), (None, None, None));
    }
}
