//! What a question asks for: its terms, the speakers and days it names, and the kind of answer.
//!
//! Pure; the only clock is the `today` that the caller gives.

use jiff::civil::Date;

use crate::embed::{Table, cut};
use crate::search::analyze::stems::{Terms, words};
use crate::search::query::dressed::{is_polite, undressed};

/// Questions longer than this (in bytes) are cut: a pasted page is answered by its beginning.
pub const LONGEST: usize = 4000;
/// Terms beyond this many say nothing new.
const MOST_TERMS: usize = 48;

/// A term of the question and the words that mean nearly the same.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The stem.
    pub term: String,
    /// The word as asked, lower case.
    pub word: String,
    /// Stems of near words with their similarity, 0.5 to 1; never the term itself.
    pub near: Vec<(String, f32)>,
}

/// A day or month that a question names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The year, where it says one.
    pub year: Option<i16>,
    /// 1 to 12.
    pub month: i8,
    /// The day, where it says one.
    pub day: Option<i8>,
}

/// The kind of answer that a question wants, from its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// A time.
    pub time: bool,
    /// A number.
    pub number: bool,
    /// A name of someone or something.
    pub name: bool,
    /// A place.
    pub place: bool,
    /// A reason, a feeling, a meaning.
    pub reason: bool,
    /// Something that happened.
    pub past: bool,
    /// More than one thing.
    pub several: bool,
    /// What the agent said or did.
    pub agent: bool,
    /// Something about the one who asks.
    pub mine: bool,
}

/// A question, taken apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// Its text, cut to [`LONGEST`], without what it is dressed in ([`crate::search::query::dressed`]).
    pub text: String,
    /// All its words, lower case.
    pub words: Vec<String>,
    /// Its terms, each once, in order.
    pub asked: Vec<QueryTerm>,
    /// Days and months.
    pub dates: Vec<Named>,
    /// The kind of answer.
    pub wants: Wants,
}

impl Question {
    /// Takes `text` apart; `today` is what "yesterday" counts from.
    pub fn new(text: &str, today: Date) -> Self {
        let whole = text.trim();
        let mut text = cut(whole, LONGEST);
        // A word cut in two is another word.
        if text.len() < whole.len() {
            text = text.rsplit_once(char::is_whitespace).map_or(text, |(before, _)| before);
        }
        let bare = undressed(text);
        let text = bare.as_str();
        let mut all = Vec::new();
        words(text, |word| all.push(word.to_owned()));
        let (mut terms, table) = (Terms::new(), Table::builtin());
        let mut asked: Vec<QueryTerm> = Vec::new();
        let says_more = all.iter().any(|word| !is_polite(word) && terms.term(word).is_some());
        for word in all.iter().filter(|word| !says_more || !is_polite(word)) {
            let Some(term) = terms.term(word).map(str::to_owned) else { continue };
            if asked.len() == MOST_TERMS || asked.iter().any(|asked| asked.term == term) {
                continue;
            }
            let mut near: Vec<(String, f32)> = Vec::new();
            for (word, likeness) in table.neighbours(word) {
                let Some(stem) = terms.term(word) else { continue };
                if stem != term && !near.iter().any(|(known, _)| known == stem) {
                    near.push((stem.to_owned(), likeness));
                }
            }
            asked.push(QueryTerm { term, word: word.clone(), near });
        }
        let dates = named_dates(&all, today);
        let wants = Wants::of(&all);
        Self { text: text.to_owned(), words: all, asked, dates, wants }
    }

    /// Whether nothing can be looked up.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.dates.is_empty()
    }
}

