//! Defines the tools `memory_save`, `memory_edit` and `memory_forget`. The first two answer with the note's lines
//! after the write, `memory_forget` with the removed lines.

use super::prelude::*;
use super::reading::instant;
use crate::embed::{Embedder, StaticModel};
use crate::format::commitment::{Commitment, Precision};
use crate::format::invisible;
use crate::format::memory::plain;
use crate::mcp::untrusted;
use crate::memory::{ListedMemory, MemoryKind, MemoryRef, NewMemory, SavedMemory};
use crate::reminders::ReminderError;
use crate::when::{self, WhenError};

const SAVE_SCOPE: Argument = line(
    "memory_scope",
    false,
    "Whose: `global` (default; the user), `here` (this project), `project:ID`, `agent:ID`, `user:ID`, `custom:NAME`.",
);

const EXPECTED: Argument = line("expected", false, "`hash` of `memory_get`: refused if changed.");

const NOTE: Argument = line("path", true, "Its note, as in `MEMORY.md`.");

const SAYS: Argument = text("text", MAX_TEXT_CHARS, true, "Its exact words now, all of them.");

const WHICH: Argument = whole("line", 1, 10_000_000, None, "Only where several say the same.");

pub(super) const SAVE: ToolEntry = ToolEntry {
    doc: "Saves a durable fact (`long`), a note of the day (`daily`), or a follow-up delivered when due (`commitment`). Saved only if the answer shows its lines.",
    arguments: &[
        choice("scope", MEMORY_KINDS, true, "Which kind."),
        text("content", MAX_TEXT_CHARS, true, "Words that make sense by themselves."),
        line("key", false, "`long`: its section, as in `Kyle`."),
        line("due", false, "`commitment`, required: RFC 3339, local `2026-05-08 19:00`, `tomorrow 9am`."),
        choice("precision", &["precise", "soft"], false, "`commitment`: is the time exact?"),
        line("commitment_scope", false, "`commitment`: sent to `channel:ID`, `thread:ID` or `user:ID`."),
        SAVE_SCOPE,
        EXPECTED,
    ],
    // A note of the day bears its minute, and a follow-up that was told can be made again.
    ..tool::<Saved>("memory_save", "Save a memory", Effect::Adds, save)
};

/// The written lines, read back from the note.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Saved {
    /// The note, relative to the vault.
    path: String,
    /// The first line, from 1.
    line: usize,
    /// The last line.
    end_line: usize,
    /// The exact lines.
    text: String,
    /// A follow-up's id.
    id: Option<String>,
    /// The section that it stands in.
    section: Option<String>,
    /// Its owner: `global`, `project:<id>`…
    memory_scope: String,
    /// Whether it stood there before, and nothing was written.
    existing: bool,
    /// In what it differs from what was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Up to three memories that say something like it, untrusted as all that notes say: does it repeat or contradict one?
    #[serde(skip_serializing_if = "Vec::is_empty")]
    near: Vec<NearMemory>,
}

impl From<SavedMemory> for Saved {
    fn from(saved: SavedMemory) -> Self {
        Self {
            path: saved.path.to_string(),
            line: saved.line,
            end_line: saved.end_line,
            text: saved.text,
            id: saved.id,
            section: saved.section,
            memory_scope: saved.scope.to_string(),
            existing: saved.existing,
            notes: saved.notes,
            near: Vec::new(),
        }
    }
}

fn save(call: &McpCall<'_>) -> ToolOutcome {
    let arguments = call.arguments;
    let shelf: MemoryKind = arguments.text("scope").unwrap_or_default().parse()?;
    only(call, shelf)?;
    let content = arguments.text("content").unwrap_or_default();
    let (notes, now) = (call.workspace.memory(), call.workspace.clock.now());
    let scope = call.saving_scope()?;
    let expected = arguments.text("expected");
    let memory = |section| NewMemory { section, scope: scope.clone(), expected, ..NewMemory::new(content) };
    let due = arguments.text("due").map(|text| due(text, call)).transpose()?;
    let saved = match shelf {
        MemoryKind::Long => notes.save_fact(&memory(arguments.text("key")), now, &call.origin),
        MemoryKind::Daily => notes.save_note(&memory(None), now, &call.origin),
        MemoryKind::Commitment => {
            let precision = arguments.text("precision").map(Precision::parse).transpose();
            let draft = Commitment {
                text: content.to_owned(),
                due,
                precision: precision
                    .map_err(|error| ToolFailure::new("unknown_choice", error).of("precision"))?,
                scope: arguments.text("commitment_scope").map(str::to_owned),
                source: call.origin.conversation.clone().filter(|source| is_plain(source)),
                ..Commitment::default()
            };
            notes.save_commitment(&draft, expected, now, &call.origin)
        }
    };
    let saved = saved?;
    let word = if saved.existing { "It was saved already" } else { "Saved" };
    let at = due.map_or_else(String::new, |at| told_at(at, call));
    let words = format!("{word}, {}{at}", place_and_text(&saved));
    let own = (shelf == MemoryKind::Long).then_some(saved.line);
    let near = near(call, content, own);
    let (words, untrusted) = (with_near(words, &near), !near.is_empty());
    Ok(ToolAnswer { untrusted, ..ToolAnswer::new(words, &Saved { near, ..Saved::from(saved) }) })
}

