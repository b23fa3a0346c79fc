//! Formats the next occurrences for `status`.

use comfy_table::{Table, presets};

use crate::agenda::UpcomingItem;
use crate::deliver::instants::format_instant;
use crate::terminal::printable;
use crate::workspace::Workspace;

/// Its id; of a task where it stands, `Home.md:3 (tasks)`.
fn place(one: &UpcomingItem) -> String {
    match (&one.id, one.format.as_str()) {
        (Some(id), "own") => id.clone(),
        (None, "own") => "no id yet".to_owned(),
        _ => format!("{}:{} ({})", printable(&one.path), one.line, one.format),
    }
}

/// The lines of the next occurrences.
pub(super) fn next_lines(out: &mut Vec<String>, workspace: &Workspace, next: &[UpcomingItem]) {
    if next.is_empty() {
        out.push("next      nothing is scheduled".to_owned());
        return;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let now = workspace.clock.now();
    for reminder in next {
        table.add_row([
            format_instant(reminder.instant, now, workspace.zone.tz()).as_str(),
            &place(reminder),
            &printable(&reminder.msg),
        ]);
    }
    out.push("next".to_owned());
    for line in table.lines() {
        out.push(format!(" {}", line.trim_end()));
    }
}
