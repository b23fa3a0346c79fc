//! `export`: writes the memories, daily notes, reminders, follow-ups and pins to standard output or a file. The formats
//! are Markdown, JSON Lines, iCalendar (reminders and follow-ups alone), and a folder in the Open Knowledge Format.

use std::ffi::OsStr;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::cli::prelude::*;
use crate::config::json_file;
use crate::transfer::{VaultContents, calendar, is_export, markdown, okf, records};

/// Writes out memories, days, reminders, follow-ups and pins: as one Markdown document, as JSON Lines
/// for `import`, as an iCalendar that a phone can subscribe to, or as a folder in the Open Knowledge Format.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The form.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "markdown")]
    format: Format,
    /// Writes to this file, outside the vault's notes, instead of standard output; an earlier export is
    /// replaced, any other file is not. For `okf` it is a folder; one that holds other files, too, is not replaced.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One readable document.
    Markdown,
    /// JSON Lines: what stands where, a line each.
    Jsonl,
    /// iCalendar: reminders and follow-ups as events.
    Ics,
    /// The Open Knowledge Format 0.2: a folder with a file for each thing, and where it comes from; needs `--output`.
    Okf,
}

/// Runs `export`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let contents = VaultContents::read(&workspace.vault, &workspace.settings, &workspace.zone)?;
    contents.unread.iter().for_each(|error| context.ui.note(format!("left out: {error}")));
    let status = Status::of(contents.unread.is_empty());
    let count = contents.reminders.1.near_misses.len() + contents.commitments.1.findings.len();
    if count > 0 {
        context.ui.note(format!(
            "lines with problems, which may be left out: {count} (`vault-agent check` shows them)"
        ));
    }
    let now = workspace.clock.now();
    let text = match args.format {
        Format::Markdown => markdown::document(&contents, now),
        Format::Jsonl => records::lines_of(&contents),
        Format::Ics => calendar::calendar(&contents, now),
        Format::Okf => {
            let Some(folder) = &args.output else {
                return Err(CommandError::usage("`--format okf` writes a folder: name it with `--output`"));
            };
            let inbox = crate::capture::Inbox::new(workspace.memory()).read()?;
            write_folder(folder, &okf::bundle(&contents, &inbox, now), workspace.vault.root())?;
            String::new()
        }
    };
    match &args.output {
        Some(_) if args.format == Format::Okf => {}
        Some(file) => write(file, &text, workspace.vault.root())?,
        None if !context.ui.json => {
            context.ui.document_of_notes(&text);
            return Ok(status);
        }
        None => {}
    }
    let (format, file) = (args.format.to_possible_value(), args.output.as_ref());
    // A calendar has events alone, and not of every follow-up.
    let count = |all: usize, category: &str| match args.format {
        Format::Ics => text.matches(&format!("\r\nCATEGORIES:{category}\r\n")).count(),
        _ => all,
    };
    let memories = count(contents.memory.1.bullets.len(), "Memory");
    let daily = count(contents.days.iter().map(|day| day.file.bullets.len()).sum(), "Memory");
    let reminders = count(contents.reminders.1.reminders.len(), "Reminder");
    let commitments = count(contents.commitments.1.blocks.len(), "Follow-up");
    let pins = count(contents.pins.1.len(), "Pin");
    let exported = json!({
        "format": format.as_ref().map(PossibleValue::get_name),
        "file": file.map(|file| file.to_string_lossy()),
        "memories": memories,
        "daily": daily,
        "reminders": reminders,
        "commitments": commitments,
        "pins": pins,
        "text": file.is_none().then_some(&text),
    });
    let place = file.map(|file| format!("`{}`: ", file.display())).unwrap_or_default();
    let said = format!(
        "{place}{memories} memories, {daily} notes of days, {reminders} reminders, {commitments} follow-ups, {pins} pins"
    );
    context.answer(&exported, said)?;
    Ok(status)
}

