//! Merges the results into one order: the best block of each note first, and turns merged with notes by their scores.
//!
//! Ranked notes and turns come in. Blocks go out, none with a higher score than the one before it.

use rustc_hash::FxHashSet;

use super::tiers::Tiers;
use crate::search::rank::note_ranking::RankedNote;
use crate::search::recall::CorpusState;
use crate::search::results::hit::{Tier, find_block};
use crate::search::retrieve::filter::Filters;
use crate::search::weights::COMMENT;
use crate::search::{FoundBlock, IndexError, Kind, Snapshot};

/// The blocks of notes that pass the filters, at most `limit`, tier by tier. In a tier the best one of each note comes first, in the
/// order of the notes, and behind them further ones, the best first. Comments are never a note's best block.
pub(super) fn spread(
    snapshot: &Snapshot<'_>,
    state: &CorpusState,
    notes: Vec<RankedNote>,
    limit: usize,
    tiers: &Tiers<'_>,
    filters: &Filters<'_>,
) -> Result<Vec<FoundBlock>, IndexError> {
    let find = |slot: u32, score: f64| {
        let Some(found) = find_block(snapshot, (slot, score), filters)? else {
            return Ok(None);
        };
        Ok::<_, IndexError>(Some(FoundBlock { tier: tiers.of(slot, &found)?, ..found }))
    };
    let (mut typed, mut alike) = (Vec::new(), Vec::new());
    for note in notes {
        let is_first = |(slot, _): &(u32, f32)| tiers.typed.first().is_none_or(|first| first.contains(*slot));
        let (of_words, others) = note.blocks.into_iter().partition::<Vec<_>, _>(is_first);
        for (blocks, of) in [(of_words, &mut typed), (others, &mut alike)] {
            if !blocks.is_empty() {
                of.push(RankedNote { score: note.score, blocks });
            }
        }
    }
    let mut spread = Spread { find, limit, shown: FxHashSet::default(), out: Vec::new() };
    let first = if tiers.typed.is_strict { Tier::Word } else { Tier::Alike };
    let headings = spread.round(typed, first, state)?;
    spread.round(headings, Tier::Heading, state)?;
    spread.round(alike, Tier::Alike, state)?;
    let mut placed = spread.out;
    placed.truncate(limit);
    // Nothing scores more than what comes before it.
    let mut least = f64::MAX;
    for found in &mut placed {
        least = least.min(found.score);
        found.score = least;
    }
    Ok(placed)
}

/// Lists blocks of notes, a tier at a time.
struct Spread<F> {
    /// Reads the block in a slot, with this score.
    find: F,
    limit: usize,
    /// The notes of which a block is listed.
    shown: FxHashSet<u32>,
    out: Vec<FoundBlock>,
}

impl<F: Fn(u32, f64) -> Result<Option<FoundBlock>, IndexError>> Spread<F> {
    /// Lists the blocks of a tier, and returns those of later ones that were come upon.
    fn round(
        &mut self,
        notes: Vec<RankedNote>,
        tier: Tier,
        state: &CorpusState,
    ) -> Result<Vec<RankedNote>, IndexError> {
        let (mut further, mut comments, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for note in notes {
            if self.out.len() >= self.limit {
                return Ok(Vec::new());
            }
            let Some((first, _)) = note.blocks.first() else { continue };
            let number = state.corpus.meta(*first).file;
            let mut of_later = Vec::new();
            let mut blocks = note.blocks.into_iter();
            while !self.shown.contains(&number)
                && let Some((slot, own)) = blocks.next()
            {
                match (self.find)(slot, f64::from(note.score))? {
                    Some(found) if found.tier > tier => of_later.push((slot, own)),
                    Some(found) if found.block.kind == Kind::Comment => {
                        comments.push(FoundBlock { score: f64::from(own) * COMMENT, ..found });
                    }
                    Some(best) => {
                        self.shown.insert(number);
                        self.out.push(best);
                    }
                    None => {}
                }
            }
            further.extend(blocks.map(|(slot, own)| (slot, own, note.score)));
            if !of_later.is_empty() {
                later.push(RankedNote { score: note.score, blocks: of_later });
            }
        }
        further.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (slot, own, score) in further {
            if self.out.len() >= self.limit {
                break;
            }
            match (self.find)(slot, f64::from(own))? {
                Some(found) if found.tier > tier => {
                    later.push(RankedNote { score, blocks: vec![(slot, own)] });
                }
                Some(found) if found.block.kind == Kind::Comment => {
                    comments.push(FoundBlock { score: f64::from(own) * COMMENT, ..found });
                }
                found => self.out.extend(found),
            }
        }
        comments.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.out.extend(comments);
        Ok(later)
    }
}

/// Merges turns and blocks of notes; where the query `is_strict`, those with a typed word first. Each keep their order; where both go on, the better score
/// by the ranking's measure is next.
pub(super) fn merge(
    turns: Vec<FoundBlock>,
    notes: Vec<FoundBlock>,
    is_strict: bool,
    limit: usize,
) -> Vec<FoundBlock> {
    let is_first = |found: &FoundBlock| !is_strict || !found.is_alike();
    let (turns, alike_turns) = turns.into_iter().partition::<Vec<_>, _>(is_first);
    let (notes, alike_notes) = notes.into_iter().partition::<Vec<_>, _>(is_first);
    let mut found = in_one(turns, notes, |found| &mut found.score, limit);
    found.extend(in_one(alike_turns, alike_notes, |found| &mut found.score, limit - found.len()));
    found
}

/// The same of whatever has a `score`.
pub(super) fn in_one<T>(
    turns: Vec<T>,
    mut notes: Vec<T>,
    score: impl Fn(&mut T) -> &mut f64,
    limit: usize,
) -> Vec<T> {
    // The notes' order stands: nothing scores less than what comes after it.
    let mut most = f64::MIN;
    for note in notes.iter_mut().rev() {
        most = most.max(*score(note));
        *score(note) = most;
    }
    let (mut turns, mut notes) = (turns.into_iter().peekable(), notes.into_iter().peekable());
    let mut out = Vec::with_capacity(limit.min(64));
    while out.len() < limit {
        let turn = turns.peek_mut().map(|turn| *score(turn));
        let note = notes.peek_mut().map(|note| *score(note));
        let next = match (turn, note) {
            (None, None) => break,
            (Some(turn), note) if note.is_none_or(|note| turn >= note) => turns.next(),
            _ => notes.next(),
        };
        out.extend(next);
    }
    out
}
