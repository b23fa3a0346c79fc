//! Finds English statements that are worth keeping for a year. The statements are about identity, relations,
//! possessions, preferences, decisions, rules and habits, promises, and events on a future date. Pure.
//!
//! A sentence is cut into clauses. Most statements are recognised by the beginning of a clause ("my wife works …", "we
//! decided to …"); words such as `actually` are skipped. So most remarks, questions and praise in passing are left out.
//! A few phrases and patterns count anywhere in the sentence. The lists of phrases were chosen on a part of the
//! labelled conversations; the others are held out to measure the results (`labels/README.md`).

use std::sync::LazyLock;

use jiff::civil::Date;
use regex_lite::Regex;

use crate::capture::sentences::{WORDS, in_order, normalize_words};
use crate::format::MONTHS_LOWER;
use crate::format::candidate::Category;

/// The beginnings of a clause that make a statement (`phrases`), the words after them that make none (`unless`), and
/// the statement's confidence.
struct Opening {
    category: Category,
    weight: f64,
    phrases: &'static [&'static str],
    unless: &'static [&'static str],
}

static OPENINGS: LazyLock<Vec<Opening>> = LazyLock::new(|| {
    let known: [(Category, f64, &[&str], &str); 8] = [
        (Category::Profile, 0.95, &["paying", "in"], "identity"),
        (Category::Profile, 0.95, &[], "home"),
        (Category::Profile, 0.85, &["something", "this", "it", "your", "that"], "part of"),
        (Category::Profile, 0.9, &["the", "different", "scratch", "home", "in", "into"], "life"),
        (Category::Entities, 0.8, &["on", "about", "today"], "decisions"),
        (Category::Events, 0.8, &[], "promises"),
        (Category::Patterns, 0.8, &[], "rules"),
        (Category::Preferences, 0.9, &["to", "how", "it", "that", "this", "the"], "tastes"),
    ];
    let opening = |(category, weight, unless, list): (_, _, &'static [&'static str], &str)| {
        let phrases = WORDS[format!("opening: {list}").as_str()].as_slice();
        Opening { category, weight, phrases, unless }
    };
    known.into_iter().map(opening).collect()
});

/// The categories of phrases that count anywhere in a sentence, and their lists.
const HOLDING: [(Category, &str); 3] = [
    (Category::Preferences, "holding: preferences"),
    (Category::Profile, "holding: profile"),
    (Category::Entities, "holding: entities"),
];

/// Beginnings of a clause that refer to another sentence.
const POINTERS: [&str; 8] = ["this", "that", "these", "those", "it", "it's", "that's", "they"];
/// The same for a name with this ending.
const OF_NAMES: [&str; 2] = ["'s name is", "'s birthday is"];

/// Words that begin another clause if a subject follows.
const JOINTS: &[&str] =
    &["and", "but", "because", "since", "so", "although", "though", "that", "while", "'cause", "cause"];
