//! Finds the lines in which two texts differ, and in replaced lines the words that differ. Formats the difference as a
//! unified diff.
//!
//! The lines are replaced by numbers before they are compared (Myers' algorithm, with the heuristics of `similar`). So
//! the generic code of `similar` is instantiated for one type only. Each instance takes a third of a megabyte in the
//! binary, because it contains all algorithms of `similar`. The crate's `TextDiff` would add three instances.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use similar::algorithms::{Capture, Compact, IdentifyDistinct, Replace, myers};
use similar::{Change, DiffOp, DiffTag};

/// The number of equal lines around a change.
const CONTEXT: usize = 3;

/// The lines of a text with their terminators.
pub fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The lines of a text with their terminators, as [`lines`] of bytes.
pub fn text_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A line without its terminator.
pub fn body(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `text` with the line ends of `note`, where those of the note are all of one kind.
pub fn with_line_ends_of<'a>(note: &[u8], text: &'a [u8]) -> Cow<'a, [u8]> {
    let ends = |text: &[u8]| {
        let all = memchr::memchr_iter(b'\n', text).count();
        (all, memchr::memmem::find_iter(text, b"\r\n").count())
    };
    let (all, windows) = ends(note);
    let own = ends(text);
    match (windows == 0, windows == all) {
        (true, false) if own.1 > 0 => Cow::Owned(lines_joined(text, b"\n")),
        (false, true) if own.0 > own.1 => Cow::Owned(lines_joined(text, b"\r\n")),
        _ => Cow::Borrowed(text),
    }
}

fn lines_joined(text: &[u8], end: &[u8]) -> Vec<u8> {
    let mut joined = lines(text).into_iter().map(body).collect::<Vec<_>>().join(end);
    if text.ends_with(b"\n") {
        joined.extend_from_slice(end);
    }
    joined
}

/// The changes from `old` to `new` without what is equal.
pub fn differences<L: AsRef<[u8]>>(old: &[L], new: &[L]) -> impl Iterator<Item = DiffOp> + use<L> {
    changes(old, new).into_iter().filter(|op| op.tag() != DiffTag::Equal)
}

/// The changes from `old` to `new`, as runs of lines that are equal, deleted, new or replaced: in order, without a gap.
pub fn changes<L: AsRef<[u8]>>(old: &[L], new: &[L]) -> Vec<DiffOp> {
    let old: Vec<&[u8]> = old.iter().map(AsRef::as_ref).collect();
    let new: Vec<&[u8]> = new.iter().map(AsRef::as_ref).collect();
    of_lines(&old, &new)
}

/// A run of changes near each other, with up to three equal lines around it.
#[derive(Debug)]
pub struct Hunk<'l> {
    ops: Vec<DiffOp>,
    old: &'l [&'l str],
    new: &'l [&'l str],
}

