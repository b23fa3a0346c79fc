//! Keeping the corpus in step with the index.
//!
//! The index says which state it is in; where that is the corpus's own, nothing is read. Else the notes
//! whose content hash differs are taken in again. A cold process begins with the saved corpus.

use std::collections::HashMap;

use super::corpus::{Corpus, Passage};
use super::engine::{Recall, RecallError, Stamp, State};
use super::matrix::Matrix;
use super::{persist, vectors};
use crate::index::block::{Kind, Role};
use crate::index::catalog::{self, FileRow};
use crate::index::{Freshness, IndexError, Snapshot, Stored};

/// With more changed notes than this, all blocks are listed once instead of each note's own.
const FEW: usize = 48;
/// Texts fetched at a time when everything is taken in.
const STRETCH: usize = 4096;

/// A note as it is now: its path, its version, its blocks with their texts.
type Changed = (String, u64, Vec<(Stored, String)>);

/// What is newer than the corpus.
struct Changes {
    freshness: Freshness,
    stamp: Stamp,
    gone: Vec<String>,
    notes: Vec<Changed>,
    head: HashMap<i64, String>,
    /// In place of all else: everything, made anew.
    anew: Option<Corpus>,
}

impl Recall {
    /// Brings the corpus into the index's state and says how fresh that is.
    ///
    /// # Errors
    /// The index's.
    pub fn sync(&self) -> Result<Freshness, RecallError> {
        let fingerprint = self.index.options().fingerprint();
        {
            let mut state = self.write();
            if state.of.is_none()
                && state.corpus.is_empty()
                && let Some(corpus) = persist::load(&self.file, &fingerprint)
            {
                state.corpus = corpus;
            }
        }
        let changes = {
            let state = self.read();
            self.index.snapshot(|snapshot| changes(snapshot, &state))?
        };
        let freshness = changes.freshness.clone();
        if self.read().of == Some(changes.stamp) && freshness.read_directly == 0 {
            return Ok(freshness);
        }
        let mut state = self.write();
        state.take(changes);
        if state.unsaved > 0 && state.unsaved * 50 > state.corpus.len().max(10_000) {
            // A cache that can't be written is made again next time.
            if let Err(error) = persist::save(&state.corpus, &fingerprint, &self.file) {
                tracing::debug!(%error, path = %self.file.display(), "the corpus is not saved");
            }
            state.unsaved = 0;
        }
        if !self.is_builtin() {
            drop(state);
            self.load_model()?;
        }
        Ok(freshness)
    }

    /// Loads the settings' model's vectors for the corpus as it is.
    pub(super) fn load_model(&self) -> Result<(), RecallError> {
        let Ok(Some(provider)) = self.provider() else { return Ok(()) };
        let name = provider.name().to_owned();
        let store = self.index.store()?;
        let (matrix, places) = vectors::load(&*store.conn()?, &name)?;
        let mut state = self.write();
        let mut by_slot = Matrix::new(matrix.dimensions());
        for (slot, hash) in state.corpus.hash.iter().enumerate() {
            let row = if state.corpus.vectors.has(slot) { places.get(hash).copied() } else { None };
            by_slot.push_row(&matrix, row);
        }
        state.model = (!matrix.is_empty()).then_some((name, by_slot));
        Ok(())
    }

    pub(super) fn write(&self) -> std::sync::RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, changes: Changes) {
        if let Some(corpus) = changes.anew {
            self.corpus = corpus;
            self.unsaved = self.corpus.len().max(1);
        } else {
            for path in &changes.gone {
                self.corpus.remove(path);
                self.unsaved += 1;
            }
            for (path, version, blocks) in &changes.notes {
                put(&mut self.corpus, path, *version, blocks, &changes.head);
                self.unsaved += blocks.len() + 1;
            }
        }
        self.of = Some(changes.stamp);
    }
}

fn put(
    corpus: &mut Corpus,
    path: &str,
    version: u64,
    blocks: &[(Stored, String)],
    heads: &HashMap<i64, String>,
) {
    let titles: Vec<String> = blocks
        .iter()
        .map(|(stored, _)| {
            let title = heads.get(&stored.file).map_or("", String::as_str);
            match (stored.block.kind, &stored.block.section) {
                (Kind::Turn, _) => String::new(),
                (_, Some(section)) => format!("{title} {section}"),
                (_, None) => title.to_owned(),
            }
        })
        .collect();
    let passages = blocks.iter().zip(&titles).map(|((stored, text), title)| {
        let block = &stored.block;
        Passage {
            line: block.line,
            end_line: block.end_line,
            is_turn: block.kind == Kind::Turn && block.role != Some(Role::Tool),
            role: block.role,
            author: block.author.as_deref(),
            time: block.time,
            head: title,
            text,
        }
    });
    corpus.put(path, version, passages);
}

