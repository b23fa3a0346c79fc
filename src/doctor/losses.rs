//! Finds mass deletions in the folders of coding agents' memories, and names the command that restores the notes. The
//! usual cause is a model that tidies up with `rm -r`.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::deliver::instants::ShownInstant;
use crate::history::LogFilter;
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// The folder that holds a folder an agent, and in it one a project.
const FOLDER: &str = crate::config::FOLLOWED;
/// The fewest deletions that count as a loss.
const MIN_NOTES: usize = 3;
/// Deletions of one folder that are this close together count as one.
const MAX_GAP: SignedDuration = SignedDuration::from_mins(5);
/// Older losses are not reported.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The most snapshots that are read.
const MAX_SNAPSHOTS: usize = 100;

/// Notes of one folder that went at once, and aren't back.
#[derive(Debug, Serialize)]
pub struct NoteLoss {
    /// The folder.
    pub folder: String,
    /// How many notes went.
    pub notes: usize,
    /// When the deletion was noticed.
    pub at: ShownInstant,
    /// The snapshot before the first of them went; none where that is the newest.
    #[serde(skip)]
    pub before: Option<String>,
}

/// A note that went.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DeletedNote {
    folder: String,
    at: Timestamp,
    path: String,
    before: Option<String>,
}

impl NoteLoss {
    /// The loss in words, with the command that undoes it.
    pub fn words(&self, workspace: &Workspace) -> String {
        let when = self.at.for_people(workspace.clock.now());
        let folder = &self.folder;
        format!(
            "{} notes of {folder} went missing at {when}; `vault-agent restore {folder}` restores them",
            self.notes
        )
    }
}

/// The losses of the last week that are not restored, newest first.
pub fn recent(workspace: &Workspace) -> Vec<NoteLoss> {
    let Ok(Some(history)) = workspace.history() else { return Vec::new() };
    if !workspace.dirs.state.join("history.git").exists() {
        return Vec::new();
    }
    let since = workspace.clock.now().saturating_sub(MAX_AGE).ok();
    let filter = LogFilter {
        path: Some(FOLDER.to_owned()),
        since,
        limit: Some(MAX_SNAPSHOTS),
        ..LogFilter::default()
    };
    let followed = |name: &str| workspace.settings.follow.contains_key(name);
    let one = |at, path: String, before| {
        Some(DeletedNote { folder: agent_folder(&path, followed)?, at, path, before })
    };
    let mut gone: Vec<DeletedNote> = Vec::new();
    // A held bulk deletion is in no snapshot yet.
    if let Ok(Some(held)) = history.held() {
        gone.extend(held.deleted.into_iter().filter_map(|path| one(held.since, path, None)));
    }
    for record in history.records(&filter).unwrap_or_default() {
        let before = record.commit.parent().map(|parent| parent.to_string());
        // A renamed note is not lost.
        let added = record.changes.iter().filter(|change| change.old.is_none());
        let added: HashSet<_> = added.filter_map(|change| Some(change.new?.id)).collect();
        let deleted = record
            .changes
            .into_iter()
            .filter(|change| change.new.is_none() && change.old.is_some_and(|old| !added.contains(&old.id)));
        gone.extend(deleted.filter_map(|change| one(record.commit.time, change.path, before.clone())));
    }
    let is_back = |path: &str| NotePath::new(path).is_ok_and(|path| workspace.vault.exists(&path));
    gone.retain(|gone| !is_back(&gone.path));
    let shown = |group: Vec<DeletedNote>| {
        let (newest, oldest) = (group.first()?, group.last()?);
        let (folder, before) = (newest.folder.clone(), oldest.before.clone());
        let at = ShownInstant::new(newest.at, workspace.zone.tz());
        Some(NoteLoss { folder, notes: group.len(), at, before })
    };
    group_deletions(gone).into_iter().filter(|group| group.len() >= MIN_NOTES).filter_map(shown).collect()
}

/// The mass deletions of each folder, newest first, from notes that come newest first: a deletion may come as several
/// snapshots. A note that went more than once counts where it went last.
fn group_deletions(mut gone: Vec<DeletedNote>) -> Vec<Vec<DeletedNote>> {
    let mut seen = HashSet::new();
    gone.retain(|gone| seen.insert(gone.path.clone()));
    // Snapshots of the same second keep their order.
    gone.sort_by(|a, b| a.folder.cmp(&b.folder).then(b.at.cmp(&a.at)));
    let mut groups: Vec<Vec<DeletedNote>> = Vec::new();
    for gone in gone {
        let is_near =
            |last: &DeletedNote| last.folder == gone.folder && gone.at.duration_until(last.at) <= MAX_GAP;
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(is_near) => group.push(gone),
            _ => groups.push(vec![gone]),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.first().map(|gone| gone.at)));
    groups
}

/// The folder of an agent that a path lies in: `memory/claude/PROJECT`, or `memory/NAME` of one that is followed.
fn agent_folder(path: &str, is_followed: impl Fn(&str) -> bool) -> Option<String> {
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
        let gone = |(path, minute): (&str, i64)| DeletedNote {
            folder: path[..1].to_owned(),
            at: at(minute),
            path: path.to_owned(),
            before: Some(minute.to_string()),
        };
        // Newest first; `a/2` went twice.
        let all = [("a/1", 30), ("a/2", 7), ("b/1", 4), ("a/3", 3), ("a/2", 1), ("a/4", 0)].map(gone);
        let groups = group_deletions(all.to_vec());
        let shown: Vec<Vec<&str>> =
            groups.iter().map(|group| group.iter().map(|gone| gone.path.as_str()).collect()).collect();
        assert_eq!(shown, [vec!["a/1"], vec!["a/2", "a/3", "a/4"], vec!["b/1"]]);
        assert_eq!(groups[1].last().unwrap().before.as_deref(), Some("0"));
    }

    #[test]
    fn only_what_an_agent_keeps_counts() {
        let agent_folder = |path: &str| agent_folder(path, |name| name == "codex");
        assert_eq!(agent_folder("memory/claude/app/MEMORY.md").as_deref(), Some("memory/claude/app"));
        assert_eq!(agent_folder("memory/claude/app/deep/x.md").as_deref(), Some("memory/claude/app"));
        assert_eq!(agent_folder("memory/codex/deep/x.md").as_deref(), Some("memory/codex"));
        for other in ["memory/x.md", "memory/claude/x.md", "memory/mine/a/x.md", "notes/claude/app/x.md"] {
            assert_eq!(agent_folder(other), None, "{other}");
        }
    }
}
