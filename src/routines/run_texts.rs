//! Makes the texts of a routine's run: the prompt, the material, and the answer as a message or as a passage of a note.
//!
//! Also chooses the note to which the answer is appended. An answer is never appended to the assistant's own notes: its
//! persona, and the notes of `[paths]` except the daily notes. Pure, except that this choice resolves links in the
//! vault.

use jiff::civil;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::deliver::delivery_journal::RoutineRun;
use crate::deliver::{MessageScope, compose};
use crate::format::harmless::{without_comments, without_tasks};
use crate::format::log::INJECTED;
use crate::format::pinned::LinkTarget;
use crate::format::routine::{AnswerDelivery, Routine};
use crate::format::{daily, one_line, shortened};
use crate::vault::NotePath;
use crate::workspace::Workspace;

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

/// The question of a run: the routine's prompt, and a remark about the run.
pub fn question(run: &RoutineRun, routine: &Routine, tz: &TimeZone) -> String {
    let late = late(run, tz).map(|late| format!(", {late}")).unwrap_or_default();
    let quiet = if routine.quiet {
        " If there is nothing worth saying, answer with the one word NONE, and nothing is sent."
    } else {
        ""
    };
    format!(
        "{}\n\n(This is the routine `{}`{late}. No one can answer follow-up questions.{quiet})",
        routine.prompt, run.routine
    )
}

/// `due 08:00, 3 h late; 2 earlier ones folded in`, if the run is late or stands for several occurrences.
fn late(run: &RoutineRun, tz: &TimeZone) -> Option<String> {
    let (late, today) = (run.due.duration_until(run.started), tz.to_datetime(run.started).date());
    let remark = compose::remark_on(run.local, late, run.missed, None, today);
    (!remark.is_empty()).then_some(remark)
}

/// The message: the answer, with a remark on its lateness.
pub fn message(run: &RoutineRun, answer: &str, tz: &TimeZone) -> String {
    match late(run, tz) {
        Some(late) => format!("{} ({late}):\n{answer}", run.routine),
        None => answer.to_owned(),
    }
}

/// Whether an answer says that there is nothing to report.
pub fn is_nothing(answer: &str) -> bool {
    let word = answer.trim().trim_matches(|c: char| matches!(c, '.' | '`' | '*' | '"' | '\'' | '!')).trim();
    word.eq_ignore_ascii_case("none")
}

/// The scope of the routine's messages; none is the notifier's default.
pub fn scope(routine: &Routine) -> Option<MessageScope> {
    routine.scope.as_deref().and_then(|scope| scope.parse().ok())
}

/// The note that the answer is appended to, if any; `today` chooses the daily note.
///
/// # Errors
/// A sentence on why it may not be written there.
pub fn target(
    workspace: &Workspace,
    routine: &Routine,
    today: civil::Date,
) -> Result<Option<NotePath>, String> {
    if routine.deliver != AnswerDelivery::Note {
        return Ok(None);
    }
    let paths = &workspace.settings.paths;
    let Some(name) = &routine.note else {
        let daily = format!("{}/{}", paths.daily.trim_end_matches('/'), daily::file_name(today));
        return Ok(Some(workspace.note(&daily)));
    };
    let name = match name.trim() {
        link if link.starts_with("[[") => LinkTarget::named(link),
        path => LinkTarget { path: path.to_owned(), block_id: None, heading: None },
    };
    let named = NotePath::new(&name.note_path()).map_err(|error| format!("`note` names no note: {error}"))?;
    let vault = &workspace.vault;
    let path = vault.resolved(&named).ok_or_else(|| format!("`{named}` is a link out of the vault"))?;
    let lower = |path: &NotePath| NotePath::new(&path.as_str().to_lowercase()).ok();
    let is_within = |own: NotePath| lower(&path)?.is_within(&lower(&own)?).then_some(());
    let own = paths.all().into_iter().filter(|(key, _)| *key != "daily").map(|(_, own)| own);
    let mut own = own.chain([workspace.settings.assistant.persona.clone()]);
    let is_own = own.any(|own| {
        let own = NotePath::new(own.trim_end_matches('/')).ok();
        own.is_some_and(|own| vault.resolved(&own).and_then(is_within).or_else(|| is_within(own)).is_some())
    });
    if named.is_hidden() || path.is_hidden() || is_own {
        return Err(format!("an answer may not be appended to `{named}`, which the agent itself goes by"));
    }
    Ok(Some(named))
}

/// The passage that is appended to a note, with a remark on its lateness: a callout without tasks, so that nothing in it
/// counts as a line of the note's own, and the id of the run.
pub fn passage(run: &RoutineRun, answer: &str, id: &str, tz: &TimeZone) -> String {
    // Nothing in it may run, or hide what comes after it.
    let answer = without_tasks(&without_comments(answer), "");
    let quoted: Vec<String> = answer.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    let when = run.local.strftime("%Y-%m-%d %H:%M");
    let late = late(run, tz).map(|late| format!(" ({late})"));
    let title = format!("{}, {when}{}", run.routine, late.unwrap_or_default());
    format!("\n> [!note] {title}\n{}\n\n^{id}\n", quoted.join("\n"))
}

fn show<'a>(sections: impl Iterator<Item = &'a RunSection>) -> String {
    let text = sections.map(|section| {
        let lines: Vec<String> = section.lines.iter().map(|line| format!("- {line}")).collect();
        format!("**{}**\n{}", section.title, lines.join("\n"))
    });
    text.collect::<Vec<_>>().join("\n\n")
}

/// The sections as text for a person.
pub fn for_people(sections: &[RunSection]) -> String {
    show(sections.iter().filter(|section| !section.raw))
}

/// The text for a brain, after the line that marks it as data: the recalled memories, then the sections.
pub fn for_brain(recalled: &str, sections: &[RunSection]) -> String {
    let found = show(sections.iter());
    match (recalled.trim_end(), found.is_empty()) {
        (recalled, true) => recalled.to_owned(),
        ("", false) => format!("{INJECTED}\n{found}\n"),
        (recalled, false) => format!("{recalled}\n\n{found}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_nothing_however_it_is_dressed() {
        for text in ["NONE", " none.\n", "`NONE`", "**None**"] {
            assert!(is_nothing(text), "{text}");
        }
        for text in ["", "None of it is due.", "NONE\nbut"] {
            assert!(!is_nothing(text), "{text}");
        }
    }
}
