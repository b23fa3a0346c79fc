//! Commits a change, merges segments, and sweeps leftovers of a crash.
//!
//! One SQLite transaction is the commit. A commit holds `write.lock`; a merge holds `merge.lock` and takes `write.lock`
//! only for the transaction at the end, so that a large merge never delays a saved note. A merge changes no answer:
//! documents keep their texts, dead ones are dropped.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::Connection;
use tantivy::BitSet;
use tantivy::directory::OwnedBytes;
use tantivy::fastfield::AliveBitSet;

use crate::search::IndexError;
use crate::search::store::catalog;
use crate::search::store::catalog::SegmentRow;
use crate::search::store::corpus::rows::NewRows;
use crate::search::store::delta::Delta;
use crate::search::store::segment::directory::SegmentDirectory;
use crate::search::store::segment::file::SegmentFiles;
use crate::search::store::segment::{file, schema};
use crate::search::store::view::View;

/// As many segments of about one size are merged into one.
const FAN: usize = 6;

/// Commits `delta`, `now` being seconds since 1970. Returns the new generation.
pub fn commit(conn: &mut Connection, delta: &Delta, now: i64) -> Result<u64, IndexError> {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let mut totals = delta.totals(catalog::totals(&tx)?);
    totals.generation += 1;
    totals.committed = now;
    let segment = match &delta.segment {
        Some(new) => {
            let id: i64 =
                tx.query_row("SELECT coalesce(max(id), 0) + 1 FROM segments", [], |row| row.get(0))?;
            catalog::put_segment(
                &tx,
                &SegmentRow { id, uuid: new.uuid.clone(), docs: new.docs, seals: new.seals.clone() },
            )?;
            id
        }
        None => 0,
    };
    for (_, place) in &delta.hidden {
        catalog::put_dead(&tx, place.segment, place.start, place.count)?;
    }
    for file in &delta.removed {
        tx.prepare_cached("DELETE FROM files WHERE id = ?1")?.execute([file.id])?;
    }
    fail::fail_point!("index-commit-middle", |_| Err(IndexError::Interrupted));
    for file in &delta.files {
        let mut file = file.clone();
        if let Some(place) = file.place.as_mut().filter(|place| place.segment == 0) {
            place.segment = segment;
        }
        catalog::put_file(&tx, &file)?;
    }
    catalog::set_totals(&tx, &totals)?;
    fail::fail_point!("index-commit-end", |_| Err(IndexError::Interrupted));
    tx.commit()?;
    Ok(totals.generation)
}

/// Segments worth merging into one now, with at most `most` living documents among them.
pub fn choose(view: &View, most: u64) -> Option<Vec<usize>> {
    let living = |n: usize| {
        let seg = &view.segs[n];
        seg.alive.as_ref().map_or(u64::from(seg.reader.max_doc()), |alive| alive.len() as u64)
    };
    let mut levels: HashMap<u32, Vec<usize>> = HashMap::new();
    for n in (0..view.segs.len()).filter(|n| view.segs[*n].id != 0) {
        levels.entry(living(n).max(64).ilog2() / 2).or_default().push(n);
    }
    let mut full: Vec<_> = levels.into_iter().filter(|(_, segs)| segs.len() >= FAN).collect();
    full.sort_by_key(|(level, _)| *level);
    // A full level takes the smaller ones with it, the smallest first, as far as they go.
    if let Some((level, _)) = full.first() {
        let mut all: Vec<usize> = (0..view.segs.len())
            .filter(|n| view.segs[*n].id != 0 && living(*n).max(64).ilog2() / 2 <= *level)
            .collect();
        all.sort_by_key(|n| (living(*n), *n));
        let mut sum = 0;
        all.retain(|n| {
            sum += living(*n);
            sum <= most
        });
        if all.len() >= FAN {
            all.sort_unstable();
            return Some(all);
        }
    }
    // One that is mostly dead.
    (0..view.segs.len())
        .filter(|n| view.segs[*n].id != 0 && living(*n) * 2 <= u64::from(view.segs[*n].reader.max_doc()))
        .filter(|n| living(*n) <= most)
        .min_by_key(|n| living(*n))
        .map(|n| vec![n])
}

/// A merge that was written but isn't committed.
#[derive(Debug)]
pub struct Merged {
    /// The segments that it replaces.
    old: Vec<SegmentRow>,
    /// The new segment, none if nothing lived.
    new: Option<file::NewSegment>,
    /// Where each note stood and will stand.
    moved: Vec<Moved>,
}

/// A note whose blocks are in another segment after a merge.
#[derive(Debug)]
struct Moved {
    path: String,
    /// Its segment before, and the first document there.
    from: (i64, u32),
    /// Its first document after.
    to: u32,
    count: u32,
}

