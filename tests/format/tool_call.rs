//! A tool's call as the content of a log's event: what was put in comes back.

use proptest::prelude::*;
use vault_agent::format::log::tool_content;

/// The arguments and the result of a content that `tool_content` made.
pub fn tool_parts(content: &str) -> Option<(&str, &str)> {
    let (arguments, rest) = unfence(content.strip_prefix("arguments:\n")?)?;
    let (result, rest) = unfence(rest.strip_prefix("\nresult:\n")?)?;
    (rest.is_empty() || rest.starts_with("\nnote: ")).then_some((arguments, result))
}

/// The text in the fence that `text` begins with, and what comes after it.
fn unfence(text: &str) -> Option<(&str, &str)> {
    let fence = &text[..text.find('\n')?];
    if fence.len() < 3 || !fence.bytes().all(|byte| byte == b'`') {
        return None;
    }
    let body = &text[fence.len() + 1..];
    let close = format!("\n{fence}");
    let at = body.find(&close)?;
    Some((&body[..at], &body[at + close.len()..]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_tool_call_comes_back(arguments in "(?s)[`a\\n{}]{0,40}", result in "(?s)[`b\\n]{0,40}") {
        let content = tool_content(&arguments, &result, &[]);
        prop_assert_eq!(tool_parts(&content), Some((arguments.as_str(), result.as_str())));
        let content = tool_content(&arguments, &result, &["it failed".to_owned(), result.replace('\n', " ")]);
        prop_assert_eq!(tool_parts(&content), Some((arguments.as_str(), result.as_str())));
    }
}
