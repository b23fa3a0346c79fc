//! Gathers the postings of terms in memory while a segment is written.
//!
//! Documents come in order, each with all of its terms. A posting is packed as it comes: its distance from the document
//! before, doubled, plus one if the term occurs more than once; in that case the count follows. Numbers are stored
//! seven bits a byte.

use rustc_hash::FxHashMap;

/// The postings of all terms of some documents.
#[derive(Debug, Default, Clone)]
pub struct Postings {
    ids: FxHashMap<Box<str>, u32>,
    lists: Vec<List>,
    bytes: usize,
}

/// The postings of one term.
#[derive(Debug, Default, Clone)]
pub struct List {
    /// In how many documents it stands.
    pub docs: u32,
    /// The document behind the last one.
    next: u32,
    /// The postings.
    pub packed: Vec<u8>,
}

impl Postings {
    /// The number of a term.
    pub fn id(&mut self, term: &str) -> u32 {
        if let Some(id) = self.ids.get(term) {
            return *id;
        }
        let id = self.lists.len() as u32;
        self.lists.push(List::default());
        self.ids.insert(term.into(), id);
        self.bytes += size_of::<(Box<str>, u32, List)>() + term.len();
        id
    }

    /// Adds a document, larger than all before, with its `terms` by their numbers, in any order.
    pub fn add(&mut self, doc: u32, terms: &mut [u32]) {
        terms.sort_unstable();
        for same in terms.chunk_by(|a, b| a == b) {
            self.push(same[0], doc, same.len() as u32);
        }
    }

    /// A term stands in a document, larger than all before, so many times.
    pub fn push(&mut self, id: u32, doc: u32, times: u32) {
        let list = &mut self.lists[id as usize];
        let before = list.packed.len();
        put(&mut list.packed, u64::from(doc - list.next) << 1 | u64::from(times > 1));
        if times > 1 {
            put(&mut list.packed, u64::from(times));
        }
        list.next = doc + 1;
        list.docs += 1;
        self.bytes += list.packed.len() - before;
    }

    /// Bytes of memory in use, about.
    pub fn memory(&self) -> usize {
        self.bytes
    }

    /// All terms that stand somewhere, in order.
    pub fn sorted(&self) -> Vec<(&str, &List)> {
        let all = self.ids.iter().map(|(term, id)| (&**term, &self.lists[*id as usize]));
        let mut terms: Vec<(&str, &List)> = all.filter(|(_, list)| list.docs > 0).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        terms
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Calls `each` with what is packed in `bytes`. Bytes that can't be end it.
pub fn decode(bytes: &[u8], mut each: impl FnMut(u32, u32)) {
    let (mut doc, mut at) = (0_u64, 0);
    while let Some(step) = take(bytes, &mut at) {
        let times = if step & 1 == 1 { take(bytes, &mut at).unwrap_or(1) } else { 1 };
        doc = doc.saturating_add(step >> 1);
        let (Ok(of), Ok(times)) = (u32::try_from(doc), u32::try_from(times)) else { return };
        each(of, times);
        doc += 1;
    }
}

#[inline]
fn take(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_added_comes_back(
            docs in proptest::collection::vec((1_u32..100_000, proptest::collection::vec("[ab]{1,2}", 0..9)), 0..40)
        ) {
            let mut postings = Postings::default();
            let mut expected: BTreeMap<String, BTreeMap<u32, u32>> = BTreeMap::new();
            let mut doc = 0;
            for (step, words) in &docs {
                doc += step;
                let mut terms: Vec<u32> = words.iter().map(|word| postings.id(word)).collect();
                postings.add(doc, &mut terms);
                for word in words {
                    *expected.entry(word.clone()).or_default().entry(doc).or_default() += 1;
                }
            }
            let mut found: BTreeMap<String, BTreeMap<u32, u32>> = BTreeMap::new();
            for (term, list) in postings.sorted() {
                decode(&list.packed, |doc, times| {
                    found.entry(term.to_owned()).or_default().insert(doc, times);
                });
                prop_assert_eq!(found[term].len(), list.docs as usize);
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            decode(&bytes, |_, _| ());
        }
    }
}
