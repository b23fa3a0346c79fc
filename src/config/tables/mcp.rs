//! Reads `[[mcp]]`: other MCP servers that the assistant and routines may use.
//!
//! A server is a program that is started or an address that is called. Only the tools that its table names are ever
//! used. A server that this program starts gets only PATH, HOME, LANG and the environment variables that the table
//! names. The table holds no secret.

use serde::Deserialize;

use super::{Validation, ensure, is_web, wrong};

/// The assistant, in `for`.
const ASSISTANT: &str = "assistant";

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// Its name in calls, approvals and logs.
    pub name: String,
    /// The program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Its address, where it is one that runs elsewhere.
    pub url: Option<String>,
    /// The tools that may be used.
    pub tools: Vec<String>,
    /// Its users: `assistant`, `routine:NAME`.
    #[serde(rename = "for", default = "for_assistant")]
    pub used_by: Vec<String>,
    /// The tools that are asked about each time; `*` for all.
    #[serde(default)]
    pub ask: Vec<String>,
    /// Whether each call is asked about in a turn that has read untrusted text, what this server says among it.
    #[serde(default = "yes")]
    pub ask_after_reading: bool,
    /// The environment variables that its program is given beside PATH, HOME and LANG.
    #[serde(default)]
    pub env: Vec<String>,
    /// The environment variable that holds the key of its address.
    pub key_env: Option<String>,
    /// A file with that key, outside the vault, that only its owner can read.
    pub key_file: Option<String>,
}

fn for_assistant() -> Vec<String> {
    vec![ASSISTANT.to_owned()]
}

fn yes() -> bool {
    true
}

impl McpServer {
    /// Whether `purpose` (`assistant`, `routine:NAME`) may use it.
    pub fn is_for(&self, purpose: &str) -> bool {
        self.used_by.iter().any(|one| one == purpose)
    }

    /// Whether a tool may be used.
    pub fn allows(&self, tool: &str) -> bool {
        self.tools.iter().any(|one| one == tool)
    }

    /// Whether a tool is asked about.
    pub fn asks(&self, tool: &str) -> bool {
        self.ask.iter().any(|one| one == tool || one == "*")
    }
}

/// Whether a text names a user of servers: `assistant`, `routine:NAME`.
pub fn is_user(text: &str) -> bool {
    text == ASSISTANT || text.strip_prefix("routine:").is_some_and(|name| !name.is_empty())
}

/// Checks the servers.
pub(in crate::config) fn validate(servers: &[McpServer]) -> Validation {
    for (index, server) in servers.iter().enumerate() {
        validate_one(&format!("mcp[{index}]"), server, &servers[..index])?;
    }
    Ok(())
}

