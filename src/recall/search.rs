//! What is asked for ([`Recall::search`]) and what is given without asking ([`Recall::recall`]).

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::choose::{self, Injection, Memory};
use super::corpus::Corpus;
use super::engine::{Recall, RecallError, State};
use super::formula::Standing;
use super::question::Question;
use super::score::{self, Candidates, Near, Scores, Vectors};
use super::signal::{NEAR, NEAR_SPREADS, SURE_ENOUGH, weights};
use super::uses::Uses;
use super::within::Within;
use crate::index::syntax::{self, Item};
use crate::index::text::Analyzer;
use crate::index::{
    self, Answer, Freshness, Hit, IndexError, Query, Snapshot, Stored, is_pinned, scope_prefixes, snippet,
};
use crate::vault::NotePath;

/// Nobody needs more hits in one answer.
pub(super) const MOST_HITS: usize = 10_000;
/// Candidates for what is given without asking.
const POOL: usize = 24;
/// How many turns to either side an expansion gives.
const EXPANSION: usize = 2;
/// So many of the newest logs and days' notes are read for how often a memory served.
const MOST_LOGS: usize = 200;

/// What is given without asking.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Two to three lines; none where nothing is sure enough.
    pub digest: Option<String>,
    /// The memories, in the order given.
    pub hits: Vec<Hit>,
    /// The same as the block to inject.
    pub injection: Injection,
    /// How fresh the index was.
    pub freshness: Freshness,
    /// What a person should know.
    pub notes: Vec<String>,
}

