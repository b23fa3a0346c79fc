//! `hook`: answers a coding agent's hooks, archives its sessions, and writes the hooks into its settings or removes
//! them.

use std::io::{self, Write};

use super::host_settings::{self, MEND, utf8};
use crate::cli::prelude::*;
use crate::hooks::archive::delegate::condense;
use crate::hooks::archive::{ArchiveError, ArchiveReport, ArchiveRequest, archive, is_any_known, sweep};
use crate::hooks::install::{self, HookCaller, SettingsError};
use crate::hooks::settings_file::SettingsFile;
use crate::hooks::{self, HookContext, HostEvent, memories};

/// Answers a coding agent's hooks: reads the host's JSON on standard input, answers in its format.
///
/// Whatever goes wrong, the host goes on: the exit code is 0, and the cause is a line in `hooks.log` of the
/// state directory. `hook install` writes the hooks into the host's settings.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    #[command(flatten)]
    Answer(HostEvent),
    /// Brings the logs of sessions up to date with the host's transcripts: those named, else all that are known.
    ///
    /// A transcript that is named is kept whole, also one from before `[hooks] archive = true`. Events that a log
    /// holds already aren't added again.
    Archive {
        /// Transcripts of the host: `~/.claude/projects/*/*.jsonl`.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The session's id, where the file isn't named by it.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// The working directory of a session that doesn't name one.
        #[arg(long, value_name = "DIR", hide = true)]
        cwd: Option<PathBuf>,
        /// The folder of a new log.
        #[arg(long, value_name = "NAME", hide = true)]
        project: Option<String>,
        /// Nothing more will come.
        #[arg(long, hide = true)]
        ended: bool,
        /// The host is about to compact the session.
        #[arg(long, hide = true)]
        compacting: bool,
    },
    /// Writes the hooks into the host's settings and shows the change.
    Install {
        #[command(flatten)]
        at: SettingsPlace,
        /// Keeps what Claude Code remembers of the project in this folder as notes of the vault, in `memory/claude/`;
        /// by default it is asked at a terminal.
        #[arg(long, overrides_with = "no_memories")]
        memories: bool,
        /// Leaves Claude Code's own memories where they are.
        #[arg(long)]
        no_memories: bool,
        /// Follows Codex's own memories into `memory/codex/`: `[follow] codex` in the vault's settings.
        #[arg(long)]
        codex_memories: bool,
        /// Starts a process for each prompt also where Claude Code could call the MCP server that it has anyway.
        #[arg(long)]
        no_mcp: bool,
    },
    /// Removes the hooks from the host's settings and shows the change; all else stays as it is.
    Uninstall {
        #[command(flatten)]
        at: SettingsPlace,
    },
}

#[derive(Debug, clap::Args)]
struct SettingsPlace {
    /// The coding agent.
    #[arg(long, default_value = "claude-code", value_parser = ["claude-code"])]
    host: String,
    /// The settings for all of your projects (the default): `~/.claude/settings.json`.
    #[arg(long, group = "where")]
    user: bool,
    /// The settings of the project in this folder, shared with others: `.claude/settings.json`.
    #[arg(long, group = "where")]
    project: bool,
    /// Your own settings of the project in this folder: `.claude/settings.local.json`.
    #[arg(long, group = "where")]
    local: bool,
    /// This settings file.
    #[arg(long, group = "where", value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Shows the change and writes nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Runs `hook`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    match &args.action {
        Action::Install { at, memories: wanted, no_memories, codex_memories, no_mcp } => {
            let vault = context.vault_dir()?;
            let vault = vault.canonicalize().map_err(|error| {
                CommandError::problem(format!("can't open the vault `{}`: {error}", vault.display()))
            })?;
            let (program, vault_text) = (utf8(&std::env::current_exe()?)?, utf8(&vault)?);
            let here = current_dir()?;
            let project = (at.project || at.local).then(|| memories::project(&here));
            let config = config_dir().unwrap_or_default();
            let server = host_settings::server_name(&vault_text, &config, project).filter(|_| !no_mcp);
            let caller = HookCaller { program, vault: vault_text, server };
            let wanted = (*wanted || *no_memories).then_some(*wanted);
            if *codex_memories {
                host_settings::follow_codex(context, at.dry_run)?;
            }
            let kept = host_settings::install(context, &vault, &config, wanted, at.dry_run)?;
            edit_settings(context, at, kept.as_ref(), |file| install::install(file.text(), &caller).map(Some))
        }
        Action::Uninstall { at } => {
            let done = edit_settings(context, at, None, without_ours)?;
            host_settings::uninstall(context, at.dry_run)?;
            Ok(done)
        }
        Action::Archive { files, session, cwd, project, ended, compacting } => {
            let template = ArchiveRequest {
                session: session.clone().unwrap_or_default(),
                cwd: cwd.clone(),
                project: project.clone(),
                ended: *ended,
                compacting: *compacting,
                ..ArchiveRequest::default()
            };
            archive_sessions(context, files, &template)
        }
        Action::Answer(event) => {
            answer_host(context, *event);
            Ok(Status::Fine)
        }
    }
}

