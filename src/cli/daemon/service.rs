//! `service`: installs or removes the daemon as a systemd user unit, or as a launchd agent on macOS.
//!
//! `install` writes one file and starts the service by the platform's own tool (`systemctl --user`, `launchctl`). If
//! the tool is missing or fails, the file stays, a remark names the command to run, and the exit code is 1. `uninstall`
//! stops the service and removes the file. If the tool fails then, the file stays and the command fails; without the
//! tool the file is removed.

use std::process::Command;

use crate::cli::prelude::*;
use etcetera::BaseStrategy;

/// Installs the daemon as a service of this user, or removes it.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Writes the unit for this vault and starts it now, again if it runs, and at every login.
    Install {
        /// Only prints the unit.
        #[arg(long)]
        print: bool,
    },
    /// Stops the service and removes its unit.
    Uninstall,
}

/// Runs `service`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    match args {
        Args::Install { print } => {
            // Settings that `run` refuses would fail at every start.
            let unit = Unit::for_folder(&context.vault_dir()?)?;
            if *print {
                let document = json!({ "path": unit.path, "unit": unit.text });
                return context.answer(&document, unit.text.trim_end());
            }
            let is_running = install(context, &unit)?;
            context.ui.json(&json!({ "path": unit.path, "running": is_running }));
            Ok(Status::of(is_running))
        }
        Args::Uninstall => uninstall(context, &Unit::for_folder(&context.folder()?)?),
    }
}

/// Installs and starts the service of the vault in this folder; true where it runs.
///
/// # Errors
/// The unit can't be written.
pub(in crate::cli) fn install_for(context: &Context, dir: &Path) -> Result<bool> {
    install(context, &Unit::for_folder(dir)?)
}

struct Unit {
    name: String,
    path: PathBuf,
    text: String,
}

impl Unit {
    fn for_folder(dir: &Path) -> Result<Self> {
        // The vault may be gone when its service is removed.
        let vault = config::resolved(dir).map_err(|error| {
            CommandError::problem(format!("can't open the vault `{}`: {error}", dir.display()))
        })?;
        let text = vault.to_str().ok_or_else(|| {
            CommandError::usage("the vault's path isn't UTF-8, which a service file can't name")
        })?;
        if text.contains(['\n', '\r']) {
            return Err(CommandError::usage(
                "the vault's path has a line break, which a service file can't name",
            ));
        }
        let hash = &blake3::hash(text.as_bytes()).to_hex()[..8];
        let program = std::env::current_exe()?;
        let program = program.to_string_lossy();
        let base = etcetera::choose_base_strategy()
            .map_err(|_| CommandError::problem("no home directory is known"))?;
        Ok(if cfg!(target_os = "macos") {
            let name = format!("md.vault-agent.{hash}");
            let path = base.home_dir().join("Library/LaunchAgents").join(format!("{name}.plist"));
            Self { text: launchd(&name, &program, text), name, path }
        } else {
            let name = format!("vault-agent-{hash}.service");
            let path = base.config_dir().join("systemd/user").join(&name);
            Self { text: systemd(&program, text), name, path }
        })
    }
}

/// The unit of `examples/vault-agent.service`, with this program and vault.
fn systemd(program: &str, vault: &str) -> String {
    let quote =
        |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"));
    // Variables stand in arguments alone.
    include_str!("../../../examples/vault-agent.service")
        .replace("%h/.cargo/bin/vault-agent", &quote(program))
        .replace("%h/Vault", &quote(vault).replace('$', "$$"))
}

/// The agent of `examples/md.vault-agent.plist`, with this program and vault.
fn launchd(label: &str, program: &str, vault: &str) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    include_str!("../../../examples/md.vault-agent.plist")
        .replace("md.vault-agent", &escape(label))
        .replace("/Users/you/.cargo/bin/vault-agent", &escape(program))
        .replace("/Users/you/Vault", &escape(vault))
}

/// Writes the unit and starts it; true where it runs now.
fn install(context: &Context, unit: &Unit) -> Result<bool> {
    let made = unit.path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(&unit.path, &unit.text))
        .map_err(CommandError::unwritable(&unit.path))?;
    context.ui.line(format!("wrote {}", unit.path.display()));
    let path = unit.path.to_string_lossy();
    let commands: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["launchctl", "load", "-w", &path]]
    } else {
        // One that runs is started anew: its program or its vault may be another.
        &[
            &["systemctl", "--user", "daemon-reload"],
            &["systemctl", "--user", "enable", &unit.name],
            &["systemctl", "--user", "restart", &unit.name],
        ]
    };
    Ok(commands.iter().filter(|command| !run_tool(context, command)).count() == 0)
}

fn uninstall(context: &Context, unit: &Unit) -> CommandResult {
    if !unit.path.exists() {
        let path = unit.path.display();
        let message = format!("no service is installed for this vault: `{path}` isn't there");
        return Err(CommandError::problem(message));
    }
    let path = unit.path.to_string_lossy();
    let command: &[&str] = match cfg!(target_os = "macos") {
        true => &["launchctl", "unload", "-w", &path],
        false => &["systemctl", "--user", "disable", "--now", &unit.name],
    };
    // The tool finds the service by the unit. Without the tool nothing runs.
    if config::is_executable(command[0]) && !run_tool(context, command) {
        let message = format!("the service may still run, so `{path}` stays");
        let hint = "run the command again in your own session; if no service runs, remove that file by hand";
        return Err(CommandError::problem(message).hint(hint));
    }
    std::fs::remove_file(&unit.path).map_err(CommandError::unwritable(&unit.path))?;
    let document = json!({ "path": unit.path, "removed": true });
    context.answer(&document, format!("removed {}", unit.path.display()))
}

/// Runs the platform's tool; where it fails, prints the command to run by hand and returns false.
fn run_tool(context: &Context, command: &[&str]) -> bool {
    let done =
        Command::new(command[0]).args(&command[1..]).output().is_ok_and(|output| output.status.success());
    if !done {
        context.ui.note(format!("could not run `{}`: run it in your own session", command.join(" ")));
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_odd_characters_are_quoted_for_systemd() {
        let unit = systemd("/$x/100%/vault-agent", "/home/a b/100%/$x/\"v\"");
        let line = r#"ExecStart="/$x/100%%/vault-agent" run --vault "/home/a b/100%%/$$x/\"v\"""#;
        assert!(unit.contains(line), "{unit}");
    }

    #[test]
    fn paths_with_odd_characters_are_escaped_for_launchd() {
        let agent = launchd("md.vault-agent.1", "/bin/vault-agent", "/Users/a&b");
        assert!(agent.contains("<string>/Users/a&amp;b</string>"), "{agent}");
        assert!(agent.contains("<string>md.vault-agent.1</string>"), "{agent}");
    }
}