impl Recalled {
    /// What a turn was given, as the text of a folded callout in its log: a link to each block, so that a
    /// person sees it and Obsidian's backlinks count how often a memory serves. Empty where nothing was given.
    pub fn links(&self) -> String {
        let lines = self.hits.iter().map(|hit| {
            let note = hit.path.strip_suffix(".md").unwrap_or(&hit.path);
            let place = hit.block_id.as_ref().map_or_else(String::new, |id| format!("#^{id}"));
            format!("- [[{note}{place}]] line {}", hit.line)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A block and how it ranks.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    slot: u32,
    score: f64,
    sure: f64,
}

/// Searches as [`Recall::search`] does.
///
/// # Errors
/// The index's.
pub fn search(recall: &Recall, query: &Query) -> Result<Answer, RecallError> {
    recall.search(query)
}

impl Recall {
    /// Answers a query in a place of the vault. A query with operators (phrases, filters, exclusions) is the
    /// index's alone: who writes one wants exactly that. A question (it ends with `?`) has none.
    ///
    /// # Errors
    /// The index's; a model that fails is a note in the answer.
    pub(super) fn search_place(&self, query: &Query) -> Result<Answer, RecallError> {
        let syntax = syntax::parse(crate::embed::cut(&query.text, super::question::LONGEST));
        let operators = syntax::Syntax { items: Vec::new(), notes: Vec::new(), ..syntax.clone() }
            != syntax::Syntax::default()
            || syntax.items.iter().any(|item| !matches!(item, Item::Words(_)));
        // A question in words may quote a title; what looks like an operator in it is none.
        let is_question = query.text.trim_end().ends_with('?') && query.text.split_whitespace().count() > 2;
        let nothing = syntax.items.is_empty() || query.limit == 0;
        if nothing || (operators && !is_question) {
            return Ok(self.index.search(query)?);
        }
        let freshness = self.sync()?;
        let state = self.read();
        let mut notes = if is_question { Vec::new() } else { syntax.notes };
        let limit = query.limit.min(MOST_HITS);
        let (ranked, has_notes) = self.rank(&state, &query.text, query.scope.as_deref(), limit, &mut notes);
        // What stands in notes is the index's to rank by words; meaning adds what it did not find.
        let mut by_words = None;
        if has_notes {
            let mut wide = query.clone();
            wide.limit = limit.max(50);
            by_words = Some(self.index.search(&wide)?);
        }
        let hits =
            self.index.snapshot(|snapshot| Finder::new(snapshot, &state, &query.text).hits(&ranked))?;
        let hits = match by_words {
            Some(answer) => merge(hits, answer.hits, limit),
            None => hits.into_iter().map(|(hit, _)| hit).collect(),
        };
        Ok(Answer { query: query.text.clone(), hits, notes, freshness })
    }

    /// The memories that help with `text`, if any does: for the prompt of a model that didn't ask.
    ///
    /// # Errors
    /// The index's; a model that fails is a note.
    pub fn recall(
        &self,
        text: &str,
        scope: Option<&str>,
        most_chars: usize,
        expand: bool,
    ) -> Result<Recalled, RecallError> {
        let freshness = self.sync()?;
        let state = self.read();
        let mut notes = Vec::new();
        let within = Within::of(scope);
        let most = if within.scopes.is_empty() { POOL } else { POOL * 8 };
        let (ranked, _) = self.rank(&state, text, within.place.as_deref(), most, &mut notes);
        let (mut found, mut pinned) = self.index.snapshot(|snapshot| {
            let finder = Finder::new(snapshot, &state, text);
            Ok((finder.hits(&ranked)?, finder.pinned()?))
        })?;
        found.retain(|(hit, _)| within.has(hit));
        found.truncate(POOL);
        pinned.retain(|hit| within.has(hit));
        let sure = found.iter().map(|(_, ranked)| ranked.sure).fold(0.0, f64::max) >= SURE_ENOUGH;
        let mut hits: Vec<Hit> = Vec::new();
        let mut memories: Vec<Memory> = Vec::new();
        let mut seen = HashSet::new();
        let uses = OnceCell::new();
        let given = |hit: &Hit| {
            !matches!(hit.kind, "heading" | "properties" | "pin" | "comment") && hit.role != Some("tool")
        };
        for (hit, ranked) in found {
            // Beside a sure find, weaker ones may stand that are about as likely.
            if (sure && ranked.sure >= SURE_ENOUGH * 0.5 && given(&hit) || hit.pinned)
                && seen.insert((hit.path.clone(), hit.line))
            {
                memories.push(memory(&state, &hit, ranked.sure * self.standing(&hit, &uses, &state.corpus)));
                hits.push(hit);
            }
        }
        for hit in pinned {
            if seen.insert((hit.path.clone(), hit.line)) {
                memories.push(memory(&state, &hit, 0.0));
                hits.push(hit);
            }
        }
        let order = choose::order(&memories, self.clock.now().as_second(), choose::MOST_MEMORIES);
        if expand {
            self.expand(&mut memories, &order)?;
        }
        let budget = self.settings.recall;
        let chosen = || order.iter().map(|at| &memories[*at]);
        let injection = Injection::new(chosen(), budget.budget_tokens, budget.memory_tokens);
        // A digest is about the question: pins alone make none.
        let relevant =
            order.iter().map(|at| &memories[*at]).filter(|memory| memory.similarity >= SURE_ENOUGH * 0.5);
        let digest = if sure { choose::digest(relevant, most_chars, &self.zone) } else { None };
        let mut by_place: Vec<Option<Hit>> = hits.into_iter().map(Some).collect();
        let hits = order.iter().filter_map(|at| by_place[*at].take()).collect();
        Ok(Recalled { digest, hits, injection, freshness, notes })
    }

    /// Ranks a scope's blocks; says whether blocks other than turns are among its candidates.
    fn rank(
        &self,
        state: &State,
        text: &str,
        scope: Option<&str>,
        most: usize,
        notes: &mut Vec<String>,
    ) -> (Vec<Ranked>, bool) {
        let today = self.clock.now().to_zoned(self.zone.clone()).date();
        let question = Question::new(text, today);
        let corpus = &state.corpus;
        if question.words.is_empty() || most == 0 {
            return (Vec::new(), false);
        }
        let prefixes = match scope.map(|scope| scope_prefixes(scope, self.index.options())) {
            Some(Ok(prefixes)) => prefixes,
            Some(Err(note)) => {
                notes.push(note);
                Vec::new()
            }
            None => Vec::new(),
        };
        let inside = |path: &str| {
            prefixes.is_empty() || prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()))
        };
        let candidates = Candidates::new(corpus, inside);
        if candidates.count == 0 {
            return (Vec::new(), false);
        }
        let asked = self.ask(&question.text, state, &candidates);
        notes.extend(asked.warning);
        let matrix = state.model.as_ref().filter(|_| !asked.is_builtin).map(|(_, matrix)| matrix);
        let vectors = asked.probe.as_ref().map(|probe| Vectors { matrix, probe });
        let near = if asked.is_builtin { Near::Cosine(NEAR) } else { Near::Spreads(NEAR_SPREADS) };
        let mut scores = Scores::new(weights(&question), near, corpus.len());
        score::signals(corpus, &candidates, &question, vectors, &self.zone, &mut scores);
        let best = scores.best(corpus, &candidates, most);
        let ranked = |slot: u32| Ranked {
            slot,
            score: f64::from(scores.of[slot as usize]),
            sure: scores.sureness(slot),
        };
        (best.into_iter().map(ranked).collect(), candidates.has_notes)
    }

    /// What a memory's own fields and its uses make of its similarity: 1 where it has no such field.
    fn standing(&self, hit: &Hit, uses: &OnceCell<Uses>, corpus: &Corpus) -> f64 {
        let now = self.clock.now();
        let days = |at: Timestamp| now.duration_since(at).as_secs_f64() / 86_400.0;
        let Some(mut standing) = Standing::from_fields(&hit.text, hit.timestamp.map_or(0.0, days)) else {
            return 1.0;
        };
        let used =
            hit.block_id.as_ref().and_then(|id| uses.get_or_init(|| self.uses(corpus)).of(&hit.path, id));
        if let Some(used) = used {
            standing.uses = used.times;
            standing.gap_days = used.gap_days;
            let last = Timestamp::from_second(used.last).map_or(0.0, days);
            standing.idle_days = standing.idle_days.min(last.max(0.0));
        }
        standing.multiplier()
    }

    /// What the newest logs and days' notes say was recalled. Read from the vault: the cache counts nothing.
    fn uses(&self, corpus: &Corpus) -> Uses {
        let options = self.index.options();
        let daily = format!("{}/", options.daily);
        let stem =
            |path: &str| path.rsplit('/').next().and_then(|name| name.strip_suffix(".md")).map(str::to_owned);
        let files = corpus.files().iter().filter(|file| file.alive).map(|file| file.path.as_str());
        let mut notes: Vec<(String, &str)> = files
            .filter(|path| options.is_log(path) || path.starts_with(&daily))
            .filter_map(|path| Some((stem(path)?.replace('-', ""), path)))
            .collect();
        // Both begin with their day.
        notes.sort_unstable_by(|a, b| b.cmp(a));
        let mut uses = Uses::default();
        for (_, path) in notes.into_iter().take(MOST_LOGS) {
            let bytes = NotePath::new(path).ok().and_then(|path| self.index.vault().read(&path).ok());
            let Some(bytes) = bytes else { continue };
            if options.is_log(path) {
                uses.add_log(&bytes);
            } else if let Some(day) = stem(path).and_then(|stem| stem.parse::<jiff::civil::Date>().ok()) {
                let time = day.at(12, 0, 0, 0).to_zoned(self.zone.clone());
                uses.add(&String::from_utf8_lossy(&bytes), time.map_or(0, |at| at.timestamp().as_second()));
            }
        }
        uses
    }

    /// Adds the turns beside each memory to its text, as far as an injected memory has room.
    fn expand(&self, memories: &mut [Memory], order: &[usize]) -> Result<(), RecallError> {
        let room = self.settings.recall.memory_tokens * choose::CHARS_PER_TOKEN;
        self.index
            .snapshot(|snapshot| {
                let mut texts = Vec::new();
                for at in order {
                    let memory = &memories[*at];
                    let blocks = blocks_of(snapshot, &memory.path)?;
                    let Some(here) = blocks.iter().position(|stored| stored.block.line == memory.line) else {
                        texts.push(None);
                        continue;
                    };
                    let range = here.saturating_sub(EXPANSION)..(here + EXPANSION + 1).min(blocks.len());
                    let said = snapshot
                        .texts(&blocks[range.clone()].iter().map(|stored| stored.at).collect::<Vec<_>>())?;
                    let lines: Vec<String> = range
                        .clone()
                        .zip(said)
                        .map(|(n, text)| {
                            let who = blocks[n].block.author.as_deref();
                            who.map_or(text.clone(), |who| format!("{who}: {text}"))
                        })
                        .collect();
                    texts.push(Some(widest(&lines, here - range.start, room)));
                }
                Ok(texts)
            })
            .map(|texts| {
                for (at, text) in order.iter().zip(texts) {
                    if let Some(text) = text {
                        memories[*at].text = text;
                        memories[*at].author = None;
                    }
                }
            })?;
        Ok(())
    }
}

/// The stretch of `lines` around `here` that fits `room` characters, growing by turns to either side.
fn widest(lines: &[String], here: usize, room: usize) -> String {
    let (mut from, mut to) = (here, here + 1);
    let fits = |from: usize, to: usize| {
        lines[from..to].iter().map(|line| line.chars().count() + 1).sum::<usize>() <= room + 1
    };
    loop {
        let before = from > 0 && fits(from - 1, to);
        from -= usize::from(before);
        let after = to < lines.len() && fits(from, to + 1);
        to += usize::from(after);
        if !before && !after {
            return lines[from..to].join("\n");
        }
    }
}

fn memory(state: &State, hit: &Hit, similarity: f64) -> Memory {
    let corpus = &state.corpus;
    let slot = corpus
        .file(&hit.path)
        .and_then(|file| file.slots.clone().find(|slot| corpus.meta(*slot).line == hit.line));
    Memory {
        path: hit.path.clone(),
        line: hit.line,
        text: hit.text.clone(),
        author: hit.author.clone(),
        time: hit.timestamp.map(Timestamp::as_second),
        pinned: hit.pinned,
        similarity,
        vector: slot.map_or_else(Vec::new, |slot| corpus.vector(slot)),
    }
}

/// Merges what the ranking found with what the index found by words. Turns keep the ranking's order, other
/// blocks the index's; where both go on, the better score by the ranking's measure is next.
fn merge(ranked: Vec<(Hit, Ranked)>, by_words: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let place = |hit: &Hit| (hit.path.clone(), hit.line);
    let known: HashMap<(String, u32), f64> =
        ranked.iter().map(|(hit, ranked)| (place(hit), ranked.score)).collect();
    let lowest = ranked.iter().map(|(_, ranked)| ranked.score).fold(f64::MAX, f64::min);
    let mut words: Vec<(Hit, f64)> = by_words
        .into_iter()
        .filter(|hit| hit.kind != "turn")
        .map(|hit| {
            let score = known.get(&place(&hit)).copied().unwrap_or(lowest);
            (hit, score)
        })
        .collect();
    // The index's order stands: nothing scores less than what comes after it.
    let mut most = f64::MIN;
    for (_, score) in words.iter_mut().rev() {
        most = most.max(*score);
        *score = most;
    }
    let found: HashSet<(String, u32)> = words.iter().map(|(hit, _)| place(hit)).collect();
    let mut turns: Vec<(Hit, f64)> = Vec::new();
    let mut meant: Vec<(Hit, f64)> = Vec::new();
    for (hit, ranked) in ranked {
        if hit.kind == "turn" {
            turns.push((hit, ranked.score));
        } else if !found.contains(&place(&hit)) {
            meant.push((hit, ranked.score));
        }
    }
    // What only meaning found comes after what words found, among the notes.
    let floor = words.last().map_or(f64::MAX, |(_, score)| *score);
    words.extend(meant.into_iter().map(|(hit, score)| (hit, score.min(floor))));
    let (mut turns, mut words) = (turns.into_iter().peekable(), words.into_iter().peekable());
    let mut out = Vec::with_capacity(limit);
    while out.len() < limit {
        let next = match (turns.peek(), words.peek()) {
            (Some((_, a)), Some((_, b))) if a >= b => turns.next(),
            (Some(_), None) => turns.next(),
            (_, Some(_)) => words.next(),
            (None, None) => break,
        };
        out.extend(next.map(|(mut hit, score)| {
            hit.score = (score * 1e6).round() / 1e6;
            hit
        }));
    }
    out
}

fn blocks_of(snapshot: &Snapshot<'_>, path: &str) -> Result<Vec<Stored>, IndexError> {
    let (blocks, rows) = snapshot.blocks(Some(path))?;
    let id = rows.values().find(|row| row.path == path).map(|row| row.id);
    Ok(blocks.into_iter().filter(|stored| Some(stored.file) == id).collect())
}

/// Makes hits of slots.
struct Finder<'a> {
    snapshot: &'a Snapshot<'a>,
    state: &'a State,
    query: &'a str,
}

