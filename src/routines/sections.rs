//! Formats the material of a run as sections, for a brain and for a person.

use serde::{Deserialize, Serialize};

use crate::format::log::INJECTED;
use crate::format::{one_line, shortened};

/// Lines of one section at most.
const LINES: usize = 60;
/// Characters of one line at most.
const CHARS: usize = 300;

/// Some lines under a heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSection {
    /// Their title.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
    /// Whether they are only for a brain, and no answer for a person.
    pub raw: bool,
}

impl RunSection {
    /// A section; none without lines.
    pub fn new(title: impl Into<String>, lines: Vec<String>) -> Option<Self> {
        let more = lines.len().saturating_sub(LINES);
        let mut lines: Vec<String> = lines
            .into_iter()
            .take(LINES)
            .map(|line| shortened(&one_line(&line), CHARS).into_owned())
            .collect();
        if more > 0 {
            lines.push(format!("… and {more} more"));
        }
        (!lines.is_empty()).then(|| Self { title: title.into(), lines, raw: false })
    }

    /// The same, for a brain alone.
    #[must_use]
    pub fn raw(mut self) -> Self {
        self.raw = true;
        self
    }
}

fn show<'a>(sections: impl Iterator<Item = &'a RunSection>) -> String {
    let text = sections.map(|section| {
        let lines: Vec<String> = section.lines.iter().map(|line| format!("- {line}")).collect();
        format!("**{}**\n{}", section.title, lines.join("\n"))
    });
    text.collect::<Vec<_>>().join("\n\n")
}

/// For a person.
pub fn for_people(sections: &[RunSection]) -> String {
    show(sections.iter().filter(|section| !section.raw))
}

/// For a brain, behind the line that marks it as data: the recalled memories, then the sections.
pub fn for_brain(recalled: &str, sections: &[RunSection]) -> String {
    let found = show(sections.iter());
    match (recalled.trim_end(), found.is_empty()) {
        (recalled, true) => recalled.to_owned(),
        ("", false) => format!("{INJECTED}\n{found}\n"),
        (recalled, false) => format!("{recalled}\n\n{found}\n"),
    }
}
