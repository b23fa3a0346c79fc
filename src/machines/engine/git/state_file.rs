//! Reads and writes the state file: one file in a git branch, with all entries that the machines share. Also makes the
//! names of the branches: one branch, or one for each month if a server forbids forced pushes. Also records in the
//! state directory which state this machine last saw at the remote.
//!
//! Each state has a nonce and a generation, one more than that of the state that it replaced. The last [`RECENT`]
//! nonces stand in the file. They show whether the present state descends from the state that a machine saw last. If
//! the answer to a push was lost, the push arrived if its nonce is in the list, also after further pushes of others.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::{EngineError, Entries, MAX_VALUE, Result, is_key};
use crate::config::json_file;

/// The first line, without the version.
const HEAD: &str = "vault-agent machines ";
const VERSION: &str = "1";
/// How many nonces stand in a file, its own first.
pub const RECENT: usize = 64;
/// The longest file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 4 << 20;
/// The most lines before the entries.
const MAX_FIELDS: usize = 64;

/// The first branch.
pub const FIRST: &str = "vault-agent";

/// The file, in the state directory.
const FILE: &str = "machines-git.json";

/// A state of the branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateFile {
    /// How many states there were, this one included; 0 is a branch that isn't there yet.
    pub generation: u64,
    /// Nonces, the state's own first.
    pub recent: Vec<String>,
    /// Whether the server forbids forced pushes, so that each commit is added to the one before.
    pub grows: bool,
    /// The branch that goes on from here; this one is closed then.
    pub next: Option<String>,
    /// Lines of newer versions, kept as they are.
    pub other: Vec<String>,
    /// The entries that the machines share.
    pub entries: Entries,
}

/// A state that this machine has seen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StateMark {
    /// As in [`StateFile`].
    pub generation: u64,
    /// The state's own nonce.
    pub nonce: String,
}

/// The newest state that was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenState {
    /// At which remote.
    pub remote: String,
    /// The branch that was the last one.
    pub branch: Option<String>,
    /// Its newest state.
    pub mark: Option<StateMark>,
}

impl StateFile {
    /// The file's text.
    pub fn text(&self) -> String {
        let mut text =
            format!("{HEAD}{VERSION}\ngeneration {}\nrecent {}\n", self.generation, self.recent.join(" "));
        if self.grows {
            text += "grows yes\n";
        }
        if let Some(next) = &self.next {
            let _ = writeln!(text, "next {next}");
        }
        for line in &self.other {
            text += line;
            text.push('\n');
        }
        text.push('\n');
        for (key, value) in &self.entries {
            let _ = writeln!(text, "{key} {value}");
        }
        text
    }

    /// Parses an untrusted state file.
    ///
    /// # Errors
    /// It isn't ours, or is one of a newer version, or is damaged.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let foreign = || {
            EngineError::Refused(
                "the branch holds something else than what machines share: give them a repository of their own"
                    .to_owned(),
            )
        };
        let damaged = |what: &str| EngineError::Broken(format!("what the machines share is damaged: {what}"));
        if bytes.len() > MAX_FILE_BYTES {
            return Err(damaged("it is longer than 4 MiB"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| foreign())?;
        let version = text.lines().next().and_then(|line| line.strip_prefix(HEAD)).ok_or_else(foreign)?;
        if version != VERSION {
            return Err(EngineError::Broken(
                "what the machines share was written by a newer vault-agent: bring this machine to the same version"
                    .to_owned(),
            ));
        }
        let (head, body) = text.split_once("\n\n").ok_or_else(|| damaged("it has no entries"))?;
        let mut file = Self::default();
        for line in head.lines().skip(1).take(MAX_FIELDS) {
            file.field(line).ok_or_else(|| damaged("its first lines can't be read"))?;
        }
        for line in body.lines() {
            let (key, value) = line.split_once(' ').ok_or_else(|| damaged("an entry has no value"))?;
            if !is_key(key) || value.len() > MAX_VALUE {
                return Err(damaged("an entry is none that machines write"));
            }
            file.entries.insert(key.to_owned(), value.to_owned());
        }
        if file.generation == 0 || file.recent.is_empty() {
            return Err(damaged("it doesn't say which state it is"));
        }
        Ok(file)
    }

    fn field(&mut self, line: &str) -> Option<()> {
        let (name, value) = line.split_once(' ')?;
        match name {
            "generation" => self.generation = value.parse().ok()?,
            "recent" => {
                let is_nonce =
                    |word: &str| word.len() <= 64 && word.bytes().all(|b| b.is_ascii_alphanumeric());
                self.recent = value.split(' ').take(RECENT).map(str::to_owned).collect();
                self.recent.iter().all(|word| is_nonce(word)).then_some(())?;
            }
            "grows" => self.grows = value == "yes",
            "next" => self.next = Some(is_branch(value).then(|| value.to_owned())?),
            _ => self.other.push(line.to_owned()),
        }
        Some(())
    }

    /// The state that follows, with a nonce of its own.
    pub fn following(&self, nonce: String) -> Self {
        let mut recent = vec![nonce];
        recent.extend(self.recent.iter().take(RECENT - 1).cloned());
        Self { generation: self.generation + 1, recent, ..self.clone() }
    }

    /// The mark by which this state is remembered; none of a branch that isn't there.
    pub fn mark(&self) -> Option<StateMark> {
        let nonce = self.recent.first()?.clone();
        Some(StateMark { generation: self.generation, nonce })
    }

    /// Whether this state descends from the state that `mark` names. A state that is too old to know counts as an
    /// ancestor.
    pub fn descends_from(&self, mark: &StateMark) -> bool {
        let Some(ago) = self.generation.checked_sub(mark.generation) else { return false };
        match usize::try_from(ago).ok().and_then(|ago| self.recent.get(ago)) {
            Some(nonce) => *nonce == mark.nonce,
            None => ago >= RECENT as u64,
        }
    }
}

