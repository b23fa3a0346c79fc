//! Implements the engine, the store that machines share, on etcd. Compare-and-swap is a transaction of the v3 API, sent
//! through the JSON gateway of etcd's servers.
//!
//! A cluster that was restored from a backup has lost claims. This machine therefore stores the cluster's id and
//! revision. A cluster with another id or a lower revision is refused until a person accepts it.
//!
//! - `client`: several endpoints; this file: the engine, and the bodies and answers of the gateway.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use client::Endpoints;
use data_encoding::BASE64;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{
    AS_IT_IS, EngineError, Entries, EntryChange, MAX_VALUE, Result, StoreEngine, SwapOutcome, check_changes,
    is_key,
};
use crate::config::json_file;

mod client;

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
    pub fn new(place: EtcdPlace) -> Result<Self> {
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
    fn check(&mut self, answer: &Value) -> Result<Header> {
        let now = header(answer).ok_or_else(|| {
            EngineError::Broken("etcd: an answer doesn't say of which cluster it is".to_owned())
        })?;
        let told = |what: &str| {
            Err(EngineError::Broken(format!(
                "etcd: {what}: the cluster was restored from a snapshot or created anew, so claims are lost; {AS_IT_IS}"
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
    async fn entries(&mut self, prefix: &str) -> Result<(Entries, u64)> {
        if let Some((revision, mut entries)) = self.known.take() {
            let since = (revision + 1).to_string();
            let (answer, header) = self.range(prefix, "min_mod_revision", since).await?;
            entries.extend(read_entries(prefix, &answer)?);
            // Others than these were removed: their number tells.
            if count(&answer) == entries.len() {
                self.known = Some((header.revision, entries.clone()));
                return Ok((entries, header.revision));
            }
        }
        let (answer, header) = self.range(prefix, "count_only", false).await?;
        let entries = read_entries(prefix, &answer)?;
        self.known = Some((header.revision, entries.clone()));
        Ok((entries, header.revision))
    }

    async fn range(&mut self, prefix: &str, field: &str, value: impl Into<Value>) -> Result<(Value, Header)> {
        let answer = self.endpoints.ask("kv/range", &range(prefix, field, value), false).await?;
        let header = self.check(&answer)?;
        Ok((answer, header))
    }
}

#[async_trait]
impl StoreEngine for EtcdEngine {
    async fn read(&self) -> Result<Entries> {
        let mut inner = self.inner.lock().await;
        let (entries, revision) = inner.entries(&self.prefix).await?;
        inner.last_read = Some(revision);
        Ok(entries)
    }

    async fn swap(&self, changes: &[EntryChange]) -> Result<SwapOutcome> {
        check_changes(changes)?;
        let mut inner = self.inner.lock().await;
        // A restored cluster must be known before anything is written to it.
        inner.range(&self.prefix, "count_only", true).await?;
        let body = transaction(&self.prefix, changes);
        let answer = inner.endpoints.ask("kv/txn", &body, true).await?;
        let header = inner.check(&answer).map_err(|error| EngineError::Unknown(error.to_string()))?;
        match made(&self.prefix, &answer).map_err(|error| EngineError::Broken(error.to_string()))? {
            Some(stands) => Ok(SwapOutcome::Lost(stands)),
            None => {
                if inner.last_read.is_some_and(|read| read + 1 == header.revision) {
                    inner.last_read = Some(header.revision);
                }
                Ok(SwapOutcome::Done)
            }
        }
    }

    async fn changed(&self, at_most: Duration) -> Result<bool> {
        let mut inner = self.inner.lock().await;
        let Some(last_read) = inner.last_read else { return Ok(true) };
        let since = (last_read + 1).to_string();
        let body = json!({ "create_request": range(&self.prefix, "start_revision", since) });
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

    async fn forget(&self) -> Result<()> {
        let mut inner = self.inner.lock().await;
        (inner.seen, inner.last_read, inner.known) = (None, None, None);
        match std::fs::remove_file(&inner.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritten(&inner.file, &error)),
            _ => Ok(()),
        }
    }
}

/// The cluster's state, which stands in every answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Header {
    /// The cluster's number.
    pub cluster: u64,
    /// How many changes were made in it.
    pub revision: u64,
}

/// The meaning of an error for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// Nothing was changed, and another endpoint may be able.
    Elsewhere(String),
    /// The change may have been made.
    Unsure(String),
    /// The token is too old; with a new one it may be taken.
    Token,
    /// Refused until a person does something.
    Refused(String),
}

/// Every key that begins with `prefix`, with one more field of the request.
fn range(prefix: &str, field: &str, value: impl Into<Value>) -> Value {
    json!({ "key": coded(prefix), "range_end": coded_end(prefix), field: value.into() })
}

/// The number of keys in the range of an answer, including keys that were left out of it.
pub fn count(answer: &Value) -> usize {
    answer.get("count").and_then(number).and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
}

/// The transaction that makes all `changes` under `prefix` if each key has its expected value, and otherwise reads the
/// present values.
pub fn transaction(prefix: &str, changes: &[EntryChange]) -> Value {
    let key = |change: &EntryChange| coded(&format!("{prefix}{}", change.key));
    let compare = |change: &EntryChange| match &change.expected {
        Some(value) => {
            json!({ "key": key(change), "target": "VALUE", "result": "EQUAL", "value": coded(value) })
        }
        None => json!({ "key": key(change), "target": "CREATE", "result": "EQUAL", "create_revision": "0" }),
    };
    let make = |change: &EntryChange| match &change.value {
        Some(value) => json!({ "request_put": { "key": key(change), "value": coded(value) } }),
        None => json!({ "request_delete_range": { "key": key(change) } }),
    };
    let look = |change: &EntryChange| json!({ "request_range": { "key": key(change) } });
    json!({
        "compare": changes.iter().map(compare).collect::<Vec<_>>(),
        "success": changes.iter().map(make).collect::<Vec<_>>(),
        "failure": changes.iter().map(look).collect::<Vec<_>>(),
    })
}

fn coded(text: &str) -> String {
    BASE64.encode(text.as_bytes())
}

/// The first key after all that begin with `prefix`, which is ASCII.
fn coded_end(prefix: &str) -> String {
    let mut end = prefix.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    BASE64.encode(&end)
}

/// The header of an answer.
pub fn header(answer: &Value) -> Option<Header> {
    let header = answer.get("header")?;
    Some(Header { cluster: number(header.get("cluster_id")?)?, revision: number(header.get("revision")?)? })
}

/// The gateway writes large numbers as texts.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The entries of an answer's `kvs`, without the prefix.
///
/// # Errors
/// A key or a value is none that machines write.
pub fn read_entries(prefix: &str, answer: &Value) -> Result<Entries> {
    let damaged = || {
        EngineError::Broken(format!("etcd holds something else under `{prefix}` than what machines share"))
    };
    let text = |value: Option<&Value>| -> Option<String> {
        match value {
            Some(value) => String::from_utf8(BASE64.decode(value.as_str()?.as_bytes()).ok()?).ok(),
            None => Some(String::new()),
        }
    };
    let read = |pair: &Value| {
        let key = text(pair.get("key"))?.strip_prefix(prefix)?.to_owned();
        let value = text(pair.get("value"))?;
        (is_key(&key) && value.len() <= MAX_VALUE).then_some((key, value))
    };
    let pairs = answer.get("kvs").and_then(Value::as_array);
    pairs.into_iter().flatten().map(|pair| read(pair).ok_or_else(damaged)).collect()
}

/// Whether a transaction was made; otherwise the present values of its keys.
///
/// # Errors
/// As [`read_entries`].
pub fn made(prefix: &str, answer: &Value) -> Result<Option<Entries>> {
    if answer.get("succeeded").and_then(Value::as_bool) == Some(true) {
        return Ok(None);
    }
    let mut all = Entries::new();
    for response in answer.get("responses").and_then(Value::as_array).into_iter().flatten() {
        all.extend(read_entries(prefix, response.get("response_range").unwrap_or(&Value::Null))?);
    }
    Ok(Some(all))
}

/// The meaning of an answer that isn't of the 2xx kind.
pub fn denied(status: u16, body: &Value) -> Denied {
    let words = ["error", "message"].iter().find_map(|name| body.get(name)?.as_str()).unwrap_or_default();
    let plain: String = words.chars().filter(|c| !c.is_control()).take(200).collect();
    let said = |told: &str| format!("etcd: {told}");
    let is = |needle: &str| words.contains(needle);
    match () {
        () if is("invalid auth token") || is("revision of auth store is old") => Denied::Token,
        () if is("permission denied") => {
            Denied::Refused(said("the user may not read and write what machines share: give it the rights"))
        }
        () if is("user name is empty")
            || is("authentication failed")
            || is("invalid user")
            || status == 401 =>
        {
            Denied::Refused(said(
                "it wants a user and a password: set `user` and `password_file` in `[machines]`",
            ))
        }
        () if is("space exceeded") => Denied::Refused(said("its space is full: compact and defragment it")),
        () if is("no leader") || is("not leader") || is("too many requests") || is("not capable") => {
            Denied::Elsewhere(said("most of its servers are not there"))
        }
        () if status == 404 => Denied::Refused(said("the endpoint has no gateway of version 3")),
        () if status >= 500 || is("timed out") => Denied::Unsure(said("most of its servers don't answer")),
        () => Denied::Refused(format!("etcd refuses with {status}: {plain}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_bounds() {
        let pair = |key: &str, value: &str| json!({ "key": coded(key), "value": coded(value) });
        let answer = json!({ "header": { "cluster_id": "14841639068965178418", "revision": "7" }, "kvs": [pair("p/a", "1")] });
        assert_eq!(header(&answer), Some(Header { cluster: 14_841_639_068_965_178_418, revision: 7 }));
        assert_eq!(read_entries("p/", &answer).unwrap(), [("a".to_owned(), "1".to_owned())].into());
        for wrong in
            [pair("p/../x", "1"), pair("q/a", "1"), pair("p/a", &"x".repeat(2000)), json!({ "key": "%" })]
        {
            assert!(read_entries("p/", &json!({ "kvs": [wrong] })).is_err());
        }
        assert_eq!(made("p/", &json!({ "succeeded": true })).unwrap(), None);
        let lost = json!({ "responses": [{ "response_range": { "kvs": [pair("p/a", "1")] } }, { "response_range": {} }] });
        assert_eq!(made("p/", &lost).unwrap().unwrap().len(), 1);
    }

    #[test]
    fn a_refusal_says_what_may_have_happened() {
        let denied = |status, words: &str| denied(status, &json!({ "error": words, "code": 1 }));
        assert_eq!(denied(401, "etcdserver: invalid auth token"), Denied::Token);
        assert!(matches!(denied(503, "etcdserver: request timed out"), Denied::Unsure(_)));
        assert!(matches!(denied(503, "etcdserver: no leader"), Denied::Elsewhere(_)));
        assert!(matches!(denied(403, "etcdserver: permission denied"), Denied::Refused(_)));
        assert!(matches!(denied(429, "etcdserver: mvcc: database space exceeded"), Denied::Refused(_)));
        assert!(matches!(denied(400, "etcdserver: user name is empty"), Denied::Refused(_)));
    }
}
