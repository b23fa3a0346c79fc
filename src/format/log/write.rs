//! Writes events of a log.

use super::{LogEvent, LogHeader};
use crate::format::yaml::to_scalar;

/// The frontmatter of a new log, with the line break after it.
pub fn render_header(header: &LogHeader) -> String {
    let mut out = format!(
        "---\nsurface: {}\ncontext_id: {}\n",
        to_scalar(&header.surface),
        to_scalar(&header.context_id)
    );
    if let Some(started) = header.started {
        out.push_str(&format!("started: {started}\n"));
    }
    if let Some(title) = &header.title {
        out.push_str(&format!("title: {}\n", to_scalar(title)));
    }
    out.push_str("---\n");
    out
}

/// An event as it is appended to a log: an empty line, the callout, an empty line, the block id.
pub fn render_event(event: &LogEvent) -> String {
    let fold = if event.kind.is_folded() { "-" } else { "" };
    let author = one_line(&event.author);
    let mut out = format!("\n> [!{}]{fold} {}", event.kind, event.at);
    if !author.is_empty() {
        out.push(' ');
        out.push_str(&author);
    }
    out.push('\n');
    if !event.content.is_empty() {
        for line in event.content.split('\n') {
            out.push_str("> ");
            out.push_str(line);
            out.push('\n');
        }
    }
    if let Some(id) = &event.id {
        out.push_str(&format!("\n^{id}\n"));
    }
    out
}

/// A name on one line: what breaks or hides a line becomes a space, runs of spaces one.
fn one_line(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect();
    crate::format::one_line(&spaced)
}
