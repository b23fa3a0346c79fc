//! Checks paths: whether a text can be the path of a note, and whether the paths of the settings can all be used
//! together. Pure.

use super::tables::{Validation, ensure, wrong};
use crate::config::FILE_NAME;

/// A path of the settings, after its key.
pub(super) type SetPath = (String, String);

/// The key of the note that says how the assistant speaks.
pub(super) const PERSONA: &str = "assistant.persona";

/// A path of the settings has at most so many bytes: names of notes come after that of a folder.
const MAX_SET: usize = 1_000;

/// Why a text can't be the path of a file or folder in the vault, if so.
pub(crate) fn path_problem(text: &str) -> Option<String> {
    let shown = text.escape_debug();
    if text.is_empty() {
        return Some("the path is empty; name a file in the vault, as in `daily/2026-11-20.md`".to_owned());
    }
    if text.len() > 4_000 {
        return Some(format!("the path is {} bytes long; at most 4,000 can be opened", text.len()));
    }
    let odd = |what| Some(format!("`{shown}` has a character that no note's path may have ({what})"));
    if text.chars().any(char::is_control) {
        return odd("a control character");
    }
    if text.contains('\\') {
        return odd("a backslash; write `/`");
    }
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
    if text.starts_with('/') || drive && text.as_bytes().get(2) == Some(&b'/') {
        let words = "is absolute; paths are relative to the vault, as in `daily/2026-11-20.md`";
        return Some(format!("`{shown}` {words}"));
    }
    text.split('/').find_map(|part| match part {
        ".." => Some(format!("`{shown}` leaves the vault; `..` is not allowed in a path")),
        "" | "." => {
            let words = "has an empty part or a `.`; write the path in its shortest form";
            Some(format!("`{shown}` {words}"))
        }
        _ => None,
    })
}

/// Checks that a path of the settings can be one.
pub(super) fn check(key: &str, path: &str) -> Validation {
    let hint = "give a path inside the vault, such as `Notes/Reminders.md`";
    if let Some(why) = path_problem(path) {
        return wrong(key, format!("`{key}`: {why}"), hint);
    }
    let long = format!("`{key}` is {} bytes long, and at most {MAX_SET} are allowed", path.len());
    ensure(path.len() <= MAX_SET, key, long, hint)
}

/// Checks that each path of the settings belongs to one of them alone. Of two with one path the one that isn't as
/// `usual` is refused. The persona is only read, wherever it lies.
pub(super) fn check_owners(set: &[SetPath], usual: &[SetPath]) -> Validation {
    // Other notes may lie among the days' and the logs; but questions are in a note that no tool writes.
    let may_hold = |folder: &str| matches!(folder, "paths.daily" | "paths.logs" | "paths.summaries");
    let is_within =
        |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    for one in set.iter().filter(|one| one.0 != PERSONA && !usual.contains(one)) {
        let (key, path) = one;
        // In some file systems case doesn't count.
        let folded = path.to_lowercase();
        let is_taken_by = |(other, taken): &&SetPath| {
            let taken = taken.to_lowercase();
            let is_refused = |outer: &str, inner: &str| inner == "paths.approvals" || !may_hold(outer);
            let is_same = taken == folded && !(may_hold(key) && may_hold(other));
            let is_inside = is_refused(other, key) && is_within(&folded, &taken);
            let is_around = other != PERSONA && is_refused(key, other) && is_within(&taken, &folded);
            other != key && (is_same || is_inside || is_around)
        };
        let is_ours =
            [FILE_NAME, ".obsidian", ".git"].iter().any(|ours| folded == *ours || is_within(&folded, ours));
        let taken = set.iter().find(is_taken_by).map(|(other, _)| other.as_str());
        if let Some(other) = is_ours.then_some("a program's settings").or(taken) {
            let message = format!("`{key}` is `{path}`, which is used for something else ({other})");
            let own = usual.iter().find(|(usual, _)| usual == key).map_or("user", |(_, path)| path);
            return wrong(key, message, format!("give it a path of its own, such as `{own}`"));
        }
    }
    Ok(())
}