impl<'a> Finder<'a> {
    fn new(snapshot: &'a Snapshot<'a>, state: &'a State, query: &'a str) -> Self {
        Self { snapshot, state, query }
    }

    fn pins(&self) -> Result<HashSet<(String, String)>, IndexError> {
        Ok(self.snapshot.pins()?.into_iter().collect())
    }

    fn hits(&self, ranked: &[Ranked]) -> Result<Vec<(Hit, Ranked)>, IndexError> {
        let corpus = &self.state.corpus;
        let mut notes: HashMap<&str, Vec<Stored>> = HashMap::new();
        let mut found = Vec::with_capacity(ranked.len());
        for ranked in ranked {
            let path = corpus.file_at(ranked.slot).path.as_str();
            if !notes.contains_key(path) {
                notes.insert(path, blocks_of(self.snapshot, path)?);
            }
            let first = corpus.file_at(ranked.slot).slots.start;
            // Blocks and slots of a note are in the same order.
            let stored = notes[path].get((ranked.slot - first) as usize);
            if let Some(stored) = stored.filter(|stored| stored.block.line == corpus.meta(ranked.slot).line) {
                found.push((path.to_owned(), stored.clone(), *ranked));
            }
        }
        let texts = self.snapshot.texts(&found.iter().map(|(_, stored, _)| stored.at).collect::<Vec<_>>())?;
        let pins = self.pins()?;
        let mut maker = Maker::new(self.query);
        Ok(found
            .into_iter()
            .zip(texts)
            .map(|((path, stored, ranked), text)| {
                (maker.hit(path, stored, text, ranked.score, &pins), ranked)
            })
            .collect())
    }

