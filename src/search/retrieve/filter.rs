//! Which documents may be answers: the filters of a query as sets of documents, and the checks that
//! need a block's text.

use rusqlite::Connection;
use tantivy::postings::Postings;
use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, DocSet, TERMINATED, Term};

use crate::search::IndexError;
use crate::search::analyze::glob;
use crate::search::analyze::text::{Analyzer, fold};
use crate::search::query::syntax::{Filter, Item, Syntax};
use crate::search::read::block::{Block, Kind};
use crate::search::retrieve::terms;
use crate::search::retrieve::terms::{is_lone, prefixed};
use crate::search::store::catalog;
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::View;

/// What filters need to know beside the index.
#[derive(Debug)]
pub struct Setting<'a> {
    /// The zone whose days `before:` and `after:` mean.
    pub zone: &'a jiff::tz::TimeZone,
    /// Only files whose path begins with one of these; none means all.
    pub prefixes: Vec<String>,
}

/// The documents, one set a segment, that `syntax` allows; `None` if all living ones are.
pub fn allowed(
    view: &View,
    conn: &Connection,
    fields: &Fields,
    analyzer: &mut Analyzer,
    syntax: &Syntax,
    setting: &Setting<'_>,
) -> Result<Option<Vec<BitSet>>, IndexError> {
    let phrases = syntax.items.iter().any(|item| matches!(item, Item::Phrase(_)));
    if syntax.filters.is_empty() && syntax.not.is_empty() && setting.prefixes.is_empty() && !phrases {
        return Ok(None);
    }
    let mut sets = Sets { view, conn, fields, sets: living(view) };
    if !setting.prefixes.is_empty() {
        let prefixes = &setting.prefixes;
        let inside = |path: &str| prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()));
        let common = if let [only] = &prefixes[..] { only.as_str() } else { "" };
        let within = sets.in_files(common, &inside)?;
        sets.keep(within, true);
    }
    // Several kinds, roles or paths widen; everything else narrows.
    let mut wide: [Vec<Vec<BitSet>>; 3] = Default::default();
    for (filter, negative) in &syntax.filters {
        let (set, group) = match filter {
            Filter::Kind(kind) => (sets.with_filter(&format!("kind:{kind}"))?, Some(0)),
            Filter::Role(role) => (sets.with_filter(&format!("role:{}", role.as_str()))?, Some(1)),
            Filter::Path(pattern) => {
                let pattern = glob::Pattern::new(pattern);
                (sets.in_files("", &|path| pattern.matches(path))?, Some(2))
            }
            Filter::Tag(tag) => (sets.with_filter(&format!("tag:{tag}"))?, None),
            Filter::Section(text) => {
                let words = terms::words(analyzer, text);
                let stems: Vec<Term> =
                    words.iter().map(|word| Fields::term(fields.head, &word.stem, false)).collect();
                // Logs and memory have no head; their sections are checked with the text.
                if *negative { (sets.none(), None) } else { (sets.or_headless(&stems)?, None) }
            }
            Filter::Before(date) => (sets.dated(i64::MIN + 1..instant(*date, setting.zone))?, None),
            Filter::After(date) => (sets.dated(instant(*date, setting.zone)..i64::MAX)?, None),
        };
        match group {
            Some(group) if !negative => wide[group].push(set),
            _ => sets.keep(set, !negative),
        }
    }
    for group in wide.into_iter().filter(|group| !group.is_empty()) {
        let mut any = sets.none();
        for (seg, any) in any.iter_mut().enumerate() {
            for doc in group.iter().flat_map(|sets| each(&sets[seg])) {
                any.insert(doc);
            }
        }
        sets.keep(any, true);
    }
    for item in &syntax.items {
        if let Item::Phrase(text) = item {
            let set = sets.with_words(analyzer, text)?;
            sets.keep(set, true);
        }
    }
    without(&mut sets, analyzer, &syntax.not)?;
    Ok(Some(sets.sets))
}

/// Takes out of `sets` what has one of these words.
fn without(sets: &mut Sets<'_>, analyzer: &mut Analyzer, items: &[Item]) -> Result<(), IndexError> {
    let Sets { view, conn, fields, .. } = *sets;
    for item in items {
        let (Item::Words(text) | Item::Phrase(text) | Item::Prefix(text)) = item;
        let set = match item {
            Item::Prefix(_) => {
                let words = prefixed(view, conn, fields.text, &fold(text))?;
                sets.with_any(words.into_iter().map(|(term, _)| term).collect())?
            }
            // A compound or a phrase is checked with the text.
            _ => match &terms::words(analyzer, text)[..] {
                [word] => sets.with_any(vec![
                    Fields::term(fields.text, &word.stem, false),
                    Fields::term(fields.text, &word.stem, true),
                    Fields::term(fields.text, &word.exact, false),
                ])?,
                _ => continue,
            },
        };
        sets.keep(set, false);
    }
    Ok(())
}

