//! Turns a snapshot into a [`CorpusState`], the index as ranking sees it.
//!
//! A state is kept for the next question while nothing changes.

use std::sync::{Arc, OnceLock, PoisonError};

use crate::search::recall::{CorpusState, Recall, RecallError};
use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::corpus::matrix::Matrix;
use crate::search::store::corpus::vectors;
use crate::search::{AnswerSource, Freshness, IndexError, Snapshot};

impl Recall {
    /// Runs `work` on a fresh state of the index, and says how fresh that is; `work` returns the files that its answer was made from, as
    /// for [`Index::answer`].
    ///
    /// # Errors
    /// The index's.
    pub(in crate::search) fn answer<T>(
        &self,
        work: impl Fn(&Snapshot<'_>, &CorpusState) -> Result<(T, Option<Vec<AnswerSource>>), IndexError>,
    ) -> Result<(T, Freshness), RecallError> {
        Ok(self.index.answer(|snapshot| work(snapshot, &*self.state(snapshot)?))?)
    }

    /// The snapshot's state as ranking sees it: the last one, where nothing has changed since.
    pub(in crate::search) fn state(&self, snapshot: &Snapshot<'_>) -> Result<Arc<CorpusState>, IndexError> {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = kept.as_ref().filter(|state| Arc::ptr_eq(&state.view, snapshot.view())) {
            return Ok(Arc::clone(state));
        }
        let corpus = Corpus::of(snapshot.view(), self.table.clone())?;
        let model = if self.is_builtin() { None } else { self.model(&corpus, snapshot.database())? };
        let (view, all, unasked, lists) =
            (Arc::clone(snapshot.view()), OnceLock::new(), OnceLock::new(), OnceLock::new());
        let state = Arc::new(CorpusState { corpus, view, all, unasked, lists, model });
        Ok(Arc::clone(kept.insert(state)))
    }

    /// Forgets the last state: it has got more vectors.
    pub(in crate::search) fn forget(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The vectors of the settings' model for the blocks of a corpus; none where there are none.
    fn model(
        &self,
        corpus: &Corpus,
        conn: &rusqlite::Connection,
    ) -> Result<Option<(String, Matrix)>, IndexError> {
        let Ok(Some(provider)) = self.provider() else { return Ok(None) };
        let name = provider.name().to_owned();
        let (matrix, places) = vectors::load(conn, &name)?;
        let mut by_slot = Matrix::new(matrix.dimensions());
        for slot in 0..u32::try_from(corpus.len()).unwrap_or(u32::MAX) {
            let row = corpus.hash(slot).and_then(|hash| places.get(&hash).copied());
            by_slot.push_row(&matrix, row);
        }
        Ok((!matrix.is_empty()).then_some((name, by_slot)))
    }
}
