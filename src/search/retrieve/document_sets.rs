//! Makes sets of documents: those that have a word, a tag, a time or a path.
//!
//! A view and terms come in; sets of the documents' numbers ([`View::number`]) go out. A set of a word may hold documents
//! that have another form of it; where that matters, [`crate::search::retrieve::filter`] looks at the text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;
use tantivy::Term;
use tantivy::schema::Field;

use crate::memory::Scope;
use crate::search::IndexError;
use crate::search::analyze::stems::{Terms, has_function_word};
use crate::search::analyze::text::{Analyzer, STEM, forms};
use crate::search::retrieve::query_words;
use crate::search::retrieve::query_words::{QueryWord, WordMatcher};
use crate::search::store::corpus::term_count::TermCount;
use crate::search::store::segment::schema::{Fields, MARKED, scope_filters};
use crate::search::store::view::{DocRef, Seg, View};

/// Words whose stem begins otherwise than they do, beyond its last letter.
const IRREGULAR: [(&str, &str); 3] = [("dying", "die"), ("lying", "lie"), ("tying", "tie")];

/// Makes sets of a view's documents, dead ones among them.
pub(in crate::search) struct DocumentSets<'a> {
    view: &'a View,
    fields: &'a Fields,
    stems: Terms,
}

impl<'a> DocumentSets<'a> {
    /// Those of `view`.
    pub fn new(view: &'a View, fields: &'a Fields) -> Self {
        Self { view, fields, stems: Terms::new() }
    }

    /// The segments, each with the number of its first document.
    fn segs(&self) -> impl Iterator<Item = (u32, &Seg)> {
        let number = |seg| self.view.number(DocRef { seg, doc: 0 });
        self.view.segs.iter().enumerate().map(move |(n, seg)| (number(n), &**seg))
    }

    /// Those that live.
    pub fn living(&self) -> RoaringBitmap {
        let mut living = RoaringBitmap::new();
        for (first, seg) in self.segs() {
            let docs = seg.reader.max_doc();
            living.insert_range(first..first + docs);
            if seg.alive.is_some() {
                (0..docs).filter(|doc| !seg.is_alive(*doc)).for_each(|doc| _ = living.remove(first + doc));
            }
        }
        living
    }

    /// Documents with an exact filter.
    pub fn with_filter(&self, filter: &str) -> Result<RoaringBitmap, IndexError> {
        self.with_any(self.fields.filter, &[filter.to_owned()])
    }

    /// Documents that belong to a scope of memories: its marks and those nested in it, or no mark of any.
    pub fn in_scope(&self, scope: &Scope) -> Result<RoaringBitmap, IndexError> {
        match scope_filters([scope]).next_back() {
            Some(filter) => self.with_filter(&filter),
            None => Ok(self.living() - self.with_filter(MARKED)?),
        }
    }

    /// Documents whose text has one of the terms; a title or heading doesn't count.
    fn with_any(&self, field: Field, terms: &[String]) -> Result<RoaringBitmap, IndexError> {
        let mut set = RoaringBitmap::new();
        for term in terms.iter().map(|term| Term::from_field_text(field, term)) {
            for (first, seg) in self.segs() {
                seg.each(&term, |doc, times| {
                    if field != self.fields.rank || TermCount(times).in_text() > 0 {
                        set.insert(first + doc);
                    }
                })?;
            }
        }
        Ok(set)
    }

    /// Documents whose text has, for ranking, one term of each of these.
    fn with_all(&self, parts: &[Vec<String>]) -> Result<RoaringBitmap, IndexError> {
        let mut all: Option<RoaringBitmap> = None;
        for terms in parts {
            let with = self.with_any(self.fields.rank, terms)?;
            all = Some(all.map_or_else(|| with.clone(), |all| all & &with));
        }
        Ok(all.unwrap_or_default())
    }

    /// Documents that may have what is wanted.
    pub fn with(&mut self, wanted: &WordMatcher) -> Result<RoaringBitmap, IndexError> {
        match wanted {
            WordMatcher::Prefix(prefix) => self.with_prefix(prefix),
            WordMatcher::Form(word) => self.with_word(word),
        }
    }