/// Whether any living block is of this kind.
pub fn has_kind(view: &View, fields: &Fields, kind: Kind) -> Result<bool, IndexError> {
    let term = Term::from_field_text(fields.filter, &format!("kind:{kind}"));
    for seg in &view.segs {
        let found = seg.reader.inverted_index(term.field())?.read_postings(&term, IndexRecordOption::Basic);
        let Some(mut found) = found.map_err(tantivy::TantivyError::from)? else { continue };
        while found.doc() != TERMINATED {
            if seg.is_alive(found.doc()) {
                return Ok(true);
            }
            found.advance();
        }
    }
    Ok(false)
}

/// The living documents of each segment.
pub fn living(view: &View) -> Vec<BitSet> {
    view.segs
        .iter()
        .map(|seg| seg.alive.clone().unwrap_or_else(|| BitSet::with_max_value_and_full(seg.reader.max_doc())))
        .collect()
}

/// The documents in `set`.
pub fn each(set: &BitSet) -> impl Iterator<Item = u32> + '_ {
    (0..set.max_value().div_ceil(64)).flat_map(move |bucket| {
        let mut tiny = set.tinyset(bucket);
        std::iter::from_fn(move || tiny.pop_lowest()).map(move |low| bucket * 64 + low)
    })
}

fn instant(date: jiff::civil::Date, zone: &jiff::tz::TimeZone) -> i64 {
    date.to_zoned(zone.clone()).map_or(0, |at| at.timestamp().as_second())
}

struct Sets<'a> {
    view: &'a View,
    conn: &'a Connection,
    fields: &'a Fields,
    sets: Vec<BitSet>,
}

