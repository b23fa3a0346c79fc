//! Recalls memories for a prompt ([`Recall::recall`]): the few that help with it, if any, and the pinned ones.

use std::cell::{LazyCell, OnceCell};
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::search::query::{LONGEST_QUERY, MOST_HITS, SearchScope, Syntax, beginning, syntax};
use crate::search::rank::{Measured, RecallCounts, Standing};
use crate::search::read::{folded, is_below, names_of_path};
use crate::search::recall::{CorpusState, Recall};
use crate::search::results::rating::{HELPS, POOL, RatedBlock, rate_blocks};
use crate::search::results::search::is_in;
use crate::search::results::{
    Injection, Memory, Rater, Rating, injection, outdated_facts, pinned_blocks, words_of,
};
use crate::search::retrieve::Filters;
use crate::search::store::Corpus;
use crate::search::weights::LEAST_CONFIDENCE;
use crate::search::{FoundBlock, Freshness, Hit, Kind, Result, Role, Snapshot, Stored};
use crate::vault::NotePath;

/// Of so many times as many, those are looked at that are no echo.
const WIDER: usize = 16;
/// How many turns to either side an expansion gives.
const EXPANSION: usize = 2;
/// The number of the newest logs and daily notes in which a memory's uses are counted.
const MOST_LOGS: usize = 200;

/// The memories for a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// Two to three lines; none where the confidence is too low.
    pub digest: Option<String>,
    /// The memories, in the order given.
    pub hits: Vec<Hit>,
    /// The same as the block to inject.
    pub injection: Injection,
    /// The freshness of the index.
    pub freshness: Freshness,
    /// Warnings for a person.
    pub notes: Vec<String>,
}

