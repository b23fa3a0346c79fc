//! Recognises tasks whose notification has another key than the task has now.
//!
//! Three cases are recognised, each only if the notified line is gone everywhere: the same words at the same time, in
//! another note or under the note's new name; the same words on the same day, where the settings give days another
//! time; and a line of the same note at the same time that gained or lost a tag. Other words are another task: a
//! reworded line can't be told from one that was deleted beside a new one, and a missed task is worse than one that is
//! notified twice.

use std::collections::{HashMap, HashSet};

use jiff::civil;

use super::super::{PassContext, PassMode};
use super::{DueTask, TOLD};
use crate::deliver::journal::NotifiedTask;
use crate::deliver::notifier::Fact;
use crate::format::task::TaskLine;
use crate::format::{lines, shortened};
use crate::sqlite::Result;
use crate::tasks::{task_id, words_of};

/// Notifications whose line isn't known yet.
pub(super) struct MovedTasks<'a> {
    context: &'a PassContext<'a>,
    dry: bool,
    /// The keys of all lines that are due.
    standing: HashSet<&'a str>,
    taken: HashSet<String>,
    told: HashMap<civil::DateTime, Vec<NotifiedTask>>,
}

impl<'a> MovedTasks<'a> {
    /// Among these lines.
    pub(super) fn new(context: &'a PassContext<'a>, due: &'a [DueTask], mode: PassMode) -> Self {
        Self {
            context,
            dry: mode == PassMode::DryRun,
            standing: due.iter().map(|due| due.key.as_str()).collect(),
            taken: HashSet::new(),
            told: HashMap::new(),
        }
    }

    /// Whether a task without a row was notified, or is being notified, in an earlier form; the row then moves along.
    pub(super) fn was_sent(&mut self, due: &DueTask) -> Result<bool> {
        let Some(gone) = self.gone(due)? else { return Ok(false) };
        if gone.is_certain && !self.dry {
            let (id, note) = (due.id.clone(), Some(due.path.clone()));
            let fact = Fact { id, msg: due.said(), note, ..gone.fact };
            self.context.journal.task_moved(&gone.key, &due.key, &due.line(), &fact)?;
        }
        self.taken.insert(gone.key);
        Ok(true)
    }

    fn gone(&mut self, due: &DueTask) -> Result<Option<NotifiedTask>> {
        let Some(words) = words_of(&due.id) else { return Ok(None) };
        let same =
            self.context.journal.notified_tasks(words, due.notification_time.at, due.day().as_ref())?;
        if let Some(gone) = same.into_iter().find(|told| self.is_free(told)) {
            return Ok(Some(gone));
        }
        if !self.told.contains_key(&due.notification_time.at) {
            let told = self.context.journal.notified_tasks_at(due.notification_time.at)?;
            self.told.insert(due.notification_time.at, told);
        }
        let tagged = |told: &&NotifiedTask| {
            self.is_free(told) && is_tagged(told, due) && !is_in_note(self.context, &due.path, &told.fact.id)
        };
        Ok(self.told[&due.notification_time.at].iter().find(tagged).cloned())
    }

    fn is_free(&self, told: &NotifiedTask) -> bool {
        !self.standing.contains(told.key.as_str()) && !self.taken.contains(&told.key)
    }
}

/// Whether a line of the same note differs from the notified one by added tags, or by removed ones.
fn is_tagged(told: &NotifiedTask, due: &DueTask) -> bool {
    let fact = &told.fact;
    let words = fact.msg.strip_suffix(&due.path).and_then(|words| words.strip_suffix(" · "));
    let Some(words) = words.filter(|_| fact.note.as_ref() == Some(&due.path)) else { return false };
    let new = shortened(&due.words, TOLD);
    let ((words, tags), (new_words, new_tags)) = (split_tags(words), split_tags(&new));
    words == new_words && !words.is_empty() && (tags.is_subset(&new_tags) || new_tags.is_subset(&tags))
}

/// The words without tags, and the tags.
fn split_tags(text: &str) -> (Vec<&str>, HashSet<&str>) {
    let is_tag = |word: &&str| word.len() > 1 && word.starts_with('#');
    (
        text.split_whitespace().filter(|word| !is_tag(word)).collect(),
        text.split_whitespace().filter(is_tag).collect(),
    )
}

/// Whether a line with the words of this id is in the note, open or done: then the new one is another. If that can't be
/// found out, it is another, too.
fn is_in_note(context: &PassContext<'_>, path: &str, id: &str) -> bool {
    let Some(settings) = &context.settings.tasks else { return true };
    let rules = crate::tasks::rules(context.vault, settings);
    let bytes = crate::vault::NotePath::new(path).ok().and_then(|path| context.vault.read(&path).ok());
    let (Ok(rules), Some(bytes)) = (rules, bytes) else { return true };
    let has_words = |text: &[u8]| {
        let line = std::str::from_utf8(text).ok().and_then(|text| TaskLine::read(text, &rules));
        line.is_some_and(|line| words_of(&task_id(path, &line.words())) == words_of(id))
    };
    lines::LiveLines::new(&bytes).any(|line| has_words(line.text))
}
