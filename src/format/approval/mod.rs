//! Parses and writes lines of `Approvals.md`, each a question for permission: `- [ ] ap_K5V4M2J7Q2ZP
//! until=2026-12-01T09:30Z brain=claude run="curl …"`.
//!
//! A tick `[x]` means yes, a minus `[-]` means no. A line with a `state` is closed, and its checkbox is ignored. A
//! question without an answer ends as `state=expired`, which doesn't count as a no. The command stands between quotes
//! ([`quoted`]) on one line and is read back byte for byte. It is shown in full: line ends and invisible characters are
//! spelled out, and Markdown is escaped.
//!
//! [`parse`] finds a file's lines and near misses (lines that only look like an attempt). [`Approval::to_line`] writes
//! a line; [`with_state`] closes a line in place. The grammar is `grammar/approval.abnf`.

pub(in crate::format) mod checkbox;
pub(super) mod quote;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use self::checkbox::{LineReader, is_name};
use super::lines::LiveLines;
use super::{Fault, Finding, Line, has_shape, nearest, quote};
use crate::words::words;

pub use checkbox::{CheckboxMark, ParsedBox};
pub use quote::{quoted, shown};

/// The prefix of an id.
const PREFIX: &str = "ap_";

words! {
    /// The end of a question.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ApprovalState, name {
        /// It was approved, and the approval is used up.
        Used = "used",
        /// It was declined.
        Declined = "declined",
        /// No answer came in time. That is no "no".
        Expired = "expired",
        /// The line was changed: its box no longer answers the question.
        Changed = "changed",
        /// The answer that it belongs to was stopped.
        Stopped = "stopped",
    }
}

/// One question of the note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The meaning of its box.
    pub mark: CheckboxMark,
    /// `ap_` and twelve characters, unique in the file.
    pub id: String,
    /// Until when it can be answered; a whole minute.
    pub until: Timestamp,
    /// The brain that wants it.
    pub brain: String,
    /// Exactly what would run.
    pub run: String,
    /// The hash of the files that it would run, in hexadecimal digits.
    pub hash: Option<String>,
    /// The reason of the question.
    pub why: Option<String>,
    /// The pattern that "Always" would add to the settings.
    pub always: Option<String>,
    /// The turn and the call within it: `TURN/NUMBER`.
    pub turn: Option<String>,
    /// Its end; `None` while it waits.
    pub state: Option<ApprovalState>,
    /// The block id behind it, if a person made one.
    pub block_id: Option<String>,
}

impl Approval {
    /// Whether it still waits for an answer.
    pub fn is_open(&self) -> bool {
        self.state.is_none()
    }

    /// Whether it asks for the same as another question; boxes and states don't count. An approval is for the command
    /// and the files' hash. The reason, and the pattern that "Always" would add, may differ, for example if the skill
    /// was approved in between.
    pub fn asks_as(&self, other: &Self) -> bool {
        let neutral = |one: &Self| Self {
            mark: CheckboxMark::Open,
            why: None,
            always: None,
            state: None,
            block_id: None,
            ..one.clone()
        };
        neutral(self) == neutral(other)
    }

    /// The line as it is written.
    pub fn to_line(&self) -> String {
        let mark = self.mark.sign();
        let until = self.until.strftime("%Y-%m-%dT%H:%MZ");
        let mut line =
            format!("- [{mark}] {} until={until} brain={} run={}", self.id, self.brain, quoted(&self.run));
        for (key, value) in [
            ("hash", self.hash.clone()),
            ("why", self.why.as_deref().map(quoted)),
            ("always", self.always.as_deref().map(quoted)),
            ("turn", self.turn.clone()),
            ("state", self.state.map(|state| state.to_string())),
        ] {
            line.extend(value.map(|value| format!(" {key}={value}")));
        }
        line.extend(self.block_id.as_ref().map(|block| format!(" ^{block}")));
        line
    }
}

/// A question with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalLine {
    /// The line's number, from 1.
    pub line: usize,
    /// Its bytes without the terminator.
    pub text: Vec<u8>,
    /// Its parsed content.
    pub approval: Approval,
}

/// Everything in a file that is a question or looks like one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalsFile {
    /// The questions, in order.
    pub lines: Vec<ApprovalLine>,
    /// Lines that look like attempts at ours and can't be read.
    pub near_misses: Vec<Finding>,
}

/// Reads a file; never fails.
pub fn parse(bytes: &[u8]) -> ApprovalsFile {
    let mut file = ApprovalsFile::default();
    for Line { number, text, .. } in LiveLines::new(bytes) {
        match parse_line(text) {
            ParsedBox::Line(approval) => {
                file.lines.push(ApprovalLine { line: number, text: text.to_vec(), approval: *approval });
            }
            ParsedBox::NearMiss(finding) => file.near_misses.push(Finding { line: number, ..finding }),
            ParsedBox::Other => {}
        }
    }
    file
}

