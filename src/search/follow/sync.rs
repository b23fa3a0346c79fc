//! Keeping the corpus in step with the index.
//!
//! The index says which state it is in; where that is the corpus's own, nothing is read. Else the notes that its
//! commits since then changed, or, where that isn't known any more, those whose content hash differs, are taken in
//! again. A cold process begins with the saved corpus. Where most of it is new it is made anew, note by note: no more
//! than a layer's blocks are in memory at a time.
//!
//! `changes` works out what the corpus lacks.

mod changes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::embed::Fixed;
use crate::search::follow::ingest::put;
use crate::search::recall::{Recall, RecallError, State};
use crate::search::store::catalog;
use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::corpus::matrix::Matrix;
use crate::search::store::corpus::persist::Saved;
use crate::search::store::corpus::{persist, vectors};
use crate::search::store::stamp::Stamp;
use crate::search::{Basis, Freshness, IndexError, Snapshot, said};
use changes::{Changes, Making, changes};

const MAKING_IT: &str = "what meaning needs is still being made of so many notes; words alone answered";
const MENDED: &str = "what recall keeps was damaged";

/// One corpus at a time is made anew in a process: another `Recall` over the same cache finds it on disk.
static MAKING: Mutex<()> = Mutex::new(());

impl Recall {
    /// Brings the corpus into the index's state and says how fresh that is.
    ///
    /// # Errors
    /// The index's.
    pub fn sync(&self) -> Result<Freshness, RecallError> {
        self.load()?;
        loop {
            let mut changes = self.changes(false)?;
            if changes.is_none() {
                let _one = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
                self.load()?;
                changes = match self.changes(false)? {
                    None => self.changes(true)?,
                    changes => changes,
                };
            }
            let Some(changes) = changes else { unreachable!("a corpus that is made anew has all changes") };
            let freshness = self.with_mended(changes.freshness.clone());
            if self.take(changes)? {
                return Ok(freshness);
            }
        }
    }

    /// Makes the corpus anew, whatever was saved, so that the next question finds it.
    ///
    /// # Errors
    /// The index's.
    pub fn remake(&self) -> Result<Freshness, RecallError> {
        self.begin_again();
        self.sync()
    }

