//! How much a turn's own words look like something worth remembering, with no model.
//!
//! A weighted sum over signs that hold for talk in general: somebody says something of themselves, at some length, with
//! a time, a name or a person in it; praise, questions, exclamations and talk about the other one count against it. The
//! weights were fitted by logistic regression on LoCoMo's own observations (Maharana et al. 2024, the development half)
//! and rounded; fitted with any one conversation left out they stay the same to a tenth, and that conversation is
//! judged as well as the others (`notes/assistant.md`, finding 9, has the plain rule that this replaces). Pure.

use crate::capture::read::phrase::{is_dense, plain};
use crate::capture::read::sentences::asks;

/// What each sign adds; a turn is worth a look where the sum is above 0.
mod weight {
    pub const BASE: f64 = -0.55;
    /// Ten words of the longest sentence about oneself, of at most twenty.
    pub const LONGEST: f64 = 0.25;
    /// Each sentence about oneself, of at most three.
    pub const SENTENCES: f64 = 0.25;
    /// Ten words of all statements, of at most fifty.
    pub const LENGTH: f64 = 0.35;
    /// Each word of time, of at most three.
    pub const TIME: f64 = 0.4;
    /// Each person or thing that belongs to a life, of at most three.
    pub const NEAR: f64 = 0.2;
    /// Each `my` and `our`, of at most three.
    pub const MINE: f64 = 0.25;
    /// Each name within a sentence, of at most two.
    pub const NAME: f64 = 0.2;
    /// The turn answers a question.
    pub const ANSWER: f64 = 0.5;
    /// The turn asks something, too.
    pub const ASKS: f64 = -0.3;
    /// Each word about the other one, of at most three.
    pub const YOU: f64 = -0.2;
    /// It begins with praise, thanks or a greeting.
    pub const PRAISE: f64 = -0.4;
    /// Each exclamation mark, of at most three.
    pub const LOUD: f64 = -0.25;
}

/// Words by which people speak of themselves.
#[rustfmt::skip]
const SELF: &[&str] = &[
    "i", "i'm", "i've", "i'd", "i'll", "me", "myself", "mine", "we", "we're", "we've", "we'd", "we'll", "us", "my", "our",
    "ich", "mir", "mich", "wir", "uns", "mein", "meine", "meinen", "meinem", "meiner", "unser", "unsere",
    "je", "j'ai", "j'aime", "j'habite", "moi", "nous", "mon", "ma", "mes", "notre", "nos",
    "yo", "nosotros", "nosotras", "mi", "mis", "nuestro", "nuestra", "io", "noi", "mio", "mia", "nostro", "nostra",
    "eu", "nós", "meu", "minha", "meus", "minhas", "nosso", "nossa", "ik", "wij", "ons", "onze", "mijn",
    "jag", "vi", "min", "mitt", "mina", "vår", "jeg", "mit", "vores", "minä", "ja", "mnie", "mój", "moja", "moje",
    "я", "мне", "меня", "мы", "нас", "мой", "моя", "моё", "мои", "наш", "наша", "ben", "benim", "biz", "bizim",
    "εγώ", "μου", "אני", "שלי", "أنا", "मैं", "मेरा", "मेरी", "tôi", "saya", "aku",
];

/// The same in scripts that write no spaces.
const SELF_DENSE: &[&str] =
    &["我", "私", "僕", "俺", "わたし", "ぼく", "나는", "내가", "제가", "저는", "제 ", "내 ", "ฉัน", "ผม"];

/// What belongs to somebody.
#[rustfmt::skip]
const MINE: &[&str] = &[
    "my", "our", "mein", "meine", "meinen", "meinem", "meiner", "unser", "unsere", "mon", "ma", "mes", "notre", "nos", "mi",
    "mis", "nuestro", "nuestra", "mio", "mia", "nostro", "nostra", "meu", "minha", "nosso", "nossa", "mijn", "onze", "min",
    "mitt", "vår", "mój", "moja", "мой", "моя", "наш", "наша", "benim",
];

/// Words about the other one.
#[rustfmt::skip]
const YOU: &[&str] = &[
    "you", "your", "yours", "you're", "you've", "you'd", "you'll", "yourself", "du", "dir", "dich", "dein", "deine", "tu",
    "toi", "ton", "ta", "tes", "vous", "votre", "tú", "ti", "tus", "usted", "você", "seu", "sua", "jij", "je", "jouw", "ты",
    "вы", "твой", "ваш", "sen", "senin",
];

