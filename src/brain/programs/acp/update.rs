//! Decodes the messages that an ACP agent sends during a turn: tool output, usage, the answer's text, and the HTTP
//! status that an error names.

use serde_json::Value;

use crate::brain::Usage;
use crate::brain::wire::tokens;

/// The result of a call, in words.
pub(super) fn output(update: &Value) -> String {
    let blocks = update["content"].as_array().into_iter().flatten();
    let words: Vec<&str> = blocks.filter_map(|block| block["content"]["text"].as_str()).collect();
    if !words.is_empty() {
        return words.join("\n");
    }
    match &update["rawOutput"] {
        Value::Null => String::new(),
        Value::String(words) => words.clone(),
        other => other["formatted_output"].as_str().map_or_else(|| other.to_string(), str::to_owned),
    }
}

/// An HTTP status that an error's words name.
pub(super) fn status(words: &str) -> Option<u16> {
    let words: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let says = |word: &str| ["status", "error", "http", "code"].contains(&word.to_ascii_lowercase().as_str());
    let pairs = words.windows(2).filter(|pair| says(pair[0]));
    pairs.filter_map(|pair| pair[1].parse().ok()).find(|status| (400..600).contains(status))
}

pub(super) fn usage(counts: &Value) -> Usage {
    let count = |key: &str| Some(tokens(&counts[key])).filter(|_| !counts[key].is_null());
    let output = count("outputTokens").unwrap_or_default();
    let input = count("totalTokens").map(|total| total.saturating_sub(output)).or(count("inputTokens"));
    Usage {
        input: input.unwrap_or_default(),
        cached: count("cachedReadTokens").unwrap_or_default(),
        cache_write: count("cachedWriteTokens").unwrap_or_default(),
        output,
    }
}

/// The text since the model's last step of another kind.
#[derive(Debug, Default)]
pub(super) struct AnswerText {
    chunks: Vec<(Option<String>, String)>,
}

impl AnswerText {
    /// A chunk, with its message's id where it has one.
    pub fn words(&mut self, message: Option<&str>, words: &str) {
        if !words.is_empty() {
            self.chunks.push((message.map(str::to_owned), words.to_owned()));
        }
    }

    /// The model made a step that is no text.
    pub fn other(&mut self) {
        self.chunks.clear();
    }

    /// The answer.
    pub fn answer(&self) -> String {
        let last = self.chunks.iter().rev().find_map(|(message, _)| message.as_deref());
        if last.is_some() {
            let of_last = self.chunks.iter().filter(|(message, _)| message.as_deref() == last);
            return of_last.map(|(_, words)| words.as_str()).collect();
        }
        let words: Vec<&str> = self.chunks.iter().map(|(_, words)| words.as_str()).collect();
        let notes = words.windows(2).take_while(|pair| is_note(pair[0], pair[1])).count();
        words[notes..].concat()
    }
}

fn is_note(words: &str, next: &str) -> bool {
    let whole =
        words.contains(' ') && words.starts_with(char::is_uppercase) && words.ends_with(['.', '!', '?', '…']);
    whole && next.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '*' | '#' | '`' | '"' | '['))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(chunks: &[(Option<&str>, &str)]) -> String {
        let mut said = AnswerText::default();
        chunks.iter().for_each(|(message, words)| said.words(*message, words));
        said.answer()
    }

    /// The words of `codex-acp` 0.16.
    const NOTE: &str = "Model metadata for `fake` not found. Defaulting to fallback metadata; this can degrade \
    performance and cause issues.";

    #[test]
    fn an_adapters_note_is_no_answer() {
        assert_eq!(answer(&[(None, NOTE), (None, "Hello t"), (None, "here.")]), "Hello there.");
        assert_eq!(answer(&[(None, NOTE), (None, "We're changing auto mode."), (None, "Yes")]), "Yes");
        // The words of `claude-agent-acp` 0.49, which names the model's messages.
        let named = [(None, "We're changing auto mode"), (Some("m1"), "Let me "), (Some("m1"), "see.")];
        assert_eq!(answer(&named), "Let me see.");
        assert_eq!(answer(&[(Some("m1"), "I look."), (Some("m2"), "Tea.")]), "Tea.");
    }

    #[test]
    fn a_models_own_words_stay_whole() {
        for whole in [
            &["It is so.", " And so."][..],
            &["It is so.", "\n\nAnd so."],
            &["Yes.", "No."],
            &["it is vault.", "md"],
            &["One whole sentence."],
            &["The file is in src/ma", "in.rs"],
            &[],
        ] {
            let chunks: Vec<(Option<&str>, &str)> = whole.iter().map(|words| (None, *words)).collect();
            assert_eq!(answer(&chunks), whole.concat());
        }
    }

    #[test]
    fn the_way_to_an_answer_is_no_answer() {
        let mut said = AnswerText::default();
        said.words(None, "I look.");
        said.other();
        assert_eq!(said.answer(), "");
        said.words(None, "Oolong.");
        assert_eq!(said.answer(), "Oolong.");
    }
}
