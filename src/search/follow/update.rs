//! Commits files that changed on disk to the index, or reads them into a corpus in memory if the index can't be
//! written.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rusqlite::Connection;

use crate::search::follow::{ChangedFile, FreshnessProof, UnreadPath, is_held, prove_freshness};
use crate::search::store::{Change, Corpus, Delta, LastCommit, Mode, Store, catalog, commit};
use crate::search::{CheckedBy, Freshness, Index, IndexError, Result, Snapshot};

/// More changed files than this at once are read by both cores into a new index part.
const BATCH: usize = 400;
/// At most so many newer files are read for one answer; the rest is said to be missing.
const DIRECT: usize = 10_000;
/// Merges beside an answer or a small update are of at most so many living documents.
const SMALL_MERGE: u64 = 20_000;

impl Index {
    /// Compares every file's stat and commits the changes. If nothing is committed yet, this indexes the whole vault.
    /// Returns what could not be looked at.
    ///
    /// # Errors
    /// The vault isn't there or was emptied, the cache can't be written.
    pub fn catch_up(&self) -> Result<Vec<UnreadPath>> {
        self.healing(|store| {
            let mut unread = Vec::new();
            let suspects = self.scan(&store.conn()?, &mut unread)?;
            let paths: Vec<String> = suspects.into_iter().map(|suspect| suspect.path).collect();
            add_unread(&mut unread, self.apply(store, &paths, true)?);
            Ok(unread)
        })
    }

    /// Commits the present state of the given files (a folder stands for all below it). Of the other
    /// notes only the paths are looked at. Returns what could not be looked at.
    ///
    /// # Errors
    /// The vault isn't there or was emptied, the cache can't be written.
    pub fn update(&self, paths: &[String]) -> Result<Vec<UnreadPath>> {
        self.healing(|store| self.apply(store, paths, true))
    }

    /// Whether nothing was ever committed, so that the next question indexes the whole vault.
    ///
    /// # Errors
    /// The cache can't be read.
    pub fn is_empty(&self) -> Result<bool> {
        let store = self.store()?;
        let has_files = catalog::begins(&store.conn()?, "")?;
        Ok(store.is_writable() && !has_files && !is_held(&store.root))
    }

    fn apply(&self, store: &Store, paths: &[String], wait: bool) -> Result<Vec<UnreadPath>> {
        let mut unread = Vec::new();
        if paths.is_empty() {
            return Ok(unread);
        }
        if paths.len() > BATCH && !catalog::begins(&store.conn()?, "")? {
            return Ok(self.reindex_into(store, &|_| {}, &self.stopping, wait)?.1);
        }
        for paths in paths.chunks(BATCH) {
            if self.stopping.load(Ordering::Relaxed) {
                return Err(IndexError::Interrupted);
            }
            let _writing = store.lock_to_write(wait)?;
            let conn = store.conn()?;
            let suspects = self.suspects_at(&conn, paths, &mut unread)?;
            let changes = self.inspect(suspects, &mut unread);
            self.refuse_vanishing(&conn, &changes)?;
            let delta = Delta::build(changes, Some(&store.segments()), &self.basis)?;
            fail::fail_point!("index-segment-written", |_| Err(IndexError::Interrupted));
            if !delta.files.is_empty() {
                let (corpus, now) = (store.corpus(&conn)?, self.clock.now().as_second());
                commit::commit(&conn, &store.segments(), &corpus, &[delta], now, None)?;
                store.committed()?;
            }
        }
        if !is_held(&store.root) {
            store.compact(SMALL_MERGE)?;
        }
        Ok(unread)
    }

    fn refuse_vanishing(&self, conn: &Connection, changes: &[Change]) -> Result<()> {
        let removed = changes.iter().filter(|change| matches!(change, Change::Removed(_))).count() as u64;
        if removed > 1 && removed == catalog::file_count(conn)? {
            // The last ones to go: is there really nothing else?
            self.refuse_emptying(conn, self.list()?.files.len())?;
        }
        Ok(())
    }

