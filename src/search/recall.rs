//! Defines [`Recall`], which searches one vault by words and meaning. It is opened once and answers many queries.
//!
//! [`Recall`] is built on an [`Index`]. It keeps the ranking's data on the corpus ([`CorpusState`]) until the corpus
//! changes. [`crate::search::results`] has the methods that answer.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::config::Settings;
use crate::embed::http::wait;
use crate::embed::retry::{self, Backoff};
use crate::embed::{self, EmbedPurpose, ModelError, Provider, StaticModel};
use crate::search::analyze::{names_of, without_names};
use crate::search::rank::turn_signals::Candidates;
use crate::search::store::{Corpus, FileRow, Matrix, Probe, vectors};
use crate::search::{Index, Result, Snapshot};
use crate::workspace::Workspace;

/// A question doesn't wait longer than this for a model's endpoint.
const PATIENCE: Duration = Duration::from_secs(4);

/// Search and recall over one vault's index.
#[derive(Debug)]
pub struct Recall {
    pub(in crate::search) index: Arc<Index>,
    pub(in crate::search) settings: Settings,
    /// The last question's state of the index, for the next one.
    pub(in crate::search) state: Mutex<Option<Arc<CorpusState>>>,
    provider: OnceLock<Result<Option<Arc<dyn Provider>>, ModelError>>,
    /// How long a question waits for a model's endpoint.
    pub patience: Duration,
}

/// A state of the index as ranking sees it, kept between questions.
#[derive(Debug, Default)]
pub(in crate::search) struct CorpusState {
    /// The blocks.
    pub corpus: Arc<Corpus>,
    /// All living blocks, as candidates, once they were asked for.
    pub all: OnceLock<Arc<Candidates>>,
    /// Those that may be given unasked, once they were asked for.
    pub unasked: OnceLock<Arc<Candidates>>,
    /// The flags, by a note's number, of the notes whose blocks are documents of their own; computed when first needed.
    pub lists: OnceLock<Vec<bool>>,
    /// The vectors of the settings' model, by slot, where it isn't the built-in one.
    pub model: Option<(String, Matrix)>,
}

/// A question's vector and the matrix that it goes with.
pub(in crate::search) struct QuestionVector {
    pub probe: Option<Probe>,
    /// Whether it goes with the built-in vectors.
    pub is_builtin: bool,
    /// A warning for a person.
    pub warning: Option<String>,
    /// The percentage of the candidates that the settings' model has embedded, where that isn't the built-in one.
    pub embedded: Option<u8>,
}

impl Recall {
    /// On a vault's index. Nothing is read yet.
    pub fn new(index: Arc<Index>, settings: &Settings) -> Self {
        Self {
            index,
            settings: settings.clone(),
            state: Mutex::default(),
            provider: OnceLock::new(),
            patience: PATIENCE,
        }
    }

    /// On a workspace's index, which is opened.
    ///
    /// # Errors
    /// As [`Index::of`].
    pub fn of(workspace: &Workspace) -> Result<Self> {
        Ok(Self::new(Arc::new(workspace.index()?), &workspace.settings))
    }

    /// The index beneath.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// The table of the blocks' fixed vectors, which they have beside those of the settings' model.
    pub(in crate::search) fn table(&self) -> &StaticModel {
        &self.index.basis.table
    }

    pub(in crate::search) fn zone(&self) -> &TimeZone {
        &self.index.basis.zone
    }

    pub(in crate::search) fn now(&self) -> Timestamp {
        self.index.clock.now()
    }

    /// The settings' model; none where they say `none`.
    ///
    /// # Errors
    /// The settings don't name a usable one.
    pub fn provider(&self) -> Result<Option<Arc<dyn Provider>>, ModelError> {
        self.provider.get_or_init(|| embed::open(&self.settings, self.index.vault().root())).clone()
    }

    /// Whether the files of its models are unchanged.
    pub fn is_current(&self) -> bool {
        self.table().is_current()
    }

    /// Whether the settings' model is the built-in one.
    pub fn is_builtin(&self) -> bool {
        self.settings.embed.provider == "builtin"
    }

    /// Runs `work` on a fresh state of the index; `work` returns the files that its answer was made from, as for
    /// [`Index::answer`], which takes `is_meant`, too.
    ///
    /// # Errors
    /// The index's.
    pub(in crate::search) fn answer<T>(
        &self,
        is_meant: &dyn Fn(&str) -> bool,
        work: impl Fn(&Snapshot<'_>, &CorpusState) -> Result<(T, Option<Vec<FileRow>>)>,
    ) -> Result<T> {
        self.index.answer(is_meant, |snapshot| work(snapshot, &*self.state(snapshot)?))
    }

    /// The snapshot's state as ranking sees it: the last one, where nothing has changed since.
    pub(in crate::search) fn state(&self, snapshot: &Snapshot<'_>) -> Result<Arc<CorpusState>> {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = kept.as_ref().filter(|state| Arc::ptr_eq(&state.corpus, &snapshot.corpus)) {
            return Ok(Arc::clone(state));
        }
        let corpus = Arc::clone(&snapshot.corpus);
        let model = self.model(&corpus, snapshot.database())?;
        Ok(Arc::clone(kept.insert(Arc::new(CorpusState { corpus, model, ..CorpusState::default() }))))
    }

