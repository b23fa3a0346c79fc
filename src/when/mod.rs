//! Parses `WHEN`: a time as people type it, in English, German, French, Spanish and Italian.
//!
//! [`lexicon`] splits a phrase into tokens and finds the terms of each language. [`grammar`] finds every parse of the
//! terms. [`resolve`] computes every local time that a parse can mean. Only a phrase with one meaning is accepted. A
//! phrase with several meanings is refused with all of them ([`WhenError::Ambiguous`]), a phrase without any with the
//! reason. [`confirmation()`] words the meaning for confirmation. Pure. `grammar/when.md` documents the grammar,
//! `grammar/vectors/when.json` holds phrases with their meanings.
//!
//! - `term`: meanings of words;
//! - `phrase`: the parsed form of a phrase;
//! - `error`: errors about phrases with several meanings or none, and the reason for none;
//! - `confirmation`: the understood time in words.

mod confirmation;
mod error;
mod grammar;
mod lexicon;
mod phrase;
mod resolve;
mod term;

use jiff::Timestamp;
use jiff::civil::{self, DateTime};

use crate::format::has_shape;
use crate::format::reminder::Recur;
use crate::schedule::{self, Zone};

pub use confirmation::{confirmation, confirmation_of, confirmation_with, day_and_time, distance};
pub use error::{Reading, WHEN_HINT, WhenError};
pub use resolve::Meaning;

use resolve::{MeaningResult, PhraseContext};

/// The longest phrase that is read, in tokens; people type shorter ones.
const MOST_TOKENS: usize = 24;

/// The meaning of `text`: a local time at or after the current minute, and its recurrence. Seconds round up to a
/// minute; a day without a time is 09:00; a time without a day is its next occurrence.
///
/// # Errors
/// It can't be read, has several meanings, or has passed.
pub fn read(text: &str, now: Timestamp, zone: &Zone) -> Result<Meaning, WhenError> {
    let meaning = coming(text.trim(), now, zone)?;
    if schedule::resolve(zone, meaning.local) < meaning.at {
        return Err(WhenError::SecondTime { text: text.trim().to_owned(), at: plain(meaning.local) });
    }
    Ok(meaning)
}

/// The one meaning of a phrase that isn't past.
fn coming(text: &str, now: Timestamp, zone: &Zone) -> Result<Meaning, WhenError> {
    let meaning = one(text, PhraseContext { now, zone, is_past: false })?;
    let local = zone.tz().to_datetime(now);
    let minute = local.date().at(local.hour(), local.minute(), 0, 0);
    let over = meaning.local < minute || meaning.at.duration_until(now) >= jiff::SignedDuration::from_mins(1);
    if meaning.at < now && over {
        return Err(WhenError::Past { text: text.to_owned(), at: plain(meaning.local), now: plain(local) });
    }
    Ok(meaning)
}

/// As [`read`], for a time without recurrence.
///
/// # Errors
/// As [`read`]; or it comes again and again.
pub fn parse_when(text: &str, now: Timestamp, zone: &Zone) -> Result<DateTime, WhenError> {
    once(text, read(text, now, zone)?, now, zone).map(|meaning| meaning.local)
}

/// As [`parse_when`], for a time that is stored as an instant, in whole minutes. An instant can also name the second of
/// two equal local hours.
///
/// # Errors
/// As [`parse_when`], but for that hour.
pub fn parse_instant(text: &str, now: Timestamp, zone: &Zone) -> Result<Meaning, WhenError> {
    let meaning = once(text, coming(text.trim(), now, zone)?, now, zone)?;
    let later = zone.tz().to_ambiguous_timestamp(meaning.local).later().unwrap_or(meaning.at);
    let first = schedule::resolve(zone, meaning.local);
    Ok(Meaning { at: if first < meaning.at { later } else { first }, ..meaning })
}

/// Refuses what comes again and again.
fn once(text: &str, meaning: Meaning, now: Timestamp, zone: &Zone) -> Result<Meaning, WhenError> {
    if meaning.recur == Recur::None {
        return Ok(meaning);
    }
    let first = format!("`{}`", day_and_time(meaning.local, now, zone));
    Err(WhenError::Recurs { text: text.trim().to_owned(), first })
}

