//! Writes `[[mcp]]` as configuration for programs that start MCP servers themselves. Pure.
//!
//! The configuration holds no secret: it names environment variables ([`variables`]). The program reads their values
//! from its environment, or asks a person for them. A server whose key lies in a file is left out.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::tables::mcp::McpServer;

pub use super::tables::mcp::is_user;

/// The servers of `purpose` that such a program can be told of.
pub fn servers_for<'a>(servers: &'a [McpServer], purpose: &'a str) -> impl Iterator<Item = &'a McpServer> {
    servers.iter().filter(move |server| server.is_for(purpose) && server.key_file.is_none())
}

/// The environment variables that a server needs.
pub fn variables(server: &McpServer) -> impl Iterator<Item = &str> {
    server.env.iter().chain(&server.key_env).map(String::as_str)
}

/// The server and the tool among these that the name `mcp__SERVER__TOOL` means. Such programs write `_` for every
/// character but letters, digits, `-` and `_`.
pub fn resolve_tool_name<'a>(servers: &'a [McpServer], name: &'a str) -> Option<(&'a str, &'a str)> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let said = |server: &'a McpServer| {
        let tool = name.strip_prefix("mcp__")?.strip_prefix(server.name.as_str())?.strip_prefix("__")?;
        let known = server.tools.iter().find(|known| known.chars().map(plain).eq(tool.chars()));
        Some((known.is_some(), (server.name.as_str(), known.map_or(tool, String::as_str))))
    };
    let all: Vec<_> = servers.iter().filter_map(said).collect();
    all.iter().find(|(is_known, _)| *is_known).or(all.first()).map(|(_, meant)| *meant)
}

/// How a program's JSON names a variable of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableSyntax {
    /// `${NAME}`: Claude Code.
    Dollar,
    /// `${env:NAME}`: Cursor.
    Env,
    /// `${input:NAME}`, asked for once and kept by the program: Visual Studio Code.
    Input,
    /// Not at all; a server that needs a variable is left out: Claude Desktop.
    Never,
}

impl VariableSyntax {
    fn text(self, name: &str) -> Option<String> {
        let of = match self {
            Self::Dollar => "",
            Self::Env => "env:",
            Self::Input => "input:",
            Self::Never => return None,
        };
        Some(format!("${{{of}{name}}}"))
    }
}

/// The questions of Visual Studio Code before it starts these servers: its `inputs`.
pub fn inputs(servers: &[&McpServer]) -> Vec<Value> {
    let names: BTreeSet<&str> = servers.iter().flat_map(|server| variables(server)).collect();
    let input =
        |name: &str| json!({"type": "promptString", "id": name, "description": name, "password": true});
    names.into_iter().map(input).collect()
}

impl McpServer {
    /// The server as an entry of `mcpServers`, or of `servers`, for a program that starts it.
    pub fn for_json(&self, filled: VariableSyntax) -> Value {
        match &self.url {
            Some(url) => {
                let mut entry = json!({"type": "http", "url": url});
                if let Some(key) = self.key_env.as_deref().and_then(|key| filled.text(key)) {
                    entry["headers"] = json!({"Authorization": format!("Bearer {key}")});
                }
                entry
            }
            None => {
                let named =
                    self.env.iter().filter_map(|name| Some((name.clone(), json!(filled.text(name)?))));
                let env: Map<String, Value> = named.collect();
                let (program, arguments) = program(&self.command);
                let mut entry = json!({"type": "stdio", "command": program, "args": arguments});
                if !env.is_empty() {
                    entry["env"] = Value::Object(env);
                }
                entry
            }
        }
    }

    /// The tools that Claude Code may use without asking, as `--allowedTools` takes them; any other is asked about.
    pub fn allowed_tools(&self) -> Vec<String> {
        let free = self.tools.iter().filter(|tool| !self.asks(tool));
        free.map(|tool| format!("mcp__{}__{tool}", self.name)).collect()
    }

