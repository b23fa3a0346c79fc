//! `memory`: the memory notes from the command line.

use std::io::Read;

use jiff::civil::Date;
use serde_json::json;

use crate::cli::{CommandError, CommandResult, Context, Status};
use crate::format::pinned::Target;
use crate::memory::{
    Draft, Fields, ListedDay, ListedSection, Meant, MemoryError, NewMemory, Saved, Scope, Shelf, Temporal,
    Tier, derive, derived_before, read_working, working,
};
use crate::reminders::ReminderError;
use crate::workspace::Workspace;
use crate::{schedule, when};

/// Saves, lists, reads and removes memories.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Saves a fact, a note of the day or a follow-up, and prints it as it stands in the note.
    Save(SaveArgs),
    /// Lists memories.
    List {
        /// What to list: `long`, `daily`, `commitment` or `pins`.
        #[arg(default_value = "long")]
        shelf: String,
        /// Only what belongs to these scopes: `global`, `here`, `project:ID` and so on, with commas between them.
        #[arg(long, value_name = "S", value_delimiter = ',')]
        scope: Vec<String>,
        /// Only this day's note: `2026-12-01`, `today` or `yesterday`.
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
        /// What the bullet says: then it is that one, wherever it stands.
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        /// The section that it goes to.
        #[arg(long, value_name = "NAME")]
        section: Option<String>,
    },
    /// Pins words, or a line of a note.
    Pin {
        /// The words.
        #[arg(required_unless_present_any = ["line", "link"])]
        text: Option<String>,
        /// What the pin points to: a note, with `#^ID` for a block of it.
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
    /// Lets a memory of `MEMORY.md`, a day's note or the pins say something else. Its time, fields, scope and id stay.
    Edit {
        /// The note.
        path: String,
        /// What the memory says now: its words, or its exact lines.
        text: String,
        /// What it shall say; `-` reads it from standard input.
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
        /// What the bullet says: then it is that one, wherever it stands.
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

#[derive(Debug, clap::Args)]
struct SaveArgs {
    /// What is to be remembered; `-` reads it from standard input.
    text: String,
    /// Where to: `long` (MEMORY.md), `daily` (today's note) or `commitment` (a follow-up).
    #[arg(long, value_name = "SHELF", default_value = "long")]
    to: String,
    /// The section of MEMORY.md; made if there is none. `Notes` if none is named.
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Whose it is: `global`, `project:ID`, `agent:ID`, `user:ID`, `custom:NAME`, or `here` for this folder's project.
    /// Without it, what the environment names (VAULT_AGENT_SCOPE, VAULT_AGENT_PROJECT), else `global`.
    #[arg(long, value_name = "S")]
    scope: Option<String>,
    /// How much it matters, 0 to 1.
    #[arg(long, value_name = "N")]
    importance: Option<f64>,
    /// How sure it is, 0 to 1.
    #[arg(long, value_name = "N")]
    confidence: Option<f64>,
    /// How lasting it is: `core`, `working` or `peripheral`.
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
    /// Whether the fact may change: `static` or `dynamic`.
    #[arg(long, value_name = "KIND")]
    temporal: Option<String>,
    /// When a follow-up is due: `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`, `übermorgen 17 Uhr`.
    #[arg(long, value_name = "WHEN")]
    due: Option<String>,
    /// How exactly a follow-up's time is meant: `precise` or `soft`.
    #[arg(long, value_name = "P")]
    precision: Option<String>,
    /// Where a follow-up is told: `channel:ID`, `thread:ID` or `user:ID`.
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// The turn that a follow-up came from.
    #[arg(long, value_name = "TURN")]
    source: Option<String>,
}

/// Runs `memory`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let memory = workspace.memory();
    let origin = context.origin();
    match &args.action {
        Action::Save(args) => save(context, &workspace, args),
        Action::List { shelf, scope, date, all } => {
            list(context, &workspace, shelf, scope, date.as_deref(), *all)
        }
        Action::Get { path, lines } => {
            let excerpt = memory.get(path, lines.as_deref().map(range).transpose()?)?;
            context.ui.json(&excerpt);
            context.ui.line(excerpt.text.trim_end_matches(['\n', '\r']));
            if excerpt.truncated {
                let (path, next) = (&excerpt.path, excerpt.end_line + 1);
                context.ui.note(format!("the rest of `{path}` is left out: go on with `--lines {next}-`"));
            }
            Ok(Status::Fine)
        }
        Action::Promote { date, line, text, section } => {
            let day = day(date, &workspace)?;
            let meant = text.clone().or_else(|| workspace.taken_from(&memory.daily_path(day), *line));
            let promoted = memory.promote(day, *line, meant.as_deref(), section.as_deref(), &origin)?;
            context.ui.json(&promoted);
            tell(context, &promoted.saved, "promoted to");
            if promoted.removed {
                return Ok(Status::Fine);
            }
            let from = &promoted.from;
            context.ui.note(format!("the bullet in `{from}` was changed just now and stays there"));
            Ok(Status::Problem)
        }
        Action::Pin { text, link, line } => {
            let saved = match line {
                Some(place) => {
                    let (path, line) = place_of(place)?;
                    memory.pin_line(path, line, &origin)?
                }
                None => {
                    let target = link.as_deref().map(target);
                    memory.pin(text.as_deref().unwrap_or_default(), target.as_ref(), &origin)?
                }
            };
            context.ui.json(&saved);
            tell(context, &saved, "pinned in");
            Ok(Status::Fine)
        }
        Action::Unpin { text } => {
            let gone = memory.unpin(text, workspace.unpinned_before(text), &origin)?;
            context.ui.json(&gone);
            context.ui.line(&gone.text);
            context.ui.note(format!("unpinned; it stood in `{}`, line {}", gone.path, gone.line));
            Ok(Status::Fine)
        }
        Action::Forget { path, line, text } => {
            if text.is_none() {
                not_again(&workspace, path, *line)?;
            }
            let gone = memory.forget(path, *line, text.as_deref(), &origin)?;
            context.ui.json(&gone);
            context.ui.line(&gone.text);
            context.ui.note(format!("removed from `{}`, line {}", gone.path, gone.line));
            Ok(Status::Fine)
        }
        Action::Edit { path, text, new, line, expected } => {
            let meant = Meant { path, text, line: *line, expected: expected.as_deref() };
            let edited = memory.edit(&meant, &words(new)?, &origin)?;
            context.ui.json(&edited);
            tell(context, &edited.saved, "changed in");
            Ok(Status::Fine)
        }
        Action::Working { set, clear } => working_memory(context, &workspace, set.as_deref(), *clear),
    }
}

/// Refuses a line that was taken out just now: what stands there has moved up, and wasn't meant.
fn not_again(workspace: &Workspace, path: &str, line: usize) -> Result<(), CommandError> {
    let path = workspace.memory().note_named(path)?;
    let Some(text) = workspace.taken_from(&path, line) else { return Ok(()) };
    let shown = crate::format::quote(text.lines().next().unwrap_or_default());
    Err(MemoryError::TakenBefore { path, line, shown }.into())
}

fn save(context: &Context, workspace: &Workspace, args: &SaveArgs) -> CommandResult {
    let now = workspace.clock.now();
    let (memory, origin) = (workspace.memory(), context.origin());
    let text = words(&args.text)?;
    let shelf: Shelf = args.to.parse()?;
    let fact = || -> Result<NewMemory<'_>, CommandError> {
        let fields = Fields {
            importance: args.importance,
            confidence: args.confidence,
            tier: args.tier.as_deref().map(named::<Tier>).transpose()?,
            temporal: args.temporal.as_deref().map(named::<Temporal>).transpose()?,
        };
        let section = args.section.as_deref();
        // Where no scope is asked for, a tag that the person typed is one.
        let typed = || Scope::of_text(&text).pop().filter(|_| args.scope.is_none());
        let scope = match scope(args.scope.as_deref())? {
            Scope::Global => typed().unwrap_or(Scope::Global),
            scope => scope,
        };
        Ok(NewMemory { section, fields, scope, ..NewMemory::new(&text) })
    };
    only(args, shelf)?;
    let saved = match shelf {
        Shelf::Long => memory.save_fact(&fact()?, now, &origin)?,
        Shelf::Daily => memory.save_note(&fact()?, now, &origin)?,
        Shelf::Commitment => {
            let due = args.due.as_deref().map(|phrase| when::parse_when(phrase, now, &workspace.zone));
            let due = due.transpose().map_err(ReminderError::from)?;
            let draft = Draft {
                due: due.map(|local| schedule::resolve(&workspace.zone, local)),
                precision: args
                    .precision
                    .as_deref()
                    .map(str::parse)
                    .transpose()
                    .map_err(CommandError::usage)?,
                scope: args.place.clone(),
                source: args.source.clone(),
                ..Draft::new(text.as_str())
            };
            let saved = memory.save_commitment(&draft, now, &origin)?;
            if let Some(local) = due {
                context.ui.note(when::said(local, now, &workspace.zone));
            }
            saved
        }
    };
    context.ui.json(&saved);
    tell(context, &saved, "saved in");
    Ok(Status::Fine)
}

