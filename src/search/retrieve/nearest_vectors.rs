//! Compares a question's vector with the vectors of blocks ([`Vectors`]), which are the built-in table's or another
//! model's. If there are many blocks, the signs of the built-in vectors are compared first, and cosines are computed
//! only for the nearest blocks. No signs are stored for another model's vectors, so all of these are compared.
//!
//! There are two passes. The first pass compares the signs of the first 64 dimensions, and keeps about 16,000 blocks. A
//! vector that is near as a whole is nearly always near in these dimensions, too. The second pass compares all signs of
//! the kept blocks. The threshold of the first pass comes from a sample of blocks; the mean and the spread of all
//! cosines are estimated from a part of the sample. The vectors determine the sample, so the result doesn't depend on
//! the corpus's history.

use std::ops::Range;

use crate::embed::table::DIMENSIONS;
use crate::search::parallel::share;
use crate::search::retrieve::{CorpusScope, NoteSlots};
use crate::search::store::{Corpus, Matrix, Probe, Seg, Signs};

/// The number of blocks with the nearest signs whose cosines are computed.
const NEAREST: usize = 1500;
/// Of about so many, chosen by their own signs, the cosines' mean and spread.
const SAMPLE: usize = 1024;
/// The first pass leaves about so many.
const LEFT: usize = 16_000;
/// How many that are is judged by one vector in two to the power of this, chosen by their own signs.
const JUDGED: u32 = 6;
/// In so many ways the first words can differ.
const WORD: usize = 64 + 1;

/// The vectors to compare with, and the question's own.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    /// Rows by slot; none for the corpus's own.
    pub matrix: Option<&'a Matrix>,
    /// The question's vector.
    pub probe: &'a Probe,
}

impl Vectors<'_> {
    /// The cosines of the question and those of `slots` that have a vector.
    pub(in crate::search) fn cosines(
        &self,
        corpus: &Corpus,
        slots: impl Iterator<Item = u32>,
    ) -> Vec<(u32, f32)> {
        // First the vectors, or where they stand: the waits for memory of many go on at once.
        let Some(matrix) = self.matrix else {
            let Some(sums) = &self.probe.sums else { return Vec::new() };
            let codes: Vec<_> = slots.filter_map(|slot| Some((slot, corpus.code(slot)?))).collect();
            return codes.iter().map(|(slot, code)| (*slot, sums.cosine(code))).collect();
        };
        let rows = slots.filter(|slot| matrix.has(*slot as usize));
        let rows: Vec<_> = rows.map(|slot| (slot, matrix.row_parts(slot as usize))).collect();
        rows.into_iter().map(|(slot, (values, scale))| (slot, self.probe.cosine(values, scale))).collect()
    }
}

/// The blocks in scope whose vectors' signs agree most with the question's, and a sample of all.
#[derive(Debug)]
pub struct Nearest {
    pub slots: Vec<u32>,
    /// Cosines of blocks that their own vectors choose: the same ones however the corpus grew.
    pub sample: Vec<f32>,
}

/// The nearest blocks of a scope.
pub(in crate::search) fn nearest_blocks(scope: CorpusScope<'_>, vectors: Vectors<'_>) -> Nearest {
    if vectors.matrix.is_some() {
        // Another model's vectors have no signs beside them: each is compared.
        let CorpusScope { corpus, candidates, .. } = scope;
        let mut all = vectors.cosines(corpus, candidates.slots());
        let sample = all.iter().map(|(_, cosine)| *cosine).collect();
        all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        return Nearest { slots: all.into_iter().take(NEAREST).map(|(slot, _)| slot).collect(), sample };
    }
    by_signs(scope, vectors, LEFT)
}

/// By the built-in vectors' signs, the first pass leaving about so many.
fn by_signs(scope: CorpusScope<'_>, vectors: Vectors<'_>, enough: usize) -> Nearest {
    let CorpusScope { corpus, candidates, .. } = scope;
    let signs = vectors.probe.sums.as_ref().map_or_else(Signs::default, |sums| sums.signs);
    let runs = runs(scope);
    // One in two to the power of this is in the sample.
    let rarity = (candidates.count / SAMPLE).max(1).ilog2();
    let judged = rarity.min(JUDGED);
    let sampled = share(candidates.count, runs.len(), |at| {
        let (seg, docs) = place(corpus, &runs[at]);
        let blocks = runs[at].clone().zip(seg.rows.first_signs(docs));
        blocks.filter(|(_, signs)| *signs != 0 && is_chosen(*signs, judged)).collect::<Vec<_>>()
    });
    let sampled = sampled.concat();
    let mut tallies = [0; WORD];
    for (_, first) in &sampled {
        tallies[(first ^ signs[0]).count_ones() as usize] += 1;
    }
    let left = if candidates.count <= enough { WORD - 1 } else { reach(&tallies, enough >> judged) };
    let near = share(candidates.count, runs.len(), |at| {
        let (seg, docs) = place(corpus, &runs[at]);
        let near = vector_loops::differences(seg.rows.signs(docs), &signs, left as u32);
        near.into_iter().map(|(difference, at_run)| (difference, runs[at].start + at_run)).collect::<Vec<_>>()
    });
    let near = near.concat();
    let mut tallies = [0; DIMENSIONS + 1];
    near.iter().for_each(|(difference, _)| tallies[usize::from(*difference)] += 1);
    let most = reach(&tallies, NEAREST);
    let near = near.into_iter().filter(|(difference, _)| usize::from(*difference) <= most);
    let chosen = sampled.iter().filter(|(_, signs)| is_chosen(*signs, rarity)).map(|(slot, _)| *slot);
    let sample = vectors.cosines(corpus, chosen).into_iter().map(|(_, cosine)| cosine).collect();
    Nearest { slots: near.map(|(_, slot)| slot).collect(), sample }
}

