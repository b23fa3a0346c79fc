//! The disposable cache: every block of every note, found by its words in a millisecond.
//!
//! [`Index`] is the one face of this room. [`Index::search`] answers a [`Query`] with an [`Answer`]:
//! hits, best first, and how fresh they are. Before it answers, it makes sure that nothing newer on disk
//! is missed: it trusts a running daemon's [`live`] word, else it looks at every file's stat; what is
//! newer than the index is committed, or read directly where it can't be. Nothing in here is truth:
//! delete the cache and every answer is the same, to the last digit of a score.
//!
//! How it is kept:
//! - [`note`] turns a file's bytes into [`Block`]s; [`text`] turns text into terms. Both are pure.
//! - Blocks are documents of immutable tantivy segments. Which segments there are, which file's blocks
//!   stand where, and which documents died since, is in `index.sqlite` ([`catalog`]); one transaction
//!   there commits both stores, so there is nothing to heal after a crash but to sweep unlisted files.
//! - Scores use exact statistics of living documents ([`view`], [`score`], `topk`), so an index that grew
//!   by edits and one made anew agree.
//! - [`delta`] works out what changed files mean, [`commit`] commits it and merges segments, [`reindex`]
//!   makes all anew beside the old index, [`live`] follows the vault inside the daemon.
//!
//! What recall builds on: [`Snapshot`] gives all blocks of a scope, their texts, and how often terms
//! stand in each (for BM25 over turns, windows and sessions); vectors have a table of their own
//! (`vectors`, by content hash of a block's text), which a reindex leaves alone.
//!
//! It never writes to the vault, and needs no setup: a missing, old or damaged cache is made anew.

pub mod block;
pub mod catalog;
mod comment;
pub mod commit;
pub(crate) mod cores;
pub mod decode;
pub mod delta;
mod directory;
mod error;
mod filter;
mod frontmatter;
mod glance;
mod glob;
mod hit;
mod inline;
pub mod live;
mod lock;
pub mod markdown;
pub mod note;
pub mod pack;
mod postings;
mod reindex;
mod report;
pub mod scan;
pub mod schema;
pub mod score;
pub mod seal;
mod search;
pub mod segment;
mod snapshot;
pub mod snippet;
pub mod store;
pub mod syntax;
pub mod terms;
pub mod text;
mod topk;
mod update;
pub mod view;
mod words;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::vault::Vault;

pub use block::{Block, Kind, Role};
pub use error::IndexError;
pub use hit::HitMaker;
pub use note::Options;
pub use reindex::{Progress, Reindexed};
pub use report::{Finding, Severity, Stats};
pub use search::{AllFound, Basis, Filters, Found};
pub use snapshot::{Note, Snapshot, Stored};
pub use update::Updated;

/// The version of everything that an index's content depends on: blocks, terms, tables. Another version
/// is rebuilt without a question.
pub const SCHEMA: &str = concat!("vault-agent index 7, ", env!("CARGO_PKG_VERSION"));

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// As a person typed it; see [`syntax`].
    pub text: String,
    /// Only there: a folder or file, `logs`, `memory`, `daily`, `channel:ID` or `thread:ID`.
    pub scope: Option<String>,
    /// At most so many hits.
    pub limit: usize,
}

impl Query {
    /// A query without a scope, for ten hits.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), scope: None, limit: 10 }
    }

    /// The same query for at most `limit` hits.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The same query within `scope`.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The query's text.
    pub query: String,
    /// Best first.
    pub hits: Vec<Hit>,
    /// What of the query was not understood, for the person.
    pub notes: Vec<String>,
    /// How fresh the answer is.
    pub freshness: Freshness,
    /// Who put the first hits in their order, where somebody was asked to: see [`crate::recall::Asker::deep`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranked: Option<Reranked>,
}

/// What a reranker did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reranked {
    /// Its provider and model.
    pub by: String,
    /// How many of the best hits it scored.
    pub hits: usize,
}

/// A [`Kind`] by its name: `turn`, `memory`, …
pub type KindName = &'static str;

/// A [`Role`] by its name: `user`, `agent` or `tool`.
pub type RoleName = &'static str;

/// A found block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Its note.
    pub path: String,
    /// First line, from 1.
    pub line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// What it is: see [`Kind`].
    #[serde(deserialize_with = "block::kind_name")]
    pub kind: KindName,
    /// The headings above it, joined by ` > `.
    pub section: Option<String>,
    /// When it was said or is dated.
    pub timestamp: Option<jiff::Timestamp>,
    /// BM25; only comparable within one answer.
    pub score: f64,
    /// What the reranker of a deep search thinks of it; more is better, by a measure of the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// The part of its text that the query is about.
    pub snippet: String,
    /// All of its text.
    #[serde(skip)]
    pub text: String,
    /// Who spoke it: `user`, `agent` or `tool`.
    #[serde(default, deserialize_with = "block::role_name", skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The conversation that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// Its Obsidian block id, without `^`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    /// Its inline tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it is pinned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