/// Words of time.
#[rustfmt::skip]
const TIMES: &[&str] = &[
    "yesterday", "today", "tomorrow", "tonight", "last", "next", "ago", "week", "weeks", "month", "months", "year", "years",
    "day", "days", "weekend", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january",
    "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    "recently", "soon", "since", "summer", "winter", "spring", "fall", "gestern", "heute", "morgen", "letzte", "letzten",
    "nächste", "nächsten", "woche", "monat", "jahr", "jahre", "jahren", "tage", "seit", "hier", "demain", "dernier",
    "dernière", "semaine", "mois", "ans", "depuis", "ayer", "hoy", "mañana", "semana", "mes", "año", "años", "desde", "ieri",
    "oggi", "domani", "settimana", "mese", "anno", "anni", "ontem", "hoje", "amanhã", "mês", "ano", "anos", "gisteren",
    "vandaag", "maand", "jaar", "вчера", "сегодня", "завтра", "неделю", "месяц", "год", "лет",
];

/// Persons and things of a life.
#[rustfmt::skip]
const NEAR: &[&str] = &[
    "mom", "mum", "dad", "mother", "father", "sister", "brother", "wife", "husband", "son", "daughter", "kids", "kid",
    "family", "friend", "friends", "dog", "cat", "pet", "pets", "job", "work", "school", "home", "car", "house", "business",
    "team", "book", "game", "class", "girlfriend", "boyfriend", "partner", "grandma", "grandmother", "grandfather", "coach",
    "mutter", "vater", "schwester", "bruder", "frau", "mann", "sohn", "tochter", "kinder", "familie", "freund", "freundin",
    "hund", "katze", "arbeit", "schule", "haus", "mère", "père", "sœur", "frère", "femme", "mari", "fils", "fille",
    "enfants", "famille", "ami", "amie", "chien", "chat", "travail", "maison", "madre", "padre", "hermana", "hermano",
    "esposa", "marido", "hijo", "hija", "familia", "amigo", "amiga", "perro", "gato", "trabajo", "casa", "sorella",
    "fratello", "moglie", "marito", "figlio", "figlia", "lavoro", "cane", "gatto",
];

/// What begins a turn that is about what the other one said.
#[rustfmt::skip]
const PRAISE: &[&str] = &[
    "wow", "thanks", "thank", "great", "awesome", "cool", "nice", "congrats", "congratulations", "amazing", "sounds",
    "that's", "yeah", "yep", "yes", "hey", "hi", "hello", "glad", "good", "bye", "sure", "absolutely", "definitely", "keep",
    "oh", "danke", "super", "toll", "hallo", "ja", "merci", "génial", "oui", "salut", "bonjour", "gracias", "genial", "sí",
    "hola", "grazie", "sì", "ciao", "obrigado", "obrigada", "sim", "olá", "спасибо", "да", "привет",
];

/// What a sentence asks for that begins so; whoever asks for something says nothing of themselves.
#[rustfmt::skip]
const WANTS: &[&str] = &[
    "please", "can you", "could you", "would you", "will you", "help me", "tell me", "show me", "give me", "let me know",
    "i want you", "i need you", "i'd like you", "i would like you", "remind me", "explain", "write", "make", "fix", "bitte",
    "kannst du", "könntest du", "zeig mir", "sag mir", "hilf mir", "s'il te plaît", "peux tu", "por favor", "puedes",
    "per favore", "puoi", "você pode",
];

/// What a turn's words are worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Worth {
    /// The weighted sum; above 0 is worth a look.
    pub score: f64,
    /// The sentences that say something of the speaker, best first, by their places in what was given.
    pub best: Vec<usize>,
}

impl Worth {
    /// How useful it looks, 0 to 1: the logistic of the sum.
    pub fn utility(&self) -> f64 {
        1.0 / (1.0 + (-self.score).exp())
    }
}

