//! Rates how useful a found block is as context that the user did not ask for.
//!
//! Recall must not feed on itself (the design's §8): an earlier question holds no information, and the agent's own
//! words at best repeat the facts. So facts come first, then questions with their answers; text that only repeats the
//! question is never returned. Pure: words in, a verdict out.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::search::analyze::stems::Terms;
use crate::search::query::question::Wants;
use crate::search::read::template_text::is_shipped;
use crate::search::{KindName, Role, RoleName};

/// How much a find is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rating {
    /// A written note, or a person's statement.
    Fact,
    /// The agent said it, and isn't asked what it said; or a person asked it: below all facts.
    Said,
    /// It is not given.
    Nothing,
}

/// The question by which finds are judged.
#[derive(Debug)]
pub struct Rater {
    terms: HashSet<String>,
    words: String,
    asks_agent: bool,
    skills: String,
    left_out: HashSet<String>,
}

/// Words that a question begins with, where it has no question mark.
const ASKING: [&str; 22] = [
    "what", "what's", "who", "whose", "whom", "where", "when", "which", "why", "how", "tell", "remind",
    "did", "does", "do", "is", "are", "was", "were", "can", "could", "has",
];

impl Rater {
    /// For a question; `skills` is the folder of skills.
    pub fn new(question: &str, skills: &str) -> Self {
        let question = without_mentions(question);
        let skills = format!("{skills}/");
        let words = plain(&question);
        let asks_agent = Wants::of(&words.split(' ').map(str::to_owned).collect::<Vec<_>>()).agent;
        Self { terms: terms(&question), words, asks_agent, skills, left_out: HashSet::new() }
    }

    /// The same, where these places are left out: notes, and blocks of notes, as links' targets (`logs/a`, `logs/a#^ID`).
    #[must_use]
    pub fn without(mut self, places: impl IntoIterator<Item = String>) -> Self {
        self.left_out.extend(places);
        self
    }

    /// Whether a note is part of a skill, which is an instruction and no memory.
    pub fn is_skill(&self, path: &str) -> bool {
        path.starts_with(&self.skills)
    }

    /// Whether a note, or this block of it, is left out.
    pub fn is_left_out(&self, path: &str, block: Option<&str>) -> bool {
        let note = path.strip_suffix(".md").unwrap_or(path);
        self.left_out.contains(note)
            || block.is_some_and(|id| self.left_out.contains(&format!("{note}#^{id}")))
    }

    /// The rating of a block by its note, kind, speaker and text.
    pub fn rate(&self, path: &str, kind: KindName, role: Option<RoleName>, text: &str) -> Rating {
        // Text that only orders or explains a note is no memory; a link of the file of pins stands for its target.
        if matches!(kind, "heading" | "properties" | "comment")
            || kind == "pin" && !has_words(text)
            || role == Some(Role::Tool.as_str())
            || is_shipped(text)
            || self.is_skill(path)
        {
            return Rating::Nothing;
        }
        if kind != "turn" {
            return Rating::Fact;
        }
        let text = &*without_mentions(text);
        let asks = asks(text);
        if plain(text) == self.words || asks && terms(text).is_subset(&self.terms) {
            return Rating::Nothing;
        }
        let is_agent = role == Some(Role::Agent.as_str());
        if asks || is_agent && !self.asks_agent { Rating::Said } else { Rating::Fact }
    }
}

/// A text without Discord's mentions (`<@5>`, `<@!5>`, `<@&5>`): whom it is said to is no part of what is asked.
fn without_mentions(text: &str) -> Cow<'_, str> {
    if !text.contains("<@") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("<@") {
        out.push_str(before);
        let is_id = |id: &str| id.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'!' | b'&'));
        if let Some((_, behind)) = after.split_once('>').filter(|(id, _)| is_id(id)) {
            out.push(' ');
            rest = behind;
        } else {
            out.push_str("<@");
            rest = after;
        }
    }
    Cow::Owned(out + rest)
}

