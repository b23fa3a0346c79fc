//! Makes a summary without a model, by extraction: the highest-scored sentences of the sources, in their order.
//! Extraction can't fail.
//!
//! The candidates are the first sentences of each event, or all sentences of an earlier summary. Small talk and
//! repeated sentences are left out. A sentence's score rises with its rare words, names, numbers, and words of
//! decisions, promises and preferences. The best sentences that fit into the target are kept verbatim; very long
//! sentences are cut.
//!
//! The last line lists topics for a search. Names count more than other words, and so do words that occur in several
//! events but not in many.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::format::cut_at_word;
use crate::format::summary::EXPAND;
use crate::search::analyze::function_words;
use crate::turn::past_context::terms;

/// Characters of a token.
const CHARS: usize = 4;
/// The longest line of an extract, in characters.
const MOST_LINE: usize = 240;
/// Sentences of one event that are candidates; of a summary all are.
const SENTENCES: usize = 4;
/// Topics of the last line.
const TOPICS: usize = 8;
/// Words by which something is settled.
const WEIGHTY: [&str; 16] = [
    "decided", "decide", "agreed", "prefer", "always", "never", "remember", "must", "will", "todo",
    "deadline", "because", "plan", "need", "bought", "moved",
];

/// A sentence or line that may stand in the extract.
struct SentenceCandidate {
    at: usize,
    head: String,
    text: String,
    score: f64,
}

/// A message, or an earlier summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The line before it: author and time.
    pub head: String,
    /// The text.
    pub text: String,
}

/// An extract of at most `target` tokens, with its last line. At depth 0 the sources are events; above, they are
/// summaries, whose lines already name author and time. A source without words gives a line that says so.
pub fn extract(sources: &[SourceText], depth: u32, target: u64) -> String {
    let counts = counts(sources);
    let mut candidates = candidates(sources, depth, &counts);
    let topics = topics(sources, &counts);
    let room = usize::try_from(target).unwrap_or(usize::MAX).saturating_mul(CHARS);
    let room = room.saturating_sub(topics.chars().count() + 2);
    candidates.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.at.cmp(&other.at)));
    let mut used = 0;
    candidates.retain(|one| {
        let size = one.head.chars().count() + one.text.chars().count() + 5;
        let fits = used + size <= room;
        used += if fits { size } else { 0 };
        fits
    });
    candidates.sort_by_key(|one| one.at);
    let lines = candidates.iter().map(|one| match one.head.as_str() {
        "" => format!("- {}\n", one.text),
        head => format!("- {head}: {}\n", one.text),
    });
    let lines: String = lines.collect();
    let lines = if lines.is_empty() { "(Nothing was said in words.)\n".to_owned() } else { lines };
    format!("{lines}\n{topics}")
}

/// In how many of the texts each term occurs.
fn counts(sources: &[SourceText]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for one in sources {
        for term in terms(&one.text).into_iter().collect::<HashSet<_>>() {
            *counts.entry(term).or_insert(0) += 1;
        }
    }
    counts
}

/// The candidates; a repeated sentence counts once.
fn candidates(sources: &[SourceText], depth: u32, counts: &HashMap<String, usize>) -> Vec<SentenceCandidate> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let authors = authors(sources);
    for one in sources {
        let most = if depth == 0 { SENTENCES } else { usize::MAX };
        for (at, sentence) in sentences(&one.text).into_iter().take(most).enumerate() {
            if is_small_talk(&sentence, &authors) || !seen.insert(sentence.to_lowercase()) {
                continue;
            }
            let later = if depth == 0 { 1.0 + 0.25 * small(at) } else { 1.0 };
            let score = score(&sentence, counts, sources.len()) / later;
            let head = if depth == 0 { one.head.clone() } else { String::new() };
            found.push(SentenceCandidate { at: found.len(), head, text: sentence, score });
        }
    }
    found
}

