//! Hooks without a process: the host calls a tool of the MCP server that it has anyway.

use crate::mcp::client::Client;
use crate::support::prelude::*;

#[test]
fn a_prompt_asked_over_the_server_gets_what_the_command_gives() {
    let vault = TestVault::new("//- /MEMORY.md\n## Tea\n- The walrus of the north garden likes oolong tea\n");
    let prompt = "Which tea does the walrus of the north garden like?";
    let mut client = Client::silent(vault.command(&["mcp"]));
    client.initialize("claude-code");
    let listed = client.result("tools/list", json!({})).to_string();
    assert!(listed.contains("memory_search"));
    assert!(!listed.contains("vault_agent_hook"), "the host's, not the model's");
    let mut hook = |event: &str, prompt: &str| {
        let arguments = json!({
            "event": event, "session_id": "s", "transcript_path": "", "cwd": vault.home(), "prompt": prompt,
        });
        serde_json::from_str::<Value>(client.call("vault_agent_hook", arguments).ok().text()).unwrap()
    };
    let given = hook("user-prompt-submit", prompt);
    assert!(given["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("oolong"), "{given}");
    // Small talk, and what is no event of a tool's, gets nothing; never an error.
    assert_eq!(hook("user-prompt-submit", "thanks"), json!({}));
    assert_eq!(hook("session-start", "x"), json!({}));
    assert_eq!(client.close().0, 0);
    // A server of tools that only read gives no hook anything.
    let mut reader = Client::silent(vault.command(&["mcp", "--tools", "recall"]));
    reader.initialize("claude-code");
    let arguments = json!({ "event": "user-prompt-submit", "prompt": prompt });
    reader.fails("tools/call", json!({ "name": "vault_agent_hook", "arguments": arguments }), -32602);
    // The command says the same to another conversation.
    let message = json!({ "session_id": "t", "cwd": vault.home(), "prompt": prompt }).to_string();
    let printed = vault.run_with(&["hook", "user-prompt-submit"], &message).ok().stdout;
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), given);
}

#[test]
fn the_tool_is_used_where_the_host_has_the_server_and_is_new_enough() {
    let mut vault = TestVault::new("");
    let bin = vault.home().join("bin");
    let claude = |version: &str| {
        write_program(bin.join("claude"), &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
    };
    vault.env("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    let root = vault.root().canonicalize().unwrap();
    let server = json!({ "command": "/opt/vault-agent", "args": ["--vault", root, "mcp"] });
    let settings = vault.home().join(".claude/settings.json");
    let kind = |args: &[&str]| {
        let _ = vault.run(&[&["hook", "install"][..], args].concat()).ok();
        let all: Value = serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
        all["hooks"]["UserPromptSubmit"][0]["hooks"][0]["type"].as_str().unwrap().to_owned()
    };
    claude("2.1.197");
    assert_eq!(kind(&[]), "command", "the host has no server of ours");
    let known = json!({ "mcpServers": { "notes": server } }).to_string();
    std::fs::write(vault.home().join(".claude.json"), known).unwrap();
    assert_eq!(kind(&[]), "mcp_tool");
    assert_eq!(kind(&["--no-mcp"]), "command");
    claude("2.0.14");
    assert_eq!(kind(&[]), "command", "it is too old");
    claude("2.2.0");
    assert_eq!(kind(&[]), "mcp_tool");
    let _ = vault.run(&["hook", "uninstall"]).ok();
    assert!(!settings.exists());
}
