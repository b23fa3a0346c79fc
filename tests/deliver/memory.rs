//! Implements an engine in memory whose connections fail as they are told to.

use std::sync::MutexGuard;

use tokio::sync::Notify;
use vault_agent::machines::engine::*;

use crate::support::prelude::*;

/// The outcome of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing goes wrong.
    None,
    /// The engine isn't reached.
    Unreachable,
    /// The request is lost on its way, and the caller can't know.
    LostRequest,
    /// The change is made, and its answer is lost.
    LostAnswer,
    /// The engine refuses.
    Refused,
}

/// The store itself, shared by the connections of all machines.
#[derive(Debug, Default)]
struct Store {
    entries: Entries,
    revision: u64,
}

/// One machine's connection to the store.
#[derive(Debug, Clone, Default)]
pub struct MemoryEngine {
    store: Arc<Mutex<Store>>,
    change: Arc<Notify>,
    seen: Arc<Mutex<u64>>,
    faults: Arc<Mutex<VecDeque<Fault>>>,
    cut: Arc<Mutex<bool>>,
}

impl MemoryEngine {
    /// A new, empty store, and a connection to it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another machine's connection to the same store, with faults of its own.
    pub fn connection(&self) -> Self {
        Self { store: self.store.clone(), change: self.change.clone(), ..Self::new() }
    }

    /// Sets the outcome of the next calls, in order; later ones go well.
    pub fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.lock().unwrap().extend(faults);
    }

    /// How many of these outcomes are still to come.
    pub fn left(&self) -> usize {
        self.faults.lock().unwrap().len()
    }

    /// Takes this connection away, or brings it back.
    pub fn cut(&self, is_cut: bool) {
        *self.cut.lock().unwrap() = is_cut;
    }

    /// All entries as they stand.
    pub fn entries(&self) -> Entries {
        self.store().entries.clone()
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap()
    }

    fn fault(&self) -> Fault {
        if *self.cut.lock().unwrap() {
            return Fault::Unreachable;
        }
        self.faults.lock().unwrap().pop_front().unwrap_or(Fault::None)
    }
}

/// What a call says that came to nothing.
fn failed(fault: Fault) -> EngineError {
    match fault {
        Fault::Refused => EngineError::Refused("the store refuses".to_owned()),
        Fault::LostRequest | Fault::LostAnswer => EngineError::Unknown("the answer was lost".to_owned()),
        Fault::Unreachable | Fault::None => EngineError::Unreachable("the store is not reached".to_owned()),
    }
}

#[async_trait]
impl StoreEngine for MemoryEngine {
    async fn read(&self) -> Result<Entries, EngineError> {
        match self.fault() {
            Fault::None => {}
            Fault::Refused => return Err(failed(Fault::Refused)),
            _ => return Err(failed(Fault::Unreachable)),
        }
        let store = self.store();
        *self.seen.lock().unwrap() = store.revision;
        Ok(store.entries.clone())
    }

    async fn swap(&self, changes: &[EntryChange]) -> Result<SwapOutcome, EngineError> {
        check_changes(changes)?;
        let fault = self.fault();
        if !matches!(fault, Fault::None | Fault::LostAnswer) {
            return Err(failed(fault));
        }
        let mut store = self.store();
        let answer = apply(&mut store.entries, changes);
        if answer == SwapOutcome::Done {
            store.revision += 1;
            self.change.notify_waiters();
        }
        if fault == Fault::LostAnswer { Err(failed(fault)) } else { Ok(answer) }
    }

    async fn changed(&self, at_most: Duration) -> Result<bool, EngineError> {
        if self.fault() != Fault::None {
            return Err(failed(Fault::Unreachable));
        }
        let wait = self.change.notified();
        if self.store().revision != *self.seen.lock().unwrap() {
            return Ok(true);
        }
        Ok(tokio::time::timeout(at_most, wait).await.is_ok())
    }
}
