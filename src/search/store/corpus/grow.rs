//! How the corpus grows: notes go, come into the tail, and the tail becomes a layer.
//!
//! A note's passages enter. Slots at the end leave, with terms, shape, speaker and vector of each block.

use std::hash::BuildHasher;

use crate::embed::Fixed;
use crate::search::Role;
use crate::search::analyze::authors::names_of;
use crate::search::analyze::references::{embedded, without_references};
use crate::search::analyze::stems::Shape;
use crate::search::store::corpus::blocks::{Corpus, File, NEVER, NOBODY, Passage, ROLE_BITS, code};
use crate::search::store::corpus::code::Code;
use crate::search::store::corpus::frozen::Frozen;
use crate::search::store::corpus::layer;
use crate::search::store::corpus::memory::Words;
use crate::search::store::corpus::meta::{Meta, NO_ROW};
use crate::search::store::corpus::neighbours::window_length;
use crate::search::store::corpus::tail::Tail;
use crate::search::store::corpus::vectors::hash;

impl Corpus {
    /// Forgets a note.
    pub fn remove(&mut self, path: &str) {
        if let Some(id) = self.id(path) {
            self.by_path.remove(&self.hasher.hash_one(path));
            let file = &mut self.files[id as usize];
            file.alive = false;
            self.dead += file.slots.len();
        }
    }

    /// Takes a note in, in place of its last version. What a note has beyond [`layer::MOST`] blocks is left out.
    pub fn put<'a>(&mut self, path: &str, version: u64, passages: impl Iterator<Item = Passage<'a>> + Clone) {
        self.remove(path);
        let passages = passages.take(layer::MOST);
        if self.tail.len() + passages.clone().count() > layer::MOST {
            self.freeze();
        }
        let id = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let first = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let names = names_of(passages.clone().filter_map(|passage| passage.author));
        let mut file = File {
            path: path.to_owned(),
            version,
            slots: first..first,
            alive: true,
            has_notes: false,
            has_turns: false,
            terms: 0,
            windows: 0.0,
            authors: Vec::new(),
        };
        for (at, passage) in passages.enumerate() {
            let meta = self.push(id, at == 0, &passage, &names);
            file.has_notes |= !meta.shape.has(Shape::TURN | Shape::TOOL);
            file.has_turns |= meta.shape.has(Shape::TURN | Shape::TOOL);
            file.terms += u32::from(meta.length);
            if meta.author != NOBODY && !file.authors.contains(&meta.author) {
                file.authors.push(meta.author);
            }
        }
        file.slots.end = u32::try_from(self.len()).unwrap_or(u32::MAX);
        self.by_path.insert(self.hasher.hash_one(path), id);
        let slots = file.slots.clone();
        self.files.push(file);
        let mut windows = 0.0;
        for slot in slots {
            let window = window_length(self, slot);
            windows += window;
            let (_, local) = Self::place(slot);
            self.tail.metas[local].window = window;
        }
        self.files[id as usize].windows = windows;
    }

    fn push(&mut self, file: u32, opens: bool, passage: &Passage<'_>, names: &[String]) -> Meta {
        let slot = u32::try_from(self.tail.len()).unwrap_or(u32::MAX);
        // The speaker's name belongs to what a turn says, the headings to what a paragraph says.
        let said = without_references(passage.text);
        let texts = [passage.author.unwrap_or(""), &said];
        let terms = self.words.find(passage.head, texts, &mut self.tail);
        let length = terms.len();
        self.tail.postings.add(slot, terms);
        let author = passage.author.map_or(NOBODY, |name| self.authors.of(name));
        let mut shape = Shape::of(&said, |word| names.iter().any(|name| name == word));
        if passage.is_turn {
            shape.0 |= Shape::TURN | if opens { Shape::OPENING } else { 0 };
        }
        if passage.role == Some(Role::Tool) {
            shape.0 |= Shape::TOOL;
        }
        shape.0 |= code(passage.role) << ROLE_BITS;
        let embedded = embedded(passage.text, names);
        let hash = hash(&embedded);
        let row = if matches!(self.table, Fixed::Off) || passage.role == Some(Role::Tool) {
            NO_ROW
        } else {
            self.tail.row(&hash, || Code::of(&self.words.embedder.embed_with(&self.table, &embedded)))
        };
        let meta = Meta {
            file,
            line: passage.line,
            author,
            window: 0.0,
            time: passage.time.unwrap_or(NEVER),
            about: passage.about,
            length: u16::try_from(length).unwrap_or(u16::MAX),
            shape,
        };
        self.tail.metas.push(meta);
        self.tail.rows.push(row);
        self.tail.hashes.push(hash);
        meta
    }

    /// Makes the tail a layer: together with the last one where both fit into one.
    pub(in crate::search) fn freeze(&mut self) {
        if let Some(frozen) = self.frozen() {
            self.adopt(frozen);
        }
    }

    /// The layer that the tail makes, for [`Corpus::adopt`]; none where it is empty.
    pub(in crate::search) fn frozen(&self) -> Option<Frozen> {
        if self.tail.len() == 0 {
            return None;
        }
        let Some(last) = self.joined() else { return Frozen::new(&self.tail, self.folder.as_deref()) };
        let mut whole = last.layer.thaw();
        whole.append(&self.tail);
        Frozen::new(&whole, self.folder.as_deref())
    }

    /// The layer that the tail becomes a part of.
    fn joined(&self) -> Option<&Frozen> {
        self.layers.last().filter(|last| last.layer.len() + self.tail.len() <= layer::MOST)
    }

    /// Puts the layer of [`Corpus::frozen`], made since the last change, into the tail's place.
    pub(in crate::search) fn adopt(&mut self, frozen: Frozen) {
        let base = self.layers.len() * layer::MOST;
        if let Some(last) = self.joined() {
            let from = u32::try_from(base).unwrap_or(u32::MAX);
            let to = u32::try_from(base - layer::MOST + last.layer.len()).unwrap_or(u32::MAX);
            for file in self.files.iter_mut().filter(|file| file.slots.start >= from) {
                file.slots = file.slots.start - from + to..file.slots.end - from + to;
            }
            self.layers.pop();
        }
        (self.tail, self.words) = (Tail::default(), Words::default());
        self.layers.push(frozen);
    }
}
