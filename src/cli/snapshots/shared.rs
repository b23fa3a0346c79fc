//! Has the functions that several commands of this folder use: opens the history, resolves typed paths, formats times
//! and differences.

use crate::cli::prelude::*;
use crate::history::{Deletions, DiffStyle, FileDiff, History, HistoryError, diff_stat, render_diff};

/// Opens the history of a vault as the observer of its writes.
pub(in crate::cli) fn open_history(workspace: &Workspace) -> Result<Arc<History>> {
    let settings = &workspace.settings;
    let clock = Arc::clone(&workspace.clock);
    let history = Arc::new(History::open(&workspace.vault, settings, &workspace.dirs.state, clock)?);
    workspace.editor.set_observer(Arc::clone(&history) as _);
    Ok(history)
}

/// Finishes an interrupted edit, takes a snapshot of what people changed, where snapshots are on, and prints held
/// deletions.
pub(in crate::cli) fn refresh(context: &Context, workspace: &Workspace, history: &History) -> Result<()> {
    if !workspace.settings.history.enabled {
        workspace.recover_edits();
        return Ok(());
    }
    let snapshot = workspace.snapshot_all(history, Deletions::Hold)?;
    if let Some(held) = &snapshot.held {
        context.ui.note(format!(
            "{} of {} known files are gone from the vault; confirm the deletion with `vault-agent history --accept-deletions`, or restore them with `vault-agent restore`",
            held.deleted.len(),
            held.known
        ));
    }
    Ok(())
}

/// The path in the vault of a path that was typed in the current folder.
pub(super) fn vault_path(workspace: &Workspace, typed: &str) -> Result<String> {
    let outside = |reason: String| CommandError::from(HistoryError::Outside(typed.to_owned(), reason));
    if typed.is_empty() {
        return Err(CommandError::usage("a path is empty").hint("the whole vault is `.`, in its folder"));
    }
    let typed_path = Path::new(typed);
    let root = workspace.vault.root();
    let inside = if typed_path.is_absolute() {
        // The folder of the vault may be typed through a link.
        let is_root = |above: &&Path| above.canonicalize().is_ok_and(|above| above == root);
        let above = typed_path.ancestors().find(is_root);
        let inside = above.and_then(|above| typed_path.strip_prefix(above).ok());
        let inside = inside.ok_or_else(|| outside("it lies elsewhere".into()))?;
        inside.to_str().ok_or_else(|| outside("it is not UTF-8".into()))?.to_owned()
    } else {
        let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
        let below = here.and_then(|here| Some(here.strip_prefix(root).ok()?.to_str()?.to_owned()));
        let path = format!("{}/{typed}", below.unwrap_or_default());
        normalize(&path).ok_or_else(|| outside("it leaves the vault".into()))?
    };
    if inside.is_empty() {
        return Ok(inside);
    }
    let path = NotePath::new(&inside).map_err(|error| outside(error.to_string()))?;
    let standing = workspace.vault.with_names_on_disk(path.clone());
    // Of two notes whose names differ by the form of an accent alone, the one that is gone is meant by its own name.
    let is_own = |history: Arc<History>| history.has_both_spellings(path.as_str(), standing.as_str());
    if standing != path && workspace.history()?.map_or(Ok(false), is_own)? {
        return Ok(path.to_string());
    }
    Ok(standing.to_string())
}

pub(super) fn note_path(path: &str) -> Result<NotePath, HistoryError> {
    NotePath::new(path).map_err(|error| HistoryError::Outside(path.to_owned(), error.to_string()))
}

/// The path without `.` and `..`; `None` where it leaves the root.
fn normalize(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// All typed paths; none where one is the vault itself.
pub(in crate::cli) fn scopes(workspace: &Workspace, typed: &[String]) -> Result<Vec<String>> {
    let paths = typed.iter().map(|path| vault_path(workspace, path)).collect::<Result<Vec<_>, _>>()?;
    Ok(if paths.iter().any(String::is_empty) { Vec::new() } else { paths })
}

/// The time since `then`, in words.
pub(in crate::cli) fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(then).max(SignedDuration::ZERO).as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        86_400..2_592_000 => (seconds / 86_400, "day"),
        2_592_000..31_536_000 => (seconds / 2_592_000, "month"),
        _ => (seconds / 31_536_000, "year"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// `+3 −1` of several files.
pub(super) fn stat_words(diffs: &[FileDiff]) -> String {
    let stats: Vec<_> = diffs.iter().map(diff_stat).collect();
    let (added, removed) = (stats.iter().map(|stat| stat.added), stats.iter().map(|stat| stat.removed));
    format!("+{} −{}", added.sum::<usize>(), removed.sum::<usize>())
}

/// Plain where the output is no terminal.
pub(in crate::cli) fn diff_style() -> DiffStyle {
    let choice = anstream::AutoStream::choice(&std::io::stdout());
    if choice == anstream::ColorChoice::Never { DiffStyle::Plain } else { DiffStyle::Coloured }
}

/// A difference without its last line break.
pub(super) fn diff_text(diff: &FileDiff, style: DiffStyle) -> String {
    render_diff(diff, style).trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        assert_eq!(normalize("a/./b//../c.md").as_deref(), Some("a/c.md"));
        assert_eq!(normalize("."), Some(String::new()));
        assert_eq!(normalize("a/../../b"), None);
    }

    #[test]
    fn distances_in_words() {
        let now: Timestamp = "2026-12-01T09:30:00Z".parse().unwrap();
        let at = |seconds: i64| ago(now - SignedDuration::from_secs(seconds), now);
        assert_eq!(
            [at(1), at(119), at(7_200), at(90_000)],
            ["1 second ago", "1 minute ago", "2 hours ago", "1 day ago"]
        );
        assert_eq!(ago(now + SignedDuration::from_secs(5), now), "0 seconds ago");
    }
}
