//! Finds the lines in which two texts differ.
//!
//! The comparison (Myers, with `similar`'s heuristics) runs on line numbers, so the program contains it once. Compiled
//! for each type of line it would take a third of a megabyte each time, because `similar` lets a caller choose from all
//! its algorithms.

use similar::algorithms::{Capture, Compact, IdentifyDistinct, Replace, myers};
use similar::{DiffOp, DiffTag};

/// The lines of a text with their terminators.
pub fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// A line without its terminator.
pub fn body(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
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
            let text = similar::TextDiff::from_slices(&a, &b);
            prop_assert_eq!(changes(&old, &new), text.ops());
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
}