/// The slots of the candidates, in runs without a gap, each of one segment.
fn runs(CorpusScope { corpus, candidates, .. }: CorpusScope<'_>) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for NoteSlots { slots, .. } in &candidates.notes {
        match runs.last_mut() {
            Some(last) if last.end == slots.start && corpus.place(slots.start).1 > 0 => last.end = slots.end,
            _ => runs.push(slots.clone()),
        }
    }
    runs
}

/// The segment of a run of slots, and its documents there.
fn place<'c>(corpus: &'c Corpus, run: &Range<u32>) -> (&'c Seg, Range<usize>) {
    let (seg, from) = corpus.place(run.start);
    (seg, from as usize..from as usize + run.len())
}

/// The least place up to which `tallies` come to `enough`; the last where they don't.
fn reach(tallies: &[usize], enough: usize) -> usize {
    let mut so_far = 0;
    let reach = tallies.iter().position(|tally| {
        so_far += tally;
        so_far >= enough
    });
    reach.unwrap_or(tallies.len() - 1)
}

/// Whether a vector with these first signs is one of two to the power of `rarity`.
fn is_chosen(signs: u64, rarity: u32) -> bool {
    let mixed = signs.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed.checked_shr(u64::BITS - rarity).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::BuiltinTable;
    use crate::search::read::block::{Block, Kind, ParsedNote};
    use crate::search::retrieve::candidates::{Candidates, Occurrences};

    const WORDS: [&str; 16] = [
        "garden", "kettle", "bicycle", "window", "letter", "pepper", "river", "engine", "mirror", "basket",
        "carpet", "ladder", "kitten", "shelter", "cat", "adopted",
    ];

    fn put(corpus: &mut Corpus, n: usize) {
        let word = |at: usize| WORDS[(at * 2_654_435_761) / 11 % WORDS.len()];
        let blocks = (0..40).map(|block| {
            let text = (0..4).map(|at| word(n * 131 + block * 17 + at * 5)).collect::<Vec<_>>().join(" ");
            Block { line: block as u32 + 1, ..Block::new(Kind::Paragraph, 0, 0, text) }
        });
        let note = ParsedNote { blocks: blocks.collect(), ..ParsedNote::default() };
        corpus.put([(format!("{n:03}.md"), note)]).unwrap();
    }

    fn places(corpus: &Corpus, slots: &[u32]) -> Vec<(String, u32)> {
        let place = |slot: &u32| (corpus.path_at(*slot).to_owned(), corpus.meta(*slot).line);
        let mut places: Vec<_> = slots.iter().map(place).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn the_nearest_are_left_however_the_corpus_grew() {
        let (mut fresh, mut grown) = (Corpus::default(), Corpus::default());
        (0..150).for_each(|n| put(&mut fresh, n));
        (0..150).rev().for_each(|n| put(&mut grown, n));
        (20..70).for_each(|n| put(&mut grown, n));
        let probe = Probe::new(&BuiltinTable::builtin().embed("Who adopted a young cat?")).unwrap();
        let vectors = Vectors { matrix: None, probe: &probe };
        let candidates = Candidates::new(&fresh, |_| true);
        let near = by_signs(
            CorpusScope { corpus: &fresh, candidates: &candidates, occurrences: &Occurrences::default() },
            vectors,
            3000,
        );
        assert!(near.slots.len() < candidates.count / 2 && !near.sample.is_empty());
        let mut cosines = near.sample;
        cosines.sort_unstable_by(f32::total_cmp);
        let all_grown = Candidates::new(&grown, |_| true);
        let other = by_signs(
            CorpusScope { corpus: &grown, candidates: &all_grown, occurrences: &Occurrences::default() },
            vectors,
            3000,
        );
        assert_eq!(places(&fresh, &near.slots), places(&grown, &other.slots));
        let mut sample = other.sample;
        sample.sort_unstable_by(f32::total_cmp);
        assert_eq!(cosines, sample);
        let mut all = vectors.cosines(&fresh, candidates.slots());
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (slot, cosine) in &all[..100] {
            assert!(near.slots.contains(slot), "a block at {cosine} is not among the nearest");
        }
    }

    #[test]
    fn what_is_left_is_the_least_that_is_enough() {
        assert_eq!([1, 4, 5, 6, 9].map(|enough| reach(&[1, 3, 1, 0], enough)), [0, 1, 2, 3, 3]);
    }
}