    /// What `work` makes of the index and a corpus in the same state, from one look at the vault unless the corpus is to be
    /// made anew. Where that takes long and whoever asks is not to wait, it is made behind
    /// them, and `meanwhile` answers. All say which files their answer rests on, as for
    /// [`crate::search::Index::answer`].
    ///
    /// # Errors
    /// The index's.
    pub(in crate::search) fn in_step<T>(
        &self,
        meanwhile: impl Fn(&Snapshot<'_>) -> Result<(T, Option<Vec<Basis>>), IndexError>,
        work: impl Fn(&Snapshot<'_>, &State) -> Result<(T, Option<Vec<Basis>>), IndexError>,
    ) -> Result<(T, Freshness), RecallError> {
        let (mut is_last, mut mended, by_words) = (false, None, std::cell::Cell::new(false));
        loop {
            let (answer, freshness) = self.index.answer(|snapshot| {
                self.load()?;
                loop {
                    let newer = changes(snapshot, &self.read(), self.when_anew(None))?;
                    let is_in_step = match newer {
                        Some(changes) => self.take(changes)?,
                        // After a sync the index may have gone on already: what is new since then waits for the next
                        // question.
                        None if is_last => true,
                        None if self.is_long(snapshot)? => {
                            self.make_behind();
                            by_words.set(true);
                            let (answer, bases) = meanwhile(snapshot)?;
                            return Ok((Some(answer), bases));
                        }
                        None => return Ok((None, None)),
                    };
                    if is_in_step {
                        break;
                    }
                }
                let done = catch_unwind(AssertUnwindSafe(|| work(snapshot, &self.read())));
                match done {
                    Ok(done) => done.map(|(answer, bases)| (Some(answer), bases)),
                    Err(panic) if is_last => {
                        Err(IndexError::Torn(format!("it failed inside: {}", said(&*panic))))
                    }
                    Err(panic) => {
                        self.forget(format!("it failed inside: {}", said(&*panic)));
                        Ok((None, None))
                    }
                }
            })?;
            if let Some(answer) = answer {
                let mut freshness = self.with_mended(freshness);
                freshness.warnings.extend(mended);
                freshness.warnings.extend(by_words.get().then(|| MAKING_IT.to_owned()));
                return Ok((answer, freshness));
            }
            mended = mended.or(self.sync()?.warnings.into_iter().find(|word| word.starts_with(MENDED)));
            is_last = true;
        }
    }

    /// Whether making the corpus takes longer than whoever asks is to wait.
    fn is_long(&self, snapshot: &Snapshot<'_>) -> Result<bool, IndexError> {
        Ok(self.is_hasty && catalog::totals(snapshot.database())?.docs > self.at_once)
    }

    /// Whether the corpus is being made behind whoever asks, or should be.
    pub fn is_making(&self) -> bool {
        self.making.load(Ordering::Acquire)
    }

    /// Makes the corpus, and saves it for this one to load, in a thread that ends with the process.
    fn make_behind(&self) {
        if self.making.swap(true, Ordering::AcqRel) || self.is_leaving {
            return;
        }
        let making = Arc::clone(&self.making);
        let other = Self::new(Arc::clone(&self.index), &self.settings, Arc::clone(&self.clock));
        let make = move || {
            if let Err(error) = other.sync() {
                tracing::warn!(%error, "what meaning needs is not made");
            }
            making.store(false, Ordering::Release);
        };
        if std::thread::Builder::new().name("recall".to_owned()).spawn(make).is_err() {
            self.making.store(false, Ordering::Release);
        }
    }

    /// What the saved corpus depends on beside the notes.
    fn fingerprint(&self) -> String {
        let with = match &self.table {
            Fixed::Builtin => String::new(),
            Fixed::Folder(folder) => format!(" {}", folder.name()),
            Fixed::Off => " without vectors".to_owned(),
        };
        self.index.options().fingerprint() + &with
    }

    /// Takes the saved corpus where there is none yet.
    fn load(&self) -> Result<(), IndexError> {
        let is_new = |state: &State| state.of.is_none() && state.corpus.is_empty();
        if !is_new(&self.read()) {
            return Ok(());
        }
        let mut state = self.write();
        if !is_new(&state) {
            return Ok(());
        }
        match persist::load(&self.file, &self.fingerprint(), false) {
            Saved::Whole(mut corpus, of) => {
                corpus.table = state.corpus.table.clone();
                (state.corpus, state.of) = (*corpus, of);
                if !self.is_builtin() {
                    drop(state);
                    self.load_model()?;
                }
            }
            Saved::Nothing => {}
            Saved::Damaged(why) => {
                drop(state);
                self.forget(why);
            }
        }
        Ok(())
    }

    /// Forgets all that is known of the blocks, on disk too: it is damaged, and is made anew.
    fn forget(&self, why: String) {
        tracing::warn!(why, "what recall keeps is damaged and is made anew");
        self.begin_again();
        *self.mended.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    fn begin_again(&self) {
        let mut state = self.write();
        let corpus = Corpus { table: state.corpus.table.clone(), ..Corpus::new() };
        *state = State { corpus, turn: state.turn + 1, ..State::default() };
        persist::forget(&self.file);
        *self.work() = None;
    }

    /// Says what was damaged, once.
    fn with_mended(&self, mut freshness: Freshness) -> Freshness {
        let why = self.mended.lock().unwrap_or_else(PoisonError::into_inner).take();
        freshness.warnings.extend(why.map(|why| format!("{MENDED} ({why}) and was made anew")));
        freshness
    }

    /// What is damaged of what is saved, by a look at every byte, for a person; none where all is whole.
    pub fn damage(&self) -> Option<String> {
        match persist::load(&self.file, &self.fingerprint(), true) {
            Saved::Damaged(why) => Some(format!("{MENDED} ({why}); it is made anew with the next question")),
            Saved::Whole(..) | Saved::Nothing => None,
        }
    }

    /// Brings the corpus up to date, and saves it where much of it is new. Not where another question has brought it
    /// elsewhere since the changes were worked out.
    fn take(&self, changes: Changes) -> Result<bool, IndexError> {
        if changes.anew.is_none() && self.read().is_of(changes.stamp) && changes.beyond.is_empty() {
            return Ok(true);
        }
        let mut state = self.write();
        if state.turn != changes.turn && changes.anew.is_none() {
            return Ok(false);
        }
        let is_anew = changes.anew.is_some();
        if state.of.is_some_and(|of| of.epoch != changes.stamp.epoch) {
            state.unsaved = usize::MAX;
        }
        state.take(changes);
        // Whoever answers again and again saves when nobody waits; the layers of a new corpus are on disk already.
        if is_anew || !self.is_resident && state.has_much_unsaved() {
            self.write_down(&mut state);
        }
        if !self.is_builtin() {
            drop(state);
            self.load_model()?;
        }
        Ok(true)
    }

    /// Saves the corpus where much of it is new. Questions go on meanwhile: the layer that is the work is made beside
    /// them, and taken if nothing has changed since.
    pub fn save(&self) {
        if self.read().corpus.is_worn() {
            let anew = self.changes(true).and_then(|changes| {
                changes.map(|changes| self.take(changes)).transpose().map_err(Into::into)
            });
            if let Err(error) = anew {
                tracing::debug!(%error, "the corpus is not made anew");
            }
            return;
        }
        let (turn, frozen) = {
            let state = self.read();
            if !state.has_much_unsaved() {
                return;
            }
            (state.turn, state.corpus.frozen())
        };
        let mut state = self.write();
        if state.turn != turn {
            return;
        }
        if let Some(frozen) = frozen {
            state.corpus.adopt(frozen);
        }
        self.write_down(&mut state);
    }

    fn when_anew<'a>(&self, anew_in: Option<Option<&'a Path>>) -> Making<'a> {
        Making { anew_in, if_worn: !self.is_resident }
    }

    /// Saves the corpus as it is.
    fn write_down(&self, state: &mut State) {
        let State { corpus, of, beyond, .. } = &mut *state;
        let of = of.filter(|_| beyond.is_empty());
        // A cache that can't be written is made again next time.
        if let Err(error) = persist::save(corpus, of, &self.fingerprint(), &self.file) {
            tracing::debug!(%error, path = %self.file.display(), "the corpus is not saved");
        }
        state.unsaved = 0;
        // A layer that was filled up numbers its blocks anew.
        state.all = OnceLock::new();
        state.told = OnceLock::new();
        state.lists = OnceLock::new();
    }

    /// What is newer than the corpus; none where all of it should be made anew, unless that is what is asked.
    fn changes(&self, anew: bool) -> Result<Option<Changes>, RecallError> {
        let folder = self.file.parent().map(std::path::Path::to_path_buf);
        let state = self.read();
        Ok(self.index.snapshot(|snapshot| {
            changes(snapshot, &state, self.when_anew(anew.then_some(folder.as_deref())))
        })?)
    }

    /// Loads the settings' model's vectors for the corpus as it is.
    pub(in crate::search) fn load_model(&self) -> Result<(), IndexError> {
        let Ok(Some(provider)) = self.provider() else { return Ok(()) };
        let name = provider.name().to_owned();
        let store = self.index.store()?;
        let (matrix, places) = vectors::load(&*store.conn()?, &name)?;
        let mut state = self.write();
        let mut by_slot = Matrix::new(matrix.dimensions());
        for slot in 0..u32::try_from(state.corpus.len()).unwrap_or(u32::MAX) {
            let has_vector = state.corpus.has(slot) && state.corpus.has_vector(slot);
            let row = has_vector.then(|| places.get(&state.corpus.hash(slot)).copied()).flatten();
            by_slot.push_row(&matrix, row);
        }
        state.model = (!matrix.is_empty()).then_some((name, by_slot));
        Ok(())
    }

    pub(in crate::search) fn write(&self) -> std::sync::RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, changes: Changes) {
        if changes.anew.is_some() || !changes.gone.is_empty() || !changes.notes.is_empty() {
            self.all = OnceLock::new();
            self.told = OnceLock::new();
            self.lists = OnceLock::new();
        }
        if let Some(corpus) = changes.anew {
            self.corpus = corpus;
            self.unsaved = usize::MAX;
        } else {
            for path in &changes.gone {
                self.corpus.remove(path);
                self.unsaved = self.unsaved.saturating_add(1);
            }
            for note in &changes.notes {
                put(&mut self.corpus, note);
                self.unsaved = self.unsaved.saturating_add(note.blocks.len() + 1);
            }
        }
        (self.of, self.beyond) = (Some(changes.stamp), changes.beyond);
        self.turn += 1;
    }

    /// Whether so much is not in the saved file that whoever loads that has to make a good deal of it again.
    fn has_much_unsaved(&self) -> bool {
        self.unsaved > self.corpus.blocks().max(10_000) / 50
    }

    /// Whether it is exactly a state of the index as that was committed.
    fn is_of(&self, stamp: Stamp) -> bool {
        self.of == Some(stamp) && self.beyond.is_empty()
    }
}
