//! From a query to an answer.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::vault::NotePath;

use super::block::Block;
use super::catalog::{self, FileRow};
use super::filter::{self, Setting};
use super::scan;
use super::score::{Columns, Scored};
use super::snippet;
use super::store::Store;
use super::syntax::{self, Item, Syntax};
use super::terms;
use super::text::Analyzer;
use super::topk;
use super::view::{DocRef, View};
use super::{Answer, CheckedBy, Freshness, Hit, Index, IndexError, Options, Query};

/// Longer queries are cut, in bytes.
const LONGEST: usize = 10_000;
/// Before it says that there is nothing, a process looks at every file itself, at most so often.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Nobody needs more hits in one answer.
const MOST_HITS: usize = 10_000;

impl Index {
    /// Answers a query from the whole vault as it is on disk now, and says how fresh the answer is.
    ///
    /// The same vault and query give the same hits in the same order with the same scores, whatever
    /// happened to the index before.
    ///
    /// # Errors
    /// There is no index yet and the vault can't be read either, or the cache fails and making it anew
    /// doesn't help.
    pub fn search(&self, query: &Query) -> Result<Answer, IndexError> {
        match self.healing(|store| self.search_in(store, query)) {
            Err(error) if error.is_full_or_read_only() => {
                let store = Store::in_memory(&self.root, &self.options.fingerprint(), error.to_string())?;
                self.search_in(&store, query)
            }
            answer => answer,
        }
    }

    fn search_in(&self, store: &Store, query: &Query) -> Result<Answer, IndexError> {
        let (conn, mut view, mut freshness) = self.fresh(store)?;
        // A hit whose file is other than the index knows: look at that file, then once more.
        for _ in 0..3 {
            let mut asked = Asked::new(query, &self.options);
            let found = asked.find(store, &conn, &view)?;
            let stale = if freshness.checked_by == CheckedBy::Daemon {
                self.stale(&view, &found)
            } else {
                Vec::new()
            };
            let suspects = if !stale.is_empty() {
                scan::suspects_at(&conn, &self.vault, &self.options, &stale)?
            } else if found.is_empty() && freshness.checked_by == CheckedBy::Daemon && self.may_look() {
                // A dead watcher is no reason to say that there is nothing.
                freshness.checked_by = CheckedBy::Scan;
                self.scan(&conn, &view)?
            } else {
                Vec::new()
            };
            if suspects.is_empty() {
                return asked.answer(&conn, found, freshness);
            }
            view = self.look_through(store, &conn, view, suspects, &mut freshness)?;
        }
        let mut asked = Asked::new(query, &self.options);
        let found = asked.find(store, &conn, &view)?;
        freshness.complete = false;
        asked.answer(&conn, found, freshness)
    }

    /// Whether it is time to look at every file once more before an empty answer.
    fn may_look(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = looked.is_none_or(|at| at.elapsed() > LOOK_EVERY);
        if due {
            *looked = Some(Instant::now());
        }
        due
    }

    /// The files among the hits that changed although nobody said so.
    fn stale(&self, view: &View, found: &[Found]) -> Vec<String> {
        let mut seen = HashSet::new();
        found
            .iter()
            .filter(|hit| view.segs[hit.at.seg].id != 0 && seen.insert(hit.file.id))
            .filter(|hit| {
                let stat =
                    NotePath::new(&hit.file.path).ok().and_then(|path| self.vault.stat(&path).ok().flatten());
                // A vault that isn't there says nothing about its files.
                match stat {
                    Some(stat) => stat.size != hit.file.size || stat.mtime_ns != hit.file.mtime,
                    None => self.vault.is_present(),
                }
            })
            .map(|hit| hit.file.path.clone())
            .collect()
    }
}

/// The path prefixes that a scope stands for, and a note where it stands for nothing known.
pub fn scope_prefixes(scope: &str, options: &Options) -> Result<Vec<String>, String> {
    let logs = &options.logs;
    let (kind, rest) = scope.split_once(':').unwrap_or((scope, ""));
    Ok(match (kind, rest) {
        ("all" | "", "") => Vec::new(),
        ("logs", "") => vec![format!("{logs}/")],
        ("memory", "") => vec![options.memory.clone(), options.pinned.clone(), format!("{}/", options.daily)],
        ("daily", "") => vec![format!("{}/", options.daily)],
        ("channel", id) if !id.is_empty() => vec![format!("{logs}/discord-channel/{id}/")],
        ("thread", id) if !id.is_empty() => vec![format!("{logs}/discord-thread/{id}/")],
        ("user", _) => return Err(format!("`{scope}` is no place in the vault; searched everywhere")),
        _ => vec![scope.trim_start_matches("./").trim_start_matches('/').to_owned()],
    })
}

/// A found document, resolved.
struct Found {
    at: DocRef,
    score: f64,
    file: FileRow,
    block: Block,
}

/// A query at work.
struct Asked<'a> {
    query: &'a Query,
    syntax: Syntax,
    prefixes: Vec<String>,
    zone: &'a jiff::tz::TimeZone,
    analyzer: Analyzer,
    stems: HashSet<String>,
}

