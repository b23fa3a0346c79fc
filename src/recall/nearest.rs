//! Which blocks' vectors are nearest to the question's, by their signs, before any cosine is taken.
//!
//! Two passes: the first word of each vector's signs leaves about 25,000 blocks, all signs choose among those.
//! A vector that is near as a whole is so in its first 64 dimensions as well, but for few; what is read of all
//! blocks is eight bytes each. Beside them comes a sample that the vectors themselves choose, for the mean and
//! the spread of all cosines. Everything follows from the blocks in scope alone, however the corpus grew.

use std::ops::Range;

use super::candidates::Candidates;
use super::cores::{share, threads};
use super::corpus::Corpus;
use super::layer::{BITS, Rest, Signs};
use super::semantic::Vectors;
use super::wide::{self, Work as _};
use crate::embed::table::DIMENSIONS;

/// So many blocks with the nearest signs have their cosines taken.
const NEAREST: usize = 1500;
/// Of about so many, chosen by their own signs, the cosines' mean and spread.
const SAMPLE: usize = 1024;
/// The first pass leaves about so many.
const LEFT: usize = 25_000;
/// How many that are is judged by one vector in two to the power of this, chosen by their own signs.
const JUDGED: u32 = 6;
/// In so many ways the first words can differ.
const WORD: usize = 64 + 1;
/// The highest bit of eight bytes.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The blocks in scope whose vectors' signs agree most with the question's, and a sample of all.
pub(super) struct Nearest {
    pub slots: Vec<u32>,
    /// Cosines of blocks that their own vectors choose: the same ones however the corpus grew.
    pub sample: Vec<f32>,
}

pub(super) fn nearest(corpus: &Corpus, candidates: &Candidates, vectors: Vectors<'_>) -> Nearest {
    if vectors.matrix.is_some() {
        // Another model's vectors have no signs beside them: each is compared.
        let mut all = vectors.cosines(corpus, candidates.slots(corpus));
        let sample = all.iter().map(|(_, cosine)| *cosine).collect();
        all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        return Nearest { slots: all.into_iter().take(NEAREST).map(|(slot, _)| slot).collect(), sample };
    }
    by_signs(corpus, candidates, vectors, LEFT)
}

/// By the built-in vectors' signs, the first pass leaving about so many.
fn by_signs(corpus: &Corpus, candidates: &Candidates, vectors: Vectors<'_>, enough: usize) -> Nearest {
    let mut signs = Signs::default();
    signs.iter_mut().zip(vectors.probe.signs()).for_each(|(to, word)| *to = word);
    let rarity = (candidates.count / SAMPLE).max(1).ilog2();
    let parts = by_layer(corpus, candidates);
    let threads = threads(candidates.count);
    let judged = rarity.min(JUDGED);
    let looks = share(threads, parts.len(), |at| Look::new(corpus, &parts[at], signs[0], judged));
    let mut tallies = [0; WORD];
    for look in &looks {
        look.chosen.iter().for_each(|(place, _)| tallies[usize::from(look.bytes[*place])] += 1);
    }
    let is_few = candidates.count <= enough;
    let left = if is_few { WORD - 1 } else { reach(&tallies, enough >> judged) };
    let seconds = share(threads, parts.len(), |at| looks[at].compare(corpus, &parts[at], &signs, left as u8));
    let mut tallies = [0; DIMENSIONS + 1];
    seconds.iter().flatten().for_each(|(difference, _)| tallies[usize::from(*difference)] += 1);
    let most = reach(&tallies, NEAREST);
    let near = seconds.into_iter().flatten().filter(|(difference, _)| usize::from(*difference) <= most);
    let slots = near.map(|(_, slot)| slot).collect();
    let sample = parts.iter().zip(&looks).flat_map(|(slots, look)| {
        let chosen = look.chosen.iter().filter(|(_, mixed)| is_chosen(*mixed, rarity));
        slots_at(slots, chosen.map(|(place, _)| *place))
    });
    let sample = vectors.cosines(corpus, sample).into_iter().map(|(_, cosine)| cosine).collect();
    Nearest { slots, sample }
}

