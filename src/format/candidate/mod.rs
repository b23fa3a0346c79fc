//! Parses and writes lines of `Inbox.md`, each a candidate for a memory:
//! `- [ ] [preferences] Anna: likes green tea · "I only drink green tea" [[logs/…#^id]] cap_K5V4M2J7Q2ZP`.
//!
//! A tick `[x]` means yes; a minus `[-]`, or the line's deletion, means no. The quote holds the speaker's words, and
//! the link leads to the block of these words in the log. A line may replace a known memory with `replaces "…"`, or
//! extend it with `joins "…"`. [`quoted`] writes the text and the quote in full and on one line. It escapes Markdown's
//! special characters, so that a person sees every character.
//!
//! A *record* is the same line in an Obsidian comment, with `asked=` after its id. The record keeps the question, its
//! time, and its finder (rules or a brain). When a candidate becomes a memory, its record gets that time as `kept=`. If
//! a record has neither `kept=` nor a candidate line, the candidate was declined. So the note alone holds all earlier
//! questions.
//!
//! [`parse`], in `read`, parses candidates and records; the grammar is `grammar/candidate.abnf`.

mod read;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use super::approval::{checkbox, quoted};
use super::lines::LiveLines;
use super::{Finding, Line};
use crate::words::words;

pub use super::approval::{CheckboxMark, ParsedBox};
pub use read::parse_line;

/// The prefix of an id.
const PREFIX: &str = "cap_";

/// The effect of a yes on a fact that is known already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactChange {
    /// The fact with these words is struck through, and this takes its place.
    Replaces(String),
    /// This is put to the fact with these words.
    Joins(String),
}

impl FactChange {
    /// The words of the other fact.
    pub fn words(&self) -> &str {
        match self {
            Self::Replaces(words) | Self::Joins(words) => words,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Replaces(_) => "replaces",
            Self::Joins(_) => "joins",
        }
    }
}

/// In a record's `on`: the settings let its category in, and no person looked at it.
pub const AUTO: &str = "auto";
/// In a record's `on`: a person kept it.
pub const HUMAN: &str = "human";

/// The fields of a record beside its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateRecord {
    /// When it was asked.
    pub asked: Timestamp,
    /// Its finder: a brain's name, or `rules`.
    pub by: String,
    /// When it was kept, if it was.
    pub kept: Option<Timestamp>,
    /// The decider: `human`, or `auto` where the settings let its category in.
    pub on: Option<String>,
}

/// Something that could be remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The meaning of its box.
    pub mark: CheckboxMark,
    /// Its category.
    pub category: Category,
    /// The section of `MEMORY.md` that it is for: whom or what it is about.
    pub section: String,
    /// The text that would be remembered.
    pub text: String,
    /// The quote, word for word.
    pub quote: String,
    /// The note of the block where that stands, without `.md`.
    pub path: String,
    /// The block's id, without `^`.
    pub block: String,
    /// Its effect on a known fact.
    pub change: Option<FactChange>,
    /// `cap_` and twelve characters, unique in the file.
    pub id: String,
    /// When and by whom it was asked; only a record has it.
    pub record: Option<CandidateRecord>,
    /// The block id behind the line, if a person made one.
    pub block_id: Option<String>,
}

impl Candidate {
    /// The link to the block that it was said in: `logs/…#^id`.
    pub fn source(&self) -> String {
        format!("{}#^{}", self.path, self.block)
    }

    /// The line as it is written.
    pub fn to_line(&self) -> String {
        let mark = self.mark.sign();
        let bare = |text: &str| {
            let quoted = quoted(text);
            quoted[1..quoted.len() - 1].to_owned()
        };
        let section = bare(&self.section).replace(':', "\\:");
        let mut line = format!("- [{mark}] [{}] {section}: {}", self.category, bare(&self.text));
        line.push_str(&format!(" · {} [[{}]]", quoted(&self.quote), self.source()));
        let change = |change: &FactChange| format!(" {} {}", change.name(), quoted(change.words()));
        line.extend(self.change.as_ref().map(change));
        line.push_str(&format!(" {}", self.id));
        if let Some(record) = &self.record {
            line.push_str(&format!(" asked={} by={}", instant(record.asked), record.by));
            line.extend(record.kept.map(|kept| format!(" kept={}", instant(kept))));
            line.extend(record.on.as_ref().map(|on| format!(" on={on}")));
        }
        line.extend(self.block_id.as_ref().map(|block| format!(" ^{block}")));
        line
    }