impl<'a> Asked<'a> {
    fn new(query: &'a Query, options: &'a Options) -> Self {
        let mut end = query.text.len().min(LONGEST);
        while !query.text.is_char_boundary(end) {
            end -= 1;
        }
        let mut syntax = syntax::parse(&query.text[..end]);
        if end < query.text.len() {
            syntax.notes.push(format!("only the first {LONGEST} bytes were searched for"));
        }
        let prefixes = match query.scope.as_deref().map(|scope| scope_prefixes(scope, options)) {
            Some(Ok(prefixes)) => prefixes,
            Some(Err(note)) => {
                syntax.notes.push(note);
                Vec::new()
            }
            None => Vec::new(),
        };
        Self {
            query,
            syntax,
            prefixes,
            zone: &options.zone,
            analyzer: Analyzer::new(),
            stems: HashSet::new(),
        }
    }

    /// The best documents.
    fn find(&mut self, store: &Store, conn: &Connection, view: &View) -> Result<Vec<Found>, IndexError> {
        let limit = self.query.limit.min(MOST_HITS);
        let fields = &store.fields;
        let setting = Setting { zone: self.zone, prefixes: self.prefixes.clone() };
        let clauses = terms::clauses(view, conn, fields, &mut self.analyzer, &self.syntax.items)?;
        for item in &self.syntax.items {
            let (Item::Words(text) | Item::Phrase(text) | Item::Prefix(text)) = item;
            for word in terms::words(&mut self.analyzer, text) {
                self.stems.insert(word.exact);
                self.stems.insert(word.stem);
            }
        }
        let allowed = filter::allowed(view, conn, fields, &mut self.analyzer, &self.syntax, &setting)?;
        let check = filter::needs_text(&self.syntax, &mut self.analyzer);
        let mut most = if check { limit.saturating_mul(4).max(64) } else { limit };
        loop {
            let scored = if !clauses.is_empty() {
                topk::top(view, fields, &clauses, allowed.as_deref(), most)?
            } else if self.syntax.items.is_empty() && !self.query.text.trim().is_empty() {
                newest(view, allowed.as_deref(), most)?
            } else {
                Vec::new()
            };
            let exhausted = scored.len() < most;
            let mut found = Vec::with_capacity(limit.min(scored.len()));
            for scored in scored {
                if found.len() == limit {
                    break;
                }
                let (file, block) = view.resolve(conn, scored.at)?;
                if !check || filter::passes(&self.syntax, &mut self.analyzer, &block) {
                    found.push(Found { at: scored.at, score: scored.score, file, block });
                }
            }
            if found.len() >= limit || exhausted {
                return Ok(found);
            }
            most = most.saturating_mul(4);
        }
    }

    fn answer(
        mut self,
        conn: &Connection,
        found: Vec<Found>,
        freshness: Freshness,
    ) -> Result<Answer, IndexError> {
        let pins: HashSet<(String, String)> = catalog::pins(conn)?.into_iter().collect();
        let hits = found.into_iter().map(|found| {
            let block = found.block;
            let pinned = block.block_id.as_ref().is_some_and(|id| is_pinned(&pins, &found.file.path, id));
            Hit {
                path: found.file.path,
                line: block.line,
                end_line: block.end_line,
                kind: block.kind.as_str(),
                section: block.section.as_deref().map(str::to_owned),
                timestamp: block.time.and_then(|time| jiff::Timestamp::from_second(time).ok()),
                score: (found.score * 1e6).round() / 1e6,
                snippet: snippet::snippet(&mut self.analyzer, &block.text, &self.stems),
                text: block.text,
                role: block.role.map(super::Role::as_str),
                author: block.author.as_deref().map(str::to_owned),
                context_id: block.context_id.as_deref().map(str::to_owned),
                block_id: block.block_id,
                tags: block.tags,
                pinned,
            }
        });
        Ok(Answer {
            query: self.query.text.clone(),
            hits: hits.collect(),
            notes: self.syntax.notes,
            freshness,
        })
    }
}

/// Whether a block is pinned: by its path, or by the note's name alone, as Obsidian shortens links.
pub fn is_pinned(pins: &HashSet<(String, String)>, path: &str, block_id: &str) -> bool {
    if pins.is_empty() {
        return false;
    }
    let path = path.strip_suffix(".md").unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    let id = block_id.to_owned();
    pins.contains(&(path.to_owned(), id.clone())) || pins.contains(&(name.to_owned(), id))
}

/// The allowed documents, newest first: what filters without words ask for.
fn newest(view: &View, allowed: Option<&[tantivy::BitSet]>, most: usize) -> Result<Vec<Scored>, IndexError> {
    let living;
    let allowed = match allowed {
        Some(allowed) => allowed,
        None => {
            living = filter::living(view);
            &living
        }
    };
    let mut all = Vec::new();
    for (n, seg) in view.segs.iter().enumerate() {
        let columns = Columns::open(&seg.reader)?;
        for doc in filter::each(&allowed[n]) {
            let (time, tie) = (columns.time(doc), columns.tie(doc));
            all.push(Scored { score: 0.0, time, tie, at: DocRef { seg: n, doc } });
        }
    }
    all.sort_by(Scored::rank);
    all.truncate(most);
    Ok(all)
}
