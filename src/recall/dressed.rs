//! A question without what it is dressed in: a greeting, a thank-you, "could you tell me", "please answer in one sentence".
//!
//! A sentence goes where all its words are those of such sentences and another one stays; an opening goes where a
//! question word stands behind it. What is left is as it was typed. Pure.

/// Words of sentences that say how to answer, or greet.
const WRAPPING: &str = "a again all an and answer answers as asap be brief briefly can concise concisely could dear detail \
    details even evening exact exactly few fine for full give good great hello help hey hi i if in is it just keep kindly let \
    line lines long me morning much my no nothing of ok okay one only or paragraph paragraphs please point quick quickly reply \
    respond response say sentence sentences short shortly simple simply so sorry sure tell thank thanks that the there this to \
    two three us want with without word words would you your";
/// What opens a question before its question word.
const OPENINGS: [&str; 20] = [
    "can you tell me",
    "could you tell me",
    "can you please tell me",
    "could you please tell me",
    "would you tell me",
    "can you remind me",
    "could you remind me",
    "please tell me",
    "please remind me",
    "tell me",
    "remind me",
    "do you know",
    "do you remember",
    "do you happen to know",
    "i was wondering",
    "i wonder",
    "i would like to know",
    "i'd like to know",
    "i want to know",
    "quick question",
];
/// What stands behind such an opening.
const ASKING: [&str; 12] =
    ["what", "when", "where", "which", "who", "whose", "whom", "why", "how", "what's", "who's", "if"];

/// `text` without what it is dressed in; all of it where nothing else is there.
pub(super) fn undressed(text: &str) -> String {
    let sentences: Vec<&str> = sentences(text).collect();
    let said: Vec<&str> = sentences.iter().copied().filter(|sentence| !is_wrapping(sentence)).collect();
    if said.is_empty() {
        return text.trim().to_owned();
    }
    said.into_iter().map(without_opening).collect::<Vec<_>>().join(" ")
}

/// The sentences of a text with their marks; a line is one, too.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |(at, c): &(usize, char)| {
        let behind = text[at + c.len_utf8()..].chars().next();
        *c == '\n' || matches!(c, '.' | '!' | '?') && behind.is_none_or(char::is_whitespace)
    };
    let mut ends: Vec<usize> = text.char_indices().filter(is_end).map(|(at, c)| at + c.len_utf8()).collect();
    ends.push(text.len());
    let mut from = 0;
    let sentences = ends.into_iter().map(move |end| text[std::mem::replace(&mut from, end)..end].trim());
    sentences.filter(|sentence| !sentence.is_empty())
}

fn is_wrapping(sentence: &str) -> bool {
    let mut words = words(sentence).peekable();
    words.peek().is_some() && words.all(|word| WRAPPING.split_ascii_whitespace().any(|known| known == word))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    words.filter(|word| !word.is_empty()).map(|word| word.to_lowercase().replace('’', "'"))
}

/// A sentence from its question word on, where an opening stands before that.
fn without_opening(sentence: &str) -> &str {
    let first = |text: &str| words(text).next().unwrap_or_default();
    let mut rest = sentence;
    // A greeting before a comma is one as well.
    if let Some((greeting, behind)) = rest.split_once(',')
        && is_wrapping(greeting)
    {
        rest = behind.trim_start();
    }
    for opening in OPENINGS {
        let Some((head, behind)) = rest.split_at_checked(opening.len()) else { continue };
        let behind = behind.trim_start_matches([',', ':', ' ']);
        if head.eq_ignore_ascii_case(opening) && ASKING.contains(&first(behind).as_str()) {
            return behind;
        }
    }
    if ASKING.contains(&first(rest).as_str()) { rest } else { sentence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dressed_question_is_the_bare_one() {
        let bare = "What dog did Andrew adopt?";
        for dressed in [
            bare.to_owned(),
            format!("{bare} Please answer in one sentence."),
            format!("Hi there! {bare} Thanks!"),
            format!("Hello, {bare}"),
            "Can you tell me what dog did Andrew adopt?".to_owned(),
            format!("Good morning.\n{bare}\nKeep it short, please."),
        ] {
            assert!(undressed(&dressed).eq_ignore_ascii_case(bare), "{dressed}: {}", undressed(&dressed));
        }
    }

    #[test]
    fn what_says_something_stays() {
        for text in [
            "Please help me with my garden.",
            "thanks",
            "Tell me about tea",
            "v1.2 of the parser",
            "The answer was 42. Why?",
            "",
            "🎉. 你好！",
        ] {
            assert_eq!(undressed(text), text);
        }
        assert_eq!(
            undressed("Do you know Anna? Where does she live?"),
            "Do you know Anna? Where does she live?"
        );
    }
}