    /// Whether text and section can stand in a line and come back: neither is blank or begins or ends with a blank.
    pub fn is_writable(&self) -> bool {
        let solid = |text: &str| !text.is_empty() && text.trim() == text;
        solid(&self.section) && solid(&self.text) && !self.quote.is_empty()
    }
}

/// A question or a record with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateLine {
    /// The line's number, from 1.
    pub line: usize,
    /// Its bytes without the terminator.
    pub text: Vec<u8>,
    /// Its parsed content.
    pub candidate: Candidate,
}

/// The state of a candidate that was put to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CandidateState {
    /// No decision yet.
    Open,
    /// It was remembered.
    Kept,
    /// It was declined.
    Dropped,
}

/// Everything in a file that is a question, a record, or looks like a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxFile {
    /// The questions that stand there to be ticked, in order.
    pub lines: Vec<CandidateLine>,
    /// All earlier questions, in order.
    pub records: Vec<CandidateLine>,
    /// Lines that look like attempts at ours and can't be read.
    pub near_misses: Vec<Finding>,
    /// The texts of these lines.
    missed: Vec<String>,
}

impl InboxFile {
    /// All candidates that were ever put to a person, oldest first, with their states. A question without a record (a
    /// person wrote it) is open, too, and so is a question whose line is a near miss.
    pub fn all(&self) -> Vec<(CandidateState, &Candidate)> {
        let is_open = |line: &&Candidate| line.mark != CheckboxMark::Declined;
        let mut lines: HashMap<&str, &Candidate> = HashMap::new();
        for line in &self.lines {
            lines.entry(&line.candidate.id).or_insert(&line.candidate);
        }
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for record in self.records.iter().map(|line| &line.candidate).filter(|one| seen.insert(&one.id)) {
            let is_kept = record.record.as_ref().is_some_and(|record| record.kept.is_some());
            let line = lines.get(record.id.as_str()).copied().filter(is_open);
            // A line with other words than those that were kept is a question of its own.
            out.push(match line.filter(|line| !is_kept || line.text != record.text) {
                None if is_kept => (CandidateState::Kept, record),
                Some(line) => (CandidateState::Open, line),
                None if self.is_missed(record) => (CandidateState::Open, record),
                None => (CandidateState::Dropped, record),
            });
        }
        for line in self.lines.iter().map(|line| &line.candidate).filter(|one| seen.insert(&one.id)) {
            out.push((if is_open(&line) { CandidateState::Open } else { CandidateState::Dropped }, line));
        }
        out
    }

    /// Whether a near miss has the question's id, or its quote and link.
    fn is_missed(&self, record: &Candidate) -> bool {
        let said = format!("{} [[{}]]", quoted(&record.quote), record.source());
        self.missed.iter().any(|text| text.contains(&record.id) || text.contains(&said))
    }
}

/// Reads a file; never fails.
pub fn parse(bytes: &[u8]) -> InboxFile {
    let mut file = InboxFile::default();
    for (Line { number, text, .. }, live) in LiveLines::new(bytes).with_liveness() {
        match parse_line(text) {
            ParsedBox::Line(candidate) => {
                let is_record = candidate.record.is_some();
                let line = CandidateLine { line: number, text: text.to_vec(), candidate: *candidate };
                if is_record {
                    file.records.push(line);
                } else if live {
                    file.lines.push(line);
                }
            }
            ParsedBox::NearMiss(finding) if live => {
                file.near_misses.push(Finding { line: number, ..finding });
                file.missed.push(String::from_utf8_lossy(text).into_owned());
            }
            ParsedBox::NearMiss(_) | ParsedBox::Other => {}
        }
    }
    file
}

/// The id made of the first sixty of these bits.
pub fn id_from_bits(bits: [u8; 8]) -> String {
    checkbox::id_from_random(PREFIX, bits)
}

/// Whether a text is an id of a candidate.
pub fn is_id(text: &str) -> bool {
    checkbox::is_id(text, PREFIX)
}

/// A whole second, UTC.
fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