    /// Forgets the last state: it has got more vectors.
    pub(in crate::search) fn forget(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The vectors of the settings' model for the blocks of a corpus; none where there are none.
    fn model(&self, corpus: &Corpus, conn: &rusqlite::Connection) -> Result<Option<(String, Matrix)>> {
        let Ok(Some(provider)) = self.provider() else { return Ok(None) };
        let name = provider.name().to_owned();
        let (dimension, found) = vectors::load(conn, &name)?;
        let mut by_slot = Matrix::new(dimension);
        for slot in 0..u32::try_from(corpus.len()).unwrap_or(u32::MAX) {
            by_slot.push(corpus.hash(slot).and_then(|hash| found.get(&hash)).map(Vec::as_slice));
        }
        Ok((!found.is_empty()).then_some((name, by_slot)))
    }

    /// The vector of a question, by the settings' model where it has vectors for nearly all of the scope
    /// and can be reached, else by the built-in one.
    pub(in crate::search) fn ask(
        &self,
        text: &str,
        state: &CorpusState,
        candidates: &Candidates,
    ) -> QuestionVector {
        let mut vector = self.ask_model(text, state, candidates);
        if let Some(error) = &self.index.table_error {
            let words = format!("{error}; the built-in table is used");
            vector.warning = Some(vector.warning.map_or(words.clone(), |other| format!("{other}; {words}")));
        }
        vector
    }

    /// The vector of a question by the table in the binary; `None` if blocks have no vectors of that table.
    pub(in crate::search) fn builtin_probe(
        &self,
        text: &str,
        state: &CorpusState,
        candidates: &Candidates,
    ) -> Option<Probe> {
        let table = self.table();
        table.is_builtin().then(|| Probe::new(&table.embed(&nameless(text, state, candidates)))).flatten()
    }

    fn ask_model(&self, text: &str, state: &CorpusState, candidates: &Candidates) -> QuestionVector {
        let text = nameless(text, state, candidates);
        let builtin = |warning: Option<String>, embedded| QuestionVector {
            probe: Probe::new(&self.table().embed(&text)),
            is_builtin: true,
            warning: warning.map(|why| format!("{why}; ranked with the built-in vectors")),
            embedded,
        };
        let provider = match self.provider() {
            Ok(Some(provider)) => provider,
            Ok(None) => return builtin(None, None),
            Err(error) => return builtin(Some(error.to_string()), None),
        };
        let Some((name, matrix)) = state.model.as_ref().filter(|(name, _)| name == provider.name()) else {
            return builtin(Some(format!("nothing is embedded by `{}` yet", provider.name())), Some(0));
        };
        let slots = || candidates.slots().filter(|slot| state.corpus.hash(*slot).is_some());
        let (all, with) = (slots().count(), slots().filter(|slot| matrix.has(*slot as usize)).count());
        let share = with * 100 / all.max(1);
        let embedded = u8::try_from(if all == 0 { 100 } else { share }).ok();
        // Half-embedded memory would hide the other half.
        if with * 20 < all * 19 {
            return builtin(Some(format!("`{name}` has embedded {share} % so far")), embedded);
        }
        match wait_for(&*provider, text.to_string(), self.patience) {
            Ok(vector) if vector.len() == matrix.dimensions() => {
                QuestionVector { probe: Probe::new(&vector), is_builtin: false, warning: None, embedded }
            }
            Ok(vector) => {
                let (now, then) = (vector.len(), matrix.dimensions());
                let why = format!("`{name}` answers with dimension {now}, its stored vectors have {then}");
                builtin(Some(why), embedded)
            }
            Err(error) => builtin(Some(error.to_string()), embedded),
        }
    }
}

/// A question without the names of the speakers in scope. A name of a speaker elsewhere stays, because Rose may be a
/// flower here.
fn nameless<'t>(text: &'t str, state: &CorpusState, candidates: &Candidates) -> std::borrow::Cow<'t, str> {
    let names = names_of(candidates.authors.iter().map(|author| state.corpus.author_name(*author)));
    without_names(text, &names)
}

/// Embeds one question.
fn wait_for(provider: &dyn Provider, text: String, patience: Duration) -> Result<Vec<f32>, ModelError> {
    let unreachable = |reason: &str| ModelError::Unreachable {
        provider: provider.name().to_owned(),
        reason: reason.to_owned(),
        after: None,
    };
    let texts = [text];
    let call = retry::embed(provider, &texts, EmbedPurpose::Query, Backoff::WAITING);
    let vectors = wait(patience, call, unreachable)?;
    vectors.into_iter().next().ok_or_else(|| unreachable("no vector"))
}
