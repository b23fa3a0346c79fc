//! `export`: everything that is remembered and planned, for people, programs and calendars.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{CommandError, CommandResult, Context, Status};
use crate::transfer::{Contents, calendar, markdown, records};

/// Writes out memories, days, reminders, follow-ups and pins: as one Markdown document, as JSON Lines
/// for `import`, or as an iCalendar that a phone can subscribe to.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The form.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "markdown")]
    format: Format,
    /// Writes to this file, outside the vault's notes, instead of standard output; an earlier export is
    /// replaced, any other file is not.
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
}

/// What was written.
#[derive(Debug, Serialize)]
struct Exported<'a> {
    format: &'a str,
    /// The file, where one was named.
    file: Option<&'a Path>,
    memories: usize,
    daily: usize,
    reminders: usize,
    commitments: usize,
    pins: usize,
    /// The export itself, where no file was named.
    text: Option<&'a str>,
}

/// Runs `export`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let contents = Contents::read(&workspace.vault, &workspace.settings, &workspace.zone)?;
    let now = workspace.clock.now();
    let text = match args.format {
        Format::Markdown => markdown::document(&contents, now),
        Format::Jsonl => records::lines_of(&contents),
        Format::Ics => calendar::calendar(&contents, now),
    };
    match &args.output {
        Some(file) => write(file, &text, workspace.vault.root())?,
        None if !context.ui.json => return print(&text),
        None => {}
    }
    let exported = Exported {
        format: args.format.name(),
        file: args.output.as_deref(),
        memories: contents.memory.1.bullets.len(),
        daily: contents.days.iter().map(|day| day.file.bullets.len()).sum(),
        reminders: contents.reminders.1.reminders.len(),
        commitments: contents.commitments.1.blocks.len(),
        pins: contents.pins.1.len(),
        text: args.output.is_none().then_some(&text),
    };
    context.ui.line(exported.words());
    context.ui.json(&exported);
    Ok(Status::Fine)
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Jsonl => "jsonl",
            Self::Ics => "ics",
        }
    }
}

impl Exported<'_> {
    fn words(&self) -> String {
        let file = self.file.map(|file| format!("`{}`: ", file.display())).unwrap_or_default();
        let Self { memories, daily, reminders, commitments, pins, .. } = self;
        format!(
            "{file}{memories} memories, {daily} notes of days, {reminders} reminders, {commitments} follow-ups, {pins} pins"
        )
    }
}

/// To standard output, byte for byte; a reader that goes away ends it quietly.
fn print(text: &str) -> CommandResult {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Status::Fine),
    }
}

/// To a file, whole or not at all: whoever fetches a calendar never sees half of one.
fn write(file: &Path, text: &str, vault: &Path) -> Result<(), CommandError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name =
        file.file_name().ok_or_else(|| CommandError::usage(format!("`{}` is no file", file.display())))?;
    let is_note = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    if is_note && folder.canonicalize().is_ok_and(|folder| folder.starts_with(vault)) {
        let error = CommandError::usage(format!("`{}` would be a note of the vault", file.display()));
        return Err(error.hint("an export says again what the notes say; put it somewhere else"));
    }
    match std::fs::read(file) {
        Ok(bytes) if !bytes.is_empty() && !is_export(&bytes) => {
            let error = CommandError::usage(format!("`{}` is there, and is no export", file.display()));
            return Err(error.hint("name another file, or remove this one first"));
        }
        _ => {}
    }
    let temporary = folder.join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let written = std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, file));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        CommandError::problem(format!("`{}` could not be written: {error}", file.display()))
    })
}

/// Whether a file is an earlier export.
fn is_export(bytes: &[u8]) -> bool {
    let firsts: [&[u8]; 3] = [markdown::FIRST.as_bytes(), calendar::FIRST.as_bytes(), b"{\"kind\":"];
    firsts.iter().any(|first| bytes.starts_with(first))
}
