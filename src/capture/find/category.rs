//! Chooses one of the six categories for a sentence, by its words. Pure.
//!
//! A brain names the category itself; this is for the rules. The first that fits counts, from the one that says most
//! about a person to the one that says least; a sentence that fits none is an event.

use crate::capture::read::phrase_match::{in_order, normalize_words};
use crate::format::candidate::Category;

/// Words of identity.
#[rustfmt::skip]
const PROFILE: &[&str] = &[
    "my name is", "call me", "i live in", "i moved to", "i'm moving to", "i work as", "i work at", "i work for", "i'm a", "i am a", "i'm an",
    "i am an", "i was born", "i grew up", "i'm from", "i am from", "my birthday", "years old", "i'm allergic", "i am allergic", "i'm married",
    "i'm single", "i'm divorced", "i'm pregnant", "my address", "my phone number", "my job is", "i study", "i'm studying", "i graduated",
    "ich heiße", "mein name ist", "ich wohne", "ich lebe in", "ich arbeite", "ich bin allergisch", "ich bin verheiratet",
    "mein geburtstag", "jahre alt", "je m'appelle", "j'habite", "je travaille", "je suis allergique", "je suis né", "me llamo",
    "vivo en", "trabajo", "soy alérgic*", "nací", "mi chiamo", "abito a", "vivo a", "lavoro come", "lavoro per", "sono allergic*",
    "me chamo", "moro em", "trabalho", "sou alérgic*", "ik heet", "ik woon", "ik werk", "jag heter", "jag bor", "jag jobbar",
    "меня зовут", "я живу", "я работаю", "benim adım", "yaşıyorum", "我叫", "我住在", "と呼んで", "に住んで", "アレルギーが", "제 이름은", "살고 있",
];

/// Words of preference.
#[rustfmt::skip]
const PREFERENCES: &[&str] = &[
    "i prefer", "i like", "i love", "i hate", "i enjoy", "i don't like", "i dislike", "i can't stand", "i'd rather", "my favorite",
    "my favourite", "i'm into", "i'm a fan", "i'm a big fan", "i only drink", "i only eat", "i don't eat", "i don't drink", "i want to",
    "i'd love to", "my dream", "my goal", "ich mag", "ich bevorzuge", "ich liebe", "ich hasse", "am liebsten", "lieber", "mein lieblings*",
    "ich möchte", "je préfère", "j'aime", "j'adore", "je déteste", "prefiero", "me gusta", "me encanta", "odio", "preferisco", "mi piace",
    "adoro", "prefiro", "gosto de", "ik houd van", "ik hou van", "ik heb liever", "jag gillar", "jag föredrar", "я люблю", "мне нравится",
    "я предпочитаю", "tercih ederim", "severim", "我喜欢", "我更喜欢", "の方が好き", "が好き", "선호해", "좋아해",
];

/// Words of habits.
#[rustfmt::skip]
const PATTERNS: &[&str] = &[
    "i always", "i usually", "we always", "we usually", "every day", "every morning", "every evening", "every week", "every weekend",
    "every month", "every year", "every monday", "every tuesday", "every wednesday", "every thursday", "every friday", "every saturday",
    "every sunday", "twice a week", "once a week", "whenever", "from now on", "going forward", "always use", "never use", "please always",
    "ich … immer", "jeden tag", "jeden morgen", "jede woche", "ab jetzt", "toujours", "tous les jours", "chaque semaine", "désormais",
    "siempre", "todos los días", "cada semana", "a partir de ahora", "sempre", "ogni giorno", "d'ora in poi", "todos os dias", "altijd",
    "elke dag", "vanaf nu", "всегда", "каждый день", "отныне", "впредь", "her gün", "以后都", "从现在起", "今後は", "これからは", "앞으로는",
];

/// Words of problems and remedies.
#[rustfmt::skip]
const CASES: &[&str] = &[
    "fixed it by", "solved it by", "the fix was", "the solution was", "what helped was", "turned out to be", "turns out the problem",
    "the problem was", "it works now", "worked after", "i fixed", "i solved", "we fixed", "we solved", "das problem war", "die lösung war",
    "geholfen hat", "le problème était", "la solution était", "el problema era", "la solución fue", "il problema era", "проблема была",
];

/// Words of people and things that belong to a person.
#[rustfmt::skip]
const ENTITIES: &[&str] = &[
    "my … is called", "my … is named", "my … name is", "my mom", "my mum", "my dad", "my mother", "my father", "my sister", "my brother",
    "my wife", "my husband", "my son", "my daughter", "my kids", "my family", "my friend", "my best friend", "my girlfriend", "my boyfriend",
    "my partner", "my dog", "my cat", "my pet", "my pets", "my boss", "my team", "my company", "my business", "my project", "my car", "my house",
    "our dog", "our cat", "our house", "our team", "i have a", "i've got a", "we have a", "i own", "meine mutter", "mein vater",
    "meine schwester", "mein bruder", "meine frau", "mein mann", "mein hund", "meine katze", "mein … heißt", "meine … heißt", "ma sœur",
    "mon frère", "mon chien", "mon chat", "mi hermana", "mi hermano", "mi perro", "mi madre", "mi padre", "mia sorella", "mio fratello",
    "minha irmã", "meu irmão", "mijn zus", "mijn broer", "min syster", "min bror", "моя сестра", "мой брат", "моя собака", "we decided",
    "we've decided", "we agreed", "our deadline is", "our convention is",
];

/// The category of a sentence.
pub fn of(sentence: &str) -> Category {
    let words = normalize_words(&sentence.to_lowercase());
    let known = [
        (Category::Cases, CASES),
        (Category::Patterns, PATTERNS),
        (Category::Preferences, PREFERENCES),
        (Category::Profile, PROFILE),
        (Category::Entities, ENTITIES),
    ];
    let fits = |phrases: &[&str]| phrases.iter().any(|phrase| in_order(&words, phrase));
    known.into_iter().find(|(_, phrases)| fits(phrases)).map_or(Category::Events, |(category, _)| category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_find_their_category() {
        for (sentence, category) in [
            ("I only drink green tea.", Category::Preferences),
            ("Ich wohne in Graz.", Category::Profile),
            ("My sister's name is Eva.", Category::Entities),
            ("I always run on Sundays.", Category::Patterns),
            ("The problem was the cable.", Category::Cases),
            ("Yesterday we went to the lake.", Category::Events),
            ("我住在上海", Category::Profile),
        ] {
            assert_eq!(of(sentence), category, "{sentence}");
        }
    }
}
