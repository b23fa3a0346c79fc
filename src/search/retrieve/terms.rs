//! Turns a parsed query into the terms that are scored.
//!
//! A word is looked up by its stem; its exact form counts besides, so that exact matches come first. A compound counts
//! as its parts and once more as a whole. A prefix stands for the most frequent words that begin so.

use std::collections::HashMap;

use tantivy::Term;
use tantivy::schema::Field;

use crate::search::IndexError;
use crate::search::analyze::text::{Analyzer, Form, STEM, fold};
use crate::search::query::syntax::Item;
use crate::search::retrieve::bm25::{Clause, idf};
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::View;
use crate::search::weights::EXACT;

/// A prefix stands for at most so many words.
const EXPANSIONS: usize = 32;
/// Of a very long query so many terms are scored, the rarest.
const MOST: usize = 96;

/// One word as the index may hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As written, folded.
    pub exact: String,
    /// Its stem; the same where there is none.
    pub stem: String,
    /// What it came from.
    pub form: Form,
}

/// The words of `text`, each once, in order.
pub fn words(analyzer: &mut Analyzer, text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut previous_pair = String::new();
    analyzer.terms(text, &mut |form, exact, stem| {
        // The last character of a run is indexed for the sake of one-character queries alone.
        let tail = form == Form::Pair && exact.chars().nth(1).is_none() && previous_pair.ends_with(exact);
        previous_pair.clear();
        if form == Form::Pair && !tail {
            previous_pair.push_str(exact);
        }
        let word = Word { exact: exact.to_owned(), stem: stem.unwrap_or(exact).to_owned(), form };
        if !tail && !words.contains(&word) {
            words.push(word);
        }
    });
    words
}

/// Whether a word is a single character of a script without spaces, which stands for all pairs that
/// begin with it.
pub fn is_lone(word: &Word) -> bool {
    word.form == Form::Pair && word.exact.chars().nth(1).is_none()
}

/// The scored terms of `items`; what was left out is said in `notes`, for a person.
pub fn clauses(
    view: &View,
    fields: &Fields,
    analyzer: &mut Analyzer,
    items: &[Item],
    notes: &mut Vec<String>,
) -> Result<Vec<Clause>, IndexError> {
    let mut found = ScoredTerms { clauses: Vec::new(), places: HashMap::new() };
    let all = view.totals.docs;
    for item in items {
        let (Item::Words(text) | Item::Phrase(text) | Item::Prefix(text)) = item;
        if matches!(item, Item::Prefix(_)) {
            notes.extend(expand(view, fields, &mut found, &fold(text))?);
            continue;
        }
        for word in words(analyzer, text) {
            if is_lone(&word) {
                notes.extend(expand(view, fields, &mut found, &word.exact)?);
                continue;
            }
            let plain = Fields::term(fields.text, &word.stem, false);
            let marked = Fields::term(fields.text, &word.stem, true);
            let (of_plain, of_marked) = (view.doc_freq(&plain)?, view.doc_freq(&marked)?);
            let group = idf((of_plain + of_marked).min(all), all);
            found.add(plain, group, of_plain);
            found.add(marked, group, of_marked);
            let exact = Fields::term(fields.text, &word.exact, false);
            let of_exact = if word.exact == word.stem { of_plain } else { view.doc_freq(&exact)? };
            found.add(exact, EXACT * idf(of_exact, all), of_exact);
        }
    }
    let mut clauses = found.clauses;
    if clauses.len() > MOST {
        notes.push(format!("it has very many words; the rarest {MOST} were searched for"));
        clauses.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.term.cmp(&b.term)));
        clauses.truncate(MOST);
    }
    Ok(clauses)
}

struct ScoredTerms {
    clauses: Vec<Clause>,
    places: HashMap<Term, usize>,
}

impl ScoredTerms {
    fn add(&mut self, term: Term, weight: f64, docs: u64) {
        if docs == 0 {
            return;
        }
        match self.places.get(&term) {
            Some(place) => self.clauses[*place].weight += weight,
            None => {
                self.places.insert(term.clone(), self.clauses.len());
                self.clauses.push(Clause { term, weight, docs });
            }
        }
    }
}

/// Adds the living words that begin with `prefix`, and says so where they are not all.
fn expand(
    view: &View,
    fields: &Fields,
    found: &mut ScoredTerms,
    prefix: &str,
) -> Result<Option<String>, IndexError> {
    let mut words = prefixed(view, fields.text, prefix)?;
    words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let left_out = (words.len() > EXPANSIONS).then(|| {
        let count = words.len();
        format!("{count} words begin with `{prefix}`; the {EXPANSIONS} most frequent were searched for, write more of it")
    });
    words.truncate(EXPANSIONS);
    let all = view.totals.docs;
    let group = idf(words.iter().map(|(_, docs)| docs).sum::<u64>().min(all), all);
    for (term, docs) in words {
        found.add(term, group, docs);
    }
    Ok(left_out)
}

/// The living exact forms that begin with `prefix`, and how many documents hold each.
pub fn prefixed(view: &View, field: Field, prefix: &str) -> Result<Vec<(Term, u64)>, IndexError> {
    let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
    if prefix.is_empty() || prefix.starts_with(STEM) {
        return Ok(Vec::new());
    }
    for seg in &view.segs {
        let inverted = seg.reader.inverted_index(field)?;
        let mut stream = inverted
            .terms()
            .range()
            .ge(prefix.as_bytes())
            .into_stream()
            .map_err(tantivy::TantivyError::from)?;
        while stream.advance() && stream.key().starts_with(prefix.as_bytes()) {
            *counts.entry(stream.key().to_owned()).or_default() += u64::from(stream.value().doc_freq);
        }
    }
    let mut living = Vec::with_capacity(counts.len());
    for (key, _) in counts {
        let Ok(text) = std::str::from_utf8(&key) else { continue };
        let term = Term::from_field_text(field, text);
        let docs = view.doc_freq(&term)?;
        if docs > 0 {
            living.push((term, docs));
        }
    }
    Ok(living)
}