impl Wants {
    fn of(words: &[String]) -> Self {
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let pair = |first: &[&str], second: &[&str]| {
            words
                .windows(2)
                .any(|pair| first.contains(&pair[0].as_str()) && second.contains(&pair[1].as_str()))
        };
        // "how many weeks ago", "which year", "since when": wherever in the question they stand.
        let time = has(&["when"])
            || pair(&["how"], &["long", "recently", "soon", "often"])
            || pair(&["what", "which"], TIMES)
            || pair(&["many"], TIMES);
        let what = words.iter().position(|word| ["what", "which"].contains(&word.as_str()));
        Self {
            time,
            number: pair(&["how"], &["many", "much", "often", "old", "long", "far", "big", "tall", "high"])
                || pair(&["what"], &["number", "amount", "percentage", "price", "size", "score"]),
            name: has(&["who", "whose", "where", "which", "what"]),
            place: has(&["where"])
                || pair(&["which", "what"], &["city", "country", "state", "place", "town"]),
            reason: has(&["why", "reason", "reasons", "feel", "feels", "meaning"])
                || words.iter().any(|word| {
                    ["inspir", "symboli", "motivat", "describ"].iter().any(|stem| word.starts_with(stem))
                }),
            past: has(&["did", "was", "were", "had", "has"]),
            several: words.len() > 2
                && what.is_some_and(|at| words[at + 1..].iter().take(3).any(|word| is_plural(word))),
            mine: has(&["i", "me", "my", "mine", "we", "our"]),
            agent: pair(&["previous", "earlier", "last", "our", "past"], TALKS)
                || pair(&["did", "have"], &["you"])
                || words.windows(2).any(|pair| pair[0] == "you" && is_said(&pair[1])),
        }
    }
}

const TIMES: &[&str] =
    &["day", "days", "date", "week", "weeks", "weekday", "month", "months", "year", "years", "time"];
const TALKS: &[&str] =
    &["conversation", "chat", "chats", "conversations", "discussion", "session", "talk", "game"];

/// Whether a verb is what somebody said or did.
fn is_said(word: &str) -> bool {
    ["said", "told", "gave", "made", "wrote", "found"].contains(&word)
        || word.len() > 4 && word.ends_with("ed")
}

/// Whether a word looks like a noun in the plural.
fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !["does", "this"].contains(&word)
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The days and months that the words name.
fn named_dates(words: &[String], today: Date) -> Vec<Named> {
    let mut out = Vec::new();
    let at = |index: usize| words.get(index).map(String::as_str);
    let year =
        |index: usize| at(index).filter(|word| word.len() == 4).and_then(|word| word.parse::<i16>().ok());
    let day = |word: Option<&str>| {
        let word = word?;
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let suffix = &word[digits.len()..];
        let day = digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day))?;
        (digits.len() <= 2 && ["", "st", "nd", "rd", "th"].contains(&suffix)).then_some(day)
    };
    for (index, word) in words.iter().enumerate() {
        match word.as_str() {
            "yesterday" => out.extend(today.yesterday().ok().map(of_date)),
            "today" => out.push(of_date(today)),
            "last" => out.extend(at(index + 1).and_then(|unit| last(unit, today))),
            "ago" => {
                let unit = index.checked_sub(1).and_then(at);
                let number = index.checked_sub(2).and_then(at);
                out.extend(unit.zip(number).and_then(|(unit, number)| ago(number, unit, today)));
            }
            _ => {}
        }
        let Some(month) = MONTHS.iter().position(|month| month == word) else { continue };
        let month = i8::try_from(month + 1).unwrap_or(1);
        let before = index.checked_sub(1);
        let with_of = before.filter(|at| words[*at] == "of").and_then(|at| at.checked_sub(1)).or(before);
        if let Some(day) = day(with_of.and_then(at)) {
            out.push(Named { year: year(index + 1), month, day: Some(day) });
        } else if let Some(day) = day(at(index + 1)) {
            out.push(Named { year: year(index + 2), month, day: Some(day) });
        } else {
            // "may" and "march" are verbs, too, unless a year or a preposition makes them a month.
            let year = year(index + 1);
            let led = before.and_then(at).is_some_and(|word| {
                ["in", "of", "during", "since", "until", "by", "last", "this", "early", "late"]
                    .contains(&word)
            });
            if !["may", "march"].contains(&word.as_str()) || year.is_some() || led {
                out.push(Named { year, month, day: None });
            }
        }
    }
    out
}

/// The last such weekday, week or month.
fn last(unit: &str, today: Date) -> Option<Named> {
    const WEEKDAYS: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    if let Some(weekday) = WEEKDAYS.iter().position(|weekday| *weekday == unit) {
        let weekday = jiff::civil::Weekday::from_monday_zero_offset(i8::try_from(weekday).ok()?).ok()?;
        return today.nth_weekday(-1, weekday).ok().map(of_date);
    }
    ago("1", unit, today)
}

