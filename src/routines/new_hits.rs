//! Finds the new hits of a routine's searches.
//!
//! A hit is new if it is dated after the last run, or stands in a note that was changed after it, and the last run did
//! not find it with the same words. Texts that the routine itself wrote are never new (its note, its logs, its appended
//! passages, texts that its tools saved), nor are the agent's answers.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::sections::RunSection;
use crate::deliver::Journal;
use crate::deliver::journal::RoutineProgress;
use crate::turn::TurnJournal;
use crate::workspace::Workspace;

/// The state that the next run compares with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenHits {
    /// The hash of the memory.
    #[serde(default)]
    pub memory: Option<String>,
    /// The hashes of the hits of its searches, sorted.
    #[serde(default)]
    pub hits: Vec<String>,
}

impl SeenHits {
    /// Parses the journal's text, also the memory's hash alone, as older versions wrote it.
    pub fn of(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::default() };
        serde_json::from_str(text)
            .unwrap_or_else(|_| Self { memory: Some(text.to_owned()), hits: Vec::new() })
    }

    /// For the journal.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The context of a routine's search.
#[derive(Clone, Copy)]
pub struct RoutineSearch<'a> {
    /// The vault.
    pub workspace: &'a Workspace,
    /// The routine's runs.
    pub journal: &'a Journal,
    /// The runs' calls of tools.
    pub turns: &'a TurnJournal,
    /// The routine.
    pub name: &'a str,
    /// The recorded progress of the routine.
    pub progress: &'a RoutineProgress,
    /// The hashes of the hits of its last run.
    pub before: &'a [String],
}

/// The most hits of a search.
const MOST: usize = 200;
/// The most hits in a section.
const MAX_LINES: usize = 20;

/// The new hits for these words. The hashes of all hits go into `seen`.
///
/// # Errors
/// A sentence on why the search can't be made.
pub fn search(
    context: &RoutineSearch<'_>,
    text: &str,
    seen: &mut Vec<String>,
) -> Result<Option<RunSection>, String> {
    use crate::search::{Hit, Query, Role};
    let since = context.progress.ran.unwrap_or(context.progress.since);
    let recall = crate::search::Recall::of(context.workspace).map_err(|error| error.to_string())?;
    let answer = recall.search(&Query::new(text).limit(MOST)).map_err(|error| error.to_string())?;
    let paths = &context.workspace.settings.paths;
    let (routines, logs) = (paths.routines.trim_end_matches('/'), paths.logs.trim_end_matches('/'));
    let own_folders = [format!("{routines}/"), format!("{logs}/routines/")];
    let is_other = |hit: &&Hit| {
        hit.role != Some(Role::Agent.as_str())
            && !own_folders.iter().any(|folder| hit.path.starts_with(folder.as_str()))
    };
    let hits: Vec<Hit> = answer.hits.into_iter().filter(|hit| is_other(&hit)).collect();
    seen.extend(hits.iter().map(hash));
    seen.sort_unstable();
    seen.dedup();
    let mut own = RoutineWrites { context, passages: HashMap::new(), saved: saved_words(context, since)? };
    let changes = hits.into_iter().filter(|hit| {
        let changed = || changed(context.workspace, &hit.path);
        hit.timestamp.or_else(changed).is_some_and(|at| at > since)
            && context.before.binary_search(&hash(hit)).is_err()
            && !own.wrote_hit(hit)
    });
    let lines = changes.take(MAX_LINES).map(|hit| format!("{} ({}:{})", hit.snippet, hit.path, hit.line));
    Ok(RunSection::new(format!("New for “{text}”"), lines.collect()))
}

/// When a note was last changed, by its file.
fn changed(workspace: &Workspace, path: &str) -> Option<jiff::Timestamp> {
    let stat = workspace.vault.stat(&crate::vault::NotePath::new(path).ok()?).ok()??;
    jiff::Timestamp::from_nanosecond(i128::from(stat.mtime_ns)).ok()
}

fn hash(hit: &crate::search::Hit) -> String {
    let whole = blake3::hash(format!("{}\n{}", hit.path, hit.text).as_bytes());
    whole.to_hex()[..16].to_owned()
}

/// The texts that a routine wrote itself.
struct RoutineWrites<'a> {
    context: &'a RoutineSearch<'a>,
    /// The lines of its passages, by note.
    passages: HashMap<String, Vec<std::ops::RangeInclusive<u32>>>,
    /// The texts in the arguments of its tools since its last run, each as a list of words.
    saved: Vec<Vec<String>>,
}

impl RoutineWrites<'_> {
    fn wrote_hit(&mut self, hit: &crate::search::Hit) -> bool {
        let said = words(&hit.text);
        let is_saved = self.saved.iter().any(|text| {
            *text == said || said.len() >= 3 && text.windows(said.len()).any(|part| part == said)
        });
        let context = self.context;
        let passages = self.passages.entry(hit.path.clone()).or_insert_with(|| {
            let read = crate::vault::NotePath::new(&hit.path)
                .ok()
                .and_then(|it| context.workspace.vault.read(&it).ok());
            passages(&read.unwrap_or_default(), context.name)
        });
        is_saved || passages.iter().any(|lines| lines.contains(&hit.line))
    }
}

/// The texts in the arguments of the tools of the routine's runs since then, as words.
fn saved_words(context: &RoutineSearch<'_>, since: jiff::Timestamp) -> Result<Vec<Vec<String>>, String> {
    fn texts(value: &serde_json::Value, found: &mut Vec<Vec<String>>) {
        match value {
            serde_json::Value::String(text) => found.push(words(text)),
            serde_json::Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
            serde_json::Value::Object(map) => map.values().for_each(|item| texts(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let runs = context.journal.runs_since(context.name, since).map_err(|error| error.to_string())?;
    for key in runs {
        let tools = context.turns.tools(super::message_of(&key)).map_err(|error| error.to_string())?;
        for row in tools {
            let arguments: serde_json::Value = serde_json::from_str(&row.call.arguments).unwrap_or_default();
            texts(&arguments, &mut found);
        }
    }
    found.retain(|words| !words.is_empty());
    Ok(found)
}

pub(super) fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// The lines, from 1, of the passages that a routine appended to a note: a callout with its name, and below it the id
/// of a run.
fn passages(bytes: &[u8], name: &str) -> Vec<std::ops::RangeInclusive<u32>> {
    let text = String::from_utf8_lossy(bytes);
    let title = format!("> [!note] {name}, ");
    let mut found = Vec::new();
    let mut open: Option<u32> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with(&title) {
            open = Some(number);
        } else if line.starts_with("^run-") {
            found.extend(open.take().map(|from| from..=number));
        } else if !line.starts_with('>') && !line.is_empty() {
            open = None;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_a_callout_of_the_routine_with_its_run_s_id() {
        let note = "a zeppelin\n\n> [!note] z, 2026-12-01 08:00\n> one\n>\n> two\n\n^run-00000000000000aa\n\
                    > [!note] z, mine\n> a zeppelin\n\nwords\n\n> [!note] other, x\n> y\n\n^run-00000000000000bb\n";
        assert_eq!(passages(note.as_bytes(), "z"), [3..=8]);
    }

    #[test]
    fn the_hash_of_an_older_version_is_the_memory_s() {
        let old = SeenHits::of(Some("0123abcd"));
        assert_eq!(old.memory.as_deref(), Some("0123abcd"));
        assert_eq!(SeenHits::of(Some(&old.text())), old);
        // A hash of digits alone is a number in JSON.
        assert_eq!(SeenHits::of(Some("12345678")).memory.as_deref(), Some("12345678"));
    }
}