    /// The blocks that pins link to, and pinned texts.
    fn pinned(&self) -> Result<Vec<Hit>, IndexError> {
        let pins = self.pins()?;
        let mut wanted: Vec<String> = Vec::new();
        for file in self.state.corpus.files().iter().filter(|file| file.alive) {
            let path = file.path.strip_suffix(".md").unwrap_or(&file.path);
            let name = path.rsplit('/').next().unwrap_or(path);
            if pins.iter().any(|(pin, _)| pin == path || pin == name) {
                wanted.push(file.path.clone());
            }
        }
        let mut maker = Maker::new(self.query);
        let mut hits = Vec::new();
        for path in wanted {
            let blocks = blocks_of(self.snapshot, &path)?;
            let is = |stored: &Stored| {
                stored.block.block_id.as_ref().is_some_and(|id| is_pinned(&pins, &path, id))
            };
            let blocks: Vec<Stored> = blocks.into_iter().filter(is).collect();
            let texts = self.snapshot.texts(&blocks.iter().map(|stored| stored.at).collect::<Vec<_>>())?;
            hits.extend(
                blocks
                    .into_iter()
                    .zip(texts)
                    .map(|(stored, text)| maker.hit(path.clone(), stored, text, 0.0, &pins)),
            );
        }
        Ok(hits)
    }
}

