//! Parses and writes lines of `Approvals.md`: `- [ ] ap_K5V4M2J7Q2ZP until=2026-12-01T09:30Z brain=claude run="curl
//! …"`, one question for permission a line.
//!
//! A tick (`[x]`) says yes, a minus (`[-]`) says no. A line with a `state` has ended, and its box is ignored: an
//! unanswered one reads `state=expired`, which is no "no". The command stands between quotes ([`quoted`]): it is read
//! back byte for byte, fits on one line, and is shown in full, with line ends and invisible characters spelled out and
//! Markdown escaped. [`parse`] finds the lines of a file and near misses; [`Approval::to_line`] writes one;
//! [`with_state`] ends one in place. The grammar is `grammar/approval.abnf`. `read` reads a line, `quote` puts a text
//! between quotes.

pub(in crate::format) mod checkbox;
pub(super) mod quote;
mod read;

use jiff::Timestamp;

use super::{Finding, Line, lines::LiveLines};
use crate::words::words;

pub use checkbox::{CheckboxMark, ParsedBox};
pub use quote::{quoted, shown};
pub use read::parse_line;

/// The prefix of an id.
const PREFIX: &str = "ap_";

words! {
    /// How a line ended.
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
    /// Why it is asked.
    pub why: Option<String>,
    /// The pattern that "Always" would add to the settings.
    pub always: Option<String>,
    /// The turn and the call within it: `TURN/NUMBER`.
    pub turn: Option<String>,
    /// How it ended; none while it waits.
    pub state: Option<ApprovalState>,
    /// The block id behind it, if a person made one.
    pub block_id: Option<String>,
}

impl Approval {
    /// Whether it still waits for a word.
    pub fn is_open(&self) -> bool {
        self.state.is_none()
    }

    /// Whether it asks the same as another, whatever their boxes and their ends. The approval is for the command and
    /// the files' hash: the reason, and the pattern that "Always" would add, may differ by now, as after an approval of
    /// the skill in between.
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
        let mut add = |key: &str, value: String| line.extend([" ", key, "=", &value]);
        if let Some(hash) = &self.hash {
            add("hash", hash.clone());
        }
        if let Some(why) = &self.why {
            add("why", quoted(why));
        }
        if let Some(always) = &self.always {
            add("always", quoted(always));
        }
        if let Some(turn) = &self.turn {
            add("turn", turn.clone());
        }
        if let Some(state) = self.state {
            add("state", state.name().to_owned());
        }
        if let Some(block) = &self.block_id {
            line.extend([" ^", block]);
        }
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
    /// Lines that look meant as ours and can't be read.
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
            ParsedBox::NearMiss { column, reason, suggestion } => {
                file.near_misses.push(Finding { line: number, column, reason, suggestion });
            }
            ParsedBox::Other => {}
        }
    }
    file
}

/// The line with a state behind its last field, before a block id. One that is over, or is none of ours, comes back
/// as it is.
pub fn with_state(line: &[u8], state: ApprovalState) -> Vec<u8> {
    match parse_line(line) {
        ParsedBox::Line(approval) if approval.is_open() => {
            let end = read::end_of_fields(line);
            [&line[..end], format!(" state={}", state.name()).as_bytes(), &line[end..]].concat()
        }
        _ => line.to_vec(),
    }
}

/// The line with its box ticked or declined. One that is over, or is none of ours, comes back as it is.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