/// The line with a state after its last field and before a block id. A closed line, or a line of another form, is
/// returned unchanged.
pub fn with_state(line: &[u8], state: ApprovalState) -> Vec<u8> {
    match std::str::from_utf8(line).ok().and_then(|text| read(text).ok()) {
        Some((approval, end)) if approval.is_open() => {
            [&line[..end], format!(" state={state}").as_bytes(), &line[end..]].concat()
        }
        _ => line.to_vec(),
    }
}

/// The line with its box ticked or declined. A closed line, or a line of another form, is returned unchanged.
pub fn with_mark(line: &[u8], mark: CheckboxMark) -> Vec<u8> {
    match parse_line(line) {
        ParsedBox::Line(approval) if approval.is_open() => {
            let mut line = line.to_vec();
            line[checkbox::BOX] = mark.sign() as u8;
            line
        }
        _ => line.to_vec(),
    }
}

/// The id made of the first sixty of these random bits.
pub fn id_from_random(random: [u8; 8]) -> String {
    checkbox::id_from_random(PREFIX, random)
}

/// Whether a text is an id of a question.
pub fn is_id(text: &str) -> bool {
    checkbox::is_id(text, PREFIX)
}

const KEYS: [&str; 8] = ["until", "brain", "run", "hash", "why", "always", "turn", "state"];

/// Reads one line.
pub fn parse_line(line: &[u8]) -> ParsedBox<Approval> {
    checkbox::parse_line(line, looks_meant, |text| Ok(read(text)?.0))
}

/// Whether a line begins like a task and names a question, or two of its fields.
fn looks_meant(text: &str) -> bool {
    let Some(body) = checkbox::task_body(text) else { return false };
    let words = || body.split([' ', '\t']);
    words().any(|word| checkbox::looks_like_id(word, PREFIX))
        || words().any(|word| word.starts_with("run=")) && words().any(|word| word.starts_with("until="))
}

/// The question on a line, and the end of its last field.
fn read(text: &str) -> Result<(Approval, usize), Fault> {
    let mark = checkbox::mark(text, "tick it")?;
    let mut line = LineReader::new(text);
    line.spaces("put one behind the box")?;
    let id = line.id(PREFIX, "question")?;
    let mut fields = BTreeMap::new();
    let mut end_of_fields = line.at;
    while line.next_field("put one between two fields")? {
        take_field(&mut fields, &mut line)?;
        end_of_fields = line.at;
    }
    let missing = |key: &str| {
        let how = "delete the line; it can be asked for again";
        Fault::new(end_of_fields, format!("`{key}=` is missing"), how)
    };
    let approval = Approval {
        mark,
        id,
        until: fields.remove("until").and_then(|said| until(&said)).ok_or_else(|| missing("until"))?,
        brain: fields.remove("brain").ok_or_else(|| missing("brain"))?,
        run: fields.remove("run").ok_or_else(|| missing("run"))?,
        hash: fields.remove("hash"),
        why: fields.remove("why"),
        always: fields.remove("always"),
        turn: fields.remove("turn"),
        state: fields.remove("state").and_then(|said| ApprovalState::named(&said)),
        block_id: line.block_id,
    };
    Ok((approval, end_of_fields))
}

/// Takes the field that stands next.
fn take_field<'a>(fields: &mut BTreeMap<&'a str, String>, line: &mut LineReader<'a>) -> Result<(), Fault> {
    let at = line.at;
    let Some((key, _)) = line.rest().split_once('=').filter(|(key, _)| !key.contains([' ', '"'])) else {
        let reason = format!("{} is no field", quote(line.word()));
        return Err(line.fault(reason, format!("known are: {}", KEYS.join(", "))));
    };
    line.at += key.len() + 1;
    let value = if matches!(key, "run" | "why" | "always") {
        line.quoted("write it as it stood; a changed line approves nothing")?
    } else {
        let word = line.word();
        check_word(key, word, at, line.at)?;
        line.at += word.len();
        word.to_owned()
    };
    if fields.insert(key, value).is_some() {
        return Err(Fault::new(at, format!("`{key}=` stands twice"), "delete one"));
    }
    match line.rest().chars().next() {
        None | Some(' ') => Ok(()),
        Some(_) => Err(line.fault("a space is missing", "put one between two fields")),
    }
}

