//! Converts commits and their messages between values and git's bytes.
//!
//! A message is a subject in words, the reason, and trailers that programs read. The trailers have git's own form (`git
//! interpret-trailers`), so a plain `git log` reads well, and other tools can filter by `Actor:` or `Reminder:`.
//! Rendering and parsing a message are pure and inverse to each other.

use jiff::{Timestamp, Zoned};

use crate::history::prelude::*;

/// A commit's facts, without its tree's content.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Its id.
    pub id: Oid,
    /// The commit before it, and those of other machines' histories that it joins.
    pub parents: Vec<Oid>,
    /// The vault's state.
    pub tree: Oid,
    /// When it was made.
    pub time: Timestamp,
    /// Subject, reason, trailers.
    pub message: CommitMessage,
}

impl Commit {
    /// The commit before it.
    pub fn parent(&self) -> Option<Oid> {
        self.parents.first().copied()
    }

    /// The short id that `history` shows.
    pub fn short(&self) -> String {
        short_id(self.id)
    }
}

/// The bytes of a commit. Its author is the actor, so that a plain `git log` shows the actor.
pub(crate) fn encode_commit(parents: &[Oid], tree: Oid, message: &CommitMessage, at: &Zoned) -> Vec<u8> {
    let (name, second) = (message.actor(), at.timestamp().as_second().max(0));
    let who = format!("{name} <{name}@vault-agent.invalid> {second} {}", at.strftime("%z"));
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
        parents: parents(bytes).collect(),
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

/// The trailer with the writer.
pub const ACTOR: &str = "Actor";
/// The trailer that names a note that the commit touched; once a note, at most [`NAMED`] times.
pub const NOTE: &str = "Note";
/// The trailer that stands for all notes where there are too many to name, with their number.
pub const ALL_NOTES: &str = "Notes";
/// The most notes that a message names.
pub const NAMED: usize = 50;
/// The trailer that marks many deletions at once, with their number.
pub const BULK_DELETION: &str = "Bulk-Deletion";
/// The trailer that names the commit that an undo took back.
pub const UNDOES: &str = "Undoes";
/// The trailer that names a note which the agent wrote and no snapshot holds: too large, or excluded.
pub const LEFT_OUT: &str = "Left-Out";
/// The trailer that marks a transcript, with the number of events added to logs.
pub const TRANSCRIPT: &str = "Transcript";
/// The trailer that marks the template that `init` wrote, with the program's version.
pub const TEMPLATE: &str = "Template";
/// The trailer that names a conversation whose log grew, as `discord-channel/2000`.
pub const CONVERSATION: &str = "Conversation";

/// The prefix of the name of a turn within a turn: of a brain that another brain asks. The asking turn's id follows.
pub const ASKED_TURN_PREFIX: &str = "asked-";

/// The id of the assistant's turn that a [`CONVERSATION`] names, if it names one: `turn ID`, or `turn ID call 2`.
pub fn turn_of(conversation: &str) -> Option<&str> {
    conversation.strip_prefix("turn ")?.split(' ').next()
}

/// The trailer that a restore's commits carry: the snapshot that was restored from.
pub const RESTORED_FROM: &str = "Restored-From";

/// A commit message, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitMessage {
    /// The first line.
    pub subject: String,
    /// The paragraphs between subject and trailers, if any.
    pub body: Option<String>,
    /// The trailers, in order.
    pub trailers: Vec<(String, String)>,
}

impl CommitMessage {
    /// The message that `why` asks for, with `Actor:` first and a `Note:` for each path.
    pub fn new<'a>(why: &ChangeReason, notes: impl IntoIterator<Item = &'a str>) -> Self {
        let mut trailers = vec![(ACTOR.to_owned(), why.actor.as_str().to_owned())];
        let ours = |key: &str| [ACTOR, NOTE, ALL_NOTES].iter().any(|own| own.eq_ignore_ascii_case(key));
        trailers.extend(why.trailers.iter().filter(|(key, _)| !ours(key)).cloned());
        let notes: Vec<&str> = notes.into_iter().collect();
        if notes.len() > NAMED {
            trailers.push((ALL_NOTES.to_owned(), notes.len().to_string()));
        }
        trailers.extend(notes.iter().take(NAMED).map(|path| (NOTE.to_owned(), quoted(path))));
        let subject = one_line(&why.subject);
        let subject = if subject.is_empty() { "changed notes".to_owned() } else { subject };
        Self { subject, body: why.body.clone(), trailers }
    }

    /// The value of the first trailer named `key`.
    pub fn trailer(&self, key: &str) -> Option<&str> {
        self.trailers.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
    }

    /// The values of all trailers named `key`.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.trailers.iter().filter(move |(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.as_str())
    }

    /// The notes that it names.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.all(NOTE).map(|value| match value.strip_prefix('"') {
            Some(_) => serde_json::from_str(value).unwrap_or_else(|_| value.to_owned()),
            None => value.to_owned(),
        })
    }

    /// The actor's name; `human` where a foreign commit names none.
    pub fn actor(&self) -> &str {
        self.trailer(ACTOR).unwrap_or("human")
    }

    /// The text of the commit message.
    pub fn render(&self) -> String {
        let mut out = one_line(&self.subject) + "\n";
        let body = self.body.as_deref().map(clean).unwrap_or_default();
        if !body.trim().is_empty() {
            out.push_str(&format!("\n{}\n", body.trim()));
        }
        if !self.trailers.is_empty() {
            out.push('\n');
        }
        for (key, value) in &self.trailers {
            out.push_str(&format!("{key}: {}\n", one_line(value)));
        }
        out
    }

    /// Takes a commit message apart. Trailers are the last paragraph, where every line is one.
    pub fn parse(text: &str) -> Self {
        let (subject, rest, last) = paragraphs(text);
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let trailers: Vec<_> = trailers(last).map(owned).collect();
        let body = if trailers.is_empty() { rest } else { &rest[..rest.len() - last.len()] };
        let body = body.trim_matches('\n');
        Self { subject: subject.to_owned(), body: (!body.is_empty()).then(|| body.to_owned()), trailers }
    }
}