fn changes(snapshot: &Snapshot<'_>, state: &State) -> Result<Changes, IndexError> {
    let freshness = snapshot.freshness.clone();
    let totals = catalog::totals(snapshot.database())?;
    let stamp = Stamp { generation: totals.generation, committed: totals.committed, docs: totals.docs };
    let mut out =
        Changes { freshness, stamp, gone: Vec::new(), notes: Vec::new(), head: HashMap::new(), anew: None };
    let direct = out.freshness.read_directly > 0;
    if state.of == Some(stamp) && !direct {
        return Ok(out);
    }
    if state.corpus.is_empty() || state.corpus.is_worn() {
        out.anew = Some(anew(snapshot)?);
        return Ok(out);
    }
    // What was read past the catalog has no row in it: then all blocks are listed.
    let listed = if direct { Some(snapshot.blocks(None)?) } else { None };
    let mut known: HashMap<String, u64> = HashMap::new();
    if let Some((blocks, rows)) = &listed {
        known.extend(
            blocks
                .iter()
                .filter_map(|stored| rows.get(&stored.file))
                .map(|row| (row.path.clone(), version(row))),
        );
    } else {
        catalog::each_file(snapshot.database(), |row| {
            if row.skipped.is_none() {
                known.insert(row.path.clone(), version(&row));
            }
        })?;
    }
    let alive = state.corpus.files().iter().filter(|file| file.alive);
    out.gone = alive.filter(|file| !known.contains_key(&file.path)).map(|file| file.path.clone()).collect();
    known.retain(|path, version| state.corpus.file(path).is_none_or(|file| file.version != *version));
    let mut changed: Vec<(String, u64)> = known.into_iter().collect();
    changed.sort();
    let (blocks, rows) = match listed {
        Some(listed) => listed,
        None if changed.len() > FEW => snapshot.blocks(None)?,
        None => {
            let (mut blocks, mut rows) = (Vec::new(), HashMap::new());
            for (path, _) in &changed {
                let (some, of) = snapshot.blocks(Some(path))?;
                let id = of.values().find(|row| row.path == *path).map(|row| row.id);
                blocks.extend(some.into_iter().filter(|stored| Some(stored.file) == id));
                rows.extend(of);
            }
            (blocks, rows)
        }
    };
    let ids: HashMap<&str, i64> = rows.values().map(|row| (row.path.as_str(), row.id)).collect();
    let mut by_file: HashMap<i64, Vec<Stored>> = HashMap::new();
    for stored in blocks {
        by_file.entry(stored.file).or_default().push(stored);
    }
    for (path, version) in changed {
        let blocks = ids.get(path.as_str()).and_then(|id| by_file.remove(id)).unwrap_or_default();
        let texts = snapshot.texts(&blocks.iter().map(|stored| stored.at).collect::<Vec<_>>())?;
        out.notes.push((path, version, blocks.into_iter().zip(texts).collect()));
    }
    out.head = rows.into_values().map(|row| (row.id, row.head)).collect();
    Ok(out)
}

/// The whole corpus from the index.
fn anew(snapshot: &Snapshot<'_>) -> Result<Corpus, IndexError> {
    let mut corpus = Corpus::new();
    let (blocks, rows) = snapshot.blocks(None)?;
    let heads: HashMap<i64, String> = rows.values().map(|row| (row.id, row.head.clone())).collect();
    let mut pending: Vec<(Stored, String)> = Vec::new();
    let flush = |corpus: &mut Corpus, pending: &mut Vec<(Stored, String)>| {
        if let Some(row) = pending.first().and_then(|(stored, _)| rows.get(&stored.file)) {
            put(corpus, &row.path, version(row), pending, &heads);
        }
        pending.clear();
    };
    let mut blocks = blocks.into_iter();
    loop {
        let stretch: Vec<Stored> = blocks.by_ref().take(STRETCH).collect();
        if stretch.is_empty() {
            break;
        }
        let texts = snapshot.texts(&stretch.iter().map(|stored| stored.at).collect::<Vec<_>>())?;
        for (stored, text) in stretch.into_iter().zip(texts) {
            if pending.first().is_some_and(|(first, _)| first.file != stored.file) {
                flush(&mut corpus, &mut pending);
            }
            pending.push((stored, text));
        }
    }
    flush(&mut corpus, &mut pending);
    Ok(corpus)
}

/// What tells a version of a note from another: its content, and its title, which may come from its name.
fn version(row: &FileRow) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&row.hash);
    hasher.update(row.head.as_bytes());
    let hash = hasher.finalize();
    u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("a blake3 hash has 32 bytes"))
}
