//! Finds sentences in a prompt that look worth saving, such as those about identity, preferences and decisions.
//!
//! Only the user's own sentences are searched, by heuristics. Questions, code, temporary problems, secrets, and very
//! short or very long sentences are left out. The result is a suggestion; nothing is saved here.

use crate::capture::sentences::{
    WORDS, in_order, is_question, looks_secret, normalize_words, one_line, sentences,
};

/// The most suggestions at once.
const MAX_OFFERS: usize = 2;
/// The longest sentence that may be a fact.
const MAX_SENTENCE_CHARS: usize = 240;

/// `my … is …`, in the languages that have it.
const MINE: &[(&[&str], &[&str])] = &[
    (&["my", "our"], &["is", "are", "was"]),
    (&["mein", "meine", "unser", "unsere"], &["ist", "sind"]),
    (&["mon", "ma", "mes", "notre"], &["est", "sont"]),
    (&["mi", "mis", "nuestro", "nuestra"], &["es", "son"]),
    (&["mio", "mia", "nostro", "nostra"], &["è", "sono"]),
    (&["meu", "minha", "nosso", "nossa"], &["é", "são"]),
    (&["mijn", "onze"], &["is", "zijn"]),
    (&["min", "mitt", "vår"], &["är", "er"]),
];

/// Sentences of a prompt that look worth saving, each on a line.
pub fn offers(prompt: &str) -> Vec<String> {
    let found = sentences(prompt)
        .into_iter()
        .filter(|sentence| is_candidate_sentence(sentence, MAX_SENTENCE_CHARS) && is_lasting_fact(sentence));
    found.take(MAX_OFFERS).map(|sentence| one_line(&sentence, MAX_SENTENCE_CHARS)).collect()
}

/// Whether a sentence can be a fact at all: no question, no code, no secret, not too short, and at most `most`
/// characters.
pub fn is_candidate_sentence(sentence: &str, most: usize) -> bool {
    let length = sentence.chars().count();
    (6..=most).contains(&length)
        && !is_question(sentence)
        && !sentence.contains(['{', '}', '<', '>', ';', '=', '|', '\\'])
        && !looks_secret(sentence)
        && normalize_words(&sentence.to_lowercase()).split(' ').count().max(length / 3) >= 3
}

/// Whether a sentence has the words of a lasting fact.
pub fn is_lasting_fact(sentence: &str) -> bool {
    let words = normalize_words(&sentence.to_lowercase());
    WORDS["lasting"].iter().any(|phrase| in_order(&words, phrase))
        || is_lasting_fact_in_other_languages(&words)
        || is_first_person(&words)
}

/// Whether these plain words are those of a lasting fact in another language than English.
pub(super) fn is_lasting_fact_in_other_languages(words: &str) -> bool {
    WORDS["lasting in other languages"].iter().any(|phrase| in_order(words, phrase))
}

/// Whether the words say `my dog is called Rex`, and not `my build is failing`.
fn is_first_person(words: &str) -> bool {
    let words: Vec<&str> = words.split(' ').collect();
    MINE.iter().any(|(owners, verbs)| {
        let Some(owner) = words.iter().position(|word| owners.contains(word)) else { return false };
        // `my dog is`, `my younger sister's name is`; further on it is another clause.
        let Some(verb) = (owner + 2..words.len().min(owner + 6)).find(|at| verbs.contains(&words[*at]))
        else {
            return false;
        };
        let passing = |at: usize| {
            words.get(at).is_none_or(|word| WORDS["passing"].contains(word) || word.ends_with("ing"))
        };
        owner < 3 && !(owner + 1..verb).any(passing) && !passing(verb + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_offered() {
        for text in [
            "I prefer tabs over spaces.",
            "My sister's birthday is 3 May.",
            "Remember that the dentist is Dr. Weber",
            "We decided to use SQLite for the cache.",
            "Ich wohne in Graz.",
            "Mein Hund ist 7 Jahre alt.",
            "Je préfère le thé vert.",
            "Prefiero respuestas cortas.",
            "Mi chiamo Giulia Rossi.",
            "Me chamo Rui e moro em Lisboa.",
            "Ik woon in Utrecht.",
            "Меня зовут Аня.",
            "我住在上海，喜欢喝茶。",
            "これからは日本語で答えて。",
        ] {
            assert_eq!(offers(text).len(), 1, "{text}");
        }
        let two = offers("Fix the bar. I prefer tabs. My dog is called Rex. I live in Graz.");
        assert_eq!(two, ["I prefer tabs.", "My dog is called Rex."]);
    }

    #[test]
    fn noise_is_not() {
        for text in [
            "My build is failing again.",
            "my question is why this panics",
            "Do you remember that I prefer tabs?",
            "I prefer",
            "My password is hunter2 and I prefer it.",
            "`I prefer tabs`",
            "```\nI live in Graz\n```",
            "let x = my.is_good; I prefer x",
            "Fix the failing test in src/main.rs, please.",
            "my tests are running",
            "hello there, how are you",
        ] {
            assert_eq!(offers(text), Vec::<String>::new(), "{text}");
        }
        assert!(offers(&format!("I prefer {}", "very ".repeat(80))).is_empty());
    }
}
