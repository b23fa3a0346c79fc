//! Chooses the brain to ask first and the next brain after each failure, and the length of a failed brain's cooldown.
//! Pure: the chain, the health of brains, the failed attempts and the time are arguments.
//!
//! The caller begins without failed attempts, and calls [`next`] until there is a reply or no brain is left.
//! [`record`] changes [`BrainHealth`] by the result of a call; a store keeps it between turns.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::health::{BrainHealth, FailureCount};
use crate::brain::{BrainError, FailureClass};

pub use super::health::BrainId;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Pauses after a rate limit that names none, and after time-outs.
const PAUSES: [i64; 4] = [MINUTE, 5 * MINUTE, 25 * MINUTE, 60 * MINUTE];
/// The first pause of an empty account; it doubles to a day.
const BILLING_PAUSE: i64 = 5 * HOUR;
/// How many time-outs in a row pause a brain.
const TIMEOUTS_BEFORE_PAUSE: u32 = 3;

/// The next brain to ask, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrainAttempt {
    /// The index in the chain.
    pub index: usize,
    /// The index among the brain's keys.
    pub key: usize,
    /// The request was too long: make it shorter.
    pub shrink: bool,
    /// All brains are in cooldown; this one is tried all the same, because its cooldown ends first.
    pub last_resort: bool,
}

/// An attempt of this walk that brought no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The attempt.
    pub attempt: BrainAttempt,
    /// How it failed.
    pub class: FailureClass,
    /// [`BrainError::too_long`].
    pub too_long: bool,
}

/// Whether a brain may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// Yes.
    Free,
    /// Not before an instant.
    Until(FailureClass, Timestamp),
    /// Not before its settings or its key change.
    Off(FailureClass),
}

/// The longest time by which a recorded failure may lie ahead of the clock (negative: ahead).
const CLOCK_AHEAD: SignedDuration = SignedDuration::from_mins(-10);

/// The next brain to ask; `None` if none is left, or where the last one declined, which is an answer.
pub fn next(
    chain: &[BrainId],
    health: &BrainHealth,
    tried: &[FailedAttempt],
    now: Timestamp,
) -> Option<BrainAttempt> {
    if let Some(last) = tried.last() {
        let again = last.attempt;
        let same = || tried.iter().filter(|tried| tried.attempt.index == again.index);
        match last.class {
            FailureClass::Refusal => return None,
            FailureClass::Auth => {
                if let Some(key) =
                    chain.get(again.index).and_then(|brain| usable_key(brain, again.index, health, tried))
                {
                    return Some(BrainAttempt { key, ..again });
                }
            }
            FailureClass::Format if last.too_long && !same().any(|tried| tried.attempt.shrink) => {
                return Some(BrainAttempt { shrink: true, ..again });
            }
            _ => {}
        }
    }
    let untried = |at: &usize| {
        let asked = |tried: &FailedAttempt| {
            chain.get(tried.attempt.index).is_some_and(|brain| brain.brain == chain[*at].brain)
        };
        !tried.iter().any(asked)
    };
    let attempt = |at: usize, last_resort: bool| {
        let key = usable_key(&chain[at], at, health, tried)?;
        Some(BrainAttempt { index: at, key, shrink: false, last_resort })
    };
    let well = (0..chain.len())
        .filter(untried)
        .find(|at| availability(health, &chain[*at], now) == Availability::Free);
    if let Some(at) = well {
        return attempt(at, false);
    }
    if !tried.is_empty() {
        return None;
    }
    let ends = |at: usize| match availability(health, &chain[at], now) {
        Availability::Until(_, until) => Some((until, at)),
        _ => None,
    };
    let (_, first) = (0..chain.len()).filter_map(ends).min()?;
    attempt(first, true)
}

/// Whether its account was found empty less than an hour ago. Runs every few minutes without a waiting person
/// skip such a brain; a person's question tries it as the last resort.
pub fn was_just_empty(health: &BrainHealth, brain: &BrainId, now: Timestamp) -> bool {
    let row = health.row(brain, FailureClass::Billing);
    row.is_some_and(|row| (0..HOUR).contains(&now.duration_since(row.at).as_secs()))
}

/// The first key that wasn't refused, neither before nor in this walk.
fn usable_key(brain: &BrainId, at: usize, health: &BrainHealth, tried: &[FailedAttempt]) -> Option<usize> {
    let refused = health.row(brain, FailureClass::Auth).filter(|row| row.settings == brain.settings);
    let refused = |key: &String| refused.is_some_and(|row| row.keys.contains(key));
    let failed = |key: usize| {
        tried.iter().any(|t| t.attempt.index == at && t.attempt.key == key && t.class == FailureClass::Auth)
    };
    (0..brain.keys.len()).find(|key| !refused(&brain.keys[*key]) && !failed(*key))
}

/// Whether `brain` may be asked.
pub fn availability(health: &BrainHealth, brain: &BrainId, now: Timestamp) -> Availability {
    if usable_key(brain, 0, health, &[]).is_none() {
        return Availability::Off(FailureClass::Auth);
    }
    let whole = brain.fingerprint();
    let rows = || health.rows.iter().filter(|row| row.is_of(brain) && row.settings == whole);
    if rows().any(|row| row.class == FailureClass::UnknownModel) {
        return Availability::Off(FailureClass::UnknownModel);
    }
    // A failure later than now was recorded while the clock was ahead.
    let cooling = rows().filter(|row| now.duration_since(row.at) > CLOCK_AHEAD);
    let cooling = cooling.filter_map(|row| Some((row.until.filter(|until| *until > now)?, row.class)));
    cooling.max().map_or(Availability::Free, |(until, class)| Availability::Until(class, until))
}

