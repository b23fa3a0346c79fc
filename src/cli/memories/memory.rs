//! `memory`: saves, lists, reads, changes and removes memories.

use super::arguments::{line_range, parse_day, parse_scope, previous_scope, text_argument};
use super::saving::{SaveArgs, one_line, print_saved, save};
use crate::cli::context::note_line;
use crate::cli::prelude::*;
use crate::cli::reminders::commitment;
use crate::format::pinned::LinkTarget;
use crate::memory::{
    ForgottenMemory, ListedDay, ListedSection, MemoryError, MemoryKind, MemoryRef, read_working, working,
};

/// Saves, lists, reads and removes memories.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Saves a fact, a note of the day or a follow-up, and prints it as it stands in the note.
    Save(SaveArgs),
    /// Lists memories.
    List {
        /// The kind to list: `long`, `daily`, `commitment` or `pins`.
        #[arg(default_value = "long")]
        kind: String,
        /// Only what belongs to these scopes: `global`, `here`, `project:ID` and so on, with commas between them.
        #[arg(long, value_name = "S", value_delimiter = ',')]
        scope: Vec<String>,
        /// Only this day's note, with `daily`: `2026-12-01`, `today` or `yesterday`.
        #[arg(long, value_name = "DATE")]
        date: Option<String>,
        /// Also follow-ups that are delivered or cancelled.
        #[arg(long)]
        all: bool,
    },
    /// Prints a note of the vault, or some of its lines.
    Get {
        /// The note, as in `MEMORY.md`.
        path: String,
        /// One line, or a range such as `3-7`.
        #[arg(long, value_name = "LINES")]
        lines: Option<String>,
    },
    /// Moves a bullet of a day's note into `MEMORY.md`, with a link to the day.
    Promote {
        /// The day: `2026-12-01`, `today` or `yesterday`.
        date: String,
        /// The line of the bullet in the day's note.
        line: usize,
        /// The words of the bullet: then it is found by them, at any line.
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        /// The section that it goes to.
        #[arg(long, value_name = "NAME")]
        section: Option<String>,
    },
    /// Pins a text, or a line of a note.
    Pin {
        /// The words.
        #[arg(required_unless_present_any = ["line", "link"])]
        text: Option<String>,
        /// The target of the pin: a note, with `#^ID` for a block of it.
        #[arg(long, value_name = "LINK")]
        link: Option<String>,
        /// The line of a note to pin: `MEMORY.md:12`.
        #[arg(long, value_name = "NOTE:LINE", conflicts_with_all = ["text", "link"])]
        line: Option<String>,
    },
    /// Unpins what is pinned with these words, or the only pin that begins with them.
    Unpin {
        /// The words.
        text: String,
    },
    /// Changes the text of a memory in `MEMORY.md`, a day's note or the pins. Its time, fields, scope and id stay.
    Edit {
        /// The note.
        path: String,
        /// The present words of the memory, or its exact lines.
        text: String,
        /// The new words; `-` reads it from standard input.
        new: String,
        /// One of its lines, where several memories say the same.
        #[arg(long, value_name = "LINE")]
        line: Option<usize>,
        /// The note's hash as `memory get --json` showed it: another note is not written to.
        #[arg(long, value_name = "HASH")]
        expected: Option<String>,
    },
    /// Removes a memory from `MEMORY.md`, a day's note or the pins.
    Forget {
        /// The note.
        path: String,
        /// The line of the bullet.
        line: usize,
        /// The words of the bullet: then it is found by them, at any line.
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
    },
    /// Shows, sets or clears working memory, which a session is given at its start.
    Working {
        /// Replaces it with this text; `-` reads it from standard input.
        #[arg(long, value_name = "TEXT", conflicts_with = "clear")]
        set: Option<String>,
        /// Removes it.
        #[arg(long)]
        clear: bool,
    },
}

/// Runs `memory`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let memory = workspace.memory();
    let origin = context.origin();
    match args {
        Args::Save(args) => save(context, &workspace, args),
        Args::List { kind, scope, date, all } => {
            list(context, &workspace, kind, scope, date.as_deref(), *all)
        }
        Args::Get { path, lines } => {
            let excerpt = memory.get(path, lines.as_deref().map(line_range).transpose()?)?;
            context.ui.json(&excerpt);
            context.ui.line(excerpt.text.trim_end_matches(['\n', '\r']));
            if excerpt.truncated {
                let (path, next) = (&excerpt.path, excerpt.end_line + 1);
                context.ui.note(format!("the rest of `{path}` is left out: go on with `--lines {next}-`"));
            }
            Ok(Status::Fine)
        }
        Args::Promote { date, line, text, section } => {
            let day = parse_day(date, &workspace)?;
            let promoted = memory.promote(day, *line, text.as_deref(), section.as_deref(), &origin)?;
            print_saved(context, &promoted, &promoted.saved, "promoted to")?;
            if promoted.removed {
                return Ok(Status::Fine);
            }
            let from = &promoted.from;
            context.ui.note(format!("the bullet in `{from}` was changed just now and stays there"));
            Ok(Status::Problem)
        }
        Args::Pin { text, link, line } => {
            let saved = match line {
                Some(place) => {
                    let (path, line) = note_line(place)?;
                    memory.pin_line(path, line, None, &origin)?
                }
                None => {
                    let target = link.as_deref().map(LinkTarget::named);
                    memory.pin(text.as_deref().unwrap_or_default(), target.as_ref(), &origin)?
                }
            };
            print_saved(context, &saved, &saved, "pinned in")
        }
        Args::Unpin { text } => {
            let gone = memory.unpin(text, workspace.unpinned_before(text), &origin)?;
            print_removed(context, &gone, "unpinned; it stood in")
        }
        Args::Forget { path, line, text } => {
            if text.is_none() {
                refuse_moved_line(&workspace, path, *line)?;
            }
            let gone = memory.forget(path, *line, text.as_deref(), &origin)?;
            print_removed(context, &gone, "removed from")
        }
        Args::Edit { path, text, new, line, expected } => {
            let expected = expected.as_deref();
            let meant = MemoryRef { path, text, line: *line, expected, ..MemoryRef::default() };
            let edited = memory.edit(&meant, &text_argument(new)?, &origin)?;
            print_saved(context, &edited, &edited.saved, "changed in")
        }
        Args::Working { set, clear } => working_memory(context, &workspace, set.as_deref(), *clear),
    }
}

