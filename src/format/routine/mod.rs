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
//! A routine runs only if its frontmatter says `enabled: true` and all of our keys are understood, because a misspelt
//! budget must not mean no budget. Times are local to the vault's zone; a day that a month lacks is its last. Other
//! keys are passed over. `schedule` reads the schedule, `cron` its form with five fields; the grammar is
//! `grammar/routine.abnf`.

mod condition;
mod cron;
mod schedule;

pub use condition::Condition;
pub use cron::Cron;
pub use schedule::{RoutineSchedule, ScheduleError};

use super::{Finding, commitment, frontmatter, lines::frontmatter_end, quote, yaml};
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

/// The routine in a note, and what is wrong with its head. A note without a `schedule` is no routine; one
/// with a head that isn't understood doesn't run.
pub fn parse(bytes: &[u8]) -> (Option<Routine>, Vec<Finding>) {
    let Some(head_end) = frontmatter_end(bytes) else { return (None, Vec::new()) };
    let mut read = Reader::default();
    let entries = frontmatter::entries(bytes, head_end);
    let is_one =
        entries.iter().any(|entry| entry.key == "schedule" || nearly(&entry.key) == Some("schedule"));
    if !is_one {
        return (None, Vec::new());
    }
    entries.iter().for_each(|entry| read.take(entry));
    let prompt = String::from_utf8_lossy(&bytes[head_end..]).trim().to_owned();
    let Reader { schedule, mut routine, mut findings, remarks, deliver_at, .. } = read;
    if let Some((line, column)) = deliver_at
        && routine.deliver == AnswerDelivery::Thread
        && !routine.scope.as_deref().is_some_and(|scope| scope.starts_with("thread:"))
    {
        findings.push(Finding::new(
            line,
            column,
            "the answer goes to a thread, and `scope` names none",
            "write `scope: thread:ID` with the number that Discord shows",
        ));
    }
    routine.prompt = prompt;
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
    seen: Vec<String>,
    deliver_at: Option<(usize, usize)>,
}

impl Reader {
    fn take(&mut self, entry: &frontmatter::FrontmatterEntry) {
        let key = entry.key.as_str();
        if !KEYS.contains(&key) {
            if let Some(meant) = nearly(key) {
                self.wrong(
                    entry.line,
                    1,
                    format!("{} is no key of a routine", quote(key)),
                    format!("did you mean `{meant}`?"),
                );
            }
            return;
        }
        if self.seen.iter().any(|seen| seen == key) {
            self.wrong(entry.line, 1, format!("`{key}` stands here twice"), "delete one of them");
            return;
        }
        self.seen.push(key.to_owned());
        let (line, column) = (entry.line, entry.column);
        let value = entry.value.as_str();
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "schedule" => match value.parse() {
                Ok(found) => self.schedule = Some(found),
                Err(ScheduleError { why, .. }) => {
                    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                    self.wrong(
                        line,
                        column,
                        format!("{} is not a schedule{why}", quote(value)),
                        schedule::FORMS,
                    );
                }
            },
            "scope" => {
                self.routine.scope = text();
                if !value.is_empty() && value != "console" && !commitment::is_place(value) {
                    let advice = "write `channel:ID`, `thread:ID` or `user:ID` with the number that Discord shows, or `console`";
                    self.wrong(line, column, format!("{} is no place", quote(value)), advice);
                }
            }
            "enabled" => self.routine.enabled = self.truth(entry),
            "quiet" => self.routine.quiet = self.truth(entry),
            "brain" => self.routine.brain = text(),
            "skills" => self.routine.skills.clone_from(&entry.items),
            "mcp" => self.routine.mcp.clone_from(&entry.items),
            "budget" => match value.replace('_', "").parse::<u64>() {
                Ok(tokens) if tokens > 0 => self.routine.budget = Some(tokens),
                _ => self.wrong(
                    line,
                    column,
                    format!("{} is no number of tokens", quote(value)),
                    "write `budget: 20000`",
                ),
            },
            "only_if" => self.conditions(entry),
            "deliver" => match AnswerDelivery::named(value) {
                Some(deliver) => {
                    self.routine.deliver = deliver;
                    self.deliver_at = Some((line, column));
                }
                None => self.wrong(
                    line,
                    column,
                    format!("{} is none of `channel`, `thread`, `note`, `none`", quote(value)),
                    "write `deliver: channel`",
                ),
            },
            _ => self.routine.note = text(),
        }
    }

    fn conditions(&mut self, entry: &frontmatter::FrontmatterEntry) {
        for item in &entry.items {
            let (condition, fault) = condition::read(item);
            if let Some((reason, suggestion)) = fault {
                let list = if condition.is_some() { &mut self.remarks } else { &mut self.findings };
                list.push(Finding::new(entry.line, entry.column, reason, suggestion));
            }
            self.routine.only_if.extend(condition);
        }
    }

    fn truth(&mut self, entry: &frontmatter::FrontmatterEntry) -> bool {
        match entry.value.as_str() {
            "true" => return true,
            "false" => {}
            other => self.wrong(
                entry.line,
                entry.column,
                format!("{} is neither `true` nor `false`", quote(other)),
                format!("write `{}: true`", entry.key),
            ),
        }
        false
    }

    fn wrong(&mut self, line: usize, column: usize, reason: String, suggestion: impl Into<String>) {
        self.findings.push(Finding::new(line, column, reason, suggestion));
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

/// The whole note.
pub fn render(routine: &Routine) -> String {
    let mut text = format!("---\nschedule: {}\n", scalar(&routine.schedule.to_string()));
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            text.push_str(&format!("{key}: {value}\n"));
        }
    };
    let list = |items: Vec<String>| {
        let items: Vec<String> = items.iter().map(|item| frontmatter::item(item)).collect();
        (!items.is_empty()).then(|| format!("[{}]", items.join(", ")))
    };
    put("scope", routine.scope.as_deref().map(yaml::to_scalar));
    put("enabled", Some(routine.enabled.to_string()));
    put("brain", routine.brain.as_deref().map(yaml::to_scalar));
    put("skills", list(routine.skills.clone()));
    put("mcp", list(routine.mcp.clone()));
    put("budget", routine.budget.map(|tokens| tokens.to_string()));
    put("only_if", list(routine.only_if.iter().map(ToString::to_string).collect()));
    put("quiet", routine.quiet.then(|| "true".to_owned()));
    put("deliver", (routine.deliver != AnswerDelivery::Channel).then(|| routine.deliver.as_str().to_owned()));
    put("note", routine.note.as_deref().map(yaml::to_scalar));
    format!("{text}---\n{}\n", routine.prompt.trim())
}

/// A schedule as a scalar: one that begins with `*` would be something else in YAML.
fn scalar(schedule: &str) -> String {
    if schedule.starts_with('*') { format!("\"{schedule}\"") } else { schedule.to_owned() }
}

/// The bytes of a note with its routine enabled or disabled, and no other byte changed; none where the note has no
/// head.
pub fn with_enabled(bytes: &[u8], enabled: bool) -> Option<Vec<u8>> {
    frontmatter::with_value(bytes, frontmatter_end(bytes)?, "enabled", if enabled { "true" } else { "false" })
}

#[cfg(test)]
mod tests;
