//! Where terms stand: in memory while they are added, and packed as a layer keeps them.
//!
//! Packed, a posting is the distance from the one before it (doubled, plus one where the term stands there more
//! than once, then its count) as a number of seven bits a byte.

use std::collections::HashMap;

/// The postings of all terms of some blocks.
#[derive(Debug, Default, Clone)]
pub struct Postings {
    ids: HashMap<Box<str>, u32>,
    added: Vec<(Vec<u32>, Vec<u8>)>,
}

impl Postings {
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
        if let Some(id) = self.ids.get(term) {
            let (slots, counts) = &self.added[*id as usize];
            for (slot, count) in slots.iter().zip(counts) {
                each(*slot, *count);
            }
        }
    }

    /// All terms, in no order.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.ids.keys().map(|term| &**term)
    }

    /// All terms in order, with their slots and counts.
    pub fn sorted(&self) -> Vec<(&str, &[u32], &[u8])> {
        let of = |id: &u32| &self.added[*id as usize];
        let mut terms: Vec<(&str, &[u32], &[u8])> =
            self.ids.iter().map(|(term, id)| (&**term, &of(id).0[..], &of(id).1[..])).collect();
        terms.sort_unstable_by_key(|(term, ..)| *term);
        terms
    }
}

/// Appends slots, ascending, and their counts to `out`.
pub fn encode(slots: &[u32], counts: &[u8], out: &mut Vec<u8>) {
    let mut next = 0;
    for (slot, count) in slots.iter().zip(counts) {
        let mut left = u64::from(slot - next) << 1 | u64::from(*count > 1);
        next = slot + 1;
        while left > 0x7f {
            out.push(left.to_le_bytes()[0] | 0x80);
            left >>= 7;
        }
        out.push(left.to_le_bytes()[0]);
        if *count > 1 {
            out.push(*count);
        }
    }
}

/// Calls `each` with what [`encode`] wrote.
pub fn decode(bytes: &[u8], mut each: impl FnMut(u32, u8)) {
    let (mut slot, mut at) = (0_u64, 0);
    while at < bytes.len() {
        let (mut number, mut shift) = (0_u64, 0);
        while let Some(byte) = bytes.get(at) {
            at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift > 35 {
                break;
            }
        }
        let count = if number & 1 == 0 {
            1
        } else {
            at += 1;
            bytes.get(at - 1).copied().unwrap_or(1)
        };
        slot += number >> 1;
        let Ok(here) = u32::try_from(slot) else { return };
        each(here, count);
        slot += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(postings: &Postings, term: &str) -> Vec<(u32, u8)> {
        let mut out = Vec::new();
        postings.each(term, |slot, count| out.push((slot, count)));
        out
    }

    #[test]
    fn terms_know_their_slots() {
        let mut postings = Postings::default();
        for (term, slot, count) in [("b", 0, 1), ("a", 1, 2), ("b", 2, 3), ("ä", 2, 1)] {
            let id = postings.id(term);
            postings.push(id, slot, count);
        }
        assert_eq!(of(&postings, "b"), [(0, 1), (2, 3)]);
        assert_eq!(
            (of(&postings, ""), of(&postings, "b").len(), of(&postings, "c").len()),
            (Vec::new(), 2, 0)
        );
        let sorted: Vec<&str> = postings.sorted().into_iter().map(|(term, ..)| term).collect();
        assert_eq!(sorted, ["a", "b", "ä"]);
    }

    proptest! {
        #[test]
        fn packed_postings_come_back(found in proptest::collection::btree_map(0_u32..200_000, 1_u8.., 0..60)) {
            let (slots, counts): (Vec<u32>, Vec<u8>) = found.iter().unzip();
            let mut bytes = Vec::new();
            encode(&slots, &counts, &mut bytes);
            let mut back = Vec::new();
            decode(&bytes, |slot, count| back.push((slot, count)));
            prop_assert_eq!(back, found.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            decode(&bytes, |_, _| ());
        }
    }
}
