//! Reads and writes the entries that machines with one vault share. The entries are claims, the lease, each machine's
//! presence, the counter that orders sent messages, and the version of the format. All are bounded in length.
//!
//! A value is one line of JSON. Fields that this version doesn't know are kept when it writes the value again. Times
//! that decide something are durations in milliseconds, chosen by the writer. A wall-clock time in a value is for
//! people and for pruning only.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::machines::engine::{MAX_VALUE, is_key};

/// The version of the format that this program reads and writes.
pub const VERSION: u32 = 1;

/// The longest name of a machine, and the longest nonce, in bytes.
const MAX_NAME: usize = 64;

/// No epoch and no order is higher: one that only rises by one never gets there.
const MAX_EPOCH: u64 = 1 << 53;

/// No lease or claim lasts longer, in milliseconds: a day.
const LONGEST: u64 = 86_400_000;

/// The progress of a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimState {
    /// Its holder may send, or may have sent.
    #[default]
    Claimed,
    /// It was sent.
    Sent,
    /// It is not to be sent: a person took its line out.
    Dropped,
}

/// One machine's right to send something once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The holder's name.
    pub by: String,
    /// The holder's own id, which no other machine has.
    pub machine: String,
    /// 1 for a first claim, and one more with each takeover; for work of the voice, the lease's.
    pub epoch: u64,
    /// Different in every value that is written.
    pub nonce: String,
    /// For how long the holder may act, in milliseconds from when it claimed; 0 for work of the voice, which lasts as
    /// long as the lease's epoch.
    pub until: u64,
    /// Its progress.
    pub state: ClaimState,
    /// The key of the message of several things within which it may have been sent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within: Option<String>,
    /// A sent one: one more than that of all that were marked before, see [`SendOrder`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub order: Option<u64>,
    /// A sent one: the hash of the line whose words were told. A copy with other words isn't rewritten.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<String>,
    /// When it was written by the holder's wall clock, in seconds since 1970: for people and for pruning.
    pub at: i64,
    /// Fields of other versions.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The lease that says which machine is the voice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VoiceLease {
    /// The holder's name; `None` where it was given back.
    pub by: Option<String>,
    /// The holder's own id; of the last one where it was given back.
    pub machine: String,
    /// One more with each holder.
    pub epoch: u64,
    /// Different in every value that is written.
    pub nonce: String,
    /// How long it lasts without a renewal, in milliseconds.
    pub lasts: u64,
    /// How long the holder had held it when it began to write this, by its monotonic clock, in milliseconds.
    pub held: u64,
    /// The machine that asked to be the next holder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// As in [`Claim::at`].
    pub at: i64,
    /// Fields of other versions.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The announcement of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// The machine's own id.
    pub machine: String,
    /// Different in every value that is written.
    pub nonce: String,
    /// The program's version.
    pub version: String,
    /// The machine's wall clock, in milliseconds since 1970: for people.
    pub clock_ms: i64,
    /// A hash of the notes that hold reminders, so that one that lags can be seen.
    #[serde(default)]
    pub notes: String,
    /// Fields of other versions.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Counts the changes that marked something as sent, so that all machines know which came first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SendOrder {
    /// The order of the last one; 0 before the first.
    pub last: u64,
    /// Fields of other versions.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The format of the entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntriesFormat {
    /// See [`VERSION`].
    pub version: u32,
    /// The id of the vault whose machines these are, where its settings name one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vault: Option<String>,
    /// Fields of other versions.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A value of an entry: one line of JSON, within bounds.
pub trait SharedValue: Serialize + DeserializeOwned {
    /// Whether its names, texts and numbers are such as machines write.
    fn is_bounded(&self) -> bool;

    /// The value that this text spells; `None` if it is longer than [`MAX_VALUE`], or no such value.
    fn read(text: &str) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= MAX_VALUE)?;
        serde_json::from_str(text).ok().filter(Self::is_bounded)
    }

    /// The value as text of one line.
    fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("values are plain: {error}"))
    }
}