/// "Two weeks ago": a day, or a month where months are counted.
fn ago(number: &str, unit: &str, today: Date) -> Option<Named> {
    const NUMBERS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let number = match number {
        "a" | "an" => 1,
        _ => NUMBERS
            .iter()
            .zip(1..)
            .find(|(name, _)| **name == number)
            .map(|(_, n)| n)
            .or(number.parse().ok())?,
    };
    let span = jiff::Span::new();
    match unit.strip_suffix('s').unwrap_or(unit) {
        "day" => today.checked_sub(span.try_days(number).ok()?).ok().map(of_date),
        "week" => today.checked_sub(span.try_weeks(number).ok()?).ok().map(of_date),
        "month" => {
            let then = today.checked_sub(span.try_months(number).ok()?).ok()?;
            Some(Named { day: None, ..of_date(then) })
        }
        _ => None,
    }
}

fn of_date(date: Date) -> Named {
    Named { year: Some(date.year()), month: date.month(), day: Some(date.day()) }
}

impl Named {
    /// How well `date` fits: 1 on the day, fading over three days beside it; 0.4 within a named month.
    pub fn fit(self, date: Date) -> f32 {
        let Some(day) = self.day else {
            let same = date.month() == self.month && self.year.is_none_or(|year| year == date.year());
            return if same { 0.4 } else { 0.0 };
        };
        let Ok(named) = Date::new(self.year.unwrap_or(date.year()), self.month, day) else { return 0.0 };
        let days = date.since(named).map_or(i32::MAX, |span| span.get_days().abs());
        match days {
            0 => 1.0,
            1 => 0.75,
            2 => 0.5,
            3 => 0.25,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn dates(text: &str) -> Vec<Named> {
        Question::new(text, date(2026, 11, 21)).dates
    }

    #[test]
    fn dates_are_found_in_either_order() {
        let day = |year, month, day| Named { year, month, day: Some(day) };
        assert_eq!(dates("on 7 May 2023?"), [day(Some(2023), 5, 7)]);
        assert_eq!(dates("the 3rd of July"), [day(None, 7, 3)]);
        assert_eq!(dates("August 23, 2022"), [day(Some(2022), 8, 23)]);
        assert_eq!(dates("in May"), [Named { year: None, month: 5, day: None }]);
        assert_eq!(dates("may I march"), []);
        assert_eq!(dates("yesterday"), [day(Some(2026), 11, 20)]);
        assert_eq!(dates("40 March 20000"), []);
        // 21 November 2026 is a Saturday.
        assert_eq!(dates("two weeks ago"), [day(Some(2026), 11, 7)]);
        assert_eq!(dates("What did she say last Friday?"), [day(Some(2026), 11, 20)]);
        assert_eq!(dates("last month"), [Named { year: Some(2026), month: 10, day: None }]);
        assert_eq!(dates("ago last 99999999999 days ago"), []);
    }

    #[test]
    fn fits_fade() {
        let named = Named { year: None, month: 2, day: Some(29) };
        assert_eq!(named.fit(date(2024, 3, 1)), 0.75);
        assert_eq!(named.fit(date(2023, 3, 1)), 0.0);
        assert_eq!(Named { year: Some(2023), month: 7, day: None }.fit(date(2023, 7, 31)), 0.4);
    }

    #[test]
    fn kinds_of_answers() {
        let wants = |text| Question::new(text, date(2026, 1, 1)).wants;
        assert!(wants("When did she go?").time && wants("When did she go?").past);
        assert!(wants("Tell me, how many weeks ago was it?").time && wants("And in which year?").time);
        assert!(!wants("How many cats?").time && wants("How many cats?").number);
        assert!(wants("What was the name that you suggested?").agent && !wants("Do you know it?").agent);
        assert!(wants("Which city did he see?").place);
        assert!(wants("What inspired her?").reason);
        assert!(wants("Which cities has she seen?").several && !wants("What does this mean?").several);
        assert_eq!(wants(""), Wants::default());
    }

    #[test]
    fn odd_questions_are_taken() {
        for text in ["", "a", "🎉🎉🎉", &"x".repeat(100_000), "\u{0}\u{301}"] {
            let question = Question::new(text, date(2026, 1, 1));
            assert!(question.text.len() <= LONGEST);
        }
    }
}
