//! Finds the blocks of a snapshot that belong to ranked slots (block numbers), or to pins.

use std::collections::HashSet;

use crate::search::recall::CorpusState;
use crate::search::results::word_search::Tier;
use crate::search::retrieve::filter::Filters;
use crate::search::store::view::DocRef;
use crate::search::{FoundBlock, HitMaker, IndexError, Note, Snapshot, Stored};

/// The block of a slot with this score, if the filters let it through.
pub(in crate::search) fn block(
    snapshot: &Snapshot<'_>,
    state: &CorpusState,
    (slot, score): (u32, f64),
    filters: &Filters<'_>,
) -> Result<Option<FoundBlock>, IndexError> {
    if !filters.may_pass(slot) {
        return Ok(None);
    }
    let (seg, doc) = state.corpus.place(slot);
    let at = DocRef { seg, doc: u32::try_from(doc).unwrap_or(u32::MAX) };
    let (file, block) = snapshot.view().resolve(snapshot.database(), at)?;
    Ok(filters.pass(at, &block)?.then_some(FoundBlock { at, score, file, block, tier: Tier::Word }))
}

/// The blocks that pins link to, and pinned texts.
pub(in crate::search) fn pinned(
    snapshot: &Snapshot<'_>,
    state: &CorpusState,
    maker: &HitMaker,
    filters: &Filters<'_>,
) -> Result<Vec<FoundBlock>, IndexError> {
    let mut found = Vec::new();
    let mut add = |note: Option<Note>, path: &str| {
        let Some(note) = note else { return Ok::<_, IndexError>(()) };
        for Stored { at, block, .. } in note.blocks()? {
            if maker.is_pinned(path, &block) && filters.pass(at, &block)? {
                found.push(FoundBlock { at, score: 0.0, file: note.file.clone(), block, tier: Tier::Word });
            }
        }
        Ok(())
    };
    add(snapshot.note(&snapshot.options().pinned)?, "")?;
    let targets: HashSet<&str> = maker.pins().iter().map(|(target, _)| target.as_str()).collect();
    for note in state.corpus.notes().filter(|_| !targets.is_empty()) {
        let whole = &*note.row.path;
        let path = whole.strip_suffix(".md").unwrap_or(whole);
        let name = path.rsplit('/').next().unwrap_or(path);
        if targets.contains(path) || targets.contains(name) {
            add(snapshot.note(whole)?, path)?;
        }
    }
    Ok(found)
}