/// The hunks of the changes from `old` to `new`, in order.
pub fn hunks<'l>(old: &'l [&'l str], new: &'l [&'l str]) -> impl Iterator<Item = Hunk<'l>> {
    similar::group_diff_ops(changes(old, new), CONTEXT).into_iter().map(move |ops| Hunk { ops, old, new })
}

impl<'l> Hunk<'l> {
    /// Its line in a unified diff: `@@ -2,7 +2,8 @@`.
    pub fn head(&self) -> String {
        let span = |range: fn(&DiffOp) -> Range<usize>| {
            let start = self.ops.first().map_or(0, |op| range(op).start);
            match self.ops.last().map_or(0, |op| range(op).end) - start {
                0 => format!("{start},0"),
                1 => (start + 1).to_string(),
                count => format!("{},{count}", start + 1),
            }
        };
        format!("@@ -{} +{} @@", span(DiffOp::old_range), span(DiffOp::new_range))
    }

    /// Its lines: equal ones once, of a change the old ones before the new ones.
    pub fn lines(&self) -> impl Iterator<Item = Change<&'l str>> {
        self.ops.iter().flat_map(|op| op.iter_changes(self.old, self.new))
    }

    /// Its lines, each with its words (words, spaces and signs), and whether each word differs. Words are compared only
    /// in lines that replace others, and only if at least half of all words are the same on both sides.
    pub fn words(&self) -> impl Iterator<Item = (Change<&'l str>, Vec<(bool, &'l str)>)> {
        self.ops.iter().flat_map(|op| {
            let mut differs = differing_words(op, self.old, self.new);
            op.iter_changes(self.old, self.new).map(move |line| {
                (line, words(line.value()).map(|word| (differs.next().unwrap_or(false), word)).collect())
            })
        })
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    unicode_segmentation::UnicodeSegmentation::split_word_bounds(text)
}

/// Whether each word of a change's old lines differs, then of its new lines.
fn differing_words(op: &DiffOp, old: &[&str], new: &[&str]) -> std::vec::IntoIter<bool> {
    let lines = [op.old_range().len(), op.new_range().len()];
    // If fewer than half of the lines can have a partner, no words are compared.
    if op.tag() != DiffTag::Replace || lines[0].min(lines[1]) * 4 < lines[0] + lines[1] {
        return Vec::new().into_iter();
    }
    let [old, new] = [&old[op.old_range()], &new[op.new_range()]]
        .map(|lines| lines.iter().flat_map(|line| words(line)).collect::<Vec<_>>());
    let mut differs = vec![false; old.len() + new.len()];
    for change in differences(&old, &new) {
        differs[change.old_range()].fill(true);
        differs[old.len()..][change.new_range()].fill(true);
    }
    if differs.iter().filter(|differs| !**differs).count() * 2 < differs.len() {
        differs.fill(false);
    }
    differs.into_iter()
}

/// The changes from `old` to `new` as a unified diff without the names of the files; empty where there are none.
pub fn unified(old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(text_lines);
    let mut out = String::new();
    for hunk in hunks(&old, &new) {
        let _ = writeln!(out, "{}", hunk.head());
        for line in hunk.lines() {
            let text = line.value();
            let _ = write!(out, "{}{}", line.tag(), text.strip_suffix('\n').unwrap_or(text));
            end_line(&mut out, text);
        }
    }
    out
}

/// A sentence about the line endings of two texts, if they differ, because a diff of the lines doesn't show that.
pub fn changed_endings(old: &str, new: &str) -> Option<String> {
    let [old, new] = [old, new].map(endings);
    (old != new).then(|| Some(format!("line endings: {} -> {}", old?, new?)))?
}

/// The line endings of a text; none where it has none.
fn endings(text: &str) -> Option<String> {
    match (text.matches("\r\n").count(), text.matches('\n').count()) {
        (_, 0) => text.contains('\r').then(|| "CR".to_owned()),
        (0, _) => Some("LF".to_owned()),
        (crlf, all) if crlf == all => Some("CRLF".to_owned()),
        (crlf, all) => Some(format!("CRLF in {crlf} of {all} lines")),
    }
}

/// Ends a line of a diff; says so where `line`, as it stands in its file, has no end of its own.
pub fn end_line(out: &mut String, line: &str) {
    out.push('\n');
    if !line.ends_with('\n') {
        out.push_str("\\ No newline at end of file\n");
    }
}

fn of_lines(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let numbers = IdentifyDistinct::<u32>::new(old, 0..old.len(), new, 0..new.len());
    let (a, b) = (numbers.old_lookup(), numbers.new_lookup());
    let mut found = Compact::new(Replace::new(Capture::new()), a, b);
    let Ok(()) = myers::diff(&mut found, a, numbers.old_range(), b, numbers.new_range());
    found.into_inner().into_inner().into_ops()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The result equals the library's own, also beyond the length from which it counts lines.
        #[test]
        fn changes_are_what_the_library_finds(
            old in prop::collection::vec(0..9u8, 0..150),
            new in prop::collection::vec(0..9u8, 0..150),
        ) {
            let lines = |of: &[u8]| of.iter().map(|at| format!("{at}\n")).collect::<Vec<_>>();
            let (old, new) = (lines(&old), lines(&new));
            let (a, b): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let expected = similar::capture_diff_slices(similar::Algorithm::Myers, &a, &b);
            prop_assert_eq!(changes(&old, &new), expected);
        }
    }

    #[test]
    fn lines_that_stay_are_found_between_those_that_change() {
        let ops = changes(&["a", "b", "c"], &["a", "x", "c", "d"]);
        assert_eq!(
            ops,
            [
                DiffOp::Equal { old_index: 0, new_index: 0, len: 1 },
                DiffOp::Replace { old_index: 1, old_len: 1, new_index: 1, new_len: 1 },
                DiffOp::Equal { old_index: 2, new_index: 2, len: 1 },
                DiffOp::Insert { old_index: 3, new_index: 3, new_len: 1 },
            ]
        );
    }

    #[test]
    fn line_ends_are_the_notes() {
        let of = |note: &str, text: &str| {
            String::from_utf8(with_line_ends_of(note.as_bytes(), text.as_bytes()).into_owned()).unwrap()
        };
        assert_eq!(of("a\r\nb\r\n", "x\ny"), "x\r\ny");
        assert_eq!(of("a\nb\n", "x\r\ny\r\n"), "x\ny\n");
        assert_eq!(of("a\r\nb\n", "x\ny\r\n"), "x\ny\r\n");
    }
}