impl Recalled {
    /// The returned memories as the text of a folded callout in the log of a turn: a link to each block, so that a
    /// person sees it and Obsidian's backlinks count how often a memory serves. Empty where nothing was given.
    pub fn links(&self) -> String {
        let lines = self.hits.iter().map(|hit| {
            let note = hit.path.strip_suffix(".md").unwrap_or(&hit.path);
            let place = hit.block_id.as_ref().map_or_else(String::new, |id| format!("#^{id}"));
            format!("- [[{note}{place}]] line {}", hit.line)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The hits that are about the question; the others come along because they are pinned.
    pub fn about(self) -> impl Iterator<Item = Hit> {
        self.hits.into_iter().filter(|hit| hit.score != 0.0)
    }
}

/// A prompt that memories are wanted for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MemoryPrompt {
    /// Its text. Filters and exclusions in a text of one line hold, for pins too.
    pub text: String,
    /// Only there.
    pub scope: Option<String>,
    /// How long the digest may be, in characters.
    pub most_chars: usize,
    /// Whether the turns beside each memory are given, too.
    pub expand: bool,
    /// Places that are left out, as links' targets (`logs/a`, `logs/a#^ID`).
    pub without: Vec<String>,
}

impl MemoryPrompt {
    /// In the whole vault.
    pub fn new(text: impl Into<String>, most_chars: usize) -> Self {
        Self { text: text.into(), most_chars, ..Self::default() }
    }
}

impl Recall {
    /// The memories that help with a prompt, if any, for a model that didn't ask for them.
    ///
    /// # Errors
    /// The index's; a model that fails is a note.
    pub fn recall(&self, prompt: &MemoryPrompt) -> Result<Recalled> {
        let sessions = self.settings.paths.sessions();
        let pins = LazyCell::new(|| {
            let path = NotePath::new(&self.settings.paths.pinned).ok();
            let pins = path.and_then(|path| self.index.vault().read(&path).ok()).unwrap_or_default();
            folded(&String::from_utf8_lossy(&pins)).collect::<String>()
        });
        let is_asked = SearchScope::of(prompt.scope.as_deref()).place.is_some();
        // A session's log grows with each prompt, and reading a long one again takes longer than a hook may.
        let is_meant = |path: &str| {
            let name = || folded(names_of_path(path).1).collect::<String>();
            is_asked || !path.starts_with(&sessions) || pins.contains(&name())
        };
        // That nothing helps is no reason to doubt the watcher.
        self.answer(&is_meant, |snapshot, state| Ok((self.memories_for(snapshot, state, prompt)?, None)))
    }

    /// The measures of the best finds for a prompt: the data that the confidence is fitted on.
    ///
    /// # Errors
    /// The index's.
    pub fn measures(&self, text: &str) -> Result<Vec<Measured>> {
        let measures = |_: &Snapshot<'_>, state: &CorpusState| {
            Ok((self.rank(state, text, &[], None, None, POOL).measures, None))
        };
        self.answer(&|_| true, measures)
    }

    /// Rates finds for a prompt; those in `without` and in expired working memory are left out.
    fn rater(&self, text: &str, without: &[String]) -> Rater {
        let expired = self.expired().map(|(note, _)| note.as_str().trim_end_matches(".md").to_owned());
        Rater::new(text, &self.settings.paths.skills).without(without.iter().cloned().chain(expired))
    }

    /// Whether a note is never given unasked: prompts of routines, their logs, and candidates that wait in the inbox.
    fn is_aside(&self, path: &str) -> bool {
        let paths = &self.settings.paths;
        let logs = format!("{}/routines", paths.logs.trim_end_matches('/'));
        path == paths.inbox || is_below(path, &logs) || is_below(path, paths.routines.trim_end_matches('/'))
    }

    fn memories_for(
        &self,
        snapshot: &Snapshot<'_>,
        state: &CorpusState,
        MemoryPrompt { text, scope, most_chars, expand, without }: &MemoryPrompt,
    ) -> Result<Recalled> {
        let (rater, within) = (self.rater(text, without), SearchScope::of(scope.as_deref()));
        let syntax = operators(text);
        let prefixes = snapshot.scope(within.place.as_deref())?;
        let zone = &snapshot.options.zone;
        let filters = Filters::new(&snapshot.corpus, zone, &[], &within.scopes, &syntax)?;
        let words = if syntax.is_filtered() { words_of(&syntax, text) } else { text.clone() };
        let most = if filters.needs_text() { MOST_HITS } else { POOL * WIDER };
        let allowed = filters.allowed.as_ref();
        let own = allowed.filter(|_| !within.scopes.is_empty());
        let ranking = self.rank(state, &words, &prefixes, allowed, own, most);
        let mut maker = snapshot.maker(text)?;
        let mut pinned = pinned_blocks(snapshot, &maker, &filters)?;
        pinned.retain(|found| is_in(&prefixes, &found.file.path));
        if pinned.len() > injection::MOST_MEMORIES {
            spread(&mut pinned);
        }
        let has_pins = !pinned.is_empty();
        let (rated, highest) = rate_blocks(snapshot, &mut maker, &rater, &filters, &ranking, has_pins)?;
        let is_confident = highest >= LEAST_CONFIDENCE;
        let (mut seen, mut said_before) = (HashSet::new(), HashSet::new());
        let uses = OnceCell::new();
        let (mut hits, mut memories) = (Vec::new(), Vec::new());
        let mut add = |hit: Hit, similarity: f64, slot: u32, is_said: bool| {
            let vector = state.corpus.vector(slot);
            memories.push(Memory { similarity, is_said, vector, ..Memory::from(&hit) });
            hits.push(hit);
        };
        for (place, RatedBlock { slot, confidence: own, rating, mut hit }) in rated.into_iter().enumerate() {
            let helps = is_confident && own >= HELPS && rating != Rating::Nothing;
            // The agent's repeated words are given once.
            if self.is_aside(&hit.path)
                || rating == Rating::Said && !said_before.insert(hit.text.clone())
                || !helps && !hit.pinned
            {
                continue;
            }
            if !helps {
                hit.score = 0.0;
            }
            if seen.insert((hit.path.clone(), hit.line)) {
                let standing = || self.standing(&hit, &uses, &state.corpus);
                let similarity = if helps { highest * by_place(place) * standing() } else { 0.0 };
                add(hit, similarity, slot, rating == Rating::Said);
            }
        }
        for found in pinned {
            let slot = found.slot;
            let hit = maker.hit(snapshot, found)?;
            if !rater.is_left_out(&hit.path, hit.block_id.as_deref())
                && seen.insert((hit.path.clone(), hit.line))
            {
                add(hit, 0.0, slot, false);
            }
        }
        self.weigh_past(&mut memories);
        let order = injection::order(&memories, self.now().as_second());
        if *expand {
            self.expand(snapshot, &filters, &rater, &mut memories, &order)?;
        }
        let budget = &self.settings.recall;
        let chosen = || order.iter().map(|at| &memories[*at]);
        let injection = Injection::new(chosen(), budget.budget_tokens, budget.memory_tokens);
        let digest = if is_confident {
            injection::digest(of_digest(&memories, &hits, &order), *most_chars, self.zone())
        } else {
            None
        };
        let hits = order.iter().map(|at| hits[*at].clone()).collect();
        let notes = [syntax.notes, ranking.notes].concat();
        let freshness = Freshness { embedded_percent: ranking.embedded, ..snapshot.freshness.clone() };
        Ok(Recalled { digest, hits, injection, freshness, notes })
    }

    /// Facts that another one has taken the place of count for less.
    fn weigh_past(&self, memories: &mut [Memory]) {
        let facts = &self.settings.paths.memory;
        if memories.iter().any(|memory| memory.path == *facts) {
            let bytes = NotePath::new(facts).ok().and_then(|path| self.index.vault().read(&path).ok());
            outdated_facts::demote_outdated(memories, facts, &bytes.unwrap_or_default());
        }
    }

    /// The factor of a memory's similarity that follows from its own fields and its uses: 1 if it has no such field.
    fn standing(&self, hit: &Hit, uses: &OnceCell<RecallCounts>, corpus: &Corpus) -> f64 {
        let now = self.now();
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

    /// How often memories were recalled, from the newest logs and days' notes; sessions' logs don't say it. Read from
    /// the vault: the cache counts nothing.
    fn uses(&self, corpus: &Corpus) -> RecallCounts {
        let options = self.index.options();
        let (daily, sessions) = (format!("{}/", options.daily), options.sessions());
        let files = corpus.notes().map(|note| &*note.row.path);
        let mut notes: Vec<(String, &str)> = files
            .filter(|path| options.is_log(path) && !path.starts_with(&sessions) || path.starts_with(&daily))
            .map(|path| (names_of_path(path).1.replace('-', ""), path))
            .collect();
        // Both begin with their day.
        notes.sort_unstable_by(|a, b| b.cmp(a));
        let mut uses = RecallCounts::default();
        for (_, path) in notes.into_iter().take(MOST_LOGS) {
            let bytes = NotePath::new(path).ok().and_then(|path| self.index.vault().read(&path).ok());
            let Some(bytes) = bytes else { continue };
            if options.is_log(path) {
                uses.add_log(&bytes);
            } else if let Ok(day) = names_of_path(path).1.parse::<jiff::civil::Date>() {
                let time = day.at(12, 0, 0, 0).to_zoned(self.zone().clone());
                uses.add(&String::from_utf8_lossy(&bytes), time.map_or(0, |at| at.timestamp().as_second()));
            }
        }
        uses
    }

    /// Adds the turns beside each memory to its text, as far as an injected memory has room: those that the filters let
    /// through and that may be given.
    fn expand(
        &self,
        snapshot: &Snapshot<'_>,
        filters: &Filters<'_>,
        rater: &Rater,
        memories: &mut [Memory],
        order: &[usize],
    ) -> Result<()> {
        let room = self.settings.recall.memory_tokens * injection::CHARS_PER_TOKEN;
        for at in order {
            let memory = &mut memories[*at];
            let blocks = snapshot.blocks(&memory.path)?;
            let Some(here) = blocks.iter().position(|stored| stored.block.line == memory.line) else {
                continue;
            };
            let (mut lines, mut own) = (Vec::new(), 0);
            for (at, Stored { slot, block }) in blocks.iter().enumerate() {
                if at == here {
                    own = lines.len();
                } else if at.abs_diff(here) > EXPANSION
                    || block.kind == Kind::Comment
                    || block.role == Some(Role::Tool)
                    || rater.is_left_out(&memory.path, block.block_id.as_deref())
                    || !filters.pass(*slot, block)?
                {
                    continue;
                }
                let text = snapshot.text(*slot)?;
                let who = block.author.as_deref();
                lines.push(who.map_or(text.clone(), |who| format!("{who}: {text}")));
            }
            memory.text = widest(&lines, own, room);
            memory.author = None;
        }
        Ok(())
    }
}

/// Puts the further rows of pinned lists behind all pins' first ones, so that a long list leaves room for other pins.
fn spread(pinned: &mut [FoundBlock]) {
    let mut rows: HashMap<(String, String), usize> = HashMap::new();
    pinned.sort_by_cached_key(|FoundBlock { file, block, .. }| {
        let id = block.block_id.clone();
        id.map(|id| *rows.entry((file.path.clone(), id)).and_modify(|row| *row += 1).or_default())
    });
}

/// The memories of a digest, in this order: the first ones, and further ones that no agent said. Pins alone
/// make none.
fn of_digest<'m>(memories: &'m [Memory], hits: &[Hit], order: &[usize]) -> impl Iterator<Item = &'m Memory> {
    let relevant = order.iter().filter(|at| memories[**at].similarity > 0.0).enumerate();
    let is_agents = |at: usize| hits[at].role == Some(Role::Agent);
    let chosen = relevant.filter(move |(place, at)| *place < injection::DIGEST_LINES || !is_agents(**at));
    chosen.map(|(_, at)| &memories[*at])
}

/// The filters and exclusions of a text, and its words without them. A text of several lines is pasted or told, not
/// typed as a query: its colons and dashes are its own.
fn operators(text: &str) -> Syntax {
    let text = text.trim();
    if text.contains('\n') { Syntax::default() } else { syntax::question(beginning(text, LONGEST_QUERY)) }
}

/// The weight of a find's place among all; the first has 1: finds keep the ranking's order, unless one repeats
/// another or is much older.
fn by_place(place: usize) -> f64 {
    let place = place as f64;
    1.0 / (1.0 + 0.1 * place)
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