/// Refuses options that would be lost without a word, and a follow-up that would never be told.
fn only(args: &SaveArgs, shelf: Shelf) -> Result<(), CommandError> {
    let of_follow_ups = [
        ("--due", args.due.is_some()),
        ("--precision", args.precision.is_some()),
        ("--place", args.place.is_some()),
        ("--source", args.source.is_some()),
    ];
    let of_memories = [
        ("--scope", args.scope.is_some()),
        ("--importance", args.importance.is_some()),
        ("--confidence", args.confidence.is_some()),
        ("--tier", args.tier.is_some()),
        ("--temporal", args.temporal.is_some()),
    ];
    let is_follow_up = shelf == Shelf::Commitment;
    let lost = if is_follow_up { &of_memories[..] } else { &of_follow_ups[..] };
    if let Some((option, _)) = lost.iter().find(|(_, given)| *given) {
        let hint = if is_follow_up {
            "leave it out"
        } else {
            "save a follow-up with `--to commitment`, or leave it out"
        };
        return Err(CommandError::usage(format!("`{option}` means nothing with `--to {shelf}`")).hint(hint));
    }
    if args.section.is_some() && shelf != Shelf::Long {
        return Err(CommandError::usage(format!("`--section` means nothing with `--to {shelf}`"))
            .hint("sections are in MEMORY.md: leave it out, or save with `--to long`"));
    }
    if is_follow_up && args.due.is_none() {
        return Err(CommandError::usage("a follow-up needs the time when it is told: `--due` is missing")
            .hint(when::WHEN_HINT));
    }
    Ok(())
}

