//! Runs a typed query: parses it once, and finds its documents.
//!
//! The query and a snapshot come in; the best documents go out, or the newest if only filters were typed.

use roaring::RoaringBitmap;

use super::{Found, Tier};
use crate::search::analyze::text::Analyzer;
use crate::search::follow::snapshot::Snapshot;
use crate::search::query::syntax;
use crate::search::query::syntax::Syntax;
use crate::search::retrieve::bm25::{Scored, top};
use crate::search::retrieve::filter::Setting;
use crate::search::retrieve::{filter, terms};
use crate::search::store::view::{DocRef, View};
use crate::search::{IndexError, Query};

/// Longer queries are cut, in bytes.
pub(super) const LONGEST: usize = 10_000;

/// A query at work.
pub(super) struct ParsedQuery<'a> {
    query: &'a Query,
    pub(super) syntax: Syntax,
    prefixes: Vec<String>,
    zone: &'a jiff::tz::TimeZone,
    analyzer: Analyzer,
}

impl<'a> ParsedQuery<'a> {
    pub(super) fn new(query: &'a Query, snapshot: &'a Snapshot<'_>) -> Result<Self, IndexError> {
        let mut end = query.text.len().min(LONGEST);
        while !query.text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &query.text[..end];
        let mut syntax = if syntax::is_question(text) { syntax::question(text) } else { syntax::parse(text) };
        if end < query.text.len() {
            syntax.notes.push(format!("only the first {LONGEST} bytes were searched for"));
        }
        let prefixes = snapshot.scope(query.scope.as_deref())?;
        let zone = &snapshot.options().zone;
        Ok(Self { query, syntax, prefixes, zone, analyzer: Analyzer::new() })
    }

    /// The best documents.
    pub(super) fn find(&mut self, snapshot: &Snapshot<'_>, limit: usize) -> Result<Vec<Found>, IndexError> {
        let (conn, view, fields) = (snapshot.database(), snapshot.view(), snapshot.fields());
        let setting = Setting { zone: self.zone, prefixes: self.prefixes.clone() };
        let Syntax { items, notes, .. } = &mut self.syntax;
        let clauses = terms::clauses(view, fields, &mut self.analyzer, items, notes)?;
        let allowed = filter::allowed(view, fields, &mut self.analyzer, &self.syntax, &setting)?;
        let check = filter::needs_text(&self.syntax, &mut self.analyzer);
        let mut most = if check { limit.saturating_mul(4).max(64) } else { limit };
        loop {
            let scored = if !clauses.is_empty() {
                top(view, fields, &clauses, allowed.as_ref(), most)?
            } else if self.syntax.items.is_empty() && !self.query.text.trim().is_empty() {
                newest(view, allowed.as_ref(), most)
            } else {
                Vec::new()
            };
            let exhausted = scored.len() < most;
            let mut found = Vec::with_capacity(limit.min(scored.len()));
            for scored in scored {
                if found.len() == limit {
                    break;
                }
                let (file, mut block) = view.resolve(conn, scored.at)?;
                if check {
                    (block.text, block.extra) = view.text(scored.at)?;
                    if !filter::passes(&self.syntax, &mut self.analyzer, &block) {
                        continue;
                    }
                    (block.text, block.extra) = Default::default();
                }
                found.push(Found { at: scored.at, score: scored.score, file, block, tier: Tier::Word });
            }
            if found.len() >= limit || exhausted {
                return Ok(found);
            }
            most = most.saturating_mul(4);
        }
    }
}

/// The allowed documents, newest first: what filters without words ask for.
fn newest(view: &View, allowed: Option<&RoaringBitmap>, most: usize) -> Vec<Scored> {
    let mut all = Vec::new();
    let mut number = 0;
    for (n, seg) in view.segs.iter().enumerate() {
        for doc in 0..seg.reader.max_doc() {
            if allowed.map_or_else(|| seg.is_alive(doc), |allowed| allowed.contains(number)) {
                let (time, tie) = (seg.rows.meta(doc as usize).time, seg.rows.tie(doc as usize));
                all.push(Scored { score: 0.0, time, tie, at: DocRef { seg: n, doc } });
            }
            number += 1;
        }
    }
    all.sort_by(Scored::rank);
    all.truncate(most);
    all
}