fn print_removed(context: &Context, gone: &ForgottenMemory, done: &str) -> CommandResult {
    context.answer(gone, &gone.text)?;
    context.ui.note(format!("{done} `{}`, line {}", gone.path, gone.line));
    Ok(Status::Fine)
}

/// Refuses a line number that was removed just now: the line that has this number now has moved up.
fn refuse_moved_line(workspace: &Workspace, path: &str, line: usize) -> Result<()> {
    let path = workspace.memory().note_named(path)?;
    let Some(text) = workspace.removed_line(&path, line) else { return Ok(()) };
    if workspace.memory().words_in(&path, &workspace.vault.read(&path)?, line).is_none() {
        return Ok(());
    }
    let shown = crate::format::quote(text.lines().next().unwrap_or_default());
    Err(MemoryError::TakenBefore { path, line, shown }.into())
}

fn list(
    context: &Context,
    workspace: &Workspace,
    kind: &str,
    scopes: &[String],
    date: Option<&str>,
    all: bool,
) -> CommandResult {
    if date.is_some() && kind != MemoryKind::Daily.to_string() {
        return Err(CommandError::usage(format!("`--date` means nothing with `memory list {kind}`"))
            .hint("list a day with `memory list daily --date DATE`, or leave it out"));
    }
    let memory = workspace.memory();
    let here = scopes.iter().any(|text| text == "here");
    let mut scopes = scopes.iter().map(|text| parse_scope(Some(text))).collect::<Result<Vec<_>, _>>()?;
    // Memories from before projects had ids belong to this folder, too.
    scopes.extend(previous_scope().filter(|_| here));
    let scopes = (!scopes.is_empty()).then_some(&scopes[..]);
    let numbered = |line: usize, text: &str| format!("{line:>4}  {}", one_line(text));
    if kind == "pins" {
        let pins = memory.pins()?;
        let none = format!("no pins in `{}`", workspace.settings.paths.pinned);
        return context.list(&pins, none, |pin| numbered(pin.line, &pin.text));
    }
    let kind = kind.parse::<MemoryKind>().map_err(|error| CommandError::from(error).hint("or `pins`"))?;
    match kind {
        MemoryKind::Long => {
            let sections = memory.list_long(scopes)?;
            let lines = sections.iter().flat_map(|ListedSection { section, memories, .. }| {
                let head = section.iter().map(|name| format!("## {name}"));
                head.chain(memories.iter().map(move |memory| numbered(memory.line, &memory.text)))
            });
            if sections.is_empty() {
                context.ui.note(format!("no memories in `{}`", workspace.settings.paths.memory));
            }
            context.report(&sections, lines, true)
        }
        MemoryKind::Daily => {
            let date = date.map(|text| parse_day(text, workspace)).transpose()?;
            let days = memory.list_daily(date, scopes)?;
            let lines = days.iter().flat_map(|ListedDay { path, memories, .. }| {
                let timed = memories.iter().map(|memory| {
                    let (line, time) = (memory.line, memory.timestamp.as_deref().unwrap_or(""));
                    format!("{line:>4}  {time:<5}  {}", one_line(&memory.text))
                });
                std::iter::once(path.to_string()).chain(timed)
            });
            if days.is_empty() {
                context.ui.note(format!("no notes of days in `{}`", workspace.settings.paths.daily));
            }
            context.report(&days, lines, true)
        }
        MemoryKind::Commitment => commitment::list(context, &memory.ledger(), all),
    }
}

fn working_memory(context: &Context, workspace: &Workspace, set: Option<&str>, clear: bool) -> CommandResult {
    let (settings, origin) = (&workspace.settings, context.origin());
    let now = workspace.clock.now();
    if !working::is_on(settings) {
        return Err(MemoryError::WorkingOff.into());
    }
    let found = match set {
        Some(text) => {
            let text = text_argument(text)?;
            // Nobody knows what the assistant has read before.
            let text = if origin.actor == Actor::Assistant { working::untrusted(&text) } else { text };
            Some(working::write_working(&workspace.editor, settings, &text, now, &origin)?)
        }
        None if clear => {
            working::clear_working(&workspace.editor, settings, &origin)?;
            None
        }
        None => read_working(settings, now, &working::reader(&workspace.vault)),
    };
    let path = working::working_path(settings).map(|path| path.to_string());
    let document = found
        .as_ref()
        .map(|it| json!({"path": path, "updated": it.updated, "expires": it.expires, "text": it.text}));
    context.report(&document, found.iter().map(|it| &it.text), true)?;
    context.ui.note(match &found {
        Some(it) => format!("good until {}", it.expires),
        None => "there is no working memory, or it has expired".to_owned(),
    });
    Ok(Status::Fine)
}
