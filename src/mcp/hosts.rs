//! Makes the configuration with which a host (Claude Code, Claude Desktop, …) starts vault-agent's MCP server. Pure.
//!
//! A host, a purpose, the paths of program and vault, and other MCP servers come in. A [`HostConfig`] goes out: the
//! file's text and path, and remarks about settings that the host's file can't hold. The server is started with the
//! tools of one purpose only, so the host starts faster and its model has fewer tools to misuse.
//!
//! For Claude Code a command line goes out, too. The command line excludes MCP servers that the file doesn't name,
//! slash commands and unnecessary network calls; an MCP configuration file can't do that.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::config::McpServer;
use crate::config::mcp_hosts::{self, VariableSyntax};
use crate::words::words;

/// A program that uses MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum McpHost {
    /// Claude Code, the command line.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex CLI.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
}

words! {
    /// The purpose of a server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
    pub enum ServerPurpose, as_str {
        /// Reading memory.
        Recall = "recall",
        /// Memory, and tools that notify the user.
        Deliver = "deliver",
        /// Everything.
        Full = "full",
    }
}

/// One host's configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct HostConfig {
    /// The file's text.
    pub text: String,
    /// The path where the host reads it.
    pub path: String,
    /// How to start the host with it, where that makes it start sooner.
    pub command: Option<String>,
    /// Settings that the host's file can't hold, with the remedy: a sentence each.
    pub remarks: Vec<String>,
}

impl McpHost {
    /// How its file names a variable of the environment.
    fn filled(self) -> VariableSyntax {
        match self {
            Self::ClaudeCode | Self::Codex => VariableSyntax::Dollar,
            Self::ClaudeDesktop => VariableSyntax::Never,
            Self::Cursor => VariableSyntax::Env,
            Self::Vscode => VariableSyntax::Input,
        }
    }

    /// Whether its file can name this server: Claude Desktop takes no URL there.
    fn takes(self, server: &McpServer) -> bool {
        self != Self::ClaudeDesktop || server.url.is_none()
    }

    fn remarks(self, others: &[&McpServer]) -> Vec<String> {
        let mut remarks = Vec::new();
        for other in others {
            let name = &other.name;
            if !self.takes(other) {
                remarks.push(format!(
                    "left out: `{name}`, which has a URL; Claude Desktop takes one in Settings, Connectors"
                ));
                continue;
            }
            if self == Self::ClaudeDesktop && !other.env.is_empty() {
                let pairs: Vec<String> = other.env.iter().map(|key| format!("\"{key}\": \"…\"")).collect();
                remarks.push(format!(
                    "Claude Desktop fills in no variables: write `\"env\": {{{}}}` with the values into `{name}`",
                    pairs.join(", ")
                ));
            }
            if matches!(self, Self::ClaudeDesktop | Self::Cursor | Self::Vscode) {
                remarks.push(format!(
                    "this file has no list of allowed tools: of `{name}`, turn on in the host's own list of tools only {}",
                    other.tools.join(", ")
                ));
            }
        }
        remarks
    }
}

/// The name of the server in each configuration.
const NAME: &str = "vault-agent";

