//! Which reminder or task a person means who gives its words in the place of its id, as a notification shows them.
//!
//! Nothing is guessed: words that are a whole message go before words that are part of one, and what several say is
//! refused with all of them.

use jiff::ToSpan;

use crate::cli::{CommandError, Context};
use crate::deliver::compose;
use crate::reminders::VaultReminders;
use crate::tasks::{self, ToldLine, is_task_id};
use crate::workspace::Workspace;

/// So many are named of those that say the same.
const NAMED: usize = 5;

/// What may be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordsScope {
    /// The note of reminders.
    Reminders,
    /// Tasks of other plugins, too.
    All,
    /// Also what was told in the last two days and is gone from its note.
    AllAndTold,
}

/// One that may be meant: its id, its words, its note.
struct NamedCandidate {
    id: Option<String>,
    msg: String,
    note: String,
    shown: String,
}

/// The id of what is meant by an id or by words. What looks like an id is left as it is.
///
/// # Errors
/// Nothing says these words, or several do; a note can't be read.
pub(in crate::cli) fn id_of(
    context: &Context,
    workspace: &Workspace,
    book: &VaultReminders<'_>,
    text: &str,
    among: WordsScope,
) -> Result<String, CommandError> {
    let follow_up = || among == WordsScope::AllAndTold && workspace.said_by(text).is_some();
    if text.starts_with("rid_") || is_task_id(text) || follow_up() {
        return Ok(text.to_owned());
    }
    let settings = workspace.task_settings().filter(|_| among != WordsScope::Reminders);
    let tasks = workspace.vault_tasks(settings.as_ref());
    let (standing, problems) = tasks::all(book, &tasks, workspace.clock.now())?;
    problems.iter().for_each(|problem| context.ui.note(problem));
    let standing: Vec<NamedCandidate> = standing.into_iter().map(NamedCandidate::from).collect();
    if let Some(found) = one(&standing, text)? {
        return Ok(found);
    }
    if among == WordsScope::AllAndTold
        && let Some(found) = one(&told(workspace)?, text)?
    {
        return Ok(found);
    }
    let what = if among == WordsScope::Reminders { "no reminder has" } else { "no reminder and no task has" };
    let list = if among == WordsScope::Reminders { "remind list" } else { "remind list --all" };
    Err(CommandError::problem(format!("{what} the id or the words `{text}`"))
        .hint(format!("`vault-agent {list}` shows all with their ids")))
}

/// What was told lately, the latest first.
fn told(workspace: &Workspace) -> Result<Vec<NamedCandidate>, CommandError> {
    let now = workspace.zone.tz().to_datetime(workspace.clock.now());
    let journal = workspace.journal()?;
    let facts = journal.told(now.saturating_sub(2.days()), now).map_err(CommandError::problem)?;
    let candidate = |fact: crate::deliver::Fact| NamedCandidate {
        shown: format!("{}  {}  {}", fact.id, fact.local.strftime("%Y-%m-%d %H:%M"), fact.msg),
        id: Some(fact.id),
        msg: fact.msg,
        note: String::new(),
    };
    Ok(facts.into_iter().map(candidate).collect())
}

/// The only one that says this: all of it, else as a part.
fn one(all: &[NamedCandidate], text: &str) -> Result<Option<String>, CommandError> {
    let wanted = plain(compose::without_opening(text));
    if wanted.is_empty() {
        return Ok(None);
    }
    let whole = |one: &&NamedCandidate| {
        plain(&one.msg) == wanted || plain(&format!("{} · {}", one.msg, one.note)) == wanted
    };
    let part = |one: &&NamedCandidate| plain(&one.msg).contains(&wanted);
    let mut found: Vec<&NamedCandidate> = all.iter().filter(whole).collect();
    if found.is_empty() {
        found = all.iter().filter(part).collect();
    }
    let mut ids: Vec<&Option<String>> = Vec::new();
    found.retain(|one| {
        one.id.is_none()
            || !ids.contains(&&one.id) && {
                ids.push(&one.id);
                true
            }
    });
    match found.as_slice() {
        [] => Ok(None),
        [one] => match &one.id {
            Some(id) => Ok(Some(id.clone())),
            None => Err(CommandError::problem(format!("it has no id yet: {}", one.shown))
                .hint("the running agent gives it one within a minute, or `vault-agent tick`")),
        },
        many => {
            let shown: Vec<&str> = many.iter().take(NAMED).map(|one| one.shown.as_str()).collect();
            let more = many.len().saturating_sub(NAMED);
            let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
            let message = format!("{} say `{text}`:\n  {}{more}", many.len(), shown.join("\n  "));
            Err(CommandError::problem(message).hint("give the id of one, or more of its words"))
        }
    }
}

impl From<ToldLine> for NamedCandidate {
    fn from(one: ToldLine) -> Self {
        let id = one.id.as_deref().unwrap_or("(no id yet)");
        let shown = format!("{id}  {} {}  {}  {}", one.date, one.time, one.msg, one.place());
        Self { shown, id: one.id, msg: one.msg, note: one.path }
    }
}

/// Words as they are compared: in lower case, with single blanks.
fn plain(text: &str) -> String {
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
        let found = |text: &str| one(&all, text).map_err(|error| error.message);
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
