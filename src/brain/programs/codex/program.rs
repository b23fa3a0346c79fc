//! Makes the command that starts Codex, with settings and environment, and Codex's home folder.
//!
//! Settings are passed as arguments (`-c key=value`), not in a file. A version of Codex that doesn't know a setting
//! ignores it. Most settings disable something: a chat needs neither Codex's coding instructions, nor its skills, nor
//! its tools. Only the environment holds keys, and neither Codex's commands nor vault-agent's MCP server get the keys.
//!
//! If the settings name no key and no `url`, the user's own Codex login is used. The home then has a link to the
//! login's file, unless it has a login of its own.

use std::path::{Path, PathBuf};

use crate::brain::programs::harness::{HarnessSetup, SERVER, variables};
use crate::brain::programs::process::{MARK, Program};
use crate::brain::wire::WireFormat;
use crate::brain::{BrainError, FailureClass, Result};
use crate::config::{McpServer, mcp_hosts};

/// The variable of the key in Codex's environment.
const KEY: &str = "VAULT_AGENT_CODEX_KEY";
/// The name of our provider in Codex's settings.
const PROVIDER: &str = "vault-agent";
/// The tool that runs commands.
pub(super) const SHELL: &str = "shell";
/// The tool that changes files; which models have it is Codex's matter.
pub(super) const PATCH: &str = "apply_patch";
/// The tool that searches the web.
const SEARCH: &str = "web_search";
/// The tool that looks at a picture on disk.
const VIEW: &str = "view_image";

/// The settings that remove Codex's additions from every turn.
const DISABLED: [&str; 11] = [
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    "include_apps_instructions=false",
    "include_collaboration_mode_instructions=false",
    "project_doc_max_bytes=0",
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    "agents.enabled=false",
    "tools.experimental_request_user_input={enabled=false}",
];
/// Features that are switched off, too.
const DISABLED_FEATURES: &str = "apps browser_use computer_use goals hooks image_generation multi_agent plugins \
shell_snapshot skill_search sleep_tool tool_suggest memories request_permissions_tool undo";

/// The program for one turn, with its home made.
pub(super) fn program(setup: &HarnessSetup, turn: Option<&str>, others: &[McpServer]) -> Result<Program> {
    let home = setup.supervision.state.join("codex").join(&setup.brain);
    let own_login = setup.key.is_none() && setup.url.is_none();
    let login = own_login.then(login).flatten();
    make_home(&home, login.as_deref()).map_err(|error| {
        let message = format!("the folder `{}` for Codex can't be made: {error}", home.display());
        BrainError::new(FailureClass::Crash, message)
    })?;
    let mut command = setup.command.clone();
    command.push("app-server".to_owned());
    let mut set = vec![("CODEX_HOME".to_owned(), home.to_string_lossy().into_owned())];
    let mut settings = settings(setup);
    if let Some(server) = setup.server_for(turn) {
        settings.push(server_setting(&server.command, server.env.iter().map(|(name, _)| name.as_str())));
        set.extend(server.env);
    }
    settings.extend(others.iter().map(other_setting));
    for setting in settings {
        command.push("-c".to_owned());
        command.push(setting);
    }
    let mut secrets = variables(others);
    secrets.extend(setup.key.iter().map(|key| (KEY.to_owned(), key.clone())));
    Ok(Program { command, dir: setup.dir.clone(), set, secrets, ..Program::default() })
}

/// The file of the user's own login.
fn login() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = folder("CODEX_HOME").or_else(|| Some(folder("HOME")?.join(".codex")))?;
    Some(home.join("auth.json")).filter(|file| file.exists())
}

/// Makes the home; a login of its own, made there by `codex login`, stays.
fn make_home(home: &Path, login: Option<&Path>) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home)?;
    let ours = home.join("auth.json");
    let linked = std::fs::read_link(&ours).ok();
    if linked.as_deref() == login {
        return Ok(());
    }
    if linked.is_some() {
        std::fs::remove_file(&ours)?;
    }
    match login {
        Some(login) if !ours.exists() => std::os::unix::fs::symlink(login, &ours),
        _ => Ok(()),
    }
}

