//! What went at once from the folders in which coding agents keep their memories: shown, with the one command that
//! brings it back. A model that tidies up with `rm -r` is the usual cause.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::cli::when::{Shown, told};
use crate::history::Filter;
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// The folder that holds a folder an agent, and in it one a project.
const FOLDER: &str = crate::transfer::follow::FOLDER;
/// So many notes at once are no tidying up.
const MANY: usize = 3;
/// What goes within so long of each other went in one go.
const ONE_GO: SignedDuration = SignedDuration::from_mins(5);
/// What went longer ago is no news.
const NEWS: SignedDuration = SignedDuration::from_hours(7 * 24);
/// At most so many snapshots are looked at.
const SNAPSHOTS: usize = 100;

/// Notes of one folder that went at once, and aren't back.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Loss {
    /// The folder.
    pub folder: String,
    /// How many notes went.
    pub notes: usize,
    /// When that was noticed.
    pub at: Shown,
    #[serde(skip)]
    instant: Timestamp,
}

impl Loss {
    /// What happened, and how it is undone.
    pub(in crate::cli) fn words(&self, workspace: &Workspace) -> String {
        let when = told(self.instant, workspace.clock.now(), workspace.zone.tz());
        let folder = &self.folder;
        format!(
            "{} notes of {folder} went at {when}; `vault-agent restore {folder}` brings them back",
            self.notes
        )
    }
}

/// What went in the last week and isn't back, newest first.
pub(in crate::cli) fn recent(workspace: &Workspace) -> Vec<Loss> {
    let Ok(Some(history)) = workspace.history() else { return Vec::new() };
    if !workspace.dirs.state.join("history.git").exists() {
        return Vec::new();
    }
    let since = workspace.clock.now().saturating_sub(NEWS).ok();
    let filter = Filter { path: Some(FOLDER.to_owned()), since, limit: Some(SNAPSHOTS), ..Filter::default() };
    let mut gone: Vec<(Timestamp, String)> = Vec::new();
    for record in history.records(&filter).unwrap_or_default() {
        let deleted = record.changes.into_iter().filter(|change| change.new.is_none());
        gone.extend(deleted.map(|change| (record.commit.time, change.path)));
    }
    // What is too much to believe is in no snapshot yet.
    if let Ok(Some(held)) = history.held() {
        gone.extend(held.deleted.into_iter().map(|path| (held.since, path)));
    }
    let followed = |name: &str| workspace.settings.follow.contains_key(name);
    let is_back = |path: &str| NotePath::new(path).is_ok_and(|path| workspace.vault.exists(&path));
    let gone = gone.into_iter().filter(|(_, path)| !is_back(path));
    let losses = together(gone.filter_map(|(at, path)| Some((kept(&path, followed)?, at))).collect());
    let shown =
        |(folder, at, notes)| Loss { folder, notes, at: Shown::new(at, workspace.zone.tz()), instant: at };
    losses.into_iter().filter(|(_, _, notes)| *notes >= MANY).map(shown).collect()
}

/// What went from each folder in one go, newest first: a deletion may come as several snapshots.
fn together(mut gone: Vec<(String, Timestamp)>) -> Vec<(String, Timestamp, usize)> {
    gone.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut losses: Vec<(String, Timestamp, usize)> = Vec::new();
    let mut before: Option<Timestamp> = None;
    for (folder, at) in gone {
        match losses.last_mut() {
            Some(last)
                if last.0 == folder && before.is_some_and(|before| at.duration_until(before) <= ONE_GO) =>
            {
                last.2 += 1;
            }
            _ => losses.push((folder, at, 1)),
        }
        before = Some(at);
    }
    losses.sort_unstable_by_key(|loss| std::cmp::Reverse(loss.1));
    losses
}

/// The folder of an agent that a path lies in: `memory/claude/PROJECT`, or `memory/NAME` of one that is followed.
fn kept(path: &str, is_followed: impl Fn(&str) -> bool) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [FOLDER, "claude", _, _, ..] => Some(parts[..3].join("/")),
        [FOLDER, name, _, ..] if is_followed(name) => Some(parts[..2].join("/")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_one_go_is_one_loss() {
        let at = |minute: i64| Timestamp::from_second(minute * 60).unwrap();
        let gone = [("a", 0), ("a", 3), ("a", 7), ("a", 30), ("b", 4)];
        let gone = gone.into_iter().map(|(folder, minute)| (folder.to_owned(), at(minute))).collect();
        let of = |folder: &str, minute, notes| (folder.to_owned(), at(minute), notes);
        assert_eq!(together(gone), [of("a", 30, 1), of("a", 7, 3), of("b", 4, 1)]);
    }

    #[test]
    fn only_what_an_agent_keeps_counts() {
        let kept = |path: &str| kept(path, |name| name == "codex");
        assert_eq!(kept("memory/claude/app/MEMORY.md").as_deref(), Some("memory/claude/app"));
        assert_eq!(kept("memory/claude/app/deep/x.md").as_deref(), Some("memory/claude/app"));
        assert_eq!(kept("memory/codex/deep/x.md").as_deref(), Some("memory/codex"));
        for other in ["memory/x.md", "memory/claude/x.md", "memory/mine/a/x.md", "notes/claude/app/x.md"] {
            assert_eq!(kept(other), None, "{other}");
        }
    }
}
