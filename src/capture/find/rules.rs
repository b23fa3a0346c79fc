//! Candidates of a turn by rules alone: sentences in which somebody says something of themselves, or asks to have
//! something remembered, in their own words.
//!
//! A turn is looked at where one of its sentences says by its words that it is to last (`remember that …`, in several
//! languages), or where the whole of it is worth a look ([`worth`]). Only the speaker's own words count: no code, no
//! quotation, no question, no secret. What is taken is the sentence as it stands; the leading `remember that` goes. Pure.

use super::worth::worth;
use super::{category, offers};
use crate::capture::Found;
use crate::capture::read::phrase::plain;
use crate::capture::read::quote;
use crate::capture::read::sentences::{as_said, sentences};

/// Who found it, in a record.
pub const NAME: &str = "rules";
/// So many candidates of one turn at most.
pub const MOST: usize = 2;

/// A longer sentence, in characters, is no fact.
const MAX_SENTENCE_CHARS: usize = 400;

/// What asks for remembering, and is no part of what is remembered.
#[rustfmt::skip]
const LEADS: &[&str] = &[
    "please remember that", "please remember", "remember that", "remember", "keep in mind that", "don't forget that",
    "for the record", "note that", "bitte merk dir dass", "merk dir dass", "merk dir", "merke dir dass", "merke dir",
    "denk daran dass", "vergiss nicht dass", "souviens toi que", "souvenez vous que", "retiens que", "n'oublie pas que",
    "recuerda que", "no olvides que", "ricorda che", "ricordati che", "non dimenticare che", "lembre que", "lembre se que",
    "não esqueça que", "onthoud dat", "vergeet niet dat", "kom ihåg att", "husk at", "pamiętaj że", "запомни что",
    "запам'ятай що", "unutma ki", "请记住", "記住", "记住",
];

/// What a turn says that could be remembered, best first; `answers` says that the turn before it asked something.
pub fn found(said: &str, answers: bool) -> Vec<Found> {
    let all = sentences(said);
    let worth = worth(&all, answers);
    let explicit: Vec<usize> = (0..all.len()).filter(|place| offers::lasts(&all[*place])).collect();
    let mut places: Vec<usize> = explicit.clone();
    if worth.score > 0.0 {
        places.extend(worth.best.iter().filter(|place| !explicit.contains(place)));
    }
    let mut out: Vec<Found> = Vec::new();
    for place in places {
        let sentence = all[place].as_str();
        let Some(quoted) = as_said(said, sentence).filter(|quoted| quote::stands(quoted, said)) else {
            continue;
        };
        let text = without_lead(&quoted);
        if out.len() == MOST || !offers::may_last(sentence, MAX_SENTENCE_CHARS) || text.is_empty() {
            continue;
        }
        out.push(Found {
            category: category::of(sentence),
            text: text.to_owned(),
            quote: quoted.clone(),
            utility: if explicit.contains(&place) { 1.0 } else { worth.utility() },
            about: None,
            judged: None,
        });
    }
    out
}

/// The sentence without what asks for remembering it.
fn without_lead(sentence: &str) -> &str {
    for (at, _) in sentence.char_indices().chain([(sentence.len(), ' ')]) {
        let head = plain(&sentence[..at].to_lowercase());
        let (rest, is_lead) = (&sentence[at..], LEADS.contains(&head.as_str()));
        let ends = rest.starts_with(|c: char| !c.is_alphanumeric())
            || head.chars().any(crate::capture::read::phrase::is_dense);
        // The longest lead: `remember that`, not `remember`.
        let goes_on = LEADS.iter().any(|lead| {
            let words = plain(&sentence.to_lowercase());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::candidate::Category;

    fn texts(said: &str) -> Vec<(Category, String)> {
        found(said, false).into_iter().map(|found| (found.category, found.text)).collect()
    }

    #[test]
    fn what_is_to_be_remembered_is_found_in_several_languages() {
        for (said, category, text) in [
            ("Remember that I only drink green tea.", Category::Preferences, "I only drink green tea."),
            ("Merk dir: Ich wohne in Graz.", Category::Profile, "Ich wohne in Graz."),
            ("Recuerda que vivo en Madrid.", Category::Profile, "vivo en Madrid."),
            ("请记住我住在上海。", Category::Profile, "我住在上海。"),
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
            "Thanks!",
        ] {
            assert_eq!(texts(said), [], "{said}");
        }
    }

    #[test]
    fn every_quote_stands_in_what_was_said() {
        let said = "I moved to Vienna last week with my wife. **I love** it here, my `cat` too, and my dog is called Rex.";
        let found = found(said, false);
        assert!(!found.is_empty() && found.iter().all(|found| said.contains(&found.quote)), "{found:?}");
    }
}
