//! Makes one-time codes: an address carries a code until the code was exchanged for a session.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::listen::secret;

/// A code is good for so long.
const GOOD_FOR: SignedDuration = SignedDuration::from_secs(60);
/// So many wrong codes in [`WITHIN`], and no more are looked at.
const MOST_WRONG: usize = 10;
/// In which time.
const WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// The validity of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum Tried {
    /// It was good, and is used now.
    Good,
    /// There is no such code, or it was used, or its time is over.
    Wrong,
    /// There were too many wrong ones: it wasn't looked at.
    TooMany,
}

/// The codes that are good now, as hashes, and the wrong ones of the last minute.
#[derive(Debug, Default)]
pub(in crate::web) struct Codes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    good: Vec<(String, Timestamp)>,
    wrong: Vec<Timestamp>,
}

impl Codes {
    /// A new code of 128 bits, and until when it is good.
    pub(in crate::web) fn make(&self, now: Timestamp) -> std::io::Result<(String, Timestamp)> {
        let code = secret::random::<16>()?;
        let until = now + GOOD_FOR;
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.good.retain(|(_, until)| *until > now);
        state.good.push((secret::hash(&code), until));
        Ok((code, until))
    }

    /// Uses a code up.
    pub(in crate::web) fn try_code(&self, code: &str, now: Timestamp) -> Tried {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back brings no old mistakes back.
        state.wrong.retain(|at| now.duration_since(*at).abs() < WITHIN);
        if state.wrong.len() >= MOST_WRONG {
            return Tried::TooMany;
        }
        state.good.retain(|(_, until)| *until > now);
        let hash = secret::hash(code);
        let before = state.good.len();
        state.good.retain(|(good, _)| *good != hash);
        if state.good.len() < before {
            return Tried::Good;
        }
        state.wrong.push(now);
        Tried::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_for_a_minute() {
        let codes = Codes::default();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let (code, until) = codes.make(now).unwrap();
        assert_eq!((code.len(), until), (32, now + GOOD_FOR));
        assert_eq!(codes.try_code(&code, now), Tried::Good);
        assert_eq!(codes.try_code(&code, now), Tried::Wrong);
        let (code, until) = codes.make(now).unwrap();
        assert_eq!(codes.try_code(&code, until), Tried::Wrong);
    }

    #[test]
    fn ten_wrong_codes_in_a_minute_are_enough() {
        let codes = Codes::default();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let (code, _) = codes.make(now).unwrap();
        for _ in 0..MOST_WRONG {
            assert_eq!(codes.try_code("x", now), Tried::Wrong);
        }
        assert_eq!(codes.try_code(&code, now), Tried::TooMany);
        let later = now + WITHIN;
        let (code, _) = codes.make(later).unwrap();
        assert_eq!(codes.try_code(&code, later), Tried::Good);
    }
}