struct Maker {
    analyzer: Analyzer,
    stems: HashSet<String>,
}

impl Maker {
    fn new(query: &str) -> Self {
        let mut analyzer = Analyzer::new();
        let mut stems = HashSet::new();
        for word in index::terms::words(&mut analyzer, query) {
            stems.insert(word.exact);
            stems.insert(word.stem);
        }
        Self { analyzer, stems }
    }

    fn hit(
        &mut self,
        path: String,
        stored: Stored,
        text: String,
        score: f64,
        pins: &HashSet<(String, String)>,
    ) -> Hit {
        let block = stored.block;
        let pinned = block.block_id.as_ref().is_some_and(|id| is_pinned(pins, &path, id));
        Hit {
            path,
            line: block.line,
            end_line: block.end_line,
            kind: block.kind.as_str(),
            section: block.section.as_deref().map(str::to_owned),
            timestamp: block.time.and_then(|time| Timestamp::from_second(time).ok()),
            score: (score * 1e6).round() / 1e6,
            snippet: snippet::snippet(&mut self.analyzer, &text, &self.stems),
            text,
            role: block.role.map(index::Role::as_str),
            author: block.author.as_deref().map(str::to_owned),
            context_id: block.context_id.as_deref().map(str::to_owned),
            block_id: block.block_id,
            tags: block.tags,
            pinned,
        }
    }
}