/// The score of a sentence, for its length.
fn score(sentence: &str, counts: &HashMap<String, usize>, texts: usize) -> f64 {
    let all = terms(sentence);
    let own: HashSet<&String> = all.iter().collect();
    let rarity = |term: &&String| {
        let count = counts.get(*term).copied().unwrap_or(1);
        (1.0 + small(texts) / small(count)).ln()
    };
    let rare: f64 = own.iter().map(rarity).sum();
    let words: Vec<&str> = sentence.split(|c: char| !c.is_alphanumeric()).collect();
    let has = |holds: &dyn Fn(&str) -> bool| f64::from(u8::from(words.iter().any(|word| holds(word))));
    let number = has(&|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    let weighty = has(&|word| WEIGHTY.contains(&word.to_lowercase().as_str()));
    let name =
        f64::from(u8::from(words.iter().skip(1).any(|w| w.starts_with(char::is_uppercase) && w.len() > 2)));
    let question = if sentence.ends_with('?') { 0.7 } else { 1.0 };
    (rare + 1.5 * number + 2.0 * weighty + name) * question / (8.0 + small(all.len())).sqrt()
}

#[expect(clippy::cast_precision_loss, reason = "counts of words")]
fn small(count: usize) -> f64 {
    count as f64
}

/// The sentences of a text, each on one line, cut where it is very long. Earlier summaries' last lines are none.
fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.starts_with(EXPAND) && !line.starts_with("```")) {
        let mut rest = line.trim_start_matches(['-', '*', '>', '#', ' ']);
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .zip(rest.chars().skip(1))
                .find(|((at, c), next)| *at > 20 && matches!(c, '.' | '!' | '?') && next.is_whitespace())
                .map_or(rest.len(), |((at, c), _)| at + c.len_utf8());
            let (sentence, after) = rest.split_at(end);
            let sentence = sentence.trim();
            if sentence.chars().any(char::is_alphanumeric) {
                found.push(cut_at_word(sentence, MOST_LINE));
            }
            rest = after.trim_start();
        }
    }
    found
}

/// A word of the texts that may be a topic.
#[derive(Default)]
struct Topic {
    /// As it was written first.
    shown: String,
    /// Its place among all words.
    order: usize,
    /// How often it occurs within a sentence, and how often it is capitalised there.
    inside: (usize, usize),
}

/// `Expand for details about: …`: names first, then the words that came up in several texts but in few of them, the
/// most telling first, as they were written. Function words, small talk and the authors are no topics.
fn topics(sources: &[SourceText], counts: &HashMap<String, usize>) -> String {
    let authors = authors(sources);
    let mut found: HashMap<String, Topic> = HashMap::new();
    for (order, word) in sources.iter().flat_map(|one| words(&one.text)).enumerate() {
        let Some(term) = topic_term(word.text, &authors) else { continue };
        let topic =
            found.entry(term).or_insert_with(|| Topic { shown: word.text.to_owned(), order, inside: (0, 0) });
        if !word.is_first {
            topic.inside.0 += 1;
            topic.inside.1 += usize::from(word.text.starts_with(char::is_uppercase));
        }
    }
    let most = (sources.len() / 8).max(3);
    let weight = |term: &str, topic: &Topic| {
        let count = counts.get(term).copied().unwrap_or(0);
        let (inside, capitalised) = topic.inside;
        let name = if capitalised > 0 && 2 * capitalised > inside { 3.0 } else { 1.0 };
        let spread = if count > most { 0.2 } else { 1.0 };
        name * spread * small(count) * (1.0 + small(sources.len()) / small(count.max(1))).ln()
    };
    let mut ranked: Vec<(f64, &Topic)> =
        found.iter().map(|(term, topic)| (weight(term, topic), topic)).collect();
    ranked.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.order.cmp(&b.order)));
    let mut words: Vec<&str> = Vec::new();
    for (_, topic) in ranked {
        if words.len() < TOPICS && !words.iter().any(|known| known.eq_ignore_ascii_case(&topic.shown)) {
            words.push(&topic.shown);
        }
    }
    let words = if words.is_empty() { "what was said".to_owned() } else { words.join(", ") };
    format!("{EXPAND}{words}.")
}

/// The term of a word that may be a topic.
fn topic_term(word: &str, authors: &HashSet<String>) -> Option<String> {
    let lower = word.to_lowercase();
    let is_short = word.chars().count() < 4 && word.is_ascii();
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    if is_short || is_number || is_stop_word(&lower) || authors.contains(&lower) {
        return None;
    }
    terms(word).into_iter().next()
}

/// Whether a lower-case word is a stop word.
fn is_stop_word(word: &str) -> bool {
    // Words of greetings, thanks and agreement, and others that chats are full of.
    static SMALL_TALK: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("data/small_talk.txt").split_ascii_whitespace().collect());
    function_words::is_one(word) || SMALL_TALK.contains(word)
}