/// Checks the server at `key`; `before` are those above it.
fn validate_one(key: &str, server: &McpServer, before: &[McpServer]) -> Validation {
    let is_plain = |name: &str, more: &str| {
        (1..=80).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let ensure = |fine: bool, message: String, hint: &str| ensure(fine, key, message, hint);
    let name = &server.name;
    ensure(
        is_plain(name, "-_") && name.len() <= 40 && name != "vault-agent",
        format!("`{}` can't be the name of an MCP server", name.escape_debug()),
        "use up to 40 letters, digits, `-` and `_`, and another name than `vault-agent`",
    )?;
    let is_first = before.iter().all(|other| other.name != *name);
    ensure(is_first, format!("two MCP servers have the name `{name}`"), "name each server once")?;
    ensure(
        server.command.is_empty() != server.url.is_none(),
        format!("the MCP server `{name}` needs either a `command` or a `url`"),
        "write `command = [\"npx\", \"-y\", \"@playwright/mcp\"]`, or `url = \"https://…/mcp\"`",
    )?;
    ensure(
        server.command.first().is_none_or(|program| !program.trim().is_empty()),
        format!("the `command` of MCP server `{name}` names no program"),
        "name the program first",
    )?;
    ensure(
        server.url.as_deref().is_none_or(is_web),
        format!("the `url` of MCP server `{name}` is no web address"),
        "begin it with `https://`, or `http://` for a server on this machine",
    )?;
    ensure(
        !server.tools.is_empty() && server.tools.iter().all(|tool| is_plain(tool, "-_./")),
        format!("`tools` of MCP server `{name}` must name the tools that may be used"),
        "name each, as in `tools = [\"browser_navigate\", \"browser_snapshot\"]`",
    )?;
    if let Some(tool) = server.ask.iter().find(|tool| *tool != "*" && !server.allows(tool)) {
        let tool = tool.escape_debug();
        let message = format!("`ask` of MCP server `{name}` names `{tool}`, which isn't in its `tools`");
        return wrong(key, message, "name a tool of `tools`, or `*` for all");
    }
    ensure(
        !server.used_by.is_empty() && server.used_by.iter().all(|user| is_user(user)),
        format!("`for` of MCP server `{name}` must say who may use it"),
        "write `for = [\"assistant\"]`, or `\"routine:NAME\"`",
    )?;
    ensure(
        server.env.iter().chain(&server.key_env).all(|variable| is_plain(variable, "_")),
        format!("MCP server `{name}` names an environment variable that is none"),
        "give names such as `GITHUB_TOKEN`; if a secret stands there, take it out and renew it",
    )?;
    ensure(
        server.url.is_some() || server.key_env.is_none() && server.key_file.is_none(),
        format!("MCP server `{name}` has a key, and no `url` to bring it to"),
        "give a program its secrets by `env`",
    )?;
    ensure(
        server.url.is_none() || server.env.is_empty(),
        format!("MCP server `{name}` has `env`, and no `command` to give it to"),
        "give the key of an address by `key_env` or `key_file`",
    )
}

#[cfg(test)]
mod tests {
    use crate::config::Settings;

    fn parse(text: &str) -> Result<Settings, String> {
        Settings::parse(&format!("[[mcp]]\n{text}\n")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_is_read() {
        let settings =
            parse("name = \"web\"\ncommand = [\"x\"]\ntools = [\"a\", \"b\"]\nask = [\"b\"]").unwrap();
        let server = &settings.mcp[0];
        assert!(server.is_for("assistant") && !server.is_for("routine:x") && server.ask_after_reading);
        assert!(server.allows("a") && !server.allows("c") && server.asks("b") && !server.asks("a"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says) in [
            ("name = \"a.b\"\ncommand = [\"x\"]\ntools = [\"a\"]", "can't be the name"),
            ("name = \"a\"\ntools = [\"a\"]", "either a `command` or a `url`"),
            (
                "name = \"a\"\ncommand = [\"x\"]\nurl = \"https://x\"\ntools = [\"a\"]",
                "either a `command` or a `url`",
            ),
            ("name = \"a\"\nurl = \"x\"\ntools = [\"a\"]", "no web address"),
            ("name = \"a\"\ncommand = [\"x\"]\ntools = []", "must name the tools"),
            ("name = \"a\"\ncommand = [\"x\"]\ntools = [\"*\"]", "must name the tools"),
            ("name = \"a\"\ncommand = [\"x\"]\ntools = [\"a\"]\nask = [\"b\"]", "names `b`"),
            ("name = \"a\"\ncommand = [\"x\"]\ntools = [\"a\"]\nfor = [\"me\"]", "who may use it"),
            ("name = \"a\"\ncommand = [\"x\"]\ntools = [\"a\"]\nenv = [\"A=b\"]", "environment variable"),
            ("name = \"a\"\ncommand = [\"x\"]\ntools = [\"a\"]\nkey_env = \"K\"", "no `url`"),
            ("name = \"a\"\nurl = \"https://x\"\ntools = [\"a\"]\nenv = [\"K\"]", "no `command`"),
            ("name = \"a\"\ncommand = [\"x\"]\ntools = [\"a\"]\nsurprise = 1", "unknown key"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
