//! Applies a query's scopes (`project:ID`), filters, exclusions and phrases. It intersects sets of blocks from the
//! index, or reads a block's text if the index isn't precise enough.

use std::cell::RefCell;

use jiff::tz::TimeZone;
use roaring::{MultiOps, RoaringBitmap};

use crate::format::tags::is_sign;
use crate::memory::Scope;
use crate::search::Result;
use crate::search::analyze::{Analyzer, Form, fold, glob, is_mark};
use crate::search::query::{Filter, Item, Syntax};
use crate::search::read::Block;
use crate::search::retrieve::document_sets::has_all;
use crate::search::retrieve::{DocumentSets, QueryWord, WordMatcher, matchers, query_words};
use crate::search::store::Corpus;

/// A query's filters, exclusions and phrases at work.
pub struct Filters<'s> {
    corpus: &'s Corpus,
    /// The slots of the blocks that may pass; `None` if all living ones may.
    pub allowed: Option<RoaringBitmap>,
    analyzer: RefCell<Analyzer>,
    /// Conditions that only a block's text can tell: phrases that it has, and such that it has not.
    phrases: Vec<(String, bool)>,
    /// It has one of these, where there are some.
    any: Vec<WordMatcher>,
    /// It has no word that begins so.
    no_prefixes: Vec<String>,
    /// It stands below no heading with all of these.
    no_sections: Vec<Vec<QueryWord>>,
}

impl<'s> Filters<'s> {
    /// Those of `syntax`, in the files whose paths begin with one of `prefixes` (none means all), for blocks that
    /// belong to one of `scopes` (none means all); `zone` is that whose days `before:` and `after:` mean.
    ///
    /// # Errors
    /// tantivy's.
    pub fn new(
        corpus: &'s Corpus,
        zone: &TimeZone,
        prefixes: &[String],
        scopes: &[Scope],
        syntax: &Syntax,
    ) -> Result<Self> {
        let (allowed, analyzer, phrases, any, no_prefixes, no_sections) = Default::default();
        let mut this = Self { corpus, allowed, analyzer, phrases, any, no_prefixes, no_sections };
        if syntax.is_filtered() || !prefixes.is_empty() || !scopes.is_empty() {
            let mut sets = DocumentSets::new(corpus);
            let mut kept = this.filtered(&sets, syntax, zone, prefixes)?;
            if !scopes.is_empty() {
                let of_scopes: Result<Vec<_>, _> = scopes.iter().map(|scope| sets.in_scope(scope)).collect();
                kept &= of_scopes?.union();
            }
            this.words(&mut sets, syntax, &mut kept)?;
            this.allowed = Some(kept).filter(|kept| kept.len() < corpus.docs());
        }
        if syntax.phrases().next().is_none()
            && syntax.items.iter().any(|item| matches!(item, Item::Prefix(_)))
        {
            let analyzer = this.analyzer.get_mut();
            this.any = syntax.items.iter().flat_map(|item| matchers(analyzer, item)).collect();
        }
        Ok(this)
    }

    /// Whether a block's text must be looked at.
    pub fn needs_text(&self) -> bool {
        let Self { phrases, any, no_prefixes, no_sections, .. } = self;
        !(phrases.is_empty() && any.is_empty() && no_prefixes.is_empty() && no_sections.is_empty())
    }