/// The candidates' slots by layer, the tail's last.
fn by_layer(corpus: &Corpus, candidates: &Candidates) -> Vec<Vec<Range<u32>>> {
    let mut parts = vec![Vec::new(); corpus.parts()];
    for id in &candidates.files {
        let slots = corpus.files()[*id as usize].slots.clone();
        let part: &mut Vec<Range<u32>> = &mut parts[(slots.start >> BITS) as usize];
        match part.last_mut() {
            Some(last) if last.end == slots.start => last.end = slots.end,
            _ => part.push(slots),
        }
    }
    parts
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

/// Whether a vector is one of two to the power of `rarity`, by what its signs are mixed to.
#[inline(always)]
fn is_chosen(mixed: u64, rarity: u32) -> bool {
    mixed.checked_shr(u64::BITS - rarity).unwrap_or(0) == 0
}

/// What the first pass makes of a layer's candidates.
struct Look {
    /// In how many of the first signs each differs, in their order. One without a vector has any number.
    bytes: Vec<u8>,
    /// The places of those that are judged by, and what their first signs are mixed to.
    chosen: Vec<(usize, u64)>,
}

/// The first pass over neighbouring blocks.
struct FirstPass<'a, Words> {
    words: Words,
    signs: u64,
    judged: u32,
    /// The place of the first of them.
    from: usize,
    bytes: &'a mut [u8],
    chosen: &'a mut Vec<(usize, u64)>,
}

impl<Words: Iterator<Item = u64>> wide::Work for FirstPass<'_, Words> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for ((place, byte), word) in (self.from..).zip(self.bytes).zip(self.words) {
            // At most 64.
            *byte = wide::difference(&[word], &[self.signs]) as u8;
            let mixed = word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            if word != 0 && is_chosen(mixed, self.judged) {
                self.chosen.push((place, mixed));
            }
        }
    }
}

impl Look {
    fn new(corpus: &Corpus, slots: &[Range<u32>], signs: u64, judged: u32) -> Self {
        let mut bytes = vec![0; slots.iter().map(ExactSizeIterator::len).sum()];
        let (mut chosen, mut from) = (Vec::new(), 0);
        for slots in slots {
            let (at, local) = Corpus::place(slots.start);
            let range = local..local + slots.len();
            let (bytes, chosen) = (&mut bytes[from..from + slots.len()], &mut chosen);
            match corpus.layers.get(at) {
                Some(frozen) => {
                    let words = frozen.layer.first_signs(range);
                    wide::wide(FirstPass { words, signs, judged, from, bytes, chosen });
                }
                None => {
                    let words = range.map(|slot| corpus.tail.first_signs(slot));
                    FirstPass { words, signs, judged, from, bytes, chosen }.call();
                }
            }
            from += slots.len();
        }
        Self { bytes, chosen }
    }

    /// The second pass: the candidates that the first one leaves, each behind the number of all signs in which it
    /// differs.
    fn compare(&self, corpus: &Corpus, slots: &[Range<u32>], signs: &Signs, left: u8) -> Vec<(u16, u32)> {
        let mut places = Vec::new();
        each_place(&self.bytes, left, |place| places.push(place));
        let slots: Vec<u32> = slots_at(slots, places.iter().copied()).collect();
        // Each in a loop of its own: the waits for memory of many go on at once.
        let rows: Vec<u32> = slots.iter().map(|slot| corpus.row_of(*slot)).collect();
        let others = slots.iter().zip(rows).zip(places);
        let others = others.filter_map(|((slot, row), place)| {
            Some((u16::from(self.bytes[place]), *slot, corpus.other_signs(*slot, row)?))
        });
        let others: Vec<(u16, u32, Rest)> = others.collect();
        let mut near = Vec::with_capacity(others.len());
        wide::wide(|| {
            near.extend(
                others
                    .iter()
                    .map(|(first, slot, others)| (first + wide::difference(others, &signs[1..]), *slot)),
            );
        });
        near
    }
}