/// The words of a change, with the memories near to it.
fn with_near(words: String, near: &[NearMemory]) -> String {
    if near.is_empty() {
        return words;
    }
    let lines: Vec<String> =
        near.iter().map(|one| format!("{}:{}: {}", one.path, one.line, one.text)).collect();
    format!(
        "{words}\nSimilar, in case it repeats or contradicts them:\n{}",
        untrusted::marked(&lines.join("\n"))
    )
}

/// Refuses arguments that would be lost without a word.
fn only(call: &McpCall<'_>, shelf: MemoryKind) -> Result<()> {
    let belongs = |argument: &str| match argument {
        "key" => shelf == MemoryKind::Long,
        "memory_scope" => shelf != MemoryKind::Commitment,
        _ => shelf == MemoryKind::Commitment,
    };
    for argument in ["key", "due", "precision", "commitment_scope", "memory_scope"] {
        if call.arguments.has(argument) && !belongs(argument) {
            let message = format!("`{argument}` means nothing with scope `{shelf}`");
            let hint = match argument {
                "key" => "`key` is the section of a `long` memory. Leave it out.".to_owned(),
                "memory_scope" => "A follow-up is delivered to a place: give `commitment_scope`.".to_owned(),
                _ => {
                    format!("`{argument}` belongs to scope `commitment`. Leave it out, or save a commitment.")
                }
            };
            return Err(ToolFailure::new("unexpected_argument", message).of(argument).hint(hint));
        }
    }
    if shelf == MemoryKind::Commitment && !call.arguments.has("due") {
        return Err(ToolFailure::new("missing_argument", "`due` is missing: a follow-up is delivered at a time")
            .of("due")
            .hint("Give `due`, as in `2026-05-08T19:00:00Z` or `tomorrow 9am`; what has no time is a `long` memory."));
    }
    Ok(())
}

/// A due time: an instant, or a phrase as reminders take it.
fn due(text: &str, call: &McpCall<'_>) -> Result<jiff::Timestamp> {
    let workspace = &call.workspace;
    instant(text, workspace).or_else(|failure| {
        let now = workspace.clock.now();
        match when::parse_instant(text, now, &workspace.zone) {
            Ok(due) => Ok(due.at),
            Err(WhenError::NotUnderstood { .. }) => Err(failure.of("due")),
            Err(error) => Err(ToolFailure::from(ReminderError::from(error)).of("due")),
        }
    })
}

/// When a follow-up is told, with the weekday and how far away that is.
fn told_at(at: jiff::Timestamp, call: &McpCall<'_>) -> String {
    let workspace = &call.workspace;
    let local = workspace.zone.tz().to_datetime(at);
    let said = when::confirmation_of((local, at), workspace.clock.now(), &workspace.zone);
    format!("\nIt is delivered {said}.")
}

