//! Builds a whole new index beside the old one.
//!
//! Up to eight threads read, parse and write segments; one transaction at the end replaces the old index by the new
//! one. Until then the old index answers; if the work stops early, nothing has changed. A thread writes its segment out
//! after 40 MB of files, so memory grows only with the number of notes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::search::follow::scan::Listing;
use crate::search::follow::{ChangedFile, UnreadPath};
use crate::search::store::{Corpus, Delta, DeltaBuilder, Lock, Store, cache, commit};
use crate::search::{Index, IndexError, Result};
use crate::vault::{NotePath, Stat};

/// A worker writes its segment out after files of so many bytes; it holds about half as much again in memory.
const SEGMENT: u64 = 40_000_000;
/// Neighbouring files stay together, so that a folder's blocks do.
const CHUNK: usize = 16;

/// The progress of a reindex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files done.
    pub done: usize,
    /// Files in all.
    pub total: usize,
}

/// The result of a reindex.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Reindexed {
    /// Files that are known now.
    pub files: usize,
    /// Of these, left out.
    pub skipped: usize,
    /// Blocks.
    pub blocks: u64,
    /// Bytes read.
    pub bytes: u64,
}

impl Index {
    /// Makes the index anew from all notes. The old one answers until the new one is whole. `progress`
    /// is called now and then; setting `stop` ends the work with nothing changed. On purpose it takes an
    /// empty vault for one.
    ///
    /// # Errors
    /// The vault isn't there, the cache can't be written, or it was stopped.
    pub fn reindex(&self, progress: &(dyn Fn(Progress) + Sync), stop: &AtomicBool) -> Result<Reindexed> {
        if self.store()?.is_writable() {
            // Damage that only a close reading shows is found here.
            if let Err(error) = self.healing(Store::examine)
                && error.is_damage()
            {
                return Err(error);
            }
        } else {
            // A log that was taken away from under another process makes a cache that can only be read; one that can't be
            // removed either keeps its error.
            if let Ok(_writing) = Lock::take(&self.root.join("write.lock")) {
                let _ = cache::make_anew(
                    &self.root,
                    &self.fingerprint,
                    &IndexError::Torn("read-only".to_owned()),
                );
            }
            self.reopen()?;
        }
        self.healing(|store| Ok(self.reindex_into(store, progress, stop, true)?.0))
    }

    /// As [`Index::reindex`], in a store that can be written; also the files that could not be read.
    pub(in crate::search) fn reindex_into(
        &self,
        store: &Store,
        progress: &(dyn Fn(Progress) + Sync),
        stop: &AtomicBool,
        wait: bool,
    ) -> Result<(Reindexed, Vec<UnreadPath>)> {
        let writing = store.lock_to_write(wait)?;
        let Listing { files, mut unread, .. } = self.list()?;
        let root = store.segments();
        let deltas = self.read_all_files(&files, &root, progress, stop, &mut unread)?;
        fail::fail_point!("index-reindex-end", |_| Err(IndexError::Interrupted));
        let now = self.clock.now().as_second();
        let anew = Some(&*store.fingerprint);
        commit::commit(&store.conn()?, &root, &Corpus::default(), &deltas, now, anew)?;
        store.checkpoint()?;
        drop(writing);
        store.sweep()?;
        let mut made = Reindexed::default();
        for file in deltas.iter().flat_map(|delta| &delta.files).filter_map(|(_, file)| file.as_ref()) {
            made.files += 1;
            made.skipped += usize::from(file.skipped.is_some());
            made.bytes += file.look.size;
        }
        let segments = deltas.iter().filter_map(|delta| delta.segment.as_ref());
        made.blocks = segments.map(|segment| u64::from(segment.meta().max_doc())).sum();
        Ok((made, unread))
    }

    /// The whole vault as changes of an empty index, made by all cores.
    fn read_all_files(
        &self,
        files: &[(NotePath, Stat)],
        root: &Path,
        progress: &(dyn Fn(Progress) + Sync),
        stop: &AtomicBool,
        unread: &mut Vec<UnreadPath>,
    ) -> Result<Vec<Delta>> {
        let (next, total, now) = (AtomicUsize::new(0), files.len(), self.now_ns());
        let new = || DeltaBuilder::new(Some(root), &self.basis);
        // One worker, which takes files until none are left.
        let work = || -> Result<(Vec<Delta>, Vec<UnreadPath>)> {
            let (mut made, mut open, mut unread) = (Vec::new(), new(), Vec::new());
            loop {
                let from = next.fetch_add(CHUNK, Ordering::Relaxed);
                let Some(files) = files.get(from..).filter(|files| !files.is_empty()) else { break };
                for (path, stat) in files.iter().take(CHUNK) {
                    if stop.load(Ordering::Relaxed) {
                        return Err(IndexError::Interrupted);
                    }
                    let suspect = ChangedFile { path: path.to_string(), known: None, stat: Some(*stat) };
                    let change = self.look(suspect, now, &mut unread);
                    change.map_or(Ok(()), |change| open.add(change))?;
                    if open.bytes > SEGMENT {
                        made.push(std::mem::replace(&mut open, new()).finish()?);
                    }
                }
                progress(Progress { done: from, total });
            }
            made.push(open.finish()?);
            Ok((made, unread))
        };
        // If one worker fails, no files are left for the others.
        let worker = || work().inspect_err(|_| next.store(total, Ordering::Relaxed));
        let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8);
        let made = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            let failed = |_| Err(IndexError::Torn("a worker failed".to_owned()));
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(failed)).collect::<Result<Vec<_>>>()
        });
        progress(Progress { done: total, total });
        let (made, missed): (Vec<_>, Vec<_>) = made?.into_iter().unzip();
        unread.extend(missed.into_iter().flatten());
        unread.sort_unstable();
        Ok(made.into_iter().flatten().collect())
    }
}
