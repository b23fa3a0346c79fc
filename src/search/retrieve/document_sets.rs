//! Splits the text of a query into words ([`query_words`]), and makes the sets of documents that match a word or a
//! condition.
//!
//! A condition is a filter such as a tag, a sign such as an emoji, a scope, a heading, a time or a path. A corpus and
//! words come in; bitmaps of slots (the numbers of the corpus's documents) go out. The set of a word may include
//! documents with another form of the word; if that matters, [`crate::search::retrieve::filter`] reads the text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use roaring::{MultiOps, RoaringBitmap};
use tantivy::schema::Field;

use crate::memory::Scope;
use crate::search::Result;
use crate::search::analyze::{Analyzer, Form, STEM, Terms, fold, forms, has_function_word, is_mark};
use crate::search::query::Item;
use crate::search::store::{Corpus, FILTER, MARKED, RANK, TEXT, TermCount, scope_filters};

/// Words whose stem begins otherwise than they do, beyond its last letter.
const IRREGULAR: [(&str, &str); 3] = [("dying", "die"), ("lying", "lie"), ("tying", "tie")];

/// Makes sets of a corpus's documents, dead ones among them.
pub(in crate::search) struct DocumentSets<'a> {
    corpus: &'a Corpus,
    stems: Terms,
}

impl<'a> DocumentSets<'a> {
    /// Those of `corpus`.
    pub fn new(corpus: &'a Corpus) -> Self {
        Self { corpus, stems: Terms::default() }
    }

    /// Those that live.
    pub fn living(&self) -> RoaringBitmap {
        let mut living = RoaringBitmap::new();
        for seg in &self.corpus.segs {
            living.insert_range(seg.slots());
            if seg.alive.is_some() {
                let dead = seg.slots().filter(|slot| !seg.is_alive(slot - seg.first));
                dead.for_each(|slot| _ = living.remove(slot));
            }
        }
        living
    }

    /// Documents with an exact filter.
    pub fn with_filter(&self, filter: &str) -> Result<RoaringBitmap> {
        self.with_any(FILTER, &[filter.to_owned()])
    }

    /// Documents with a folded sign.
    pub fn with_sign(&self, sign: char) -> Result<RoaringBitmap> {
        self.with_any(TEXT, &[sign.to_string()])
    }

    /// Documents that belong to a scope of memories: its marks and those nested in it, or no mark of any.
    pub fn in_scope(&self, scope: &Scope) -> Result<RoaringBitmap> {
        match scope_filters([scope]).next_back() {
            Some(filter) => self.with_filter(&filter),
            None => Ok(self.living() - self.with_filter(MARKED)?),
        }
    }

    /// Documents whose text has one of the terms; a title or heading doesn't count.
    fn with_any(&self, field: Field, terms: &[String]) -> Result<RoaringBitmap> {
        let mut set = RoaringBitmap::new();
        for term in terms {
            for seg in &self.corpus.segs {
                seg.each(field, term, |doc, times| {
                    if field != RANK || TermCount(times).in_text() > 0 {
                        set.insert(seg.first + doc);
                    }
                })?;
            }
        }
        Ok(set)
    }

    /// Documents whose text has, for ranking, one term of each of these.
    fn with_all(&self, parts: &[Vec<String>]) -> Result<RoaringBitmap> {
        let sets: Result<Vec<_>, _> = parts.iter().map(|terms| self.with_any(RANK, terms)).collect();
        Ok(sets?.intersection())
    }

    /// Documents that may have a wanted word.
    pub fn with(&mut self, wanted: &WordMatcher) -> Result<RoaringBitmap> {
        match wanted {
            WordMatcher::Prefix(prefix) => self.with_prefix(prefix),
            WordMatcher::Form(word) => self.with_word(word),
        }
    }

    /// Documents that have a word or, at least, a form of it.
    fn with_word(&mut self, word: &QueryWord) -> Result<RoaringBitmap> {
        let set = self.with_any(TEXT, &forms(&word.exact, &word.stem))?;
        if has_function_word(&word.exact) {
            return Ok(set);
        }
        let parts = self.parts(&word.exact);
        Ok(set | self.with_all(&parts)?)
    }

    /// Documents that may have a word that begins so.
    fn with_prefix(&mut self, prefix: &str) -> Result<RoaringBitmap> {
        // Of a compound all parts but the last are words.
        let (words, last) =
            prefix.rsplit_once(|c: char| !c.is_alphanumeric() && !is_mark(c)).unwrap_or(("", prefix));
        let mut parts = self.parts(words);
        if !last.is_empty() {
            parts.push(self.terms(RANK, last)?);
        }
        let set = self.with_any(TEXT, &self.terms(TEXT, prefix)?)?;
        Ok(set | self.with_all(&parts)?)
    }

    /// The stem of each word of a compound.
    fn parts(&mut self, words: &str) -> Vec<Vec<String>> {
        let mut parts = Vec::new();
        self.stems.each(words, |stem| parts.push(vec![stem.to_owned()]));
        parts
    }

