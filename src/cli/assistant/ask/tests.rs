//! Tests of `ask`.

use super::*;
use crate::brain::Usage;
use crate::cli::assistant::terminal::write_tamed;

fn call(brain: &str, class: Option<FailureClass>, ms: u64) -> CallRow {
    CallRow { brain: brain.into(), model: "m".into(), class, error: None, ms, usage: Usage::default() }
}

#[test]
fn rounds_of_tools_are_one_attempt() {
    let calls = [call("a", Some(FailureClass::RateLimit), 1), call("b", None, 2), call("b", None, 3)];
    let found: Vec<_> = attempts(&calls).into_iter().map(|one| (one.brain, one.class, one.ms)).collect();
    assert_eq!(found, [("a".to_owned(), Some(FailureClass::RateLimit), 1), ("b".to_owned(), None, 5)]);
}

#[test]
fn an_answer_that_comes_in_parts_does_not_speak_to_the_terminal() {
    let mut out = Vec::new();
    for part in ["**Hi**\n\u{1b}]0;mine", "\u{7} there\u{1b}", "[2J\u{1b}[1mbold\u{1b}[0m"] {
        write_tamed(&mut out, part).unwrap();
    }
    let shown = "**Hi**\n\u{fffd}]0;mine\u{fffd} there\u{fffd}[2J\u{1b}[1mbold\u{1b}[0m";
    assert_eq!(String::from_utf8(out).unwrap(), shown);
}

#[test]
fn a_fence_around_json_is_no_part_of_it() {
    assert_eq!(bare_json("```json\n{\"a\": 1}\n```\n"), "{\"a\": 1}");
    assert_eq!(bare_json(" {} "), "{}");
}
