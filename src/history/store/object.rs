//! Writing git objects: blobs, trees and commits as bytes, loose or in packs.
//!
//! A small snapshot writes loose objects, each synced by libgit2 (`core.fsyncObjectFiles`). A large
//! one, above all the first, streams packs of bounded size instead: 10,000 notes of 46 MB take 26 MB in a few files, and
//! 54 MB in 10,000 loose ones. (libgit2's own pack builder packs what stands in the repository already.) Both are
//! ordinary git objects that any git can read.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use git2::{ObjectType, Odb, Oid};
use sha1::{Digest, Sha1};

use super::wal::Object;
use crate::history::error::{HistoryError, Result};

/// A pack is closed when its compressed bytes pass this.
const PACK_BYTES: usize = 6 << 20;

/// Where new objects go.
pub(crate) enum Sink<'r> {
    /// One file an object.
    Loose(Odb<'r>, PathBuf, Vec<Object>),
    /// Packs of bounded size.
    Pack(Box<PackSink<'r>>),
    /// Nowhere: only their ids are wanted.
    Nowhere,
}

impl<'r> Sink<'r> {
    pub(crate) fn loose(odb: Odb<'r>, dir: &Path) -> Self {
        Self::Loose(odb, dir.to_owned(), Vec::new())
    }

    pub(crate) fn pack(odb: Odb<'r>, dir: &Path) -> Self {
        Self::Pack(Box::new(PackSink {
            odb,
            dir: dir.to_owned(),
            body: Vec::new(),
            count: 0,
            seen: HashSet::new(),
            encoder: ZlibEncoder::new(Vec::new(), Compression::fast()),
        }))
    }

    pub(crate) fn write(&mut self, kind: ObjectType, bytes: &[u8]) -> Result<Oid> {
        match self {
            Self::Loose(odb, dir, written) => {
                let id = odb.write(kind, bytes).map_err(|source| HistoryError::Git {
                    doing: "write an object".into(),
                    dir: dir.clone(),
                    source,
                })?;
                written.push((kind, bytes.to_vec()));
                Ok(id)
            }
            Self::Pack(sink) => sink.write(kind, bytes),
            Self::Nowhere => Oid::hash_object(kind, bytes).map_err(|source| HistoryError::Git {
                doing: "hash an object".into(),
                dir: PathBuf::new(),
                source,
            }),
        }
    }

    /// The loose objects that were written, for the log that makes them durable.
    pub(crate) fn take_written(&mut self) -> Vec<Object> {
        match self {
            Self::Loose(_, _, written) => std::mem::take(written),
            Self::Pack(_) | Self::Nowhere => Vec::new(),
        }
    }

    /// Makes everything written so far readable; packs are durable then, too.
    pub(crate) fn finish(&mut self) -> Result<()> {
        match self {
            Self::Loose(..) | Self::Nowhere => Ok(()),
            Self::Pack(sink) => sink.flush(),
        }
    }
}

/// Collects compressed objects and hands them to libgit2 as whole packs.
pub(crate) struct PackSink<'r> {
    odb: Odb<'r>,
    dir: PathBuf,
    body: Vec<u8>,
    count: u32,
    seen: HashSet<Oid>,
    encoder: ZlibEncoder<Vec<u8>>,
}

impl PackSink<'_> {
    fn write(&mut self, kind: ObjectType, bytes: &[u8]) -> Result<Oid> {
        let id = Oid::hash_object(kind, bytes).map_err(|source| self.git(source))?;
        if !self.seen.insert(id) {
            return Ok(id);
        }
        push_entry_header(&mut self.body, kind, bytes.len());
        let done = self.encoder.write_all(bytes).and_then(|()| self.encoder.reset(Vec::new()));
        // Writing into memory can't fail; the error type only comes with the trait.
        self.body.extend(done.map_err(HistoryError::io("compress an object for", &self.dir))?);
        self.count += 1;
        if self.body.len() >= PACK_BYTES {
            self.flush()?;
        }
        Ok(id)
    }

    fn flush(&mut self) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let mut head = Vec::from(*b"PACK\0\0\0\x02");
        head.extend(self.count.to_be_bytes());
        let mut hash = Sha1::new();
        hash.update(&head);
        hash.update(&self.body);
        let mut pack = self.odb.packwriter().map_err(|source| self.git(source))?;
        pack.write_all(&head)
            .and_then(|()| pack.write_all(&self.body))
            .and_then(|()| pack.write_all(&hash.finalize()))
            .map_err(HistoryError::io("write a pack into", &self.dir))?;
        pack.commit().map_err(|source| self.git(source))?;
        drop(pack);
        sync_packs(&self.dir.join("objects/pack"));
        self.body.clear();
        self.count = 0;
        Ok(())
    }

    fn git(&self, source: git2::Error) -> HistoryError {
        HistoryError::Git { doing: "write a pack".into(), dir: self.dir.clone(), source }
    }
}

