//! Caches the terms of words while blocks are added to a segment, because a vault's words repeat.

use crate::embed::Embedder;
use crate::embed::fast_hash::FastMap;
use crate::search::analyze::stems::{Terms, words};
use crate::search::store::postings::Postings;

/// WordCache' terms, their numbers in the postings, and their tokens.
#[derive(Debug, Default)]
pub struct WordCache {
    terms: Terms,
    /// The number of each word's term in the postings; none for a function word.
    ids: FastMap<Box<str>, Option<u32>>,
    pub embedder: Embedder,
    /// The terms of one block.
    found: Vec<u32>,
    /// The last block's head, and its terms, each once: neighbours share it.
    head: (String, Vec<u32>),
}

impl WordCache {
    /// The numbers of a block's terms by the postings, as [`TermCount`](crate::search::store::corpus::term_count::TermCount) counts them:
    /// its head's once, where there is one, its texts' twice for each time. And how many terms its texts have.
    pub fn find<'w>(
        &'w mut self,
        head: Option<&str>,
        texts: [&str; 2],
        postings: &mut Postings,
    ) -> (&'w mut Vec<u32>, usize) {
        if let Some(head) = head.filter(|head| self.head.0 != *head) {
            self.found.clear();
            self.add(head, postings);
            self.found.sort_unstable();
            self.found.dedup();
            self.head.1.clone_from(&self.found);
            head.clone_into(&mut self.head.0);
        }
        self.found.clear();
        texts.into_iter().for_each(|text| self.add(text, postings));
        let length = self.found.len();
        self.found.extend_from_within(..);
        if head.is_some() {
            self.found.extend_from_slice(&self.head.1);
        }
        (&mut self.found, length)
    }

    fn add(&mut self, text: &str, postings: &mut Postings) {
        words(text, |word| {
            let id = match self.ids.get(word) {
                Some(id) => *id,
                None => {
                    let id = self.terms.term(word).map(|term| postings.id(term));
                    self.ids.insert(word.into(), id);
                    id
                }
            };
            self.found.extend(id);
        });
    }
}
