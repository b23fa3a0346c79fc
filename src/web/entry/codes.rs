//! Makes one-time codes: an address carries a code until the code was exchanged for a session.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::listen::secret;
use crate::web::answer::PageError;

/// A code is good for so long.
const GOOD_FOR: SignedDuration = SignedDuration::from_secs(60);
/// So many wrong codes in [`WITHIN`], and no more are looked at.
const MOST_WRONG: usize = 10;
/// In which time.
const WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// The codes that are good now, as hashes, and the wrong ones of the last minute.
#[derive(Debug, Default)]
pub(in crate::web) struct LoginCodes(Mutex<CodeState>);

#[derive(Debug, Default)]
struct CodeState {
    good: Vec<(String, Timestamp)>,
    wrong: Vec<Timestamp>,
}

impl LoginCodes {
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
    ///
    /// # Errors
    /// There is no such code, it was used, or its time is over; or it wasn't looked at, after too many wrong ones.
    pub(in crate::web) fn try_code(&self, code: &str, now: Timestamp) -> Result<(), PageError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back brings no old mistakes back.
        state.wrong.retain(|at| now.duration_since(*at).abs() < WITHIN);
        if state.wrong.len() >= MOST_WRONG {
            let words = "there were too many wrong codes; none is looked at for a minute";
            return Err(PageError::new(429, words));
        }
        state.good.retain(|(_, until)| *until > now);
        let hash = secret::hash(code);
        let before = state.good.len();
        state.good.retain(|(good, _)| *good != hash);
        if state.good.len() < before {
            return Ok(());
        }
        state.wrong.push(now);
        Err(PageError::new(401, "this address was used already, or its minute is over")
            .hint("type `vault-agent web` again: each address lets one browser in, once"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(tried: Result<(), PageError>) -> Option<u16> {
        tried.err().map(|problem| problem.status)
    }

    #[test]
    fn a_code_is_good_once_and_for_a_minute() {
        let codes = LoginCodes::default();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let (code, until) = codes.make(now).unwrap();
        assert_eq!((code.len(), until), (32, now + GOOD_FOR));
        assert_eq!(codes.try_code(&code, now), Ok(()));
        assert_eq!(status(codes.try_code(&code, now)), Some(401));
        let (code, until) = codes.make(now).unwrap();
        assert_eq!(status(codes.try_code(&code, until)), Some(401));
    }

    #[test]
    fn ten_wrong_codes_in_a_minute_are_enough() {
        let codes = LoginCodes::default();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let (code, _) = codes.make(now).unwrap();
        for _ in 0..MOST_WRONG {
            assert_eq!(status(codes.try_code("x", now)), Some(401));
        }
        assert_eq!(status(codes.try_code(&code, now)), Some(429));
        let later = now + WITHIN;
        let (code, _) = codes.make(later).unwrap();
        assert_eq!(codes.try_code(&code, later), Ok(()));
    }
}
