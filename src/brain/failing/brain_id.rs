//! Identifies a brain in failover and health: by name, model, account, and fingerprints of its settings and keys.

/// One brain of a chain, as far as failing over is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrainId {
    /// Its name in the settings.
    pub brain: String,
    /// Its model.
    pub model: String,
    /// The account that pays: brains with the same address and key run dry together; one without a key does alone.
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
