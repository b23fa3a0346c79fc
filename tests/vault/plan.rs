//! What edits do to bytes, as properties over any bytes.

use crate::support::prelude::*;
use proptest::prelude::*;
use vault_agent::vault::{DropReason, OpOutcome, apply};

fn one(op: Operation, bytes: &str) -> (String, OpOutcome) {
    let (after, outcomes) = apply(&[op], bytes.as_bytes());
    (String::from_utf8(after).unwrap(), outcomes[0])
}

fn line(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

const GONE: OpOutcome = OpOutcome::Dropped(DropReason::Gone);
const CHANGED: OpOutcome = OpOutcome::Dropped(DropReason::Changed);

#[test]
fn lines_are_deleted_with_their_terminator_and_replaced_without_it() {
    let delete = |text: &str| one(Operation::DeleteLine { line: line("b") }, text);
    assert_eq!(delete("a\nb\nc\n"), ("a\nc\n".into(), OpOutcome::Done));
    assert_eq!(delete("a\r\nb\r\nc"), ("a\r\nc".into(), OpOutcome::Done));
    assert_eq!(delete("a\nb"), ("a\n".into(), OpOutcome::Done));
    assert_eq!(delete("b"), (String::new(), OpOutcome::Done));
    assert_eq!(delete("\u{feff}b\nc\n"), ("\u{feff}c\n".into(), OpOutcome::Done));
    assert_eq!(delete("a\nb \n"), ("a\nb \n".into(), GONE));
    assert_eq!(delete("a\nbb\nab\n"), ("a\nbb\nab\n".into(), GONE));
    // Identical lines are one thing; examples and comments are nobody's reminders.
    assert_eq!(delete("b\na\nb\n"), ("a\n".into(), OpOutcome::Done));
    for dead in ["```\nb\n```\n", "<!--\nb\n-->\n", "%%\nb\n%%\n", "---\nb\n---\n"] {
        assert_eq!(delete(dead), (dead.into(), GONE), "{dead}");
        assert_eq!(delete(&format!("{dead}b\n")), (dead.into(), OpOutcome::Done), "{dead}");
    }
    let replace = |text: &str| one(Operation::ReplaceLine { line: line("b"), with: line("B id=1") }, text);
    assert_eq!(replace("a\r\nb\r\nc\n"), ("a\r\nB id=1\r\nc\n".into(), OpOutcome::Done));
    assert_eq!(replace("b"), ("B id=1".into(), OpOutcome::Done));
    assert_eq!(replace("x"), ("x".into(), GONE));
    // Everything is replaced only if it is as expected.
    let all = |text: &str| one(Operation::ReplaceAll { expect: Some(line("old")), with: line("new") }, text);
    assert_eq!(all("old"), ("new".into(), OpOutcome::Done));
    assert_eq!(all("older"), ("older".into(), CHANGED));
}

#[test]
fn appending_adds_a_missing_newline_and_ends_lines_as_the_file_does() {
    let append = |text: &str, added: &str| one(Operation::Append { text: line(added) }, text).0;
    assert_eq!(append("", "x\n"), "x\n");
    assert_eq!(append("a", "x\n"), "a\nx\n");
    assert_eq!(append("a\n", "x"), "a\nx\n");
    assert_eq!(append("a\r\nb\r\n", "x\ny\n"), "a\r\nb\r\nx\r\ny\r\n");
    assert_eq!(append("a\r\nb", "x"), "a\r\nb\r\nx\r\n");
    assert_eq!(append("a\r\nb\n", "x\n"), "a\r\nb\nx\n");
}

#[test]
fn sections_grow_after_their_last_line_and_are_made_at_the_end() {
    let add = |text: &str| {
        one(Operation::AppendToSection { heading: "People".into(), text: line("- new\n") }, text).0
    };
    assert_eq!(add("## People\n- Ann\n\n## Places\n"), "## People\n- Ann\n- new\n\n## Places\n");
    let below = "## People\n- Ann\n### Near\n- Bo\n";
    assert_eq!(add(&format!("{below}\n# Top\n")), format!("{below}- new\n\n# Top\n"));
    assert_eq!(add("## People\n\n## Places\n"), "## People\n- new\n\n## Places\n");
    assert_eq!(add("## People\n- Ann"), "## People\n- Ann\n- new\n");
    assert_eq!(add("## People\n```\n## Places\n```\n\n"), "## People\n```\n## Places\n```\n- new\n\n");
    assert_eq!(add("# Memory\n\n- loose\n"), "# Memory\n\n- loose\n\n## People\n- new\n");
    assert_eq!(add(""), "## People\n- new\n");
    assert_eq!(add("### People\n"), "### People\n\n## People\n- new\n");
}

fn words() -> impl Strategy<Value = Vec<u8>> {
    // Few words, so that targets meet; any bytes between them.
    let few = "- [ ] a|- [ ] b||```|    ```|%%|<!-- x|---|## S".split('|').map(line).collect::<Vec<_>>();
    let any_word = any::<u8>().prop_filter("no newline", |byte| *byte != b'\n');
    prop_oneof![9 => prop::sample::select(few), 1 => proptest::collection::vec(any_word, 0..12)]
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let ended = (words(), prop_oneof![Just(&b"\n"[..]), Just(&b"\r\n"[..])]);
    let lines = proptest::collection::vec(ended.prop_map(|(line, end)| [&line[..], end].concat()), 0..14);
    (lines, words(), any::<bool>()).prop_map(|(lines, last, bom)| {
        let bom: &[u8] = if bom { b"\xef\xbb\xbf" } else { b"" };
        [bom, &lines.concat(), &last].concat()
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        words().prop_map(|line| Operation::DeleteLine { line }),
        (words(), words()).prop_map(|(line, with)| Operation::ReplaceLine { line, with }),
        words().prop_map(|text| Operation::Append { text }),
        words().prop_map(|text| Operation::AppendToSection { heading: "S".into(), text }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// One at a time or all at once, in one pass or in several: the same.
    #[test]
    fn a_batch_is_its_operations_one_by_one(bytes in file(), ops in proptest::collection::vec(operation(), 0..6)) {
        let (together, outcomes) = apply(&ops, &bytes);
        let mut step_by_step = bytes;
        for (op, outcome) in ops.iter().zip(outcomes) {
            let (after, done) = apply(std::slice::from_ref(op), &step_by_step);
            prop_assert_eq!(done[0], outcome);
            step_by_step = after;
        }
        prop_assert_eq!(together, step_by_step);
    }

    /// An operation that was dropped changed nothing, and lines that it doesn't mean stay as they are.
    #[test]
    fn only_the_lines_meant_change(bytes in file(), target in words(), with in words()) {
        let lines = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
        for op in [
            Operation::DeleteLine { line: target.clone() },
            Operation::ReplaceLine { line: target.clone(), with: with.clone() },
        ] {
            let deletes = matches!(op, Operation::DeleteLine { .. });
            let (after, outcomes) = apply(&[op], &bytes);
            if !outcomes[0].is_done() {
                prop_assert_eq!(&after, &bytes);
                continue;
            }
            let (before, after) = (lines(&bytes), lines(&after));
            let is_meant = |line: &[u8]| {
                let text = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
                text == target || text.strip_prefix(b"\xef\xbb\xbf") == Some(&target)
            };
            if deletes {
                let kept = before.iter().filter(|line| !is_meant(line));
                let mut rest = after.iter();
                // Every line that isn't the target is still there, in order.
                for line in kept {
                    prop_assert!(rest.any(|other| other == line || other.strip_prefix(b"\xef\xbb\xbf") == Some(line)));
                }
            } else if !with.is_empty() && !with.contains(&b'\r') && !bytes.contains(&b'\r') {
                prop_assert_eq!(before.len(), after.len());
                for (old, new) in before.iter().zip(&after) {
                    prop_assert!(old == new || is_meant(old));
                }
            }
        }
    }

    /// Appending keeps every byte that was there.
    #[test]
    fn appending_only_adds(bytes in file(), text in words()) {
        let (after, _) = apply(&[Operation::Append { text }], &bytes);
        prop_assert!(after.starts_with(&bytes));
    }

    /// What a section gains is taken out again to the byte, save for a newline that was missing.
    #[test]
    fn a_section_gains_one_passage(bytes in file(), text in words()) {
        let (after, _) = apply(&[Operation::AppendToSection { heading: "S".into(), text }], &bytes);
        let prefix = bytes.iter().zip(&after).take_while(|(old, new)| old == new).count();
        prop_assert!(after.ends_with(&bytes[prefix..]));
    }
}
