//! Parses `routines/*.md`: one scheduled prompt each, with its schedule, destination and limits in the frontmatter.
//!
//! ```text
//! ---
//! schedule: weekdays 08:00
//! scope: channel:1482815120000000000
//! enabled: true
//! only_if: [due, promised]
//! ---
//! List the tasks that are due today.
//! ```
//!
//! A routine runs only if its frontmatter says `enabled: true` and has no faulty or misspelt key of this format,
//! because a misspelt budget must not mean no budget. Other keys are passed over. Times are local to the vault's zone;
//! `monthly` on the 31st means the last day of a shorter month. `schedule` reads the schedule, `cron` its form with
//! five fields; the grammar is `grammar/routine.abnf`.

mod cron;
mod schedule;

use std::fmt;

pub use schedule::RoutineSchedule;

use super::{Finding, commitment, lines, lines::frontmatter_end, quote, yaml};
use crate::words::words;

/// A routine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routine {
    /// When it runs.
    pub schedule: RoutineSchedule,
    /// The destination of its answer: `channel:ID`, `thread:ID`, `user:ID`, or `console`, as reminders have it.
    pub scope: Option<String>,
    /// Whether it runs at all: said so, and all of its head understood.
    pub enabled: bool,
    /// The brain that is asked first.
    pub brain: Option<String>,
    /// The skills that it may use.
    pub skills: Vec<String>,
    /// The MCP servers that it may use.
    pub mcp: Vec<String>,
    /// The tokens that one run may spend.
    pub budget: Option<u64>,
    /// One of these must hold, or no brain is asked and nothing is sent; empty for always.
    pub only_if: Vec<Condition>,
    /// Whether an answer `NONE` sends nothing.
    pub quiet: bool,
    /// The destination of the answer.
    pub deliver: AnswerDelivery,
    /// The note that it is appended to, for [`AnswerDelivery::Note`]; without one the day's.
    pub note: Option<String>,
    /// The prompt: the note below its head, without blank lines around it.
    pub prompt: String,
}

words! {
    /// The destination of a routine's answer.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum AnswerDelivery, as_str {
        /// It is sent to its scope.
        #[default]
        Channel = "channel",
        /// It is sent to the thread that its scope names.
        Thread = "thread",
        /// It is appended to a note.
        Note = "note",
        /// It stands in the routine's log alone.
        None = "none",
    }
}

/// The keys of a head that are ours.
const KEYS: [&str; 11] = [
    "schedule", "scope", "enabled", "brain", "skills", "mcp", "budget", "only_if", "quiet", "deliver", "note",
];

/// The routine in a note, and what is wrong with its head. A note without `schedule` and `enabled` is no routine; one
/// with a head that isn't understood doesn't run.
pub fn parse(bytes: &[u8]) -> (Option<Routine>, Vec<Finding>) {
    let Some(head_end) = frontmatter_end(bytes) else {
        return (None, lines::not_understood(bytes).into_iter().collect());
    };
    let mut read = Reader::default();
    let entries = yaml::entries(bytes, head_end);
    let named = |name| entries.iter().find(|entry| entry.key == name || nearly(&entry.key) == Some(name));
    if named("schedule").is_none() {
        let reason = "the head has no `schedule`, so nothing runs";
        let meant = named("enabled").map(|entry| Finding::new(entry.line, 1, reason, schedule::FORMS));
        return (None, meant.into_iter().collect());
    }
    entries.iter().enumerate().for_each(|(at, entry)| read.take(entry, &entries[..at]));
    let Reader { schedule, mut routine, mut findings, remarks } = read;
    if let Some(deliver) = entries.iter().find(|entry| entry.key == "deliver")
        && routine.deliver == AnswerDelivery::Thread
        && !routine.scope.as_deref().is_some_and(|scope| scope.starts_with("thread:"))
    {
        let reason = "the answer goes to a thread, and `scope` names none";
        let advice = "write `scope: thread:ID` with the number that Discord shows";
        findings.push(Finding::new(deliver.line, deliver.column, reason, advice));
    }
    routine.prompt = String::from_utf8_lossy(&bytes[head_end..]).trim().to_owned();
    routine.enabled &= findings.is_empty();
    findings.extend(remarks);
    (schedule.map(|schedule| Routine { schedule, ..routine }), findings)
}

