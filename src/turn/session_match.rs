//! Decides whether the session of a harness can be resumed for a request. Pure.
//!
//! A harness is a program with an agent loop of its own, such as Claude Code. Its session can be resumed if the log
//! still holds the conversation that was sent to the session, then the session's question and answer, and after that
//! only people's messages. Any other change (an edit, another brain's answer, other instructions) needs a new session,
//! made from the log.

use serde::{Deserialize, Serialize};

use crate::brain::{Message, MessagePart, Request};

/// The content of a session, as hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHashes {
    /// Of the system text, and of the brain's settings.
    pub instructions: String,
    /// How many messages of history it had at its last question.
    pub past: usize,
    /// Of those messages.
    pub said: String,
    /// Of each question: the length of its text and its hash.
    pub questions: Vec<(usize, String)>,
    /// Of the answer's words.
    pub answer: String,
}

impl SessionHashes {
    /// The content of a session that has answered `request`.
    pub fn of(settings: &str, request: &Request, questions: &[&str], answer: &str) -> Self {
        let past = past(request);
        Self {
            instructions: instructions(settings, request),
            past: past.len(),
            said: said(past),
            questions: questions.iter().map(|text| (text.len(), hash(text))).collect(),
            answer: words(answer),
        }
    }

    /// The number of messages at the end of `request` that are new to the session; `None` if the session can't be
    /// resumed.
    pub fn fresh(&self, settings: &str, request: &Request) -> Option<usize> {
        if self.instructions != instructions(settings, request) {
            return None;
        }
        let past = past(request);
        let (known, rest) = past.split_at_checked(self.past)?;
        if said(known) != self.said {
            return None;
        }
        let mut rest = rest.iter();
        for (length, asked) in &self.questions {
            let Some(Message::User { parts }) = rest.next() else { return None };
            let Some(MessagePart::Text { text }) = parts.first() else { return None };
            let end = text.len().checked_sub(*length).and_then(|at| text.get(at..))?;
            if hash(end) != *asked {
                return None;
            }
        }
        let answer = rest.find(|message| !is_round(message))?;
        let Message::Assistant { text, .. } = answer else { return None };
        if words(text) != self.answer || rest.clone().any(|message| !matches!(message, Message::User { .. }))
        {
            return None;
        }
        Some(rest.len() + request.messages.len() - past.len())
    }
}

fn past(request: &Request) -> &[Message] {
    let end = request.cache_after.map_or(0, |last| last + 1);
    &request.messages[..end.min(request.messages.len())]
}

fn is_round(message: &Message) -> bool {
    match message {
        Message::Assistant { tool_calls, .. } => !tool_calls.is_empty(),
        Message::ToolResults { .. } => true,
        Message::User { .. } => false,
    }
}

fn instructions(settings: &str, request: &Request) -> String {
    hash(&format!("{settings}\n{}", request.system))
}

fn said(messages: &[Message]) -> String {
    hash(&serde_json::json!(messages).to_string())
}

/// Hashes the words alone: an answer in several chunks has other line ends.
fn words(text: &str) -> String {
    hash(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brain::{ToolCall, ToolResult};

    fn request(past: &[Message], now: &str) -> Request {
        let mut messages = past.to_vec();
        messages.push(Message::user(format!("Now: Sunday.\n{now}")));
        Request {
            system: "Be kind.".into(),
            messages,
            cache_after: past.len().checked_sub(1),
            ..Request::default()
        }
    }

    fn round() -> [Message; 2] {
        let call = ToolCall { id: "c".into(), name: "look".into(), arguments: "{}".into() };
        let result = ToolResult { call_id: "c".into(), text: "r".into(), is_error: false };
        [
            Message::Assistant { text: String::new(), tool_calls: vec![call], raw: None },
            Message::ToolResults { results: vec![result] },
        ]
    }

    fn past() -> Vec<Message> {
        vec![Message::user("[09:00 Ann] hi"), Message::assistant("hello")]
    }

    fn later(more: &[Message]) -> Request {
        let mut all = past();
        all.extend([Message::user("[09:01 Ann] what tea?")]);
        all.extend(round());
        all.extend([Message::assistant("Oolong,\nI think.")]);
        all.extend(more.iter().cloned());
        request(&all, "and cake?")
    }

    fn known() -> SessionHashes {
        SessionHashes::of("s", &request(&past(), "what tea?"), &["what tea?"], "Oolong, I think.")
    }

    #[test]
    fn it_is_gone_on_with_where_it_holds_all_that_was_said() {
        assert_eq!(known().fresh("s", &later(&[])), Some(1));
        // Messages of people in between are new to it.
        assert_eq!(known().fresh("s", &later(&[Message::user("[09:02 Bob] me too")])), Some(2));
        let first = SessionHashes::of("s", &request(&[], "hi"), &["hi"], "hello");
        assert_eq!(first.fresh("s", &request(&past(), "?")), Some(1));
        let kept: SessionHashes = serde_json::from_value(serde_json::json!(known())).unwrap();
        assert_eq!(kept, known());
    }

    #[test]
    fn whatever_else_happened_makes_it_another_conversation() {
        let other_answer =
            later(&[Message::user("[09:02 Ann] and?"), Message::assistant("by another brain")]);
        assert_eq!(known().fresh("s", &other_answer), None);
        assert_eq!(known().fresh("another model", &later(&[])), None);
        let mut persona = later(&[]);
        persona.system = "Be brief.".into();
        assert_eq!(known().fresh("s", &persona), None);
        for edited in [0, 2, 5] {
            let mut request = later(&[]);
            request.messages[edited] = match &request.messages[edited] {
                Message::User { .. } => Message::user("[09:00 Ann] edited"),
                _ => Message::assistant("edited"),
            };
            assert_eq!(known().fresh("s", &request), None, "{edited}");
        }
        // The beginning was cut off, or the answer deleted.
        assert_eq!(known().fresh("s", &request(&past()[..1], "?")), None);
        let mut unanswered = past();
        unanswered.push(Message::user("[09:01 Ann] what tea?"));
        assert_eq!(known().fresh("s", &request(&unanswered, "?")), None);
    }
}
