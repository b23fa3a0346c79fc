//! What the corpus lacks: the notes that changed since it was made, with their texts.
//!
//! A snapshot and the state of the corpus enter. [`Changes`] leave, and nothing where so much changed that all is
//! made anew.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::search::follow::ingest::{Changed, read, version};
use crate::search::follow::make;
use crate::search::recall::State;
use crate::search::store::catalog;
use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::stamp::Stamp;
use crate::search::{Freshness, IndexError, Snapshot};

/// With more changed notes than this, the corpus is made anew: what changed is kept in memory until it is taken in.
const MANY: usize = 2000;

/// What is newer than the corpus.
pub(super) struct Changes {
    pub(super) freshness: Freshness,
    /// The corpus's turn that they are newer than.
    pub(super) turn: u64,
    pub(super) stamp: Stamp,
    /// The notes that are not as the index's last commit has them.
    pub(super) beyond: BTreeSet<String>,
    pub(super) gone: Vec<String>,
    pub(super) notes: Vec<Changed>,
    /// In place of all else: everything, made anew.
    pub(super) anew: Option<Corpus>,
}

pub(super) fn stamp(snapshot: &Snapshot<'_>) -> Result<Stamp, IndexError> {
    let totals = catalog::totals(snapshot.database())?;
    let epoch = catalog::epoch(snapshot.database())?.unwrap_or_default();
    Ok(Stamp { epoch, generation: totals.generation, committed: totals.committed, docs: totals.docs })
}

/// When all is made anew.
#[derive(Clone, Copy)]
pub(super) struct Making<'a> {
    /// Now, with the layers in this folder.
    pub(super) anew_in: Option<Option<&'a Path>>,
    /// Where many blocks are dead; whoever saves when nobody waits does it then.
    pub(super) if_worn: bool,
}

pub(super) fn changes(
    snapshot: &Snapshot<'_>,
    state: &State,
    Making { anew_in, if_worn }: Making<'_>,
) -> Result<Option<Changes>, IndexError> {
    let freshness = snapshot.freshness.clone();
    let stamp = stamp(snapshot)?;
    let beyond = snapshot.read_directly()?.into_iter().collect();
    let turn = state.turn;
    let mut out = Changes { freshness, turn, stamp, beyond, gone: Vec::new(), notes: Vec::new(), anew: None };
    if let Some(folder) = anew_in {
        out.anew = Some(make::anew(snapshot, folder, &state.corpus.table)?);
        return Ok(Some(out));
    }
    if state.is_of(stamp) && out.beyond.is_empty() {
        return Ok(Some(out));
    }
    if state.corpus.is_empty() || if_worn && state.corpus.is_worn() {
        return Ok(None);
    }
    let since = state.of.filter(|of| of.epoch == stamp.epoch && of.generation <= stamp.generation);
    let changed = since.map(|of| catalog::changed_since(snapshot.database(), of.generation));
    let beyond = || state.beyond.union(&out.beyond).cloned();
    let mut wanted: Vec<String> = match changed.transpose()?.flatten() {
        Some(changed) if changed.len() + beyond().count() <= MANY => {
            changed.into_iter().chain(beyond()).collect()
        }
        _ => {
            let (wanted, gone) = differing(snapshot, state)?;
            out.gone = gone;
            wanted
        }
    };
    if wanted.len() > MANY {
        return Ok(None);
    }
    wanted.sort_unstable();
    wanted.dedup();
    for path in wanted {
        let known = state.corpus.file(&path);
        match snapshot.note(&path)?.filter(|note| note.file.skipped.is_none()) {
            Some(note) if known.is_none_or(|known| known.version != version(&note.file)) => {
                out.notes.push(read(snapshot, note)?);
            }
            None if known.is_some() => out.gone.push(path),
            _ => {}
        }
    }
    Ok(Some(out))
}

/// The notes that the corpus doesn't have as the snapshot has them, and those that are gone, by a look at all of them.
fn differing(snapshot: &Snapshot<'_>, state: &State) -> Result<(Vec<String>, Vec<String>), IndexError> {
    let mut known: HashMap<String, u64> = HashMap::new();
    snapshot.each_file(|row| {
        if row.skipped.is_none() {
            known.insert(row.path.clone(), version(row));
        }
    })?;
    let alive = state.corpus.files().iter().filter(|file| file.alive);
    let gone = alive.filter(|file| !known.contains_key(&file.path)).map(|file| file.path.clone());
    let gone = gone.collect();
    known.retain(|path, version| state.corpus.file(path).is_none_or(|file| file.version != *version));
    Ok((known.into_keys().collect(), gone))
}