#[derive(Default)]
struct Reader {
    schedule: Option<RoutineSchedule>,
    routine: Routine,
    findings: Vec<Finding>,
    /// Keys that are understood, and better written otherwise.
    remarks: Vec<Finding>,
}

impl Reader {
    /// Reads an entry; `before` are those before it.
    fn take(&mut self, entry: &yaml::FrontmatterEntry, before: &[yaml::FrontmatterEntry]) {
        let key = entry.key.as_str();
        if !KEYS.contains(&key) {
            if let Some(meant) = nearly(key) {
                let reason = format!("{} is no key of a routine", quote(key));
                self.findings.push(Finding::new(entry.line, 1, reason, format!("did you mean `{meant}`?")));
            }
            return;
        }
        if before.iter().any(|before| before.key == key) {
            let reason = format!("`{key}` stands here twice");
            return self.findings.push(Finding::new(entry.line, 1, reason, "delete one of them"));
        }
        let value = entry.value.as_str();
        let shown = quote(value);
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "schedule" => match value.parse::<RoutineSchedule>() {
                Ok(found) => self.schedule = Some(found),
                Err(why) => {
                    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                    self.wrong(entry, format!("{shown} is not a schedule{why}"), schedule::FORMS);
                }
            },
            "scope" => {
                self.routine.scope = text();
                if !value.is_empty() && value != "console" && !commitment::is_place(value) {
                    let advice = "write `channel:ID`, `thread:ID` or `user:ID` with the number that Discord shows, or `console`";
                    self.wrong(entry, format!("{shown} is no place"), advice);
                }
            }
            "enabled" => self.routine.enabled = self.truth(entry),
            "quiet" => self.routine.quiet = self.truth(entry),
            "brain" => self.routine.brain = text(),
            "skills" => self.routine.skills.clone_from(&entry.items),
            "mcp" => self.routine.mcp.clone_from(&entry.items),
            "budget" => match value.replace('_', "").parse::<u64>() {
                Ok(tokens) if tokens > 0 => self.routine.budget = Some(tokens),
                _ => self.wrong(entry, format!("{shown} is no number of tokens"), "write `budget: 20000`"),
            },
            "only_if" => self.conditions(entry),
            "deliver" => match AnswerDelivery::named(value) {
                Some(deliver) => self.routine.deliver = deliver,
                None => {
                    let reason = format!("{shown} is none of `channel`, `thread`, `note`, `none`");
                    self.wrong(entry, reason, "write `deliver: channel`");
                }
            },
            _ => self.routine.note = text(),
        }
    }

    fn conditions(&mut self, entry: &yaml::FrontmatterEntry) {
        for item in &entry.items {
            let (condition, fault) = read_condition(item);
            if let Some((reason, suggestion)) = fault {
                let list = if condition.is_some() { &mut self.remarks } else { &mut self.findings };
                list.push(Finding::new(entry.line, entry.column, reason, suggestion));
            }
            self.routine.only_if.extend(condition);
        }
    }

    fn truth(&mut self, entry: &yaml::FrontmatterEntry) -> bool {
        let value = entry.value.as_str();
        if !matches!(value, "true" | "false") {
            let reason = format!("{} is neither `true` nor `false`", quote(value));
            self.wrong(entry, reason, format!("write `{}: true`", entry.key));
        }
        value == "true"
    }

    fn wrong(&mut self, entry: &yaml::FrontmatterEntry, reason: String, suggestion: impl Into<String>) {
        self.findings.push(Finding::new(entry.line, entry.column, reason, suggestion));
    }
}

