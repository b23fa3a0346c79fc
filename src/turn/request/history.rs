//! Converts a log's blocks to a request's messages: applies edits, leaves out deletions, pairs tools with their
//! results. Pure.
//!
//! Injected memories, the program's own remarks about the log and deleted messages are left out. The chunks of an
//! answer are joined. A person's message begins with its time and author. Only the log and the time zone decide, so the
//! same log makes the same bytes.

use std::collections::HashSet;

use jiff::tz::TimeZone;
use serde_json::Value;

use super::files::{AttachedFile, message_of};
pub use super::shorten::{MOST_RESULT, newest, shorten};
use crate::brain::{Message, MessagePart, ToolCall, ToolResult, portable_tool_name};
use crate::format::log::{EventKind, LogBlock, MessageChanges};
use crate::format::plain_lines;
pub use crate::format::strip_mentions;
use crate::turn::facts;

/// Room for the marks around a result, and for its `Error: `: a result that was cut when it was written isn't cut
/// again.
const MARKS: usize = 1_000;

/// The most characters of a call's arguments in a log; a call with more is no part of later requests.
const MOST_ARGUMENTS: usize = 64 << 10;

/// One earlier message, with the log event that it begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct PastMessage {
    /// As it is sent to the model.
    pub messages: Vec<Message>,
    /// Its size in estimated tokens.
    pub tokens: u64,
    /// The number of its first event.
    pub at: usize,
}

/// The messages in `blocks`, oldest first. `left_out` are the ids of the questions that are asked now;
/// tool calls are included only if `tools` are offered, since a model may refuse calls of tools that it lacks.
pub fn past(blocks: &[LogBlock], left_out: &[&str], tools: bool, zone: &TimeZone) -> Vec<PastMessage> {
    let changes = MessageChanges::of(blocks);
    let mut out: Vec<PastMessage> = Vec::new();
    let mut agent_open = false;
    let asked = left_out.iter().filter_map(|id| message_of(id)).collect::<HashSet<_>>();
    let last =
        blocks.iter().rposition(|block| left_out.contains(&block.event.id.as_deref().unwrap_or_default()));
    for (at, block) in blocks.iter().enumerate() {
        let event = &block.event;
        let id = event.id.as_deref().unwrap_or_default();
        // Files of a question that is asked now, and entries of its own turn, are not history.
        let own = left_out.contains(&id) || message_of(id).is_some_and(|message| asked.contains(&message));
        if own && event.kind != EventKind::Agent {
            continue;
        }
        let said = match event.kind {
            // Later messages have a turn of their own.
            EventKind::User if last.is_some_and(|last| at > last) => None,
            EventKind::User => changes.text(block).map(|text| {
                let when = event.at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
                vec![Message::user(format!("[{when} {}] {}", event.author, strip_mentions(text)))]
            }),
            EventKind::Agent => {
                let text = changes.text(block).map(|text| facts::split(text).0.trim_end());
                match text.filter(|text| !text.is_empty()) {
                    Some(text) if agent_open => {
                        append(&mut out, text);
                        continue;
                    }
                    Some(text) => {
                        agent_open = true;
                        out.push(past_message(vec![Message::assistant(text)], at));
                        continue;
                    }
                    None => None,
                }
            }
            EventKind::Tool if tools => tool(block).map(|(call, result)| {
                let asked = Message::Assistant { text: String::new(), tool_calls: vec![call], raw: None };
                vec![asked, Message::ToolResults { results: vec![result] }]
            }),
            EventKind::System => {
                let told = event.content.lines().filter_map(AttachedFile::parse).map(|file| file.name_part());
                if let Some(last) = out.last_mut() {
                    told.for_each(|part| note_file(last, part));
                }
                None
            }
            EventKind::Tool | EventKind::Recall => None,
        };
        if let Some(messages) = said {
            agent_open = false;
            out.push(past_message(messages, at));
        }
    }
    out
}

fn past_message(messages: Vec<Message>, at: usize) -> PastMessage {
    let tokens = messages.iter().map(tokens).sum();
    PastMessage { messages, tokens, at }
}

/// A further chunk of the answer before it.
fn append(out: &mut [PastMessage], more: &str) {
    if let Some(last) = out.last_mut()
        && let Some(Message::Assistant { text, .. }) = last.messages.last_mut()
    {
        text.push('\n');
        text.push_str(more);
        last.tokens = last.messages.iter().map(tokens).sum();
    }
}

