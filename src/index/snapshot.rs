//! What ranking needs beside hits: all blocks of a scope, their texts, and where terms stand.
//!
//! A [`Snapshot`] is one consistent state of the index. Blocks of one file come in the order of the file,
//! so a turn's neighbours are the blocks beside it, and a session is a file's blocks.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, DocSet, TERMINATED, postings::Postings};

use super::block::Block;
use super::catalog::{self, FileRow};
use super::filter;
use super::schema::Fields;
use super::score::Clause;
use super::segment::Texts;
use super::store::Store;
use super::syntax::Item;
use super::terms;
use super::text::Analyzer;
use super::topk;
use super::view::{self, DocRef, View};
use super::{Freshness, Index, IndexError, scope_prefixes};

/// Where a file's blocks stand: its number in the catalog, and the segments and places of what is held in memory.
type Places = (Option<i64>, Vec<(usize, usize)>);

/// A consistent state of the index, fresh when it was taken.
#[derive(Debug)]
pub struct Snapshot<'a> {
    store: &'a Store,
    conn: super::store::Pooled<'a>,
    view: std::sync::Arc<View>,
    options: &'a super::Options,
    /// How fresh it is.
    pub freshness: Freshness,
}

/// A block of a snapshot, without its text (see [`Snapshot::texts`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Names its document in this snapshot.
    pub at: DocRef,
    /// Its file; the same number for all blocks of one file.
    pub file: i64,
    /// What is known of it; `text` and `extra` are empty.
    pub block: Block,
}

/// How often one term stands in the blocks of a scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// The query's word, stemmed.
    pub word: String,
    /// Index into the scope's blocks, and occurrences of the word in any of its forms.
    pub blocks: Vec<(u32, u32)>,
}