    /// The index with all changes on disk, and the proof of its freshness. Files of which `is_meant` is false are as the
    /// index knows them. The daemon's word counts if it is `trusted`; else nothing is committed.
    pub(super) fn fresh(
        &self,
        store: &Store,
        is_meant: &dyn Fn(&str) -> bool,
        trusted: bool,
    ) -> Result<Snapshot<'_>> {
        let mut warnings = Vec::new();
        match &store.mode {
            Mode::Writable => {}
            Mode::ReadOnly(why) => warnings.push(format!("{why} (searched all the same)")),
            Mode::Memory(why) => warnings.push(format!("{why} (the notes were read without a cache)")),
        }
        // The word comes first: what was committed after it was given is in the snapshot.
        let word = if trusted { prove_freshness(&store.root) } else { None };
        let (mut conn, mut corpus) = store.snapshot()?;
        // It is about the index that the daemon filled, not about one that was made anew since.
        let LastCommit { epoch, generation, .. } = corpus.commit;
        let word = word.filter(|word| word.commit.0 == epoch && word.commit.1 <= generation);
        let (mut checked_by, mut unread) = (CheckedBy::Daemon, Vec::new());
        let meant = |found: Result<Vec<ChangedFile>>| {
            found.map(|mut found| {
                found.retain(|suspect| is_meant(&suspect.path));
                found
            })
        };
        let mut suspects = meant(match word {
            Some(FreshnessProof { mut dirty, .. }) => {
                // A person may ask for a fact at once after saving it, before the watcher reports the write.
                dirty.extend(self.options.own_notes(self.clock.now()));
                self.suspects_at(&conn, &dirty, &mut unread)
            }
            None => {
                checked_by = CheckedBy::Scan;
                self.scan(&conn, &mut unread)
            }
        });
        // A change that the daemon doesn't know yet is committed by the daemon.
        if trusted
            && checked_by != CheckedBy::Daemon
            && store.is_writable()
            && let Ok(found) = &suspects
            && !found.is_empty()
        {
            let paths: Vec<String> = found.iter().map(|suspect| suspect.path.clone()).collect();
            drop(conn);
            let applied = self.apply(store, &paths, false);
            (conn, corpus) = store.snapshot()?;
            suspects = match applied {
                // Changes during the write are for the next query.
                Ok(missed) if corpus.commit.epoch == epoch => {
                    add_unread(&mut unread, missed);
                    Ok(Vec::new())
                }
                // One that was made anew meanwhile may lack anything.
                Ok(_) | Err(IndexError::Busy) => meant(self.scan(&conn, &mut unread)),
                Err(error) if error.is_full_or_read_only() => {
                    warnings.push(error.in_cache(&self.root).to_string());
                    meant(self.scan(&conn, &mut unread))
                }
                Err(error) => Err(error),
            };
        }
        let mut freshness = Freshness::new(corpus.commit.generation, checked_by, warnings);
        freshness.misses(unread);
        match suspects {
            Ok(suspects) => {
                // Without a cache every file is newer than the index.
                let most = if matches!(store.mode, Mode::Memory(_)) { usize::MAX } else { DIRECT };
                corpus = self.overlay(corpus, suspects, most, &mut freshness)?;
            }
            Err(error @ (IndexError::Vault(_) | IndexError::VaultEmpty { .. })) => {
                freshness.complete = false;
                freshness.checked_by = CheckedBy::Nobody;
                freshness.warnings.push(error.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(Snapshot { conn, corpus, options: &self.options, freshness })
    }

    /// `corpus` with at most so many of the suspects as they are on disk, nothing committed.
    fn overlay(
        &self,
        corpus: Arc<Corpus>,
        mut suspects: Vec<ChangedFile>,
        most: usize,
        freshness: &mut Freshness,
    ) -> Result<Arc<Corpus>> {
        if suspects.len() > most {
            freshness.complete = false;
            freshness.warnings.push(format!(
                "{} files are newer than the index, {most} of them were searched; it is being brought up to date",
                suspects.len()
            ));
            suspects.truncate(most);
        }
        let mut unread = Vec::new();
        let mut changes = self.inspect(suspects, &mut unread);
        freshness.misses(unread);
        changes.retain(|change| !matches!(change, Change::Touched(_)));
        if changes.is_empty() {
            return Ok(corpus);
        }
        freshness.read_directly += changes.len();
        let delta = Delta::build(changes, None, &self.basis)?;
        Ok(Arc::new(delta.overlay(&corpus)?))
    }
}

/// Adds those of `more` that are not in a folder that is unread already.
fn add_unread(unread: &mut Vec<UnreadPath>, mut more: Vec<UnreadPath>) {
    let is_in =
        |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    more.retain(|(path, _)| !unread.iter().any(|(folder, _)| is_in(path, folder)));
    unread.append(&mut more);
}
