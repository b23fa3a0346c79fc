//! Implements the memory tools: saving, promoting, listing and pinning; each answers with the note's lines after the
//! write.

use jiff::civil::Date;

use super::commitments::{instant, listing};
use super::near_memories::near;
use super::{McpCall, ToolAnswer, ToolOutcome, one_line};
use crate::format::commitment::Precision;
use crate::format::pinned::LinkTarget;
use crate::mcp::failure::ToolFailure;
use crate::mcp::outputs::{Day, Edited, Listing, Memory, NearMemory, Promoted, Removed, Saved, Section};
use crate::mcp::untrusted;
use crate::memory::{self, CommitmentDraft, MemoryKind, MemoryRef, NewMemory};
use crate::reminders::ReminderError;
use crate::when::{self, WhenError};

/// Days that one list holds at most, newest first.
const MOST_DAYS: usize = 60;

/// `memory_save`.
pub fn save(call: &McpCall<'_>) -> ToolOutcome {
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
            let precision = arguments.text("precision").map(str::parse::<Precision>).transpose();
            let draft = CommitmentDraft {
                due,
                precision: precision
                    .map_err(|error| ToolFailure::new("unknown_choice", error.to_string()).of("precision"))?,
                scope: arguments.text("commitment_scope").map(str::to_owned),
                source: call.origin.conversation.clone().filter(|source| is_plain(source)),
                expected: expected.map(str::to_owned),
                ..CommitmentDraft::new(content)
            };
            notes.save_commitment(&draft, now, &call.origin)
        }
    };
    let saved = saved?;
    let word = if saved.existing { "It stood there already" } else { "Saved" };
    let at = due.map_or_else(String::new, |at| told_at(at, call));
    let words = format!("{word}, {}{at}", place_and_text(&saved));
    let own = (shelf == MemoryKind::Long).then_some(saved.line);
    let near = near(call, content, own);
    let words = with_near(words, &near);
    Ok(ToolAnswer::new(words, &Saved { near, ..Saved::from(saved) }))
}

/// The words of a change, with the memories near to it.
fn with_near(words: String, near: &[NearMemory]) -> String {
    if near.is_empty() {
        return words;
    }
    let lines: Vec<String> =
        near.iter().map(|one| format!("{}:{}: {}", one.path, one.line, one.text)).collect();
    format!(
        "{words}\nNear to it, in case it repeats or contradicts them:\n{}",
        untrusted::marked(&lines.join("\n"))
    )
}

/// `memory_edit`.
pub fn edit(call: &McpCall<'_>) -> ToolOutcome {
    let new = call.arguments.text("new_text").unwrap_or_default();
    let notes = call.workspace.memory();
    let edited = notes.edit(&meant(call), new, &call.origin)?;
    let saved = edited.saved;
    let word = if saved.existing { "It said that already" } else { "Changed" };
    let words = format!("{word}, {}\nIt was:\n{}", place_and_text(&saved), edited.was);
    let own = (saved.path == notes.long_path()).then_some(saved.line);
    let near = near(call, new, own);
    let words = with_near(words, &near);
    Ok(ToolAnswer::new(words, &Edited { saved: Saved { near, ..Saved::from(saved) }, was: edited.was }))
}

/// `memory_forget`.
pub fn forget(call: &McpCall<'_>) -> ToolOutcome {
    let gone = call.workspace.memory().forget_by_words(&meant(call), &call.origin)?;
    let words = format!(
        "Taken out of {}, line {}:\n{}\nThe user can bring it back with `vault-agent undo`.",
        gone.path, gone.line, gone.text
    );
    Ok(ToolAnswer::new(words, &Removed { path: gone.path.to_string(), text: gone.text }))
}