/// Weighs the sentences of one turn; `answers` says that the turn before it asked something.
pub fn worth(sentences: &[String], answers: bool) -> Worth {
    let mut sum = weight::BASE;
    let (mut lengths, mut all, mut near, mut own) = (Vec::new(), 0, 0, 0);
    let (mut times, mut others, mut named, mut loud) = (0, 0, 0, 0);
    for (place, sentence) in sentences.iter().enumerate() {
        loud += sentence.matches(['!', '！']).count();
        if asks(sentence) {
            continue;
        }
        let words = plain(&sentence.to_lowercase());
        let list: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        let length = length(sentence, &list);
        let count = |known: &[&str]| list.iter().filter(|word| known.contains(word)).count();
        all += length;
        times += count(TIMES) + list.iter().filter(|word| is_number(word)).count();
        near += count(NEAR);
        own += count(MINE);
        others += count(YOU);
        named += names(sentence);
        if is_of_self(sentence, &list) && !wants(&words) {
            lengths.push((length, place));
        }
    }
    lengths.sort_by_key(|(length, place)| (std::cmp::Reverse(*length), *place));
    let longest = lengths.first().map_or(0, |(length, _)| *length);
    let up_to = |count: usize, most: usize| count.min(most) as f64;
    sum += weight::LONGEST * up_to(longest, 20) / 10.0 + weight::SENTENCES * up_to(lengths.len(), 3);
    sum += weight::LENGTH * up_to(all, 50) / 10.0 + weight::TIME * up_to(times, 3);
    sum += weight::NEAR * up_to(near, 3) + weight::MINE * up_to(own, 3) + weight::NAME * up_to(named, 2);
    sum += weight::YOU * up_to(others, 3) + weight::LOUD * up_to(loud, 3);
    sum += if answers { weight::ANSWER } else { 0.0 };
    sum += if sentences.iter().any(|sentence| asks(sentence)) { weight::ASKS } else { 0.0 };
    sum += if sentences.first().is_some_and(|first| praises(first)) { weight::PRAISE } else { 0.0 };
    Worth { score: sum, best: lengths.into_iter().map(|(_, place)| place).collect() }
}

/// How many words a sentence has; two characters are a word where a script writes no spaces.
fn length(sentence: &str, words: &[&str]) -> usize {
    let dense = sentence.chars().filter(|c| is_dense(*c)).count();
    if dense > 0 { words.len().max(dense / 2) } else { words.len() }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.len() <= 10
}

/// Whether somebody speaks of themselves.
pub fn is_of_self(sentence: &str, words: &[&str]) -> bool {
    words.iter().any(|word| SELF.contains(word))
        || sentence.chars().any(is_dense) && SELF_DENSE.iter().any(|word| sentence.contains(word))
}

fn wants(words: &str) -> bool {
    WANTS
        .iter()
        .any(|phrase| words.strip_prefix(phrase).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

fn praises(sentence: &str) -> bool {
    let words = plain(&sentence.to_lowercase());
    words.split(' ').next().is_some_and(|first| PRAISE.contains(&first))
}

/// Words within the sentence that begin with a capital, as names do.
fn names(sentence: &str) -> usize {
    let mut words = sentence.split_whitespace();
    let mut before = words.next().unwrap_or_default();
    let mut count = 0;
    for word in words {
        let mut chars = word.chars();
        let capital = chars.next().is_some_and(char::is_uppercase);
        let goes_on = before.ends_with(|c: char| c.is_lowercase() || c == ',');
        count += usize::from(capital && goes_on && chars.next().is_some_and(char::is_lowercase));
        before = word;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::read::sentences::sentences;

    fn score(text: &str) -> f64 {
        worth(&sentences(text), false).score
    }

    #[test]
    fn the_sum_is_what_the_weights_say() {
        // Nine words, one sentence about oneself, one `my`, two words of time (`last`, `week`), one name, one near person.
        let text = "My brother moved to Vienna last week with me.";
        let by_hand = -0.55 + 0.25 * 0.9 + 0.25 + 0.35 * 0.9 + 0.4 * 2.0 + 0.2 + 0.25 + 0.2;
        assert!((score(text) - by_hand).abs() < 1e-9, "{} {by_hand}", score(text));
        let answered = worth(&sentences(text), true).score;
        assert!((answered - by_hand - 0.5).abs() < 1e-9);
        let utility = worth(&sentences(text), false).utility();
        assert!((utility - 1.0 / (1.0 + (-by_hand).exp())).abs() < 1e-12);
    }

    #[test]
    fn what_is_said_of_oneself_is_worth_more_than_small_talk() {
        for text in [
            "I started a new job at the bakery in Graz last month.",
            "Ich habe gestern mit meiner Schwester den Garten umgegraben.",
            "My dog Rex turned seven on Saturday and we baked him a cake.",
        ] {
            assert!(score(text) > 0.0, "{text}: {}", score(text));
        }
        for text in [
            "Wow, that's great!",
            "Thanks! You did well!",
            "Can you fix the tests?",
            "Please make me a list of your ideas.",
            "How was your week?",
            "ok",
            "",
        ] {
            assert!(score(text) <= 0.0, "{text}: {}", score(text));
        }
    }
}
