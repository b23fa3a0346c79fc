//! The log: commits filtered by note, by reminder, by actor, by words, newest first.
//!
//! Commits are read newest first, one after the other; their messages carry the names of the notes that
//! they touched, so that most questions need no tree. The life of one reminder over fifty thousand
//! commits takes well under a second, without an index that could be wrong.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use git2::Oid;
use jiff::Timestamp;
use unicode_normalization::UnicodeNormalization;

use super::diff::within;
use super::point::Point;
use crate::history::error::Result;
use crate::history::store::Commit;
use crate::history::store::PathChange;
use crate::history::store::Store;
use crate::history::store::tree_or_empty;
use crate::history::store::{ALL_NOTES, Message};
use crate::history::take::History;
use crate::history::take::{Rename, pairs};

/// Which commits are meant. All conditions must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
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

/// A commit with the paths that it changed.
#[derive(Debug, Clone)]
pub struct Record {
    /// The commit.
    pub commit: Commit,
    /// The changes, ordered by path.
    pub changes: Vec<PathChange>,
}

impl History {
    /// Shows `take` the commits that `filter` means, newest first, until it breaks.
    ///
    /// # Errors
    /// The history can't be read.
    pub fn log(&self, filter: &Filter, take: impl FnMut(Record) -> Result<ControlFlow<()>>) -> Result<()> {
        self.log_until(filter, None, take)
    }

    /// As [`History::log`], down to the snapshot `end`, which is not shown.
    pub(in crate::history) fn log_until(
        &self,
        filter: &Filter,
        end: Option<Oid>,
        take: impl FnMut(Record) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.log_between(filter, None, end, take)
    }

