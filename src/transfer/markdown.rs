//! Writes all memories and planned items of the vault as one readable document.

use std::fmt::Write;

use jiff::Timestamp;

use super::VaultContents;
use crate::format::commitment::CommitmentStatus;
use crate::format::memory;
use crate::format::reminder::Recur;

/// The document, as of `now`.
pub fn document(contents: &VaultContents, now: Timestamp) -> String {
    let mut out = contents.head(now);
    memories(contents, &mut out);
    days(contents, &mut out);
    reminders(contents, &mut out);
    commitments(contents, &mut out);
    if !contents.pins.1.is_empty() {
        out.push_str("\n## Pinned\n\n");
        contents.pins.1.iter().for_each(|pin| out.push_str(&memory::render_bullet(None, &pin.text)));
    }
    out
}

fn memories(contents: &VaultContents, out: &mut String) {
    let bullets = &contents.memory.1.bullets;
    if bullets.is_empty() {
        return;
    }
    out.push_str("\n## Memory\n");
    let mut section: Option<Option<&str>> = None;
    for bullet in bullets {
        if section != Some(bullet.section.as_deref()) {
            section = Some(bullet.section.as_deref());
            let name = bullet.section.iter().filter(|name| !name.is_empty());
            name.for_each(|name| out.push_str(&format!("\n### {name}\n")));
            out.push('\n');
        }
        out.push_str(&memory::render_bullet(bullet.timestamp.as_deref(), &bullet.text));
    }
}

fn days(contents: &VaultContents, out: &mut String) {
    if contents.days_with_content().next().is_some() {
        out.push_str("\n## Days\n");
    }
    for day in contents.days_with_content() {
        let _ = write!(out, "\n### {}\n\n{}", day.date, day.list());
    }
}

fn reminders(contents: &VaultContents, out: &mut String) {
    let reminders = &contents.reminders.1.reminders;
    if reminders.is_empty() {
        return;
    }
    out.push_str("\n## Reminders\n\n");
    let mut sorted: Vec<_> = reminders.iter().map(|line| &line.reminder).collect();
    sorted.sort_by_key(|reminder| (reminder.date, reminder.time));
    for reminder in sorted {
        let recur = match (reminder.recur, reminder.day) {
            (Recur::None, _) => String::new(),
            (recur, Some(day)) => format!(", {recur} on day {day}"),
            (recur, None) => format!(", {recur}"),
        };
        let (date, time) = (reminder.date, reminder.time.strftime("%H:%M"));
        out.push_str(&memory::render_bullet(None, &format!("{date} {time}{recur}: {}", reminder.msg)));
    }
}

fn commitments(contents: &VaultContents, out: &mut String) {
    let blocks = &contents.commitments.1.blocks;
    if blocks.is_empty() {
        return;
    }
    out.push_str("\n## Follow-ups\n\n");
    for block in blocks {
        let commitment = &block.commitment;
        let due = contents.due(commitment);
        let status = match commitment.status {
            CommitmentStatus::Pending => String::new(),
            status => format!(", {status}"),
        };
        out.push_str(&memory::render_bullet(None, &format!("{due}{status}: {}", commitment.text)));
    }
}
