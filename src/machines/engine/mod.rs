//! Defines the interface to a shared store that can compare and swap: the [`StoreEngine`] trait, and its methods'
//! types. Also opens the store that the settings name: a git branch or an etcd cluster.
//!
//! An engine holds a few thousand short texts under ASCII keys. An engine changes several texts at once or none, and
//! only if each still has the value that its caller read. Comparing values is enough, because claims, the lease and
//! presences carry a nonce, and the counter that orders sent messages only rises. If the answer to a change was lost,
//! the engine reports this. The caller then reads the entries to find out whether the change was made.

pub mod etcd;
pub mod git;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::etcd::{EtcdEngine, EtcdPlace};
use self::git::{GitEngine, GitPlace};
use crate::clock::Clock;
use crate::config::{ETCD_PASSWORD_VARIABLE, MachineSettings, MachinesEngine, expand, secret};

/// The most changes of one swap.
pub const MAX_CHANGES: usize = 100;
/// The longest value, in bytes.
pub const MAX_VALUE: usize = 1024;
/// The longest key, in bytes.
pub const MAX_KEY: usize = 200;

/// The remedy where a store went back, or was made anew.
const AS_IT_IS: &str =
    "if this is intended, stop the daemons and run `vault-agent machines join --as-it-is` on each machine";

/// Texts by their keys.
pub type Entries = BTreeMap<String, String>;

/// One entry as it is expected, and as it is to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntryChange {
    /// At most [`MAX_KEY`] bytes, see [`is_key`].
    pub key: String,
    /// The value that stands there; `None` where the key must be absent.
    pub expected: Option<String>,
    /// The new value of at most [`MAX_VALUE`] bytes; `None` removes the key. A value that equals `expected` is a check
    /// alone.
    pub value: Option<String>,
}

/// The outcome of a swap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwapOutcome {
    /// All changes were made.
    Done,
    /// Nothing was changed; what stands at the keys of the changes now, absent ones left out.
    Lost(Entries),
}

/// The error of an engine that could not answer. Each text is one sentence for a person, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The engine was not reached, so surely nothing was changed.
    #[error("{0}")]
    Unreachable(String),
    /// The answer was lost: a change may have been made. The caller reads before it believes anything.
    #[error("{0}")]
    Unknown(String),
    /// The engine refuses, until a person does something: no rights, no space, no repository, another vault's branch.
    #[error("{0}")]
    Refused(String),
    /// The engine's content can't be read, or is older than what this machine has already seen there.
    #[error("{0}")]
    Broken(String),
}

/// The result of asking an engine.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// A store that several machines share.
#[async_trait]
pub trait StoreEngine: Send + Sync {
    /// All entries.
    ///
    /// # Errors
    /// The engine did not answer, or not with entries. Never [`EngineError::Unknown`].
    async fn read(&self) -> Result<Entries>;

    /// Makes all `changes` or none: all, if each key holds the value that is expected.
    ///
    /// # Errors
    /// After [`EngineError::Unknown`] the changes may have been made; after any other error surely none was.
    async fn swap(&self, changes: &[EntryChange]) -> Result<SwapOutcome>;

    /// Waits until the engine tells that something may have changed since it was last read, `at_most` so long: whether
    /// it did. An engine that tells of no changes waits for that long.
    ///
    /// # Errors
    /// The engine did not answer.
    async fn changed(&self, at_most: Duration) -> Result<bool> {
        tokio::time::sleep(at_most).await;
        Ok(false)
    }

    /// All entries as they stood when the last swap was answered, where the engine knows them without asking.
    async fn standing(&self) -> Option<Entries> {
        None
    }

    /// Forgets what was seen there, so that a store that was rewound or restored is taken as it is: a person said so.
    ///
    /// # Errors
    /// The memory of it can't be removed.
    async fn forget(&self) -> Result<()> {
        Ok(())
    }
}