/// Whether a word can be the value of a key, which stands at `at`, and the word at `from`.
fn check_word(key: &str, value: &str, at: usize, from: usize) -> Result<(), Fault> {
    let is_hash = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let (fits, what, how) = match key {
        "until" => (until(value).is_some(), "time", "write it as in `2026-12-01T09:30Z`"),
        "brain" | "turn" => (is_name(value), "name", "write letters, digits and `-._~:/+@`"),
        "hash" => {
            let fits = value.bytes().all(is_hash) && (12..=64).contains(&value.len());
            (fits, "hash", "write 12 to 64 digits of 0-9 and a-f")
        }
        "state" => {
            let how = "known are: used, declined, expired, changed, stopped";
            (ApprovalState::named(value).is_some(), "state", how)
        }
        _ => {
            let suggestion = match nearest(key, &KEYS) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("known are: {}", KEYS.join(", ")),
            };
            return Err(Fault::new(at, format!("{} is no field", quote(key)), suggestion));
        }
    };
    if fits { Ok(()) } else { Err(Fault::new(from, format!("{} is no {what}", quote(value)), how)) }
}

/// `2026-12-01T09:30Z`.
fn until(text: &str) -> Option<Timestamp> {
    let local =
        DateTime::strptime("%Y-%m-%dT%H:%MZ", text).ok().filter(|_| has_shape(text, "0000-00-00T00:00Z"))?;
    (local.year() > 0).then(|| TimeZone::UTC.to_timestamp(local).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(run: &str) -> Approval {
        Approval {
            mark: CheckboxMark::Open,
            id: "ap_K5V4M2J7Q2ZP".into(),
            until: "2026-12-01T09:30:00Z".parse().unwrap(),
            brain: "claude".into(),
            run: run.into(),
            hash: None,
            why: None,
            always: None,
            turn: Some("01JGXYZ0000000000000000000/0".into()),
            state: None,
            block_id: None,
        }
    }

    #[test]
    fn a_line_is_ended_and_ticked_where_it_stands() {
        let line = b"- [ ]  ap_K5V4M2J7Q2ZP run=\"a [x] b\"  until=2026-12-01T09:30Z brain=claude ^mine  ";
        let ended = with_state(line, ApprovalState::Expired);
        assert_eq!(
            String::from_utf8_lossy(&ended),
            "- [ ]  ap_K5V4M2J7Q2ZP run=\"a [x] b\"  until=2026-12-01T09:30Z brain=claude state=expired ^mine  "
        );
        assert_eq!(with_state(&ended, ApprovalState::Used), ended, "over is over");
        assert_eq!(with_mark(&ended, CheckboxMark::Ticked), ended);
        let ticked = with_mark(line, CheckboxMark::Ticked);
        assert!(ticked.starts_with(b"- [x]  ap_") && ticked[5..] == line[5..]);
        assert_eq!(with_state(b"- [ ] something else", ApprovalState::Used), b"- [ ] something else");
        let by_tasks =
            b"- [x] ap_K5V4M2J7Q2ZP until=2026-12-01T09:30Z brain=claude run=\"ls\" \xe2\x9c\x85 2026-12-01";
        let used = String::from_utf8(with_state(by_tasks, ApprovalState::Used)).unwrap();
        assert!(used.ends_with(" run=\"ls\" state=used \u{2705} 2026-12-01"), "{used}");
        assert_eq!(with_state(used.as_bytes(), ApprovalState::Used), used.as_bytes(), "over is over");
    }

    #[test]
    fn an_id_is_one_of_its_kind() {
        let id = id_from_random(*b"whatever");
        assert!(is_id(&id) && !is_id("ap_") && !is_id("rid_K5V4M2J7Q2ZP") && !is_id("ap_k5V4M2J7Q2ZP"));
    }

    proptest! {
        #[test]
        fn whatever_would_run_comes_back(run in "(\\PC|[\\x00-\\x7f\u{80}-\u{a0}\u{200b}-\u{202f}\u{2028}]){1,60}", why in "\\PC{0,20}", hash in "[0-9a-f]{12,64}") {
            let mut asked = asked(&run);
            (asked.why, asked.always, asked.hash) = (Some(why), Some(format!("bash:{run}")), Some(hash));
            let line = asked.to_line();
            prop_assert!(!line.contains(['\n', '\r', '\t']));
            match parse_line(line.as_bytes()) {
                ParsedBox::Line(read) => prop_assert_eq!(*read, asked),
                other => prop_assert!(false, "{:?}: {}", other, line),
            }
            let file = parse(format!("# Approvals\n\n{line}\n").as_bytes());
            prop_assert_eq!(file.lines.len(), 1);
        }

        #[test]
        fn reading_never_fails(line in "(- \\[[ xX-]\\] )?(ap_[A-Z0-9]{12}| |until=|2026-12-01T09:30Z|run=|\"|\\\\|\\PC){0,12}") {
            let _ = parse_line(line.as_bytes());
            let _ = with_state(line.as_bytes(), ApprovalState::Used);
        }
    }
}