/// Calls `each` with the places of the bytes that are at most `most`; all are below 128. Eight at a time.
fn each_place(bytes: &[u8], most: u8, mut each: impl FnMut(usize)) {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [u8::MAX >> 1; 8];
    last[..rest.len()].copy_from_slice(rest);
    // The highest bit of each stays set where what is taken off is no more.
    let bounds = HIGH + u64::from(most) * (HIGH >> 7);
    for (at, word) in words.iter().chain(std::iter::once(&last)).enumerate() {
        let mut found = (bounds - u64::from_le_bytes(*word)) & HIGH;
        while found != 0 {
            each(at * 8 + found.trailing_zeros() as usize / 8);
            found &= found - 1;
        }
    }
}

/// The slots at ascending places of these.
fn slots_at(slots: &[Range<u32>], places: impl Iterator<Item = usize>) -> impl Iterator<Item = u32> {
    let (mut at, mut before) = (0, 0);
    places.filter_map(move |place| {
        while place - before >= slots.get(at)?.len() {
            before += slots[at].len();
            at += 1;
        }
        Some(slots[at].start + u32::try_from(place - before).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::super::corpus::Passage;
    use super::super::matrix::Probe;
    use super::*;
    use crate::embed::Table;

    #[test]
    fn places_and_slots_are_found_eight_at_a_time() {
        let bytes: Vec<u8> = (0..61_u32).map(|n| (n * 37 % 65) as u8).collect();
        for most in [0, 1, 20, 63, 64] {
            let mut places = Vec::new();
            each_place(&bytes, most, |place| places.push(place));
            let expected: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] <= most).collect();
            assert_eq!(places, expected, "{most}");
        }
        let slots = slots_at(&[5..8, 20..20, 30..40], [0, 2, 3, 12, 13].into_iter());
        assert_eq!(slots.collect::<Vec<_>>(), [5, 7, 30, 39]);
    }

    const WORDS: [&str; 16] = [
        "garden", "kettle", "bicycle", "window", "letter", "pepper", "river", "engine", "mirror", "basket",
        "carpet", "ladder", "kitten", "shelter", "cat", "adopted",
    ];

    fn put(corpus: &mut Corpus, n: usize) {
        let word = |at: usize| WORDS[(at * 2_654_435_761) / 11 % WORDS.len()];
        let texts: Vec<String> = (0..40)
            .map(|block| (0..4).map(|at| word(n * 131 + block * 17 + at * 5)).collect::<Vec<_>>().join(" "))
            .collect();
        let passages = texts.iter().zip(1..).map(|(text, line)| Passage {
            line,
            is_turn: false,
            role: None,
            author: None,
            time: None,
            head: "",
            text,
        });
        corpus.put(&format!("{n:03}.md"), 0, passages);
    }

    fn places(corpus: &Corpus, slots: &[u32]) -> Vec<(String, u32)> {
        let place = |slot: &u32| (corpus.file_at(*slot).path.clone(), corpus.meta(*slot).line);
        let mut places: Vec<_> = slots.iter().map(place).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn the_nearest_are_left_however_the_corpus_grew() {
        let (mut fresh, mut frozen, mut grown) = (Corpus::new(), Corpus::new(), Corpus::new());
        (0..150).for_each(|n| put(&mut fresh, n));
        (0..90).for_each(|n| put(&mut frozen, n));
        frozen.freeze();
        (90..150).for_each(|n| put(&mut frozen, n));
        (0..150).rev().for_each(|n| put(&mut grown, n));
        (20..70).for_each(|n| put(&mut grown, n));
        let probe = Probe::new(&Table::builtin().embed("Who adopted a young cat?")).unwrap();
        let vectors = Vectors { matrix: None, probe: &probe };
        let candidates = Candidates::new(&fresh, |_| true);
        let near = by_signs(&fresh, &candidates, vectors, 3000);
        assert!(near.slots.len() < candidates.count / 2 && !near.sample.is_empty());
        let mut cosines = near.sample;
        cosines.sort_unstable_by(f32::total_cmp);
        for corpus in [&frozen, &grown] {
            let candidates = Candidates::new(corpus, |_| true);
            let other = by_signs(corpus, &candidates, vectors, 3000);
            assert_eq!(places(&fresh, &near.slots), places(corpus, &other.slots));
            let mut sample = other.sample;
            sample.sort_unstable_by(f32::total_cmp);
            assert_eq!(cosines, sample);
        }
        let mut all = vectors.cosines(&fresh, candidates.slots(&fresh));
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