/// A file attached to the message before it: its name, kind and size, never its link, which expires.
fn note_file(past: &mut PastMessage, file: MessagePart) {
    if let Some(Message::User { parts }) = past.messages.last_mut() {
        parts.push(file);
        past.tokens = past.messages.iter().map(tokens).sum();
    }
}

/// A tool's block: the arguments on its first line, an empty line, the result.
fn tool(block: &LogBlock) -> Option<(ToolCall, ToolResult)> {
    let event = &block.event;
    let (arguments, result) = event.content.split_once('\n').unwrap_or((&event.content, ""));
    serde_json::from_str::<Value>(arguments).ok().filter(Value::is_object)?;
    let id = format!("call_{}", event.id.as_deref()?);
    // Other programs' tools, and a log of before, may have names that a provider refuses.
    let name = portable_tool_name(&event.author);
    let text = shorten(result.trim_start_matches('\n'), MOST_RESULT + MARKS);
    let is_error = text.starts_with("Error: ");
    let call = ToolCall { id: id.clone(), name, arguments: arguments.to_owned() };
    Some((call, ToolResult { call_id: id, text, is_error }))
}

/// A tool's call and result in the log's form; [`past`] reads it back.
pub fn tool_block(call: &ToolCall, result: &str, is_error: bool) -> String {
    let arguments = shorten(&call.arguments, MOST_ARGUMENTS);
    let arguments = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments)).to_string();
    format!("{arguments}\n\n{}{}", if is_error { "Error: " } else { "" }, plain_lines(result))
}

/// Estimated tokens of a text: a quarter of its characters, rounded up.
pub fn estimate(text: &str) -> u64 {
    u64::try_from(text.chars().count().div_ceil(4)).unwrap_or(u64::MAX)
}

/// The tokens of a picture of any size: providers scale pictures to about this.
const PICTURE_TOKENS: u64 = 1_600;
/// The tokens of a message in addition to its text.
const FRAME_TOKENS: u64 = 4;

