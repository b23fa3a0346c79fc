//! Recall and embeddings, from the outside: the program over small vaults, the tokenizer against the
//! reference implementation, endpoints that misbehave.

use vault_agent::config::Settings;
use vault_agent::search::{Index, Recall};

use crate::support::prelude::*;

mod alike;
mod damage;
mod endpoints;
mod giving;
mod grown;
mod loops;
mod notes;
mod rerank;
mod small;
mod table;

/// A folder, and an empty one for notes in it.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = support::folder::temporary();
    let root = dir.path().join("vault");
    std::fs::create_dir(&root).unwrap();
    (dir, root)
}

/// Recall of the vault at `root`, as a process of its own has it.
pub fn open(root: &Path, cache: &Path) -> Recall {
    let clock = Arc::new(SystemClock);
    let index = Index::of(Vault::open(root).unwrap(), &Settings::default(), cache, clock).unwrap();
    Recall::new(Arc::new(index), &Settings::default())
}