/// Prints one answer for the host, or nothing.
fn answer_host(context: &Context, event: HostEvent) {
    let vault = context.vault_dir().map_err(|error| error.to_string());
    let place = HookContext { vault, clock: Arc::clone(&context.clock) };
    let line = hooks::respond(event, &place, io::stdin());
    if !line.is_empty() {
        let mut out = io::stdout().lock();
        // A host that closed the pipe needs no answer.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// Archives sessions, and prints what was added.
fn archive_sessions(context: &Context, files: &[PathBuf], template: &ArchiveRequest) -> CommandResult {
    if !template.session.is_empty() && files.len() != 1 {
        return Err(CommandError::usage("`--session` goes with one transcript"));
    }
    let workspace = context.workspace()?;
    let mut report = ArchiveReport::default();
    let mut failed = 0;
    for file in files {
        let file = std::path::absolute(file)?;
        let own = ArchiveRequest::of(&file);
        let session = if template.session.is_empty() { own.session } else { template.session.clone() };
        let request = ArchiveRequest { session, transcript: file, ..template.clone() };
        let is_there = request.transcript.is_file();
        let done = if is_there { archive(&workspace, &request, None) } else { Err(ArchiveError::NotThere) };
        match done {
            Ok(done) => {
                report.logs.extend(done.logs);
                if request.compacting {
                    condense(&workspace, &request, None);
                }
            }
            Err(error) => {
                failed += 1;
                context.ui.note(format!("{}: {error}", request.transcript.display()));
            }
        }
    }
    report.logs.extend(sweep(&workspace, files.last().map(PathBuf::as_path), None).logs);
    for (log, events) in &report.logs {
        context.ui.line(format!("{log}: {events} {}", if *events == 1 { "event" } else { "events" }));
    }
    if report.logs.is_empty() && failed == 0 {
        if !files.is_empty() || is_any_known(&workspace) {
            context.ui.line("all session logs are up to date");
        } else {
            context.ui.line("no session is known for this vault, so none was archived");
            let remedy = "name transcripts (`~/.claude/projects/*/*.jsonl`), or set `[hooks] archive = true`";
            context.ui.note(remedy);
        }
    }
    let log = |(path, events): &(String, usize)| json!({ "path": path, "events": events });
    context.ui.json(&json!({ "logs": report.logs.iter().map(log).collect::<Vec<_>>() }));
    Ok(Status::of(failed == 0))
}

/// The settings without our entries; none where there was no file before they came.
fn without_ours(file: &SettingsFile) -> Result<Option<String>, SettingsError> {
    let mut before = file.before();
    // The folder of memories came before the hooks, and goes after them.
    if let (Some(text), Some(folder)) = (&before, memories::our_folder(file.text())) {
        before = Some(memories::with_folder(text, &folder)?);
    }
    if file.is_plain() && install::is_all_ours(file.text(), before.as_deref())? {
        return Ok(None);
    }
    install::uninstall(file.text(), before.as_deref()).map(Some)
}

/// Edits the settings file, or removes it, and prints the change.
fn edit_settings(
    context: &Context,
    at: &SettingsPlace,
    kept: Option<&Value>,
    edit: impl Fn(&SettingsFile) -> Result<Option<String>, SettingsError>,
) -> CommandResult {
    let path = settings_path(at)?;
    let file = SettingsFile::read(&path)?;
    let shown = path.display();
    let edited =
        edit(&file).map_err(|error| CommandError::problem(format!("`{shown}`: {error}")).hint(MEND))?;
    let after = edited.clone().unwrap_or_default();
    let is_changed = after != file.text();
    if !is_changed {
        context.ui.line(format!("{shown} needs no change"));
    }
    context.show_change(&path, file.text(), &after);
    if is_changed && !at.dry_run {
        if edited.is_some() {
            file.write(&after)?;
            context.ui.note(format!("wrote {shown}"));
        } else {
            file.remove()?;
            context.ui.note(format!("removed {shown}, which held nothing else"));
        }
    }
    let events = install::installed(&after).unwrap_or_default().into_iter();
    context.ui.json(&json!({
        "settings": path,
        "changed": is_changed,
        "written": is_changed && !at.dry_run,
        "hooks": events.map(|(event, _)| event.as_str()).collect::<Vec<_>>(),
        "memories": kept,
    }));
    Ok(Status::Fine)
}

/// The path of the settings file.
fn settings_path(at: &SettingsPlace) -> Result<PathBuf> {
    if let Some(path) = &at.settings {
        return Ok(std::path::absolute(path)?);
    }
    if at.project || at.local {
        let name = if at.project { "settings.json" } else { "settings.local.json" };
        return Ok(current_dir()?.join(".claude").join(name));
    }
    Ok(config_dir()?.join("settings.json"))
}

/// The host's own folder.
fn config_dir() -> Result<PathBuf> {
    install::host_folder().ok_or_else(|| {
        CommandError::problem("no home directory is known").hint("name the file with `--settings FILE`")
    })
}
