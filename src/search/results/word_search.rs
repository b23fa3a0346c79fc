//! Answers a query by its words alone, without vectors ([`crate::search::Index::search`]): finds the query's words,
//! phrases and prefixes in the index, and applies the query's filters.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use crate::search::follow::Snapshot;
use crate::search::query::{Item, LONGEST_QUERY, MOST_HITS, SearchScope, Syntax, beginning, syntax};
use crate::search::results::search::is_in;
use crate::search::results::{FoundBlock, HitMaker, find_block};
use crate::search::retrieve::{Clause, DocumentSets, Filters, clauses, top};
use crate::search::store::{FileRow, catalog};
use crate::search::{Answer, Hit, Index, IndexError, Options, Query, Result};

/// The most files that are named as not searched.
const NAMED: usize = 3;

impl Index {
    /// Answers a query from the whole vault as it is on disk now, and says how fresh the answer is.
    ///
    /// The same vault and query give the same hits in the same order with the same scores, whatever
    /// happened to the index before.
    ///
    /// # Errors
    /// There is no index yet and the vault can't be read either, or the cache fails and making it anew
    /// doesn't help.
    pub fn search(&self, query: &Query) -> Result<Answer> {
        self.answer(&|_| true, |snapshot| {
            let within = SearchScope { place: query.scope.clone(), scopes: Vec::new() };
            let (found, notes) = snapshot.find(query, &within, query.limit.min(MOST_HITS))?;
            let (hits, bases) = snapshot.give(&query.text, found)?;
            let freshness = snapshot.freshness.clone();
            Ok((Answer { query: query.text.clone(), hits, notes, freshness, reranked: None }, Some(bases)))
        })
    }
}

/// The path prefixes that a scope stands for; none means everywhere. Whether there is such a folder or note,
/// [`Snapshot::scope`] says.
fn scope_prefixes(scope: &str, options: &Options) -> Vec<String> {
    let logs = &options.logs;
    let (kind, rest) = scope.split_once(':').unwrap_or((scope, ""));
    match (kind, rest) {
        ("all" | "", "") => Vec::new(),
        ("logs", "") => vec![format!("{logs}/")],
        ("memory", "") => vec![options.memory.clone(), options.pinned.clone(), format!("{}/", options.daily)],
        ("daily", "") => vec![format!("{}/", options.daily)],
        ("sessions", "") => vec![options.sessions()],
        ("channel", id) if !id.is_empty() => vec![format!("{logs}/discord-channel/{id}/")],
        ("thread", id) if !id.is_empty() => vec![format!("{logs}/discord-thread/{id}/")],
        _ => {
            let place = scope.trim_start_matches("./").trim_start_matches('/');
            if place.is_empty() || place.ends_with('/') {
                return vec![place.to_owned()];
            }
            let mut prefixes = vec![format!("{place}/"), format!("{place}.md")];
            prefixes.extend((options.takes(place) == Ok(true)).then(|| place.to_owned()));
            prefixes
        }
    }
}

/// The beginnings of paths that read like one of the prefixes, with their accents as the paths have them: one
/// character, or a letter and its accent. In the order of the paths, each once.
fn as_they_stand(prefixes: &[String], paths: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for prefix in prefixes.iter().filter(|prefix| !prefix.is_ascii()) {
        let wanted: String = prefix.nfc().collect();
        let is_meant =
            |path: &&String| !path.is_ascii() && path.nfc().collect::<String>().starts_with(&wanted);
        for path in paths.iter().filter(is_meant) {
            let ends = path.char_indices().map(|(at, _)| at).chain([path.len()]);
            // The last end that fits: an accent belongs to its letter.
            let end = ends.rev().find(|end| path[..*end].nfc().eq(wanted.chars()));
            let beginning = end.map(|end| &path[..end]);
            if let Some(beginning) = beginning.filter(|it| !found.iter().any(|known| known == it)) {
                found.push(beginning.to_owned());
            }
        }
    }
    found
}

