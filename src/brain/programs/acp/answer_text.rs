//! Separates an agent's answer from its other words. Pure.
//!
//! Adapters put notes of their own ("Model metadata for … not found.") into the same chunks as the model's words, and
//! the protocol doesn't mark them. Three rules follow from the behaviour of known adapters:
//! - Words before the last tool, thought or plan are no answer.
//! - If chunks name their message, the answer is the last named message.
//! - Otherwise the first chunk is a note if it is a whole sentence and the next chunk begins with a new word and no
//!   space. (A model's own chunks join to a text.)

/// The words since the model last did something else.
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

    /// The model did something else than to speak.
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
