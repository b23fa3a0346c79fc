//! Finds the blocks of a snapshot that belong to ranked slots (block numbers), to a query's words, or to pins.

use std::collections::HashSet;

use crate::search::give::ranked::Ranked;
use crate::search::query::within::Within;
use crate::search::recall::State;
use crate::search::store::view::DocRef;
use crate::search::{AllFound, Block, Found, HitMaker, IndexError, Query, Snapshot, Stored};

/// A ranked block of a snapshot.
#[derive(Debug, Clone)]
pub(in crate::search) struct Find {
    pub ranked: Ranked,
    pub found: Found,
}

/// The blocks of the first slots that `takes`, at most `most`.
pub(in crate::search) fn of_slots(
    snapshot: &Snapshot<'_>,
    state: &State,
    ranked: Vec<Ranked>,
    most: usize,
    takes: impl Fn(DocRef, &Block) -> Result<bool, IndexError>,
) -> Result<Vec<Find>, IndexError> {
    let mut finds = Vec::with_capacity(most.min(ranked.len()));
    for ranked in ranked {
        if finds.len() == most {
            break;
        }
        let (seg, doc) = state.corpus.place(ranked.slot);
        let at = DocRef { seg, doc: u32::try_from(doc).unwrap_or(u32::MAX) };
        let (file, block) = snapshot.view().resolve(snapshot.database(), at)?;
        if takes(at, &block)? {
            let found = Found { at, score: ranked.score, file, block, is_alike: false };
            finds.push(Find { ranked, found });
        }
    }
    Ok(finds)
}

/// The `most` best blocks by words in a scope of memories. Where others' are among them, further ones are looked at,
/// up to `widest`, and then what is marked with the scopes' tags: that is found, however many better finds others have.
pub(in crate::search) fn by_words(
    snapshot: &Snapshot<'_>,
    place: &Query,
    within: &Within,
    most: usize,
    widest: usize,
) -> Result<(Vec<Found>, Vec<String>), IndexError> {
    let AllFound { blocks: mut found, notes, .. } = snapshot.find(place, most)?;
    if within.scopes.is_empty() {
        return Ok((found, notes));
    }
    let is_all = found.len() < most;
    found.retain(|found| within.has(&found.block.tags));
    if !is_all && found.len() < most && widest > most {
        found = snapshot.find(place, widest)?.blocks;
        found.retain(|found| within.has(&found.block.tags));
    }
    for tag in within.tags() {
        if is_all || found.len() >= most {
            break;
        }
        let text = format!("{} tag:{tag}", place.text);
        let known: HashSet<_> = found.iter().map(|found| found.at).collect();
        let marked = snapshot.find(&Query { text, ..place.clone() }, most)?.blocks.into_iter();
        found.extend(marked.filter(|found| within.has(&found.block.tags) && !known.contains(&found.at)));
    }
    found.truncate(most);
    Ok((found, notes))
}

/// The blocks that pins link to, and pinned texts.
pub(in crate::search) fn pinned(
    snapshot: &Snapshot<'_>,
    state: &State,
    maker: &HitMaker,
    takes: impl Fn(DocRef, &Block) -> Result<bool, IndexError>,
) -> Result<Vec<Found>, IndexError> {
    let targets: HashSet<&str> = maker.pins().iter().map(|(target, _)| target.as_str()).collect();
    let mut found = Vec::new();
    if let Some(note) = snapshot.note(&snapshot.options().pinned)? {
        for Stored { at, block, .. } in note.blocks()? {
            if maker.is_pinned("", &block) && takes(at, &block)? {
                found.push(Found { at, score: 0.0, file: note.file.clone(), block, is_alike: false });
            }
        }
    }
    if targets.is_empty() {
        return Ok(found);
    }
    for file in state.corpus.files().iter().filter(|file| file.alive) {
        let path = file.path.strip_suffix(".md").unwrap_or(&file.path);
        let name = path.rsplit('/').next().unwrap_or(path);
        if !targets.contains(path) && !targets.contains(name) {
            continue;
        }
        let Some(note) = snapshot.note(&file.path)? else { continue };
        for Stored { at, block, .. } in note.blocks()? {
            if maker.is_pinned(path, &block) && takes(at, &block)? {
                found.push(Found { at, score: 0.0, file: note.file.clone(), block, is_alike: false });
            }
        }
    }
    Ok(found)
}
