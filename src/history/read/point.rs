//! Resolves points in the history: a snapshot's id, a time, or a step back from the newest.

use git2::Oid;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned, civil};

use crate::history::error::{HistoryError, Result};
use crate::history::store::{Commit, HistoryStore, short_id};
use crate::history::take::History;
use crate::schedule::Zone;
use crate::when::{self, WhenError};

/// A resolved point.
#[derive(Debug, Clone)]
pub struct Point {
    /// The snapshot that holds there.
    pub commit: Commit,
}

impl Point {
    /// The short id that `history` shows.
    pub fn short(&self) -> String {
        short_id(self.commit.id)
    }
}

/// The instant that `text` means: RFC 3339, a date with or without a time, or words such as
/// `yesterday 18:00` and `2 hours ago`. Local times are in `now`'s zone.
///
/// # Errors
/// It is no time, or it is several.
pub fn parse_time(text: &str, now: &Zoned) -> std::result::Result<Timestamp, WhenError> {
    let text = text.trim();
    let zone = now.time_zone();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant);
    }
    // A date without a time is parsed as its midnight, but so would a time with an offset be cut.
    if let Ok(time) = text.parse::<civil::DateTime>()
        && let Ok(instant) = zone.to_timestamp(time)
    {
        return Ok(instant);
    }
    let zone = Zone::get(zone.iana_name().unwrap_or("UTC"))
        .map_err(|error| WhenError::NotUnderstood { text: text.to_owned(), reason: error.to_string() })?;
    when::read_past(text, now.timestamp(), &zone)
}

impl History {
    /// The snapshot that `text` names: an id or its beginning (at least four characters), `HEAD`,
    /// `HEAD~2`, or a time, for which the last snapshot up to then holds.
    ///
    /// # Errors
    /// It names nothing, more than one thing, a time before the first snapshot, or one that lies ahead.
    pub fn point(&self, text: &str) -> Result<Point> {
        let store = self.store();
        let head = store.head()?.ok_or(HistoryError::Empty)?;
        let found = |commit| Ok(Point { commit });
        if let Some(steps) = steps_back(text) {
            let commit = store.commits(Some(head)).nth(steps);
            return found(commit.ok_or_else(|| unknown(text))??);
        }
        if let Some(commit) = by_prefix(&store, head, text)? {
            return found(commit);
        }
        let now = self.now().to_zoned(self.zone().clone());
        let time = parse_time(text, &now).map_err(|error| match error {
            WhenError::NotUnderstood { .. } => unknown(text),
            error => HistoryError::When(error),
        })?;
        if time > now.timestamp() {
            let words = "lies ahead; no snapshot says what will be: name a time that is past";
            return Err(HistoryError::BeyondHistory(format!("`{text}` {words}")));
        }
        let mut first = time;
        for commit in store.commits(Some(head)) {
            let commit = commit?;
            // Commits carry whole seconds: one made within the second that was asked for counts.
            if commit.time.as_second() <= time.as_second() {
                return found(commit);
            }
            first = commit.time;
        }
        let first = show(first, self.zone());
        let words = format!("`{text}` is before the first snapshot, which was taken {first}");
        Err(HistoryError::BeyondHistory(words))
    }

    /// The newest snapshot.
    pub fn newest(&self) -> Result<Point> {
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
pub(crate) fn show(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let now: Zoned = "2026-11-21T10:00:00[Europe/London]".parse().unwrap();
        let at = |text| parse_time(text, &now).ok().map(|time| time.to_string());
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
