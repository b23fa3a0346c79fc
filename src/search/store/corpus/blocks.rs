//! The ranking's view of a vault: postings, shapes, speakers, times and built-in vectors of all blocks.
//!
//! Blocks are numbered by *slots*. A note owns a contiguous run of them in the order of its blocks, so the
//! neighbours of a turn are the slots beside it. What was taken in last stands in memory (the [`Tail`]); a full
//! tail becomes a [layer] on disk, which is mapped and never changes. A slot's upper bits name its layer, the
//! lower ones ([`layer::BITS`]) the block in it. A changed note gets new slots at the end and its old ones die;
//! when too many are dead the corpus is built anew. Scores depend on living slots alone, so a corpus that grew
//! step by step ranks as a fresh one does. Nothing here is truth: it is made from the index's blocks and can be
//! dropped.
//!
//! [layer]: crate::search::store::corpus::layer::Layer

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::Range;
use std::path::PathBuf;

use crate::embed::Fixed;
use crate::search::Role;
use crate::search::analyze::authors::Authors;
pub use crate::search::analyze::authors::{names_of, without_names};
use crate::search::analyze::days::About;
use crate::search::analyze::pieces::signature;
use crate::search::analyze::stems::Shape;
use crate::search::store::corpus::code::{Code, Sums};
use crate::search::store::corpus::frozen::Frozen;
use crate::search::store::corpus::layer;
use crate::search::store::corpus::memory::Words;
use crate::search::store::corpus::meta::{Meta, NO_ROW};
pub use crate::search::store::corpus::meta::{NEVER, NOBODY};
use crate::search::store::corpus::tail::Tail;
use crate::search::store::corpus::vectors::Hash;
use crate::search::store::corpus::wide::wide;

/// A block as the ranking takes it in.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// First line, from 1.
    pub line: u32,
    /// One event of a log: dialogue signals apply.
    pub is_turn: bool,
    /// Who speaks, where somebody does; a tool's call or result has no vector.
    pub role: Option<Role>,
    /// Who speaks.
    pub author: Option<&'a str>,
    /// When, in seconds since 1970.
    pub time: Option<i64>,
    /// The day that it is about, where it names another than that of its time.
    pub about: About,
    /// Title and headings above it.
    pub head: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// One note.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    /// Its path in the vault.
    pub path: String,
    /// What tells this version of it from another.
    pub version: u64,
    /// Its slots.
    pub slots: Range<u32>,
    /// Whether its slots still count.
    pub alive: bool,
    /// Whether it has other blocks than a log's events.
    pub(in crate::search) has_notes: bool,
    /// Whether a log's events are among its blocks, a tool's among them.
    pub(in crate::search) has_turns: bool,
    /// The terms of all its blocks.
    pub(in crate::search) terms: u32,
    /// The lengths of all its blocks' windows.
    pub(in crate::search) windows: f32,
    /// Who speaks in it, by number.
    pub(in crate::search) authors: Vec<u32>,
}

/// All blocks of a vault, as the ranking sees them.
#[derive(Debug, Default)]
pub struct Corpus {
    pub(in crate::search) files: Vec<File>,
    /// The living notes by the hash of their path.
    pub(in crate::search) by_path: HashMap<u64, u32>,
    pub(in crate::search) hasher: RandomState,
    pub(in crate::search) layers: Vec<Frozen>,
    pub(in crate::search) tail: Tail,
    pub(in crate::search) authors: Authors,
    pub(in crate::search) words: Words,
    /// Whose vectors blocks get.
    pub(in crate::search) table: Fixed,
    pub(in crate::search) dead: usize,
    /// Where full layers go; none keeps them in memory.
    pub(in crate::search) folder: Option<PathBuf>,
}

const ROLES: [Role; 3] = [Role::User, Role::Agent, Role::Tool];
/// Where a role stands in the bits of a stored shape, above those that [`Shape`] uses.
pub(super) const ROLE_BITS: u32 = 14;

/// A role as it is stored: its place among the roles, from 1, or 0.
pub(super) fn code(role: Option<Role>) -> u16 {
    (1..).zip(ROLES).find(|(_, other)| role == Some(*other)).map_or(0, |(code, _)| code)
}

impl Corpus {
    /// An empty corpus in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty corpus that goes on with what an earlier one learned of words.
    pub(in crate::search) fn with_words(words: Words, table: Fixed) -> Self {
        Self { words: words.renewed(), table, ..Self::default() }
    }

    /// From what is stored: the maps from paths and names to their numbers follow from it.
    pub(in crate::search) fn from_parts(
        files: Vec<File>,
        layers: Vec<Frozen>,
        authors: Vec<String>,
        folder: PathBuf,
    ) -> Self {
        let hasher = RandomState::new();
        let living = (0_u32..).zip(&files).filter(|(_, file)| file.alive);
        let by_path = living.map(|(id, file)| (hasher.hash_one(&file.path), id)).collect();
        let dead = files.iter().filter(|file| !file.alive).map(|file| file.slots.len()).sum();
        Self {
            files,
            by_path,
            hasher,
            layers,
            authors: Authors::new(authors),
            dead,
            folder: Some(folder),
            ..Self::default()
        }
    }

    /// One more than the largest slot; some below it may be of no block.
    pub fn len(&self) -> usize {
        self.layers.len() * layer::MOST + self.tail.len()
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.blocks() == 0
    }

    /// How many blocks, dead ones included.
    pub fn blocks(&self) -> usize {
        self.layers.iter().map(|frozen| frozen.layer.len()).sum::<usize>() + self.tail.len()
    }

    /// Whether so many blocks are dead that building anew is better.
    pub fn is_worn(&self) -> bool {
        self.dead > 1000 && self.dead * 4 > self.blocks()
    }

