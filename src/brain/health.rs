//! Keeps the health of brains between turns: cooldowns, the times of the last answer and the last failure, and the last
//! error.
//!
//! Each combination of brain, model and class of failure ([`FailureClass`]) has its own cooldown. [`BrainHealth`] is a
//! value; [`HealthStore`] keeps it in one small file of the state directory, which the daemon and `ask` share. A change
//! is read, made and written back under a lock, and the file is replaced whole. If the file is deleted or can't be
//! read, all brains count as healthy, and nothing else is lost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::brain::FailureClass;
use crate::config::json_file;

/// The file in the state directory.
pub const FILE_NAME: &str = "brains.json";

/// The health of all brains.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrainHealth {
    /// Failures that still matter.
    #[serde(default)]
    pub rows: Vec<FailureCount>,
    /// The last answer and error of each brain, by its name.
    #[serde(default)]
    pub seen: BTreeMap<String, LastReply>,
}

/// A failure and how often it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCount {
    /// The brain.
    pub brain: String,
    /// The model.
    pub model: String,
    /// The class of the failure.
    pub class: FailureClass,
    /// The end of the cooldown. Without one the failure is only counted, or the brain is off.
    pub until: Option<Timestamp>,
    /// The number of failures in a row.
    pub count: u32,
    /// When it failed last.
    pub at: Timestamp,
    /// The fingerprint of the settings with which it failed.
    pub settings: String,
    /// The fingerprints of the keys that were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

/// The times of the last answer and failure of a brain or an MCP server, and its last error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReply {
    /// When it answered last.
    pub last_ok: Option<Timestamp>,
    /// When it failed last.
    pub failed: Option<Timestamp>,
    /// Its last error, scrubbed.
    pub last_error: Option<String>,
}

impl LastReply {
    /// Whether the last call went well; none before the first.
    pub fn is_well(&self) -> Option<bool> {
        match (self.last_ok, self.failed) {
            (None, None) => None,
            (ok, failed) => Some(ok >= failed),
        }
    }
}

impl FailureCount {
    /// Whether it is about this brain and model.
    pub fn is_of(&self, brain: &BrainId) -> bool {
        self.brain == brain.brain && self.model == brain.model
    }
}

impl BrainHealth {
    /// The row of a brain and a class.
    pub fn row(&self, brain: &BrainId, class: FailureClass) -> Option<&FailureCount> {
        self.rows.iter().find(|row| row.class == class && row.is_of(brain))
    }

    /// Puts a row in the place of the one with its key.
    pub fn record(&mut self, row: FailureCount) {
        let same =
            |old: &FailureCount| (&old.brain, &old.model, old.class) == (&row.brain, &row.model, row.class);
        self.rows.retain(|old| !same(old));
        self.rows.push(row);
    }
}

/// The file that keeps it.
#[derive(Debug, Clone)]
pub struct HealthStore {
    path: PathBuf,
}

impl HealthStore {
    /// The store in a state directory, which has to exist. Nothing is opened yet.
    pub fn new(state: &Path) -> Self {
        Self { path: state.join(FILE_NAME) }
    }

    /// Loads the health; empty if the file is missing or damaged.
    pub fn load(&self) -> BrainHealth {
        let Ok(bytes) = std::fs::read(&self.path) else { return BrainHealth::default() };
        serde_json::from_slice(&bytes).unwrap_or_else(|error| {
            tracing::warn!(path = %self.path.display(), %error, "what was remembered of brains can't be read; all count as well");
            BrainHealth::default()
        })
    }

    /// Changes the health, one process at a time.
    ///
    /// # Errors
    /// The file can't be written. It is as it was, and `change` counts for this process alone.
    pub fn update(&self, change: impl FnOnce(&mut BrainHealth)) -> io::Result<()> {
        let lock = File::options().create(true).append(true).open(self.path.with_extension("lock"))?;
        lock.lock()?;
        let before = self.load();
        let mut health = before.clone();
        change(&mut health);
        if health != before {
            json_file::replace(&self.path, &serde_json::to_vec_pretty(&health)?, false)?;
        }
        Ok(())
    }

