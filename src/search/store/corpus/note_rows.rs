//! Computes the ranking's data of a note's blocks, while a segment is written.
//!
//! A note's passages come in. Rows go out, with shape, speaker and vector of each block, and postings of its terms.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::embed::StaticModel;
use crate::search::Role;
use crate::search::analyze::authors::names_of;
use crate::search::analyze::days::About;
use crate::search::analyze::references::{embedded, without_references};
use crate::search::analyze::stems::Shape;
use crate::search::read::block::{Block, Kind};
use crate::search::store::corpus::block_meta::{Meta, NEVER, NOBODY, ROLE_BITS, role_code};
use crate::search::store::corpus::rows::{NewRows, NoteRow};
use crate::search::store::corpus::vector_code::Code;
use crate::search::store::corpus::vectors::hash;
use crate::search::store::corpus::word_cache::WordCache;
use crate::search::store::postings::Postings;

/// A block as the ranking takes it in.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// First line, from 1.
    pub line: u32,
    /// One event of a log: dialogue signals apply.
    pub is_turn: bool,
    /// The speaker's role, if it is a turn; a tool's call or result has no vector.
    pub role: Option<Role>,
    /// The speaker.
    pub author: Option<&'a str>,
    /// When, in seconds since 1970.
    pub time: Option<i64>,
    /// The day that it is about, where it names another than that of its time.
    pub about: About,
    /// Title and headings above it.
    pub head: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Of a longer section so many blocks count as one, for ranking.
const LONGEST_SECTION: usize = 32;

/// The inputs of the rows beside the blocks.
#[derive(Debug, Clone)]
pub struct RowInputs {
    /// The table that makes the blocks' vectors.
    pub table: StaticModel,
    /// The zone of the days that turns are about.
    pub zone: TimeZone,
}

impl Default for RowInputs {
    fn default() -> Self {
        Self { table: StaticModel::Builtin, zone: TimeZone::UTC }
    }
}

/// The rows and postings of a segment that is being written.
#[derive(Debug)]
pub struct Gathered {
    basis: RowInputs,
    /// The rows.
    pub rows: NewRows,
    /// The postings of their terms.
    pub postings: Postings,
    words: WordCache,
}

impl Gathered {
    /// None yet.
    pub fn new(basis: RowInputs) -> Self {
        Self { basis, rows: NewRows::default(), postings: Postings::default(), words: WordCache::default() }
    }

    /// Takes in the blocks of the note at `path` with this title, and the same packed.
    pub fn note(&mut self, path: &str, title: &str, blocks: &[Block], packed: &[u8]) {
        let zone = self.basis.zone.clone();
        let heads: Vec<String> = blocks
            .iter()
            .map(|block| match (block.kind, &block.section) {
                (Kind::Turn, _) => String::new(),
                (_, Some(section)) => format!("{title} {section}"),
                (_, None) => title.to_owned(),
            })
            .collect();
        let passages = blocks.iter().zip(&heads).map(|(block, head)| {
            let time = block.time.filter(|_| block.kind == Kind::Turn);
            let said = time.and_then(|time| Timestamp::from_second(time).ok());
            let about = |at: Timestamp| About::of(&block.text, at.to_zoned(zone.clone()).date());
            Passage {
                line: block.line,
                is_turn: block.kind == Kind::Turn && block.role != Some(Role::Tool),
                role: block.role,
                author: block.author.as_deref(),
                time: block.time,
                about: said.map_or_else(About::default, about),
                head,
                text: &block.text,
            }
        });
        self.put(path, passages);
        self.rows.packed.extend_from_slice(packed);
        if let Some(note) = self.rows.notes.last_mut() {
            note.packed = u32::try_from(self.rows.packed.len()).unwrap_or(u32::MAX);
        }
    }

    /// Takes in a note's passages.
    pub fn put<'a>(&mut self, path: &str, passages: impl Iterator<Item = Passage<'a>> + Clone) {
        let names = names_of(passages.clone().filter_map(|passage| passage.author));
        let start = self.rows.metas.len();
        // The headings of the open section, and how many blocks it has.
        let mut section: Option<(&str, usize)> = None;
        for (at, passage) in passages.enumerate() {
            let blocks = section.filter(|(head, _)| *head == passage.head).map_or(0, |(_, blocks)| blocks);
            let blocks = if blocks < LONGEST_SECTION { blocks } else { 0 };
            section = Some((passage.head, blocks + 1));
            self.push(if passage.is_turn { at == 0 } else { blocks == 0 }, &passage, &names);
        }
        let metas = &self.rows.metas[start..];
        let mut note = NoteRow {
            path: path.into(),
            tie: tie(path, metas.first().map_or(0, |meta| meta.line)),
            start: u32::try_from(start).unwrap_or(u32::MAX),
            count: u32::try_from(metas.len()).unwrap_or(u32::MAX),
            has_notes: false,
            has_turns: false,
            terms: 0,
            authors: Box::default(),
            packed: u32::try_from(self.rows.packed.len()).unwrap_or(u32::MAX),
        };
        let mut authors = Vec::new();
        for meta in metas {
            let is_said = meta.shape.has(Shape::TURN | Shape::TOOL);
            note.has_notes |= !is_said;
            note.has_turns |= is_said;
            note.terms += u32::from(meta.length);
            if meta.author != NOBODY && !authors.contains(&meta.author) {
                authors.push(meta.author);
            }
        }
        note.authors = authors.into();
        self.rows.notes.push(note);
    }

    fn push(&mut self, opens: bool, passage: &Passage<'_>, names: &[String]) {
        let Self { basis, rows, postings, words } = self;
        let number = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        // The speaker's name belongs to what a turn says, the headings to what a paragraph says.
        let said = without_references(passage.text);
        // The head of a section stands for all blocks of it ([`super::blocks`]).
        let head = Some(passage.head).filter(|_| opens || passage.is_turn);
        let (terms, length) = words.find(head, [passage.author.unwrap_or(""), &said], postings);
        postings.add(number(rows.metas.len()), terms);
        let author = passage.author.map_or(NOBODY, |name| rows.authors.of(name));
        let mut shape = Shape::of(&said, |word| names.iter().any(|name| name == word));
        if passage.is_turn {
            shape.0 |= Shape::TURN;
        }
        if opens {
            shape.0 |= Shape::OPENING;
        }
        if passage.role == Some(Role::Tool) {
            shape.0 |= Shape::TOOL;
        }
        shape.0 |= role_code(passage.role) << ROLE_BITS;
        let embedded = embedded(passage.text, names);
        let meta = Meta {
            file: number(rows.notes.len()),
            line: passage.line,
            author,
            time: passage.time.unwrap_or(NEVER),
            about: passage.about,
            length: u16::try_from(length).unwrap_or(u16::MAX),
            shape,
        };
        let has_none = matches!(basis.table, StaticModel::Off) || passage.role == Some(Role::Tool);
        rows.push(meta, (!has_none).then(|| hash(&embedded)), || {
            Code::of(&words.embedder.embed_with(&basis.table, &embedded))
        });
    }
}

/// A hash of the path above the first line's number.
fn tie(path: &str, line: u32) -> u64 {
    let hash = blake3::hash(path.as_bytes());
    let mut high = [0; 8];
    high[4..].copy_from_slice(&hash.as_bytes()[..4]);
    u64::from_be_bytes(high) << 32 | u64::from(line)
}