    /// Whether they let the block in this slot through, as far as its slot tells.
    pub fn may_pass(&self, slot: u32) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(slot))
    }

    /// Whether they let a block through.
    ///
    /// # Errors
    /// tantivy's.
    pub fn pass(&self, slot: u32, block: &Block) -> Result<bool> {
        if !self.may_pass(slot) {
            return Ok(false);
        }
        if !self.needs_text() {
            return Ok(true);
        }
        let (text, extra) = self.corpus.text(slot)?;
        let (texts, analyzer) = ([&text, &extra], &mut *self.analyzer.borrow_mut());
        let holds = |phrase: &str| {
            let with_signs = phrase.contains(is_sign);
            texts.iter().any(|text| contains(&flat(text, with_signs), &flat(phrase, with_signs)))
        };
        if !self.phrases.iter().all(|(phrase, is_wanted)| holds(phrase) == *is_wanted) {
            return Ok(false);
        }
        let (mut has_any, mut has_none) = (self.any.is_empty(), true);
        if !(self.any.is_empty() && self.no_prefixes.is_empty()) {
            for text in texts {
                analyzer.terms(text, &mut |_, exact, stem| {
                    has_any |= self.any.iter().any(|wanted| wanted.is(exact, stem));
                    has_none &= !self.no_prefixes.iter().any(|prefix| exact.starts_with(prefix.as_str()));
                });
            }
        }
        let section = block.section.as_deref().unwrap_or_default();
        Ok(has_any && has_none && !self.no_sections.iter().any(|words| has_all(analyzer, section, words)))
    }

    /// The documents that scope and filters let through.
    fn filtered(
        &mut self,
        sets: &DocumentSets<'_>,
        syntax: &Syntax,
        zone: &TimeZone,
        prefixes: &[String],
    ) -> Result<RoaringBitmap> {
        let analyzer = self.analyzer.get_mut();
        let mut kept = sets.living();
        if !prefixes.is_empty() {
            kept &= sets.in_files(|path| prefixes.iter().any(|prefix| path.starts_with(prefix.as_str())));
        }
        // Several kinds, roles or paths widen; everything else narrows.
        let mut wide: [Option<RoaringBitmap>; 3] = Default::default();
        for (filter, negative) in &syntax.filters {
            let (set, group) = match filter {
                Filter::Kind(kind) => (sets.with_filter(&format!("kind:{kind}"))?, Some(0)),
                Filter::Role(role) => (sets.with_filter(&format!("role:{}", role.as_str()))?, Some(1)),
                Filter::Path(pattern) => {
                    let pattern = glob::Pattern::new(pattern);
                    (sets.in_files(|path| pattern.matches(path)), Some(2))
                }
                Filter::Tag(tag) => (sets.with_filter(&format!("tag:{tag}"))?, None),
                Filter::Section(text) => {
                    let words = query_words(analyzer, text);
                    if *negative {
                        // The few blocks that are looked at are asked for their headings.
                        self.no_sections.push(words);
                        continue;
                    }
                    (sets.below(analyzer, &words)?, None)
                }
                Filter::Before(date) => (sets.dated(&kept, i64::MIN + 1..instant(*date, zone)), None),
                Filter::After(date) => (sets.dated(&kept, instant(*date, zone)..i64::MAX), None),
            };
            match group {
                Some(group) if !negative => *wide[group].get_or_insert_default() |= set,
                _ if *negative => kept -= set,
                _ => kept &= set,
            }
        }
        wide.into_iter().flatten().for_each(|any| kept &= any);
        Ok(kept)
    }

    /// Keeps the documents that have the words and signs of all phrases, and leaves out those with a word that is not wanted. The
    /// texts are looked at afterwards, for phrases and for unwanted prefixes, compounds and phrases.
    fn words(
        &mut self,
        sets: &mut DocumentSets<'_>,
        syntax: &Syntax,
        kept: &mut RoaringBitmap,
    ) -> Result<()> {
        for text in syntax.phrases() {
            for word in query_words(self.analyzer.get_mut(), text) {
                if word.form != Form::Whole {
                    *kept &= sets.with(&WordMatcher::of(word))?;
                }
            }
            for sign in fold(text).chars().filter(|c| is_sign(*c)) {
                *kept &= sets.with_sign(sign)?;
            }
            self.phrases.push((text.to_owned(), true));
        }
        for item in &syntax.not {
            match (item, &matchers(self.analyzer.get_mut(), item)[..]) {
                (Item::Words(_), [word @ WordMatcher::Form(_)]) => *kept -= sets.with(word)?,
                (Item::Words(_) | Item::Prefix(_), [WordMatcher::Prefix(prefix)]) => {
                    self.no_prefixes.push(prefix.clone());
                }
                _ => self.phrases.push((item.text().to_owned(), false)),
            }
        }
        Ok(())
    }
}

/// The first second of a day; the last of all where the day is beyond what a timestamp can say.
fn instant(date: jiff::civil::Date, zone: &TimeZone) -> i64 {
    date.to_zoned(zone.clone()).map_or(i64::MAX, |at| at.timestamp().as_second())
}

/// Folded, with one space between words, of which each sign is one or none.
fn flat(text: &str, with_signs: bool) -> String {
    let mut flat = String::with_capacity(text.len());
    for c in fold(text).chars() {
        if c.is_alphanumeric() || is_mark(c) {
            flat.push(c);
            continue;
        }
        if !flat.ends_with(' ') {
            flat.push(' ');
        }
        if with_signs && is_sign(c) {
            flat.extend([c, ' ']);
        }
    }
    flat
}

/// Whether `phrase` stands in `text` at the bounds of words; scripts without spaces have no bounds.
fn contains(text: &str, phrase: &str) -> bool {
    let phrase = phrase.trim();
    if phrase.is_empty() {
        return false;
    }
    text.match_indices(phrase).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        let free = |outer: Option<char>, inner: Option<char>| {
            outer.is_none_or(|c| c == ' ') || inner.is_some_and(|c| c > '\u{e00}')
        };
        free(before, found.chars().next()) && free(after, found.chars().next_back())
    })
}

#[cfg(test)]
mod tests;
