//! Reads and changes a coding agent's settings other than its hooks.
//!
//! - `hook install` makes Claude Code keep its own memories in the vault, and `hook uninstall` ends that. Claude Code
//!   itself writes these notes, into the folder that its settings name ([`memories`]). Existing memories are copied
//!   once, as one write that can be undone; the originals stay.
//! - `hook install --codex-memories` makes the daemon follow Codex's memories, by one line in the vault's settings.
//! - If Claude Code's settings contain vault-agent's MCP server, the hooks call that server instead of starting a
//!   process.

use std::process::{Command, Stdio};

use crate::cli::prelude::*;
use crate::config::{self, FILE_NAME};
use crate::hooks::memories;
use crate::hooks::settings_file::SettingsFile;
use crate::mcp::ToolSet;
use crate::memory::derive;
use crate::transfer::follow;
use crate::vault::{Actor, ChangeReason, EditError, NotePath, Origin};

/// The hint for a host's file that can't be changed.
pub(super) const MEND: &str = "fix the file by hand first; nothing was written";

/// Makes the host keep the memories of this folder's project in the vault, if the person wants that: as `wanted` says,
/// else the person is asked where there is a terminal. Returns the host's settings of the project, the folder in the
/// vault, and how many notes were copied.
///
/// # Errors
/// The host's settings can't be changed, or the vault can't be written.
pub(super) fn install(
    context: &Context,
    vault: &Path,
    config: &Path,
    wanted: Option<bool>,
    dry_run: bool,
) -> Result<Option<Value>> {
    let here = current_dir()?;
    let project = memories::project(&here);
    let is_home = etcetera::home_dir().is_ok_and(|home| home == project);
    let is_project = || [".git", ".claude", "CLAUDE.md"].iter().any(|name| project.join(name).exists());
    if !wanted.unwrap_or_else(|| !is_home && context.ui.can_ask() && is_project()) {
        return Ok(None);
    }
    let scope = derive(&here, |name| std::env::var(name).ok());
    let inside = format!("{}/{}", memories::FOLDER, memories::name(&scope, project));
    let folder = vault.join(&inside);
    let shown = &utf8(&folder)?;
    let path = settings_of(project);
    let file = SettingsFile::read(&path)?;
    let wrong = |error| CommandError::problem(format!("`{}`: {error}", path.display())).hint(MEND);
    let of = project.display();
    let question = format!(
        "Claude Code keeps memories of its own of {of}. Keep them in the vault, as notes in {inside}?"
    );
    match memories::configured_folder(file.text()).map_err(wrong)? {
        Some(set) if set == *shown => {}
        Some(set) if wanted.is_none() => {
            context.ui.note(format!("Claude Code's memories of this project are in `{set}`, and stay there"));
            return Ok(None);
        }
        _ if wanted.is_none() && !context.ui.confirm(&question) => return Ok(None),
        _ => {}
    }
    let after = memories::with_folder(file.text(), shown).map_err(wrong)?;
    context.show_change(&path, file.text(), &after);
    let report = |copied: usize, written: bool| {
        Some(
            json!({ "settings": path.to_string_lossy(), "folder": folder.to_string_lossy(), "copied": copied, "written": written }),
        )
    };
    if dry_run {
        return Ok(report(0, false));
    }
    let had = memories::default_folder(config, project).filter(|from| from.is_dir());
    let copied = had.map_or(Ok(0), |from| copy(context, &from, &inside))?;
    std::fs::create_dir_all(&folder).map_err(CommandError::unwritable(&folder))?;
    let is_changed = after != file.text();
    if is_changed {
        file.write(&after)?;
        context.ui.note(format!("wrote {}", path.display()));
    }
    let more = match copied {
        0 => String::new(),
        count => format!("; {count} notes that it had already were copied there"),
    };
    let said =
        format!("Claude Code's memories of this project are notes in {inside} from its next session on");
    context.ui.note(said + &more);
    Ok(report(copied, is_changed))
}

/// A path as a settings file names it.
pub(super) fn utf8(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        CommandError::usage(format!("`{}` isn't UTF-8, which a settings file can't name", path.display()))
    })
}

/// The host's personal settings file of a project.
fn settings_of(project: &Path) -> PathBuf {
    project.join(".claude/settings.local.json")
}

