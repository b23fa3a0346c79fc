//! Strips phrases from a question that add no content: a greeting, a thank-you, "could you tell me", "please answer in
//! one sentence".
//!
//! A sentence is dropped if all its words are such phrases and another sentence remains; an opening is dropped if a
//! question word follows it. The rest is unchanged. Pure.

/// Words of sentences that say how to answer, or greet.
const WRAPPING: &str = "a again all am an and answer answers any anything appreciate appreciated are as asap at be brief briefly \
    buddy bullet bullets busy but by can cheers concise concisely could day dear detail details do doing don't even evening exact \
    exactly explain explanation few fine folks for friend full further give good great greatly hello help hey hi hope how hurry i \
    i'm if in is it it's just keep kind kindly let limit line lines list long lot many mate max maximum me more morning most much \
    my need needed nice night no nothing of ok okay one only or out paragraph paragraphs please pls plz point points possible \
    question questions quick quickly really reply respond response rush say sentence sentences short shortly simple simply so \
    some sorry sure take tell than thank thanks that that's the then there this time to too two three ty thx under us very want \
    we well with without word words would you you're your advance awesome bye cool done fun funny glad goodbye haha happy \
    later lol lovely luck makes news perfect see sense something soon talk talking welcome wonderful \
    antworte antworten auf bitte beste besten dank danke deutsch deine deiner dir du ein eine einem einen einer ganz gern gerne \
    grüße gruß gruss guten gute hallo hilfe im in ist kurz kurze kurzen knapp liebe lieber mit mir morgen moin nur satz sätzen \
    tag abend und viele vielen voraus wenigen worten schönen \
    avance bonjour bonsoir bref brièvement d'avance en merci moi phrase phrases plaît répond réponds répondez s'il salut \
    seule te trois une vous \
    breve brevemente buenas buenos días frase frases gracias hola muchas por favor respóndeme responde responda solo tardes una \
    ciao buongiorno grazie mille risposta rispondi favore \
    bom dia obrigada obrigado olá responda uma \
    alsjeblieft antwoord bedankt dank je wel één goedemorgen zin";
/// Words that are only politeness wherever they stand.
const POLITE: [&str; 22] = [
    "please", "pls", "plz", "thanks", "thank", "thx", "hello", "hi", "hey", "kindly", "bitte", "danke",
    "hallo", "merci", "bonjour", "gracias", "hola", "grazie", "ciao", "obrigado", "obrigada", "bedankt",
];
/// Sentences of the same kind in scripts without spaces.
const UNSPACED: &str = "谢谢 谢谢你 多谢 你好 您好 早上好 请用一句话回答 请简短回答 请简单回答 ありがとう ありがとうございます こんにちは 一文で答えてください 簡潔に答えてください";
/// The openings before a question word, between bars.
const OPENINGS: &str = "can you tell me | could you tell me | can you please tell me | could you please tell me | would you tell me | \
    can you remind me | could you remind me | please tell me | please remind me | tell me | remind me | \
    do you know | do you remember | do you happen to know | i was wondering | i wonder | i would like to know | \
    i'd like to know | i want to know | quick question | just a quick question | can you please remind me | \
    could you please remind me | would you please tell me | do you know by any chance | \
    do you remember by any chance | i can't remember | i forgot | i was curious | i'm curious | i'm wondering | \
    kannst du mir sagen | kannst du mir bitte sagen | können sie mir sagen | weißt du | weißt du noch | \
    peux-tu me dire | puedes decirme";
/// The words that follow such an opening.
const ASKING: [&str; 38] = [
    "what", "when", "where", "which", "who", "whose", "whom", "why", "how", "what's", "who's", "if",
    "whether", "was", "wann", "wo", "wer", "wen", "wem", "wie", "warum", "welche", "welcher", "welches",
    "wohin", "ob", "où", "quand", "qui", "quel", "quelle", "comment", "dónde", "cuándo", "quién", "qué",
    "cuál", "cómo",
];

/// `text` without what it is dressed in; all of it where nothing else is there.
pub(in crate::search) fn strip_phrases(text: &str) -> String {
    let sentences: Vec<&str> = sentences(text).collect();
    let said: Vec<&str> = sentences.iter().copied().filter(|sentence| !is_wrapping(sentence)).collect();
    if said.is_empty() {
        return text.trim().to_owned();
    }
    said.into_iter().map(without_opening).collect::<Vec<_>>().join(" ")
}

/// Whether a text is nothing but what others are dressed in: three words or more, for a word alone may be what is meant.
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
    POLITE.contains(&word)
}

fn is_wrapping(sentence: &str) -> bool {
    let bare = sentence.trim_matches(|c: char| !c.is_alphanumeric());
    if UNSPACED.split_ascii_whitespace().any(|known| known == bare) {
        return true;
    }
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
    for opening in OPENINGS.split(" | ") {
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