/// Who vouched that nothing newer is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckedBy {
    /// A running daemon that follows the vault.
    Daemon,
    /// A look at every file just now.
    Scan,
    /// A look at folders and at the files that change most, less than ten minutes after one at every file.
    Glance,
    /// Nobody: the vault could not be looked at.
    Nobody,
}

/// How fresh an answer is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// The commit that was searched; goes up with every one.
    pub generation: u64,
    /// Whether every note was searched as it stands on disk.
    pub complete: bool,
    /// Who says so.
    pub checked_by: CheckedBy,
    /// Files that were newer than the index and were read directly.
    pub read_directly: usize,
    /// Of the blocks that were asked about, the percentage with a vector of the settings' model. None where that is the
    /// built-in one, whose vectors are always there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded_percent: Option<u8>,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The index of a vault.
pub struct Index {
    vault: Vault,
    options: Options,
    root: PathBuf,
    clock: Arc<dyn Clock>,
    store: RwLock<Arc<store::Store>>,
    /// Without a cache: what was read last, and the listing that it belongs to.
    read: Mutex<Option<([u8; 32], Arc<view::View>)>>,
    /// When every file was last looked at for the sake of an empty answer.
    looked: Mutex<Option<std::time::Instant>>,
    stopping: AtomicBool,
    /// Whether a glance does in place of a look at every file.
    glancing: bool,
    /// What was found damaged and made anew since the last answer.
    mended: Mutex<Option<String>>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("vault", &self.vault.root())
            .field("cache", &self.root)
            .finish_non_exhaustive()
    }
}

impl Index {
    /// Opens the index of `vault` in the folder `cache`, making it where it is missing, of another
    /// version or damaged. Reads no note; where the cache can't be used, answers come without it.
    ///
    /// # Errors
    /// tantivy or SQLite fail in a way that making the cache anew doesn't mend.
    pub fn open(
        vault: Vault,
        cache: &Path,
        options: Options,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, IndexError> {
        let store = store::Store::open(cache, &options.fingerprint())?;
        Ok(Self {
            vault,
            options,
            root: cache.to_owned(),
            clock,
            store: RwLock::new(Arc::new(store)),
            read: Mutex::default(),
            looked: Mutex::default(),
            stopping: AtomicBool::new(false),
            glancing: false,
            mended: Mutex::default(),
        })
    }

    /// Opens the index of a workspace's vault, with its settings.
    ///
    /// # Errors
    /// As [`Index::open`]; the time zone is one that the settings have checked.
    pub fn of(
        vault: Vault,
        settings: &crate::config::Settings,
        cache: &Path,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, IndexError> {
        let zone = jiff::tz::TimeZone::get(&settings.timezone).unwrap_or(jiff::tz::TimeZone::UTC);
        Self::open(vault, cache, Options::from_settings(settings, zone), clock)
    }

    /// The vault.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// The cache's folder.
    pub fn cache(&self) -> &Path {
        &self.root
    }

    /// What decides which files are indexed, and how.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The cache as it is on disk now: opened again if somebody deleted it.
    pub fn store(&self) -> Result<Arc<store::Store>, IndexError> {
        {
            let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
            if store.is_current() {
                return Ok(Arc::clone(&store));
            }
        }
        self.reopen()
    }

    fn reopen(&self) -> Result<Arc<store::Store>, IndexError> {
        let store = Arc::new(store::Store::open(&self.root, &self.options.fingerprint())?);
        *self.store.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&store);
        Ok(store)
    }

    /// Runs `work` on the cache; a damaged cache, or one over which `work` fails in a way that it never should, is made
    /// anew, once, and `work` run again.
    fn healing<T>(&self, work: impl Fn(&store::Store) -> Result<T, IndexError>) -> Result<T, IndexError> {
        let work = |store: &store::Store| {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(store)));
            done.unwrap_or_else(|panic| Err(IndexError::Torn(format!("it failed inside: {}", said(&*panic)))))
        };
        let store = self.store()?;
        match work(&store) {
            Err(error) if error.is_damage() && store.is_writable() => {
                tracing::warn!(%error, "the index is damaged and is made anew");
                store::mend(&self.root, &self.options.fingerprint(), &error)?;
                drop(store);
                let store = self.reopen()?;
                *self.mended() = Some(error.damage());
                work(&store)
            }
            done => done,
        }
    }

    fn mended(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.mended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was damaged and made anew since this was asked last, for a person.
    fn take_mended(&self, store: &store::Store) -> Option<String> {
        let why = self.mended().take();
        let why = store.take_mended().or(why)?;
        Some(format!("the index was damaged ({why}) and was made anew"))
    }

    /// Lets a catching-up that is at work end early, with nothing half done.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    fn now_ns(&self) -> i64 {
        i64::try_from(self.clock.now().as_nanosecond()).unwrap_or(i64::MAX)
    }
}

/// What a panic said.
pub(crate) fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}