    /// Documents that have a word or, at least, a form of it.
    fn with_word(&mut self, word: &QueryWord) -> Result<RoaringBitmap, IndexError> {
        let set = self.with_any(self.fields.text, &forms(&word.exact, &word.stem))?;
        if has_function_word(&word.exact) {
            return Ok(set);
        }
        let parts = self.parts(&word.exact);
        Ok(set | self.with_all(&parts)?)
    }

    /// Documents that may have a word that begins so.
    fn with_prefix(&mut self, prefix: &str) -> Result<RoaringBitmap, IndexError> {
        // Of a compound all parts but the last are words.
        let (words, last) = prefix.rsplit_once(|c: char| !c.is_alphanumeric()).unwrap_or(("", prefix));
        let mut parts = self.parts(words);
        if !last.is_empty() {
            parts.push(self.terms(self.fields.rank, last)?);
        }
        let set = self.with_any(self.fields.text, &self.terms(self.fields.text, prefix)?)?;
        Ok(set | self.with_all(&parts)?)
    }

    /// The stem of each word of a compound.
    fn parts(&mut self, words: &str) -> Vec<Vec<String>> {
        let mut parts = Vec::new();
        self.stems.each(words, |stem| parts.push(vec![stem.to_owned()]));
        parts
    }

    /// The terms that words may have that begin so.
    fn terms(&self, field: Field, prefix: &str) -> Result<Vec<String>, IndexError> {
        let Some(first) = prefix.chars().next().filter(|first| *first != STEM) else { return Ok(Vec::new()) };
        let is_stem = field == self.fields.rank;
        // A stem is seldom as long as its word.
        let from = if is_stem { &prefix[..first.len_utf8()] } else { prefix };
        let mut found = Vec::new();
        for (_, seg) in self.segs() {
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
    pub fn below(&self, analyzer: &mut Analyzer, wanted: &[QueryWord]) -> Result<RoaringBitmap, IndexError> {
        let mut set = RoaringBitmap::new();
        let mut known: HashMap<Arc<str>, bool> = HashMap::new();
        for (first, seg) in self.segs() {
            let notes = seg.rows.notes().iter().enumerate();
            for (at, note) in notes.filter(|(_, note)| seg.is_alive(note.start)) {
                for (doc, block) in (note.start..).zip(seg.blocks(at)?) {
                    let Some(section) = block.section else { continue };
                    let is_below = known.entry(section);
                    if *is_below.or_insert_with_key(|section| has_all(analyzer, section, wanted)) {
                        set.insert(first + doc);
                    }
                }
            }
        }
        Ok(set)
    }

    /// Those of `among` that are dated within `range`.
    pub fn dated(&self, among: &RoaringBitmap, range: Range<i64>) -> RoaringBitmap {
        let mut set = RoaringBitmap::new();
        for (first, seg) in self.segs() {
            let docs = among.range(first..first + seg.reader.max_doc());
            set.extend(docs.filter(|number| range.contains(&seg.rows.meta((number - first) as usize).time)));
        }
        set
    }

    /// Documents of the files whose path begins with `prefix` and passes `wanted`.
    pub fn in_files(&self, prefix: &str, wanted: &dyn Fn(&str) -> bool) -> RoaringBitmap {
        let mut set = RoaringBitmap::new();
        for (first, seg) in self.segs() {
            let notes = seg.rows.notes().iter().filter(|note| seg.is_alive(note.start));
            for note in notes.filter(|note| note.path.starts_with(prefix) && wanted(&note.path)) {
                set.insert_range(first + note.start..first + note.start + note.count);
            }
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
pub(super) fn has_all(analyzer: &mut Analyzer, section: &str, wanted: &[query_words::QueryWord]) -> bool {
    let there = query_words::words(analyzer, section);
    wanted.iter().all(|word| there.iter().any(|other| other.stem == word.stem))
}

#[cfg(test)]
mod tests;
