//! Lists function words of languages other than English, and detects a question's language by them. Function words show
//! the form of a question, not its subject.
//!
//! The language is the one with the most function words in the question, if it has more than English has. Words are
//! lower case. Pure.

#[cfg(feature = "assistant")]
use std::{collections::HashSet, sync::LazyLock};

use crate::search::analyze::stems::STOP;
#[cfg(feature = "assistant")]
use crate::search::analyze::stems::STOP_WORDS;

const GERMAN: &str = "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den \
    denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines \
    er es etwas euch für gibt habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihren im in ins ist ja jede jedem \
    jeden jeder jedes kann kannst kein keine keinen können könnte man mein meine meinem meinen mich mir mit muss nach nicht \
    noch nur ob oder ohne sehr seid sein seine seit sich sie sind so soll sollte sondern über um und uns unser unter viel \
    viele vom von vor war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werden weshalb wie \
    wieder wieso will wir wird wo woher wohin wurde würde zu zum zur oft wann";
const FRENCH: &str = "au aux avec ce ces cet cette combien comme comment dans de des donc du elle elles en est et était eu \
    fait il ils j je l la le les leur leurs lui ma mais me même mes moi mon n ne nos notre nous on ont ou où par pas \
    peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sur ta te tes \
    toi ton tu un une vos votre vous y à ça été être";
const SPANISH: &str = "al algo algún ante antes aquí como con cuál cuáles cuándo cuando cuánto cuántos cómo de del desde donde \
    dónde el él ella ellos en entre era es esa ese eso esta está este esto fue ha había han hay la las le les lo los mas \
    más me mi mis muy no nos o para pero por porque puede puedo que qué quien quién se ser si sin sobre son soy su sus \
    también te tiene tu tus un una unos y ya";
const ITALIAN: &str = "ai al alla alle anche che chi ci come con cosa cui da dal dalla degli dei del della delle di dove due e è \
    era gli ha hai hanno ho i il in io la le lei lo loro lui ma mi mia mio ne nel nella noi non o per perché più può \
    quale quali quando quanto quanti questa questo se si sono su sul sulla suo sua ti tra tu un una uno vi voi";
const PORTUGUESE: &str = "a ao aos as com como da das de do dos e é ela ele em entre era essa esse esta está este eu foi há isso \
    já lhe mais mas me meu minha muito na não nas no nos nós o onde os ou para pela pelo pode por porque posso qual quais \
    quando quanto quantos que quem se sem ser seu sua são também te tem um uma você";
const DUTCH: &str = "aan als bij dan dat de deze die dit doe door een en er geen had heb hebben heeft het hij hoe hoeveel ik in is \
    je jij kan kun maar me met mij mijn moet na naar niet nog of om onder ons ook op over te tot u uit van veel voor waar \
    waarom wanneer was wat we welk welke werd wie wij wil worden zal ze zich zij zijn zo";
const LANGUAGES: [&str; 6] = [GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, DUTCH];

/// So many words are few.
const FEW: usize = 3;

/// Their codes of ISO 639-1.
const CODES: [&str; 6] = ["de", "fr", "es", "it", "pt", "nl"];

/// The language that `words` are in, by its code; none where function words don't say it: there are fewer than two, or
/// another language has as many.
pub(in crate::search) fn language(words: &[String]) -> Option<&'static str> {
    let count = |list: &str| {
        let list: Vec<&str> = list.split_ascii_whitespace().collect();
        words.iter().filter(|word| list.contains(&word.as_str())).count()
    };
    let others = CODES.into_iter().zip(LANGUAGES.map(count));
    let mut all: Vec<(&str, usize)> = std::iter::once(("en", count(STOP))).chain(others).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    (all[0].1 >= 2 && all[0].1 > all[1].1).then_some(all[0].0)
}

/// The function words of the language that `words` are in: English, too, where it is that one. Of few words, one that
/// another language has for one tells nothing: "great war" isn't German.
pub(in crate::search) fn of(words: &[String]) -> Vec<&'static str> {
    let list = |text: &'static str| text.split_ascii_whitespace().collect::<Vec<&str>>();
    let count = |list: &[&str]| words.iter().filter(|word| list.contains(&word.as_str())).count();
    let mut best = list(STOP);
    let mut most = count(&best).max(usize::from(words.len() <= FEW));
    for language in LANGUAGES.map(list) {
        let count = count(&language);
        if count > most {
            (best, most) = (language, count);
        }
    }
    best
}

/// Whether a lower-case word is a function word of any of these languages.
#[cfg(feature = "assistant")]
pub(crate) fn is_one(word: &str) -> bool {
    static OTHERS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| LANGUAGES.into_iter().flat_map(str::split_ascii_whitespace).collect());
    STOP_WORDS.contains(word) || OTHERS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_told_by_its_function_words() {
        let has = |text: &str, word| {
            let words: Vec<String> = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
            of(&words).contains(&word)
        };
        assert!(has("wie sichere ich die daten", "die") && has("die hard with a vengeance", "with"));
        assert!(!has("die hard with a vengeance", "die") && !has("", "die"));
        let language = |text: &str| language(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(language("wie sichere ich die daten"), Some("de"));
        assert_eq!(language("who repaired the boiler when it was broken"), Some("en"));
        assert_eq!(language("boiler the"), None);
        assert!(has("où est la clé de la maison", "la") && has("¿dónde está el libro de mi abuela", "el"));
    }
}