/// Records the result of a call of `links[at]` with its key `key`: an error, or none for an answer. `links` are all
/// brains, since an empty account concerns every brain that shares it.
pub fn record(
    health: &mut BrainHealth,
    links: &[BrainId],
    at: usize,
    key: usize,
    error: Option<&BrainError>,
    now: Timestamp,
) {
    let Some(brain) = links.get(at) else { return };
    let Some(error) = error else { return succeeded(health, links, brain, key, now) };
    if error.cancelled {
        return;
    }
    let seen = health.seen.entry(brain.brain.clone()).or_default();
    seen.last_error = Some(error.message.clone());
    seen.failed = Some(now);
    let asked = error.retry_after.map(|wait| seconds(wait).min(DAY));
    match error.class {
        FailureClass::Billing => {
            let count = streak(health, brain, FailureClass::Billing, now) + 1;
            let pause = BILLING_PAUSE.saturating_mul(1 << (count - 1).min(4)).min(DAY);
            for brain in links.iter().filter(|other| other.account == brain.account) {
                health.record(row(brain, error, count, Some(pause), now));
            }
        }
        FailureClass::Timeout | FailureClass::Overloaded => {
            let [late, overloaded] = [FailureClass::Timeout, FailureClass::Overloaded]
                .map(|class| streak(health, brain, class, now));
            let own = if error.class == FailureClass::Timeout { late } else { overloaded };
            let in_a_row = late + overloaded + 1;
            let pause =
                in_a_row.checked_sub(TIMEOUTS_BEFORE_PAUSE).map(|over| asked.unwrap_or(step(over + 1)));
            health.record(row(brain, error, own + 1, pause, now));
        }
        FailureClass::Auth if brain.keys.get(key).is_some_and(|key| !key.is_empty()) => {
            let refused = health.row(brain, FailureClass::Auth).filter(|row| row.settings == brain.settings);
            let mut keys = refused.map(|row| row.keys.clone()).unwrap_or_default();
            keys.extend(brain.keys.get(key).filter(|key| !keys.contains(key)).cloned());
            let row =
                FailureCount { keys, settings: brain.settings.clone(), ..row(brain, error, 1, None, now) };
            health.record(row);
        }
        // Without a key of ours a program's own login is missing, and nothing here shows when a person logs in.
        FailureClass::RateLimit | FailureClass::Auth => {
            let count = streak(health, brain, error.class, now) + 1;
            health.record(row(brain, error, count, Some(asked.unwrap_or(step(count))), now));
        }
        FailureClass::UnknownModel => health.record(row(brain, error, 1, None, now)),
        // The next turn asks again.
        FailureClass::Format | FailureClass::Refusal | FailureClass::Crash => {}
    }
}

/// An answer: the pauses start over.
fn succeeded(health: &mut BrainHealth, links: &[BrainId], brain: &BrainId, key: usize, now: Timestamp) {
    health.seen.entry(brain.brain.clone()).or_default().last_ok = Some(now);
    let pays = |row: &FailureCount| {
        row.class == FailureClass::Billing
            && links.iter().any(|other| other.account == brain.account && row.is_of(other))
    };
    // A key that was refused stays so while another one answers.
    health.rows.retain(|row| !pays(row) && (!row.is_of(brain) || row.class == FailureClass::Auth));
    if let Some(good) = brain.keys.get(key) {
        for row in health.rows.iter_mut().filter(|row| row.is_of(brain)) {
            row.keys.retain(|key| key != good);
        }
        health
            .rows
            .retain(|row| row.class != FailureClass::Auth || !row.is_of(brain) || !row.keys.is_empty());
    }
}

/// How often this failure has happened in a row, without a success or a quiet day in between.
fn streak(health: &BrainHealth, brain: &BrainId, class: FailureClass, now: Timestamp) -> u32 {
    let Some(row) = health.row(brain, class).filter(|row| row.settings == brain.fingerprint()) else {
        return 0;
    };
    // A brain in cooldown can't fail: a pause of a day isn't a quiet day.
    let pause = row.until.map_or(0, |until| until.duration_since(row.at).as_secs());
    let quiet = SignedDuration::from_secs(DAY.max(2 * pause));
    if now.duration_since(row.at) >= quiet { 0 } else { row.count }
}

fn step(count: u32) -> i64 {
    PAUSES[(count.saturating_sub(1) as usize).min(PAUSES.len() - 1)]
}

fn row(brain: &BrainId, error: &BrainError, count: u32, pause: Option<i64>, now: Timestamp) -> FailureCount {
    FailureCount {
        brain: brain.brain.clone(),
        model: brain.model.clone(),
        class: error.class,
        until: pause.and_then(|pause| now.checked_add(SignedDuration::from_secs(pause)).ok()),
        count,
        at: now,
        settings: brain.fingerprint(),
        keys: Vec::new(),
    }
}

/// Whole seconds, rounded up: a provider that says 1.5 s is asked after 2.
fn seconds(wait: Duration) -> i64 {
    i64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(DAY)
}

#[cfg(test)]
mod tests;
