//! Builds a whole new index beside the old one.
//!
//! All cores read, parse and write segments; one connection gathers the rows in a single transaction, whose commit
//! replaces the old index by the new one. Until then the old index answers; if the work stops early, nothing has
//! changed. A segment is written out when its memory reaches a bound, so memory doesn't grow with the vault.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc;

use crate::vault::{NotePath, Stat};

use crate::search::follow::scan;
use crate::search::follow::scan::Suspect;
use crate::search::store::cache::{Mode, Store};
use crate::search::store::catalog;
use crate::search::store::catalog::{FileRow, Place, SegmentRow, Totals};
use crate::search::store::delta::Change;
use crate::search::store::segment::file::{SegmentBuilder, Target};
use crate::search::{Index, IndexError};

/// A worker writes its segment out at this much memory, in bytes.
const ARENA: usize = 64_000_000;
/// Neighbouring files stay together, so that a folder's blocks do.
const CHUNK: usize = 16;

/// How far a reindex is.
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

enum Row {
    File(Box<FileRow>),
    Segment(SegmentRow),
}

struct Work<'a> {
    index: &'a Index,
    store: &'a Store,
    files: Vec<(NotePath, Stat)>,
    next: AtomicUsize,
    segment: AtomicI64,
    stop: &'a AtomicBool,
    failed: AtomicBool,
    now: i64,
}

impl Index {
    /// Makes the index anew from all notes. The old one answers until the new one is whole. `progress`
    /// is called now and then; setting `stop` ends the work with nothing changed. On purpose it takes an
    /// empty vault for one.
    ///
    /// # Errors
    /// The vault isn't there, the cache can't be written, or it was stopped.
    pub fn reindex(
        &self,
        progress: &(dyn Fn(Progress) + Sync),
        stop: &AtomicBool,
    ) -> Result<Reindexed, IndexError> {
        // Damage that only a close reading shows is found here.
        if let Err(error) = self.store()?.examine()
            && error.is_damage()
        {
            self.mend(&error)?;
            self.reopen()?;
        }
        self.healing(|store| self.reindex_into(store, progress, stop, true))
    }

    pub(in crate::search) fn reindex_into(
        &self,
        store: &Store,
        progress: &(dyn Fn(Progress) + Sync),
        stop: &AtomicBool,
        wait: bool,
    ) -> Result<Reindexed, IndexError> {
        if let Mode::ReadOnly(why) | Mode::Memory(why) = &store.mode {
            return Err(IndexError::cache(&store.root, std::io::Error::other(why.clone())));
        }
        let lock = if wait { Some(store.write_lock()?) } else { store.try_write_lock()? };
        let Some(writing) = lock else { return Err(IndexError::Busy) };
        let listing = scan::list(&self.vault, &self.options)?;
        let work = Work {
            index: self,
            store,
            files: listing.files,
            next: AtomicUsize::new(0),
            segment: AtomicI64::new(1),
            stop,
            failed: AtomicBool::new(false),
            now: self.now_ns(),
        };
        let made = work.run(progress)?;
        drop(writing);
        store.sweep()?;
        Ok(made)
    }
}

