//! One order of what was found: the best block of each note first, and turns merged with notes by their scores.
//!
//! Ranked notes and turns enter. Blocks leave, none with more score than the one before it.

use crate::search::give::finder;
use crate::search::give::finder::Find;
use crate::search::give::ranked::Ranked;
use crate::search::rank::notes::Answering;
use crate::search::recall::State;
use crate::search::retrieve::bm25::COMMENT;
use crate::search::store::view::DocRef;
use crate::search::{Block, Found, IndexError, Kind, Snapshot};

/// The blocks of notes that `takes`, at most `limit`, each with its slot: the best one of each note, in the order of the
/// notes, and behind them further ones, the best first. Comments are never a note's best block.
pub(super) fn spread(
    snapshot: &Snapshot<'_>,
    state: &State,
    notes: Vec<Answering>,
    limit: usize,
    takes: impl Fn(DocRef, &Block) -> Result<bool, IndexError>,
) -> Result<Vec<(u32, Found)>, IndexError> {
    let find = |slot: u32, score: f64| {
        let found = finder::of_slots(snapshot, state, vec![Ranked { slot, score, sure: 0.0 }], 1, &takes)?;
        Ok::<_, IndexError>(found.into_iter().next().map(|find| (slot, find.found)))
    };
    let (mut first, mut further, mut comments) = (Vec::new(), Vec::new(), Vec::new());
    for note in notes {
        if first.len() >= limit {
            break;
        }
        let mut blocks = note.blocks.into_iter();
        for (slot, own) in blocks.by_ref() {
            match find(slot, f64::from(note.score))? {
                Some((_, found)) if found.block.kind == Kind::Comment => {
                    comments.push((slot, Found { score: f64::from(own) * COMMENT, ..found }));
                }
                Some(best) => {
                    first.push(best);
                    break;
                }
                None => {}
            }
        }
        further.extend(blocks.map(|(slot, own)| (slot, f64::from(own))));
    }
    further.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (slot, score) in further {
        if first.len() + comments.len() >= limit {
            break;
        }
        match find(slot, score)? {
            Some((_, found)) if found.block.kind == Kind::Comment => {
                comments.push((slot, Found { score: score * COMMENT, ..found }));
            }
            found => first.extend(found),
        }
    }
    comments.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
    first.extend(comments);
    first.truncate(limit);
    // Nothing scores more than what comes before it.
    let mut least = f64::MAX;
    for (_, found) in &mut first {
        least = least.min(found.score);
        found.score = least;
    }
    Ok(first)
}

/// Merges turns and blocks of notes. Each keep their order; where both go on, the better score by the ranking's measure is
/// next.
pub(super) fn merge(turns: Vec<Find>, notes: Vec<(u32, Found)>, limit: usize) -> Vec<Found> {
    let turns = turns.into_iter().map(|find| find.found).collect();
    let notes = notes.into_iter().map(|(_, found)| found).collect();
    in_one(turns, notes, |found: &mut Found| &mut found.score, limit)
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