impl Snapshot<'_> {
    /// The `most` best blocks for a query, best first, and what was not understood of it, for a person. In a question,
    /// quotes and `*` are no operators.
    ///
    /// # Errors
    /// tantivy's and SQLite's; an unknown scope.
    pub(in crate::search) fn find(
        &self,
        query: &Query,
        within: &SearchScope,
        most: usize,
    ) -> Result<(Vec<FoundBlock>, Vec<String>)> {
        let text = beginning(&query.text, LONGEST_QUERY);
        let mut syntax = if syntax::is_question(text) { syntax::question(text) } else { syntax::parse(text) };
        if text.len() < query.text.len() {
            syntax.notes.push(format!("only the first {LONGEST_QUERY} bytes were searched for"));
        }
        let prefixes = self.scope(within.place.as_deref())?;
        if syntax.items.is_empty() && !syntax.is_filtered() {
            return Ok((Vec::new(), syntax.notes));
        }
        let Syntax { items, notes, .. } = &mut syntax;
        let clauses = clauses(&mut DocumentSets::new(&self.corpus), items, notes)?;
        // A phrase has to stand in a block; of other items any does.
        let all = items.is_empty() || items.iter().any(|item| matches!(item, Item::Phrase(_)));
        let filters = Filters::new(&self.corpus, &self.options.zone, &prefixes, &within.scopes, &syntax)?;
        let found = self.passing(&clauses, &filters, all, most)?;
        Ok((found, syntax.notes))
    }

    /// The `limit` best blocks that pass: of `all`, or of those with a word.
    fn passing(
        &self,
        clauses: &[Clause],
        filters: &Filters<'_>,
        all: bool,
        limit: usize,
    ) -> Result<Vec<FoundBlock>> {
        let (corpus, allowed) = (&self.corpus, filters.allowed.as_ref());
        let mut most = if filters.needs_text() { limit.saturating_mul(4).max(64) } else { limit };
        loop {
            let scored = top(corpus, clauses, allowed, all, most)?;
            let is_all = scored.len() < most;
            let mut found = Vec::with_capacity(limit.min(scored.len()));
            for (slot, score) in scored {
                if found.len() < limit {
                    found.extend(find_block(self, (slot, f64::from(score)), filters)?);
                }
            }
            if found.len() >= limit || is_all {
                return Ok(found);
            }
            most = most.saturating_mul(4);
        }
    }

    /// The path prefixes that a scope stands for, which may be several places with commas between; none means everywhere.
    ///
    /// # Errors
    /// There is no such folder or note; SQLite's.
    pub fn scope(&self, scope: Option<&str>) -> Result<Vec<String>> {
        let Some(scope) = scope else { return Ok(Vec::new()) };
        let prefixes = scope_prefixes(scope, self.options);
        // The agent's own new notes may be missing yet.
        if prefixes.is_empty()
            || prefixes.iter().any(|prefix| self.options.is_own(prefix))
            || self.begins(&prefixes)?
        {
            return Ok(prefixes);
        }
        let parts = scope.split(',').map(str::trim).filter(|part| !part.is_empty());
        if scope.contains(',') && parts.clone().next().is_some() {
            let places = parts.map(|part| self.scope(Some(part))).collect::<Result<Vec<_>, _>>()?;
            let is_all = places.iter().any(Vec::is_empty);
            return Ok(if is_all { Vec::new() } else { places.concat() });
        }
        let paths: Vec<String> = self.notes();
        let same = as_they_stand(&prefixes, &paths);
        if !same.is_empty() {
            return Ok(same);
        }
        let folder = |path: &String| path.split_once('/').map(|(folder, _)| format!("`{folder}`"));
        let mut folders: Vec<String> = paths.iter().filter_map(folder).collect();
        folders.dedup();
        folders.truncate(20);
        let kinds = "all, logs, sessions, memory, daily, channel:ID, thread:ID, global, project:ID, agent:ID, user:ID, custom:NAME";
        let there = match &folders[..] {
            [] => format!("{kinds}, and notes by their path"),
            folders => format!("{kinds}, notes by their path, and the folders {}", folders.join(", ")),
        };
        Err(IndexError::Scope { scope: scope.to_owned(), there })
    }

    /// How many files of a scope are left out of the index for their size or form, and a sentence that names them.
    ///
    /// # Errors
    /// As [`Snapshot::scope`].
    pub fn not_searched(&self, scope: Option<&str>) -> Result<(usize, Option<String>)> {
        let prefixes = self.scope(scope)?;
        let mut files = BTreeMap::new();
        self.each_file(|file| {
            if is_in(&prefixes, &file.path) {
                files.extend(file.skipped.map(|why| (file.path, why)));
            }
        })?;
        let named: Vec<String> =
            files.iter().take(NAMED).map(|(path, why)| format!("`{path}` ({why})")).collect();
        let (count, named) = (files.len(), named.join(", "));
        let were = if count == 1 { "file was" } else { "files were" };
        let others = if count > NAMED { " and others; `vault-agent doctor` names them all" } else { "" };
        let words = format!("nothing found, but {count} {were} not searched: {named}{others}");
        Ok((count, (count > 0).then_some(words)))
    }

    /// Whether the path of any note begins with one of these.
    fn begins(&self, prefixes: &[String]) -> Result<bool> {
        for prefix in prefixes {
            let mut newer = self.corpus.newer.values().flatten();
            if newer.any(|file| file.path.starts_with(prefix)) || catalog::begins(self.database(), prefix)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The hits of found blocks for a query, and what the answer rests on.
    ///
    /// # Errors
    /// tantivy's and SQLite's.
    pub fn give(&self, query: &str, found: Vec<FoundBlock>) -> Result<(Vec<Hit>, Vec<FileRow>)> {
        let bases = found.iter().map(|found| found.file.clone()).collect();
        let mut maker = self.maker(query)?;
        let hits = found.into_iter().map(|found| maker.hit(self, found)).collect::<Result<_, _>>()?;
        Ok((hits, bases))
    }

    /// Makes hits of blocks that were found for a query.
    ///
    /// # Errors
    /// SQLite's.
    pub fn maker(&self, query: &str) -> Result<HitMaker> {
        Ok(HitMaker::new(beginning(query, LONGEST_QUERY), self.pins()?))
    }
}
