//! A corpus in parts: notes that were taken in on their own, a layer at most, to be put together in their order.

use std::hash::BuildHasher;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::search::analyze::authors::Authors;
use crate::search::store::corpus::blocks::{Corpus, File, NOBODY};
use crate::search::store::corpus::frozen::Frozen;
use crate::search::store::corpus::layer;
use crate::search::store::corpus::memory::Words;

/// Notes that were taken in on their own: a layer and the files that it is of, from slot 0 on.
#[derive(Debug)]
pub struct Part {
    files: Vec<File>,
    frozen: Option<Frozen>,
}

impl Corpus {
    /// Makes a part of a corpus of at most [`layer::MOST`] blocks, none of them dead: `files` notes come before its own
    /// in the whole.
    pub(in crate::search) fn into_part(
        mut self,
        files: usize,
        authors: &Mutex<Authors>,
        folder: Option<&Path>,
    ) -> (Part, Words) {
        let numbers: Vec<u32> = {
            let mut authors = authors.lock().unwrap_or_else(PoisonError::into_inner);
            self.authors.names().iter().map(|name| authors.of_key(name)).collect()
        };
        let number = |author: u32| numbers.get(author as usize).copied().unwrap_or(NOBODY);
        for meta in &mut self.tail.metas {
            meta.file += u32::try_from(files).unwrap_or(u32::MAX);
            meta.author = number(meta.author);
        }
        for file in &mut self.files {
            file.authors.iter_mut().for_each(|author| *author = number(*author));
        }
        let frozen = if self.tail.len() == 0 { None } else { Frozen::new(&self.tail, folder) };
        (Part { files: self.files, frozen }, self.words)
    }

    /// Of parts in their order, all of whose notes' blocks count.
    pub(in crate::search) fn from_made(
        parts: impl Iterator<Item = Part>,
        authors: Authors,
        folder: Option<&Path>,
    ) -> Self {
        let mut this = Self { authors, folder: folder.map(Path::to_owned), ..Self::default() };
        for part in parts {
            let base = u32::try_from(this.layers.len() * layer::MOST).unwrap_or(u32::MAX);
            for mut file in part.files {
                file.slots = file.slots.start + base..file.slots.end + base;
                let id = u32::try_from(this.files.len()).unwrap_or(u32::MAX);
                this.by_path.insert(this.hasher.hash_one(&file.path), id);
                this.files.push(file);
            }
            this.layers.extend(part.frozen);
        }
        this
    }
}
