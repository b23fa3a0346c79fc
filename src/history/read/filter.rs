//! Filters the history's commits by note, actor, time, words, or the id of a reminder or follow-up.
//!
//! A commit touched a note if the commit's message names the note. A commit didn't touch a note if its message names
//! all the commit's notes, and not this note. In any other case the commit's trees are compared.

use super::diff::is_within;
use crate::history::error::Result;
use crate::history::prelude::*;
use crate::history::store::{ACTOR, ALL_NOTES, Commit, CommitMessage, HistoryStore, NOTE, trailers_of};

/// The conditions of a log query. All must hold.
#[derive(Debug, Clone, Default)]
pub struct LogFilter {
    /// A file or folder that it changed, under whatever name it had then.
    pub path: Option<String>,
    /// The `Actor:`; `agent` is anyone but `human`.
    pub actor: Option<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Not after.
    pub until: Option<Timestamp>,
    /// Words in the message, upper and lower case alike.
    pub grep: Option<String>,
    /// A reminder's or commitment's id: commits that name it, and people's that changed its line.
    pub id: Option<String>,
    /// The newest so many of them are passed over.
    pub skip: usize,
    /// At most as many.
    pub limit: Option<usize>,
}

/// A filter of the log, with the state of the walk.
pub(super) struct FilterWalk<'a> {
    pub filter: &'a LogFilter,
    /// The names that the filter's path had where the walk is; none where any is meant.
    pub paths: &'a [String],
    /// The filter's words in lower case.
    pub grep: Option<&'a str>,
    /// The snapshot at which the walk ends.
    pub end: Option<Oid>,
}

impl FilterWalk<'_> {
    /// A quick test of an unparsed message: false only where the commit doesn't match.
    pub fn may_match_message(&self, message: &[u8]) -> bool {
        let lives = || self.filter.id.as_ref().is_none_or(|id| may_concern_id(message, id));
        may_match(message, self.filter, self.paths) && lives()
    }

    /// Whether a commit matches, by its message, else by its trees.
    pub fn matches_commit(&self, store: &HistoryStore, commit: &Commit, own: &[String]) -> Result<bool> {
        let is_meant = is_by(commit.message.actor(), self.filter)
            && self.filter.since.is_none_or(|since| commit.time >= since)
            && self.filter.until.is_none_or(|until| commit.time <= until)
            && self.grep.is_none_or(|words| commit.message.render().to_lowercase().contains(words));
        if !is_meant || !self.paths.is_empty() && !touches(store, commit, self.paths)? {
            return Ok(false);
        }
        self.filter.id.as_ref().map_or(Ok(true), |id| concerns_id(store, commit, id, own))
    }
}

fn is_by(actor: &str, filter: &LogFilter) -> bool {
    filter.actor.as_deref().is_none_or(|wanted| wanted == actor || wanted == "agent" && actor != "human")
}

/// A quick test of an unparsed message: false only where its actor, or the notes that it names, rule the commit out.
fn may_match(message: &[u8], filter: &LogFilter, paths: &[String]) -> bool {
    if filter.actor.is_none() && paths.is_empty() {
        return true;
    }
    let Ok(text) = std::str::from_utf8(message.strip_prefix(b"\n").unwrap_or(message)) else { return true };
    let (mut actor, mut names_notes, mut may_touch) = (None, false, paths.is_empty());
    for (key, value) in trailers_of(text) {
        if key.eq_ignore_ascii_case(ACTOR) {
            actor = actor.or(Some(value));
        } else if key.eq_ignore_ascii_case(NOTE) {
            names_notes = true;
            may_touch |= value.starts_with('"') || is_within(value, paths);
        } else if key.eq_ignore_ascii_case(ALL_NOTES) {
            may_touch = true;
        }
    }
    (may_touch || !names_notes) && is_by(actor.unwrap_or("human"), filter)
}

/// Whether a commit's message says that it touched a note; none where it names no note or not all: the trees must say.
fn named(message: &CommitMessage, hit: impl Fn(&str) -> bool) -> Option<bool> {
    let notes: Vec<String> = message.notes().collect();
    if notes.iter().any(|note| hit(note)) {
        return Some(true);
    }
    (!notes.is_empty() && message.trailer(ALL_NOTES).is_none()).then_some(false)
}

fn touches(store: &HistoryStore, commit: &Commit, paths: &[String]) -> Result<bool> {
    if let Some(said) = named(&commit.message, |note| is_within(note, paths)) {
        return Ok(said);
    }
    let before = store.tree_before(commit)?;
    for path in paths {
        if store.node(before, path)? != store.node(commit.tree, path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A quick test of an unparsed message: true where it names the id, or is no agent's own write.
fn may_concern_id(message: &[u8], id: &str) -> bool {
    let has = |words: &[u8]| memchr::memmem::find(message, words).is_some();
    has(id.as_bytes()) || !has(b"\nActor: ") || has(b"\nActor: human\n") || has(b"\nActor: restore\n")
}

/// Whether the commit concerns the reminder or commitment with that id.
fn concerns_id(store: &HistoryStore, commit: &Commit, id: &str, own: &[String]) -> Result<bool> {
    let message = &commit.message;
    let mentions = |text: &str| memchr::memmem::find(text.as_bytes(), id.as_bytes()).is_some();
    if mentions(&message.subject)
        || message.body.as_deref().is_some_and(mentions)
        || message.trailers.iter().any(|(_, value)| mentions(value))
    {
        return Ok(true);
    }
    // An agent's write names its ids; only other writers change a line without naming it.
    if message.actor() != "human" && message.actor() != "restore" {
        return Ok(false);
    }
    if named(message, |note| own.iter().any(|own| own == note)) == Some(false) {
        return Ok(false);
    }
    let old = store.tree_before(commit)?;
    for path in own {
        let lines = |tree: Oid| -> Result<Vec<Vec<u8>>> {
            let bytes =
                store.file(tree, path)?.map(|file| store.blob(file.id)).transpose()?.unwrap_or_default();
            let hit = |line: &&[u8]| memchr::memmem::find(line, id.as_bytes()).is_some();
            Ok(bytes.split(|b| *b == b'\n').filter(hit).map(<[u8]>::to_vec).collect())
        };
        if store.file(old, path)? != store.file(commit.tree, path)? && lines(old)? != lines(commit.tree)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The quick look says the same as the message taken apart.
        #[test]
        fn a_message_is_judged_as_it_stands(
            subject in "[a-z: ]{1,12}",
            lines in proptest::collection::vec("(Actor|actor|Note|Notes|Reminder|no trailer)(: (human|mcp|a|a/b|ab|\"c))?", 0..5),
            wanted in proptest::option::of("(human|mcp|agent)"),
            paths in proptest::collection::vec("(a|a/b|c)", 0..2),
        ) {
            let text = format!("{subject}\n\n{}\n", lines.join("\n"));
            let message = CommitMessage::parse(&text);
            let filter = LogFilter { actor: wanted, ..LogFilter::default() };
            let touches = paths.is_empty() || named(&message, |note| is_within(note, &paths)) != Some(false);
            let is_meant = is_by(message.actor(), &filter) && touches;
            let may = may_match(format!("\n{text}").as_bytes(), &filter, &paths);
            // A quoted name is left to the full comparison.
            prop_assert!(may || !is_meant, "{text}");
            prop_assert!(!may || is_meant || text.contains('"'), "{text}");
        }
    }
}
