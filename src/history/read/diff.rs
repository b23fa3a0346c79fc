//! Renders the difference between two states of a note for people.
//!
//! The output is a unified diff; in colour, the words that differ in a changed line are highlighted. Bytes that are no
//! UTF-8 appear as U+FFFD; a file with a NUL byte is not shown. [`render`] is pure; [`History::file_diff`] reads the
//! two states from the repository.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use similar::ChangeTag;

use crate::format::changes::{changed_endings, differences, end_line, hunks, lines, text_lines, unified};
use crate::history::store::{FileState, PathChange};
use crate::history::{Commit, FileMode, History, Result};

/// The style of a rendered difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffStyle {
    /// A unified diff that `patch` reads.
    Plain,
    /// The same in colour, with the words that differ standing out.
    Coloured,
}

/// One file's two states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Vault-relative.
    pub path: String,
    /// Before, `None` where there was none.
    pub old: Option<(FileMode, Vec<u8>)>,
    /// After, `None` where it is gone.
    pub new: Option<(FileMode, Vec<u8>)>,
}

impl FileDiff {
    /// The bytes before and after; empty where there is no file.
    fn bytes(&self) -> [&[u8]; 2] {
        [&self.old, &self.new].map(|side| side.as_ref().map_or(&[][..], |(_, bytes)| bytes))
    }
}

/// Added and removed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct DiffStat {
    /// Lines that are new.
    pub added: usize,
    /// Lines that are gone.
    pub removed: usize,
}

/// How many lines a change adds and removes; none for a file that isn't text.
pub fn diff_stat(diff: &FileDiff) -> DiffStat {
    let mut stat = DiffStat::default();
    if !is_binary(diff) {
        let [old, new] = diff.bytes();
        for op in differences(&lines(old), &lines(new)) {
            stat.added += op.new_range().len();
            stat.removed += op.old_range().len();
        }
    }
    stat
}

/// The difference as text; empty where there is none.
pub fn render(diff: &FileDiff, style: DiffStyle) -> String {
    let mut out = String::new();
    if diff.old == diff.new {
        return out;
    }
    let is_coloured = style == DiffStyle::Coloured;
    let head = if is_coloured { HEAD } else { Style::new() };
    let plain = head.render_reset();
    let line = |out: &mut String, text: &str| {
        let _ = writeln!(out, "{head}{text}{plain}");
    };
    // Among our own colours the notes' would pass for them.
    let shown = |text: &str| if is_coloured { text.replace('\u{1b}', "\u{fffd}") } else { text.to_owned() };
    let [old, new] = diff.bytes().map(|text| shown(&String::from_utf8_lossy(text)));
    let path = shown(&diff.path);
    // Before the head, where `patch` and git take no notice of words.
    if let Some(changed) = changed_endings(&old, &new).filter(|_| !is_binary(diff)) {
        line(&mut out, &changed);
    }
    line(&mut out, &format!("diff --git {} {}", side("a/", Some(&path)), side("b/", Some(&path))));
    match (&diff.old, &diff.new) {
        (None, Some((mode, _))) => line(&mut out, &format!("new file mode {}", mode.octal())),
        (Some((mode, _)), None) => line(&mut out, &format!("deleted file mode {}", mode.octal())),
        (Some((old, _)), Some((new, _))) if old != new => {
            line(&mut out, &format!("old mode {}", old.octal()));
            line(&mut out, &format!("new mode {}", new.octal()));
        }
        _ => {}
    }
    if diff.old.as_ref().map(|(_, bytes)| bytes) == diff.new.as_ref().map(|(_, bytes)| bytes) {
        return out;
    }
    let old_name = side("a/", diff.old.as_ref().map(|_| &path));
    let new_name = side("b/", diff.new.as_ref().map(|_| &path));
    if is_binary(diff) {
        let _ = writeln!(out, "Binary files {old_name} and {new_name} differ");
        return out;
    }
    if old.is_empty() && new.is_empty() {
        return out;
    }
    line(&mut out, &format!("--- {old_name}"));
    line(&mut out, &format!("+++ {new_name}"));
    match style {
        DiffStyle::Plain => out.push_str(&unified(&old, &new)),
        DiffStyle::Coloured => coloured(&mut out, &old, &new),
    }
    out
}

