//! `init`: writes a new vault from `vault-template/`, which is in the binary.

use jiff::SignedDuration;

use crate::cli::prelude::*;
use crate::config::FILE_NAME;
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
}

/// Runs `init`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let dir = match (&args.dir, context.named_vault()) {
        (Some(dir), _) | (None, Some(dir)) => dir.clone(),
        (None, None) => std::env::current_dir()?,
    };
    let (workspace, written) = write_template(context, &dir, None)?;
    let created = written.created.iter().map(|path| format!("created {path}"));
    let lines = created.chain(written.kept.iter().map(|path| format!("kept    {path}")));
    let done = context.report(&written, lines, true);
    let Workspace { vault, settings, zone, clock, .. } = &workspace;
    if let Ok(Some(offer)) = crate::tasks::count_disabled_forms(vault, settings, zone, clock.now()) {
        context.ui.note(format!("{}; {}", offer.count_text(), offer.setting_hint()));
    }
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
    let workspace = Workspace::open(dir, Arc::clone(&context.clock))?;
    // By this trailer an `undo` knows that it isn't meant: it would take the whole vault away.
    let why = ChangeReason::new(Actor::Cli, "init: wrote the template")
        .trailer("Template", env!("CARGO_PKG_VERSION"));
    let is_new = !workspace.vault.exists(&workspace.note(FILE_NAME));
    let zone = if is_new { initial.map(|(zone, _)| zone.clone()).or_else(zone_here) } else { None };
    let zone = zone.unwrap_or_else(|| workspace.zone.clone());
    let settings = initial.map(|(_, settings)| settings);
    let written = workspace.as_one_commit(&why, || write_missing(&workspace, &zone, settings, &why));
    let written = written.map_err(|error| {
        let said = CommandError::problem(format!("can't write into `{}`: {error}", dir.display()));
        said.hint("give yourself the right to write there, or name another folder")
    })?;
    let workspace = workspace.reload()?.unwrap_or(workspace);
    print_zone(context, &workspace, is_new);
    Ok((workspace, written))
}

/// Writes the settings with this machine's time zone into a vault that has neither settings nor a note with times.
///
/// # Errors
/// The settings file can't be written.
pub(super) fn ensure_time_zone(context: &Context, workspace: Workspace) -> Result<Workspace> {
    let paths = &workspace.settings.paths;
    let timed = [FILE_NAME, &paths.reminders, &paths.commitments, &paths.daily, &paths.routines, &paths.logs];
    if timed.iter().any(|path| workspace.vault.exists(&workspace.note(path))) {
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

fn write_missing(
    workspace: &Workspace,
    zone: &Zone,
    settings: Option<&str>,
    why: &ChangeReason,
) -> Result<TemplateReport> {
    let mut written = TemplateReport::default();
    for (path, text) in TEMPLATE {
        let note = NotePath::new(path)?;
        let text = match settings.filter(|_| *path == FILE_NAME) {
            Some(settings) => settings.to_owned(),
            None => fill_template(text, workspace, zone),
        };
        match workspace.editor.create(&note, text.as_bytes(), why) {
            Ok(_) => written.created.push((*path).to_owned()),
            Err(EditError::Exists(_)) => written.kept.push((*path).to_owned()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(written)
}

/// The text with the zone, and the sample reminder's time: the next whole minute.
fn fill_template(text: &str, workspace: &Workspace, zone: &Zone) -> String {
    let now = workspace.clock.now();
    let soon = now.saturating_add(SignedDuration::from_mins(1)).unwrap_or(now);
    let local = soon.to_zoned(zone.tz().clone());
    let usual = format!("timezone = \"{}\"", crate::config::Settings::default().timezone);
    text.replace(&format!("#{usual}"), &format!("timezone = \"{}\"", zone.name()))
        .replace("{{sample_date}}", &local.date().to_string())
        .replace("{{sample_time}}", &local.strftime("%H:%M").to_string())
}

/// Prints the zone of the vault's times: for a new vault, and where it isn't this machine's.
fn print_zone(context: &Context, workspace: &Workspace, is_new: bool) {
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