/// The key of ours that a key nearly is. Short ones have too many neighbours to be guessed.
fn nearly(key: &str) -> Option<&'static str> {
    if KEYS.contains(&key) {
        return None;
    }
    let plain = key.to_ascii_lowercase().replace('-', "_");
    let same = KEYS.into_iter().find(|known| known.replace('_', "") == plain.replace('_', ""));
    let slips = |known: &&str| strsim::damerau_levenshtein(&plain, known);
    let long = KEYS.into_iter().filter(|known| known.len() > 4 && plain.len() > 4);
    same.or_else(|| {
        long.min_by_key(slips).filter(|known| slips(known) <= if known.len() > 6 { 2 } else { 1 })
    })
}

/// The bytes of a note with its routine enabled or disabled, and no other byte changed; none where the note has no
/// head.
pub fn with_enabled(bytes: &[u8], enabled: bool) -> Option<Vec<u8>> {
    yaml::with_value(bytes, frontmatter_end(bytes)?, "enabled", if enabled { "true" } else { "false" })
}

#[cfg(test)]
mod tests;

/// A condition for a routine to run, checked without a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A reminder or follow-up is due today, or was and still waits.
    Due,
    /// One is due tomorrow.
    Tomorrow,
    /// A follow-up is pending.
    Promised,
    /// A message was logged since the last run.
    Said,
    /// A message of the bound channel has no answer.
    Unanswered,
    /// The memory has changed since the last run.
    Memory,
    /// A search has a hit newer than the last run; never empty.
    Search(String),
}

const WORDS: [(&str, Condition); 6] = [
    ("due", Condition::Due),
    ("tomorrow", Condition::Tomorrow),
    ("promised", Condition::Promised),
    ("said", Condition::Said),
    ("unanswered", Condition::Unanswered),
    ("memory", Condition::Memory),
];

/// The prefix of the words of a search.
const SEARCH: &str = "search:";

/// Reads a condition: it, unless it is refused, and what is wrong with it: the reason, and what to write.
fn read_condition(item: &str) -> (Option<Condition>, Option<(String, String)>) {
    let item = item.trim();
    if let Some((_, condition)) = WORDS.into_iter().find(|(word, _)| *word == item) {
        return (Some(condition), None);
    }
    if let Some(words) = item.strip_prefix(SEARCH).map(str::trim) {
        if !words.is_empty() {
            return (Some(Condition::Search(words.to_owned())), None);
        }
        let reason = "`search:` names no words to search for".to_owned();
        return (None, Some((reason, "write `only_if: \"search: green tea\"`".to_owned())));
    }
    if let Some(meant) = nearly_condition(item) {
        let reason = format!("{} is no condition of a routine", quote(item));
        let suggestion = format!("did you mean `{meant}`? A search is written `\"search: {item}\"`");
        return (None, Some((reason, suggestion)));
    }
    let words: Vec<String> = WORDS.iter().map(|(word, _)| format!("`{word}`")).collect();
    let reason = format!("{} is read as a search", quote(item));
    let suggestion = format!("write `\"search: {item}\"`; the other conditions are {}", words.join(", "));
    (Some(Condition::Search(item.to_owned())), Some((reason, suggestion)))
}

/// The word of ours that one word nearly is.
fn nearly_condition(item: &str) -> Option<&'static str> {
    let plain = item.to_lowercase();
    let plain = plain.trim_matches(|c: char| !c.is_alphanumeric());
    let slips = |word: &str| strsim::damerau_levenshtein(plain, word);
    let near = WORDS.iter().map(|(word, _)| *word).min_by_key(|word| slips(word))?;
    (slips(near) <= if near.len() > 6 { 2 } else { 1 }).then_some(near)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Search(text) => write!(f, "{SEARCH} {text}"),
            known => f.write_str(WORDS.iter().find(|(_, it)| it == known).map_or("", |(word, _)| word)),
        }
    }
}
