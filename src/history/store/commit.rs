//! Converts a commit between a value and git's bytes.

use git2::Oid;
use jiff::{Timestamp, Zoned};

use super::message::CommitMessage;

/// A commit's facts, without its tree's content.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Its id.
    pub id: Oid,
    /// The commit before it.
    pub parent: Option<Oid>,
    /// The vault's state.
    pub tree: Oid,
    /// When it was made.
    pub time: Timestamp,
    /// Subject, reason, trailers.
    pub message: CommitMessage,
}

/// The author is the actor, so that a plain `git log` shows who it was.
pub(crate) fn encode(parents: &[Oid], tree: Oid, message: &CommitMessage, at: &Zoned) -> Vec<u8> {
    let offset = at.offset().seconds() / 60;
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
    let who = format!(
        "{name} <{name}@vault-agent.invalid> {} {sign}{hours:02}{minutes:02}",
        at.timestamp().as_second().max(0),
        name = message.actor(),
    );
    let parents: String = parents.iter().map(|id| format!("parent {id}\n")).collect();
    format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\n{}", message.render()).into_bytes()
}

pub(crate) fn parse(id: Oid, bytes: &[u8]) -> Option<Commit> {
    let split = memchr::memmem::find(bytes, b"\n\n")?;
    let head = std::str::from_utf8(&bytes[..split]).ok()?;
    let (mut tree, mut seconds) = (None, None);
    for line in head.lines() {
        match line.split_once(' ') {
            Some(("tree", hex)) => tree = Oid::from_str(hex).ok(),
            Some(("committer", who)) => {
                seconds = who.rsplit(' ').nth(1).and_then(|seconds| seconds.parse::<i64>().ok());
            }
            _ => {}
        }
    }
    Some(Commit {
        id,
        parent: parents(bytes).next(),
        tree: tree?,
        time: Timestamp::from_second(seconds?).ok()?,
        message: CommitMessage::parse(&String::from_utf8_lossy(&bytes[split + 2..])),
    })
}

/// The parents that a commit's bytes name.
pub(crate) fn parents(bytes: &[u8]) -> impl Iterator<Item = Oid> {
    let lines = bytes.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let ids = lines.filter_map(|line| std::str::from_utf8(line.strip_prefix(b"parent ")?).ok());
    ids.filter_map(|hex| Oid::from_str(hex).ok())
}

/// The first ten digits of an id, as `history` shows it.
pub(crate) fn short_id(id: Oid) -> String {
    id.to_string().chars().take(10).collect()
}