/// Whether an engine takes `key`: 1 to [`MAX_KEY`] bytes of ASCII letters, digits and `-_.:@/`, whose parts between
/// slashes are neither empty nor begin with a dot.
pub fn is_key(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@/".contains(&byte);
    (1..=MAX_KEY).contains(&key.len())
        && key.bytes().all(is_plain)
        && key.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

/// Refuses changes that no engine takes, before anything is asked.
///
/// # Errors
/// A key or a value is too long or has forbidden characters, or a key stands twice: [`EngineError::Refused`].
pub fn check_changes(changes: &[EntryChange]) -> Result<()> {
    if changes.len() > MAX_CHANGES {
        return Err(EngineError::Refused(format!("more than {MAX_CHANGES} entries are changed at once")));
    }
    let mut seen = std::collections::BTreeSet::new();
    for change in changes {
        let is_value = |value: &String| value.len() <= MAX_VALUE && !value.contains(['\n', '\r', '\0']);
        let values_fit = [&change.expected, &change.value].into_iter().flatten().all(is_value);
        if !is_key(&change.key) || !values_fit || !seen.insert(&change.key) {
            let key: String = change.key.chars().filter(|c| !c.is_control()).take(MAX_KEY).collect();
            return Err(EngineError::Refused(format!(
                "the entry `{key}` is not one that machines may share"
            )));
        }
    }
    Ok(())
}

/// Makes all of the changes if each entry is as expected; otherwise none, and returns the present entries.
pub fn apply(entries: &mut Entries, changes: &[EntryChange]) -> SwapOutcome {
    if changes.iter().any(|change| entries.get(&change.key) != change.expected.as_ref()) {
        let standing = changes.iter().filter_map(|change| entries.get_key_value(&change.key));
        return SwapOutcome::Lost(standing.map(|(key, value)| (key.clone(), value.clone())).collect());
    }
    for change in changes {
        match &change.value {
            Some(value) => entries.insert(change.key.clone(), value.clone()),
            None => entries.remove(&change.key),
        };
    }
    SwapOutcome::Done
}

/// The engine of `settings`, for the vault at `root` whose state directory is `state`. Nothing is asked yet.
///
/// # Errors
/// An address, the password or a certificate can't be used, or this build has no such engine.
pub fn open(
    settings: &MachineSettings,
    root: &Path,
    state: &Path,
    clock: &Arc<dyn Clock>,
) -> Result<Arc<dyn StoreEngine>> {
    match settings.engine {
        MachinesEngine::Git => {
            let remote = settings.remote.as_deref().unwrap_or_default();
            let place = GitPlace::new(remote, state.to_owned())?;
            Ok(Arc::new(GitEngine::new(place, Arc::clone(clock))))
        }
        MachinesEngine::Etcd => etcd(settings, root, state),
    }
}

fn etcd(settings: &MachineSettings, root: &Path, state: &Path) -> Result<Arc<dyn StoreEngine>> {
    let user = match &settings.user {
        None => None,
        Some(user) => {
            let password = secret(ETCD_PASSWORD_VARIABLE, settings.password_file.as_deref(), root)
                .map_err(|error| EngineError::Refused(error.to_string()))?;
            let password = password.ok_or_else(|| {
                EngineError::Refused(format!(
                    "`machines.user` has no password: set `{ETCD_PASSWORD_VARIABLE}`, or `password_file` in `[machines]`"
                ))
            })?;
            Some((user.clone(), password))
        }
    };
    let authority = settings.ca_file.as_ref().map(|file| {
        let path = expand(file, root);
        std::fs::read(&path).map_err(|error| {
            EngineError::Refused(format!("can't read `machines.ca_file`, `{}`: {error}", path.display()))
        })
    });
    let place = EtcdPlace {
        endpoints: settings.endpoints.clone(),
        prefix: settings.prefix.clone(),
        user,
        authority: authority.transpose()?,
        state: state.to_owned(),
    };
    Ok(Arc::new(EtcdEngine::new(place)?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::clock::SystemClock;
    use crate::config::Settings;

    #[test]
    fn a_password_comes_from_a_file_of_its_owner_outside_the_vault() {
        let temp = tempfile::tempdir().unwrap();
        let (vault, file) = (temp.path().join("vault"), temp.path().join("password"));
        std::fs::create_dir(&vault).unwrap();
        std::fs::write(&file, "s3cret\n").unwrap();
        let text = format!(
            "[machines]\nengine = \"etcd\"\nendpoints = [\"http://127.0.0.1:1\"]\nuser = \"me\"\npassword_file = \"{}\"\n",
            file.display()
        );
        let settings = Settings::parse(&text).unwrap().machines.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let connect = || open(&settings, &vault, temp.path(), &clock).map(drop);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = connect().unwrap_err().to_string();
        assert!(error.contains("can be read by other users") && !error.contains("s3cret"), "{error}");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(connect(), Ok(()));
    }
}
