//! A vault in a temporary folder with an index beside it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock, RwLockReadGuard};

use vault_agent::clock::SystemClock;
use vault_agent::index::{Answer, Index, Options, Query};
use vault_agent::vault::Vault;

/// Failpoints are one for the whole process: who sets some writes, everybody else reads.
pub static FAILPOINTS: RwLock<()> = RwLock::new(());

pub fn no_failpoints() -> RwLockReadGuard<'static, ()> {
    FAILPOINTS.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub struct TestVault {
    pub dir: tempfile::TempDir,
}

impl TestVault {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("vault")).unwrap();
        Self { dir }
    }

    /// A vault of `//- path` headers and contents.
    pub fn of(fixture: &str) -> Self {
        let vault = Self::new();
        for part in fixture.split("//- ").skip(1) {
            let (path, text) = part.split_once('\n').unwrap();
            vault.write(path.trim(), text);
        }
        vault
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("vault")
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn index(&self) -> Index {
        self.index_at(&self.cache())
    }

    pub fn index_at(&self, cache: &Path) -> Index {
        let vault = Vault::open(&self.root()).unwrap();
        Index::open(vault, cache, Options::default(), Arc::new(SystemClock)).unwrap()
    }

    pub fn find(&self, query: &str) -> Vec<String> {
        show(&self.index().search(&Query::new(query)).unwrap())
    }
}

/// `path:line kind snippet` of each hit.
pub fn show(answer: &Answer) -> Vec<String> {
    answer.hits.iter().map(|hit| format!("{}:{} {} {}", hit.path, hit.line, hit.kind, hit.snippet)).collect()
}