/// Estimated tokens of a message.
pub fn tokens(message: &Message) -> u64 {
    let inner: u64 = match message {
        Message::User { parts } => parts
            .iter()
            .map(|part| match part {
                MessagePart::Text { text } => estimate(text),
                MessagePart::Image { .. } => PICTURE_TOKENS,
            })
            .sum(),
        Message::Assistant { text, tool_calls, raw } => {
            let calls = tool_calls.iter().map(|call| estimate(&call.name) + estimate(&call.arguments));
            let raw = raw.iter().flat_map(|raw| &raw.items).map(|item| estimate(&item.to_string()));
            raw.sum::<u64>().max(estimate(text) + calls.sum::<u64>())
        }
        Message::ToolResults { results } => results.iter().map(|result| estimate(&result.text)).sum(),
    };
    inner + FRAME_TOKENS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::log;
    use serde_json::json;

    fn blocks(text: &str) -> Vec<LogBlock> {
        log::parse(text.as_bytes()).blocks
    }

    const LOG: &str = "---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n
> [!user] 2026-11-22T09:00:00Z Alice
> <@500> How tall is the mast?

^A1

> [!system] 2026-11-22T09:00:00Z
> attached [mast.png](<https://cdn/x?ex=1>) (image/png, 3.0 kB)

^A2

> [!recall]- 2026-11-22T09:00:01Z
> secret

^A3

> [!tool]- 2026-11-22T09:00:02Z memory.search
> {\"query\":\"mast\"}
>
> 12 metres

^A4

> [!agent] 2026-11-22T09:00:03Z Vault
> Twelve
> %% brain=a part=1/2 ctx=f %%

^A5

> [!agent] 2026-11-22T09:00:03Z Vault
> metres.
> %% brain=a part=2/2 in=1 cached=0 out=1 ms=3 %%

^A6

> [!user] 2026-11-22T09:01:00Z Bob
> wrong

^A7

> [!user] 2026-11-22T09:02:00Z Alice
> gone

^A8

> [!system] 2026-11-22T09:03:00Z
> edited [[logs/x#^A7]]:
> right

^A9

> [!system] 2026-11-22T09:03:01Z
> deleted [[logs/x#^A8]]

^AA
";

    #[test]
    fn a_log_becomes_the_conversation_as_it_stands_now() {
        let blocks = blocks(LOG);
        let told = past(&blocks, &[], true, &TimeZone::UTC);
        let messages: Vec<Message> = told.into_iter().flat_map(|past| past.messages).collect();
        let call = ToolCall {
            id: "call_A4".into(),
            name: "memory_search".into(),
            arguments: r#"{"query":"mast"}"#.into(),
        };
        assert_eq!(
            messages,
            [
                Message::User {
                    parts: vec![
                        MessagePart::Text { text: "[2026-11-22 09:00 Alice] How tall is the mast?".into() },
                        MessagePart::Text { text: "(attached file: mast.png, image/png, 3.0 kB)".into() },
                    ]
                },
                Message::Assistant { text: String::new(), tool_calls: vec![call], raw: None },
                Message::ToolResults {
                    results: vec![ToolResult {
                        call_id: "call_A4".into(),
                        text: "12 metres".into(),
                        is_error: false
                    }]
                },
                Message::assistant("Twelve\nmetres."),
                Message::user("[2026-11-22 09:01 Bob] right"),
            ]
        );
        // Without tools their calls are left out, and so is the current question.
        let told = past(&blocks, &["A7"], false, &TimeZone::UTC);
        assert_eq!(told.iter().map(|past| past.messages.len()).sum::<usize>(), 2);
    }

    #[test]
    fn a_tool_block_reads_back() {
        let call = ToolCall { id: "x".into(), name: "t".into(), arguments: "{ \"a\": 1 }".into() };
        assert_eq!(tool_block(&call, "ok\r\rfine\0", false), "{\"a\":1}\n\nok\n\nfine");
        let broken = ToolCall { arguments: "{oops".into(), ..call };
        assert_eq!(tool_block(&broken, "no", true), "\"{oops\"\n\nError: no");
        let long = ToolCall { arguments: json!({ "a": "x".repeat(1 << 20) }).to_string(), ..broken };
        assert!(tool_block(&long, "no", true).len() < MOST_ARGUMENTS + 1_000);
    }

    #[test]
    fn a_long_result_is_told_later_as_it_was_told_in_its_turn() {
        let whole: String = (0..100_000).map(|n| format!("{n}\n")).collect();
        let kept = shorten(&whole, MOST_RESULT);
        let log = format!(
            "---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n
> [!user] 2026-11-22T09:00:00Z Alice\n> count\n\n^01M821HS000000000000000000\n
> [!tool]- 2026-11-22T09:00:02Z bash\n> {{}}\n>\n> {}\n\n^01M821HSAH2QC573AM8001J400\n",
            kept.trim_end().replace('\n', "\n> ")
        );
        let told = past(&blocks(&log), &[], true, &TimeZone::UTC);
        let results = told.iter().flat_map(|past| &past.messages).find_map(|message| match message {
            Message::ToolResults { results } => Some(results),
            _ => None,
        });
        assert_eq!(results.unwrap()[0].text, kept.trim_end());
    }

    #[test]
    fn only_mentions_at_the_ends_are_stripped() {
        assert_eq!(strip_mentions("<@500> <@&6> hi <@!7> you <@500>"), "hi <@!7> you");
        assert_eq!(strip_mentions("<@>"), "<@>");
        assert_eq!(strip_mentions("a > b"), "a > b");
        assert_eq!(strip_mentions("<@500>"), "");
    }

    #[test]
    fn what_belongs_to_the_question_or_came_after_it_is_no_past() {
        let log = blocks(
            "---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n
> [!user] 2026-11-22T09:00:00Z Alice\n> before\n\n^01M821HS000000000000000000\n
> [!user] 2026-11-22T09:00:01Z Alice\n> now\n\n^01M821HSAH2QC573AM8001J000\n
> [!system] 2026-11-22T09:00:01Z\n> attached [[logs/x/files/1-a.txt|a.txt]] (text/plain, 3 bytes)\n\n^01M821HSAH2QC573AM8001J001\n
> [!tool]- 2026-11-22T09:00:02Z look\n> {}\n>\n> found\n\n^01M821HSAH2QC573AM8001J400\n
> [!user] 2026-11-22T09:00:03Z Alice\n> later\n\n^01M821HSEB2QC573BJR001P000\n
> [!agent] 2026-11-22T09:00:04Z Vault\n> an answer to before\n\n^01M821HSEB2QC573BJR002P000\n",
        );
        let told = past(&log, &["01M821HSAH2QC573AM8001J000"], true, &TimeZone::UTC);
        let told = format!("{told:?}");
        assert!(told.contains("before") && told.contains("an answer to before"), "{told}");
        for not in ["now", "a.txt", "found", "later"] {
            assert!(!told.contains(not), "{not}: {told}");
        }
        let all = format!("{:?}", past(&log, &[], true, &TimeZone::UTC));
        assert!(all.contains("attached file: a.txt, text/plain, 3 bytes") && all.contains("later"), "{all}");
    }
}
