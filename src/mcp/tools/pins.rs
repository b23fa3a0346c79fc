//! Defines the tools about bullets and pins:
//! - `memory_promote`: moves a bullet of a day's note into `MEMORY.md`;
//! - `memory_pin`: pins a text, so that it is recalled first;
//! - `memory_unpin`: removes a pin.

use jiff::civil::Date;

use super::memory::{Removed, Saved, place_and_text};
use super::prelude::*;
use crate::format::invisible;
use crate::format::pinned::{self, LinkTarget};

pub(super) const PROMOTE: ToolEntry = ToolEntry {
    doc: "Moves a bullet of a day's note into MEMORY.md, with its time and a link.",
    arguments: &[
        line("date", true, "As in `2026-11-20`."),
        Argument {
            required: true,
            ..whole("line", 1, 10_000_000, None, "Its line, as `memory_get` counts.")
        },
        text("text", MAX_TEXT_CHARS, false, "Its words, should lines have moved."),
        line("section", false, "Section of MEMORY.md; default `Notes`."),
    ],
    ..tool::<Promoted>("memory_promote", "Promote a note of the day", Effect::ChangesEach, promote)
};

/// A bullet of a day's note that is a lasting fact now.
#[derive(Debug, Serialize, JsonSchema)]
struct Promoted {
    /// The fact as it stands in the long-term memory.
    #[serde(flatten)]
    saved: Saved,
    /// The day's note that it came from.
    from: String,
    /// Whether it was taken out of there; if not, someone has changed it just now and it stays.
    removed: bool,
}

fn promote(call: &McpCall<'_>) -> ToolOutcome {
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
    let day = notes.daily_path(date);
    // A call that is made again, because its answer was lost, is about the same bullet.
    let meant = arguments.text("text").map(str::to_owned);
    let again = if meant.is_none() { call.workspace.removed_line(&day, line) } else { None };
    let meant = meant.or_else(|| again.clone());
    let promoted = notes.promote(date, line, meant.as_deref(), arguments.text("section"), &call.origin)?;
    let left = if promoted.removed {
        format!("It is out of {}.", promoted.from)
    } else {
        format!("The line in {} was changed by someone just now and stays.", promoted.from)
    };
    let word = if promoted.saved.existing { "It was promoted already" } else { "Promoted" };
    let next = again.and_then(|_| notes.get(day.as_str(), Some((line, line))).ok());
    let next = next.filter(|_| promoted.saved.existing).map(|next| {
        (
            format!(" Line {line} is another now; give its words as `text` to promote it."),
            format!("\nLine {line}: {}", next.text.trim_end()),
        )
    });
    let (now_other, next) = next.unwrap_or_default();
    let lines = format!("{}{next}", place_and_text(&promoted.saved));
    let output =
        Promoted { from: promoted.from.to_string(), removed: promoted.removed, saved: promoted.saved.into() };
    Ok(ToolAnswer::quoting(&format!("{word}. {left}{now_other}"), &lines, &output))
}

pub(super) const PIN: ToolEntry = ToolEntry {
    doc: "Pins a text or a line of a note: it is recalled first.",
    arguments: &[
        text("content", 4_000, true, "A line or two."),
        line("link", false, "Its target, as in `daily/2026-11-20#^01J…`."),
    ],
    ..tool::<Saved>("memory_pin", "Pin a memory", Effect::AddsOnce, pin)
};

fn pin(call: &McpCall<'_>) -> ToolOutcome {
    let target = call.arguments.text("link").map(target).transpose()?;
    let content = call.arguments.text("content").unwrap_or_default();
    let saved = call.workspace.memory().pin(content, target.as_ref(), &call.origin)?;
    let word = if saved.existing { "It was pinned already" } else { "Pinned" };
    Ok(ToolAnswer::new(format!("{word}, {}", place_and_text(&saved)), &Saved::from(saved)))
}

pub(super) const UNPIN: ToolEntry = ToolEntry {
    doc: "Removes the pin that is this text, or alone begins with it.",
    arguments: &[text("content", 4_000, true, "Its words or beginning.")],
    ..tool::<Removed>("memory_unpin", "Unpin a memory", Effect::Removes, unpin)
};

fn unpin(call: &McpCall<'_>) -> ToolOutcome {
    let content = call.arguments.text("content").unwrap_or_default();
    let whole = call.workspace.unpinned_before(content);
    let gone = call.workspace.memory().unpin(content, whole, &call.origin)?;
    let output = Removed { path: gone.path.to_string(), text: gone.text };
    Ok(ToolAnswer::quoting(&format!("Unpinned from {}:", output.path), &output.text, &output))
}

/// An Obsidian link, with or without its brackets.
fn target(text: &str) -> Result<LinkTarget> {
    let bare = text.trim().trim_start_matches("[[").trim_end_matches("]]");
    let read = pinned::parse(format!("- [[{bare}]]\n").as_bytes());
    let is_plain = !bare.contains('`') && invisible::first(bare).is_none();
    read.into_iter().next().and_then(|bullet| bullet.target).filter(|_| is_plain).ok_or_else(|| {
        ToolFailure::new("bad_link", "that is no link to a note")
            .of("link")
            .hint("Write it as `daily/2026-11-20#^block` or `MEMORY#Section`, without `.md`.")
    })
}