/// Whether a sentence greets, thanks or agrees, and says no more.
fn is_small_talk(sentence: &str, authors: &HashSet<String>) -> bool {
    words(sentence).all(|word| {
        let lower = word.text.to_lowercase();
        let is_author = |author: &String| lower.len() > 2 && author.starts_with(&lower);
        is_stop_word(&lower) || authors.iter().any(is_author)
    })
}

/// The words of those who speak, in lower case.
fn authors(sources: &[SourceText]) -> HashSet<String> {
    sources.iter().flat_map(|one| words(&one.head)).map(|word| word.text.to_lowercase()).collect()
}

/// A word, and whether a sentence begins with it.
struct SentenceWord<'a> {
    text: &'a str,
    is_first: bool,
}

fn words(text: &str) -> impl Iterator<Item = SentenceWord<'_>> {
    let mut is_first = true;
    text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').filter_map(move |piece| {
        let text = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        let text = text.split(['\'', '’']).next().unwrap_or(text);
        let was_first = is_first;
        let ends = piece.ends_with(['.', '!', '?', '\n', ':', '-', '*', '#', '>']);
        is_first = if text.is_empty() { is_first || ends } else { ends };
        (!text.is_empty()).then_some(SentenceWord { text, is_first: was_first })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sources(texts: &[&str]) -> Vec<SourceText> {
        let one = |text: &&str| SourceText { head: "09:00 Alice".into(), text: (*text).to_owned() };
        texts.iter().map(one).collect()
    }

    #[test]
    fn what_says_much_is_kept_in_its_order() {
        let filler = vec!["ok, sounds good to me"; 30];
        let mut texts = vec!["We decided to paint the mast on 3 May. Blue it is."];
        texts.extend(&filler);
        texts.push("Anna prefers oolong, never coffee.");
        let text = extract(&sources(&texts), 0, 60);
        let (mast, tea) = (text.find("paint the mast").unwrap(), text.find("oolong").unwrap());
        assert!(mast < tea && text.contains("\n\nExpand for details about: "), "{text}");
        assert!(text.chars().count().div_ceil(4) <= 60, "{text}");
    }

    #[test]
    fn silence_has_an_extract_too() {
        let text = extract(&sources(&["...", "👍", ""]), 0, 100);
        assert_eq!(text, "(Nothing was said in words.)\n\nExpand for details about: what was said.");
        assert_eq!(extract(&[], 1, 0), text);
    }

    #[test]
    fn topics_are_names_and_rare_words() {
        let texts = [
            "Hey Bob! Thanks so much, that really sounds great.",
            "We went to Lisbon with Caroline. The tram was really great.",
            "Really? I thought Caroline wanted to see the aqueduct.",
            "Well, the aqueduct was great, and Lisbon is always really great!",
            "Thanks, Bob. Good night!",
            "Really great to hear.",
        ];
        let text = extract(&sources(&texts), 0, 400);
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("Expand for details about: Lisbon, Caroline, aqueduct"), "{last}");
        for word in ["really", "great", "Thanks", "thought", "Alice"] {
            assert!(!last.contains(word), "{word}: {last}");
        }
    }

    #[test]
    fn greetings_and_thanks_are_no_sentences() {
        let text = extract(
            &sources(&["Hi Alice, good morning! Thank you so much!", "The boat leaks.", "Danke, gern!"]),
            0,
            400,
        );
        assert!(
            text.contains("The boat leaks.") && !text.contains("morning") && !text.contains("Danke"),
            "{text}"
        );
        assert!(!text.contains("Thank"), "{text}");
    }

    proptest! {
        #[test]
        fn it_never_fails_and_keeps_to_its_target(
            texts in proptest::collection::vec("(?s).{0,80}|([A-Za-z0-9]{1,9}[ .!?\n]){0,40}", 0..20),
            target in 40u64..400,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let text = extract(&sources(&texts), 0, target);
            prop_assert!(!text.trim().is_empty());
            prop_assert!(text.lines().last().unwrap().starts_with(EXPAND));
            let allowed = target.max(u64::try_from(TOPICS * 40).unwrap());
            prop_assert!(text.chars().count() as u64 <= allowed * 4);
        }
    }
}
