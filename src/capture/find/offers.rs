//! Finds sentences in a prompt that look worth saving: identity, preferences, decisions.
//!
//! Heuristics over the user's own sentences, with a noise filter (questions, code, passing troubles, secrets,
//! very short and very long ones). It only ever suggests; nothing is saved by it.

use crate::capture::sentences::{in_order, is_question, looks_secret, normalize_words, one_line, sentences};

/// More than this at once is a nuisance.
const MAX_OFFERS: usize = 2;
/// A durable fact is a sentence.
const MAX_SENTENCE_CHARS: usize = 240;

/// Phrases for lasting facts. `…` stands for any words in between.
#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "remember that", "keep in mind that", "don't forget that", "for the record", "i prefer",
    "i'd rather have", "i always use", "i always want", "i never want", "i never use", "i don't like",
    "i hate", "i love", "always use", "never use", "please always", "please never", "from now on",
    "going forward", "my name is", "call me", "i live in", "i work at", "i work for", "i work as",
    "i was born", "i'm allergic", "i am allergic", "i'm vegetarian", "i'm vegan", "we decided",
    "we've decided", "we have decided", "we agreed", "let's go with", "we'll go with", "the decision is",
    "our convention is", "our deadline is",
];

/// The same in other languages.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "merk dir", "merke dir", "denk daran dass",
    "vergiss nicht dass", "ich bevorzuge", "ich mag lieber", "ich möchte immer", "ich will immer",
    "ich will nie", "ich heiße", "ich wohne in", "ich arbeite bei", "ich arbeite als", "ich bin allergisch",
    "ab jetzt", "von jetzt an", "wir haben … entschieden", "wir haben beschlossen", "wir nehmen … statt",
    "souviens toi que", "souvenez vous que", "retiens que", "n'oublie pas que", "je préfère",
    "je m'appelle", "j'habite", "je travaille chez", "je travaille comme", "je suis allergique",
    "désormais", "à partir de maintenant", "nous avons décidé", "on a décidé", "recuerda que",
    "no olvides que", "prefiero", "me llamo", "vivo en", "trabajo en", "trabajo como", "soy alérgico",
    "soy alérgica", "a partir de ahora", "hemos decidido", "decidimos", "ricorda che", "ricordati che",
    "non dimenticare che", "preferisco", "mi chiamo", "abito a", "vivo a", "lavoro per", "lavoro come",
    "sono allergico", "sono allergica", "d'ora in poi", "abbiamo deciso", "lembre que", "lembre se",
    "não esqueça que", "prefiro", "me chamo", "moro em", "trabalho na", "trabalho no", "trabalho como",
    "sou alérgico", "sou alérgica", "a partir de agora", "onthoud dat", "vergeet niet dat", "ik heb liever",
    "ik geef de voorkeur", "ik heet", "ik woon in", "ik werk bij", "ik werk als", "vanaf nu",
    "we hebben besloten", "kom ihåg att", "jag föredrar", "jag heter", "jag bor i", "jag jobbar på",
    "från och med nu", "vi har bestämt", "husk at", "jeg foretrækker", "jeg foretrekker", "jeg hedder",
    "jeg heter", "jeg bor i", "fra nu af", "pamiętaj że", "wolę", "nazywam się", "mieszkam w", "pracuję w",
    "od teraz", "zdecydowaliśmy", "запомни что", "я предпочитаю", "меня зовут", "я живу в", "я работаю",
    "отныне", "впредь", "мы решили", "запам'ятай що", "мене звати", "я живу у", "unutma ki",
    "tercih ederim", "benim adım", "yaşıyorum", "bundan sonra", "karar verdik", "请记住", "記住", "记住我", "我更喜欢",
    "我喜欢", "我叫", "我住在", "我对 … 过敏", "从现在起", "以后都", "我们决定", "我們決定", "覚えておいて", "の方が好き", "と呼んで", "に住んで",
    "アレルギーが", "今後は", "これからは", "に決めました", "に決めた", "기억해 줘", "기억해줘", "선호해", "제 이름은", "내 이름은", "살고 있", "앞으로는",
    "결정했",
];

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

/// Phrases for passing troubles.
#[rustfmt::skip]
const PASSING: &[&str] = &[
    "test", "tests", "build", "code", "error", "errors", "question", "bug", "problem", "issue", "guess",
    "point", "understanding", "plan", "branch", "pr", "change", "changes", "script", "app", "function",
    "query", "output", "idea", "concern", "bad", "mistake", "first", "next", "last", "goal", "screen",
    "terminal", "server", "page", "file", "commit", "prompt", "message", "failing", "broken", "crashing",
    "stuck", "not", "still", "to", "that", "how", "why", "whether", "now", "slow", "wrong", "fehler",
    "frage", "problem", "erreur", "question", "problème", "pregunta", "problema", "errore", "domanda",
    "erro", "pergunta", "vraag", "probleem",
];

/// Sentences of a prompt that look worth saving, each on a line.
pub fn offers(prompt: &str) -> Vec<String> {
    sentences(prompt)
        .iter()
        .filter(|sentence| is_candidate_sentence(sentence, MAX_SENTENCE_CHARS) && is_lasting_fact(sentence))
        .take(MAX_OFFERS)
        .map(|s| one_line(s, MAX_SENTENCE_CHARS))
        .collect()
}

/// Whether a sentence can be a fact at all: neither a question nor code nor a secret, not too short and of at most `most` characters.
pub fn is_candidate_sentence(sentence: &str, most: usize) -> bool {
    let length = sentence.chars().count();
    (6..=most).contains(&length)
        && !is_question(sentence)
        && !sentence.contains(['{', '}', '<', '>', ';', '=', '|', '\\'])
        && !looks_secret(sentence)
        && normalize_words(&sentence.to_lowercase()).split(' ').count().max(length / 3) >= 3
}

/// Whether a sentence says by its words that it is to last.
pub fn is_lasting_fact(sentence: &str) -> bool {
    let words = normalize_words(&sentence.to_lowercase());
    ENGLISH.iter().any(|phrase| in_order(&words, phrase))
        || is_lasting_fact_in_other_languages(&words)
        || is_first_person(&words)
}

/// Whether these plain words say so in another language than English.
pub(super) fn is_lasting_fact_in_other_languages(words: &str) -> bool {
    OTHERS.iter().any(|phrase| in_order(words, phrase))
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
        let passing =
            |at: usize| words.get(at).is_none_or(|word| PASSING.contains(word) || word.ends_with("ing"));
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
