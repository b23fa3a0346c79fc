//! One note's way into the corpus.
//!
//! A note of a [`Snapshot`] enters. Its texts leave as a [`Changed`], and from there as passages of the corpus, marked with
//! the note's version.

use jiff::Timestamp;

use crate::search::analyze::days::About;
use crate::search::read::block::{Kind, Role};
use crate::search::store::catalog::FileRow;
use crate::search::store::corpus::blocks::{Corpus, Passage};
use crate::search::{IndexError, Note, Snapshot, Stored};

/// A note as it is now, its blocks with their texts.
pub(in crate::search) struct Changed {
    file: FileRow,
    pub(in crate::search) blocks: Vec<(Stored, String)>,
    /// The days that its turns are about, in their order.
    about: Vec<About>,
}

/// A note with its texts.
pub(in crate::search) fn read(snapshot: &Snapshot<'_>, note: Note) -> Result<Changed, IndexError> {
    let (mut blocks, mut about) = (Vec::with_capacity(note.len()), Vec::with_capacity(note.len()));
    let zone = &snapshot.options().zone;
    for stored in note.blocks()? {
        let text = snapshot.text(stored.at)?;
        let time = stored.block.time.filter(|_| stored.block.kind == Kind::Turn);
        let said = time.and_then(|time| Timestamp::from_second(time).ok());
        about.push(said.map_or_else(About::default, |at| About::of(&text, at.to_zoned(zone.clone()).date())));
        blocks.push((stored, text));
    }
    Ok(Changed { file: note.file, blocks, about })
}

/// Takes in what was read of a note, in place of its last version.
pub(in crate::search) fn put(corpus: &mut Corpus, Changed { file, blocks, about }: &Changed) {
    let title = &file.head;
    let titles: Vec<String> = blocks
        .iter()
        .map(|(stored, _)| match (stored.block.kind, &stored.block.section) {
            (Kind::Turn, _) => String::new(),
            (_, Some(section)) => format!("{title} {section}"),
            (_, None) => title.clone(),
        })
        .collect();
    let passages = blocks.iter().zip(&titles).zip(about).map(|(((stored, text), title), about)| {
        let block = &stored.block;
        Passage {
            line: block.line,
            is_turn: block.kind == Kind::Turn && block.role != Some(Role::Tool),
            role: block.role,
            author: block.author.as_deref(),
            time: block.time,
            about: *about,
            head: title,
            text,
        }
    });
    corpus.put(&file.path, version(file), passages);
}

/// Takes in the note at `path` as the snapshot has it; one that is gone has no blocks.
pub(in crate::search) fn take_note(
    corpus: &mut Corpus,
    snapshot: &Snapshot<'_>,
    path: &str,
) -> Result<(), IndexError> {
    match snapshot.note(path)? {
        Some(note) => put(corpus, &read(snapshot, note)?),
        None => corpus.put(path, 0, std::iter::empty()),
    }
    Ok(())
}

/// What tells a version of a note from another: its content, and its title, which may come from its name.
pub(in crate::search) fn version(row: &FileRow) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&row.hash);
    hasher.update(row.head.as_bytes());
    let hash = hasher.finalize();
    u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("a blake3 hash has 32 bytes"))
}
