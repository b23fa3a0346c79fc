//! Reports the contents of the index, and the files that it lacks, with the reasons, for `stats` and `doctor`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::search::follow::follower;
use crate::search::read::is_link_to;
use crate::search::retrieve::DocumentSets;
use crate::search::store::Mode;
use crate::search::{CheckedBy, Index, IndexError, Kind, Result, Snapshot};

/// The contents of the index.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Indexed files.
    pub files: u64,
    /// Files that are known but left out.
    pub skipped: u64,
    /// Blocks.
    pub blocks: u64,
    /// Bytes of the indexed files.
    pub bytes: u64,
    /// Blocks by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Bytes of the cache.
    pub index_bytes: u64,
    /// Parts of the full text.
    pub segments: usize,
    /// Blocks in it that were replaced since, until a merge drops them.
    pub dead_blocks: u64,
    /// Stored vectors.
    pub vectors: u64,
    /// Goes up with every commit.
    pub generation: u64,
    /// The last commit.
    pub committed: Option<jiff::Timestamp>,
    /// Whether a daemon follows the vault.
    pub followed: bool,
    /// The files that are left out, with the reason.
    pub left_out: BTreeMap<String, String>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing to do.
    Ok,
    /// Something is not as it should be.
    Warn,
    /// Something doesn't work.
    Fail,
}

/// One line of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its state.
    pub status: Severity,
    /// The finding.
    pub detail: String,
    /// The remedy; empty where there is none.
    pub fix: &'static str,
}

/// Something is not as it should be.
fn warn(detail: impl Into<String>, fix: &'static str) -> Finding {
    Finding { status: Severity::Warn, detail: detail.into(), fix }
}

fn ok(detail: impl Into<String>) -> Finding {
    Finding { status: Severity::Ok, detail: detail.into(), fix: "" }
}

impl Index {
    /// The contents of the index, after a scan of every file.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn stats(&self) -> Result<Stats> {
        self.snapshot(|snapshot| self.stats_of(snapshot))
    }

    fn stats_of(&self, snapshot: &Snapshot<'_>) -> Result<Stats> {
        let (conn, corpus) = (snapshot.database(), &snapshot.corpus);
        let committed = jiff::Timestamp::from_second(corpus.commit.committed).ok();
        let vectors = conn.query_row("SELECT count(*) FROM vectors", [], |row| row.get::<_, i64>(0))?;
        let dead = corpus.segs.iter().map(|seg| u64::from(seg.reader.max_doc()) - seg.living());
        let mut stats = Stats {
            dead_blocks: dead.sum(),
            vectors: vectors.cast_unsigned(),
            blocks: corpus.docs(),
            segments: corpus.segs.len(),
            generation: corpus.commit.generation,
            committed: committed.filter(|_| corpus.commit.committed > 0),
            followed: follower::is_held(&self.root),
            index_bytes: folder_bytes(&self.root),
            ..Stats::default()
        };
        stats.left_out.extend(self.list()?.skipped);
        snapshot.each_file(|file| match file.skipped {
            Some(why) => {
                stats.skipped += 1;
                stats.left_out.insert(file.path, why);
            }
            None => {
                stats.files += 1;
                stats.bytes += file.look.size;
            }
        })?;
        let sets = DocumentSets::new(corpus);
        let living = sets.living();
        for kind in Kind::ALL {
            let blocks = sets.with_filter(&format!("kind:{kind}"))?.intersection_len(&living);
            if blocks > 0 {
                stats.by_kind.insert(kind.as_str().to_owned(), blocks);
            }
        }
        Ok(stats)
    }

    /// The faults of the index, with their remedies; with a scan of every file, also of the notes that it read.
    pub fn health(&self, with_files: bool) -> Vec<Finding> {
        let mut found = Vec::new();
        if let Err(error) = self.examine(with_files, &mut found) {
            let (status, fix) = (Severity::Fail, "run `vault-agent reindex`");
            found.push(Finding { status, detail: error.to_string(), fix });
        }
        found
    }

    fn examine(&self, with_files: bool, found: &mut Vec<Finding>) -> Result<()> {
        let store = self.store()?;
        let damage = store.examine().err().filter(IndexError::is_damage);
        let mended = store.take_mended();
        if let Some(damage) = damage {
            return Err(damage);
        }
        found.extend(mended.map(|words| warn(words, "")));
        if let Mode::ReadOnly(why) | Mode::Memory(why) = &store.mode {
            let detail = format!("{why}; searches read the notes directly, which is slow");
            found.push(warn(detail, "free space or permissions there, or set `VAULT_AGENT_CACHE_DIR`"));
        }
        if with_files {
            found.extend(self.snapshot(|snapshot| self.findings_in(snapshot))?);
        } else if found.is_empty() {
            found.push(ok("it can be read and written"));
        }
        Ok(())
    }

    /// The contents, what is left out, and the faults of notes, all from one state of the index.
    fn findings_in(&self, snapshot: &Snapshot<'_>) -> Result<Vec<Finding>> {
        let Stats { files, blocks, index_bytes, generation, left_out, .. } = self.stats_of(snapshot)?;
        let megabytes = index_bytes as f64 / 1e6;
        let held = format!("{files} files, {blocks} blocks, {megabytes:.1} MB, generation {generation}");
        let mut found = vec![ok(held)];
        let left_out = left_out.iter().map(|(path, why)| format!("`{path}` is left out: {why}"));
        found.extend(left_out.map(|detail| warn(detail, "see the reason")));
        // The cache's faults are reported above; a vault that can't be scanned is an answer's last warning alone.
        let freshness = &snapshot.freshness;
        let why = freshness.warnings.last().filter(|_| freshness.checked_by == CheckedBy::Nobody);
        found.extend(why.map(|why| warn(why.as_str(), "search results may be older than the notes")));
        snapshot.each_file(|file| {
            for finding in file.findings.iter().flat_map(|findings| findings.lines()) {
                let (line, why) = finding.split_once('\t').unwrap_or(("1", finding));
                found.push(warn(format!("`{}:{line}`: {why}", file.path), "fix it there"));
            }
        })?;
        for (path, id) in snapshot.pins()? {
            if !is_there(snapshot, &path, &id)? {
                let detail = format!("`{}` pins `{path}#^{id}`, which isn't there", self.options.pinned);
                found.push(warn(detail, "fix or delete that line"));
            }
        }
        Ok(found)
    }
}

/// Whether a note that a link of this path or name means has the block.
fn is_there(snapshot: &Snapshot<'_>, path: &str, id: &str) -> Result<bool> {
    for note in snapshot.corpus.notes() {
        if is_link_to(path, &note.row.path) {
            let mut blocks = snapshot.corpus.blocks_of(&note)?.into_iter();
            if blocks.any(|stored| stored.block.block_id.as_deref() == Some(id)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn folder_bytes(root: &std::path::Path) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(stat) if stat.is_dir() => bytes += folder_bytes(&entry.path()),
            Ok(stat) => bytes += stat.len(),
            Err(_) => {}
        }
    }
    bytes
}