impl Work<'_> {
    fn run(&self, progress: &(dyn Fn(Progress) + Sync)) -> Result<Reindexed, IndexError> {
        let conn = self.store.conn()?;
        let generation = catalog::totals(&conn)?.generation;
        let boot: Option<String> = catalog::get(&conn, "boot")?;
        conn.execute_batch("BEGIN IMMEDIATE")?;
        catalog::reset(&conn, self.store.fingerprint())?;
        if let Some(boot) = boot {
            catalog::set(&conn, "boot", boot)?;
        }
        let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8);
        let (rows, received) = mpsc::sync_channel(64);
        let mut made = Reindexed::default();
        let mut totals = Totals {
            generation: generation + 1,
            committed: self.index.clock.now().as_second(),
            ..Totals::default()
        };
        std::thread::scope(|scope| -> Result<(), IndexError> {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    let rows = rows.clone();
                    scope.spawn(move || {
                        let done = self.work(&rows);
                        if done.is_err() {
                            self.failed.store(true, Ordering::Relaxed);
                        }
                        done
                    })
                })
                .collect();
            drop(rows);
            let mut failure = Ok(());
            for rows in received {
                if failure.is_ok() {
                    failure = rows.into_iter().try_for_each(|row| gather(&conn, row, &mut made, &mut totals));
                    if failure.is_err() {
                        self.failed.store(true, Ordering::Relaxed);
                    }
                    progress(Progress { done: made.files, total: self.files.len() });
                }
            }
            for worker in workers {
                let done =
                    worker.join().unwrap_or_else(|_| Err(IndexError::Torn("a worker failed".to_owned())));
                failure = failure.and(done);
            }
            failure
        })?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(IndexError::Interrupted);
        }
        progress(Progress { done: made.files, total: self.files.len() });
        catalog::set_totals(&conn, &totals)?;
        fail::fail_point!("index-reindex-end", |_| Err(IndexError::Interrupted));
        conn.execute_batch("COMMIT")?;
        drop(conn);
        self.store.checkpoint()?;
        Ok(made)
    }

    /// One worker: takes files until none are left.
    fn work(&self, rows: &mpsc::SyncSender<Vec<Row>>) -> Result<(), IndexError> {
        let target = Target::Disk(self.store.segments());
        let mut open: Option<(i64, SegmentBuilder)> = None;
        loop {
            let from = self.next.fetch_add(CHUNK, Ordering::Relaxed);
            if from >= self.files.len() {
                break;
            }
            let mut made = Vec::with_capacity(CHUNK + 1);
            for (path, stat) in &self.files[from..self.files.len().min(from + CHUNK)] {
                if self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let suspect = Suspect { path: path.to_string(), known: None, stat: Some(*stat) };
                let read = scan::look(&self.index.vault, &self.index.options, suspect, self.now);
                let Some(Change::Content { mut file, note }) = read else { continue };
                if !note.blocks.is_empty() {
                    let (segment, builder) = match &mut open {
                        Some(open) => open,
                        None => open.insert((
                            self.segment.fetch_add(1, Ordering::Relaxed),
                            SegmentBuilder::new(&target, &self.index.basis)?,
                        )),
                    };
                    let place = builder.add(&file.path, &file.head, &file.tags, &note)?;
                    file.place = Some(Place { segment: *segment, ..place });
                }
                made.push(Row::File(Box::new(file)));
                if open.as_ref().is_some_and(|(_, builder)| builder.memory() > ARENA) {
                    close(open.take(), &mut made)?;
                }
            }
            if rows.send(made).is_err() {
                return Ok(());
            }
        }
        let mut made = Vec::new();
        close(open, &mut made)?;
        // The receiver is closed only if the whole has failed.
        let _ = rows.send(made);
        Ok(())
    }
}

/// Writes a worker's segment out and lists it in `made`.
fn close(open: Option<(i64, SegmentBuilder)>, made: &mut Vec<Row>) -> Result<(), IndexError> {
    let Some((id, builder)) = open else { return Ok(()) };
    let new = builder.finish()?;
    made.push(Row::Segment(SegmentRow { id, uuid: new.uuid, docs: new.docs, seals: new.seals }));
    Ok(())
}

fn gather(
    conn: &rusqlite::Connection,
    row: Row,
    made: &mut Reindexed,
    totals: &mut Totals,
) -> Result<(), IndexError> {
    match row {
        Row::Segment(segment) => catalog::put_segment(conn, &segment),
        Row::File(file) => {
            made.files += 1;
            made.skipped += usize::from(file.skipped.is_some());
            made.bytes += file.size;
            totals.files += 1;
            catalog::put_file(conn, &file)?;
            let blocks = u64::from(file.place.unwrap_or_default().count);
            made.blocks += blocks;
            totals.docs += blocks;
            Ok(())
        }
    }
}
