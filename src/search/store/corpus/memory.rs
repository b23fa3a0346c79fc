//! What is kept of words while blocks are taken in: a vault's words come again and again.

use crate::embed::Embedder;
use crate::embed::fast::FastMap;
use crate::search::analyze::stems::{Terms, words};
use crate::search::store::corpus::tail::Tail;

/// Words' terms, their numbers in a tail's postings, and their tokens.
#[derive(Debug, Default)]
pub struct Words {
    terms: Terms,
    /// The number of each word's term in the tail's postings; none for a function word.
    ids: FastMap<Box<str>, Option<u32>>,
    pub embedder: Embedder,
    /// The terms of one block.
    found: Vec<u32>,
    /// The last block's head, and its terms: neighbours share it.
    head: (String, Vec<u32>),
}

impl Words {
    /// For another tail: what a word is made of stays, its term's number doesn't.
    pub fn renewed(self) -> Self {
        Self { terms: self.terms, embedder: self.embedder, ..Self::default() }
    }

    /// The numbers of a block's terms by the tail's postings: of its head's, then of its texts'.
    pub fn find<'w>(&'w mut self, head: &str, texts: [&str; 2], tail: &mut Tail) -> &'w mut Vec<u32> {
        if self.head.0 != head {
            self.found.clear();
            self.add(head, tail);
            self.head.1.clone_from(&self.found);
            head.clone_into(&mut self.head.0);
        }
        self.found.clone_from(&self.head.1);
        texts.into_iter().for_each(|text| self.add(text, tail));
        &mut self.found
    }

    fn add(&mut self, text: &str, tail: &mut Tail) {
        words(text, |word| {
            let id = match self.ids.get(word) {
                Some(id) => *id,
                None => {
                    let id = self.terms.term(word).map(|term| tail.postings.id(term));
                    self.ids.insert(word.into(), id);
                    id
                }
            };
            self.found.extend(id);
        });
    }
}
