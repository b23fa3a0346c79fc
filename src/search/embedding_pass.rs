//! Embeds the texts of blocks with the settings' model: on start, hourly, after changes, and after failures.
//!
//! The `vectors` table lists the texts, with the state of each. A pass records new texts and deletes the rows of
//! removed texts. Then it embeds, in batches, the texts that are pending or failed long ago, the latest changes first.
//! A batch that is refused is tried by halves, so that one text keeps no other out. Each batch is stored before the
//! next one begins, so a stop loses one batch at most. During a pass, search uses the stored vectors, or the built-in
//! ones. Tool calls and results are never embedded.
//!
//! The built-in vectors of blocks are in the segments. If the settings' model is the built-in one, the table has only
//! the turns of conversations, for other programs that read it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::embed::retry::{self, Backoff};
use crate::embed::{EmbedPurpose, ModelError, Provider};
use crate::search::analyze::{Shape, embedded, names_of};
use crate::search::recall::Recall;
use crate::search::store::{Counts, Hash, NEVER, Pointer, hash, vectors};
use crate::search::{Block, Result, Role};

/// The number of batches that are chosen at a time: the choice reads all pending blocks.
const AHEAD: usize = 32;

/// The result of a pass; nothing is done where the cache can't be written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbeddingReport {
    /// Texts embedded.
    pub embedded: usize,
    /// Texts that could not be.
    pub failed: usize,
    /// The numbers of the model's rows by state.
    pub counts: Counts,
    /// The last error.
    pub error: Option<ModelError>,
    /// In how many seconds the first of the failed texts is to be tried again.
    pub again: Option<i64>,
}

impl Recall {
    /// One pass. Safe to stop and to repeat.
    ///
    /// # Errors
    /// The index's, or settings that name no usable model. What the model does wrong is in the result.
    pub async fn embed_pending(&self) -> Result<EmbeddingReport> {
        let mut done = EmbeddingReport::default();
        let store = self.index.store()?;
        let provider: Arc<dyn Provider> = match self.provider()? {
            _ if !store.is_writable() => return Ok(done),
            Some(provider) => provider,
            None if self.is_builtin() => Arc::new(self.table().clone()),
            None => return Ok(done),
        };
        let name = provider.name().to_owned();
        let now = self.now().as_second();
        let expected = vectors::dimension(&store.conn()?, &name)?;
        let (mut ahead, mut noted, mut size, mut refused) = (Vec::new(), None, provider.batch(), 0);
        loop {
            if ahead.is_empty() {
                // Changes since this pass began come before older ones.
                let generation = self.note_all(&name, noted)?;
                noted = Some(generation);
                ahead = vectors::wanting(&store.conn()?, &name, now, provider.batch() * AHEAD)?;
            }
            let wanted: Vec<_> = ahead.drain(..ahead.len().min(size)).collect();
            if wanted.is_empty() {
                break;
            }
            let mut texts = self.texts_of(&wanted)?;
            let batch: Vec<(Hash, String)> =
                wanted.iter().filter_map(|(hash, ..)| Some((*hash, texts.remove(hash)?))).collect();
            let said: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            let answer = retry::embed(&*provider, &said, EmbedPurpose::Document, Backoff::BACKGROUND).await;
            let answer = answer.and_then(|found| match (expected, found.first()) {
                (Some(then), Some(first)) if first.len() != then => Err(ModelError::BadAnswer {
                    provider: name.clone(),
                    wanted: "vectors",
                    reason: format!("dimension {} where its stored vectors have {then}", first.len()),
                }),
                _ => Ok(found),
            });
            let conn = store.conn()?;
            let tx = conn.unchecked_transaction()?;
            // The next pass deletes texts that vanished since they were recorded.
            let known: HashSet<Hash> = batch.iter().map(|(hash, _)| *hash).collect();
            for (hash, ..) in wanted.iter().filter(|(hash, ..)| !known.contains(hash)) {
                vectors::fail(&tx, &name, hash, "its text is gone", now)?;
            }
            match answer {
                Ok(found) => {
                    for ((hash, _), vector) in batch.iter().zip(&found) {
                        vectors::store(&tx, &name, hash, vector)?;
                    }
                    done.embedded += batch.len();
                    (size, refused) = ((2 * size).min(provider.batch()), 0);
                    tx.commit()?;
                }
                Err(error) if batch.len() > 1 && !error.is_temporary() => {
                    size = batch.len() / 2;
                    ahead.splice(..0, wanted);
                }
                Err(error) => {
                    for (hash, _) in &batch {
                        vectors::fail(&tx, &name, hash, &error.to_string(), now)?;
                    }
                    done.failed += batch.len();
                    tx.commit()?;
                    refused += batch.len();
                    let stop = error.is_temporary() || refused >= provider.batch();
                    done.error = Some(error);
                    // An endpoint that is down, or refuses everything, does so for the rest of the pass.
                    if stop {
                        break;
                    }
                }
            }
        }
        done.counts = vectors::counts(&store.conn()?, &name)?;
        let again = vectors::first_retry(&store.conn()?, &name)?;
        done.again = again.map(|at| at.saturating_sub(self.now().as_second()).max(0));
        if done.embedded > 0 && !self.is_builtin() {
            self.forget();
        }
        Ok(done)
    }

