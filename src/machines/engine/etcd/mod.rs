//! Implements the engine on etcd: transactions of version 3 that compare values, through the JSON gateway of its
//! servers.
//!
//! A cluster that was restored from a backup has lost claims. This machine therefore stores the cluster's id and
//! revision; it refuses a cluster with another id or a lower revision until a person accepts it.
//!
//! - `wire`: bodies and answers. Pure; `client`: several endpoints; this file: the engine.

mod client;
mod wire;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{EngineError, Entries, EntryChange, StoreEngine, SwapOutcome, check_changes};
use crate::config::json_file;
use client::Endpoints;
use wire::Header;

/// The file in the state directory that keeps the last header.
const SEEN: &str = "machines-etcd.json";

/// The place of an etcd engine.
#[derive(Debug)]
pub struct EtcdPlace {
    /// The endpoints, as the settings checked them; at least one.
    pub endpoints: Vec<String>,
    /// The prefix of every key, without slashes at its ends.
    pub prefix: String,
    /// The user and the password, where the cluster wants them.
    pub user: Option<(String, SecretString)>,
    /// Certificates in PEM that are trusted besides the public ones.
    pub authority: Option<Vec<u8>>,
    /// The vault's state directory.
    pub state: PathBuf,
}

/// A prefix of an etcd cluster.
#[derive(Debug)]
pub struct EtcdEngine {
    inner: Mutex<Inner>,
    prefix: String,
}

#[derive(Debug)]
struct Inner {
    endpoints: Endpoints,
    file: PathBuf,
    seen: Option<Header>,
    /// The revision that the caller knows of; `None` before it read.
    last_read: Option<u64>,
    /// All entries as they were at a revision: only what changed since is fetched.
    known: Option<(u64, Entries)>,
}

impl EtcdEngine {
    /// An engine at `place`; nothing is asked yet.
    ///
    /// # Errors
    /// The authority holds no certificate.
    pub fn new(place: EtcdPlace) -> Result<Self, EngineError> {
        let endpoints = Endpoints::new(place.endpoints, place.user, place.authority.as_deref())?;
        let file = place.state.join(SEEN);
        let seen = json_file::load(&file);
        let prefix = format!("/{}/", place.prefix);
        let inner = Inner { endpoints, file, seen, last_read: None, known: None };
        Ok(Self { inner: Mutex::new(inner), prefix })
    }
}

fn unwritten(file: &std::path::Path, error: &std::io::Error) -> EngineError {
    EngineError::Refused(format!("{} can't be written: {error}", file.display()))
}

impl Inner {
    /// Refuses a cluster that fell behind, and remembers any other.
    fn check(&mut self, answer: &Value) -> Result<Header, EngineError> {
        let now = wire::header(answer).ok_or_else(|| {
            EngineError::Broken("etcd: an answer doesn't say of which cluster it is".to_owned())
        })?;
        let told = |what: &str| {
            Err(EngineError::Broken(format!(
                "etcd: {what}: somebody restored a snapshot or made the cluster anew, and claims are forgotten"
            )))
        };
        match self.seen {
            Some(seen) if seen.cluster != now.cluster => {
                return told("this is another cluster than the one that was known");
            }
            Some(seen) if seen.revision > now.revision => {
                return told("the cluster fell behind what this machine has seen");
            }
            Some(seen) if seen == now => return Ok(now),
            _ => {}
        }
        json_file::save(&self.file, &now).map_err(|error| unwritten(&self.file, &error))?;
        self.seen = Some(now);
        Ok(now)
    }

    /// Fetches all entries under `prefix`, or what changed of them since they were last fetched.
    async fn entries(&mut self, prefix: &str) -> Result<(Entries, u64), EngineError> {
        if let Some((revision, mut entries)) = self.known.take() {
            let answer =
                self.endpoints.ask("kv/range", &wire::range_since(prefix, revision + 1), false).await?;
            let header = self.check(&answer)?;
            entries.extend(wire::entries(prefix, &answer)?);
            // Others than these were removed: their number tells.
            if wire::count(&answer) == entries.len() {
                self.known = Some((header.revision, entries.clone()));
                return Ok((entries, header.revision));
            }
        }
        let (answer, header) = self.range(prefix, false).await?;
        let entries = wire::entries(prefix, &answer)?;
        self.known = Some((header.revision, entries.clone()));
        Ok((entries, header.revision))
    }

    async fn range(&mut self, prefix: &str, count_only: bool) -> Result<(Value, Header), EngineError> {
        let answer = self.endpoints.ask("kv/range", &wire::range(prefix, count_only), false).await?;
        let header = self.check(&answer)?;
        Ok((answer, header))
    }
}

#[async_trait]
impl StoreEngine for EtcdEngine {
    async fn read(&self) -> Result<Entries, EngineError> {
        let mut inner = self.inner.lock().await;
        let (entries, revision) = inner.entries(&self.prefix).await?;
        inner.last_read = Some(revision);
        Ok(entries)
    }

    async fn swap(&self, changes: &[EntryChange]) -> Result<SwapOutcome, EngineError> {
        check_changes(changes)?;
        let mut inner = self.inner.lock().await;
        // A restored cluster must be known before anything is written to it.
        inner.range(&self.prefix, true).await?;
        let body = wire::transaction(&self.prefix, changes);
        let answer = inner.endpoints.ask("kv/txn", &body, true).await?;
        let header = inner.check(&answer).map_err(|error| EngineError::Unknown(error.to_string()))?;
        match wire::made(&self.prefix, &answer).map_err(|error| EngineError::Broken(error.to_string()))? {
            Some(stands) => Ok(SwapOutcome::Lost(stands)),
            None => {
                if inner.last_read.is_some_and(|read| read + 1 == header.revision) {
                    inner.last_read = Some(header.revision);
                }
                Ok(SwapOutcome::Done)
            }
        }
    }

    async fn changed(&self, at_most: Duration) -> Result<bool, EngineError> {
        let mut inner = self.inner.lock().await;
        let Some(last_read) = inner.last_read else { return Ok(true) };
        let body = wire::watch(&self.prefix, last_read + 1);
        let opened = timeout(at_most, inner.endpoints.stream("watch", &body)).await;
        let Ok(opened) = opened else { return Ok(false) };
        let mut stream = opened?;
        drop(inner);
        let watching = async {
            // Each message is an object on a line of its own; the first one says that the watch began.
            while let Some(piece) = stream.chunk().await.ok().flatten() {
                let text = String::from_utf8_lossy(&piece);
                if ["\"events\"", "\"canceled\"", "\"error\""].iter().any(|word| text.contains(word)) {
                    return;
                }
            }
        };
        // A stream that ended says nothing more, so something may have changed.
        Ok(timeout(at_most, watching).await.is_ok())
    }

    async fn forget(&self) -> Result<(), EngineError> {
        let mut inner = self.inner.lock().await;
        (inner.seen, inner.last_read, inner.known) = (None, None, None);
        match std::fs::remove_file(&inner.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritten(&inner.file, &error)),
            _ => Ok(()),
        }
    }
}
