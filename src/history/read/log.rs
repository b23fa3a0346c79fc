//! Lists the history's commits, newest first, filtered by note, actor, time, words, or the id of a reminder or
//! follow-up.
//!
//! Commit messages name the notes that the commits touched. So most commits that don't match are passed over without
//! reading a tree, and no index is needed.

use serde::{Serialize, Serializer};
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

use super::diff::{DiffStyle, is_within, render};
use super::filter::{FilterWalk, LogFilter};
use crate::history::error::Result;
use crate::history::prelude::*;
use crate::history::store::{Commit, CommitWalk, PathChange};
use crate::history::take::{History, Rename, file_name, pairs, removed_and_added};
use crate::reminders::rfc3339;

/// A commit with the paths that it changed.
#[derive(Debug, Clone)]
pub struct CommitRecord {
    /// The commit.
    pub commit: Commit,
    /// The changes, ordered by path.
    pub changes: Vec<PathChange>,
}

impl History {
    /// Passes the commits that match `filter` to `take`, newest first, until it breaks.
    pub fn log(
        &self,
        filter: &LogFilter,
        take: impl FnMut(CommitRecord) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.log_between(filter, None, None, take)
    }

    /// As [`History::log`], beginning with the snapshot `start`, or with the newest one if there is no `start`.
    pub(in crate::history) fn log_between(
        &self,
        filter: &LogFilter,
        start: Option<Oid>,
        end: Option<Oid>,
        mut take: impl FnMut(CommitRecord) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut walk = CommitWalk::from(start.map_or_else(|| self.store().head(), |start| Ok(Some(start)))?);
        // An accent is one character or two: what is gone by now may have been named either way.
        let mut paths: Vec<String> = filter
            .path
            .iter()
            .flat_map(|path| [path.clone(), path.nfc().collect(), path.nfd().collect()])
            .collect();
        paths.sort_unstable();
        paths.dedup();
        let (mut skip, mut left) = (filter.skip, filter.limit.unwrap_or(usize::MAX));
        let grep = filter.grep.as_ref().map(|words| words.to_lowercase());
        while left > 0 {
            // A commit's changes are computed only where they are shown, or may show a rename.
            let mut none = 0;
            let passed_over = if paths.is_empty() { &mut skip } else { &mut none };
            let wanted = FilterWalk { filter, paths: &paths, grep: grep.as_deref(), end };
            let Some(commit) = self.next_match(&mut walk, &wanted, passed_over)? else { break };
            let record = self.with_changes(commit)?;
            if !paths.is_empty() {
                self.follow(&record, &mut paths)?;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            left -= 1;
            if take(record)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The renames in a snapshot, if a path that it added is `wanted`.
    pub(in crate::history) fn renames_of(
        &self,
        record: &CommitRecord,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Rename>> {
        // A file keeps its text or its name when it is renamed: most snapshots hold none that may be meant.
        let gone = record.changes.iter().filter(|change| change.new.is_none());
        let (texts, names): (HashSet<Oid>, HashSet<&str>) =
            gone.filter_map(|change| Some((change.old?.id, file_name(&change.path)))).unzip();
        let may_be_renamed = |change: &PathChange| {
            let is_known = |id| texts.contains(&id) || names.contains(file_name(&change.path));
            change.old.is_none() && change.new.is_some_and(|new| is_known(new.id)) && wanted(&change.path)
        };
        if !record.changes.iter().any(may_be_renamed) {
            return Ok(Vec::new());
        }
        let [gone, come] = removed_and_added(&record.changes);
        pairs(&gone, &come, |_, id| self.content(id))
    }

    /// The names that `paths` had before `record`: a file that was renamed, or a folder that was.
    fn follow(&self, record: &CommitRecord, paths: &mut Vec<String>) -> Result<()> {
        let renames = self.renames_of(record, |path| is_within(path, paths))?;
        if renames.is_empty() {
            return Ok(());
        }
        let store = self.store();
        let before = store.tree_before(&record.commit)?;
        for scope in paths.clone() {
            let mut names = Vec::new();
            for rename in &renames {
                let Some(rest) = rename.to.strip_prefix(scope.as_str()) else { continue };
                if !rest.is_empty() && !rest.starts_with('/') {
                    continue;
                }
                // The folder itself was renamed only if it is gone.
                let folder = rename.from.strip_suffix(rest).filter(|_| !rest.is_empty());
                let folder =
                    folder.filter(|old| store.node(record.commit.tree, old).is_ok_and(|node| node.is_none()));
                names.push(folder.unwrap_or(&rename.from).to_owned());
            }
            if !names.is_empty() && store.node(before, &scope)?.is_none() {
                paths.retain(|path| *path != scope);
            }
            for name in names {
                if paths.is_empty() || !is_within(&name, paths) {
                    paths.push(name);
                }
            }
        }
        Ok(())
    }

    /// The next commit of the walk that is meant, after `skip` that are passed over. The store is held by one
    /// lock for all of them, and is free again when one is found: the caller may ask the store for more.
    fn next_match(
        &self,
        walk: &mut CommitWalk,
        wanted: &FilterWalk<'_>,
        skip: &mut usize,
    ) -> Result<Option<Commit>> {
        let store = self.store();
        while let Some(id) = walk.next().filter(|next| Some(*next) != wanted.end) {
            if let Some(parents) = store.parents_unless(id, |message| wanted.may_match_message(message))? {
                walk.go_on(&parents);
                continue;
            }
            let commit = store.commit(id)?;
            walk.go_on(&commit.parents);
            if !wanted.matches_commit(&store, &commit, &self.selection.own)? {
                continue;
            }
            if *skip == 0 {
                return Ok(Some(commit));
            }
            *skip -= 1;
        }
        Ok(None)
    }

    /// A snapshot with what it changed.
    pub fn with_changes(&self, commit: Commit) -> Result<CommitRecord> {
        let store = self.store();
        let changes = store.changes(store.tree_before(&commit)?, commit.tree)?;
        Ok(CommitRecord { commit, changes })
    }

    /// Whether a snapshot holds both paths, which are one but for the form of an accent.
    pub fn has_both_spellings(&self, path: &str, twin: &str) -> Result<bool> {
        let records = self.records(&LogFilter { path: Some(path.to_owned()), ..LogFilter::default() })?;
        let store = self.store();
        let holds = |tree, path| store.node(tree, path).is_ok_and(|node| node.is_some());
        Ok(records.iter().any(|it| holds(it.commit.tree, path) && holds(it.commit.tree, twin)))
    }

    /// The commits that match `filter`, newest first.
    pub fn records(&self, filter: &LogFilter) -> Result<Vec<CommitRecord>> {
        let mut out = Vec::new();
        self.log(filter, |record| {
            out.push(record);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(out)
    }

    /// A file's content in a snapshot.
    pub fn read_at(&self, commit: &Commit, path: &str) -> Result<Option<Vec<u8>>> {
        let store = self.store();
        store.file(commit.tree, path)?.map(|file| store.blob(file.id)).transpose()
    }

    /// A content by its id.
    pub fn content(&self, id: Oid) -> Result<Vec<u8>> {
        self.store().blob(id)
    }

    /// A snapshot as programs read it, with its differences where `patch` asks for them.
    ///
    /// # Errors
    /// A text of the history can't be read.
    pub fn entry(&self, record: &CommitRecord, patch: bool) -> Result<SnapshotEntry> {
        let commit = &record.commit;
        let mut trailers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (key, value) in &commit.message.trailers {
            trailers.entry(key.clone()).or_default().push(value.clone());
        }
        let diffs = record
            .changes
            .iter()
            .filter(|_| patch)
            .map(|change| self.file_diff(change).map(|diff| render(&diff, DiffStyle::Plain)));
        let text = diffs.collect::<Result<String>>()?;
        Ok(SnapshotEntry {
            id: commit.id.to_string(),
            time: rfc3339(commit.time, self.zone().tz()),
            actor: commit.message.actor().to_owned(),
            subject: commit.message.subject.clone(),
            body: commit.message.body.clone(),
            trailers,
            paths: record.changes.iter().map(|change| change.path.clone()).collect(),
            patch: patch.then_some(text),
        })
    }
}

/// One snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotEntry {
    /// Its id, 40 hexadecimal digits.
    pub id: String,
    /// When, in the vault's zone: RFC 3339.
    pub time: String,
    /// The writer.
    pub actor: String,
    /// The subject, in one line.
    pub subject: String,
    /// More words.
    pub body: Option<String>,
    /// The message's trailers.
    #[serde(serialize_with = "one_or_many")]
    pub trailers: BTreeMap<String, Vec<String>>,
    /// The files that it changed.
    pub paths: Vec<String>,
    /// The changes as a unified diff, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// A trailer that stands once is a text, one that stands more often a list.
fn one_or_many<S: Serializer>(
    trailers: &BTreeMap<String, Vec<String>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let value = |values: &[String]| if let [one] = values { json!(one) } else { json!(values) };
    serializer.collect_map(trailers.iter().map(|(key, values)| (key, value(values))))
}
