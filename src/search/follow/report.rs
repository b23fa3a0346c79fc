//! Reports what the index holds and lacks, with reasons, for `stats` and `doctor`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::search::follow::{follower, scan};
use crate::search::retrieve::document_sets::DocumentSets;
use crate::search::store::cache::Mode;
use crate::search::store::catalog;
use crate::search::{CheckedBy, Index, IndexError, Kind, Snapshot};

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

/// How bad a finding is.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the check.
    pub check: String,
    /// How it is.
    pub status: Severity,
    /// The finding.
    pub detail: String,
    /// The remedy.
    pub fix: String,
}

impl Finding {
    fn new(check: &str, status: Severity, detail: impl Into<String>, fix: &str) -> Self {
        Self { check: check.to_owned(), status, detail: detail.into(), fix: fix.to_owned() }
    }
}

impl Index {
    /// The contents of the index, after a scan of every file.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn stats(&self) -> Result<Stats, IndexError> {
        let listing = scan::list(&self.vault, &self.options)?;
        self.healing(|store| {
            let (conn, corpus, _) = self.fresh(store)?;
            let mut stats = Stats {
                blocks: corpus.totals.docs,
                segments: corpus.segs.len(),
                generation: corpus.totals.generation,
                committed: jiff::Timestamp::from_second(corpus.totals.committed)
                    .ok()
                    .filter(|_| corpus.totals.committed > 0),
                followed: follower::is_held(&self.root),
                index_bytes: folder_bytes(&self.root),
                ..Stats::default()
            };
            stats.left_out.extend(listing.skipped.iter().cloned());
            let mut count = |file: catalog::FileRow| match file.skipped {
                Some(why) => {
                    stats.skipped += 1;
                    stats.left_out.insert(file.path, why);
                }
                None => {
                    stats.files += 1;
                    stats.bytes += file.look.size;
                }
            };
            catalog::each_file(&conn, |file| {
                if !corpus.hidden.contains(&file.path) {
                    count(file);
                }
            })?;
            corpus.segs.iter().flat_map(|seg| &seg.memory).cloned().for_each(count);
            let dead = corpus.segs.iter().map(|seg| u64::from(seg.reader.max_doc()) - seg.living());
            stats.dead_blocks = dead.sum();
            let sets = DocumentSets::new(&corpus);
            let living = sets.living();
            for kind in Kind::ALL {
                let blocks = sets.with_filter(&format!("kind:{kind}"))?.intersection_len(&living);
                if blocks > 0 {
                    stats.by_kind.insert(kind.as_str().to_owned(), blocks);
                }
            }
            stats.vectors = conn
                .query_row("SELECT count(*) FROM vectors", [], |row| row.get::<_, i64>(0))?
                .cast_unsigned();
            Ok(stats)
        })
    }

    /// The faults of the index and of the notes that it read, with their remedies.
    pub fn health(&self) -> Vec<Finding> {
        self.findings(true)
    }

    /// As [`Index::health`], without a look at every file.
    pub fn quick_health(&self) -> Vec<Finding> {
        self.findings(false)
    }

    fn findings(&self, with_files: bool) -> Vec<Finding> {
        let mut found = Vec::new();
        if let Err(error) = self.examine(with_files, &mut found) {
            found.push(Finding::new("index", Severity::Fail, error.to_string(), "run `vault-agent reindex`"));
        }
        found
    }

    fn examine(&self, with_files: bool, found: &mut Vec<Finding>) -> Result<(), IndexError> {
        let store = self.store()?;
        let damage = store.examine().err().filter(IndexError::is_damage);
        let mended = store.take_mended();
        if let Some(error) = damage {
            found.push(Finding::new("index", Severity::Fail, error.to_string(), "run `vault-agent reindex`"));
            return Ok(());
        }
        if let Some(words) = mended {
            found.push(Finding::new("index", Severity::Warn, words, ""));
        }
        match &store.mode {
            Mode::Writable => {}
            Mode::ReadOnly(why) | Mode::Memory(why) => found.push(Finding::new(
                "index",
                Severity::Warn,
                format!("{why}; searches read the notes directly, which is slow"),
                "free space or permissions there, or set `VAULT_AGENT_CACHE_DIR`",
            )),
        }
        if !with_files {
            if found.is_empty() {
                found.push(Finding::new("index", Severity::Ok, "it can be read and written".to_owned(), ""));
            }
            return Ok(());
        }
        let stats = self.stats()?;
        found.push(Finding::new(
            "index",
            Severity::Ok,
            format!(
                "{} files, {} blocks, {:.1} MB, generation {}",
                stats.files,
                stats.blocks,
                stats.index_bytes as f64 / 1e6,
                stats.generation
            ),
            "",
        ));
        for (path, why) in &stats.left_out {
            found.push(Finding::new(
                "indexed files",
                Severity::Warn,
                format!("`{path}` is left out: {why}"),
                "see the reason",
            ));
        }
        let snapshot = self.fresh_snapshot(&store)?;
        // What the cache lacks is told above; that the vault can't be looked at is an answer's last warning alone.
        if let (CheckedBy::Nobody, Some(why)) =
            (snapshot.freshness.checked_by, snapshot.freshness.warnings.last())
        {
            let fix = "what is found may be older than the notes";
            found.push(Finding::new("index", Severity::Warn, why.as_str(), fix));
        }
        let mut broken = Vec::new();
        catalog::each_file(snapshot.database(), |file| {
            for finding in file.findings.iter().flat_map(|findings| findings.lines()) {
                let (line, why) = finding.split_once('\t').unwrap_or(("1", finding));
                broken.push(format!("`{}:{line}`: {why}", file.path));
            }
        })?;
        found.extend(
            broken.into_iter().map(|detail| Finding::new("notes", Severity::Warn, detail, "mend that line")),
        );
        self.broken_pins(&snapshot, found)
    }

    /// Pins whose block isn't there any more.
    fn broken_pins(&self, snapshot: &Snapshot<'_>, found: &mut Vec<Finding>) -> Result<(), IndexError> {
        for (path, id) in snapshot.pins()? {
            let is_at = |note: &str| {
                let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
                note.starts_with(&path)
                    || !path.contains('/') && note.strip_suffix(".md").and_then(name).as_ref() == Some(&path)
            };
            let mut there = false;
            for seg in &snapshot.corpus.segs {
                for (at, note) in seg.rows.notes().iter().enumerate() {
                    if seg.is_alive(note.start) && is_at(&note.path) {
                        there |= seg.blocks(at)?.iter().any(|block| block.block_id.as_ref() == Some(&id));
                    }
                }
            }
            if !there {
                found.push(Finding::new(
                    "pins",
                    Severity::Warn,
                    format!("`{}` pins `{path}#^{id}`, which isn't there", self.options.pinned),
                    "mend or delete that line",
                ));
            }
        }
        Ok(())
    }
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