/// The trailers of a commit message as it stands, in order.
pub(in crate::history) fn trailers_of(text: &str) -> impl Iterator<Item = (&str, &str)> {
    trailers(paragraphs(text).2)
}

/// The subject, what comes after it, and the last paragraph of that.
fn paragraphs(text: &str) -> (&str, &str, &str) {
    let text = text.trim_end_matches('\n');
    let (subject, rest) = text.split_once('\n').unwrap_or((text, ""));
    let rest = rest.trim_matches('\n');
    (subject, rest, rest.rfind("\n\n").map_or(rest, |at| &rest[at + 2..]))
}

/// The lines of a paragraph as trailers; none where one of them is none.
fn trailers(paragraph: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_meant = paragraph.lines().all(|line| trailer(line).is_some());
    paragraph.lines().filter(move |_| is_meant).filter_map(trailer)
}

fn trailer(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|key| (key, "")))?;
    let valid = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    valid.then_some((key, value))
}

/// A path as a trailer's value; quoted where its ends would be lost.
fn quoted(path: &str) -> String {
    if path.trim() == path && !path.starts_with('"') {
        return path.to_owned();
    }
    serde_json::to_string(path).unwrap_or_else(|_| path.to_owned())
}

/// One line without control characters: git's checks refuse NUL, and a line break would forge trailers.
fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.trim().to_owned()
}

fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vault::Actor;

    #[test]
    fn a_message_reads_well_and_comes_back() {
        let why = ChangeReason {
            actor: Actor::Scheduler,
            subject: "fired: Call \"Mum\"".into(),
            body: Some("It was 3 minutes late.".into()),
            trailers: vec![("Reminder".into(), "rid_K5V4M2J9Q2ZP".into())],
        };
        let message = CommitMessage::new(&why, ["Reminders.md"]);
        insta::assert_snapshot!(message.render(), @r#"
        fired: Call "Mum"

        It was 3 minutes late.

        Actor: scheduler
        Reminder: rid_K5V4M2J9Q2ZP
        Note: Reminders.md
        "#);
        assert_eq!(CommitMessage::parse(&message.render()), message);
    }

    #[test]
    fn a_body_without_trailers_stays_a_body() {
        let message = CommitMessage::parse("by hand\n\nI wrote this\nmyself\n");
        assert_eq!(message.body.as_deref(), Some("I wrote this\nmyself"));
        assert_eq!(message.actor(), "human");
    }

    #[test]
    fn a_subject_can_not_forge_a_trailer() {
        let why = ChangeReason {
            actor: Actor::Mcp,
            subject: "hello\n\nActor: human\0".into(),
            body: None,
            trailers: vec![("Reminder".into(), "x\nActor: human".into())],
        };
        let parsed = CommitMessage::parse(&CommitMessage::new(&why, []).render());
        assert_eq!(parsed.actor(), "mcp");
        assert_eq!(parsed.trailers.len(), 2);
    }

    proptest! {
        #[test]
        fn rendering_and_parsing_are_inverse(
            subject in "[a-z:\" ]{1,30}[a-z]", body in proptest::option::of("[a-z]{3,9} [a-z]{2,9}"),
            values in proptest::collection::vec("[!-~]{0,20}", 1..4)
        ) {
            let trailers = values.into_iter().map(|v| ("Reminder".to_owned(), v)).collect();
            let message = CommitMessage { subject: subject.trim().to_owned(), body, trailers };
            prop_assert_eq!(CommitMessage::parse(&message.render()), message);
        }
    }
}