struct Patterns {
    /// Of a clause, each with the category and the confidence of its statement.
    clauses: [(Regex, Category, f64); 7],
    since_young: Regex,
    friend: Regex,
    named: Regex,
    ahead: Regex,
    month: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let pattern = |text: String| Regex::new(&text).expect("a constant pattern");
    let [kin, roles, adverbs] = ["kin", "roles", "adverbs"].map(|list| WORDS[list].join("|"));
    let (days, months) = ("(?:mon|tues|wednes|thurs|fri|satur|sun)day", MONTHS_LOWER.join("|"));
    let verbs = "works|lives|named|called|turned|graduated|hates|prefers|likes|loves|teaches|studies|moved|live|love|plays|\
        (?:is|are) (?:called|named)|got (?:married|engaged)|passed away|was born|has a|\
        is (?:allergic|getting|expecting|pregnant|vegan|vegetarian|an?)";
    let count = r"(?:an?|one|two|three|four|five|\d+)";
    Patterns {
        clauses: [
            (pattern(format!(r"^(?:my|our) (?:[^ ]+ ){{0,2}}(?:{kin}) (?:(?:{adverbs}) )*(?:{verbs})(?: |$)")), Category::Entities, 0.9),
            (pattern(format!(r"^(?:i|we) (?:do |also )?have {count} (?:[^ ]+ ){{0,2}}(?:kids?|child|children|sons?|daughters?|sisters?|brothers?|siblings|dogs?|cats?|pets|turtles|year old)(?: |$)")), Category::Profile, 0.9),
            (pattern(format!(r"^(?:i'm|i am) (?:[^ ]+ ){{0,2}}an? (?:.* )?(?:{roles})(?: |$)|^as an? (?:.* )?(?:{roles})$")), Category::Profile, 0.9),
            (pattern(r"^(?:i've|i have|we've) been [a-z]+ing .*\bfor (?:about |almost |over |nearly |around |the past )?(?:a|\d+|two|three|four|five|six|seven|eight|nine|ten|many|several|some|a few) (?:years?|decades?)\b|^i started .* years ago".to_owned()), Category::Profile, 0.8),
            (pattern(r"\b(?:run|running|have|having|opened|started|launched) my own (?:[a-z]+ )?(?:business|studio|store|shop|company|brand|agency|startup|bakery|restaurant|practice|firm)\b".to_owned()), Category::Profile, 0.85),
            (pattern(format!(r"^(?:i|i've|we|we've) (?:(?:{adverbs}) )*started .*\b(?:class|classes|lessons|course)\b")), Category::Profile, 0.75),
            (pattern(format!(r"^(?:[^ ]+ ){{0,3}}?(?:i|i've|we|we've) (?:(?:{adverbs}) )*(?:been (?:taking|playing|going|attending|doing|practicing|teaching|volunteering|running|swimming|meal prepping|helping)|have|attend|play|go|water|take|teach|volunteer|started) .* on {days}s(?: |$)")), Category::Patterns, 0.75),
        ],
        since_young: pattern(r"\b(?:i've|i have) .*\bsince (?:i was (?:a |little|young|\d)|childhood|high school|college)".to_owned()),
        friend: pattern(format!(r"\b[Mm]y (?:\w+ )?(?:friend|colleague|coworker|neighbor|instructor|roommate),? [A-Z]\w+(?:,? who (?:is|has|got|just|recently|lives|works|moved)|,? who's|'s (?:wedding|birthday|graduation|debut|baby))|\b[Mm]y best friend,? [A-Z][a-z]+|\bI have an? (?:\w+ )?(?:friend|colleague|neighbor|{kin}) who(?:'s| is| has| works| lives)")),
        named: pattern(format!(r"\b(?:[Mm]y|[Oo]ur) (?:\w+ )?(?:{kin}),? [A-Z][a-z]+\b|\b[A-Z][a-z]+, my (?:\w+ )?(?:{kin})\s*[,.;:!)]|\b(?:[Hh]ave|[Gg]ot|adopted|our) (?:an? |two |three )?(?:[\w-]+ )?(?:{kin}) (?:named|called) [A-Z]")),
        ahead: pattern(format!(r"\b(?:tomorrow|next (?:week|month|year|weekend|summer|spring|fall|autumn|winter|{days})|this (?:coming )?{days}|(?:on|by) (?:the )?(?:\d|{days})|in (?:two|three|four|a few|\d+) (?:days|weeks|months)|(?:weeks?|weekends?|months?) (?:later|from now))")),
        month: pattern(format!(r"\b(?:on|by|in|in early|in mid|in late) (?:the )?(?:(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?({months})(?: (\d{{1,2}})(?:st|nd|rd|th)?)?\b")),
    }
});

/// The category of a sentence's statement on a day, and its confidence, 0 to 1; `None` for no statement.
pub(super) fn judge(sentence: &str, day: Date) -> Option<(Category, f64)> {
    let words = normalize_words(&sentence.to_lowercase());
    let clauses = clauses(sentence);
    let mut out: Option<(Category, f64)> = None;
    let mut take = |category: Category, weight: f64| {
        if out.is_none_or(|(_, best)| weight > best) {
            out = Some((category, weight));
        }
    };
    for clause in &clauses {
        for Opening { category, weight, phrases, unless } in &*OPENINGS {
            let rest = phrases.iter().find_map(|phrase| words_after(clause, phrase));
            if rest.is_some_and(|rest| rest.first().is_none_or(|word| !unless.contains(word))) {
                take(*category, *weight);
            }
        }
        let joined = clause.join(" ");
        for (pattern, category, weight) in &PATTERNS.clauses {
            if pattern.is_match(&joined) && !(clause[0] == "as" && clause.len() > 7) {
                take(*category, *weight);
            }
        }
        if is_planned(clause) && is_ahead(&joined, day) {
            take(Category::Events, 0.7);
        }
    }
    for (category, list) in HOLDING {
        if WORDS[list].iter().any(|phrase| in_order(&words, phrase))
            && !clauses.iter().all(|clause| POINTERS.contains(&clause[0].as_str()))
        {
            take(category, 0.9);
        }
    }
    if OF_NAMES.iter().any(|phrase| format!("{words} ").contains(&format!("{phrase} "))) {
        take(Category::Entities, 0.9);
    }
    if PATTERNS.since_young.is_match(&words) {
        take(Category::Profile, 0.85);
    }
    if PATTERNS.named.is_match(sentence) || PATTERNS.friend.is_match(sentence) {
        take(Category::Entities, 0.85);
    }
    out
}