/// The configuration that makes `host` start `binary` on `vault` for `purpose`, and these other servers.
pub fn config(
    host: McpHost,
    purpose: ServerPurpose,
    binary: &Path,
    vault: &Path,
    others: &[&McpServer],
) -> HostConfig {
    let (binary, vault) = (binary.to_string_lossy().into_owned(), vault.to_string_lossy().into_owned());
    let args = ["--vault", &vault, "mcp", "--tools", purpose.as_str()];
    let server = json!({"command": binary, "args": args});
    let typed = json!({"type": "stdio", "command": binary, "args": args});
    let with_others = |ours: &Value| {
        let mut all = Map::from_iter([(NAME.to_owned(), ours.clone())]);
        let others = others.iter().filter(|other| host.takes(other));
        all.extend(others.map(|other| (other.name.clone(), other.for_json(host.filled()))));
        Value::Object(all)
    };
    let servers = |ours: &Value| pretty(&json!({"mcpServers": with_others(ours)}));
    let mut command = None;
    let (text, path) = match host {
        McpHost::ClaudeCode => {
            let file = format!("mcp-{}.json", purpose.as_str());
            let free: Vec<String> = others.iter().flat_map(|other| other.allowed_tools()).collect();
            let free =
                if free.is_empty() { String::new() } else { format!(" --allowedTools {}", free.join(",")) };
            command = Some(format!(
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude --mcp-config {file} --strict-mcp-config --disable-slash-commands{free}"
            ));
            (servers(&typed), format!("a file of its own, `{file}`; or `.mcp.json` in a project"))
        }
        McpHost::ClaudeDesktop => {
            (servers(&server), "`claude_desktop_config.json` (Settings, Developer, Edit Config)".to_owned())
        }
        McpHost::Cursor => {
            (servers(&server), "`~/.cursor/mcp.json`, or `.cursor/mcp.json` in a project".to_owned())
        }
        McpHost::Vscode => {
            let mut config = json!({"servers": with_others(&typed)});
            let inputs = mcp_hosts::inputs(others);
            if !inputs.is_empty() {
                config["inputs"] = Value::Array(inputs);
            }
            let path = "`.vscode/mcp.json` in a project (or run the command `MCP: Open User Configuration`)";
            (pretty(&config), path.to_owned())
        }
        McpHost::Codex => (codex(&binary, &args, others), "`~/.codex/config.toml`".to_owned()),
    };
    HostConfig { text, path, command, remarks: host.remarks(others) }
}

/// `toml` writes basic strings in which everything that must be is escaped.
fn codex(binary: &str, args: &[&str], others: &[&McpServer]) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
    let ours = format!("[mcp_servers.{NAME}]\ncommand = {}\nargs = [{}]\n", quoted(binary), args.join(", "));
    let other = |other: &&McpServer| format!("\n[mcp_servers.{}]\n{}", other.name, other.for_codex());
    others.iter().map(other).fold(ours, |text, other| text + &other)
}

fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(host: McpHost) -> String {
        config(
            host,
            ServerPurpose::Recall,
            Path::new("/usr/bin/vault-agent"),
            Path::new("/home/ann/My \"Vault\""),
            &[],
        )
        .text
    }

    #[test]
    fn each_host_gets_its_own_format() {
        insta::assert_snapshot!(text(McpHost::Codex), @r#"
        [mcp_servers.vault-agent]
        command = "/usr/bin/vault-agent"
        args = ["--vault", '/home/ann/My "Vault"', "mcp", "--tools", "recall"]
        "#);
        insta::assert_snapshot!(text(McpHost::Vscode), @r#"
        {
          "servers": {
            "vault-agent": {
              "args": [
                "--vault",
                "/home/ann/My \"Vault\"",
                "mcp",
                "--tools",
                "recall"
              ],
              "command": "/usr/bin/vault-agent",
              "type": "stdio"
            }
          }
        }
        "#);
        insta::assert_snapshot!(text(McpHost::ClaudeDesktop), @r#"
        {
          "mcpServers": {
            "vault-agent": {
              "args": [
                "--vault",
                "/home/ann/My \"Vault\"",
                "mcp",
                "--tools",
                "recall"
              ],
              "command": "/usr/bin/vault-agent"
            }
          }
        }
        "#);
        assert_eq!(text(McpHost::Cursor), text(McpHost::ClaudeDesktop));
        let code = config(McpHost::ClaudeCode, ServerPurpose::Full, Path::new("/b"), Path::new("/v"), &[]);
        assert!(code.text.contains("\"full\""));
        insta::assert_snapshot!(code.command.unwrap(), @"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude --mcp-config mcp-full.json --strict-mcp-config --disable-slash-commands");
        let read: toml::Table = text(McpHost::Codex).parse().unwrap();
        assert_eq!(read["mcp_servers"][NAME]["args"][1].as_str(), Some("/home/ann/My \"Vault\""));
    }
}