    /// As the table `mcp_servers.NAME` of Codex.
    pub fn for_codex(&self) -> toml::Table {
        let list = |items: &[String]| toml::Value::Array(items.iter().cloned().map(Into::into).collect());
        let mut entry = toml::Table::new();
        match &self.url {
            Some(url) => {
                entry.insert("url".to_owned(), url.clone().into());
                if let Some(key) = &self.key_env {
                    entry.insert("bearer_token_env_var".to_owned(), key.clone().into());
                }
            }
            None => {
                let (program, arguments) = program(&self.command);
                entry.insert("command".to_owned(), program.into());
                entry.insert("args".to_owned(), list(arguments));
                if !self.env.is_empty() {
                    entry.insert("env_vars".to_owned(), list(&self.env));
                }
            }
        }
        entry.insert("enabled_tools".to_owned(), list(&self.tools));
        entry
    }
}

/// A command's program and its arguments.
pub fn program(command: &[String]) -> (&str, &[String]) {
    command.split_first().map_or(("", &[]), |(program, arguments)| (program.as_str(), arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    const SERVERS: &str = r#"
[[mcp]]
name = "web"
command = ["npx", "-y", "@playwright/mcp"]
tools = ["browser_navigate", "browser_click"]
ask = ["browser_click"]
env = ["DISPLAY"]
for = ["assistant", "routine:news"]

[[mcp]]
name = "far"
url = "https://example.org/mcp"
tools = ["look"]
key_env = "FAR_KEY"

[[mcp]]
name = "filed"
url = "https://example.org/mcp"
tools = ["look"]
key_file = "~/key"
"#;

    #[test]
    fn each_program_is_told_in_its_own_words_and_no_secret() {
        let servers = Settings::parse(SERVERS).unwrap().mcp;
        let names = |purpose| servers_for(&servers, purpose).map(|one| one.name.as_str()).collect::<Vec<_>>();
        assert_eq!((names("assistant"), names("routine:news")), (vec!["web", "far"], vec!["web"]));
        let all: Vec<String> =
            servers[..2].iter().map(|one| one.for_json(VariableSyntax::Dollar).to_string()).collect();
        insta::assert_snapshot!(all.join("\n"), @r#"
        {"args":["-y","@playwright/mcp"],"command":"npx","env":{"DISPLAY":"${DISPLAY}"},"type":"stdio"}
        {"headers":{"Authorization":"Bearer ${FAR_KEY}"},"type":"http","url":"https://example.org/mcp"}
        "#);
        let others = [VariableSyntax::Env, VariableSyntax::Input, VariableSyntax::Never];
        let shown = others.map(|filled| [0, 1].map(|at: usize| servers[at].for_json(filled)));
        assert_eq!(
            shown.each_ref().map(|[web, far]| (&web["env"]["DISPLAY"], &far["headers"]["Authorization"])),
            [
                (&json!("${env:DISPLAY}"), &json!("Bearer ${env:FAR_KEY}")),
                (&json!("${input:DISPLAY}"), &json!("Bearer ${input:FAR_KEY}")),
                (&Value::Null, &Value::Null),
            ]
        );
        assert_eq!(servers[0].allowed_tools(), ["mcp__web__browser_navigate"]);
        insta::assert_snapshot!(servers[0].for_codex(), @r#"
        args = ["-y", "@playwright/mcp"]
        command = "npx"
        enabled_tools = ["browser_navigate", "browser_click"]
        env_vars = ["DISPLAY"]
        "#);
        insta::assert_snapshot!(servers[1].for_codex(), @r#"
        bearer_token_env_var = "FAR_KEY"
        enabled_tools = ["look"]
        url = "https://example.org/mcp"
        "#);
        for (name, meant) in [
            ("mcp__web__browser_click", Some(("web", "browser_click"))),
            ("mcp__web__other", Some(("web", "other"))),
            ("mcp__webs__browser_click", None),
            ("browser_click", None),
        ] {
            assert_eq!(resolve_tool_name(&servers, name), meant, "{name}");
        }
        assert_eq!(servers.iter().flat_map(variables).collect::<Vec<_>>(), ["DISPLAY", "FAR_KEY"]);
    }
}
