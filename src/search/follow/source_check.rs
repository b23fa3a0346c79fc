//! Runs a query against the index and checks, before the answer leaves, the files that the answer was made from.
//!
//! The query comes in as a closure over a [`Snapshot`], which also names those files; its result goes out with its
//! freshness. If one of the files has changed without an event of the watcher, it is read and the query runs again.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::search::follow::scan;
use crate::search::follow::snapshot::Snapshot;
use crate::search::store::cache::Store;
use crate::search::store::catalog::FileRow;
use crate::search::store::view::DocRef;
use crate::search::{CheckedBy, Freshness, Index, IndexError};
use crate::vault::NotePath;

/// Before it says that there is nothing, a process looks at every file itself, at most so often.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A file that an answer was made from, and its size and modification time as the index knows them; none for one that was
/// read just now.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnswerSource {
    path: String,
    known: Option<(u64, i64)>,
}

impl Snapshot<'_> {
    /// The source of an answer with the block `at` of `file`.
    pub fn source(&self, at: DocRef, file: &FileRow) -> AnswerSource {
        let is_committed = self.view().segs[at.seg].id != 0;
        AnswerSource {
            path: file.path.clone(),
            known: is_committed.then_some((file.look.size, file.look.mtime)),
        }
    }
}

impl Index {
    /// Runs `work` on the index as the vault is on disk now. `work` also returns the files that its answer was made from
    /// ([`Snapshot::source`]): where one is other than the index knows, or where the list is empty, files are looked at
    /// and `work` runs once more, so that a dead watcher never has the last word. No list: the answer is taken as it is.
    ///
    /// # Errors
    /// As [`Index::search`], and what `work` says.
    pub fn answer<T>(
        &self,
        work: impl Fn(&Snapshot<'_>) -> Result<(T, Option<Vec<AnswerSource>>), IndexError>,
    ) -> Result<(T, Freshness), IndexError> {
        match self.healing(|store| self.answer_in(store, &work)) {
            Err(error) if error.is_full_or_read_only() => {
                let store = Store::in_memory(&self.root, &self.options.fingerprint(), error.to_string())?;
                self.answer_in(&store, &work)
            }
            answer => answer,
        }
    }

    fn answer_in<T>(
        &self,
        store: &Store,
        work: &impl Fn(&Snapshot<'_>) -> Result<(T, Option<Vec<AnswerSource>>), IndexError>,
    ) -> Result<(T, Freshness), IndexError> {
        let mut snapshot = self.fresh_snapshot(store)?;
        // A file that was read since the question was asked is fresh enough, whatever has happened to it since.
        let mut looked: HashSet<String> = HashSet::new();
        for _ in 0..3 {
            let (answer, sources) = work(&snapshot)?;
            let Some(sources) = sources.filter(|_| snapshot.freshness.checked_by == CheckedBy::Daemon) else {
                return Ok((answer, snapshot.freshness));
            };
            let suspects = if sources.is_empty() && self.may_look() {
                snapshot.freshness.checked_by = CheckedBy::Scan;
                self.scan(snapshot.database(), snapshot.view())?
            } else {
                let mut stale = self.stale(sources);
                stale.retain(|path| looked.insert(path.clone()));
                scan::suspects_at(snapshot.database(), &self.vault, &self.options, &stale)?
            };
            if suspects.is_empty() {
                return Ok((answer, snapshot.freshness));
            }
            // A file that is other than the index knows: look at it, then once more.
            self.look_again(store, &mut snapshot, suspects)?;
        }
        let (answer, _) = work(&snapshot)?;
        snapshot.freshness.complete = false;
        Ok((answer, snapshot.freshness))
    }

    /// Whether it is time to look at every file once more before an empty answer.
    fn may_look(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = looked.is_none_or(|at| at.elapsed() > LOOK_EVERY);
        if due {
            *looked = Some(Instant::now());
        }
        due
    }

    /// Those of these files that changed without a report.
    fn stale(&self, sources: Vec<AnswerSource>) -> Vec<String> {
        let mut seen = HashSet::new();
        let is_stale = |source: &AnswerSource| {
            let Some(known) = source.known else { return false };
            let plain = scan::plain_stat(&self.vault, &source.path);
            if plain.is_some_and(|stat| (stat.size, stat.mtime_ns) == known) {
                return false;
            }
            let stat =
                NotePath::new(&source.path).ok().and_then(|path| self.vault.stat(&path).ok().flatten());
            // A vault that isn't there says nothing about its files.
            match stat {
                Some(stat) => (stat.size, stat.mtime_ns) != known,
                None => self.vault.is_present(),
            }
        };
        let stale = sources.into_iter().filter(|source| seen.insert(source.path.clone()) && is_stale(source));
        stale.map(|source| source.path).collect()
    }
}