/// Syncs the packs; what is durable already costs next to nothing.
fn sync_packs(folder: &Path) {
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Ok(file) = std::fs::File::open(file.path()) {
            let _ = file.sync_all();
        }
    }
    super::disk::sync_dir(folder);
}

/// The variable-length type and size before a pack entry (gitformat-pack, "pack-*.pack files").
fn push_entry_header(out: &mut Vec<u8>, kind: ObjectType, len: usize) {
    let kind: u8 = match kind {
        ObjectType::Commit => 1,
        ObjectType::Tree => 2,
        ObjectType::Tag => 4,
        _ => 3,
    };
    let mut rest = len >> 4;
    #[expect(clippy::cast_possible_truncation, reason = "masked to four and seven bits")]
    let mut byte = (kind << 4) | (len & 15) as u8;
    while rest > 0 {
        out.push(byte | 0x80);
        #[expect(clippy::cast_possible_truncation, reason = "masked to seven bits")]
        let next = (rest & 0x7f) as u8;
        byte = next;
        rest >>= 7;
    }
    out.push(byte);
}

/// What kind of thing a tree entry is, as git writes modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// An ordinary file.
    File,
    /// A file whose owner may execute it.
    Executable,
    /// A symbolic link; its content is the target.
    Link,
}

impl Mode {
    pub(crate) fn octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }

    pub(crate) fn from_raw(raw: i32) -> Option<Self> {
        match raw {
            0o100_644 | 0o100_664 => Some(Self::File),
            0o100_755 => Some(Self::Executable),
            0o120_000 => Some(Self::Link),
            _ => None,
        }
    }
}

/// One file as a snapshot holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileState {
    /// The content's hash.
    pub id: Oid,
    /// What it is.
    pub mode: Mode,
}

/// A tree's entries by name; folders are told apart since git sorts them as if they ended in `/`.
#[derive(Debug, Default)]
pub(crate) struct TreeEntries(BTreeMap<Vec<u8>, TreeNode>);

/// A file or a folder in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeNode {
    File(FileState),
    Folder(Oid),
}

impl TreeEntries {
    pub(crate) fn read(tree: &git2::Tree<'_>) -> Self {
        let nodes = tree.iter().filter_map(|entry| {
            let node = match entry.kind() {
                Some(ObjectType::Tree) => TreeNode::Folder(entry.id()),
                _ => TreeNode::File(FileState { id: entry.id(), mode: Mode::from_raw(entry.filemode())? }),
            };
            Some((entry.name_bytes().to_owned(), node))
        });
        Self(nodes.collect())
    }

    pub(crate) fn folder(&self, name: &[u8]) -> Option<Oid> {
        match self.0.get(name) {
            Some(TreeNode::Folder(id)) => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn set(&mut self, name: &[u8], node: Option<TreeNode>) {
        match node {
            Some(node) => drop(self.0.insert(name.to_owned(), node)),
            None => drop(self.0.remove(name)),
        }
    }

    pub(crate) fn is_file(&self, name: &[u8]) -> bool {
        matches!(self.0.get(name), Some(TreeNode::File(_)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names whose nodes differ, with both.
    pub(crate) fn differences(old: &Self, new: &Self) -> Vec<(Vec<u8>, Option<TreeNode>, Option<TreeNode>)> {
        let mut out = Vec::new();
        for (name, node) in &old.0 {
            let other = new.0.get(name).copied();
            if other != Some(*node) {
                out.push((name.clone(), Some(*node), other));
            }
        }
        out.extend(
            new.0
                .iter()
                .filter(|(name, _)| !old.0.contains_key(*name))
                .map(|(n, node)| (n.clone(), None, Some(*node))),
        );
        out
    }

    /// The object's bytes, in git's order.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut order: Vec<(Vec<u8>, &[u8], &TreeNode)> = self
            .0
            .iter()
            .map(|(name, node)| {
                let mut key = name.clone();
                if matches!(node, TreeNode::Folder(_)) {
                    key.push(b'/');
                }
                (key, name.as_slice(), node)
            })
            .collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut out = Vec::with_capacity(order.len() * 48);
        for (_, name, node) in order {
            let (mode, id) = match node {
                TreeNode::File(file) => (file.mode.octal(), file.id),
                TreeNode::Folder(id) => ("40000", *id),
            };
            out.extend(mode.as_bytes());
            out.push(b' ');
            out.extend(name);
            out.push(0);
            out.extend(id.as_bytes());
        }
        out
    }
}

/// The id of a tree without entries.
pub(crate) fn empty_tree() -> Oid {
    const EMPTY: [u8; 20] = [
        0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60, 0xe5, 0x4b, 0xf8, 0xd6, 0x92, 0x88, 0xfb,
        0xee, 0x49, 0x04,
    ];
    Oid::from_bytes(&EMPTY).unwrap_or(Oid::ZERO_SHA1)
}

/// `tree`, or the empty one where there is none yet.
pub(crate) fn tree_or_empty(tree: Option<Oid>) -> Oid {
    tree.unwrap_or_else(empty_tree)
}
