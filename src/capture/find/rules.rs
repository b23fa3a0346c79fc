//! Finds candidates of a turn by rules alone: statements that are worth keeping for a year, in the speaker's own words.
//!
//! A sentence is a candidate if it asks to be remembered, or makes one of the lasting [`statements`] (in languages
//! other than English, if it has one of the phrases of [`offers`]). Code, quotations, questions and secrets are never
//! candidates. A long message is a task or pasted text; only sentences that ask to be remembered are taken from it. The
//! sentence is kept as it stands, without a leading `remember that`.
//!
//! Its category is the first of the six whose phrases fit, from the one that says most about a person to the one that says
//! least; a sentence that fits none is an event. Pure.

use jiff::civil::Date;

use super::{offers, statements};
use crate::capture::ExtractedFact;
use crate::capture::sentences::{in_order, is_dense, is_verbatim, normalize_words, original_text, sentences};
use crate::format::candidate::Category;

/// The name of the rules as a finder, in a record.
pub const NAME: &str = "rules";
/// The most candidates of one turn.
pub const MOST: usize = 2;

/// A longer sentence, in characters, is no fact.
const MAX_SENTENCE_CHARS: usize = 300;
/// A longer message, in characters, is a task or pasted.
const MAX_MESSAGE_CHARS: usize = 1000;

/// A longer message, in characters, can be a task, whose conditions are to be kept in mind as well.
const MAX_NOTE_CHARS: usize = 200;

/// Phrases that ask for remembering.
const ASKS: &[&str] = &["remember that", "keep in mind that", "don't forget that", "for the record"];
/// Phrases that do so at its beginning alone: `remember the …?` asks whether something is remembered.
const BEGINNINGS: &[&str] =
    &["please remember", "remember i", "remember i'm", "remember my", "remember we", "remember our"];

/// Words that may stand before them.
const BEFORE_ASKS: &[&str] =
    &["", "please", "and", "also", "but", "so", "oh", "hey", "hi", "ok", "okay", "can", "could", "you"];
/// Words of the speaker.
const OWN: &[&str] = &["i", "me", "my", "mine", "we", "us", "our"];

/// Phrases that ask for remembering, and are no part of the fact.
#[rustfmt::skip]
const LEADS: &[&str] = &[
    "please remember that", "please remember", "remember that", "remember", "keep in mind that", "don't forget that",
    "for the record", "note that", "bitte merk dir dass", "merk dir dass", "merk dir", "merke dir dass", "merke dir",
    "denk daran dass", "vergiss nicht dass", "souviens toi que", "souvenez vous que", "retiens que", "n'oublie pas que",
    "recuerda que", "no olvides que", "ricorda che", "ricordati che", "non dimenticare che", "lembre que", "lembre se que",
    "não esqueça que", "onthoud dat", "vergeet niet dat", "kom ihåg att", "husk at", "pamiętaj że", "запомни что",
    "запам'ятай що", "unutma ki", "请记住", "記住", "记住",
];

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

/// The candidates of a turn, best first; `day` is its date.
pub fn extract(said: &str, day: Date) -> Vec<ExtractedFact> {
    let length = said.chars().count();
    let (is_short, is_long) = (length <= MAX_NOTE_CHARS, length > MAX_MESSAGE_CHARS);
    let mut out: Vec<ExtractedFact> = Vec::new();
    for sentence in sentences(said) {
        if !offers::is_candidate_sentence(&sentence, MAX_SENTENCE_CHARS) {
            continue;
        }
        let Some((category, utility)) = judge(&sentence, day, is_short, is_long) else { continue };
        let Some(quote) = original_text(said, &sentence).filter(|quoted| is_verbatim(quoted, said)) else {
            continue;
        };
        let text = without_request(&quote).to_owned();
        if !text.is_empty() {
            out.push(ExtractedFact { category, text, quote, utility, about: None, verdict: None });
        }
    }
    out.sort_by(|one, other| other.utility.total_cmp(&one.utility));
    out.truncate(MOST);
    out
}

