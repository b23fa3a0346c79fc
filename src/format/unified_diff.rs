//! Compares two texts line by line and writes the difference as a unified diff.
//!
//! Two texts come in; their lines with a sign each, hunks with a context of three lines, and the words of a replaced line
//! that differ go out. A line ends with `\n` and keeps its ending. Pure. `similar` has all of this for any type of text
//! and with each of its algorithms, which is 0.9 MB of the program.

use std::fmt::Write;

use similar::{ChangeTag, DiffOp, DiffTag, diff_ratio, group_diff_ops};

use super::changes::changes;

/// Lines that stay the same, shown before and after a change.
const CONTEXT: usize = 3;
/// Below this share of equal words, words of a replaced line don't stand out.
const ALIKE: f32 = 0.5;

/// Two texts and the runs of lines in which they differ.
#[derive(Debug)]
pub struct LineDiff<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    runs: Vec<DiffOp>,
}

/// Changes that stand close together.
#[derive(Debug)]
pub struct Hunk {
    /// Its first line, such as `@@ -1,3 +1,3 @@`, without a line break.
    pub header: String,
    /// Runs of lines, in order.
    pub runs: Vec<DiffOp>,
}

/// A line in pieces; of each, whether it differs from the other text's line.
pub type LinePieces<'a> = Vec<(bool, &'a str)>;

impl<'a> LineDiff<'a> {
    /// Compares two texts.
    pub fn new(old: &'a str, new: &'a str) -> Self {
        let [old, new]: [Vec<&str>; 2] = [old, new].map(|text| text.split_inclusive('\n').collect());
        let runs = changes(&old, &new);
        Self { old, new, runs }
    }

    /// All lines, those that are gone before the new ones in their place.
    pub fn lines(&self) -> impl Iterator<Item = (ChangeTag, &'a str)> {
        self.runs.iter().flat_map(|run| self.lines_of(run))
    }

    /// The lines of a run.
    pub fn lines_of(&self, run: &DiffOp) -> impl Iterator<Item = (ChangeTag, &'a str)> + use<'a> {
        run.iter_changes(self.old.as_slice(), self.new.as_slice())
            .map(|change| (change.tag(), change.value()))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The changes, each with the lines around it.
    pub fn hunks(&self) -> Vec<Hunk> {
        let hunk = |runs: Vec<DiffOp>| {
            let (first, last) = (runs.first()?, runs.last()?);
            let old = range(first.old_range().start, last.old_range().end);
            let new = range(first.new_range().start, last.new_range().end);
            Some(Hunk { header: format!("@@ -{old} +{new} @@"), runs })
        };
        group_diff_ops(self.runs.clone(), CONTEXT).into_iter().filter_map(hunk).collect()
    }

    /// A hunk as `patch` reads it.
    pub fn write_hunk(&self, hunk: &Hunk, out: &mut String) {
        let _ = writeln!(out, "{}", hunk.header);
        for (tag, line) in hunk.runs.iter().flat_map(|run| self.lines_of(run)) {
            let _ = write!(out, "{tag}{line}");
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }

    /// The lines of a run, in pieces: of replaced lines that are alike, the words that differ stand out.
    pub fn pieces_of(&self, run: &DiffOp) -> Vec<(ChangeTag, LinePieces<'a>)> {
        let whole = || self.lines_of(run).map(|(tag, line)| (tag, vec![(false, line)])).collect();
        if run.tag() != DiffTag::Replace {
            return whole();
        }
        let (old, new) = (&self.old[run.old_range()], &self.new[run.new_range()]);
        let [old_words, new_words] =
            [old, new].map(|lines| lines.iter().flat_map(|line| words(line)).collect::<Vec<_>>());
        let word_runs = changes(&old_words, &new_words);
        if diff_ratio(&word_runs, old_words.len(), new_words.len()) < ALIKE {
            return whole();
        }
        let differing = || word_runs.iter().filter(|run| run.tag() != DiffTag::Equal);
        let old_marked = marked(&old_words, differing().map(DiffOp::old_range));
        let new_marked = marked(&new_words, differing().map(DiffOp::new_range));
        let deleted = old_marked.into_iter().map(|pieces| (ChangeTag::Delete, pieces));
        deleted.chain(new_marked.into_iter().map(|pieces| (ChangeTag::Insert, pieces))).collect()
    }
}

/// A range of lines as a hunk's header has it; an empty one begins at the line before it.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

/// The words of a line and the white space between them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let is_space = rest.chars().next()?.is_whitespace();
        let end = rest.find(|c: char| c.is_whitespace() != is_space).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// The words by line, those in one of `differing` marked; white space at a line's end is not.
fn marked<'a>(
    words: &[&'a str],
    differing: impl Iterator<Item = std::ops::Range<usize>>,
) -> Vec<LinePieces<'a>> {
    let mut is_marked = vec![false; words.len()];
    differing.for_each(|range| is_marked[range].fill(true));
    let pieces: Vec<(bool, &str)> = std::iter::zip(is_marked, words)
        .map(|(marked, word)| (marked && !word.ends_with('\n'), *word))
        .collect();
    pieces.split_inclusive(|(_, word)| word.ends_with('\n')).map(<[_]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let diff = LineDiff::new(old, new);
        let mut out = String::new();
        diff.hunks().iter().for_each(|hunk| diff.write_hunk(hunk, &mut out));
        out
    }

    proptest! {
        /// A diff reads as the library writes it, and its words are all words of the texts.
        #[test]
        fn a_diff_is_what_the_library_writes(old in "([ab ]{0,3}\n){0,30}[ab]?", new in "([ab ]{0,3}\n){0,30}[ab]?") {
            let whole = similar::TextDiff::from_lines(&old, &new);
            prop_assert_eq!(shown(&old, &new), whole.unified_diff().to_string());
            let diff = LineDiff::new(&old, &new);
            let lines = |kept: ChangeTag| -> String {
                let pieces = diff.runs.iter().flat_map(|run| diff.pieces_of(run));
                let kept = pieces.filter(|(tag, _)| [ChangeTag::Equal, kept].contains(tag));
                kept.flat_map(|(_, pieces)| pieces).map(|(_, piece)| piece).collect()
            };
            prop_assert_eq!(lines(ChangeTag::Delete), old.as_str());
            prop_assert_eq!(lines(ChangeTag::Insert), new.as_str());
        }
    }

    #[test]
    fn the_words_that_differ_stand_out() {
        let pieces = |old, new| {
            let diff = LineDiff::new(old, new);
            diff.runs.iter().flat_map(|run| diff.pieces_of(run)).map(|(_, pieces)| pieces).collect::<Vec<_>>()
        };
        let line = |words: [(bool, &'static str); 4]| words.to_vec();
        assert_eq!(
            pieces("mum at nine\n", "mum at ten\n")
                .concat()
                .into_iter()
                .filter(|piece| piece.0)
                .collect::<Vec<_>>(),
            [(true, "nine"), (true, "ten")]
        );
        assert_eq!(
            pieces("a  b\n", "a  c\n"),
            [
                line([(false, "a"), (false, "  "), (true, "b"), (false, "\n")]),
                line([(false, "a"), (false, "  "), (true, "c"), (false, "\n")])
            ]
        );
        // Nothing stands out where little is alike.
        assert_eq!(pieces("one two\n", "three\n"), [vec![(false, "one two\n")], vec![(false, "three\n")]]);
    }
}