/// Whether a word is one that machines write: no space, no control character, nothing of Markdown but `_`.
fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME && is_key(name)
}

/// Whether a text may be shown on a terminal: short, and without control characters.
fn is_text(text: &str) -> bool {
    text.len() <= MAX_NAME && !text.chars().any(char::is_control)
}

fn is_length(milliseconds: u64) -> bool {
    milliseconds <= LONGEST
}

impl SharedValue for Claim {
    fn is_bounded(&self) -> bool {
        let names = is_name(&self.by) && is_name(&self.machine) && is_name(&self.nonce);
        let is_within = self.within.as_ref().is_none_or(|key| !key.is_empty() && is_text(key));
        let is_line = self.line.as_ref().is_none_or(|hash| is_name(hash));
        names && is_within && is_line && self.epoch <= MAX_EPOCH && is_length(self.until)
    }
}

impl SharedValue for VoiceLease {
    fn is_bounded(&self) -> bool {
        let names = self.by.iter().chain(&self.next).all(|name| is_name(name));
        let is_own = is_name(&self.machine) && is_name(&self.nonce);
        names && is_own && self.epoch <= MAX_EPOCH && is_length(self.lasts)
    }
}

impl SharedValue for Presence {
    fn is_bounded(&self) -> bool {
        is_text(&self.version) && is_text(&self.notes) && is_name(&self.machine) && is_name(&self.nonce)
    }
}

impl SharedValue for SendOrder {
    fn is_bounded(&self) -> bool {
        self.last <= MAX_EPOCH
    }
}

impl SharedValue for EntriesFormat {
    fn is_bounded(&self) -> bool {
        self.vault.as_ref().is_none_or(|vault| is_name(vault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: &str = r#"{"by":"a","machine":"A","epoch":1,"nonce":"n","until":300000,"state":"claimed","at":0,"mood":{"later":[1]}}"#;

    #[test]
    fn fields_of_other_versions_are_kept() {
        let mut claim = Claim::read(CLAIM).unwrap();
        claim.state = ClaimState::Sent;
        assert!(claim.write().contains(r#""mood":{"later":[1]}"#));
        assert_eq!(Claim::read(&claim.write()), Some(claim));
    }

    #[test]
    fn hostile_values_are_refused_and_none_panics() {
        let long = format!(r#"{{"version":1,"x":"{}"}}"#, "y".repeat(MAX_VALUE));
        assert_eq!(EntriesFormat::read(&long), None);
        let deep = "[".repeat(1000);
        let name = CLAIM.replace(r#""by":"a""#, &format!(r#""by":"{}""#, "a".repeat(65)));
        let control = CLAIM.replace(r#""by":"a""#, r#""by":"a\u001b[2J""#);
        let negative = CLAIM.replace(r#""epoch":1"#, r#""epoch":-1"#);
        let markdown = CLAIM.replace(r#""by":"a""#, r#""by":"[a](https://b.c)""#);
        let high = CLAIM.replace(r#""epoch":1"#, r#""epoch":18446744073709551615"#);
        let long_lived = CLAIM.replace("300000", "86400001");
        let hostile = [name, control, negative, markdown, high, long_lived];
        for text in
            ["", "null", "{}", "\u{0}", deep.as_str()].into_iter().chain(hostile.iter().map(String::as_str))
        {
            assert_eq!(Claim::read(text), None, "{text}");
            assert!(VoiceLease::read(text).is_none() && Presence::read(text).is_none());
        }
        // A person sees the version on a terminal.
        let presence = |version: &str| {
            Presence::read(&format!(r#"{{"machine":"A","nonce":"n","version":"{version}","clock_ms":0}}"#))
        };
        assert!(presence("1.0.0+a").is_some());
        assert_eq!(presence(r"1\u001b[2J"), None);
    }
}
