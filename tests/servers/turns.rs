//! Whole turns that use a server, by the program itself.

use serde_json::json;

use crate::models::{ModelServer, Reply};
use crate::servers::rig::{children_of, lives, scripted};
use crate::support::processes::python;
use crate::support::{TestVault, until};

fn vault(server: &ModelServer, mode: &str) -> TestVault {
    let vault = TestVault::new("");
    let pids = vault.home().join("pids");
    let brain = server.brain("a", "chat", "");
    vault.write("vault-agent.toml", format!("{brain}{}", scripted(mode, &pids, "")));
    vault
}

fn pids(vault: &TestVault) -> Vec<u32> {
    let text = std::fs::read_to_string(vault.home().join("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[test]
fn a_brain_looks_and_calls_and_a_server_that_is_down_changes_no_byte() {
    if !python() {
        return;
    }
    let mut tools = Vec::new();
    for mode in ["good", "exit"] {
        let (_runtime, server) = ModelServer::alone();
        server.script(vec![Reply::tool("mcp_tools", json!({"server": "web"})), Reply::text("Done.")]);
        let vault = vault(&server, mode);
        let asked = vault.json(&["ask", "look!"]);
        let status = vault.run(&["status"]).stdout;
        let json = vault.run(&["--json", "status"]).json();
        assert_eq!(asked["answer"], "Done.");
        assert_eq!(asked["tools"][0]["ok"], mode == "good");
        assert!(!pids(&vault).iter().any(|pid| lives(*pid)));
        let result = &server.requests()[1].results()[0];
        if mode == "good" {
            assert!(result.contains("look: Does look."), "{result}");
            assert!(status.contains("mcp       web: answered"), "{status}");
            assert!(json["mcp"][0]["last_ok"].is_string());
        } else {
            assert!(result.contains("can't be used in this turn") && result.contains("status 3"), "{result}");
            assert!(status.contains("mcp       web: failed") && status.contains("status 3"), "{status}");
        }
        let body = server.requests()[0].body["tools"].to_string();
        tools.push(body.replace(&server.url(), ""));
    }
    assert_eq!(tools[0], tools[1]);
    assert!(tools[0].contains("web (look, walk)"), "{}", tools[0]);
}

#[test]
fn nothing_outlives_a_program_that_is_killed() {
    if !python() {
        return;
    }
    let (_runtime, server) = ModelServer::alone();
    server.respond(|_| Reply::tool("mcp_call", json!({"server": "web", "tool": "look"})));
    let vault = vault(&server, "stuck");
    let mut program = vault.command(&["ask", "look!"]).spawn().unwrap();
    until("the call reaches the server", || pids(&vault).len() == 2);
    let server = pids(&vault)[0];
    assert!(lives(server));
    program.kill().unwrap();
    program.wait().unwrap();
    until("the server is gone", || !lives(server));
    let state = vault.state();
    let place = blake3::hash(state.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned();
    until("all are gone", || children_of(&place) == 0);
}