    /// All notes, dead versions included.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    pub(in crate::search) fn id(&self, path: &str) -> Option<u32> {
        let id = *self.by_path.get(&self.hasher.hash_one(path))?;
        (self.files.get(id as usize)?.path == path).then_some(id)
    }

    /// The living version of a note.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.id(path).map(|id| &self.files[id as usize])
    }

    /// The note that a slot stands in.
    pub fn file_at(&self, slot: u32) -> &File {
        &self.files[self.meta(slot).file as usize]
    }

    /// A slot's layer, and its place there.
    pub(in crate::search) fn place(slot: u32) -> (usize, usize) {
        ((slot >> layer::BITS) as usize, slot as usize & (layer::MOST - 1))
    }

    /// Whether `slot` is of a block.
    pub fn has(&self, slot: u32) -> bool {
        let (at, local) = Self::place(slot);
        match self.layers.get(at) {
            Some(frozen) => local < frozen.layer.len(),
            None => at == self.layers.len() && local < self.tail.len(),
        }
    }

    /// What is known of a block.
    #[inline]
    pub fn meta(&self, slot: u32) -> Meta {
        let (at, local) = Self::place(slot);
        let Some(frozen) = self.layers.get(at) else { return self.tail.metas[local] };
        let meta = frozen.layer.meta(local);
        // A torn layer may name any note.
        if (meta.file as usize) < self.files.len() { meta } else { Meta { file: 0, ..meta } }
    }

    /// The shape of a block.
    #[inline]
    pub fn shape(&self, slot: u32) -> Shape {
        self.meta(slot).shape
    }

    /// Who speaks in a block, where somebody does.
    pub fn role(&self, slot: u32) -> Option<Role> {
        ROLES.into_iter().find(|role| self.shape(slot).0 >> ROLE_BITS == code(Some(*role)))
    }

    /// The content hash of what a model embeds of a block.
    pub fn hash(&self, slot: u32) -> Hash {
        let (at, local) = Self::place(slot);
        self.layers.get(at).map_or_else(|| self.tail.hashes[local], |frozen| frozen.layer.hash(local))
    }

    /// Whether a block has a built-in vector.
    pub fn has_vector(&self, slot: u32) -> bool {
        self.row_of(slot) != NO_ROW
    }

    /// Where a block's built-in vector stands in its layer, or [`NO_ROW`].
    #[inline]
    pub(in crate::search) fn row_of(&self, slot: u32) -> u32 {
        let (at, local) = Self::place(slot);
        match self.layers.get(at) {
            Some(frozen) => frozen.layer.row_of(local).unwrap_or(NO_ROW),
            None => self.tail.rows[local],
        }
    }

    /// A block's built-in vector.
    #[inline]
    pub fn code(&self, slot: u32) -> Option<Code> {
        let (at, local) = Self::place(slot);
        self.layers.get(at).map_or_else(|| self.tail.code(local), |frozen| frozen.layer.code(local))
    }

    /// A block's built-in vector; empty where it has none.
    pub fn vector(&self, slot: u32) -> Vec<f32> {
        self.code(slot).map_or_else(Vec::new, |code| code.vector())
    }

    /// The cosine of a question's vector and a block's built-in one; none where it has none.
    pub fn cosine(&self, sums: &Sums, slot: u32) -> Option<f32> {
        self.code(slot).map(|code| sums.cosine(&code))
    }

    /// The first word of the signs of a block's vector; zero where it has none.
    pub(in crate::search) fn first_signs(&self, slot: u32) -> u64 {
        let (at, local) = Self::place(slot);
        match self.layers.get(at) {
            Some(frozen) => frozen.layer.first_signs(local..local + 1).next().unwrap_or(0),
            None => self.tail.first_signs(local),
        }
    }

    /// How many layers there are, the tail among them.
    pub(in crate::search) fn parts(&self) -> usize {
        self.layers.len() + 1
    }

    /// Calls `each` with the slots in which `term` stands, ascending, and its count in each.
    pub fn each(&self, term: &str, mut each: impl FnMut(u32, u32)) {
        (0..self.parts()).for_each(|at| self.each_in(at, term, &mut each));
    }

    /// As [`Corpus::each`], the slots of one layer.
    pub(in crate::search) fn each_in(&self, at: usize, term: &str, mut each: impl FnMut(u32, u32)) {
        let first = u32::try_from(at << layer::BITS).unwrap_or(u32::MAX);
        match self.layers.get(at) {
            Some(frozen) => frozen.layer.each(term, |slot, count| each(first | slot, count)),
            None => self.tail.postings.each(term, |slot, count| each(first | slot, count)),
        }
    }

    /// Calls `each` with the terms of one layer whose signature `may` answer, those of dead blocks among them.
    pub(in crate::search) fn each_term(
        &self,
        at: usize,
        may: impl Fn(u64) -> bool,
        mut each: impl FnMut(&[u8]),
    ) {
        let Some(Frozen { layer, .. }) = self.layers.get(at) else {
            let terms = self.tail.postings.terms().map(str::as_bytes);
            return terms.filter(|term| may(signature(term))).for_each(each);
        };
        let mut found: Vec<usize> = Vec::new();
        wide(|| {
            for (at, own) in layer.signatures().enumerate() {
                if may(own) {
                    found.push(at);
                }
            }
        });
        for at in found {
            each(layer.term(at));
        }
    }

    /// The different authors' names, by number.
    pub fn authors(&self) -> &[String] {
        self.authors.names()
    }

    /// The words of an author's name, lower case.
    pub fn author_name(&self, id: u32) -> &str {
        self.authors.names().get(id as usize).map_or("", String::as_str)
    }
}