fn meant<'a>(call: &McpCall<'a>) -> MemoryRef<'a> {
    let arguments = call.arguments;
    MemoryRef {
        path: arguments.text("path").unwrap_or_default(),
        text: arguments.text("text").unwrap_or_default(),
        line: arguments.whole("line").and_then(|line| usize::try_from(line).ok()),
        expected: arguments.text("expected"),
    }
}

/// Refuses arguments that would be lost without a word.
fn only(call: &McpCall<'_>, shelf: MemoryKind) -> Result<(), ToolFailure> {
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
                "memory_scope" => "A follow-up is told in a place: give `commitment_scope`.".to_owned(),
                _ => {
                    format!("`{argument}` belongs to scope `commitment`. Leave it out, or save a commitment.")
                }
            };
            return Err(ToolFailure::new("unexpected_argument", message).of(argument).hint(hint));
        }
    }
    if shelf == MemoryKind::Commitment && !call.arguments.has("due") {
        return Err(ToolFailure::new("missing_argument", "`due` is missing: a follow-up is told at a time")
            .of("due")
            .hint("Give `due`, as in `2026-05-08T19:00:00Z` or `tomorrow 9am`; what has no time is a `long` memory."));
    }
    Ok(())
}

/// A due time: an instant, or a phrase as reminders take it.
fn due(text: &str, call: &McpCall<'_>) -> Result<jiff::Timestamp, ToolFailure> {
    let workspace = &call.workspace;
    instant(text, workspace).or_else(|failure| {
        let now = workspace.clock.now();
        match when::parse_when(text, now, &workspace.zone) {
            Ok(local) => Ok(crate::schedule::resolve(&workspace.zone, local)),
            Err(WhenError::NotUnderstood { .. }) => Err(failure.of("due")),
            Err(error) => Err(ToolFailure::from(ReminderError::from(error)).of("due")),
        }
    })
}

/// When a follow-up is told, with the weekday and how far away that is.
fn told_at(at: jiff::Timestamp, call: &McpCall<'_>) -> String {
    let workspace = &call.workspace;
    let local = workspace.zone.tz().to_datetime(at);
    format!("\nIt is told {}.", when::confirmation(local, workspace.clock.now(), &workspace.zone))
}

