//! The whole corpus from the index, by all cores.
//!
//! The notes, in the order of their paths, are dealt out to layers beforehand; each layer is made on its own, by
//! whichever thread is free, and the layers are put together in their order. So the corpus is the same whoever made
//! what, and a thread holds no more than one layer's blocks.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::embed::Fixed;
use crate::search::analyze::authors::Authors;
use crate::search::follow::ingest::take_note;
use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::corpus::layer;
use crate::search::store::corpus::memory::Words;
use crate::search::store::corpus::part::Part;
use crate::search::{IndexError, Snapshot};

/// Of fewer blocks a thread of its own makes nothing faster.
const WORTH_A_THREAD: usize = 10_000;
/// More threads than this wait for memory.
const MOST_THREADS: usize = 8;

/// The whole corpus, its layers in `folder`; its vectors are `table`'s.
///
/// # Errors
/// The index's.
pub fn anew(snapshot: &Snapshot<'_>, folder: Option<&Path>, table: &Fixed) -> Result<Corpus, IndexError> {
    let notes = snapshot.notes()?;
    let blocks: usize = notes.iter().map(|(_, blocks)| *blocks as usize).sum();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let shares = deal(&notes, (blocks / threads + 1).clamp(WORTH_A_THREAD, layer::MOST));
    let mut others = Vec::new();
    for _ in 1..threads.min(shares.len()) {
        others.extend(snapshot.fork()?);
    }
    let authors = Mutex::default();
    let making = Making {
        notes: &notes,
        shares: &shares,
        folder,
        table,
        authors: &authors,
        next: AtomicUsize::new(0),
    };
    let mut parts = std::thread::scope(|scope| {
        let spawn = |snapshot| scope.spawn(|| making.run(&{ snapshot }));
        let others: Vec<_> = others.into_iter().map(spawn).collect();
        let mut parts = making.run(snapshot)?;
        for other in others {
            parts.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok::<_, IndexError>(parts)
    })?;
    parts.sort_unstable_by_key(|(at, _)| *at);
    let authors = authors.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut corpus = Corpus::from_made(parts.into_iter().map(|(_, part)| part), authors, folder);
    corpus.table = table.clone();
    Ok(corpus)
}

/// Runs of notes with at most `most` blocks each, or of one note with more.
fn deal(notes: &[(String, u32)], most: usize) -> Vec<Range<usize>> {
    let (mut shares, mut from, mut blocks) = (Vec::new(), 0, 0);
    for (at, (_, more)) in notes.iter().enumerate() {
        if blocks + *more as usize > most && at > from {
            shares.push(from..at);
            (from, blocks) = (at, 0);
        }
        blocks += *more as usize;
    }
    if from < notes.len() {
        shares.push(from..notes.len());
    }
    shares
}

/// What the threads share.
struct Making<'a> {
    notes: &'a [(String, u32)],
    shares: &'a [Range<usize>],
    folder: Option<&'a Path>,
    table: &'a Fixed,
    authors: &'a Mutex<Authors>,
    next: AtomicUsize,
}

impl Making<'_> {
    /// Makes shares as long as there are some; each part comes with its place.
    fn run(&self, snapshot: &Snapshot<'_>) -> Result<Vec<(usize, Part)>, IndexError> {
        let (mut parts, mut words) = (Vec::new(), Words::default());
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = self.shares.get(at) else { return Ok(parts) };
            let mut corpus = Corpus::with_words(words, self.table.clone());
            for (path, _) in &self.notes[share.clone()] {
                take_note(&mut corpus, snapshot, path)?;
            }
            let part;
            (part, words) = corpus.into_part(share.start, self.authors, self.folder);
            parts.push((at, part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_dealt_out_in_order_and_whole() {
        let notes = |sizes: &[u32]| sizes.iter().map(|size| (String::new(), *size)).collect::<Vec<_>>();
        assert_eq!(deal(&notes(&[3, 3, 9, 0, 1]), 6), [0..2, 2..3, 3..5]);
        assert_eq!(deal(&notes(&[9]), 6), std::slice::from_ref(&(0..1)));
        assert!(deal(&[], 6).is_empty());
    }
}