    /// As [`History::log_until`], from the snapshot `start` on, which is shown; without one from the newest.
    pub(in crate::history) fn log_between(
        &self,
        filter: &Filter,
        start: Option<Oid>,
        end: Option<Oid>,
        mut take: impl FnMut(Record) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut next = start.map_or_else(|| self.store().head(), |start| Ok(Some(start)))?;
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
        while let (Some(id), true) = (next.filter(|next| Some(*next) != end), left > 0) {
            // The store is free again before `take` is called, which may ask it for more.
            let (parent, commit) = self.meant(id, filter, &paths, grep.as_deref())?;
            next = parent;
            let Some(commit) = commit else { continue };
            // What a commit changed is worked out where it is shown, or may tell of a rename.
            let is_shown = skip == 0;
            if !is_shown && paths.is_empty() {
                skip -= 1;
                continue;
            }
            let record = self.with_changes(commit)?;
            if !paths.is_empty() {
                self.follow(&record, &mut paths)?;
            }
            if !is_shown {
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
        record: &Record,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Rename>> {
        let (mut gone, mut come) = (BTreeMap::new(), BTreeMap::new());
        for change in &record.changes {
            match (change.old, change.new) {
                (Some(old), None) => drop(gone.insert(change.path.as_str(), old)),
                (None, Some(new)) => drop(come.insert(change.path.as_str(), new)),
                _ => {}
            }
        }
        if gone.is_empty() || !come.keys().any(|path| wanted(path)) {
            return Ok(Vec::new());
        }
        pairs(&gone, &come, |_, id| self.content(id))
    }

    /// The names that `paths` had before `record`: a file that was renamed, or a folder that was.
    fn follow(&self, record: &Record, paths: &mut Vec<String>) -> Result<()> {
        let renames = self.renames_of(record, |path| within(path, paths))?;
        if renames.is_empty() {
            return Ok(());
        }
        let store = self.store();
        let before = record.commit.parent.map(|parent| store.commit(parent)).transpose()?;
        let before = tree_or_empty(before.map(|commit| commit.tree));
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
                if paths.is_empty() || !within(&name, paths) {
                    paths.push(name);
                }
            }
        }
        Ok(())
    }

    /// The commit's parent, and the commit itself if `filter` means it.
    fn meant(
        &self,
        id: Oid,
        filter: &Filter,
        paths: &[String],
        grep: Option<&str>,
    ) -> Result<(Option<Oid>, Option<Commit>)> {
        let store = self.store();
        if let Some(wanted) = &filter.id
            && let Some(parent) = store.skip_unless(id, |message| may_live(message, wanted))?
        {
            return Ok((parent, None));
        }
        let commit = store.commit(id)?;
        let parent = commit.parent;
        if !head_matches(&commit, filter, grep) {
            return Ok((parent, None));
        }
        let before = || -> Result<Oid> {
            let parent = parent.map(|id| store.commit(id)).transpose()?;
            Ok(tree_or_empty(parent.map(|parent| parent.tree)))
        };
        if !paths.is_empty() && !touches(&store, &commit, paths, &before)? {
            return Ok((parent, None));
        }
        if let Some(id) = &filter.id
            && !lives(&store, &commit, id, self.own_notes(), &before)?
        {
            return Ok((parent, None));
        }
        Ok((parent, Some(commit)))
    }

    /// A commit with what it changed.
    fn with_changes(&self, commit: Commit) -> Result<Record> {
        let store = self.store();
        let before = commit.parent.map(|parent| store.commit(parent)).transpose()?;
        let changes = store.changes(tree_or_empty(before.map(|before| before.tree)), commit.tree)?;
        Ok(Record { commit, changes })
    }

    /// The snapshot at a point, with what it changed.
    ///
    /// # Errors
    /// The history can't be read.
    pub fn record_at(&self, point: &Point) -> Result<Record> {
        self.with_changes(point.commit.clone())
    }

    /// The commits that `filter` means, newest first.
    ///
    /// # Errors
    /// The history can't be read.
    pub fn records(&self, filter: &Filter) -> Result<Vec<Record>> {
        let mut out = Vec::new();
        self.log(filter, |record| {
            out.push(record);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(out)
    }

    /// A file's content in a snapshot.
    ///
    /// # Errors
    /// An object is damaged.
    pub fn read_at(&self, commit: &Commit, path: &str) -> Result<Option<Vec<u8>>> {
        let store = self.store();
        store.file(commit.tree, path)?.map(|file| store.blob(file.id)).transpose()
    }

    /// A content by its id.
    ///
    /// # Errors
    /// The object is damaged or missing.
    pub fn content(&self, id: Oid) -> Result<Vec<u8>> {
        self.store().blob(id)
    }
}

fn head_matches(commit: &Commit, filter: &Filter, grep: Option<&str>) -> bool {
    let actor = commit.message.actor();
    filter.actor.as_deref().is_none_or(|wanted| wanted == actor || wanted == "agent" && actor != "human")
        && filter.since.is_none_or(|since| commit.time >= since)
        && filter.until.is_none_or(|until| commit.time <= until)
        && grep.is_none_or(|words| commit.message.render().to_lowercase().contains(words))
}

/// The answer of a commit's message to the question whether it touched a note.
enum Named {
    Yes,
    No,
    /// It names none or not all: the trees must say.
    Unknown,
}

fn named(message: &Message, hit: impl Fn(&str) -> bool) -> Named {
    let mut any = false;
    for note in message.notes() {
        if hit(&note) {
            return Named::Yes;
        }
        any = true;
    }
    if any && message.trailer(ALL_NOTES).is_none() { Named::No } else { Named::Unknown }
}

fn touches(
    store: &Store,
    commit: &Commit,
    paths: &[String],
    before: &impl Fn() -> Result<Oid>,
) -> Result<bool> {
    match named(&commit.message, |note| within(note, paths)) {
        Named::Yes => return Ok(true),
        Named::No => return Ok(false),
        Named::Unknown => {}
    }
    let before = before()?;
    for path in paths {
        if store.node(before, path)? != store.node(commit.tree, path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A look at the bytes of a message, which spares taking most of them apart: it names the id, or it is
/// no agent's own write.
fn may_live(message: &[u8], id: &str) -> bool {
    let has = |words: &[u8]| memchr::memmem::find(message, words).is_some();
    has(id.as_bytes()) || !has(b"\nActor: ") || has(b"\nActor: human\n") || has(b"\nActor: restore\n")
}

/// Whether the commit belongs to the life of the thing with that id.
fn lives(
    store: &Store,
    commit: &Commit,
    id: &str,
    own: &[String],
    before: &impl Fn() -> Result<Oid>,
) -> Result<bool> {
    let message = &commit.message;
    let mentions = |text: &str| memchr::memmem::find(text.as_bytes(), id.as_bytes()).is_some();
    if mentions(&message.subject)
        || message.body.as_deref().is_some_and(mentions)
        || message.trailers.iter().any(|(_, value)| mentions(value))
    {
        return Ok(true);
    }
    // An agent's write says what it is about; only other hands change a line without naming it.
    if message.actor() != "human" && message.actor() != "restore" {
        return Ok(false);
    }
    if matches!(named(message, |note| own.iter().any(|own| own == note)), Named::No) {
        return Ok(false);
    }
    let old = before()?;
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
