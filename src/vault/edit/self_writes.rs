//! Recognises our own changes among those that a watcher sees.

use std::collections::{BTreeMap, VecDeque};

use blake3::Hash;

use crate::vault::path::NotePath;
use crate::vault::read::Stat;

/// So many writes of a note are remembered, and so many notes.
const WRITES: usize = 16;
const NOTES: usize = 256;

/// What a note of ours looked like when we had written it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OwnWrite {
    /// Its hash.
    Hash(Hash),
    /// A large file isn't hashed while others wait for it; its stat tells whether it is still ours.
    Stat(Stat),
}

/// The last writes, per note.
#[derive(Debug, Default)]
pub(super) struct OwnWrites {
    notes: BTreeMap<NotePath, VecDeque<OwnWrite>>,
}

impl OwnWrites {
    pub(super) fn record(&mut self, path: &NotePath, write: OwnWrite) {
        if self.notes.len() >= NOTES && !self.notes.contains_key(path) {
            self.notes.pop_first();
        }
        let writes = self.notes.entry(path.clone()).or_default();
        if writes.len() == WRITES {
            writes.pop_front();
        }
        writes.push_back(write);
    }

    pub(super) fn has_hash(&self, path: &NotePath, hash: &Hash) -> bool {
        self.notes.get(path).is_some_and(|writes| writes.contains(&OwnWrite::Hash(*hash)))
    }

    /// Whether the last write of a large note left it with this stat.
    pub(super) fn has_stat(&self, path: &NotePath, stat: &Stat) -> bool {
        self.notes.get(path).and_then(VecDeque::back) == Some(&OwnWrite::Stat(*stat))
    }
}