/// What a save says: the exact lines, and where they stand.
fn tell(context: &Context, saved: &Saved, done: &str) {
    context.ui.line(&saved.text);
    let done = if saved.existing { "nothing written: it stands in" } else { done };
    context.ui.note(format!("{done} `{}`, line {}", saved.path, saved.line));
    saved.notes.iter().for_each(|note| context.ui.note(note));
}

fn list(
    context: &Context,
    workspace: &Workspace,
    shelf: &str,
    scopes: &[String],
    date: Option<&str>,
    all: bool,
) -> CommandResult {
    let memory = workspace.memory();
    let here = scopes.iter().any(|text| text == "here");
    let mut scopes = scopes.iter().map(|text| scope(Some(text))).collect::<Result<Vec<_>, _>>()?;
    // What was saved before ids told projects of one name apart is this folder's, too.
    scopes.extend(before().filter(|_| here));
    let scopes = (!scopes.is_empty()).then_some(&scopes[..]);
    if shelf == "pins" {
        let pins = memory.pins()?;
        let shown =
            pins.iter().map(|pin| json!({"line": pin.line, "end_line": pin.end_line, "text": pin.text}));
        context.ui.json(&shown.collect::<Vec<_>>());
        pins.iter().for_each(|pin| context.ui.line(format!("{:>4}  {}", pin.line, one_line(&pin.text))));
        return Ok(Status::Fine);
    }
    let shelf = shelf.parse::<Shelf>().map_err(|error| CommandError::from(error).hint("or `pins`"))?;
    match shelf {
        Shelf::Long => {
            let sections = memory.list_long(scopes)?;
            context.ui.json(&sections);
            sections.iter().for_each(|section| print_section(context, section));
        }
        Shelf::Daily => {
            let date = date.map(|text| day(text, workspace)).transpose()?;
            let days = memory.list_daily(date, scopes)?;
            context.ui.json(&days);
            days.iter().for_each(|day| print_day(context, day));
        }
        Shelf::Commitment => {
            let listed = memory.ledger().list(all).map_err(MemoryError::from)?;
            context.ui.json(&listed);
            for it in &listed {
                let due = it.due.as_deref().unwrap_or("no due time");
                context.ui.line(format!("{}  {:<9}  {due}  {}", it.id, it.status, one_line(&it.text)));
            }
        }
    }
    Ok(Status::Fine)
}

fn print_section(context: &Context, section: &ListedSection) {
    if let Some(name) = &section.section {
        context.ui.line(format!("## {name}"));
    }
    for memory in &section.memories {
        context.ui.line(format!("{:>4}  {}", memory.line, one_line(&memory.text)));
    }
}

fn print_day(context: &Context, day: &ListedDay) {
    context.ui.line(format!("{}", day.path));
    for memory in &day.memories {
        let time = memory.timestamp.as_deref().unwrap_or("");
        context.ui.line(format!("{:>4}  {time:<5}  {}", memory.line, one_line(&memory.text)));
    }
}

