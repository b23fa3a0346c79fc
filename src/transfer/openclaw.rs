//! Reads an OpenClaw workspace: its memories, persona, profile, heartbeat and skills.
//!
//! - `MEMORY.md` is free Markdown; each of its items and paragraphs becomes a memory, in the section that its headings
//!   name. A day's note is taken as it is; if the vault has a note of that day, the pieces of OpenClaw's note become
//!   bullets in it. Other notes of `memory/` are kept whole in the folder of imports.
//! - `IDENTITY.md` and `SOUL.md` become the persona, `USER.md` the profile, if the vault's own is missing or still the
//!   template's.
//! - `HEARTBEAT.md` becomes the routine `heartbeat`, switched off. Of `skills/`, only notes are copied.
//! - Other notes (such as `AGENTS.md`) are about OpenClaw: they are reported, and not imported. The same holds for
//!   other files of a skill, such as scripts.

use std::path::Path;

use super::{ImportBatch, ImportItem, Result, bounded_read, chunks};
use crate::config;
use crate::format::daily;
use crate::template::SKILLS;
use crate::vault::NotePath;

/// The notes that have a place of their own in a vault.
const OWN: [&str; 4] = ["MEMORY.md", "memory.md", "USER.md", "HEARTBEAT.md"];
/// The notes that become the persona together.
const PERSONA: [&str; 2] = ["IDENTITY.md", "SOUL.md"];
/// The section of memories that stand under no heading.
const NO_HEADING: &str = "OpenClaw";
/// The head of the routine that `HEARTBEAT.md` becomes: OpenClaw's own interval, switched off.
const HEARTBEAT_HEAD: &str = "---\nschedule: every 30m\nscope: console\nenabled: false\nquiet: true\n---\n";

/// Reads the workspace at `root`; notes without a place of their own go to the folder `into`.
///
/// # Errors
/// `root` is no folder, or has too much in it.
pub fn read(root: &Path, into: &NotePath) -> Result<ImportBatch> {
    let mut batch = ImportBatch::default();
    let mut persona: Vec<(String, String)> = Vec::new();
    for relative in bounded_read::notes(root, &mut batch)? {
        let is_taken = OWN.contains(&relative.as_str())
            || PERSONA.contains(&relative.as_str())
            || relative.starts_with("memory/")
            || is_in_skill(&relative);
        if !is_taken {
            batch.remark(relative, "it is about OpenClaw itself and has no place here; it is not taken over");
            continue;
        }
        let Some(text) = bounded_read::read_note(root, &relative, &mut batch) else { continue };
        match relative.as_str() {
            _ if text.trim().is_empty() => {}
            name if PERSONA.contains(&name) => persona.push((relative, text)),
            name => take(name, text, into, &mut batch),
        }
    }
    if !persona.is_empty() {
        let names: Vec<&str> = persona.iter().map(|(name, _)| name.as_str()).collect();
        let text: Vec<&str> = persona.iter().map(|(_, text)| text.trim_end()).collect();
        batch.add(ImportItem::Persona { text: text.join("\n\n") + "\n" }, names.join(" and "));
    }
    for folder in with_other_files(root) {
        batch.remark(folder, "it has files beside its notes, such as scripts; copy them yourself");
    }
    Ok(batch)
}

/// The folders of skills that have more in them than notes.
fn with_other_files(root: &Path) -> Vec<String> {
    let names = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1000);
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    };
    let is_other = |name: &String| !name.starts_with('.') && !name.to_lowercase().ends_with(".md");
    let skills = root.join(SKILLS);
    let mut folders: Vec<String> = names(&skills);
    folders.retain(|name| skills.join(name).is_dir() && names(&skills.join(name)).iter().any(is_other));
    folders.sort_unstable();
    folders.into_iter().map(|name| format!("{SKILLS}/{name}")).collect()
}

/// Whether the names of a folder are those of a workspace.
pub(super) fn is_one(root: &Path) -> bool {
    let has = |name: &str| root.join(name).is_file();
    let has_days = || {
        let entries = std::fs::read_dir(root.join("memory")).into_iter().flatten().flatten();
        entries
            .take(1000)
            .any(|entry| entry.file_name().to_str().is_some_and(|name| daily::date_of(name).is_some()))
    };
    // A vault of this program has most of these names, too.
    !has(config::FILE_NAME)
        && (has("MEMORY.md") || has("memory.md") || (has("AGENTS.md") && has("SOUL.md")) || has_days())
}

/// Whether a note stands in the folder of a skill.
fn is_in_skill(relative: &str) -> bool {
    let inside = relative.strip_prefix(SKILLS).and_then(|rest| rest.strip_prefix('/'));
    inside.is_some_and(|rest| rest.contains('/'))
}

/// Takes a note to the place that its name gives it.
fn take(relative: &str, text: String, into: &NotePath, batch: &mut ImportBatch) {
    match relative {
        "MEMORY.md" | "memory.md" => {
            for chunk in chunks::chunks(&text) {
                let section = Some(chunk.section().unwrap_or_else(|| NO_HEADING.to_owned()));
                let item = ImportItem::Memory { section, timestamp: None, text: chunk.text };
                batch.add(item, format!("{relative} line {}", chunk.line));
            }
        }
        "USER.md" => batch.add(ImportItem::Profile { text }, relative),
        // Headings and comments alone ask for nothing, as in the file that OpenClaw begins with.
        "HEARTBEAT.md" if chunks::chunks(&text).is_empty() => {}
        "HEARTBEAT.md" => {
            let text = format!("{HEARTBEAT_HEAD}{text}");
            batch.add(ImportItem::Routine { name: "heartbeat", text }, relative);
        }
        _ if is_in_skill(relative) => batch.add_note(NotePath::new(relative), relative, text),
        _ => match relative.strip_prefix("memory/").and_then(daily::date_of) {
            Some(date) => batch.add(ImportItem::Day { date, text }, relative),
            None => batch.add_note(into.join(relative), relative, text),
        },
    }
}
