//! Where terms stand: a sorted, flat base as it was stored, and what was added since.
//!
//! The base is looked up by binary search in one run of bytes, so that a cold process reads it as it lies
//! on disk and builds no map. Slots only ever grow, so the additions of a term come after its base.

use std::collections::HashMap;

/// The postings of all terms.
#[derive(Debug, Default, Clone)]
pub struct Postings {
    base: Flat,
    ids: HashMap<Box<str>, u32>,
    added: Vec<(Vec<u32>, Vec<u8>)>,
}

/// Postings as they are stored: terms in order, each with a stretch of slots and counts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Flat {
    /// All terms' bytes, end to end, ascending.
    pub text: Vec<u8>,
    /// Where each term's bytes end.
    pub ends: Vec<u32>,
    /// Where each term's postings end.
    pub stretches: Vec<u32>,
    /// Slots, ascending within a term.
    pub slots: Vec<u32>,
    /// Counts beside them.
    pub counts: Vec<u8>,
}

impl Flat {
    /// Whether the parts fit together, for slots below `most`.
    pub fn is_sound(&self, most: u32) -> bool {
        let ascending = |ends: &[u32], whole: usize| {
            ends.is_sorted() && ends.last().map_or(0, |end| *end as usize) == whole
        };
        ascending(&self.ends, self.text.len())
            && ascending(&self.stretches, self.slots.len())
            && self.ends.len() == self.stretches.len()
            && self.slots.len() == self.counts.len()
            && self.slots.iter().all(|slot| *slot < most)
    }

    fn term(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.text[start..self.ends[at] as usize]
    }

    fn stretch(&self, at: usize) -> std::ops::Range<usize> {
        let start = if at == 0 { 0 } else { self.stretches[at - 1] as usize };
        start..self.stretches[at] as usize
    }

    fn find(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.term(middle).cmp(term.as_bytes()) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

impl Postings {
    /// From what was stored.
    pub fn from_flat(base: Flat) -> Self {
        Self { base, ..Self::default() }
    }

    /// The number under which postings of `term` are added.
    pub fn id(&mut self, term: &str) -> u32 {
        if let Some(id) = self.ids.get(term) {
            return *id;
        }
        let id = u32::try_from(self.added.len()).unwrap_or(u32::MAX);
        self.added.push((Vec::new(), Vec::new()));
        self.ids.insert(term.into(), id);
        id
    }

    /// Adds a slot, larger than all before, to a term.
    pub fn push(&mut self, id: u32, slot: u32, count: u8) {
        let (slots, counts) = &mut self.added[id as usize];
        slots.push(slot);
        counts.push(count);
    }

    /// Calls `each` with the slots of `term`, ascending, and the count in each.
    pub fn each(&self, term: &str, mut each: impl FnMut(u32, u8)) {
        if let Some(at) = self.base.find(term) {
            let stretch = self.base.stretch(at);
            for (slot, count) in self.base.slots[stretch.clone()].iter().zip(&self.base.counts[stretch]) {
                each(*slot, *count);
            }
        }
        if let Some(id) = self.ids.get(term) {
            let (slots, counts) = &self.added[*id as usize];
            for (slot, count) in slots.iter().zip(counts) {
                each(*slot, *count);
            }
        }
    }

    /// In how many slots `term` stands.
    pub fn count(&self, term: &str) -> usize {
        let base = self.base.find(term).map_or(0, |at| self.base.stretch(at).len());
        base + self.ids.get(term).map_or(0, |id| self.added[*id as usize].0.len())
    }

    /// Everything, for storing.
    pub fn to_flat(&self) -> Flat {
        let known = (0..self.base.ends.len()).map(|at| self.base.term(at));
        let mut terms: Vec<&[u8]> = known.chain(self.ids.keys().map(|term| term.as_bytes())).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut flat = Flat::default();
        for term in terms {
            flat.text.extend_from_slice(term);
            self.each(std::str::from_utf8(term).unwrap_or(""), |slot, count| {
                flat.slots.push(slot);
                flat.counts.push(count);
            });
            flat.ends.push(u32::try_from(flat.text.len()).unwrap_or(u32::MAX));
            flat.stretches.push(u32::try_from(flat.slots.len()).unwrap_or(u32::MAX));
        }
        flat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(postings: &Postings, term: &str) -> Vec<(u32, u8)> {
        let mut out = Vec::new();
        postings.each(term, |slot, count| out.push((slot, count)));
        out
    }

    #[test]
    fn additions_follow_the_base() {
        let mut postings = Postings::default();
        for (term, slot, count) in [("b", 0, 1), ("a", 1, 2), ("b", 2, 3), ("ä", 2, 1)] {
            let id = postings.id(term);
            postings.push(id, slot, count);
        }
        let flat = postings.to_flat();
        assert!(flat.is_sound(3) && !flat.is_sound(2));
        let mut again = Postings::from_flat(flat.clone());
        assert_eq!(again.to_flat(), flat);
        let id = again.id("b");
        again.push(id, 7, 1);
        assert_eq!(of(&again, "b"), [(0, 1), (2, 3), (7, 1)]);
        assert_eq!(of(&again, "ä"), [(2, 1)]);
        assert_eq!(of(&again, ""), []);
        assert_eq!(of(&Postings::from_flat(again.to_flat()), "b"), [(0, 1), (2, 3), (7, 1)]);
    }
}
