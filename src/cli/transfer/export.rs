//! `export`: writes all memories, reminders and follow-ups for people, programs and calendars.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::cli::prelude::*;
use crate::config::json_file;
use crate::transfer::{FIRST, VaultContents, calendar, markdown, okf, records};

/// Writes out memories, days, reminders, follow-ups and pins: as one Markdown document, as JSON Lines
/// for `import`, as an iCalendar that a phone can subscribe to, or as a folder in the Open Knowledge Format.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The form.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "markdown")]
    format: Format,
    /// Writes to this file, outside the vault's notes, instead of standard output; an earlier export is
    /// replaced, any other file is not. For `okf` it is a folder.
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
            context.ui.document(text.as_bytes());
            return Ok(Status::Fine);
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
    context.answer(&exported, said)
}

/// Writes a file whole or not at all, so that a calendar is never fetched half-written.
fn write(file: &Path, text: &str, vault: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name =
        file.file_name().ok_or_else(|| CommandError::usage(format!("`{}` is no file", file.display())))?;
    let is_note = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    if is_note && folder.canonicalize().is_ok_and(|folder| folder.starts_with(vault)) {
        let error = CommandError::usage(format!("`{}` would be a note of the vault", file.display()));
        return Err(error.hint("an export says again what the notes say; put it somewhere else"));
    }
    if std::fs::read(file).is_ok_and(|bytes| !bytes.is_empty() && !is_export(&bytes)) {
        let error = CommandError::usage(format!("`{}` is there, and is no export", file.display()));
        return Err(error.hint("name another file, or remove this one first"));
    }
    json_file::replace(file, text.as_bytes(), false)
        .map_err(|error| CommandError::problem(format!("`{}` could not be written: {error}", file.display())))
}

/// Writes a folder outside the vault, whole or not at all; it replaces an earlier export, and no other folder.
fn write_folder(folder: &Path, files: &[okf::OkfFile], vault: &Path) -> Result<()> {
    let shown = folder.display();
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name =
        folder.file_name().ok_or_else(|| CommandError::usage(format!("`{shown}` is no folder's name")))?;
    if parent.canonicalize().is_ok_and(|parent| parent.starts_with(vault)) {
        let error = CommandError::usage(format!("`{shown}` would be within the vault"));
        return Err(error.hint("an export says again what the notes say; put it somewhere else"));
    }
    let is_there = folder.symlink_metadata().is_ok();
    let index = std::fs::read_to_string(folder.join("index.md")).unwrap_or_default();
    let is_ours = index.strip_prefix(okf::HEAD).is_some_and(|rest| rest.starts_with(FIRST));
    let is_empty = folder.read_dir().is_ok_and(|mut all| all.next().is_none());
    if is_there && !is_ours && !is_empty {
        let error = CommandError::usage(format!("`{shown}` is there, and is no export"));
        return Err(error.hint("name another folder, or remove this one first"));
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
        std::fs::rename(&new, folder)
    });
    let _ = std::fs::remove_dir_all(&new);
    put.map_err(|error| CommandError::problem(format!("`{shown}` could not be written: {error}")))?;
    let _ = std::fs::remove_dir_all(&old);
    Ok(())
}

/// Whether a file is an earlier export.
fn is_export(bytes: &[u8]) -> bool {
    let firsts: [&[u8]; 3] = [FIRST.as_bytes(), calendar::FIRST.as_bytes(), b"{\"kind\":"];
    firsts.iter().any(|first| bytes.starts_with(first))
}