/// The instant that `text` means in the past: `yesterday 18:00`, `2 hours ago`, `monday`. A day without a
/// time is its midnight, a time without a day its last occurrence.
///
/// # Errors
/// It can't be read, or has several meanings.
pub fn read_past(text: &str, now: Timestamp, zone: &Zone) -> Result<Timestamp, WhenError> {
    one(text.trim(), PhraseContext { now, zone, is_past: true }).map(|meaning| meaning.at)
}

/// The one meaning of a phrase.
fn one(text: &str, here: PhraseContext<'_>) -> Result<Meaning, WhenError> {
    if text.len() > 200 {
        let shown: String = text.chars().take(40).collect();
        return Err(WhenError::NotUnderstood { text: shown + "…", reason: "it is too long".to_owned() });
    }
    let not = |reason: String| WhenError::NotUnderstood { text: text.to_owned(), reason };
    if text.is_empty() {
        return Err(not("it is empty".to_owned()));
    }
    let tokens = lexicon::tokens(text);
    let lattices = lexicon::lattices(if tokens.len() > MOST_TOKENS { &[] } else { &tokens });
    let reads: Vec<MeaningResult> = match iso(text, here) {
        Some(read) => vec![read],
        None => lattices
            .iter()
            .flat_map(|lattice| {
                let phrases = grammar::read(lattice).into_iter();
                phrases.flat_map(|phrase| resolve::resolve(&phrase, lattice.language, here))
            })
            .collect(),
    };
    let mut meanings: Vec<Meaning> = Vec::new();
    let mut problems: Vec<String> = Vec::new();
    for read in reads {
        match read {
            Ok(new) if meanings.iter().any(|m| (m.local, m.recur) == (new.local, new.recur)) => {}
            Ok(new) => meanings.push(new),
            Err(problem) => problems.push(problem),
        }
    }
    match (meanings.len(), problems.into_iter().next()) {
        (1, _) => Ok(meanings.remove(0)),
        (0, Some(reason)) => Err(not(reason)),
        (0, None) => Err(not(error::reason(&tokens, &lattices))),
        _ => {
            meanings.sort_by_key(|meaning| meaning.local);
            let reading = |meaning: Meaning| Reading {
                typed: day_and_time(meaning.local, here.now, here.zone),
                distance: distance((meaning.local, meaning.at), here.now, here.zone),
                local: meaning.local,
                recur: meaning.recur,
            };
            Err(WhenError::Ambiguous(text.to_owned(), meanings.into_iter().map(reading).collect()))
        }
    }
}

/// Reads unambiguous ISO 8601 and RFC 3339: `2026-12-01T09:30`, with seconds or an offset too.
fn iso(text: &str, here: PhraseContext<'_>) -> Option<MeaningResult> {
    let (date, rest) = text.split_at_checked(10).filter(|(date, _)| has_shape(date, "0000-00-00"))?;
    let no = |what: String| Some(Err(what));
    let Ok(date) = date.parse::<civil::Date>() else { return no(format!("there is no day `{date}`")) };
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(resolve::of_instant(at, here));
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?.trim_start();
    let is_odd = rest.contains(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.'));
    if is_odd || rest.find(':').is_none_or(|at| at < 2) {
        return None;
    }
    match rest.parse::<civil::Time>() {
        Ok(time) => Some(resolve::of_local(date.to_datetime(time), here)),
        Err(_) => no(format!("there is no time `{rest}`")),
    }
}

fn plain(local: DateTime) -> String {
    local.strftime("%Y-%m-%d %H:%M").to_string()
}

impl Meaning {
    /// The recurrence, which may also be given beside the phrase.
    ///
    /// # Errors
    /// Both are said, and differ; in words.
    pub fn recurring(&self, asked: Option<Recur>) -> Result<Recur, String> {
        match (self.recur, asked) {
            (said, None) => Ok(said),
            (Recur::None, Some(asked)) => Ok(asked),
            (said, Some(asked)) if said == asked => Ok(said),
            (said, Some(asked)) => Err(format!(
                "the time says that it comes {said}, and the recurrence that was given is `{asked}`: leave one of them out"
            )),
        }
    }
}
