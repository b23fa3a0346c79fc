//! Finds the id of a reminder or task by words of its message.
//!
//! A person copies the words from a notification. So actions that work on a delivered item also search the items that
//! were delivered in the last two days and are gone from their note. Words that are a whole message are preferred to
//! words that are part of a message. Words that occur in several messages are an error that lists messages; nothing is
//! guessed.

use jiff::ToSpan;

use crate::cli::prelude::*;
use crate::deliver::compose;
use crate::format::reminder::RemindersFile;
use crate::reminders::fields;
use crate::tasks::{self, ListedLine, Scanner, is_task_id};

/// The most candidates listed in an error.
const MAX_NAMED: usize = 5;

/// A reminder or task that may be meant.
struct NamedCandidate {
    id: Option<String>,
    msg: String,
    note: String,
    shown: String,
    /// Its line, from 1; 0 if it stands in no note.
    line: usize,
}

/// The id of the reminder or task that `text` names by its id or its words. With `delivered` also of an item that was
/// delivered in the last two days and is gone from its note. A text that looks like an id is returned.
///
/// # Errors
/// No message has these words, or several have; a note can't be read.
pub(in crate::cli) fn id_of(
    context: &Context,
    workspace: &Workspace,
    text: &str,
    delivered: bool,
) -> Result<String> {
    let is_follow_up = || delivered && workspace.last_message_of(text).is_some();
    if text.starts_with("rid_") || is_task_id(text) || is_follow_up() {
        return Ok(text.to_owned());
    }
    let (reminders, tasks) = (workspace.vault_reminders(), workspace.vault_tasks());
    let (standing, problems) =
        tasks::all(&reminders, &tasks, &mut Scanner::default(), workspace.clock.now())?;
    problems.iter().for_each(|problem| context.ui.note(problem));
    let file = reminders.read()?;
    let standing: Vec<NamedCandidate> = standing.into_iter().map(NamedCandidate::from).collect();
    if let Some(found) = find_one(&standing, text, |line| id_hint(&file, line))? {
        return Ok(found);
    }
    if delivered && let Some(found) = find_one(&recently_delivered(workspace)?, text, |_| "")? {
        return Ok(found);
    }
    if workspace.memory().ledger().read()?.find(text).is_some() {
        return Err(CommandError::problem(format!("`{text}` is a follow-up"))
            .hint("use `vault-agent commitment`, or `remind snooze` and `remind move`"));
    }
    Err(CommandError::problem(format!("no reminder and no task has the id or the words `{text}`"))
        .hint("`vault-agent remind list --all` shows all with their ids"))
}

/// The deliveries of the last two days, the latest first.
fn recently_delivered(workspace: &Workspace) -> Result<Vec<NamedCandidate>> {
    let now = workspace.zone.tz().to_datetime(workspace.clock.now());
    let journal = workspace.journal()?;
    let facts = journal.notifications(now.saturating_sub(2.days()), now)?;
    let candidate = |fact: crate::deliver::NotifiedItem| NamedCandidate {
        shown: format!("{}  {}  {}", fact.id, fact.local.strftime("%Y-%m-%d %H:%M"), fact.msg),
        id: Some(fact.id),
        msg: fact.msg,
        note: String::new(),
        line: 0,
    };
    Ok(facts.into_iter().map(candidate).collect())
}

/// The id of the only candidate with this message, else with these words in it. `id_hint` says how the reminder on a line
/// without an id gets one.
fn find_one(
    all: &[NamedCandidate],
    text: &str,
    id_hint: impl Fn(usize) -> &'static str,
) -> Result<Option<String>> {
    let wanted = normalize(compose::without_opening(text));
    if wanted.is_empty() {
        return Ok(None);
    }
    let whole = |one: &&NamedCandidate| {
        normalize(&one.msg) == wanted || normalize(&format!("{} · {}", one.msg, one.note)) == wanted
    };
    let part = |one: &&NamedCandidate| normalize(&one.msg).contains(&wanted);
    let mut found: Vec<&NamedCandidate> = all.iter().filter(whole).collect();
    if found.is_empty() {
        found = all.iter().filter(part).collect();
    }
    let mut ids = HashSet::new();
    found.retain(|one| one.id.as_ref().is_none_or(|id| ids.insert(id)));
    match found.as_slice() {
        [] => Ok(None),
        [one] => match &one.id {
            Some(id) => Ok(Some(id.clone())),
            None => {
                Err(CommandError::problem(format!("it has no id yet: {}", one.shown)).hint(id_hint(one.line)))
            }
        },
        many => {
            let shown: Vec<&str> = many.iter().take(MAX_NAMED).map(|one| one.shown.as_str()).collect();
            let more = many.len().saturating_sub(MAX_NAMED);
            let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
            let message = format!("{} say `{text}`:\n  {}{more}", many.len(), shown.join("\n  "));
            Err(CommandError::problem(message).hint("give the id of one, or more of its words"))
        }
    }
}

impl From<ListedLine> for NamedCandidate {
    fn from(one: ListedLine) -> Self {
        let id = one.id.as_deref().unwrap_or("(no id yet)");
        let shown = format!("{id}  {} {}  {}  {}", one.date, one.time, one.msg, one.place());
        Self { shown, id: one.id, msg: one.msg, note: one.path, line: one.line }
    }
}

/// How the reminder on this line, which has no id, gets one.
fn id_hint(file: &RemindersFile, line: usize) -> &'static str {
    let usual = "the running daemon gives it one within a minute, or `vault-agent tick`";
    let Some(line) = file.reminders.iter().find(|one| one.line == line) else { return usual };
    let same = file.reminders.iter().filter(|other| fields(&other.reminder) == fields(&line.reminder));
    if same.count() > 1 {
        "its line stands more than once: delete the others, and it gets one"
    } else if !line.terminated {
        "it gets one once its line ends with a line break"
    } else {
        usual
    }
}

/// A text for comparison: in lower case, with single spaces.
fn normalize(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: Option<&str>, msg: &str) -> NamedCandidate {
        NamedCandidate {
            id: id.map(str::to_owned),
            msg: msg.to_owned(),
            note: "Home.md".to_owned(),
            shown: msg.to_owned(),
            line: 0,
        }
    }

    #[test]
    fn words_name_one_or_nothing() {
        let all = [
            candidate(Some("a"), "Pay rent"),
            candidate(Some("b"), "Pay rent for the boat"),
            candidate(Some("c"), "Call  Bob"),
            candidate(Some("c"), "Call  Bob"),
            candidate(None, "New"),
        ];
        let found = |text: &str| find_one(&all, text, |_| "").map_err(|error| error.message);
        for text in ["pay RENT", "Task: Pay rent · Home.md", "Reminder:  Pay rent"] {
            assert_eq!(found(text), Ok(Some("a".to_owned())), "{text}");
        }
        assert_eq!(found("boat"), Ok(Some("b".to_owned())));
        assert_eq!(found("bob"), Ok(Some("c".to_owned())), "two lines of one id are one");
        assert_eq!(found("pay"), Err("2 say `pay`:\n  Pay rent\n  Pay rent for the boat".to_owned()));
        assert_eq!(found("new"), Err("it has no id yet: New".to_owned()));
        assert_eq!((found("x"), found("  ")), (Ok(None), Ok(None)));
    }
}
