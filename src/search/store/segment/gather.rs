//! The words of several blocks of a note on their way into [`Postings`]: gathered before they are looked
//! up, for the sake of [`Postings::terms`].

use frostem::Stemmer;
use tantivy::fieldnorm::FieldNormReader;

use crate::search::analyze::text;
use crate::search::analyze::text::{Form, Splitter};
use crate::search::store::segment::postings::{Key, Postings};

/// So many words are looked up at once, and what the last block has beyond.
const MANY: usize = 1024;

/// Words that wait.
#[derive(Debug, Default)]
pub struct Words {
    keys: Vec<Key>,
    /// Whether each may have a stem.
    forms: Vec<Form>,
    /// Their bytes, one after the other.
    bytes: String,
    /// How many words there are up to the end of each block.
    ends: Vec<usize>,
}

impl Words {
    /// Adds the words of the next block; whether there are many now.
    pub fn gather(&mut self, splitter: &mut Splitter, block: &str) -> bool {
        splitter.split(block, &mut |form, word| {
            self.keys.push(Key::of(word.as_bytes()));
            self.forms.push(form);
            self.bytes.push_str(word);
        });
        self.ends.push(self.keys.len());
        self.keys.len() >= MANY
    }

    /// Hands the words and their stems to `postings` and each block's length, as tantivy keeps it, to
    /// `lengths`; the documents are the next ones there.
    pub fn hand_over(&mut self, postings: &mut Postings, stemmer: &Stemmer, lengths: &mut Vec<u8>) {
        postings.terms(&mut self.keys, self.bytes.as_bytes());
        let mut words = self.keys.iter().zip(&self.forms);
        let (mut from, mut at) = (0, 0);
        for end in self.ends.drain(..) {
            let (doc, before) = (lengths.len() as u32, postings.total());
            for (key, form) in words.by_ref().take(end - from) {
                let word = at..at + key.length as usize;
                at = word.end;
                postings.add(key.number, doc, 1);
                if *form == Form::Word
                    && let Some(stem) =
                        postings.stem(key.number, true, || text::stem(stemmer, &self.bytes[word]))
                {
                    postings.add(stem, doc, 1);
                }
            }
            from = end;
            let length = u32::try_from(postings.total() - before).unwrap_or(u32::MAX);
            lengths.push(FieldNormReader::fieldnorm_to_id(length));
        }
        self.keys.clear();
        self.forms.clear();
        self.bytes.clear();
    }
}