/// Whether a text can stand in a follow-up's header.
fn is_plain(text: &str) -> bool {
    text.len() <= 100 && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

fn place_and_text(saved: &memory::SavedMemory) -> String {
    let section = saved.section.as_ref().map_or_else(String::new, |section| format!(" under `{section}`"));
    let notes: String = saved.notes.iter().map(|note| format!("\n({note})")).collect();
    format!("{}:{}{section}:\n{}{notes}", saved.path, saved.line, saved.text)
}

/// `memory_promote`.
pub fn promote(call: &McpCall<'_>) -> ToolOutcome {
    let arguments = call.arguments;
    let text = arguments.text("date").unwrap_or_default();
    let date = text.parse::<Date>().map_err(|_| {
        let shown: String = text.chars().take(60).collect();
        ToolFailure::new("bad_date", format!("{shown:?} is no day"))
            .of("date")
            .hint("Write it as `2026-11-20`.")
    })?;
    let line = usize::try_from(arguments.whole("line").unwrap_or(1)).unwrap_or(usize::MAX);
    let notes = call.workspace.memory();
    // A call that is made again, because its answer was lost, is about the same bullet.
    let meant = arguments.text("text").map(str::to_owned);
    let meant = meant.or_else(|| call.workspace.removed_line(&notes.daily_path(date), line));
    let promoted = notes.promote(date, line, meant.as_deref(), arguments.text("section"), &call.origin)?;
    let left = if promoted.removed {
        format!("It is out of {}.", promoted.from)
    } else {
        format!("The line in {} was changed by someone just now and stays.", promoted.from)
    };
    let word = if promoted.saved.existing { "It stood there already" } else { "Promoted" };
    let words = format!("{word}, {}\n{left}", place_and_text(&promoted.saved));
    let output =
        Promoted { from: promoted.from.to_string(), removed: promoted.removed, saved: promoted.saved.into() };
    Ok(ToolAnswer::new(words, &output))
}

/// `memory_list`.
pub fn list(call: &McpCall<'_>) -> ToolOutcome {
    let shelf: MemoryKind = call.arguments.text("scope").unwrap_or_default().parse()?;
    let notes = call.workspace.memory();
    let scopes = call.visible_scopes()?;
    Ok(match shelf {
        MemoryKind::Long => long(notes.list_long(Some(&scopes))?),
        MemoryKind::Daily => daily(notes.list_daily(None, Some(&scopes))?),
        MemoryKind::Commitment => listing(notes.ledger().list(true)?, "There are no follow-ups."),
    })
}

fn long(listed: Vec<memory::ListedSection>) -> ToolAnswer {
    let mut words = Vec::new();
    let mut sections = Vec::new();
    for section in listed {
        let name = section.section.unwrap_or_default();
        words.push(format!("## {name}"));
        words.extend(section.memories.iter().map(|one| format!("{}: {}", one.line, one_line(&one.text))));
        let memories = section.memories.into_iter().map(Memory::from).collect();
        sections.push(Section { name, line: section.line, memories });
    }
    let words = if words.is_empty() { "There are no memories.".to_owned() } else { words.join("\n") };
    ToolAnswer::from_notes(
        &words,
        &Listing { sections: Some(sections), untrusted: true, ..Listing::default() },
    )
}

fn daily(listed: Vec<memory::ListedDay>) -> ToolAnswer {
    let more = listed.len().saturating_sub(MOST_DAYS);
    let mut words: Vec<String> = listed
        .iter()
        .take(MOST_DAYS)
        .map(|day| format!("{}: {} bullets", day.path, day.memories.len()))
        .collect();
    if more > 0 {
        words.push(format!("(and {more} older days)"));
    }
    let days = listed
        .into_iter()
        .take(MOST_DAYS)
        .map(|day| Day {
            date: day.date.to_string(),
            path: day.path.to_string(),
            bullets: day.memories.len(),
        })
        .collect();
    let words = if words.is_empty() { "There are no notes of days.".to_owned() } else { words.join("\n") };
    ToolAnswer::from_notes(&words, &Listing { days: Some(days), untrusted: true, ..Listing::default() })
}

/// `memory_pin`.
pub fn pin(call: &McpCall<'_>) -> ToolOutcome {
    let target = call.arguments.text("link").map(target).transpose()?;
    let content = call.arguments.text("content").unwrap_or_default();
    let saved = call.workspace.memory().pin(content, target.as_ref(), &call.origin)?;
    let word = if saved.existing { "It was pinned already" } else { "Pinned" };
    Ok(ToolAnswer::new(format!("{word}, {}", place_and_text(&saved)), &Saved::from(saved)))
}

/// `memory_unpin`.
pub fn unpin(call: &McpCall<'_>) -> ToolOutcome {
    let content = call.arguments.text("content").unwrap_or_default();
    let whole = call.workspace.unpinned_before(content);
    let gone = call.workspace.memory().unpin(content, whole, &call.origin)?;
    let words = format!("Unpinned from {}:\n{}", gone.path, gone.text);
    Ok(ToolAnswer::new(words, &Removed { path: gone.path.to_string(), text: gone.text }))
}

/// An Obsidian link, with or without its brackets.
fn target(text: &str) -> Result<LinkTarget, ToolFailure> {
    let bare = text.trim().trim_start_matches("[[").trim_end_matches("]]");
    let read = crate::format::pinned::parse(format!("- [[{bare}]]\n").as_bytes());
    read.into_iter().next().and_then(|bullet| bullet.target).ok_or_else(|| {
        ToolFailure::new("bad_link", "that is no link to a note")
            .of("link")
            .hint("Write it as `daily/2026-11-20#^block` or `MEMORY#Section`, without `.md`.")
    })
}
