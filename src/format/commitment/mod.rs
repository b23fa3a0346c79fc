//! Parses and writes `COMMITMENTS.md`: promised follow-ups, one block each with a YAML head and a text.
//!
//! ```text
//! ---
//! id: c-2026-05-08-001
//! status: pending          # pending | delivered | cancelled
//! due: 2026-05-08T19:00:00Z
//! ---
//! Remind Kyle about the dentist appointment at 3 PM.
//! ```
//!
//! A block begins at a `---` line that stands in no comment and no code block and whose next line is a `key: value`.
//! Its head runs to the next `---` and names an `id`. Its text runs to the next block or the end of the file, so any
//! other `---` line in it is text. The file has no frontmatter: a block at its top is a commitment. The grammar is
//! `grammar/commitments.abnf`.

mod read;

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::lines::{self, LiveLines, is_rule};
use super::{Finding, with_line_feeds, yaml};
use crate::words::words;

pub use read::{is_place, parse};

words! {
    /// The state of a commitment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum CommitmentStatus, name {
        /// To be told when it is due.
        #[default]
        Pending = "pending",
        /// Told, or done.
        Delivered = "delivered",
        /// Not wanted any more.
        Cancelled = "cancelled",
    }
}

words! {
    /// The precision of a commitment's time. It changes only the wording of the notification.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Precision, name {
        /// To the minute.
        Precise = "precise",
        /// About then.
        Soft = "soft",
    }
}

/// Says that a text is none of a value's names.
fn not_one_of(text: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{} is not one of {}", super::quote(text), names.join(", "))
}

impl Precision {
    /// The precision with this name.
    ///
    /// # Errors
    /// There is none; what there is, in words.
    pub fn parse(text: &str) -> Result<Precision, String> {
        Self::named(text).ok_or_else(|| not_one_of(text, &Self::NAMES))
    }
}

/// A follow-up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Commitment {
    /// Its id: one word, by this program `c-YYYY-MM-DD-NNN`.
    pub id: String,
    /// Its state.
    pub status: CommitmentStatus,
    /// The precision of its time.
    pub precision: Option<Precision>,
    /// When it is due. Without it, it waits to be done by hand.
    pub due: Option<Timestamp>,
    /// Its destination: `channel:ID`, `thread:ID` or `user:ID`.
    pub scope: Option<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// The turn it came from.
    pub source: Option<String>,
    /// The promise, without blank lines around it; never empty.
    pub text: String,
}

/// A commitment and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitmentBlock {
    /// The line of its first `---`, from 1.
    pub line: usize,
    /// Its last line, blank ones included: the one before the next block, or the file's last.
    pub end_line: usize,
    /// Its bytes, from the first `---` to the next block or the end of the file.
    pub range: Range<usize>,
    /// The bytes of its status value in the file.
    pub status_range: Range<usize>,
    /// The bytes of its due time's value in the file, where it has one.
    pub due_range: Option<Range<usize>>,
    /// Its parsed content.
    pub commitment: Commitment,
}

/// The commitments of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitmentsFile {
    /// The valid ones, in file order.
    pub blocks: Vec<CommitmentBlock>,
    /// Near misses. A block with a wrong hint stands in `blocks` all the same.
    pub findings: Vec<Finding>,
    /// The ids of blocks that aren't valid: taken all the same.
    pub other_ids: Vec<String>,
}

impl CommitmentsFile {
    /// The block with this id, if exactly one has it.
    pub fn find(&self, id: &str) -> Option<&CommitmentBlock> {
        let mut found = self.blocks.iter().filter(|block| block.commitment.id == id);
        found.next().filter(|_| found.next().is_none())
    }
}

/// The file with the status of block `id` set from `expect` to `to`: its value changes and no other byte.
/// `None` where no block has this id and status, or more than one has this id.
pub fn set_status(bytes: &[u8], id: &str, expect: CommitmentStatus, to: CommitmentStatus) -> Option<Vec<u8>> {
    parse(bytes).find(id).filter(|block| block.commitment.status == expect)?;
    Some(set_each(bytes, expect, to, |commitment| commitment.id == id))
}

