//! Tests of `ask`.

use super::*;
use crate::brain::Usage;

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
fn a_fence_around_json_is_no_part_of_it() {
    assert_eq!(bare_json("```json\n{\"a\": 1}\n```\n"), "{\"a\": 1}");
    assert_eq!(bare_json(" {} "), "{}");
}