/// Whether a text can stand in a follow-up's header.
fn is_plain(text: &str) -> bool {
    text.len() <= 100 && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

pub(super) const EDIT: ToolEntry = ToolEntry {
    doc: "Changes a memory's words; time, fields and scope stay.",
    arguments: &[NOTE, SAYS, text("new_text", MAX_TEXT_CHARS, true, "Its new words."), WHICH, EXPECTED],
    ..tool::<Edited>("memory_edit", "Change a memory", Effect::Changes, edit)
};

/// A memory that says something else now.
#[derive(Debug, Serialize, JsonSchema)]
struct Edited {
    /// As it stands in the note now.
    #[serde(flatten)]
    saved: Saved,
    /// The exact lines that stood there.
    was: String,
}

fn edit(call: &McpCall<'_>) -> ToolOutcome {
    let (meant, new) = (meant(call), call.arguments.text("new_text").unwrap_or_default());
    let notes = call.workspace.memory();
    let edited = notes.edit(&meant, new, &call.origin)?;
    let saved = edited.saved;
    let word = if saved.existing { "It said that already" } else { "Changed" };
    let was = untrusted::marked(&invisible::strip(&edited.was));
    let words = format!("{word}, {}\nIt was:\n{was}", place_and_text(&saved));
    let own = (saved.path == notes.long_path()).then_some(saved.line);
    let near = near(call, new, own);
    let words = with_near(words, &near);
    let output = Edited { saved: Saved { near, ..Saved::from(saved) }, was: edited.was };
    Ok(ToolAnswer { untrusted: true, ..ToolAnswer::new(words, &output) })
}

pub(super) const FORGET: ToolEntry = ToolEntry {
    doc: "Removes a memory. The user can undo it.",
    arguments: &[NOTE, SAYS, WHICH, EXPECTED],
    ..tool::<Removed>("memory_forget", "Forget a memory", Effect::Removes, forget)
};

/// Something that was taken out of a note.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Removed {
    /// The note.
    pub(super) path: String,
    /// Its text as it stood.
    pub(super) text: String,
}

fn forget(call: &McpCall<'_>) -> ToolOutcome {
    let gone = call.workspace.memory().forget_by_words(&meant(call), &call.origin)?;
    let back = "`vault-agent undo` brings it back, unless history is turned off";
    let words = format!("Taken out of {}, line {}; {back}:", gone.path, gone.line);
    let output = Removed { path: gone.path.to_string(), text: gone.text };
    Ok(ToolAnswer::quoting(&words, &output.text, &output))
}

fn meant<'a>(call: &McpCall<'a>) -> MemoryRef<'a> {
    let arguments = call.arguments;
    MemoryRef {
        path: arguments.text("path").unwrap_or_default(),
        text: arguments.text("text").unwrap_or_default(),
        line: arguments.whole("line").and_then(|line| usize::try_from(line).ok()),
        expected: arguments.text("expected"),
        ..MemoryRef::default()
    }
}

pub(super) fn place_and_text(saved: &SavedMemory) -> String {
    let section = saved.section.as_ref().map_or_else(String::new, |section| format!(" under `{section}`"));
    let notes: String = saved.notes.iter().map(|note| format!("\n({note})")).collect();
    format!("{}:{}{section}:\n{}{notes}", saved.path, saved.line, saved.text)
}

/// The most memories that are shown.
const MAX_SHOWN: usize = 3;
/// How near a memory must be, as a cosine: below it two texts share a subject at most.
const NEAR: f32 = 0.55;
/// Only so many memories are compared, those that stand last in the note: some 20 ms.
const LOOKED_AT: usize = 2_000;
/// Characters of a text that are compared, and shown.
const HEAD: usize = 300;

/// A memory like another.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NearMemory {
    /// Its note.
    path: String,
    /// Its line, from 1.
    line: usize,
    /// Its text.
    text: String,
}

/// The memories near in meaning to a text, best first, without the one in this line of `MEMORY.md`: so a model sees
/// repetitions and contradictions. Reads `MEMORY.md` alone and uses the vectors that are in the binary; no index is opened.
fn near(call: &McpCall<'_>, text: &str, own_line: Option<usize>) -> Vec<NearMemory> {
    let notes = call.workspace.memory();
    let scopes = call.visible_scopes().unwrap_or_default();
    let sections = notes.list_long(Some(&scopes)).unwrap_or_default();
    let memories = sections.into_iter().flat_map(|section| section.memories);
    let others: Vec<ListedMemory> = memories.filter(|one| Some(one.line) != own_line).collect();
    let mut embedder = Embedder::default();
    let mut embed = |text: &str| embedder.embed_with(&StaticModel::Builtin, &head(&plain(text)));
    let wanted = embed(text);
    let mut found: Vec<(f32, &ListedMemory)> = others[others.len().saturating_sub(LOOKED_AT)..]
        .iter()
        .map(|one| (dot(&wanted, &embed(&one.text)), one))
        .filter(|(cosine, _)| *cosine >= NEAR)
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    let path = notes.long_path().to_string();
    let shown = |one: &ListedMemory| NearMemory {
        path: path.clone(),
        line: one.line,
        text: invisible::strip(&head(&one_line(&one.text))).into_owned(),
    };
    found.into_iter().take(MAX_SHOWN).map(|(_, one)| shown(one)).collect()
}

fn head(text: &str) -> String {
    text.chars().take(HEAD).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
