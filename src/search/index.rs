//! Opens the index of a vault once, for many queries ([`Index`]).
//!
//! A vault and the folder of its cache come in; a missing, old or damaged cache is rebuilt. The methods of [`Index`]
//! are in other files: [`crate::search::follow`] updates the index, [`crate::search::results`] answers from it.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use jiff::tz::TimeZone;

use crate::clock::Clock;
use crate::config::Settings;
use crate::embed::{ModelError, StaticModel};
use crate::search::error::{IndexError, Result};
use crate::search::read::note::Options;
use crate::search::store::{RowInputs, cache};
use crate::vault::Vault;
use crate::workspace::Workspace;

/// The index of a vault.
#[derive(Debug)]
pub struct Index {
    pub(in crate::search) vault: Vault,
    pub(in crate::search) options: Options,
    /// The inputs of ranking's rows.
    pub(in crate::search) basis: RowInputs,
    /// The reason why its table isn't that of the settings.
    pub(in crate::search) table_error: Option<ModelError>,
    pub(in crate::search) fingerprint: String,
    pub(in crate::search) root: PathBuf,
    pub(in crate::search) clock: Arc<dyn Clock>,
    pub(in crate::search) store: RwLock<Arc<cache::Store>>,
    /// When every file was last looked at for the sake of an empty answer.
    pub(in crate::search) looked: Mutex<Option<std::time::Instant>>,
    /// Ends a running update early, without half of a change.
    pub(in crate::search) stopping: AtomicBool,
}

impl Index {
    /// Opens the index of `vault` in the folder `cache` with its settings, making it where it is missing, of another
    /// version or damaged. Reads no note; where the cache can't be used, answers come without it.
    ///
    /// # Errors
    /// tantivy or SQLite fail in a way that making the cache anew doesn't mend. The time zone is one that the settings
    /// have checked.
    pub fn of(vault: Vault, settings: &Settings, cache: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let zone = TimeZone::get(&settings.timezone).unwrap_or(TimeZone::UTC);
        let (table, table_error) = StaticModel::of(settings, vault.root());
        let options = Options::from_settings(settings, zone.clone());
        let fingerprint = format!("{} {}", options.fingerprint(), table.name());
        let store = cache::Store::open(cache, &fingerprint)?;
        Ok(Self {
            vault,
            basis: RowInputs { table, zone },
            table_error,
            fingerprint,
            options,
            root: cache.to_owned(),
            clock,
            store: RwLock::new(Arc::new(store)),
            looked: Mutex::default(),
            stopping: AtomicBool::new(false),
        })
    }

    /// The vault.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// The cache's folder.
    pub fn cache(&self) -> &Path {
        &self.root
    }

    /// The settings that decide which files are indexed, and how.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The cache on disk; opened again if it was deleted, or if it can be written by now.
    pub fn store(&self) -> Result<Arc<cache::Store>> {
        let store = Arc::clone(&self.store.read().unwrap_or_else(PoisonError::into_inner));
        if !store.is_current() {
            return self.reopen();
        }
        if store.is_writable() {
            return Ok(store);
        }
        // The obstacle may be gone.
        let opened = cache::Store::open_writable(&self.root, &self.fingerprint, None);
        Ok(opened.map_or(store, |opened| self.replace_store(opened)))
    }

    pub(in crate::search) fn reopen(&self) -> Result<Arc<cache::Store>> {
        Ok(self.replace_store(cache::Store::open(&self.root, &self.fingerprint)?))
    }

    fn replace_store(&self, store: cache::Store) -> Arc<cache::Store> {
        let store = Arc::new(store);
        *self.store.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&store);
        store
    }

    /// Runs `work` on the cache. If the cache is damaged, or `work` panics, the cache is rebuilt once and `work` runs
    /// again.
    pub(in crate::search) fn healing<T>(&self, work: impl Fn(&cache::Store) -> Result<T>) -> Result<T> {
        let work = |store: &cache::Store| {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(store)));
            let done = done
                .unwrap_or_else(|panic| Err(IndexError::Torn(format!("internal error: {}", said(&*panic)))));
            done.map_err(|error| error.in_cache(&self.root))
        };
        let store = self.store()?;
        let epoch = store.epoch();
        match work(&store) {
            Err(error) if error.is_damage() && store.is_writable() => {
                let mended = cache::Store::open_mended(&self.root, &self.fingerprint, &error, epoch)?;
                drop(store);
                work(&self.replace_store(mended))
            }
            done => done,
        }
    }

    pub(in crate::search) fn now_ns(&self) -> i64 {
        i64::try_from(self.clock.now().as_nanosecond()).unwrap_or(i64::MAX)
    }
}

impl Workspace {
    /// The vault's index; reads no note.
    ///
    /// # Errors
    /// The cache can't be used, in a way that making it anew doesn't mend.
    pub fn index(&self) -> Result<Index> {
        Index::of(self.vault.clone(), &self.settings, &self.dirs.cache, Arc::clone(&self.clock))
    }
}

/// The message of a panic.
pub(crate) fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}