/// The clauses of a sentence, each as its words in small letters.
fn clauses(sentence: &str) -> Vec<Vec<String>> {
    let lower = sentence.to_lowercase().replace('’', "'").replace(" - ", ",");
    let mut out = Vec::new();
    for part in lower.split([',', ';', ':', '(', ')', '–', '—', '…', '!', '.']) {
        let words = normalize_words(part);
        let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        let mut clause: Vec<String> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).map_or("", |next| next.split('\'').next().unwrap_or(""));
            if JOINTS.contains(word) && matches!(next, "i" | "we" | "my" | "our") {
                out.push(std::mem::take(&mut clause));
            } else {
                clause.push((*word).to_owned());
            }
        }
        out.push(clause);
    }
    out.into_iter().map(without_fillers).filter(|clause| !clause.is_empty()).collect()
}

fn without_fillers(mut clause: Vec<String>) -> Vec<String> {
    loop {
        let is_said = clause.first().is_some_and(|word| word == "i")
            && clause.get(1).is_some_and(|word| matches!(word.as_str(), "think" | "mean"));
        if clause.len() > 4 && is_said {
            clause.drain(..2);
        } else if clause.len() > 3 && WORDS["fillers"].contains(&clause[0].as_str()) {
            clause.remove(0);
        } else {
            return clause;
        }
    }
}

/// The words of a clause after a phrase that it begins with; adverbs in between are skipped.
fn words_after<'c>(clause: &'c [String], phrase: &str) -> Option<Vec<&'c str>> {
    let mut words = clause.iter().map(String::as_str).peekable();
    for part in phrase.split(' ') {
        while words.next_if(|word| *word != part && WORDS["adverbs"].contains(word)).is_some() {}
        words.next_if_eq(&part)?;
    }
    Some(words.collect())
}

fn is_planned(clause: &[String]) -> bool {
    let is_own =
        matches!(clause[0].as_str(), "my" | "our") && clause.iter().any(|word| word == "is" || word == "are");
    is_own || WORDS["plans"].iter().any(|plan| words_after(clause, plan).is_some())
}

/// Whether words name a time after a day. A month without a day is at most eight months ahead.
fn is_ahead(words: &str, day: Date) -> bool {
    let by_month = PATTERNS.month.captures(words).and_then(|groups| {
        let month =
            MONTHS_LOWER.iter().position(|month| groups.get(2).is_some_and(|it| it.as_str() == *month))?;
        let of_month = groups.get(1).or(groups.get(3)).and_then(|it| it.as_str().parse::<i8>().ok());
        let months = (i32::try_from(month).ok()? + 12 - (i32::from(day.month()) - 1)) % 12;
        Some(match (months, of_month) {
            (0, Some(of_month)) => of_month >= day.day(),
            (months, _) => months <= 8,
        })
    });
    by_month.unwrap_or_else(|| PATTERNS.ahead.is_match(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sentence: &str) -> Option<Category> {
        judge(sentence, jiff::civil::date(2026, 11, 22)).map(|(category, _)| category)
    }

    #[test]
    fn what_lasts_is_a_statement() {
        for (sentence, category) in [
            ("I live in Graz, and my dog is called Rex.", Category::Profile),
            ("Well, I actually work as a nurse.", Category::Profile),
            ("I'm a retired teacher.", Category::Profile),
            ("I have two kids.", Category::Profile),
            ("My younger sister works for a brewery.", Category::Entities),
            ("I walked there with my cat, Luna.", Category::Entities),
            ("My sister's birthday is 3 May.", Category::Entities),
            ("I prefer short answers.", Category::Preferences),
            ("Green tea is my favorite!", Category::Preferences),
            ("We decided to use SQLite for the cache.", Category::Entities),
            ("I promise to bring the book.", Category::Events),
            ("We play chess on Thursdays.", Category::Patterns),
            ("I've just started taking salsa classes.", Category::Profile),
            ("My friend David, who's a photographer, came too.", Category::Entities),
            ("I've been dancing since I was a kid.", Category::Profile),
            ("I've been playing the cello for six years.", Category::Profile),
        ] {
            assert_eq!(of(sentence), Some(category), "{sentence}");
        }
    }

    #[test]
    fn an_event_has_a_date_that_lies_ahead() {
        for sentence in [
            "I'm flying to Oslo next Friday.",
            "We're hosting a party on 5 December.",
            "My exam is on the 30th.",
            "I have an appointment in March.",
        ] {
            assert_eq!(of(sentence), Some(Category::Events), "{sentence}");
        }
        for sentence in [
            "We had a party on Friday.",
            "I'm having fun.",
            "Yesterday we went to the lake.",
            "I have a photo of it from on 5 October.",
            "I'm going over what we did in October.",
        ] {
            assert_eq!(of(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn small_talk_and_tasks_are_none() {
        for sentence in [
            "I love it!",
            "That sounds great, my friend.",
            "I prefer it that way.",
            "This one is one of my favorites.",
            "It works, I promise.",
            "I'll try it on Sundays.",
            "My build is failing again.",
            "Thanks, I think you are right.",
            "Write an email to my boss.",
            "I went to the gym and it was fun.",
        ] {
            assert_eq!(of(sentence), None, "{sentence}");
        }
    }
}
