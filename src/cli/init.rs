//! `init`: writes a new vault from `vault-template/`, which is in the binary.

use crate::cli::prelude::*;
use crate::config::{Dirs, FILE_NAME, Settings, find_vault, is_vault};
use crate::schedule::Zone;
use crate::template::{SETTINGS, TEMPLATE};
use crate::vault::{Actor, BOOKKEEPING, ChangeReason, EditError, NotePath};

/// Writes a new vault: notes, settings and an Obsidian configuration; never overwrites a file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder, made where it is missing; else the one that `--vault` names, else the current one.
    dir: Option<PathBuf>,
}

/// The template's files by their paths in the vault.
#[derive(Debug, Default, Serialize)]
pub struct TemplateReport {
    /// New files.
    pub created: Vec<String>,
    /// Files that were there already and stayed as they are.
    pub kept: Vec<String>,
    /// Files that could not be made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

impl TemplateReport {
    /// Whether the settings are new.
    pub fn has_settings(&self) -> bool {
        self.created.iter().any(|path| path == FILE_NAME)
    }
}

/// Runs `init`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let dir = match (&args.dir, context.named_vault()) {
        (Some(dir), _) | (None, Some(dir)) => dir.clone(),
        (None, None) => current_dir()?,
    };
    let (workspace, written) = write_template(context, &dir, None)?;
    print_zone(context, &workspace, written.has_settings());
    let created = written.created.iter().map(|path| format!("created {path}"));
    let lines = created.chain(written.kept.iter().map(|path| format!("kept    {path}")));
    let done = context.report(&written, lines, written.failed.is_empty());
    context.note_disabled_forms(&workspace);
    context.ui.note(format!("next: vault-agent run --vault {}", shell_word(&dir)));
    done
}

/// Writes the missing files of the template into `dir`, which is made if it is missing. A new vault gets this zone and
/// these settings, else this machine's zone and the settings of the template.
///
/// # Errors
/// The folder can't be made or written.
pub fn write_template(
    context: &Context,
    dir: &Path,
    initial: Option<(&Zone, &str)>,
) -> Result<(Workspace, TemplateReport)> {
    std::fs::create_dir_all(dir).map_err(|error| {
        CommandError::problem(format!("can't make the folder `{}`: {error}", dir.display()))
    })?;
    let root = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let state = Dirs::for_vault(dir)?.state;
    if state.starts_with(&root) {
        let (state, root) = (state.display(), root.display());
        return Err(CommandError::usage(format!(
            "`{state}`, where the state belongs, lies in the folder `{root}`"
        ))
        .hint("take a folder of its own for the vault, such as `~/MyVault`"));
    }
    if let Some(outer) = root.parent().and_then(find_vault).filter(|_| !is_vault(dir)) {
        let (outer, root) = (outer.display(), root.display());
        context.ui.note(format!("`{root}` lies in the vault `{outer}`, which has these notes, too"));
    }
    let workspace = Workspace::open(dir, Arc::clone(&context.clock))?;
    // By this trailer an `undo` knows that it isn't meant: it would take the whole vault away.
    let why = ChangeReason::new(Actor::Cli, "init: wrote the template")
        .trailer("Template", env!("CARGO_PKG_VERSION"));
    let is_new = !workspace.vault.exists(&workspace.note(FILE_NAME));
    let zone = if is_new { initial.map(|(zone, _)| zone.clone()).or_else(zone_here) } else { None };
    let zone = zone.unwrap_or_else(|| workspace.zone.clone());
    let settings = initial.map(|(_, settings)| settings);
    let written = workspace.as_one_commit(&why, || write_missing(dir, &workspace, &zone, settings, &why))?;
    if !written.failed.is_empty() {
        written.failed.iter().for_each(|file| context.ui.note(format!("not made: {file}")));
        context.ui.note("make way for them, and run `vault-agent init` again: it adds what is missing");
    }
    Ok((workspace.reload()?.unwrap_or(workspace), written))
}

/// Writes the settings with this machine's time zone into a vault that has neither settings nor a note with times.
///
/// # Errors
/// The settings file can't be written.
pub(super) fn ensure_time_zone(context: &Context, workspace: Workspace) -> Result<Workspace> {
    let paths = &workspace.settings.paths;
    // Those of a vault whose file is gone or empty stay.
    let is_set = workspace.settings != Settings::default();
    let timed = [FILE_NAME, &paths.reminders, &paths.commitments, &paths.daily, &paths.routines, &paths.logs];
    if is_set || timed.iter().any(|path| workspace.vault.exists(&workspace.note(path))) {
        print_zone(context, &workspace, false);
        return Ok(workspace);
    }
    let Some(zone) = zone_here() else { return Ok(workspace) };
    let why = ChangeReason::new(Actor::Cli, "run: settings with this machine's time zone")
        .trailer(BOOKKEEPING, "settings");
    let text = fill_template(SETTINGS, &workspace, &zone);
    workspace.editor.create(&workspace.note(FILE_NAME), text.as_bytes(), &why)?;
    context.ui.note(format!("wrote {FILE_NAME}; `vault-agent init` adds notes to begin with"));
    let workspace = workspace.reload()?.unwrap_or(workspace);
    print_zone(context, &workspace, true);
    Ok(workspace)
}