impl Sets<'_> {
    fn none(&self) -> Vec<BitSet> {
        self.view.segs.iter().map(|seg| BitSet::with_max_value(seg.reader.max_doc())).collect()
    }

    /// Keeps what is in `other` (or, if not `inside`, what is not). The cost is that of `other`, which is small where
    /// somebody looks for little.
    fn keep(&mut self, other: Vec<BitSet>, inside: bool) {
        for (set, mut other) in self.sets.iter_mut().zip(other) {
            if !inside {
                each(&other).for_each(|doc| set.remove(doc));
                continue;
            }
            let drop: Vec<u32> = each(&other).filter(|doc| !set.contains(*doc)).collect();
            drop.into_iter().for_each(|doc| other.remove(doc));
            *set = other;
        }
    }

    fn collect(&self, query: &dyn Query) -> Result<Vec<BitSet>, IndexError> {
        let weight = query.weight(EnableScoring::disabled_from_schema(&self.fields.schema))?;
        let mut sets = self.none();
        for (seg, set) in self.view.segs.iter().zip(&mut sets) {
            let mut scorer = weight.scorer(&seg.reader, 1.0)?;
            let mut doc = scorer.doc();
            while doc != TERMINATED {
                set.insert(doc);
                doc = scorer.advance();
            }
        }
        Ok(sets)
    }

    fn with_filter(&self, filter: &str) -> Result<Vec<BitSet>, IndexError> {
        self.with_any(vec![Term::from_field_text(self.fields.filter, filter)])
    }

    fn with_any(&self, terms: Vec<Term>) -> Result<Vec<BitSet>, IndexError> {
        let parts = terms.into_iter().map(|term| {
            let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::Basic));
            (Occur::Should, query)
        });
        self.collect(&BooleanQuery::new(parts.collect()))
    }

    /// Documents that hold every word of `text` in its exact form.
    fn with_words(&self, analyzer: &mut Analyzer, text: &str) -> Result<Vec<BitSet>, IndexError> {
        let mut all: Option<Vec<BitSet>> = None;
        for word in terms::words(analyzer, text)
            .iter()
            .filter(|word| word.form != crate::search::analyze::text::Form::Whole)
        {
            let set = if is_lone(word) {
                let words = prefixed(self.view, self.conn, self.fields.text, &word.exact)?;
                self.with_any(words.into_iter().map(|(term, _)| term).collect())?
            } else {
                // `the universe's` is `the universe`, too; the text is looked at afterwards.
                let owner = format!("{}'s", word.exact);
                self.with_any(
                    [&word.exact, &owner].map(|exact| Fields::term(self.fields.text, exact, false)).into(),
                )?
            };
            match &mut all {
                None => all = Some(set),
                Some(all) => {
                    for (all, set) in all.iter_mut().zip(&set) {
                        let drop: Vec<u32> = each(all).filter(|doc| !set.contains(*doc)).collect();
                        drop.into_iter().for_each(|doc| all.remove(doc));
                    }
                }
            }
        }
        Ok(all.unwrap_or_else(|| self.none()))
    }

    /// Documents of the sections whose head holds `stem`.
    fn below(&self, stem: &Term) -> Result<Vec<BitSet>, IndexError> {
        let mut sets = self.none();
        for (seg, set) in self.view.segs.iter().zip(&mut sets) {
            let inverted = seg.reader.inverted_index(stem.field())?;
            let found = inverted.read_postings(stem, IndexRecordOption::WithFreqs);
            let Some(mut sections) = found.map_err(tantivy::TantivyError::from)? else { continue };
            while sections.doc() != TERMINATED {
                // The last of the section's blocks, and how many they are.
                let (last, blocks) = (sections.doc(), sections.term_freq());
                ((last + 1).saturating_sub(blocks)..=last).for_each(|doc| {
                    set.insert(doc);
                });
                sections.advance();
            }
        }
        Ok(sets)
    }

    /// Documents whose head holds all `stems`, and those of the kinds that have none.
    fn or_headless(&self, stems: &[Term]) -> Result<Vec<BitSet>, IndexError> {
        let mut sets = match stems {
            [] => self.none(),
            [first, ..] => self.below(first)?,
        };
        for stem in stems.iter().skip(1) {
            for (set, also) in sets.iter_mut().zip(self.below(stem)?) {
                let drop: Vec<u32> = each(set).filter(|doc| !also.contains(*doc)).collect();
                drop.into_iter().for_each(|doc| set.remove(doc));
            }
        }
        for kind in ["kind:memory", "kind:turn", "kind:daily", "kind:pin"] {
            for (set, more) in sets.iter_mut().zip(self.with_filter(kind)?) {
                each(&more).for_each(|doc| {
                    set.insert(doc);
                });
            }
        }
        Ok(sets)
    }

    fn dated(&self, range: std::ops::Range<i64>) -> Result<Vec<BitSet>, IndexError> {
        let mut sets = self.none();
        for ((seg, set), now) in self.view.segs.iter().zip(&mut sets).zip(&self.sets) {
            let columns = seg.kept.columns(&seg.reader)?;
            for doc in each(now).filter(|doc| range.contains(&columns.time(*doc))) {
                set.insert(doc);
            }
        }
        Ok(sets)
    }

    /// Documents of the files whose path begins with `prefix` and passes `wanted`.
    fn in_files(&self, prefix: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<BitSet>, IndexError> {
        let mut sets = self.none();
        let files: std::collections::HashSet<i64> = catalog::paths(self.conn, prefix)?
            .into_iter()
            .filter(|(id, path)| !self.view.hidden.contains(id) && wanted(path))
            .map(|(id, _)| id)
            .collect();
        let few = files.len() < 500;
        for (seg, set) in self.view.segs.iter().zip(&mut sets) {
            if seg.id == 0 {
                for memory in seg.memory.iter().filter(|memory| wanted(&memory.file.path)) {
                    (memory.run.start..memory.run.start + memory.run.count).for_each(|doc| {
                        set.insert(doc);
                    });
                }
            } else if !few {
                for (_, file, start, count) in catalog::places(self.conn, seg.id)? {
                    if files.contains(&file) {
                        (start..start + count).for_each(|doc| {
                            set.insert(doc);
                        });
                    }
                }
            }
        }
        if few {
            for file in files {
                for run in catalog::runs_of(self.conn, file)? {
                    if let Some(n) = self.view.segs.iter().position(|seg| seg.id == run.segment) {
                        (run.start..run.start + run.count).for_each(|doc| {
                            sets[n].insert(doc);
                        });
                    }
                }
            }
        }
        Ok(sets)
    }
}

/// Whether `syntax` has conditions that only a block's text can tell.
pub fn needs_text(syntax: &Syntax, analyzer: &mut Analyzer) -> bool {
    syntax.items.iter().any(|item| matches!(item, Item::Phrase(_)))
        || syntax.filters.iter().any(|(filter, _)| matches!(filter, Filter::Section(_)))
        || syntax.not.iter().any(|item| match item {
            Item::Words(text) | Item::Phrase(text) => terms::words(analyzer, text).len() != 1,
            Item::Prefix(_) => false,
        })
}

/// Checks what only the text can tell: phrases word by word, and sections.
pub fn passes(syntax: &Syntax, analyzer: &mut Analyzer, block: &Block) -> bool {
    let text = flat(&block.text);
    let extra = flat(&block.extra);
    let holds = |phrase: &str| {
        let phrase = flat(phrase);
        contains(&text, &phrase) || contains(&extra, &phrase)
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
                let section = block.section.as_deref().unwrap_or_default();
                let there = terms::words(analyzer, section);
                let all =
                    terms::words(analyzer, words).iter().all(|w| there.iter().any(|t| t.stem == w.stem));
                all != *negative
            }
            _ => true,
        })
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