    /// Lists what should have a vector by model `name`, and forgets what is gone, unless the index is as it was `noted`
    /// last. Returns its generation.
    fn note_all(&self, name: &str, noted: Option<u64>) -> Result<u64> {
        let (state, generation) =
            self.index.snapshot(|snapshot| Ok((self.state(snapshot)?, snapshot.freshness.generation)))?;
        let store = self.index.store()?;
        if !store.is_writable() || noted == Some(generation) {
            return Ok(generation);
        }
        let corpus = &state.corpus;
        let mut known: HashSet<Hash> = HashSet::new();
        let conn = store.conn()?;
        let tx = conn.unchecked_transaction()?;
        let mut pointers = Vec::new();
        for file in corpus.notes() {
            for slot in file.slots {
                let meta = corpus.meta(slot);
                let is_turn = meta.shape.has(Shape::TURN);
                let is_wanted = is_turn || name != self.table().name();
                let hash = corpus.hash(slot).filter(|_| is_wanted && !meta.shape.has(Shape::TOOL));
                let Some(hash) = hash.filter(|hash| known.insert(*hash)) else { continue };
                let context = file.row.path.split('/').rev().nth(1);
                pointers.push(Pointer {
                    hash,
                    path: &file.row.path,
                    line: meta.line,
                    timestamp: Some(meta.time).filter(|time| *time != NEVER),
                    role: corpus.role(slot).map(Role::as_str),
                    context_id: context.filter(|_| is_turn),
                });
            }
            vectors::note(&tx, name, &pointers)?;
            pointers.clear();
        }
        vectors::forget(&tx, name, |hash| known.contains(hash))?;
        tx.commit()?;
        Ok(generation)
    }

    /// The texts, as the model reads them, of rows by their hash.
    fn texts_of(&self, wanted: &[(Hash, String, u32)]) -> Result<HashMap<Hash, String>> {
        let found = self.index.snapshot(|snapshot| {
            let (mut out, mut lines) = (Vec::new(), HashMap::<&str, HashSet<u32>>::new());
            wanted.iter().for_each(|(_, path, line)| _ = lines.entry(path).or_default().insert(*line));
            for note in snapshot.corpus.notes() {
                let Some(lines) = lines.get(&*note.row.path) else { continue };
                let blocks = snapshot.corpus.blocks_of(&note)?;
                let names = names_of(blocks.iter().filter_map(|stored| stored.block.author.as_deref()));
                let is_wanted = |block: &Block| lines.contains(&block.line) && block.role != Some(Role::Tool);
                for stored in blocks.iter().filter(|stored| is_wanted(&stored.block)) {
                    out.push(embedded(&snapshot.text(stored.slot)?, &names).into_owned());
                }
            }
            Ok(out)
        })?;
        Ok(found.into_iter().map(|text| (hash(&text), text)).collect())
    }
}