    /// The terms that words may have that begin so.
    fn terms(&self, field: Field, prefix: &str) -> Result<Vec<String>> {
        let Some(first) = prefix.chars().next().filter(|first| *first != STEM) else { return Ok(Vec::new()) };
        let is_stem = field == RANK;
        // A stem is seldom as long as its word.
        let from = if is_stem { &prefix[..first.len_utf8()] } else { prefix };
        let mut found = Vec::new();
        for seg in &self.corpus.segs {
            let inverted = seg.reader.inverted_index(field)?;
            let range = inverted.terms().range().ge(from.as_bytes());
            let mut terms = range.into_stream().map_err(tantivy::TantivyError::from)?;
            while terms.advance() && terms.key().starts_with(from.as_bytes()) {
                let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
                if !is_stem || may_begin(term, prefix) {
                    found.push(term.to_owned());
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Documents below a heading with all of these words.
    pub fn below(&self, analyzer: &mut Analyzer, wanted: &[QueryWord]) -> Result<RoaringBitmap> {
        let mut set = RoaringBitmap::new();
        let mut known: HashMap<Arc<str>, bool> = HashMap::new();
        for seg in &self.corpus.segs {
            let notes = seg.rows.notes().iter().enumerate();
            for (at, note) in notes.filter(|(_, note)| seg.is_alive(note.start)) {
                for (slot, block) in (seg.first + note.start..).zip(seg.blocks(at)?) {
                    let Some(section) = block.section else { continue };
                    let is_below = known.entry(section);
                    if *is_below.or_insert_with_key(|section| has_all(analyzer, section, wanted)) {
                        set.insert(slot);
                    }
                }
            }
        }
        Ok(set)
    }

    /// Those of `among` that are dated within `range`.
    pub fn dated(&self, among: &RoaringBitmap, range: Range<i64>) -> RoaringBitmap {
        among.iter().filter(|slot| range.contains(&self.corpus.meta(*slot).time)).collect()
    }

    /// Documents of the files whose path is `wanted`.
    pub fn in_files(&self, wanted: impl Fn(&str) -> bool) -> RoaringBitmap {
        let mut set = RoaringBitmap::new();
        for note in self.corpus.notes().filter(|note| wanted(&note.row.path)) {
            set.insert_range(note.slots);
        }
        set
    }
}

/// Whether a word with this stem may begin so: a stem is the beginning of its word, but for its last letter.
fn may_begin(stem: &str, prefix: &str) -> bool {
    let last = stem.char_indices().next_back().map_or(0, |(at, _)| at);
    stem.starts_with(prefix)
        || prefix.starts_with(stem)
        || last > 1 && prefix.starts_with(&stem[..last])
        || IRREGULAR.iter().any(|(word, own)| stem == *own && word.starts_with(prefix))
}

/// Whether a section's headings have all of these words, in one form or another.
pub(super) fn has_all(analyzer: &mut Analyzer, section: &str, wanted: &[QueryWord]) -> bool {
    let there = query_words(analyzer, section);
    wanted.iter().all(|word| there.iter().any(|other| other.stem == word.stem))
}

#[cfg(test)]
mod tests;

/// One word as the index may hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// As written, folded.
    pub exact: String,
    /// Its stem; the same where there is none.
    pub stem: String,
    /// The form of the text that it came from.
    pub form: Form,
}

/// The words of `text`, each once, in order.
pub fn query_words(analyzer: &mut Analyzer, text: &str) -> Vec<QueryWord> {
    let mut words: Vec<QueryWord> = Vec::new();
    let mut previous_pair = String::new();
    analyzer.terms(text, &mut |form, exact, stem| {
        // The last character of a run is indexed for the sake of one-character queries alone.
        let tail = form == Form::Pair && exact.chars().nth(1).is_none() && previous_pair.ends_with(exact);
        previous_pair.clear();
        if form == Form::Pair && !tail {
            previous_pair.push_str(exact);
        }
        let word = QueryWord { exact: exact.to_owned(), stem: stem.unwrap_or(exact).to_owned(), form };
        if !tail && !words.contains(&word) {
            words.push(word);
        }
    });
    words
}

/// A word of a query to look for.
#[derive(Debug)]
pub enum WordMatcher {
    /// Any that begins so.
    Prefix(String),
    /// This one, or another with its stem.
    Form(QueryWord),
}

impl WordMatcher {
    /// A word; a lone character of a script without spaces begins pairs.
    pub fn of(word: QueryWord) -> Self {
        let is_lone = word.form == Form::Pair && word.exact.chars().nth(1).is_none();
        if is_lone { Self::Prefix(word.exact) } else { Self::Form(word) }
    }

    /// Whether a term of a text matches.
    pub fn is(&self, exact: &str, stem: Option<&str>) -> bool {
        match self {
            Self::Prefix(prefix) => exact.starts_with(prefix.as_str()),
            Self::Form(word) => *exact == word.exact || stem.unwrap_or(exact) == word.stem,
        }
    }
}

/// The matchers for the words of an item.
pub fn matchers(analyzer: &mut Analyzer, item: &Item) -> Vec<WordMatcher> {
    match item {
        Item::Prefix(text) => vec![WordMatcher::Prefix(fold(text))],
        Item::Words(text) | Item::Phrase(text) => {
            query_words(analyzer, text).into_iter().map(WordMatcher::of).collect()
        }
    }
}