/// In a vault without settings, [`ensure_time_zone`] where its times aren't those of this machine's clock.
///
/// # Errors
/// The settings file can't be written.
pub(super) fn ensure_own_times(context: &Context, workspace: Workspace) -> Result<Workspace> {
    let now = workspace.clock.now();
    let is_other = |here: Zone| here.tz().to_offset(now) != workspace.zone.tz().to_offset(now);
    if workspace.vault.exists(&workspace.note(FILE_NAME)) || !zone_here().is_some_and(is_other) {
        return Ok(workspace);
    }
    ensure_time_zone(context, workspace)
}

/// Writes the missing files, each where the settings have its like; one that can't be made is named, and doesn't stop
/// the others, unless it is the settings.
fn write_missing(
    dir: &Path,
    workspace: &Workspace,
    zone: &Zone,
    settings: Option<&str>,
    why: &ChangeReason,
) -> Result<TemplateReport> {
    let (mut current, mut written) = (workspace.settings.clone(), TemplateReport::default());
    for (usual, text) in TEMPLATE {
        let path = place(&current, usual);
        let text = match settings.filter(|_| *usual == FILE_NAME) {
            Some(settings) => settings.to_owned(),
            None => fill_template(text, workspace, zone),
        };
        match workspace.editor.create(&NotePath::new(&path)?, text.as_bytes(), why) {
            Ok(_) => written.created.push(path),
            Err(EditError::Exists(_)) => written.kept.push(path),
            Err(error) if *usual != FILE_NAME => written.failed.push(format!("{path}: {error}")),
            Err(error) => {
                return Err(CommandError::problem(format!("can't write into `{}`: {error}", dir.display()))
                    .hint(
                        "free some space, give yourself the right to write there, or name another folder",
                    ));
            }
        }
        if *usual == FILE_NAME {
            current = workspace.settings_on_disk()?.0;
        }
    }
    Ok(written)
}

/// The place of a file of the template, where the settings name another one.
fn place(settings: &Settings, usual: &str) -> String {
    let default = Settings::default();
    let persona = (default.assistant.persona, settings.assistant.persona.clone());
    let paths = default.paths.all().into_values().zip(settings.paths.all().into_values());
    let moved = paths.chain([persona]).find_map(|(from, to)| {
        let rest =
            usual.strip_prefix(from.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        Some(format!("{to}{rest}"))
    });
    moved.unwrap_or_else(|| usual.to_owned())
}

/// The text with the zone, and the sample reminder's time: the next whole minute.
fn fill_template(text: &str, workspace: &Workspace, zone: &Zone) -> String {
    let now = workspace.clock.now();
    let soon = now.saturating_add(SignedDuration::from_mins(1)).unwrap_or(now);
    let local = soon.to_zoned(zone.tz().clone());
    let usual = format!("timezone = \"{}\"", Settings::default().timezone);
    text.replace(&format!("#{usual}"), &format!("timezone = \"{}\"", zone.name()))
        .replace("{{sample_date}}", &local.date().to_string())
        .replace("{{sample_time}}", &local.strftime("%H:%M").to_string())
}

/// Prints the zone of the vault's times: for a new vault, and where it isn't this machine's.
pub(super) fn print_zone(context: &Context, workspace: &Workspace, is_new: bool) {
    let (name, here) = (workspace.zone.name(), zone_here());
    let whose = match &here {
        Some(here) if here.name() == name && !is_new => return,
        Some(here) if here.name() == name => "this machine's time zone".to_owned(),
        Some(here) => format!("this machine is in {}", here.name()),
        None if is_new => "this machine's time zone has no name that is known".to_owned(),
        None => return,
    };
    context.ui.note(format!(
        "dates and times are meant in {name} ({whose}): to change that, set `timezone` in vault-agent.toml"
    ));
}

/// A path as it can be pasted into a shell.
pub(super) fn shell_word(path: &Path) -> String {
    let mut text = path.display().to_string();
    if text.starts_with('-') {
        // No option, but a folder of that name.
        text.insert_str(0, "./");
    }
    let plain = |c: char| c.is_alphanumeric() || "/._-+~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// This machine's zone (`TZ`, else `/etc/localtime`), where it has a name that we know.
pub(super) fn zone_here() -> Option<Zone> {
    Zone::get(jiff::tz::TimeZone::system().iana_name()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_holds_the_whole_template() {
        fn files(dir: &Path, root: &Path, out: &mut Vec<String>) {
            for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    files(&entry, root, out);
                } else {
                    out.push(entry.strip_prefix(root).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("vault-template");
        let mut on_disk = Vec::new();
        files(&root, &root, &mut on_disk);
        on_disk.sort();
        let mut embedded: Vec<_> = TEMPLATE.iter().map(|(path, _)| (*path).to_owned()).collect();
        embedded.sort();
        assert_eq!(on_disk, embedded);
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        assert_eq!(shell_word(Path::new("/home/me/My Vault's")), "'/home/me/My Vault'\\''s'");
        assert_eq!(shell_word(Path::new("notes")), "notes");
        assert_eq!(shell_word(Path::new("-rf")), "./-rf");
    }
}
