//! Defines the errors about times that can't be understood, in words for people.

use jiff::civil::DateTime;

use crate::format::reminder::Recur;

/// A text that can't be taken for a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    /// No rule reads it.
    #[error("can't read `{text}` as a time: {reason}")]
    NotUnderstood {
        /// The given text.
        text: String,
        /// The fault.
        reason: String,
    },
    /// It has more than one meaning.
    #[error("`{}` can be {}", .0, either(.1))]
    Ambiguous(String, Vec<Reading>),
    /// It has passed.
    #[error("`{text}` is in the past: that is {at}, and it is {now} now")]
    Past {
        /// The given text.
        text: String,
        /// Its meaning.
        at: String,
        /// The local time.
        now: String,
    },
    /// The clocks go back and show this time twice; it is the second one that was meant.
    #[error(
        "`{text}` is {at} for the second time that night, which a reminder can't name: it would fire an hour too early"
    )]
    SecondTime {
        /// The given text.
        text: String,
        /// The local time.
        at: String,
    },
    /// It comes again and again, where one time is asked for.
    #[error("`{text}` comes again and again, and one time is asked for here; the first is {first}")]
    Recurs {
        /// The given text.
        text: String,
        /// The first of them.
        first: String,
    },
}

/// One meaning of a phrase that has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The local time.
    pub local: DateTime,
    /// How it comes again.
    pub recur: Recur,
    /// The day and time as they can be typed.
    pub typed: String,
    /// How far away it is.
    pub distance: String,
}

/// The most meanings that are listed.
const TOLD: usize = 4;

fn either(readings: &[Reading]) -> String {
    let shown: Vec<String> = readings
        .iter()
        .take(TOLD)
        .map(|reading| match reading.recur {
            Recur::None => format!("`{}` ({})", reading.typed, reading.distance),
            recur => format!("`{}` ({}, then {recur})", reading.typed, reading.distance),
        })
        .collect();
    shown.join(" or ")
}

impl WhenError {
    /// A remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            WhenError::Ambiguous { .. } => "give the day and the time that you mean, as they stand there",
            WhenError::Recurs { .. } => "leave `every` away",
            _ => WHEN_HINT,
        }
    }
}

/// A correct form, for every other error of this kind.
pub const WHEN_HINT: &str =
    "write it as `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`, `17:00` or `1 april 8:15`";
