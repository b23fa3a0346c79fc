//! Tests `ask`.

use super::*;
use crate::brain::{FailureClass, Usage};

fn call(brain: &str, class: Option<FailureClass>, ms: u64) -> CallRow {
    CallRow { brain: brain.into(), model: "m".into(), class, error: None, ms, usage: Usage::default() }
}

#[test]
fn rounds_of_tools_are_one_attempt() {
    let calls = [call("a", Some(FailureClass::RateLimit), 1), call("b", None, 2), call("b", None, 3)];
    let found = attempts(&calls);
    assert_eq!(found[0], json!({ "brain": "a", "class": FailureClass::RateLimit, "ms": 1 }));
    assert_eq!(found[1..], [json!({ "brain": "b", "class": null, "ms": 5 })]);
}

#[test]
fn a_fence_around_json_is_no_part_of_it() {
    assert_eq!(bare_json("```json\n{\"a\": 1}\n```\n"), "{\"a\": 1}");
    assert_eq!(bare_json(" {} "), "{}");
}