fn settings(setup: &HarnessSetup) -> Vec<String> {
    let features = DISABLED_FEATURES.split(' ').map(|feature| format!("features.{feature}=false"));
    let mut settings: Vec<String> = DISABLED.map(str::to_owned).into_iter().chain(features).collect();
    settings.push(format!("model={}", quoted(&setup.model)));
    if setup.key.is_some() || setup.url.is_some() {
        let url = setup.url.as_deref().unwrap_or("https://api.openai.com");
        let url = WireFormat::Responses.url(url);
        let url = url.strip_suffix("/responses").unwrap_or(&url);
        let key = if setup.key.is_some() { format!(",env_key=\"{KEY}\"") } else { String::new() };
        settings.push(format!("model_provider=\"{PROVIDER}\""));
        // The only retries are those that Codex reports, and there is one.
        settings.push(format!(
            "model_providers.{PROVIDER}={{name=\"{PROVIDER}\",base_url={},wire_api=\"responses\",\
             request_max_retries=0,stream_max_retries=1{key}}}",
            quoted(url)
        ));
    }
    let has = |tool: &str| setup.tools.iter().any(|named| named == tool);
    if has(SHELL) {
        let names = ["PATH", "HOME", "USER", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", MARK].map(quoted);
        settings
            .push(format!("shell_environment_policy={{inherit=\"all\",include_only=[{}]}}", names.join(",")));
    } else {
        settings.extend(["shell_tool", "unified_exec"].map(|feature| format!("features.{feature}=false")));
    }
    settings.push(format!("web_search=\"{}\"", if has(SEARCH) { "live" } else { "disabled" }));
    settings.push(format!("features.view_image={}", has(VIEW)));
    settings
}

/// Our MCP server, which gets the variables of these names. Each call of it needs an approval, and so is on disk
/// before it happens.
fn server_setting<'a>(command: &[String], names: impl Iterator<Item = &'a str>) -> String {
    let list = |items: Vec<String>| items.join(",");
    let (program, arguments) = mcp_hosts::program(command);
    format!(
        "mcp_servers.{SERVER}={{command={},args=[{}],env_vars=[{}],default_tools_approval_mode=\"prompt\",\
         startup_timeout_sec=30,tool_timeout_sec=600}}",
        quoted(program),
        list(arguments.iter().map(quoted).collect()),
        list(names.chain([MARK]).map(quoted).collect()),
    )
}

/// Another MCP server: its allowed tools, each call with an approval.
fn other_setting(server: &McpServer) -> String {
    let mut entry = server.for_codex();
    if server.url.is_none() {
        let names = entry.entry("env_vars").or_insert_with(|| toml::Value::Array(Vec::new()));
        if let toml::Value::Array(names) = names {
            names.push(MARK.into());
        }
    }
    entry.insert("default_tools_approval_mode".to_owned(), "prompt".into());
    entry.insert("startup_timeout_sec".to_owned(), 20.into());
    entry.insert("tool_timeout_sec".to_owned(), 120.into());
    format!("mcp_servers.{}={}", server.name, toml::Value::Table(entry))
}