/// A unified diff with colours, the words that differ standing out in lines that changed.
fn coloured(out: &mut String, old: &str, new: &str) {
    let [old, new] = [old, new].map(text_lines);
    for hunk in hunks(&old, &new) {
        let _ = writeln!(out, "{HUNK}{}{}", hunk.head(), HUNK.render_reset());
        for (line, mut words) in hunk.words() {
            if let Some((_, last)) = words.last_mut() {
                *last = last.trim_end_matches(['\n', '\r']);
            }
            let (whole, word) = line_styles(line.tag());
            let _ = write!(out, "{whole}{}", line.tag());
            for run in words.chunk_by(|a, b| a.0 == b.0) {
                let value: String = run.iter().map(|(_, word)| *word).collect();
                let style = if run[0].0 { word } else { whole };
                let _ = write!(out, "{}{style}{value}", whole.render_reset());
            }
            let _ = write!(out, "{}", whole.render_reset());
            end_line(out, line.value());
        }
    }
}

fn side(prefix: &str, path: Option<&String>) -> String {
    path.map_or_else(|| "/dev/null".to_owned(), |path| format!("{prefix}{path}"))
}

const HEAD: Style = Style::new().bold();
const HUNK: Style = AnsiColor::Cyan.on_default();

/// The colours of a line, and of the words of it that differ.
fn line_styles(tag: ChangeTag) -> (Style, Style) {
    let style = match tag {
        ChangeTag::Equal => return (Style::new(), Style::new()),
        ChangeTag::Delete => AnsiColor::Red.on_default(),
        ChangeTag::Insert => AnsiColor::Green.on_default(),
    };
    (style, style.invert())
}

fn is_binary(diff: &FileDiff) -> bool {
    diff.bytes().iter().any(|bytes| bytes.iter().take(8_000).any(|byte| *byte == 0))
}

impl History {
    /// The contents of a change.
    pub fn file_diff(&self, change: &PathChange) -> Result<FileDiff> {
        let store = self.store();
        let side = |state: Option<FileState>| -> Result<_> {
            state.map(|state| Ok((state.mode, store.blob(state.id)?))).transpose()
        };
        Ok(FileDiff { path: change.path.clone(), old: side(change.old)?, new: side(change.new)? })
    }

    /// The differences between two snapshots, at or under `paths` (all where there are none).
    pub fn diff_between(&self, old: &Commit, new: &Commit, paths: &[String]) -> Result<Vec<PathChange>> {
        let mut changes = self.store().changes(old.tree, new.tree)?;
        changes.retain(|change| is_within(&change.path, paths));
        Ok(changes)
    }
}

/// Whether `path` is one of `scopes` or under one; every path is where there are none.
pub(crate) fn is_within(path: &str, scopes: &[String]) -> bool {
    scopes.is_empty()
        || scopes.iter().any(|scope| {
            path.strip_prefix(scope.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> FileDiff {
        let file = |text: &str| (!text.is_empty()).then(|| (FileMode::File, text.as_bytes().to_vec()));
        FileDiff { path: "a b.md".into(), old: file(old), new: file(new) }
    }

    #[test]
    fn a_plain_diff_is_one_that_patch_reads() {
        insta::assert_snapshot!(render(&diff("one\ntwo\nthree\n", "one\n2\nthree"), DiffStyle::Plain), @r"
        diff --git a/a b.md b/a b.md
        --- a/a b.md
        +++ b/a b.md
        @@ -1,3 +1,3 @@
         one
        -two
        -three
        +2
        +three
        \ No newline at end of file
        ");
        insta::assert_snapshot!(render(&diff("", "one\n"), DiffStyle::Plain), @r"
        diff --git a/a b.md b/a b.md
        new file mode 100644
        --- /dev/null
        +++ b/a b.md
        @@ -0,0 +1 @@
        +one
        ");
    }

    #[test]
    fn words_stand_out_in_colour() {
        let text = render(&diff("call mum at nine\n", "call mum at ten\n"), DiffStyle::Coloured);
        let shown = text.replace('\u{1b}', "<E>");
        assert!(shown.contains("<E>[7m<E>[31mnine") || shown.contains("[7m"), "{shown}");
        assert!(!shown.contains("[7m<E>[31mcall"), "{shown}");
    }

    #[test]
    fn lines_are_counted_and_binary_files_are_not_shown() {
        assert_eq!(diff_stat(&diff("a\nb\n", "a\nc\nd\n")), DiffStat { added: 2, removed: 1 });
        assert_eq!(diff_stat(&diff("", "a\nc\nd\n")), DiffStat { added: 3, removed: 0 });
        assert!(render(&diff("a\0", "b"), DiffStyle::Plain).contains("Binary files"));
        assert_eq!(render(&diff("a", "a"), DiffStyle::Plain), "");
    }
}
