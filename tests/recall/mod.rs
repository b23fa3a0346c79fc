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

/// Recall of the vault at `root`, as a process of its own has it.
pub fn open(root: &Path, cache: &Path) -> Recall {
    let clock = Arc::new(SystemClock);
    let index = Index::of(Vault::open(root).unwrap(), &Settings::default(), cache, clock).unwrap();
    Recall::new(Arc::new(index), &Settings::default())
}

/// Recall of a vault of these notes, each its path and its text; it lives as long as the folder.
fn recall_of<T: AsRef<[u8]>>(notes: impl IntoIterator<Item = (impl AsRef<Path>, T)>) -> (Folder, Recall) {
    let folder = Folder::new(&[]);
    notes.into_iter().for_each(|(path, text)| folder.write(path, text));
    let recall = open(&folder.root(), &folder.cache());
    (folder, recall)
}

/// The paths of an answer's hits.
fn paths(found: &Value) -> Vec<&str> {
    hits(found).iter().map(|hit| hit["path"].as_str().unwrap()).collect()
}

/// The hits of an answer.
fn hits(found: &Value) -> &[Value] {
    found["hits"].as_array().unwrap()
}
