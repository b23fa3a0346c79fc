//! `mcp-config`: each host's own format, with absolute paths, and a server that starts from it.

use crate::mcp::client::*;

#[test]
fn claude_code_is_told_how_to_start_soonest() {
    let vault = TestVault::new("");
    let command =
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude --mcp-config mcp-full.json --strict-mcp-config";
    vault.run(&["mcp-config", "full"]).ok().warns(command);
    let json = vault.json(&["mcp-config", "deliver"]);
    assert!(json["command"].as_str().unwrap().contains("--mcp-config mcp-deliver.json"));
    assert!(json["config"].as_str().unwrap().contains("\"deliver\""));
    assert_eq!(vault.run(&["mcp-config", "everything"]).code, 2);
    assert_eq!(vault.run(&["mcp-config", "full", "--host", "emacs"]).code, 2);
}

#[test]
fn the_printed_command_starts_a_server() {
    let vault = TestVault::new("");
    let run = vault.run(&["mcp-config", "deliver", "--host", "claude-desktop"]).ok();
    run.warns("put this into");
    let server = run.json()["mcpServers"]["vault-agent"].clone();
    assert!(Path::new(server["command"].as_str().unwrap()).is_absolute(), "{server}");
    let args = server["args"].to_string().replace("[VAULT]", &vault.root().to_string_lossy());
    let args: Vec<&str> = serde_json::from_str(&args).unwrap();
    let mut client = Client::silent(vault.command(&args));
    assert_eq!(client.initialize("host")["serverInfo"]["name"], "vault-agent");
    assert!(client.tools().iter().any(|tool| tool["name"] == "reminder_add"));
}

#[test]
fn other_servers_stand_beside_ours_where_they_are_asked_for() {
    let vault = TestVault::new(
        "//- /vault-agent.toml\n[[mcp]]\nname = \"web\"\ncommand = [\"npx\", \"x\"]\ntools = [\"look\", \"walk\"]\n\
         ask = [\"walk\"]\nenv = [\"WEB_KEY\"]\n\
         [[mcp]]\nname = \"far\"\nurl = \"https://x\"\ntools = [\"look\"]\nkey_file = \"~/k\"\nfor = [\"assistant\", \"routine:news\"]\n",
    );
    vault.run(&["mcp-config", "recall"]).ok().lacks("web");
    let run = vault.run(&["mcp-config", "recall", "--for", "assistant"]).ok();
    let config = &run.json()["mcpServers"];
    assert_eq!(config.as_object().unwrap().keys().collect::<Vec<_>>(), ["vault-agent", "web"]);
    assert_eq!(config["web"]["env"]["WEB_KEY"], "${WEB_KEY}");
    let told = ["--allowedTools mcp__web__look", "wants in its environment: WEB_KEY", "left out: `far`"];
    contains_all(&run.stderr, &told);
    let codex = vault.run(&["mcp-config", "recall", "--host", "codex", "--for", "assistant"]).ok();
    let config: toml::Table = codex.stdout.parse().unwrap();
    let web = json!(config["mcp_servers"]["web"]);
    assert_eq!(pick(&web, "enabled_tools env_vars"), json!([["look", "walk"], ["WEB_KEY"]]));
}

#[test]
fn each_host_names_a_variable_as_it_fills_it_in_or_is_told_what_to_put() {
    let vault = TestVault::new(
        "//- /vault-agent.toml\n[[mcp]]\nname = \"web\"\ncommand = [\"npx\", \"x\"]\ntools = [\"look\"]\n\
         env = [\"WEB_KEY\"]\n[[mcp]]\nname = \"far\"\nurl = \"https://x\"\ntools = [\"see\"]\nkey_env = \"FAR_KEY\"\n",
    );
    let config = |host: &str| {
        let run = vault.run(&["mcp-config", "recall", "--for", "assistant", "--host", host]).ok();
        (run.json(), run.stderr)
    };
    let (cursor, said) = config("cursor");
    assert_eq!(cursor["mcpServers"]["web"]["env"]["WEB_KEY"], "${env:WEB_KEY}");
    assert_eq!(cursor["mcpServers"]["far"]["headers"]["Authorization"], "Bearer ${env:FAR_KEY}");
    assert!(said.contains("turn on in the host's own list of tools only look"), "{said}");
    let (code, said) = config("vscode");
    assert_eq!(code["servers"]["web"]["env"]["WEB_KEY"], "${input:WEB_KEY}");
    assert_eq!(code["servers"]["far"]["headers"]["Authorization"], "Bearer ${input:FAR_KEY}");
    assert_eq!(pick(&code["inputs"], "0/id 1/id 2 0/password"), json!(["FAR_KEY", "WEB_KEY", null, true]));
    assert!(!said.contains("wants in its environment"), "{said}");
    let (desktop, said) = config("claude-desktop");
    assert_eq!(pick(&desktop, "mcpServers/web/env mcpServers/far"), json!([null, null]));
    let key = "write `\"env\": {\"WEB_KEY\": \"…\"}` with the values into `web`";
    contains_all(said, &["left out: `far`, which has a URL", key]);
}