impl SeenState {
    /// Loads the state that was seen at `remote`; empty if the file is about another remote.
    pub fn load(state: &Path, remote: &str) -> Self {
        let read: Option<Self> = json_file::load(&state.join(FILE));
        read.filter(|seen| seen.remote == remote).unwrap_or_default()
    }

    /// Saves it.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn save(&self, state: &Path) -> Result<()> {
        let path = state.join(FILE);
        json_file::save(&path, self)
            .map_err(|error| EngineError::Refused(format!("{} can't be written: {error}", path.display())))
    }
}

/// Whether `name` is one of our branches: the first one, or one of a month.
pub fn is_branch(name: &str) -> bool {
    name == FIRST || month(name).is_some()
}

fn month(name: &str) -> Option<&str> {
    let month = name.strip_prefix(FIRST)?.strip_prefix('-')?;
    let is_month = month.len() == 7
        && month
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 { byte == b'-' } else { byte.is_ascii_digit() });
    is_month.then_some(month)
}

/// The branch that a growing one goes on as at `now`; `None` in the month of the branch itself, and where the clock
/// stands before it.
pub fn next_branch(name: &str, now: Timestamp) -> Option<String> {
    let current = now.strftime("%Y-%m").to_string();
    (month(name).unwrap_or_default() < current.as_str()).then(|| format!("{FIRST}-{current}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> StateFile {
        let mut file = StateFile::default().following("aa".to_owned());
        file.entries.insert("claim/x".to_owned(), r#"{"by":"a b"}"#.to_owned());
        file.other.push("colour of a newer version".to_owned());
        file
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let mut file = file().following("bb".to_owned());
        (file.grows, file.next) = (true, Some("vault-agent-2026-12".to_owned()));
        assert_eq!(StateFile::parse(file.text().as_bytes()).unwrap(), file);
    }

    #[test]
    fn descent_is_known() {
        let first = file();
        let (ours, theirs) = (first.following("bb".to_owned()), first.following("cc".to_owned()));
        let later = (0..70).fold(ours.clone(), |file, n| file.following(format!("n{n}")));
        let mark = |file: &StateFile| file.mark().unwrap();
        assert!(
            ours.descends_from(&mark(&first))
                && ours.descends_from(&mark(&ours))
                && later.descends_from(&mark(&first))
        );
        assert!(
            !theirs.descends_from(&mark(&ours))
                && !first.descends_from(&mark(&ours))
                && !ours.descends_from(&mark(&later))
        );
        assert!(!theirs.following("dd".to_owned()).descends_from(&mark(&ours)));
        assert!(!StateFile::default().descends_from(&mark(&first)));
    }

    #[test]
    fn foreign_newer_and_damaged_files_are_told_apart() {
        let parse = |text: &str| StateFile::parse(text.as_bytes()).unwrap_err();
        assert!(matches!(parse("# My project\n"), EngineError::Refused(_)));
        assert!(matches!(StateFile::parse(&[0xff, 0xfe]).unwrap_err(), EngineError::Refused(_)));
        assert!(matches!(parse("vault-agent machines 2\n\n"), EngineError::Broken(_)));
        let good = file().text();
        for (from, to) in [
            ("generation 1", "generation -1"),
            ("generation 1\n", ""),
            ("recent aa", "recent a;b"),
            ("claim/x", "../x"),
            ("claim/x ", "claim/x"),
            ("\n\n", "\n"),
            ("recent aa\n", "recent aa\nnext -x\n"),
        ] {
            assert!(matches!(parse(&good.replace(from, to)), EngineError::Broken(_)), "{from} → {to}");
        }
        let long = good + &format!("k {}\n", "x".repeat(MAX_VALUE + 1));
        assert!(matches!(parse(&long), EngineError::Broken(_)));
    }

    #[test]
    fn a_month_has_its_branch() {
        let now: Timestamp = "2026-12-01T00:00:00Z".parse().unwrap();
        assert_eq!(next_branch(FIRST, now).as_deref(), Some("vault-agent-2026-12"));
        assert_eq!(next_branch("vault-agent-2026-11", now).as_deref(), Some("vault-agent-2026-12"));
        assert_eq!(
            (next_branch("vault-agent-2026-12", now), next_branch("vault-agent-2027-01", now)),
            (None, None)
        );
        for name in [
            "main",
            "vault-agent-",
            "vault-agent-2026-1x",
            "vault-agent-2026/12",
            "-vault-agent",
            "vault-agent-2026-12-1",
        ] {
            assert!(!is_branch(name), "{name}");
        }
    }
}