/// Whether a text is a question.
fn asks(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '”' | ')' | '*' | '_'));
    if text.ends_with(['?', '？', '؟', '\u{37e}']) {
        return true;
    }
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_one = !text.trim_end_matches(['.', '!']).contains(['.', '!', '\n']);
    is_one && ASKING.contains(&first.as_str())
}

/// Whether a text is nothing but a question.
pub fn is_question_alone(text: &str) -> bool {
    let text = without_mentions(text);
    asks(&text) && !text.trim_end_matches(|c: char| !c.is_alphanumeric()).contains(['.', '!', '\n'])
}

/// Whether a pin says more than where its link points.
fn has_words(text: &str) -> bool {
    let is_word =
        |word: &str| word.contains(char::is_alphanumeric) && !word.contains("#^") && !word.contains("[[");
    text.split_whitespace().any(is_word)
}

fn terms(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    Terms::new().each(text, |term| {
        found.insert(term.to_owned());
    });
    found
}

/// The words alone, lower case.
fn plain(text: &str) -> String {
    let mut out = String::new();
    crate::search::analyze::stems::words(text, |word| {
        out.push_str(word);
        out.push(' ');
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_before_what_was_said_and_echoes_are_nothing() {
        let rater = Rater::new("What does Anna drink?", "skills");
        let turn = |role, text| rater.rate("a.md", "turn", Some(role), text);
        for echo in [
            "What does Anna drink?",
            "what does anna drink",
            "Does Anna drink?",
            "Anna: what does she drink??",
            "<@500> What does Anna drink?",
            "what does <@!500> <@&7> Anna drink",
        ] {
            assert_eq!(turn("user", echo), Rating::Nothing, "{echo}");
        }
        assert_eq!(turn("user", "Anna drinks green tea."), Rating::Fact);
        assert_eq!(turn("user", "Anna drinks"), Rating::Fact);
        assert_eq!(turn("user", "<@500> Anna drinks <@ green> tea."), Rating::Fact);
        let told = Rater::new("<@500> Tell me about Anna", "skills");
        assert_eq!(told.rate("a.md", "turn", Some("user"), "<@500> Tell me about Anna"), Rating::Nothing);
        assert_eq!(turn("user", "Does Anna drink green tea?"), Rating::Said);
        assert_eq!(turn("user", "Tell me about Anna's tea"), Rating::Said);
        assert_eq!(turn("agent", "Anna drinks green tea."), Rating::Said);
        let asked = Rater::new("Which tea did you name to me?", "skills");
        assert_eq!(asked.rate("a.md", "turn", Some("agent"), "Anna drinks green tea."), Rating::Fact);
        assert_eq!(turn("tool", "green tea"), Rating::Nothing);
        assert_eq!(rater.rate("a.md", "memory", None, "Anna: what does she drink"), Rating::Fact);
        assert_eq!(rater.rate("a.md", "heading", None, "Anna"), Rating::Nothing);
        assert_eq!(rater.rate("a.md", "pin", None, "Anna drinks green tea"), Rating::Fact);
        assert_eq!(rater.rate("skills/tea/SKILL.md", "paragraph", None, "Anna drinks tea"), Rating::Nothing);
        assert_eq!(rater.rate("a.md", "pin", None, "logs/discord-channel/7/x#^01K"), Rating::Nothing);
        let less = rater.without(["user/working".to_owned(), "logs/a#^X".to_owned()]);
        assert!(less.is_left_out("user/working.md", None) && less.is_left_out("logs/a.md", Some("X")));
        assert!(!less.is_left_out("logs/a.md", Some("Y")) && !less.is_left_out("logs/a.md", None));
        assert!(is_question_alone("<@5> who knows a plumber?") && !is_question_alone("I moved. Who helps?"));
        let rater = less;
        assert_eq!(rater.rate("a.md", "paragraph", None, "What is due today, what was promised, and what was left open yesterday? Answer in five lines."), Rating::Nothing);
    }
}