impl Index {
    /// Runs `work` on a fresh, consistent state of the index.
    ///
    /// # Errors
    /// As [`Index::search`], and what `work` says.
    pub fn snapshot<T>(
        &self,
        work: impl Fn(&Snapshot<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.healing(|store| {
            let (conn, view, freshness) = self.fresh(store)?;
            work(&Snapshot { store, conn, view, options: &self.options, freshness })
        })
    }
}

impl Snapshot<'_> {
    /// All blocks of a scope (`None`: all), file by file in the order of paths, each file's in its order.
    /// The paths by file number come with them.
    pub fn blocks(&self, scope: Option<&str>) -> Result<(Vec<Stored>, HashMap<i64, FileRow>), IndexError> {
        let prefixes = match scope {
            Some(scope) => scope_prefixes(scope, self.options).unwrap_or_default(),
            None => Vec::new(),
        };
        let inside = |path: &str| {
            prefixes.is_empty() || prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()))
        };
        let common = if let [only] = &prefixes[..] { only.as_str() } else { "" };
        let (mut blocks, mut rows) = (Vec::new(), HashMap::new());
        self.each_note_below(common, inside, |row, some| {
            blocks.extend(some);
            rows.insert(row.id, row.clone());
            Ok(())
        })?;
        Ok((blocks, rows))
    }

    /// Calls `each` with every indexed file whose path `takes`, and its blocks in their order, file by file in
    /// the order of paths: one file's blocks are in memory at a time.
    pub fn each_note(
        &self,
        takes: impl Fn(&str) -> bool,
        each: impl FnMut(&FileRow, Vec<Stored>) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        self.each_note_below("", takes, each)
    }

    fn each_note_below(
        &self,
        prefix: &str,
        takes: impl Fn(&str) -> bool,
        mut each: impl FnMut(&FileRow, Vec<Stored>) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let places: HashMap<i64, usize> =
            self.view.segs.iter().enumerate().map(|(n, seg)| (seg.id, n)).collect();
        // What is read past the catalog: a file's place in it, or an appended log's later part.
        let mut files: BTreeMap<String, Places> = BTreeMap::new();
        for (id, path) in catalog::paths(&self.conn, prefix)? {
            if takes(&path) && !self.view.hidden.contains(&id) {
                files.insert(path, (Some(id), Vec::new()));
            }
        }
        for (n, seg) in self.view.segs.iter().enumerate() {
            for (m, memory) in seg.memory.iter().enumerate().filter(|(_, memory)| takes(&memory.file.path)) {
                files.entry(memory.file.path.clone()).or_default().1.push((n, m));
            }
        }
        for (id, in_memory) in files.into_values() {
            let mut blocks = Vec::new();
            let mut row = None;
            let mut take = |file: i64, seg: usize, run: &catalog::RunRow| -> Result<(), IndexError> {
                for (n, block) in view::unpack(run)?.into_iter().enumerate() {
                    let doc = run.start + u32::try_from(n).unwrap_or(u32::MAX);
                    blocks.push(Stored { at: DocRef { seg, doc }, file, block });
                }
                Ok(())
            };
            if let Some(id) = id {
                for run in catalog::runs_of(&self.conn, id)? {
                    if let Some(seg) = places.get(&run.segment) {
                        take(id, *seg, &run)?;
                    }
                }
                row = Some(catalog::file_by_id(&self.conn, id)?);
            }
            for (n, m) in in_memory {
                let memory = &self.view.segs[n].memory[m];
                // Files in memory have no number of their own unless they replace a known one.
                let new = if memory.file.id == 0 {
                    -1 - i64::try_from(n << 32 | m).unwrap_or(0)
                } else {
                    memory.file.id
                };
                let file = id.unwrap_or(new);
                take(file, n, &memory.run)?;
                row = Some(FileRow { id: file, ..memory.file.clone() });
            }
            if let Some(row) = row {
                each(&row, blocks)?;
            }
        }
        Ok(())
    }

    /// Calls `each` with every file that the index knows, skipped ones included.
    pub fn each_file(&self, mut each: impl FnMut(&FileRow)) -> Result<(), IndexError> {
        let memory = || self.view.segs.iter().flat_map(|seg| &seg.memory).map(|memory| &memory.file);
        let newer: HashSet<&str> = memory().map(|file| file.path.as_str()).collect();
        catalog::each_file(&self.conn, |row| {
            if !self.view.hidden.contains(&row.id) && !newer.contains(row.path.as_str()) {
                each(&row);
            }
        })?;
        memory().for_each(each);
        Ok(())
    }
    /// The texts of blocks. Cheapest where neighbours come one after the other.
    pub fn texts(&self, blocks: &[DocRef]) -> Result<Vec<String>, IndexError> {
        let mut open: HashMap<usize, Texts> = HashMap::new();
        blocks
            .iter()
            .map(|at| {
                let texts = match open.entry(at.seg) {
                    Entry::Occupied(texts) => texts.into_mut(),
                    Entry::Vacant(place) => place.insert(Texts::open(&self.view.segs[at.seg].reader)?),
                };
                Ok(texts.text(at.doc)?.0)
            })
            .collect()
    }

    /// How often each word of `query` stands in each of `blocks`: for BM25 over turns, over windows of
    /// neighbours and over sessions, each with its own statistics.
    pub fn count(&self, query: &str, blocks: &[Stored]) -> Result<Vec<Counted>, IndexError> {
        let mut analyzer = Analyzer::new();
        let mut wanted: Vec<BitSet> =
            self.view.segs.iter().map(|seg| BitSet::with_max_value(seg.reader.max_doc())).collect();
        let mut places: HashMap<DocRef, u32> = HashMap::with_capacity(blocks.len());
        for (n, stored) in blocks.iter().enumerate() {
            wanted[stored.at.seg].insert(stored.at.doc);
            places.insert(stored.at, u32::try_from(n).unwrap_or(u32::MAX));
        }
        let mut counted = Vec::new();
        let mut seen = HashSet::new();
        for word in terms::words(&mut analyzer, query) {
            if !seen.insert(word.stem.clone()) {
                continue;
            }
            let mut found: HashMap<u32, u32> = HashMap::new();
            for stem in [false, true] {
                let term = Fields::term(self.store.fields.text, &word.stem, stem);
                for (n, seg) in self.view.segs.iter().enumerate().filter(|(n, _)| wanted[*n].len() > 0) {
                    let inverted = seg.reader.inverted_index(term.field())?;
                    let postings = inverted
                        .read_postings(&term, IndexRecordOption::WithFreqs)
                        .map_err(tantivy::TantivyError::from)?;
                    let Some(mut postings) = postings else { continue };
                    let mut doc = postings.doc();
                    while doc != TERMINATED {
                        if wanted[n].contains(doc)
                            && let Some(place) = places.get(&DocRef { seg: n, doc })
                        {
                            *found.entry(*place).or_default() += postings.term_freq();
                        }
                        doc = postings.advance();
                    }
                }
            }
            let mut blocks: Vec<(u32, u32)> = found.into_iter().collect();
            blocks.sort_unstable();
            counted.push(Counted { word: word.stem, blocks });
        }
        Ok(counted)
    }

    /// The number of terms in the text of each of `blocks`, as the index keeps it (exact up to 40, then
    /// in steps).
    pub fn lengths(&self, blocks: &[DocRef]) -> Result<Vec<u32>, IndexError> {
        let mut norms = Vec::with_capacity(self.view.segs.len());
        for seg in &self.view.segs {
            norms.push(seg.reader.get_fieldnorms_reader(self.store.fields.text)?);
        }
        Ok(blocks.iter().map(|at| norms[at.seg].fieldnorm(at.doc)).collect())
    }

    /// The `most` best blocks for `query` by BM25, best first, within a scope: the candidates of a
    /// ranking that goes on from there.
    pub fn candidates(
        &self,
        query: &str,
        scope: Option<&str>,
        most: usize,
    ) -> Result<Vec<(f64, Stored, FileRow)>, IndexError> {
        let mut analyzer = Analyzer::new();
        let items = [Item::Words(query.to_owned())];
        let fields = &self.store.fields;
        let clauses: Vec<Clause> = terms::clauses(&self.view, &self.conn, fields, &mut analyzer, &items)?;
        let prefixes =
            scope.map(|scope| scope_prefixes(scope, self.options).unwrap_or_default()).unwrap_or_default();
        let setting = filter::Setting { zone: &self.options.zone, prefixes };
        let syntax = super::syntax::Syntax { items: items.to_vec(), ..Default::default() };
        let allowed = filter::allowed(&self.view, &self.conn, fields, &mut analyzer, &syntax, &setting)?;
        topk::top(&self.view, fields, &clauses, allowed.as_deref(), most)?
            .into_iter()
            .map(|scored| {
                let (file, block) = self.view.resolve(&self.conn, scored.at)?;
                Ok((scored.score, Stored { at: scored.at, file: file.id, block }, file))
            })
            .collect()
    }

    /// The pinned blocks: path without extension, block id.
    pub fn pins(&self) -> Result<Vec<(String, String)>, IndexError> {
        catalog::pins(&self.conn)
    }

    /// The database, for what recall keeps in `vectors`. Its transaction is the snapshot's: read only.
    pub fn database(&self) -> &rusqlite::Connection {
        &self.conn
    }
}
