//! The ranking's view of a vault, in memory: postings, shapes, speakers, times and built-in vectors of all
//! blocks, in flat arrays over *slots*.
//!
//! A note owns a contiguous run of slots in the order of its blocks, so the neighbours of a turn are the
//! slots beside it. A changed note gets new slots at the end and its old ones die; when too many are dead
//! the corpus is built anew. Scores depend on living slots alone, so a corpus that grew step by step ranks
//! as a fresh one does. Nothing here is truth: it is made from the index's blocks and can be dropped.

use std::collections::HashMap;
use std::ops::Range;

use super::matrix::Matrix;
use super::postings::Postings;
use super::text::{Shape, Terms, words};
use super::vectors::{Hash, hash};
use crate::embed::Table;
use crate::index::Role;

/// A block as the ranking takes it in.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// First line, from 1.
    pub line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// One event of a log: dialogue signals apply.
    pub is_turn: bool,
    /// Who speaks, where somebody does; a tool's call or result has no vector.
    pub role: Option<Role>,
    /// Who speaks.
    pub author: Option<&'a str>,
    /// When, in seconds since 1970.
    pub time: Option<i64>,
    /// Title and headings above it.
    pub head: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// One note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path in the vault.
    pub path: String,
    /// What tells this version of it from another.
    pub version: u64,
    /// Its slots.
    pub slots: Range<u32>,
    /// Whether its slots still count.
    pub alive: bool,
}

/// All blocks of a vault, as the ranking sees them.
#[derive(Debug, Default)]
pub struct Corpus {
    pub(super) files: Vec<File>,
    pub(super) by_path: HashMap<String, u32>,
    pub(super) postings: Postings,
    pub(super) authors: Vec<String>,
    pub(super) author_ids: HashMap<String, u32>,
    /// The file of each slot.
    pub file_of: Vec<u32>,
    /// First line of each slot.
    pub line: Vec<u32>,
    /// Last line of each slot.
    pub end_line: Vec<u32>,
    /// Terms of each slot, for BM25's length.
    pub length: Vec<u16>,
    /// The length of each slot's window ([`super::score`]'s).
    pub window: Vec<f32>,
    /// The shape of each slot.
    pub shape: Vec<Shape>,
    /// The author of each slot, [`NOBODY`] where it has none.
    pub author: Vec<u32>,
    /// Seconds since 1970, [`NEVER`] where none is known.
    pub time: Vec<i64>,
    /// Who speaks in each slot, as [`code`].
    pub(super) role: Vec<u8>,
    /// The content hash of what a model embeds of each slot.
    pub hash: Vec<Hash>,
    /// The built-in vectors.
    pub vectors: Matrix,
    pub(super) words: Terms,
    pub(super) dead: usize,
}

impl Corpus {
    /// Fills in what is not stored: the maps from paths and names to their numbers.
    pub(super) fn connect(mut self) -> Self {
        let living = (0_u32..).zip(&self.files).filter(|(_, file)| file.alive);
        self.by_path = living.map(|(id, file)| (file.path.clone(), id)).collect();
        self.author_ids = self.authors.iter().cloned().zip(0..).collect();
        self.dead = self.files.iter().filter(|file| !file.alive).map(|file| file.slots.len()).sum();
        self
    }
}

const ROLES: [Role; 3] = [Role::User, Role::Agent, Role::Tool];

/// A role as it is stored: its place among the roles, from 1, or 0.
fn code(role: Option<Role>) -> u8 {
    (1..).zip(ROLES).find(|(_, other)| role == Some(*other)).map_or(0, |(code, _)| code)
}

/// No author.
pub const NOBODY: u32 = u32::MAX;
/// No time.
pub const NEVER: i64 = i64::MIN;

impl Corpus {
    /// An empty corpus.
    pub fn new() -> Self {
        Self { vectors: Matrix::new(crate::embed::table::DIMENSIONS), ..Self::default() }
    }

    /// Slots, dead ones included.
    pub fn len(&self) -> usize {
        self.file_of.len()
    }

    /// Whether there is no slot.
    pub fn is_empty(&self) -> bool {
        self.file_of.is_empty()
    }

    /// Whether so many slots are dead that building anew is better.
    pub fn is_worn(&self) -> bool {
        self.dead > 1000 && self.dead * 4 > self.len()
    }