fn working_memory(context: &Context, workspace: &Workspace, set: Option<&str>, clear: bool) -> CommandResult {
    let (settings, origin) = (&workspace.settings, context.origin());
    let now = workspace.clock.now();
    if !working::is_on(settings) {
        return Err(MemoryError::WorkingOff.into());
    }
    let found = match set {
        Some(text) => Some(working::write_working(&workspace.editor, settings, &words(text)?, now, &origin)?),
        None if clear => {
            working::clear_working(&workspace.editor, settings, &origin)?;
            None
        }
        None => read_working(&workspace.vault, settings, now),
    };
    let path = working::working_path(settings).map(|path| path.to_string());
    context.ui.json(
        &found
            .as_ref()
            .map(|it| json!({"path": path, "updated": it.updated, "expires": it.expires, "text": it.text})),
    );
    match &found {
        Some(it) => {
            context.ui.line(&it.text);
            context.ui.note(format!("good until {}", it.expires));
        }
        None => context.ui.note("there is no working memory, or it has expired"),
    }
    Ok(Status::Fine)
}

/// A text argument; `-` is standard input.
fn words(text: &str) -> Result<String, CommandError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(1024 * 1024).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| CommandError::usage("standard input is not UTF-8 text"))
}

/// A scope as people write it; `here` is this folder's. Without one, what the environment names.
fn scope(text: Option<&str>) -> Result<Scope, CommandError> {
    let env = |name: &str| std::env::var(name).ok();
    match text {
        Some("here") => Ok(derive(&std::env::current_dir()?, env)),
        Some(text) => Ok(text.parse().map_err(MemoryError::from)?),
        // In no folder, only the environment counts.
        None => Ok(derive(std::path::Path::new("/"), env)),
    }
}

/// A scope of `search` and `recall` with this folder's project in the place of `here`.
#[cfg(feature = "index")]
pub(in crate::cli) fn with_here(scope: Option<&str>) -> Result<Option<String>, CommandError> {
    let Some(text) = scope else { return Ok(None) };
    let mut parts = Vec::new();
    for part in text.split(',') {
        if part.trim() == "here" {
            parts.push(self::scope(Some("here"))?.to_string());
            parts.extend(before().map(|scope| scope.to_string()));
        } else {
            parts.push(part.to_owned());
        }
    }
    Ok(Some(parts.join(",")))
}

/// What this folder's project was called by its folder's name alone.
fn before() -> Option<Scope> {
    derived_before(&std::env::current_dir().ok()?, |name| std::env::var(name).ok())
}

fn named<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, CommandError> {
    serde_json::from_value(json!(text)).map_err(CommandError::usage)
}

fn day(text: &str, workspace: &Workspace) -> Result<Date, CommandError> {
    let today = workspace.zone.tz().to_datetime(workspace.clock.now()).date();
    match text {
        "today" => Ok(today),
        "yesterday" => Ok(today.yesterday().unwrap_or(today)),
        text => text.parse().map_err(|_| {
            CommandError::usage(format!("`{text}` is no day"))
                .hint("write it as `2026-12-01`, `today` or `yesterday`")
        }),
    }
}

/// `3`, `3-7`, `3-`.
fn range(text: &str) -> Result<(usize, usize), CommandError> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let to = if to.is_empty() { Ok(usize::MAX) } else { to.trim().parse() };
    match (from.trim().parse(), to) {
        (Ok(from), Ok(to)) => Ok((from, to)),
        _ => {
            Err(CommandError::usage(format!("`{text}` is no range of lines"))
                .hint("write `3`, `3-7` or `3-`"))
        }
    }
}

/// `MEMORY.md:12`.
fn place_of(text: &str) -> Result<(&str, usize), CommandError> {
    let place = text.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
    place.ok_or_else(|| {
        CommandError::usage(format!("`{text}` names no line of a note")).hint("write it as `MEMORY.md:12`")
    })
}

/// A link as `note#^block`, `note#heading` or `note`, with or without brackets.
fn target(text: &str) -> Target {
    let bare = text.trim().trim_start_matches("[[").trim_end_matches("]]");
    let (path, place) = bare.split_once('#').map_or((bare, None), |(path, place)| (path, Some(place)));
    let block = place.and_then(|place| place.strip_prefix('^'));
    Target {
        path: path.to_owned(),
        block_id: block.map(str::to_owned),
        heading: place.filter(|_| block.is_none()).map(str::to_owned),
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

impl From<MemoryError> for CommandError {
    fn from(error: MemoryError) -> Self {
        let near =
            error.near().iter().map(|one| format!("line {}: {}", one.line, crate::format::quote(&one.text)));
        let hints: Vec<String> = error.hint().map(str::to_owned).into_iter().chain(near).collect();
        let out = if error.is_usage() { Self::usage(error) } else { Self::problem(error) };
        hints.into_iter().fold(out, Self::hint)
    }
}