/// The file with the status of every block that `is_meant` set from `expect` to `to`: their values change and no other
/// byte.
pub fn set_each(
    bytes: &[u8],
    expect: CommitmentStatus,
    to: CommitmentStatus,
    mut is_meant: impl FnMut(&Commitment) -> bool,
) -> Vec<u8> {
    let (mut out, mut from) = (Vec::with_capacity(bytes.len()), 0);
    for block in parse(bytes).blocks {
        if block.commitment.status == expect && is_meant(&block.commitment) {
            out.extend_from_slice(&bytes[from..block.status_range.start]);
            out.extend_from_slice(to.name().as_bytes());
            from = block.status_range.end;
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out
}

/// The file with the due time of the waiting block `id` set from `expect` to `to`: its value changes and no other byte.
/// `None` where no block that waits has this id and due time, or more than one has this id.
pub fn set_due(bytes: &[u8], id: &str, expect: Timestamp, to: Timestamp) -> Option<Vec<u8>> {
    let file = parse(bytes);
    let waits = |commitment: &Commitment| {
        commitment.status == CommitmentStatus::Pending && commitment.due == Some(expect)
    };
    let block = file.find(id).filter(|block| waits(&block.commitment))?;
    let place = block.due_range.as_ref()?;
    Some([&bytes[..place.start], to.to_string().as_bytes(), &bytes[place.end..]].concat())
}

/// The file with other words in the block `id`, and no other byte changed. `None` where no block that waits has this
/// id, or more than one has it.
pub fn set_text(bytes: &[u8], id: &str, text: &str) -> Option<Vec<u8>> {
    let file = parse(bytes);
    let block = file.find(id).filter(|block| block.commitment.status == CommitmentStatus::Pending)?;
    let mut rules = lines::lines(bytes).filter(|line| line.start >= block.range.start && is_rule(line.text));
    let body = rules.nth(1)?.end()..block.range.end;
    let blank = bytes[body.clone()].len() - bytes[body.clone()].trim_ascii_end().len();
    let terminator = lines::terminator_of(bytes);
    let text = safe_text(text).replace('\n', terminator);
    let after = if blank == 0 { terminator.as_bytes() } else { &bytes[body.end - blank..body.end] };
    Some([&bytes[..body.start], text.as_bytes(), after, &bytes[body.end..]].concat())
}

/// The next free id of a day: `c-YYYY-MM-DD-NNN`, counting up from 001.
pub fn next_id(file: &CommitmentsFile, local_date: Date) -> String {
    let prefix = format!("c-{local_date}-");
    let ids = file.blocks.iter().map(|block| &block.commitment.id).chain(&file.other_ids);
    let last = ids.filter_map(|id| id.strip_prefix(&prefix)?.parse::<u64>().ok()).max().unwrap_or(0);
    format!("{prefix}{:03}", last.saturating_add(1))
}

/// A free id of a day whose number is a hash of the follow-up's words, its time and its place: `c-YYYY-MM-DD-NNNNNN`.
/// Two notes that are merged later give two follow-ups two ids.
///
/// # Panics
/// All numbers are taken.
pub fn hashed_id(file: &CommitmentsFile, local_date: Date, new: &Commitment) -> String {
    let said = format!("{:?} {:?} {}", new.due, new.scope, new.text);
    let hash = blake3::derive_key("vault-agent 2026-11-29 number of a follow-up", said.as_bytes());
    let number = 100_000 + u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]) % 900_000;
    let is_block = |id: &String| file.blocks.iter().any(|block| block.commitment.id == *id);
    let is_taken = |id: &String| is_block(id) || file.other_ids.contains(id);
    let mut ids = (number..).map(|number| format!("c-{local_date}-{number}"));
    ids.find(|id| !is_taken(id)).expect("a file has fewer follow-ups than there are numbers")
}

impl Commitment {
    /// The block, ending in a newline. Append it after an empty line, or Obsidian takes the line above it
    /// for a heading.
    ///
    /// Whatever the text says, it stays this block's text: line ends become LF, blank lines around it go, a
    /// `---` line in it that would begin a block becomes `***`, and a fence or comment that it leaves open
    /// is closed.
    pub fn to_block(&self) -> String {
        let mut block = String::from("---\n");
        let mut put = |key: &str, value: Option<String>| {
            block.extend(value.map(|value| format!("{key}: {value}\n")));
        };
        let instant = |instant: Timestamp| instant.to_string();
        put("id", Some(yaml::to_scalar(&self.id)));
        put("status", Some(self.status.to_string()));
        put("precision", self.precision.map(|precision| precision.to_string()));
        put("due", self.due.map(instant));
        put("scope", self.scope.as_deref().map(yaml::to_scalar));
        put("created", self.created.map(instant));
        put("source", self.source.as_deref().map(yaml::to_scalar));
        block.push_str("---\n");
        block.push_str(&safe_text(&self.text));
        block.push('\n');
        block
    }
}

/// The text as it can stand in a block without ending it.
fn safe_text(text: &str) -> String {
    let text = with_line_feeds(text);
    let all: Vec<&str> = text.split('\n').collect();
    let blank = |line: &&str| line.trim_ascii().is_empty();
    let from = all.iter().position(|line| !blank(line)).unwrap_or(0);
    let to = all.iter().rposition(|line| !blank(line)).map_or(0, |last| last + 1);
    let mut kept = all.get(from..to).unwrap_or_default().to_vec();
    // With a line before it, as it will stand: this makes a line's number its index here plus two.
    let standing = format!("\n{}", kept.join("\n"));
    for line in LiveLines::without_frontmatter(standing.as_bytes()).filter(|line| is_rule(line.text)) {
        let next = kept.get(line.number - 1).is_some_and(|next| yaml::entry(next.as_bytes()).is_some());
        if next {
            kept[line.number - 2] = "***";
        }
    }
    let mut safe = kept.join("\n");
    if let Some(closer) = lines::closing_line(safe.as_bytes()) {
        safe.push('\n');
        safe.push_str(&closer);
    }
    safe
}