/// The category of a sentence's fact, and its usefulness, 0 to 1.
fn judge(sentence: &str, day: Date, is_short: bool, is_long: bool) -> Option<(Category, f64)> {
    let words = normalize_words(&sentence.to_lowercase());
    let begins = |start: &str| words.strip_prefix(start).is_some_and(|rest| rest.starts_with(' '));
    if ASKS.iter().any(|ask| asks_to_remember(&words, ask, is_short))
        || BEGINNINGS.iter().any(|start| begins(start))
    {
        return Some((of(sentence), 1.0));
    }
    if is_long {
        return None;
    }
    let elsewhere = || offers::is_lasting_fact_in_other_languages(&words).then(|| (of(sentence), 0.9));
    statements::judge(sentence, day).or_else(elsewhere)
}

/// Whether `ask` occurs in these words as a request: not "I remember that …" nor "it's helpful to remember that …".
/// Amid a sentence, and in a message that isn't short, what is to be remembered has to be about the speaker.
fn asks_to_remember(words: &str, ask: &str, is_short: bool) -> bool {
    let Some((before, words_after)) = words.split_once(ask) else { return false };
    let is_own = |word: &str| OWN.contains(&word.split('\'').next().unwrap_or(word));
    let before = before.trim_end();
    let begins = before.split(' ').all(|word| BEFORE_ASKS.contains(&word)) || before.ends_with("you to");
    let follows = words_after.split(' ').nth(1).is_some_and(is_own);
    let is_request = follows || (begins && (is_short || words_after.split(' ').any(is_own)));
    let is_told = !matches!(before.rsplit(' ').next(), Some("i" | "to")) || before.ends_with("you to");
    words_after.starts_with(' ') && is_told && is_request
}

/// The sentence without the request to remember it.
fn without_request(sentence: &str) -> &str {
    for (at, _) in sentence.char_indices().chain([(sentence.len(), ' ')]) {
        let head = normalize_words(&sentence[..at].to_lowercase());
        let (rest, is_lead) = (&sentence[at..], LEADS.contains(&head.as_str()));
        let ends = rest.starts_with(|c: char| !c.is_alphanumeric()) || head.chars().any(is_dense);
        // The longest lead: `remember that`, not `remember`.
        let goes_on = LEADS.iter().any(|lead| {
            let words = normalize_words(&sentence.to_lowercase());
            lead.len() > head.len() && lead.starts_with(head.as_str()) && words.starts_with(lead)
        });
        if is_lead && ends && !goes_on {
            return rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        }
        if head.chars().count() > 30 {
            break;
        }
    }
    sentence
}

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

    const DAY: Date = jiff::civil::date(2026, 11, 22);

    fn texts(said: &str) -> Vec<(Category, String)> {
        extract(said, DAY).into_iter().map(|found| (found.category, found.text)).collect()
    }

    #[test]
    fn what_is_to_be_remembered_is_found_in_several_languages() {
        for (said, category, text) in [
            ("Remember that I only drink green tea.", Category::Preferences, "I only drink green tea."),
            ("Merk dir: Ich wohne in Graz.", Category::Profile, "Ich wohne in Graz."),
            ("Recuerda que vivo en Madrid.", Category::Profile, "vivo en Madrid."),
            ("请记住我住在上海。", Category::Profile, "我住在上海。"),
            (
                "Please remember that the dentist is Doctor Weber.",
                Category::Events,
                "the dentist is Doctor Weber.",
            ),
            ("Call me Al, please.", Category::Profile, "Call me Al, please."),
        ] {
            assert_eq!(texts(said), [(category, text.to_owned())], "{said}");
        }
    }

    #[test]
    fn what_others_said_is_not_the_speakers() {
        for said in [
            "He wrote: \"I only drink green tea.\"",
            "> I live in Graz\n\nok",
            "```\nremember that I live in Graz\n```",
            "Do you remember that I live in Graz?",
            "Remember that my password is hunter2.",
            "I remember that I paid less for it.",
            "It helps to remember that we can learn.",
            "Stay calm and remember that all will be well.",
            "Thanks!",
        ] {
            assert_eq!(texts(said), [], "{said}");
        }
    }

    #[test]
    fn every_quote_stands_in_what_was_said() {
        let said = "I moved to Vienna last week with my wife. **I love** it here, my `cat` too, and my dog is called Rex.";
        let found = extract(said, DAY);
        assert!(!found.is_empty() && found.iter().all(|found| said.contains(&found.quote)), "{found:?}");
    }

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
