//! Finds the blocks of a snapshot that belong to ranked slots (block numbers), to a query's words, or to pins.

use std::collections::HashSet;

use crate::search::query::search_scope::SearchScope;
use crate::search::recall::CorpusState;
use crate::search::results::word_search::Tier;
use crate::search::store::view::DocRef;
use crate::search::{Block, FoundBlock, HitMaker, IndexError, Note, Query, Snapshot, Stored};

/// The block of a slot with this score, where `takes` it.
pub(in crate::search) fn block(
    snapshot: &Snapshot<'_>,
    state: &CorpusState,
    (slot, score): (u32, f64),
    takes: impl Fn(DocRef, &Block) -> Result<bool, IndexError>,
) -> Result<Option<FoundBlock>, IndexError> {
    let (seg, doc) = state.corpus.place(slot);
    let at = DocRef { seg, doc: u32::try_from(doc).unwrap_or(u32::MAX) };
    let (file, block) = snapshot.view().resolve(snapshot.database(), at)?;
    Ok(takes(at, &block)?.then_some(FoundBlock { at, score, file, block, tier: Tier::Word }))
}

/// The best blocks by words in a scope of memories. Where others' are among them, further ones are looked at, and then
/// what is marked with the scopes' tags: that is found, however many better finds others have.
pub(in crate::search) fn by_words(
    snapshot: &Snapshot<'_>,
    place: &Query,
    within: &SearchScope,
) -> Result<(Vec<FoundBlock>, Vec<String>), IndexError> {
    let (most, widest) = (place.limit, within.most(place.limit));
    let (mut found, notes) = snapshot.find(place, most)?;
    if within.scopes.is_empty() {
        return Ok((found, notes));
    }
    let is_all = found.len() < most;
    found.retain(|found| within.has(&found.block.tags));
    if !is_all && found.len() < most && widest > most {
        found = snapshot.find(place, widest)?.0;
        found.retain(|found| within.has(&found.block.tags));
    }
    for tag in within.tags() {
        if is_all || found.len() >= most {
            break;
        }
        let text = format!("{} tag:{tag}", place.text);
        let known: HashSet<_> = found.iter().map(|found| found.at).collect();
        let marked = snapshot.find(&Query { text, ..place.clone() }, most)?.0.into_iter();
        found.extend(marked.filter(|found| within.has(&found.block.tags) && !known.contains(&found.at)));
    }
    found.truncate(most);
    Ok((found, notes))
}

/// The blocks that pins link to, and pinned texts.
pub(in crate::search) fn pinned(
    snapshot: &Snapshot<'_>,
    state: &CorpusState,
    maker: &HitMaker,
    takes: impl Fn(DocRef, &Block) -> Result<bool, IndexError>,
) -> Result<Vec<FoundBlock>, IndexError> {
    let mut found = Vec::new();
    let mut add = |note: Option<Note>, path: &str| {
        let Some(note) = note else { return Ok::<_, IndexError>(()) };
        for Stored { at, block, .. } in note.blocks()? {
            if maker.is_pinned(path, &block) && takes(at, &block)? {
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