/// A text of TOML.
fn quoted(text: impl AsRef<str>) -> String {
    toml::Value::String(text.as_ref().to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brain::programs::harness::McpServerCommand;
    use crate::brain::programs::process::Supervision;

    fn setup(state: &Path) -> HarnessSetup {
        HarnessSetup {
            brain: "coder".into(),
            command: vec!["codex".into()],
            model: "m\"1".into(),
            url: Some("http://127.0.0.1:8080".into()),
            key: Some("sk-canary".to_owned().into()),
            key_env: None,
            tools: vec![],
            supervision: Supervision { state: state.into(), timeouts: Default::default() },
            dir: "/d".into(),
            server: Some(McpServerCommand {
                command: vec!["/bin/vault-agent".into(), "--vault".into(), "/my \"vault\"".into()],
                env: vec![("VAULT_AGENT_STATE_DIR".into(), "/s".into())],
            }),
        }
    }

    #[test]
    fn the_command_line_holds_settings_that_toml_reads_and_no_key() {
        let temp = tempfile::tempdir().unwrap();
        let others =
            "[[mcp]]\nname = \"web\"\ncommand = [\"npx\", \"a b\"]\ntools = [\"look\"]\nenv = [\"DISPLAY\"]";
        let others = crate::config::Settings::parse(others).unwrap().mcp;
        let program = program(&setup(temp.path()), Some("77"), &others).unwrap();
        let line = program.command.join(" ");
        assert!(!line.contains("canary") && !line.contains("77"), "{line}");
        assert!(!format!("{program:?}").contains("canary"));
        let mut all = toml::Table::new();
        for pair in program.command[2..].chunks(2) {
            let [flag, setting] = pair else { panic!("{pair:?}") };
            assert_eq!(flag, "-c");
            let (key, value) = setting.split_once('=').unwrap();
            let last: toml::Table = toml::from_str(&format!("v={value}")).unwrap();
            assert!(all.insert(key.to_owned(), last["v"].clone()).is_none(), "{key} twice");
        }
        assert_eq!(all["model"].as_str(), Some("m\"1"));
        let provider = &all["model_providers.vault-agent"];
        assert_eq!(provider["base_url"].as_str(), Some("http://127.0.0.1:8080/v1"));
        assert_eq!(provider["env_key"].as_str(), Some(KEY));
        let server = &all["mcp_servers.vault-agent"];
        assert_eq!(server["args"][1].as_str(), Some("/my \"vault\""));
        let names: Vec<_> =
            server["env_vars"].as_array().unwrap().iter().filter_map(|n| n.as_str()).collect();
        assert_eq!(names, ["VAULT_AGENT_STATE_DIR", "VAULT_AGENT_BRAIN", "VAULT_AGENT_TURN", MARK]);
        let web = &all["mcp_servers.web"];
        assert_eq!(web["env_vars"], toml::Value::from(vec!["DISPLAY", MARK]));
        assert_eq!((&web["enabled_tools"], &web["args"]), (&vec!["look"].into(), &vec!["a b"].into()));
        assert_eq!(web["default_tools_approval_mode"].as_str(), Some("prompt"));
        assert!(program.set.contains(&("VAULT_AGENT_TURN".into(), "77".into())));
        assert_eq!(all["features.shell_tool"].as_bool(), Some(false));
        assert_eq!(all["web_search"].as_str(), Some("disabled"));
    }

    #[test]
    fn a_tool_that_is_named_is_there_and_a_command_sees_no_key() {
        let temp = tempfile::tempdir().unwrap();
        let setup = HarnessSetup { tools: vec!["shell".into()], ..setup(temp.path()) };
        let settings = settings(&setup);
        assert!(!settings.iter().any(|setting| setting.contains("shell_tool")));
        let policy = settings.iter().find(|setting| setting.starts_with("shell_environment_policy")).unwrap();
        assert!(policy.contains("include_only") && !policy.contains(KEY));
    }

    #[test]
    fn the_home_has_the_users_login_where_it_is_wanted_and_nothing_else_of_his() {
        let temp = tempfile::tempdir().unwrap();
        let (home, login) = (temp.path().join("home"), temp.path().join("auth.json"));
        std::fs::write(&login, "{}").unwrap();
        let link = || std::fs::read_link(home.join("auth.json")).ok();
        make_home(&home, Some(&login)).unwrap();
        assert_eq!(link(), Some(login.clone()));
        make_home(&home, None).unwrap();
        assert_eq!(link(), None);
        std::fs::write(home.join("auth.json"), "{\"own\":1}").unwrap();
        make_home(&home, Some(&login)).unwrap();
        assert_eq!(std::fs::read_to_string(home.join("auth.json")).unwrap(), "{\"own\":1}");
    }
}
