//! Finds candidates for memories in a turn by rules alone: statements of lasting value, in the speaker's own words.
//! Pure.
//!
//! A sentence is a candidate if it asks to be remembered, or makes one of the lasting [`statements`]. In languages
//! other than English the phrases of [`offers`] take the place of these statements. Code, quotations, questions and
//! secrets are never candidates. A long message is a task or pasted text; only sentences that ask to be remembered are
//! taken from it. The sentence is kept as it stands, without a leading `remember that`.
//!
//! A statement has a category of its own. Any other sentence has the first category whose phrases match, in the order
//! cases, patterns, preferences, profile, entities. Without a match it is an event.

use jiff::civil::Date;

use super::{offers, statements};
use crate::capture::ExtractedFact;
use crate::capture::sentences::{
    WORDS, in_order, is_dense, is_verbatim, normalize_words, original_text, sentences,
};
use crate::format::candidate::Category;
use crate::format::strip_mentions;

/// The name of the rules as a finder, in a record.
pub const NAME: &str = "rules";
/// The most candidates of one turn.
pub const MOST: usize = 2;

/// A longer sentence, in characters, is no fact.
const MAX_SENTENCE_CHARS: usize = 300;
/// A longer message, in characters, is a task or pasted.
const MAX_MESSAGE_CHARS: usize = 1000;

/// A longer message, in characters, may be a task, whose conditions are to be kept in mind only for the task.
const MAX_NOTE_CHARS: usize = 200;

/// Phrases that ask for remembering.
const ASKS: &[&str] = &["remember that", "keep in mind that", "don't forget that", "for the record"];
/// Phrases that do so at a sentence's beginning alone: `remember the …?` asks whether something is remembered.
const BEGINNINGS: &[&str] =
    &["please remember", "remember i", "remember i'm", "remember my", "remember we", "remember our"];

/// Words that may stand before them.
const BEFORE_ASKS: &[&str] =
    &["", "please", "and", "also", "but", "so", "oh", "hey", "hi", "ok", "okay", "can", "could", "you"];
/// Words of the speaker.
const OWN: &[&str] = &["i", "me", "my", "mine", "we", "us", "our"];

/// The candidates of a turn, best first; `day` is its date.
pub fn extract(said: &str, day: Date) -> Vec<ExtractedFact> {
    let length = said.chars().count();
    let (is_short, is_long) = (length <= MAX_NOTE_CHARS, length > MAX_MESSAGE_CHARS);
    let mut out: Vec<ExtractedFact> = Vec::new();
    for sentence in sentences(said) {
        // A mention is only a form of address.
        let sentence = strip_mentions(&sentence).trim_start_matches([',', ' ']);
        if !offers::is_candidate_sentence(sentence, MAX_SENTENCE_CHARS) {
            continue;
        }
        let Some((category, utility)) = judge(sentence, day, is_short, is_long) else { continue };
        let Some(quote) = original_text(said, sentence).filter(|quoted| is_verbatim(quoted, said)) else {
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
/// Inside a sentence, and in a message that isn't short, the text to remember has to be about the speaker.
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
    let leads = &WORDS["leads"];
    for (at, _) in sentence.char_indices().chain([(sentence.len(), ' ')]) {
        let head = normalize_words(&sentence[..at].to_lowercase());
        let (rest, is_lead) = (&sentence[at..], leads.contains(&head.as_str()));
        let ends = rest.starts_with(|c: char| !c.is_alphanumeric()) || head.chars().any(is_dense);
        // The longest lead: `remember that`, not `remember`.
        let goes_on = leads.iter().any(|lead| {
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
    // In this order: a sentence may fit several.
    let known =
        [Category::Cases, Category::Patterns, Category::Preferences, Category::Profile, Category::Entities];
    let fits = |category: &Category| WORDS[category.name()].iter().any(|phrase| in_order(&words, phrase));
    known.into_iter().find(fits).unwrap_or(Category::Events)
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
            ("<@500> I live in Graz.", Category::Profile, "I live in Graz."),
            ("<@!500>, remember that I live in Graz <@&6>", Category::Profile, "I live in Graz"),
        ] {
            assert_eq!(texts(said), [(category, text.to_owned())], "{said}");
        }
    }

    #[test]
    fn what_others_said_is_not_the_speakers() {
        for said in [
            "He wrote: \"I only drink green tea.\"",
            "> I live in Graz\n\nok",
            "Look:\n\nForwarded:\n> I live in Graz.\n> My dog is called Rex.",
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