    /// All notes, dead versions included.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The living version of a note.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.by_path.get(path).map(|id| &self.files[*id as usize])
    }

    /// The note that a slot stands in.
    pub fn file_at(&self, slot: u32) -> &File {
        &self.files[self.file_of[slot as usize] as usize]
    }

    /// Calls `each` with the slots in which `term` stands, ascending, and its count in each, at most 255.
    pub fn each(&self, term: &str, each: impl FnMut(u32, u8)) {
        self.postings.each(term, each);
    }

    /// In how many slots `term` stands, dead ones included.
    pub fn count(&self, term: &str) -> usize {
        self.postings.count(term)
    }

    /// The different authors' names, by number.
    pub fn authors(&self) -> &[String] {
        &self.authors
    }

    /// The words of an author's name, lower case.
    pub fn author_name(&self, id: u32) -> &str {
        self.authors.get(id as usize).map_or("", String::as_str)
    }

    /// Who speaks in a slot, where somebody does.
    pub fn role(&self, slot: usize) -> Option<Role> {
        ROLES.into_iter().find(|role| self.role[slot] == code(Some(*role)))
    }

    /// Forgets a note.
    pub fn remove(&mut self, path: &str) {
        if let Some(id) = self.by_path.remove(path) {
            let file = &mut self.files[id as usize];
            file.alive = false;
            self.dead += file.slots.len();
        }
    }

    /// Takes a note in, in place of its last version.
    pub fn put<'a>(&mut self, path: &str, version: u64, passages: impl Iterator<Item = Passage<'a>> + Clone) {
        self.remove(path);
        let id = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let first = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let names = names_of(passages.clone().filter_map(|passage| passage.author));
        let table = Table::builtin();
        let mut counts: HashMap<u32, u8> = HashMap::new();
        for (at, passage) in passages.enumerate() {
            self.push(id, at == 0, &passage, &names, &mut counts, table);
        }
        let slots = first..u32::try_from(self.len()).unwrap_or(u32::MAX);
        let windows: Vec<f32> =
            slots.clone().map(|slot| super::candidates::window_length(self, slot)).collect();
        self.window.extend(windows);
        self.files.push(File { path: path.to_owned(), version, slots, alive: true });
        self.by_path.insert(path.to_owned(), id);
    }

    fn push(
        &mut self,
        file: u32,
        opens: bool,
        passage: &Passage<'_>,
        names: &[String],
        counts: &mut HashMap<u32, u8>,
        table: Table,
    ) {
        let slot = u32::try_from(self.len()).unwrap_or(u32::MAX);
        counts.clear();
        let mut length = 0_u32;
        // The speaker's name belongs to what a turn says, the headings to what a paragraph says.
        for text in [passage.author.unwrap_or(""), passage.head, passage.text] {
            let postings = &mut self.postings;
            self.words.each(text, |term| {
                length += 1;
                let count = counts.entry(postings.id(term)).or_insert(0);
                *count = count.saturating_add(1);
            });
        }
        for (id, count) in counts.iter() {
            self.postings.push(*id, slot, *count);
        }
        let author = passage.author.map_or(NOBODY, |name| self.author_id(name));
        let mut shape = Shape::default();
        if passage.is_turn {
            shape = Shape::of(passage.text, |word| names.iter().any(|name| name == word));
            shape.0 |= Shape::TURN | if opens { Shape::OPENING } else { 0 };
        }
        if passage.role == Some(Role::Tool) {
            shape.0 |= Shape::TOOL;
        }
        self.file_of.push(file);
        self.line.push(passage.line);
        self.end_line.push(passage.end_line);
        self.length.push(u16::try_from(length).unwrap_or(u16::MAX));
        self.shape.push(shape);
        self.author.push(author);
        self.role.push(code(passage.role));
        self.time.push(passage.time.unwrap_or(NEVER));
        let embedded = without_names(passage.text, names);
        self.hash.push(hash(&embedded));
        if passage.role == Some(Role::Tool) {
            self.vectors.push(&[]);
        } else {
            self.vectors.push(&table.embed(&embedded));
        }
    }

    fn author_id(&mut self, name: &str) -> u32 {
        let mut key = String::new();
        words(name, |word| {
            if !key.is_empty() {
                key.push(' ');
            }
            key.push_str(word);
        });
        if let Some(id) = self.author_ids.get(&key) {
            return *id;
        }
        let id = u32::try_from(self.authors.len()).unwrap_or(u32::MAX);
        self.authors.push(key.clone());
        self.author_ids.insert(key, id);
        id
    }
}

/// The different words of the given names, lower case.
pub fn names_of<'a>(authors: impl Iterator<Item = &'a str>) -> Vec<String> {
    let (mut names, mut seen): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    for author in authors {
        if seen.contains(&author) {
            continue;
        }
        seen.push(author);
        words(author, |word| {
            if word.len() > 1 && !names.iter().any(|name| name == word) {
                names.push(word.to_owned());
            }
        });
    }
    names
}

/// `text` without the words in `names` (and a possessive `'s` behind one).
///
/// A question that names a speaker is otherwise nearest to the turns that *address* that speaker, not to
/// those that the speaker wrote.
pub fn without_names<'t>(text: &'t str, names: &[String]) -> std::borrow::Cow<'t, str> {
    let is_name = |word: &str| {
        names.iter().any(|name| {
            name.len() == word.len() && name.eq_ignore_ascii_case(word) || word.to_lowercase() == *name
        })
    };
    let (mut out, mut kept, mut start) = (String::new(), 0, None);
    let end = [(text.len(), ' ')];
    for (at, c) in text.char_indices().chain(end) {
        if c.is_alphanumeric() {
            start.get_or_insert(at);
        } else if let Some(from) = start.take()
            && is_name(&text[from..at])
        {
            out.push_str(text[kept..from].trim_end_matches([' ', ',']));
            let rest = &text[at..];
            kept = at
                + if rest.starts_with("'s") {
                    2
                } else if rest.starts_with("’s") {
                    "’s".len()
                } else {
                    0
                };
        }
    }
    if kept == 0 && out.is_empty() {
        return text.into();
    }
    out.push_str(&text[kept..]);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_with_their_comma_and_their_possessive() {
        let names = names_of(["Caroline", "Mel B", "Caroline"].into_iter());
        assert_eq!(names, ["caroline", "mel"]);
        assert_eq!(without_names("Wow, Caroline! Mel's cat", &names), "Wow! cat");
        assert_eq!(without_names("carolines melody", &names), "carolines melody");
        assert_eq!(without_names("", &names), "");
    }
}