/// Copies the host's existing memories. Notes that are in the vault already stay as they are.
fn copy(context: &Context, from: &Path, inside: &str) -> Result<usize> {
    let workspace = context.workspace()?;
    let why =
        ChangeReason::new(Actor::Cli, format!("hook install: copied Claude Code's memories to {inside}"));
    let (notes, skipped) = follow::notes(from)?;
    skipped.iter().for_each(|skipped| context.ui.note(format!("not copied: {skipped}")));
    workspace.as_one_commit(&why, || {
        let mut copied = 0;
        for (name, text) in &notes {
            let note = NotePath::new(&format!("{inside}/{name}"))?;
            match workspace.editor.create(&note, text.as_bytes(), &why) {
                Ok(_) => copied += 1,
                Err(EditError::Exists(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(copied)
    })
}

/// Follows Codex's own memories: a line in the vault's settings.
///
/// # Errors
/// The settings can't be changed.
pub(super) fn follow_codex(context: &Context, dry_run: bool) -> Result<()> {
    let workspace = context.workspace()?;
    let home = std::env::var("CODEX_HOME").ok().filter(|home| home.starts_with('/'));
    let folder = home.map_or_else(|| "~/.codex/memories".to_owned(), |home| format!("{home}/memories"));
    let before = workspace.settings_text()?;
    let with_folder = |text: &str| config::with_values(text, &[("follow.codex", folder.clone().into())]);
    let after = with_folder(&before).map_err(CommandError::problem)?;
    context.show_change(Path::new(FILE_NAME), &before, &after);
    if dry_run || after == before {
        return Ok(());
    }
    let origin = Origin::new(Actor::Cli);
    workspace.change_settings(&origin, "hook install: follow Codex's memories", with_folder)?;
    context.ui.note(format!("the daemon follows `{folder}` into memory/codex from now on"));
    Ok(())
}

/// Makes the host keep the memories of this folder's project in its own place again. The notes stay.
///
/// # Errors
/// The host's settings can't be changed.
pub(super) fn uninstall(context: &Context, dry_run: bool) -> Result<()> {
    let here = current_dir()?;
    let path = settings_of(memories::project(&here));
    let Ok(file) = SettingsFile::read(&path) else { return Ok(()) };
    let Some(folder) = memories::our_folder(file.text()) else { return Ok(()) };
    let after = memories::without_folder(file.text(), file.before().as_deref())
        .map_err(|error| CommandError::problem(format!("`{}`: {error}", path.display())))?;
    context.show_change(&path, file.text(), &after);
    if dry_run {
        return Ok(());
    }
    if after.trim() == "{}" && file.is_plain() && file.before().is_none() {
        file.remove()?;
    } else {
        file.write(&after)?;
    }
    context.ui.note(format!(
        "Claude Code keeps its memories of this project where it did before; the notes in {folder} stay"
    ));
    Ok(())
}

/// The first version that calls tools from hooks.
const SINCE: [u64; 3] = [2, 1, 118];

/// The server's name at the host; none where the host is too old, isn't there, or doesn't have the server of this
/// vault. `config` is the host's own folder; `project` is given where a project's own servers count too.
pub(super) fn server_name(vault: &str, config: &Path, project: Option<&Path>) -> Option<String> {
    let home = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    let file =
        if home.is_some() { config.join(".claude.json") } else { config.with_file_name(".claude.json") };
    let all = read_json(&file);
    let own = project.and_then(Path::to_str).map(|project| all["projects"][project]["mcpServers"].clone());
    let shared = project.map(|project| read_json(&project.join(".mcp.json"))["mcpServers"].clone());
    let places = [own, shared, Some(all["mcpServers"].clone())];
    let found = places.iter().flatten().find_map(|servers| find_our_server(servers, vault))?;
    host_calls_tools().then_some(found)
}

fn read_json(file: &Path) -> Value {
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
        let tools = words.windows(2).find_map(|pair| {
            pair[1].strip_prefix("--tools=").or_else(|| (pair[0] == "--tools").then_some(pair[1]))
        });
        let takes_hooks =
            tools.is_none_or(|tools| tools.parse::<ToolSet>().is_ok_and(|tools| tools.takes_hooks()));
        let is_program = matches!(program, Some("vault-agent" | "vault-agent.exe"));
        is_program && words.contains(&"mcp") && is_here && takes_hooks
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
        for (tools, is_found) in [
            ("--tools recall", false),
            ("--tools=recall", false),
            ("--tools deliver", true),
            ("--tools=x", false),
        ] {
            let args: Vec<&str> = ["--vault", "/v", "mcp"].into_iter().chain(tools.split(' ')).collect();
            let found = find_our_server(&server("vault-agent", json!(args)), "/v");
            assert_eq!(found.is_some(), is_found, "{tools}");
        }
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
