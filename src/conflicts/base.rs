//! Finds the merge base of a note and its conflict copy in history. Pure.
//!
//! Sync tools don't name the base. This file takes the state of the note from which the copy differs in the fewest
//! lines, and the oldest of several such states: a base that is too old only brings a removed line back, but one that
//! is too new removes a person's line.

use std::borrow::Cow;

use similar::DiffOp;

use crate::format::changes::changes;

/// Which of `states`, newest first, is the closest to `copy`; none where none has a line of it.
pub fn choose<'a>(states: impl Iterator<Item = &'a [u8]>, copy: &[u8]) -> Option<usize> {
    let copy = lines(copy);
    let mut best: Option<(usize, usize)> = None;
    for (at, state) in states.enumerate() {
        let state = lines(state);
        let ops = changes(&state, &copy);
        let differ = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
        let distance: usize = differ.map(|op| op.old_range().len() + op.new_range().len()).sum();
        let has_common = distance < state.len() + copy.len();
        if has_common && best.is_none_or(|(least, _)| distance <= least) {
            best = Some((distance, at));
        }
    }
    best.map(|(_, at)| at)
}

/// The lines without their ends.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let bodies =
        bytes.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line));
    bodies.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
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
    let mut joined = lines(text).join(end);
    if text.ends_with(b"\n") {
        joined.extend_from_slice(end);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(states: &[&str], copy: &str) -> Option<usize> {
        choose(states.iter().map(|state| state.as_bytes()), copy.as_bytes())
    }

    #[test]
    fn the_closest_state_and_of_several_the_oldest() {
        assert_eq!(chosen(&["a\nb\nc\n", "a\nb\n", "a\n"], "a\nb\nx\n"), Some(1));
        assert_eq!(chosen(&["a\nd\n", "a\n"], "a\nb\n"), Some(1));
        assert_eq!(chosen(&["a\nd\n", "a\nb\n"], "a\n"), Some(1), "as far from both");
        assert_eq!(chosen(&["x\n"], "a\n"), None);
        assert_eq!(chosen(&[], "a\n"), None);
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