/// Writes a file whole or not at all, so that a calendar is never fetched half-written.
fn write(file: &Path, text: &str, vault: &Path) -> Result<()> {
    // A link means its target.
    let file = &file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let (folder, name) = parts(file)?;
    let is_note = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    if is_note && folder.canonicalize().is_ok_and(|folder| folder.starts_with(vault)) {
        let error = CommandError::usage(format!("`{}` would be a note of the vault", file.display()));
        return Err(error.hint("an export repeats the vault's notes: write it outside the vault"));
    }
    // A device, a pipe or a link to nothing would be replaced by a file, and a pipe never be read to its end.
    if std::fs::metadata(file).map_or(file.is_symlink(), |meta| !meta.is_file()) {
        let error = CommandError::usage(format!("`{}` is no regular file", file.display()));
        return Err(error.hint("without `--output` an export goes to standard output"));
    }
    if std::fs::read(file).is_ok_and(|bytes| !bytes.is_empty() && !is_export(&bytes)) {
        let error = CommandError::usage(format!("`{}` exists and is not an export", file.display()));
        return Err(error.hint("name another file, or remove this one first"));
    }
    json_file::replace(file, text.as_bytes(), false)
        .map_err(|error| CommandError::problem(format!("`{}` could not be written: {error}", file.display())))
}

/// The folder of a path, and its last part.
fn parts(path: &Path) -> Result<(&Path, &OsStr)> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name();
    name.map(|name| (parent, name))
        .ok_or_else(|| CommandError::usage(format!("`{}` has no name", path.display())))
}

/// Writes a folder outside the vault, whole or not at all; it replaces an earlier export, and no other folder.
fn write_folder(folder: &Path, files: &[okf::OkfFile], vault: &Path) -> Result<()> {
    let folder = &folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let shown = folder.display();
    let (parent, name) = parts(folder)?;
    if folder == vault || parent.canonicalize().is_ok_and(|parent| parent.starts_with(vault)) {
        let error = CommandError::usage(format!("`{shown}` would be within the vault"));
        return Err(error.hint("an export repeats the vault's notes: write it outside the vault"));
    }
    let is_there = folder.symlink_metadata().is_ok();
    let index = std::fs::read_to_string(folder.join("index.md")).unwrap_or_default();
    let ours = okf::listed_in(&index).unwrap_or_default();
    let other = other_file(folder, Path::new(""), &ours).unwrap_or_else(|_| Some(name.into()));
    if is_there && let Some(other) = other {
        let words = format!("`{shown}` is no export, or no export alone: there is `{}`", other.display());
        return Err(CommandError::usage(words).hint("name another folder, or remove this one first"));
    }
    let beside =
        |mark: &str| parent.join(format!(".{}.{}.{mark}", name.to_string_lossy(), std::process::id()));
    let (new, old) = (beside("new"), beside("old"));
    let made = files.iter().try_for_each(|file| {
        let path = new.join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap_or(&new))?;
        std::fs::write(path, &file.text)
    });
    let put = made.and_then(|()| {
        if is_there {
            std::fs::rename(folder, &old)?;
        }
        std::fs::rename(&new, folder).inspect_err(|_| drop(std::fs::rename(&old, folder)))
    });
    let _ = std::fs::remove_dir_all(&new);
    put.map_err(|error| CommandError::problem(format!("`{shown}` could not be written: {error}")))?;
    let _ = std::fs::remove_dir_all(&old);
    Ok(())
}

/// The first file or folder below `inside` of the export `folder` that isn't of the files `ours`.
fn other_file(folder: &Path, inside: &Path, ours: &HashSet<PathBuf>) -> std::io::Result<Option<PathBuf>> {
    for entry in folder.join(inside).read_dir()? {
        let entry = entry?;
        let path = inside.join(entry.file_name());
        let is_folder = entry.file_type()?.is_dir();
        let is_ours = ours.contains(&path) || (is_folder && ours.iter().any(|one| one.starts_with(&path)));
        if !is_ours {
            return Ok(Some(path));
        }
        if is_folder && let Some(other) = other_file(folder, &path, ours)? {
            return Ok(Some(other));
        }
    }
    Ok(None)
}