    /// Forgets the failures of one brain, or of all; says whether there were any. When it answered last stays.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn reset(&self, name: Option<&str>) -> io::Result<bool> {
        let meant = |brain: &str| name.is_none_or(|name| name == brain);
        let mut any = false;
        self.update(|health| {
            let before = health.rows.len();
            health.rows.retain(|row| !meant(&row.brain));
            any = before != health.rows.len();
            for (_, seen) in health.seen.iter_mut().filter(|(brain, _)| meant(brain)) {
                any |= seen.last_error.is_some();
                *seen = LastReply { last_ok: seen.last_ok, ..LastReply::default() };
            }
        })?;
        Ok(any)
    }
}

/// One brain of a chain, as far as failing over is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrainId {
    /// Its name in the settings.
    pub brain: String,
    /// Its model.
    pub model: String,
    /// The paying account: brains with the same address and key share one; a brain without a key has one of its own.
    pub account: String,
    /// A fingerprint of its settings without the keys.
    pub settings: String,
    /// A fingerprint of each of its keys; a brain without a key has one empty one.
    pub keys: Vec<String>,
}

impl BrainId {
    /// The identity from a brain's settings; keys are kept as fingerprints alone.
    pub fn new(brain: &str, kind: &str, url: &str, model: &str, keys: &[&str]) -> Self {
        let mut keys: Vec<String> = keys.iter().map(|key| fingerprint(&[key])).collect();
        let host = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or_default();
        // Without a key the account is unknown: such a brain counts as an account of its own.
        let account = format!("{host} {}", keys.first().map_or(brain, String::as_str));
        if keys.is_empty() {
            keys.push(String::new());
        }
        Self {
            brain: brain.to_owned(),
            model: model.to_owned(),
            account,
            settings: fingerprint(&[kind, url, model]),
            keys,
        }
    }

    /// A fingerprint of settings and keys: a record with another one is about another brain.
    pub(super) fn fingerprint(&self) -> String {
        let mut parts: Vec<&str> = vec![&self.settings];
        parts.extend(self.keys.iter().map(String::as_str));
        fingerprint(&parts)
    }
}

fn fingerprint(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("vault-agent 2026 brain fingerprint");
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brain::failover::record;
    use crate::brain::{BrainError, FailureClass};

    fn now() -> Timestamp {
        "2026-12-01T09:30:00Z".parse().unwrap()
    }

    #[test]
    fn it_survives_and_damage_is_harmless() {
        let dir = tempfile::tempdir().unwrap();
        let store = HealthStore::new(dir.path());
        assert_eq!(store.load(), BrainHealth::default());
        let links = [
            BrainId::new("a", "chat", "http://h", "m", &["k"]),
            BrainId::new("b", "chat", "http://i", "m", &[]),
        ];
        for (at, class) in [(0, FailureClass::RateLimit), (1, FailureClass::Auth)] {
            let error = BrainError::new(class, "no");
            store.update(|health| record(health, &links, at, 0, Some(&error), now())).unwrap();
        }
        store.update(|health| record(health, &links, 0, 0, None, now())).unwrap();
        let health = HealthStore::new(dir.path()).load();
        assert_eq!(health.rows.len(), 1);
        assert_eq!(health.seen["a"].last_ok, Some(now()));
        assert!(store.reset(Some("b")).unwrap());
        assert!(!store.reset(Some("b")).unwrap());
        assert!(store.reset(None).unwrap(), "a's last error");
        assert_eq!(store.load().seen["a"].last_ok, Some(now()));
        std::fs::write(dir.path().join(FILE_NAME), "{{{").unwrap();
        assert_eq!(store.load(), BrainHealth::default());
        store
            .update(|health| {
                let error = BrainError::new(FailureClass::Billing, "x");
                record(health, &links, 0, 0, Some(&error), now());
            })
            .unwrap();
        assert_eq!(store.load().rows.len(), 1);
    }

    #[test]
    fn many_writers_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for n in 0..8 {
                let store = HealthStore::new(dir.path());
                scope.spawn(move || {
                    let links = [BrainId::new(&format!("b{n}"), "chat", "http://h", "m", &[])];
                    let error = BrainError::new(FailureClass::RateLimit, "no");
                    store.update(|health| record(health, &links, 0, 0, Some(&error), now())).unwrap();
                });
            }
        });
        assert_eq!(HealthStore::new(dir.path()).load().rows.len(), 8);
    }
}
