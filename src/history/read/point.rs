//! Resolves points in the history: a snapshot's id, a time, or a step back from the newest.
//!
//! Also finds the first snapshot after a time. Commits carry whole seconds, so a time alone doesn't exclude what a turn
//! changed within that second. For that case, the snapshot before the turn's own snapshots is found.

use jiff::{Timestamp, civil};

use crate::clock;
use crate::history::prelude::*;
use crate::history::store::HistoryStore;
#[cfg(feature = "assistant")]
use crate::history::store::{CONVERSATION, turn_of};
use crate::history::{Commit, History, HistoryError, Result};
use crate::when::{self, WhenError};

/// The instant that `text` means: RFC 3339, a date with or without a time, or words such as
/// `yesterday 18:00` and `2 hours ago`. Local times are in `zone`.
///
/// # Errors
/// It is no time, or it is several.
pub fn parse_time(text: &str, now: Timestamp, zone: &Zone) -> std::result::Result<Timestamp, WhenError> {
    let text = text.trim();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant);
    }
    // A date without a time is parsed as its midnight, but so would a time with an offset be cut.
    if let Ok(time) = text.parse::<civil::DateTime>()
        && let Ok(instant) = zone.tz().to_timestamp(time)
    {
        return Ok(instant);
    }
    when::read_past(text, now, zone)
}

impl History {
    /// The snapshot that `text` names: an id or its beginning (at least four characters), `HEAD`,
    /// `HEAD~2`, or a time, for which the last snapshot up to then holds.
    ///
    /// # Errors
    /// It names nothing, more than one thing, a time before the first snapshot, or one that lies ahead.
    pub fn point(&self, text: &str) -> Result<Commit> {
        let store = self.store();
        let head = store.head()?.ok_or(HistoryError::Empty)?;
        if let Some(steps) = steps_back(text) {
            let commit = store.commits(Some(head)).nth(steps);
            return commit.ok_or_else(|| unknown(text))?;
        }
        if let Some(commit) = by_prefix(&store, head, text)? {
            return Ok(commit);
        }
        let now = self.now();
        let time = parse_time(text, now, self.zone()).map_err(|error| match error {
            WhenError::NotUnderstood { .. } => unknown(text),
            error => HistoryError::When(error),
        })?;
        if time > now {
            let words = "lies ahead; no snapshot says what will be: name a time that is past";
            return Err(HistoryError::BeyondHistory(format!("`{text}` {words}")));
        }
        let mut first = now;
        for commit in store.commits(Some(head)) {
            let commit = commit?;
            // A commit that was made while the clock stood in 1970 is later than its time.
            let was_right = clock::is_plausible(commit.time) || !clock::is_plausible(time);
            // Commits carry whole seconds: one made within the second that was asked for counts.
            if was_right && commit.time.as_second() <= time.as_second() {
                return Ok(commit);
            }
            first = first.min(commit.time);
        }
        let first = show(first, self.zone());
        let words = format!("`{text}` is before the first snapshot, which was taken {first}");
        Err(HistoryError::BeyondHistory(words))
    }

    /// The snapshot before those that this turn made within the second of `time`; none where it made none. Commits carry
    /// whole seconds, so [`History::point`] counts these as made by then.
    ///
    /// # Errors
    /// The history can't be read.
    #[cfg(feature = "assistant")]
    pub fn point_before_turn(&self, time: Timestamp, turn: &str) -> Result<Option<Commit>> {
        let mut before = None;
        let mut is_own = false;
        let store = self.store();
        for commit in store.commits(store.head()?) {
            let commit = commit?;
            let second = commit.time.as_second().cmp(&time.as_second());
            let made = commit.message.trailer(CONVERSATION).and_then(turn_of);
            let was_own = std::mem::replace(&mut is_own, second.is_eq() && made == Some(turn));
            if was_own {
                before = Some(commit);
            }
            if second.is_lt() {
                break;
            }
        }
        Ok(before)
    }

    /// The first snapshot after `time`: a change that a request was made from may be in no earlier one.
    ///
    /// # Errors
    /// The history can't be read.
    #[cfg(feature = "assistant")]
    pub fn point_after(&self, time: Timestamp) -> Result<Option<Commit>> {
        let mut after = None;
        let store = self.store();
        for commit in store.commits(store.head()?) {
            let commit = commit?;
            if commit.time.as_second() <= time.as_second() {
                break;
            }
            after = Some(commit);
        }
        Ok(after)
    }

    /// The newest snapshot.
    pub fn newest(&self) -> Result<Commit> {
        self.point("HEAD")
    }
}

fn unknown(text: &str) -> HistoryError {
    HistoryError::UnknownPoint(format!(
        "`{text}` is neither a snapshot's id nor a time; try `yesterday 18:00`, `2 hours ago`, RFC 3339, or an id that `history` shows"
    ))
}

fn steps_back(text: &str) -> Option<usize> {
    let rest = text
        .strip_prefix("HEAD")
        .or_else(|| text.strip_prefix('@'))
        .or_else(|| text.starts_with('~').then_some(text))?;
    match rest {
        "" => Some(0),
        "^" | "~" => Some(1),
        _ => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// Only commits of the branch count: what an interrupted write left behind was never a snapshot.
fn by_prefix(store: &HistoryStore, head: Oid, text: &str) -> Result<Option<Commit>> {
    let plausible = (4..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if !plausible {
        return Ok(None);
    }
    let prefix = text.to_ascii_lowercase();
    let mut found: Option<Commit> = None;
    for commit in store.commits(Some(head)) {
        let commit = commit?;
        if commit.id.to_string().starts_with(&prefix) {
            if found.is_some() {
                return Err(HistoryError::UnknownPoint(format!(
                    "`{text}` is the beginning of more than one snapshot's id; give more characters"
                )));
            }
            found = Some(commit);
        }
    }
    Ok(found)
}

/// A time as people read it: local, to the second.
pub(crate) fn show(time: Timestamp, zone: &Zone) -> String {
    time.to_zoned(zone.tz().clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let (now, zone) = ("2026-11-21T10:00:00Z".parse().unwrap(), Zone::get("Europe/London").unwrap());
        let at = |text| parse_time(text, now, &zone).ok().map(|time| time.to_string());
        for (text, instant) in [
            ("yesterday 18:00", "2026-11-20T18:00:00Z"),
            ("2 hours ago", "2026-11-21T08:00:00Z"),
            ("30 minutes ago", "2026-11-21T09:30:00Z"),
            ("2026-11-20T18:00:00+01:00", "2026-11-20T17:00:00Z"),
            ("2026-11-20T18:00:00Z", "2026-11-20T18:00:00Z"),
            ("2026-07-20 18:00", "2026-07-20T17:00:00Z"),
            ("2026-11-20", "2026-11-20T00:00:00Z"),
            ("3 days ago", "2026-11-18T10:00:00Z"),
            ("now", "2026-11-21T10:00:00Z"),
        ] {
            assert_eq!(at(text).as_deref(), Some(instant), "{text}");
        }
        for text in ["soonish", "", "deadbeef", "12345"] {
            assert_eq!(at(text), None, "{text}");
        }
    }

    #[test]
    fn steps_back_from_the_newest() {
        assert_eq!(steps_back("HEAD"), Some(0));
        assert_eq!(steps_back("HEAD~3"), Some(3));
        assert_eq!(steps_back("~2"), Some(2));
        assert_eq!(steps_back("@^"), Some(1));
        assert_eq!(steps_back("HEADS"), None);
    }
}