/// Merges the segments at the places `chosen` of `view`. `conn` must see the same snapshot.
pub fn merge(
    conn: &Connection,
    view: &View,
    files: &SegmentFiles,
    root: &Path,
    chosen: &[usize],
) -> Result<Merged, IndexError> {
    let rows = catalog::segments(conn)?;
    let mut merged = Merged { old: Vec::new(), new: None, moved: Vec::new() };
    let (mut segments, mut filters) = (Vec::new(), Vec::new());
    let mut copied = NewRows::default();
    for seg in chosen.iter().map(|n| &view.segs[*n]) {
        let row = rows.iter().find(|row| row.id == seg.id);
        let row = row.ok_or_else(|| IndexError::Torn(format!("segment {} is not listed", seg.id)))?;
        merged.old.push(row.clone());
        let first = copied.notes.len();
        copied.copy(&seg.rows, |doc| seg.is_alive(doc));
        let living = seg.rows.notes().iter().filter(|note| seg.is_alive(note.start));
        merged.moved.extend(living.zip(&copied.notes[first..]).map(|(old, new)| Moved {
            path: old.path.clone(),
            from: (seg.id, old.start),
            to: new.start,
            count: new.count,
        }));
        if seg.alive.as_ref().is_some_and(|alive| alive.len() == 0) {
            continue;
        }
        segments.push(files.segment(row)?);
        filters.push(seg.alive.as_ref().map(alive_set).transpose()?);
    }
    let next = copied.metas.len();
    if next > 0 {
        let directory = SegmentDirectory::open(root).map_err(tantivy::TantivyError::from)?;
        let directory: Box<dyn tantivy::Directory> = Box::new(directory);
        let index =
            tantivy::indexer::merge_filtered_segments(&segments, schema::settings(), filters, directory)?;
        let new = file::written(&index, root, &copied)?;
        if new.docs as usize != next {
            return Err(IndexError::Torn(format!("a merge of {next} documents gave {}", new.docs)));
        }
        merged.new = Some(new);
    }
    fail::fail_point!("index-merge-written", |_| Err(IndexError::Interrupted));
    Ok(merged)
}

/// Commits a merge. What died while it was written dies in the new segment too. Returns whether the
/// old segments were still there, and removes their files.
pub fn commit_merge(conn: &mut Connection, merged: &Merged, root: &Path) -> Result<bool, IndexError> {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let listed: HashSet<String> = catalog::segments(&tx)?.into_iter().map(|row| row.uuid).collect();
    if !merged.old.iter().all(|row| listed.contains(&row.uuid)) {
        return Ok(false);
    }
    let id: i64 = tx.query_row("SELECT coalesce(max(id), 0) + 1 FROM segments", [], |row| row.get(0))?;
    if let Some(new) = &merged.new {
        catalog::put_segment(
            &tx,
            &SegmentRow { id, uuid: new.uuid.clone(), docs: new.docs, seals: new.seals.clone() },
        )?;
    }
    for Moved { path, from, to, count } in &merged.moved {
        if !catalog::move_file(&tx, path, *from, (id, *to))? {
            catalog::put_dead(&tx, id, *to, *count)?;
        }
    }
    for row in &merged.old {
        tx.execute("DELETE FROM dead WHERE segment = ?1", [row.id])?;
        tx.execute("DELETE FROM segments WHERE id = ?1", [row.id])?;
    }
    let mut totals = catalog::totals(&tx)?;
    totals.generation += 1;
    catalog::set_totals(&tx, &totals)?;
    fail::fail_point!("index-merge-end", |_| Err(IndexError::Interrupted));
    tx.commit()?;
    for row in &merged.old {
        remove_files(root, &row.uuid);
    }
    Ok(true)
}

/// Removes the files of one segment. Readers that have them open keep them.
fn remove_files(root: &Path, uuid: &str) {
    let name = uuid.replace('-', "");
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&name) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Removes the files that no listed segment owns. Nobody else may be writing segments meanwhile.
pub fn sweep(conn: &Connection, root: &Path) -> Result<usize, IndexError> {
    let listed: HashSet<String> =
        catalog::segments(conn)?.into_iter().map(|row| row.uuid.replace('-', "")).collect();
    let mut removed = 0;
    for entry in std::fs::read_dir(root).map_err(|error| IndexError::cache(root, error))?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !listed.contains(name.split('.').next().unwrap_or_default())
            && std::fs::remove_file(entry.path()).is_ok()
        {
            removed += 1;
        }
    }
    Ok(removed)
}

fn alive_set(alive: &BitSet) -> Result<AliveBitSet, IndexError> {
    let mut bytes = Vec::new();
    tantivy::fastfield::write_alive_bitset(alive, &mut bytes).map_err(tantivy::TantivyError::from)?;
    Ok(AliveBitSet::open(OwnedBytes::new(bytes)))
}
