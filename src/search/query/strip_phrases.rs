//! Strips from a question the phrases that add no content: a greeting, a thank-you, "could you tell me", "please answer
//! in one sentence".
//!
//! A sentence is dropped if all its words are such phrases and another sentence remains; an opening is dropped if a
//! question word follows it. The rest is unchanged. Pure.

/// Lists by their names, a line each: `wrapping`, words of sentences that say how to answer, or greet; `polite`, words
/// that are only politeness wherever they stand; `unspaced`, sentences of the same kind in scripts without spaces;
/// `opening`, what stands before a question word, between bars; `asking`, the words that follow such an opening.
const LISTS: &str = include_str!("../data/phrases.txt");

/// The text of a list.
fn list(name: &str) -> &'static str {
    let of = |line: &'static str| line.strip_prefix(name)?.strip_prefix('\t');
    LISTS.lines().find_map(of).unwrap_or_default()
}

/// Whether a list has a word.
fn has(name: &str, word: &str) -> bool {
    list(name).split_ascii_whitespace().any(|known| known == word)
}

/// `text` without polite phrases; unchanged if it has nothing else.
pub(in crate::search) fn strip_phrases(text: &str) -> String {
    let sentences: Vec<&str> = sentences(text).collect();
    let said: Vec<&str> = sentences.iter().copied().filter(|sentence| !is_wrapping(sentence)).collect();
    if said.is_empty() {
        return text.trim().to_owned();
    }
    said.into_iter().map(without_opening).collect::<Vec<_>>().join(" ")
}

/// Whether a text consists of polite phrases alone. It must have three words or more, because a single word may be the
/// subject.
pub(in crate::search) fn is_phrases_alone(text: &str) -> bool {
    words(text).nth(2).is_some() && sentences(text).all(is_wrapping)
}

/// The sentences of a text with their marks; a line is one, too.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |(at, c): &(usize, char)| {
        let behind = text[at + c.len_utf8()..].chars().next();
        matches!(c, '\n' | '。' | '！' | '？')
            || matches!(c, '.' | '!' | '?') && behind.is_none_or(char::is_whitespace)
    };
    let mut ends: Vec<usize> = text.char_indices().filter(is_end).map(|(at, c)| at + c.len_utf8()).collect();
    ends.push(text.len());
    let mut from = 0;
    let sentences = ends.into_iter().map(move |end| text[std::mem::replace(&mut from, end)..end].trim());
    sentences.filter(|sentence| !sentence.is_empty())
}

/// Whether a word, lower case, is politeness and nothing else.
pub(in crate::search) fn is_polite(word: &str) -> bool {
    has("polite", word)
}

fn is_wrapping(sentence: &str) -> bool {
    let bare = sentence.trim_matches(|c: char| !c.is_alphanumeric());
    if has("unspaced", bare) {
        return true;
    }
    let mut words = words(sentence).peekable();
    words.peek().is_some() && words.all(|word| has("wrapping", &word))
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
    for opening in list("opening").split(" | ") {
        let Some((head, behind)) = rest.split_at_checked(opening.len()) else { continue };
        let behind = behind.trim_start_matches([',', ':', ' ']);
        if head.eq_ignore_ascii_case(opening) && has("asking", &first(behind)) {
            return behind;
        }
    }
    if has("asking", &first(rest)) { rest } else { sentence }
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
            format!("Hallo! {bare} Bitte antworte in einem Satz. Danke!"),
            format!("{bare} I'm in a hurry. Thanks in advance!"),
            format!("你好！{bare} 谢谢。"),
        ] {
            assert!(
                strip_phrases(&dressed).eq_ignore_ascii_case(bare),
                "{dressed}: {}",
                strip_phrases(&dressed)
            );
        }
    }

    #[test]
    fn talk_without_a_word_that_tells_is_dress_alone() {
        for (text, is) in [
            ("I hope you are well. Please answer in one sentence.", true),
            ("That makes sense, thank you for your help.", true),
            ("Can you help me with something?", true),
            ("What do I need?", false),
            ("Can you help me with the shed?", false),
            ("good morning", false),
            ("🎉", false),
        ] {
            assert_eq!(is_phrases_alone(text), is, "{text}");
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
            "🎉. 庭の木！",
        ] {
            assert_eq!(strip_phrases(text), text);
        }
        assert_eq!(
            strip_phrases("Do you know Anna? Where does she live?"),
            "Do you know Anna? Where does she live?"
        );
    }
}
