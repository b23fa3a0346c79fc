//! Applies the filters of a query, as sets of documents, and the checks that need a block's text.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use roaring::RoaringBitmap;
use tantivy::Term;

use crate::search::IndexError;
use crate::search::analyze::glob;
use crate::search::analyze::text::{Analyzer, Form, fold};
use crate::search::query::syntax::{Filter, Item, Syntax};
use crate::search::read::block::Block;
use crate::search::retrieve::terms;
use crate::search::retrieve::terms::{is_lone, prefixed};
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::{DocRef, Seg, View};

/// A query's filters, exclusions and phrases at work.
pub struct Filters<'s> {
    view: &'s View,
    syntax: &'s Syntax,
    /// The documents that may pass, by [`View::number`]; `None` if all living ones may.
    pub allowed: Option<RoaringBitmap>,
    /// Where a block's text must be looked at.
    check: Option<RefCell<Analyzer>>,
}

impl<'s> Filters<'s> {
    /// Those of `syntax`, in the files whose paths begin with one of `prefixes` (none means all); `zone` is that whose days
    /// `before:` and `after:` mean.
    ///
    /// # Errors
    /// tantivy's.
    pub fn new(
        view: &'s View,
        fields: &Fields,
        zone: &TimeZone,
        prefixes: &[String],
        syntax: &'s Syntax,
    ) -> Result<Self, IndexError> {
        let mut analyzer = Analyzer::new();
        let allowed = allowed(view, fields, &mut analyzer, syntax, zone, prefixes)?;
        let check = needs_text(syntax, &mut analyzer);
        Ok(Self { view, syntax, allowed, check: check.then(|| RefCell::new(analyzer)) })
    }

    /// Whether a block's text must be looked at.
    pub fn needs_text(&self) -> bool {
        self.check.is_some()
    }

    /// Whether they let a block through.
    ///
    /// # Errors
    /// tantivy's.
    pub fn pass(&self, at: DocRef, block: &Block) -> Result<bool, IndexError> {
        if self.allowed.as_ref().is_some_and(|allowed| !allowed.contains(self.view.number(at))) {
            return Ok(false);
        }
        let Some(analyzer) = &self.check else { return Ok(true) };
        let (text, extra) = self.view.text(at)?;
        let section = block.section.as_deref().unwrap_or_default();
        Ok(passes(self.syntax, &mut analyzer.borrow_mut(), [&text, &extra], section))
    }
}

