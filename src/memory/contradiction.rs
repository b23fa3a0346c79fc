//! Decides whether two facts contradict each other, by their words. Pure.
//!
//! Two facts contradict each other in two cases:
//! - They differ by a negation only.
//! - They give different values for a property that has one value at a time, such as a home or a name, but not a taste.

use super::wording::normal;

/// Words that take back.
#[rustfmt::skip]
const NOT: &[&str] = &[
    "not", "no", "never", "don't", "doesn't", "isn't", "longer", "anymore", "any", "more", "nicht", "kein", "keine", "nie",
    "mehr", "pas", "plus", "jamais", "ne", "nunca", "ya", "non", "più", "mai", "não", "mais", "niet", "geen", "не", "больше",
];

/// Words for properties with one value at a time: a new value replaces the old one. (One can like tea and coffee; one
/// lives in Graz or in Vienna.)
#[rustfmt::skip]
const SINGLE: &[&str] = &[
    "live", "lives", "living", "moved", "work", "works", "working", "name", "called", "named", "birthday", "born", "prefer",
    "prefers", "favorite", "favourite", "address", "phone", "number", "wohne", "wohnt", "lebe", "lebt", "arbeite",
    "arbeitet", "heiße", "heißt", "bevorzuge", "bevorzugt", "geburtstag", "habite", "travaille", "m'appelle", "s'appelle",
    "préfère", "vivo", "vive", "trabajo", "trabaja", "llamo", "llama", "prefiero", "prefiere", "abito", "abita", "lavoro",
    "lavora", "chiamo", "chiama", "preferisco", "preferisce", "moro", "mora", "trabalho", "trabalha", "chamo", "chama",
    "prefiro", "prefere", "woon", "woont", "werk", "werkt", "heet", "bor", "jobbar", "heter", "живу", "живёт", "работаю",
    "работает", "зовут",
];

/// The words of a fact, as they are compared.
pub fn words(text: &str) -> Vec<String> {
    let normal = normal(text);
    let words = normal.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether a fact denies something.
pub fn is_negated(words: &[String]) -> bool {
    words.iter().any(|word| NOT.contains(&word.as_str()))
}

/// Whether two facts give different values for the same thing. They begin alike, with a word that has one value at a
/// time, and end differently (`lives in Graz`, `lives in Vienna`), or they differ only by a negation.
pub fn is_other_value(new: &[String], old: &[String]) -> bool {
    let alike = new.iter().zip(old).take_while(|(a, b)| a == b).count();
    let (shorter, longer) = (new.len().min(old.len()), new.len().max(old.len()));
    let single = new[..alike].iter().any(|word| SINGLE.contains(&word.as_str()));
    let begin_alike = single && alike >= 2 && alike < shorter && 2 * alike >= longer;
    let bare = |words: &[String]| -> Vec<String> {
        words.iter().filter(|word| !NOT.contains(&word.as_str())).cloned().collect()
    };
    begin_alike || is_negated(new) != is_negated(old) && bare(new) == bare(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_contradicts_begins_alike_or_denies() {
        let differ = |one: &str, other: &str| is_other_value(&words(one), &words(other));
        assert!(differ("lives in Vienna", "Lives in Graz."));
        assert!(differ("my dog is called Rex", "my dog is called Bello"));
        assert!(!differ("I don't like tea", "I don't like tea anymore"));
        assert!(differ("likes tea", "likes no tea"));
        for (one, other) in [
            ("likes green tea with honey", "likes green tea"),
            ("I like tea", "I like coffee"),
            ("my dog is seven years old", "my dog is called Rex"),
            ("went to Graz", "likes tea"),
            ("I like tea", "I like long walks along the river on Sundays"),
            ("same", "same"),
        ] {
            assert!(!differ(one, other), "{one} / {other}");
        }
    }
}