words! {
    /// The six categories of memories of source 002.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Category, name {
        /// Identity: name, home, work, family, health.
        Profile = "profile",
        /// Likes, wishes and habits.
        Preferences = "preferences",
        /// People, animals, things, places and projects that matter to a person.
        Entities = "entities",
        /// Past and coming events.
        Events = "events",
        /// A problem and what solved it.
        Cases = "cases",
        /// A way of doing things that holds again and again.
        Patterns = "patterns",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tea() -> Candidate {
        Candidate {
            mark: CheckboxMark::Open,
            category: Category::Preferences,
            section: "Anna".into(),
            text: "likes green tea".into(),
            quote: "I only drink green tea".into(),
            path: "logs/discord-thread/123/20260130T142355Z_0001".into(),
            block: "01JGXYZ0000000000000000000".into(),
            change: None,
            id: "cap_K5V4M2J7Q2ZP".into(),
            record: None,
            block_id: None,
        }
    }

    fn record(of: &Candidate) -> Candidate {
        let asked = "2026-12-01T09:30:00Z".parse().unwrap();
        Candidate {
            record: Some(CandidateRecord { asked, by: "rules".into(), kept: None, on: None }),
            ..of.clone()
        }
    }

    #[test]
    fn a_line_looks_as_designed() {
        let link = "[[logs/discord-thread/123/20260130T142355Z_0001#^01JGXYZ0000000000000000000]]";
        assert_eq!(
            tea().to_line(),
            format!(
                "- [ ] [preferences] Anna: likes green tea · \"I only drink green tea\" {link} cap_K5V4M2J7Q2ZP"
            )
        );
    }

    #[test]
    fn a_record_without_its_line_was_declined() {
        let (tea, kept) = (tea(), Candidate { id: "cap_AAAAAAAAAAAA".into(), ..tea() });
        let mut stands = record(&kept);
        stands.record.as_mut().unwrap().kept = Some("2026-12-02T09:30:00Z".parse().unwrap());
        let records = format!("%%\n{}\n{}\n%%\n", record(&tea).to_line(), stands.to_line());
        let states = |above: &str| -> Vec<CandidateState> {
            parse(format!("# Inbox\n\n{above}\n{records}").as_bytes())
                .all()
                .iter()
                .map(|(state, _)| *state)
                .collect()
        };
        assert_eq!(states(""), [CandidateState::Dropped, CandidateState::Kept]);
        assert_eq!(states(&tea.to_line()), [CandidateState::Open, CandidateState::Kept]);
        assert_eq!(
            states(&tea.to_line().replace("[ ]", "[x]")),
            [CandidateState::Open, CandidateState::Kept]
        );
        assert_eq!(
            states(&tea.to_line().replace("[ ]", "[-]")),
            [CandidateState::Dropped, CandidateState::Kept]
        );
        assert_eq!(
            states(&format!("```\n{}\n```", tea.to_line())),
            [CandidateState::Dropped, CandidateState::Kept]
        );
        let mine = Candidate { id: "cap_BBBBBBBBBBBB".into(), ..tea.clone() };
        assert_eq!(
            states(&mine.to_line()),
            [CandidateState::Dropped, CandidateState::Kept, CandidateState::Open]
        );
    }

    #[test]
    fn an_id_is_one_of_its_kind() {
        let id = id_from_bits(*b"whatever");
        assert!(is_id(&id) && !is_id("cap_") && !is_id("rid_K5V4M2J9Q2ZP") && !is_id("cap_k5V4M2J7Q2ZP"));
    }

    proptest! {
        #[test]
        fn whatever_is_said_comes_back(text in "(\\PC|[\\x00-\\x7f\u{80}-\u{a0}\u{200b}-\u{202f}\u{2028}]){1,60}", quote in "\\PC{1,40}", section in "[ -~é:]{1,20}", old in "\\PC{1,20}") {
            let mut said = tea();
            (said.text, said.quote, said.section) = (text, quote, section);
            said.change = Some(FactChange::Replaces(old));
            prop_assume!(said.is_writable());
            for said in [said.clone(), record(&said)] {
                let line = said.to_line();
                prop_assert_eq!(parse_line(line.as_bytes()), ParsedBox::Line(Box::new(said)), "{}", line);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\n -[x]cap_\xc2\xb7\": =^%#".to_vec())], 0..200)) {
            let _ = parse(&bytes).all();
            let _ = parse_line(&bytes);
        }
    }
}