/// The documents that `syntax` allows.
fn allowed(
    view: &View,
    fields: &Fields,
    analyzer: &mut Analyzer,
    syntax: &Syntax,
    zone: &TimeZone,
    prefixes: &[String],
) -> Result<Option<RoaringBitmap>, IndexError> {
    let phrases = syntax.items.iter().any(|item| matches!(item, Item::Phrase(_)));
    if !syntax.is_filtered() && prefixes.is_empty() && !phrases {
        return Ok(None);
    }
    let sets = Sets { view, fields };
    let mut kept = sets.living();
    if !prefixes.is_empty() {
        let inside = |path: &str| prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()));
        let common = if let [only] = prefixes { only.as_str() } else { "" };
        kept &= sets.in_files(common, &inside);
    }
    // Several kinds, roles or paths widen; everything else narrows.
    let mut wide: [Option<RoaringBitmap>; 3] = Default::default();
    for (filter, negative) in &syntax.filters {
        let (set, group) = match filter {
            Filter::Kind(kind) => (sets.with_filter(&format!("kind:{kind}"))?, Some(0)),
            Filter::Role(role) => (sets.with_filter(&format!("role:{}", role.as_str()))?, Some(1)),
            Filter::Path(pattern) => {
                let pattern = glob::Pattern::new(pattern);
                (sets.in_files("", &|path| pattern.matches(path)), Some(2))
            }
            Filter::Tag(tag) => (sets.with_filter(&format!("tag:{tag}"))?, None),
            Filter::Section(text) => {
                // Which of them it is not, the check of their texts says.
                if *negative { (RoaringBitmap::new(), None) } else { (sets.below(analyzer, text)?, None) }
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
    for item in &syntax.items {
        if let Item::Phrase(text) = item {
            kept &= sets.with_words(analyzer, text)?;
        }
    }
    for item in &syntax.not {
        kept -= sets.excluded(analyzer, item)?;
    }
    Ok(Some(kept))
}

/// The first second of a day; the last of all where the day is beyond what a timestamp can say.
fn instant(date: jiff::civil::Date, zone: &TimeZone) -> i64 {
    date.to_zoned(zone.clone()).map_or(i64::MAX, |at| at.timestamp().as_second())
}

/// Makes sets of a view's documents, dead ones among them.
struct Sets<'a> {
    view: &'a View,
    fields: &'a Fields,
}

impl Sets<'_> {
    /// The segments, each with the number of its first document.
    fn segs(&self) -> impl Iterator<Item = (u32, &Seg)> {
        let number = |seg| self.view.number(DocRef { seg, doc: 0 });
        self.view.segs.iter().enumerate().map(move |(n, seg)| (number(n), &**seg))
    }

    fn living(&self) -> RoaringBitmap {
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

    fn with_filter(&self, filter: &str) -> Result<RoaringBitmap, IndexError> {
        self.with_any(&[Term::from_field_text(self.fields.filter, filter)])
    }

    fn with_any(&self, terms: &[Term]) -> Result<RoaringBitmap, IndexError> {
        let mut set = RoaringBitmap::new();
        for (first, seg) in self.segs() {
            for term in terms {
                seg.each(term, |doc| {
                    set.insert(first + doc);
                })?;
            }
        }
        Ok(set)
    }

    fn with_prefix(&self, prefix: &str) -> Result<RoaringBitmap, IndexError> {
        let words = prefixed(self.view, self.fields.text, prefix)?;
        self.with_any(&words.into_iter().map(|(term, _)| term).collect::<Vec<_>>())
    }

    /// Documents that hold every word of `text` in its exact form.
    fn with_words(&self, analyzer: &mut Analyzer, text: &str) -> Result<RoaringBitmap, IndexError> {
        let mut all: Option<RoaringBitmap> = None;
        for word in terms::words(analyzer, text).iter().filter(|word| word.form != Form::Whole) {
            let set = if is_lone(word) {
                self.with_prefix(&word.exact)?
            } else {
                // `the universe's` is `the universe`, too; the text is looked at afterwards.
                let owner = format!("{}'s", word.exact);
                self.with_any(
                    &[&word.exact, &owner].map(|exact| Fields::term(self.fields.text, exact, false)),
                )?
            };
            all = Some(all.map_or_else(|| set.clone(), |all| all & &set));
        }
        Ok(all.unwrap_or_default())
    }

    /// Documents with a word that is not wanted. A compound or a phrase is checked with the text.
    fn excluded(&self, analyzer: &mut Analyzer, item: &Item) -> Result<RoaringBitmap, IndexError> {
        let (Item::Words(text) | Item::Phrase(text) | Item::Prefix(text)) = item;
        if matches!(item, Item::Prefix(_)) {
            return self.with_prefix(&fold(text));
        }
        let [word] = &terms::words(analyzer, text)[..] else { return Ok(RoaringBitmap::new()) };
        let term = |text: &str, is_stem| Fields::term(self.fields.text, text, is_stem);
        self.with_any(&[term(&word.stem, false), term(&word.stem, true), term(&word.exact, false)])
    }

    /// Documents below a heading with all words of `text`.
    fn below(&self, analyzer: &mut Analyzer, text: &str) -> Result<RoaringBitmap, IndexError> {
        let mut set = RoaringBitmap::new();
        let wanted = terms::words(analyzer, text);
        let mut known: HashMap<Arc<str>, bool> = HashMap::new();
        for (first, seg) in self.segs() {
            let notes = seg.rows.notes().iter().enumerate();
            for (at, note) in notes.filter(|(_, note)| seg.is_alive(note.start)) {
                for (doc, block) in (note.start..).zip(seg.blocks(at)?) {
                    let Some(section) = block.section else { continue };
                    let is_below = known.entry(section);
                    if *is_below.or_insert_with_key(|section| has_all(analyzer, section, &wanted)) {
                        set.insert(first + doc);
                    }
                }
            }
        }
        Ok(set)
    }

    /// Those of `among` that are dated within `range`.
    fn dated(&self, among: &RoaringBitmap, range: std::ops::Range<i64>) -> RoaringBitmap {
        let mut set = RoaringBitmap::new();
        for (first, seg) in self.segs() {
            let docs = among.range(first..first + seg.reader.max_doc());
            set.extend(docs.filter(|number| range.contains(&seg.rows.meta((number - first) as usize).time)));
        }
        set
    }

    /// Documents of the files whose path begins with `prefix` and passes `wanted`.
    fn in_files(&self, prefix: &str, wanted: &dyn Fn(&str) -> bool) -> RoaringBitmap {
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

/// Whether `syntax` has conditions that only a block's text can tell.
fn needs_text(syntax: &Syntax, analyzer: &mut Analyzer) -> bool {
    syntax.items.iter().any(|item| matches!(item, Item::Phrase(_)))
        || syntax.filters.iter().any(|(filter, _)| matches!(filter, Filter::Section(_)))
        || syntax.not.iter().any(|item| match item {
            Item::Words(text) | Item::Phrase(text) => terms::words(analyzer, text).len() != 1,
            Item::Prefix(_) => false,
        })
}

/// Checks what only the text can tell: phrases word by word, and sections.
fn passes(syntax: &Syntax, analyzer: &mut Analyzer, texts: [&str; 2], section: &str) -> bool {
    let texts = texts.map(flat);
    let holds = |phrase: &str| {
        let phrase = flat(phrase);
        texts.iter().any(|text| contains(text, &phrase))
    };
    syntax.items.iter().all(|item| if let Item::Phrase(phrase) = item { holds(phrase) } else { true })
        && syntax.not.iter().all(|item| match item {
            Item::Words(words) | Item::Phrase(words) if terms::words(analyzer, words).len() != 1 => {
                !holds(words)
            }
            _ => true,
        })
        && syntax.filters.iter().all(|(filter, negative)| match filter {
            Filter::Section(words) => {
                let wanted = terms::words(analyzer, words);
                has_all(analyzer, section, &wanted) != *negative
            }
            _ => true,
        })
}

/// Whether a section's headings have all of these words, in one form or another.
fn has_all(analyzer: &mut Analyzer, section: &str, wanted: &[terms::Word]) -> bool {
    let there = terms::words(analyzer, section);
    wanted.iter().all(|word| there.iter().any(|other| other.stem == word.stem))
}

/// Folded, with one space between words.
fn flat(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    for c in fold(text).chars() {
        if c.is_alphanumeric() {
            flat.push(c);
        } else if !flat.ends_with(' ') {
            flat.push(' ');
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
