//! Decides whether a note may be written now, later, or only after a person has looked at it. Also decides when a
//! written note is read again, in case another program undid the write.
//!
//! An editor saves every few seconds while a person types. So an edit that isn't urgent waits until the note has been
//! unchanged for 5 s, but at most a minute ([`QuietTracker`]). A line gets an id only if it read the same at two
//! readings at least 5 s apart ([`SteadyLines`]). A written note is checked again 5 s and 60 s later ([`FollowUps`]),
//! because an editor's older buffer or a sync may undo the write.
//!
//! A note with a conflicting copy is refused ([`check_copies`]). A note that was suddenly cut short is refused until it
//! has been short for a minute ([`KnownLengths`]). The editor records the length of each note that it wrote, across
//! processes, in `edits/known.json` of the state directory. Without that file a cut is detected only in notes whose
//! length was recorded again.

use blake3::Hash;
use jiff::{SignedDuration, Timestamp};
use rustix::fs::Dir;

use crate::config::json_file;
use crate::vault::prelude::*;
use crate::vault::{EditRefusal, NotePath, Stat, Vault, conflict};

/// The time for which a file must have been empty or short until that is accepted.
const BELIEVED_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// The number of notes whose lengths are remembered.
const REMEMBERED: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownLength {
    len: u64,
    seen: Timestamp,
    /// The length that it shrank to, and since when.
    shrunk: Option<(u64, Timestamp)>,
}

/// The recorded lengths of notes.
#[derive(Debug)]
pub(in crate::vault) struct KnownLengths {
    file: PathBuf,
    /// Which version of the file was read or written last; another process may have replaced it.
    version: Option<(u64, i64)>,
    notes: BTreeMap<NotePath, KnownLength>,
}

impl KnownLengths {
    pub(in crate::vault) fn load(edits: &Path) -> Self {
        let file = edits.join("known.json");
        let mut this = Self { file, version: None, notes: BTreeMap::new() };
        this.refresh();
        this
    }

    fn version_on_disk(&self) -> Option<(u64, i64)> {
        let metadata = std::fs::metadata(&self.file).ok()?;
        Some((metadata.ino(), metadata.mtime_nsec()))
    }

    /// Reads the lengths that other processes have written.
    fn refresh(&mut self) {
        let version = self.version_on_disk();
        if version.is_some() && version != self.version {
            self.notes = json_file::load(&self.file).unwrap_or_default();
            self.version = version;
        }
    }

    /// Records the length of a note that passed its checks.
    pub(in crate::vault) fn accept(&mut self, path: &NotePath, len: u64, now: Timestamp) {
        self.refresh();
        let known = self.notes.get(path);
        // Small changes are not worth a write; only half of the length matters.
        let close =
            known.is_some_and(|known| known.shrunk.is_none() && known.len.abs_diff(len) <= known.len / 8);
        self.notes.insert(path.clone(), KnownLength { len, seen: now, shrunk: None });
        if !close {
            self.save();
        }
    }

    /// Whether the note had content when it was last seen.
    pub(in crate::vault) fn knows(&self, path: &NotePath) -> bool {
        self.notes.get(path).is_some_and(|known| known.len > 0)
    }

    pub(in crate::vault) fn forget(&mut self, path: &NotePath) {
        if self.notes.remove(path).is_some() {
            self.save();
        }
    }

    /// Refuses a file that is suddenly empty or less than half its length, until it has been so for a minute.
    pub(in crate::vault) fn check(
        &mut self,
        path: &NotePath,
        stat: &Stat,
        now: Timestamp,
    ) -> Result<(), EditRefusal> {
        self.refresh();
        let len = stat.size;
        let Some(known) = self.notes.get_mut(path) else {
            let mtime = Timestamp::from_nanosecond(i128::from(stat.mtime_ns)).unwrap_or(Timestamp::MAX);
            let settled = now.duration_since(mtime) >= BELIEVED_AFTER;
            if len > 0 || settled {
                return Ok(());
            }
            return Err(EditRefusal::Empty(path.clone()));
        };
        let before = known.len;
        let lost = len == 0 && before > 0 || len < before.div_ceil(2);
        if !lost {
            if known.shrunk.take().is_some() {
                self.save();
            }
            return Ok(());
        }
        let since = match known.shrunk {
            Some((to, since)) if to == len => since.min(now),
            _ => now,
        };
        if now.duration_since(since) >= BELIEVED_AFTER {
            return Ok(());
        }
        if known.shrunk.replace((len, since)) != Some((len, since)) {
            self.save();
        }
        Err(if len == 0 {
            EditRefusal::Empty(path.clone())
        } else {
            EditRefusal::Shrunk { path: path.clone(), before, now: len }
        })
    }

    fn save(&mut self) {
        while self.notes.len() > REMEMBERED {
            let oldest = self.notes.iter().min_by_key(|(_, known)| known.seen).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                self.notes.remove(&oldest);
            }
        }
        let saved = json_file::save(&self.file, &self.notes);
        self.version = self.version_on_disk();
        if let Err(error) = saved {
            tracing::warn!(%error, "the lengths of the notes could not be remembered");
        }
    }
}

/// Refuses a note that has a conflicting copy beside it in the open folder `dir`.
pub(in crate::vault) fn check_copies(path: &NotePath, dir: &OwnedFd) -> Result<(), EditRefusal> {
    // A copy's name begins with that of its original, which few names in a folder do.
    let is_copy = |name: &str| {
        name.starts_with(path.stem()) && conflict::original_of(name).as_deref() == Some(path.file_name())
    };
    let Some(copy) = beside(path, dir, is_copy) else { return Ok(()) };
    Err(EditRefusal::ConflictCopy { path: path.clone(), copy })
}

/// A note beside this one in the open folder `dir` whose name differs in the case of letters alone.
pub(in crate::vault) fn other_case(path: &NotePath, dir: &OwnedFd) -> Option<NotePath> {
    let own = path.file_name();
    beside(path, dir, |name| name != own && name.eq_ignore_ascii_case(own))
}

fn beside(path: &NotePath, dir: &OwnedFd, is_it: impl Fn(&str) -> bool) -> Option<NotePath> {
    names(dir).find(|name| is_it(name)).map(|name| path.beside(&name).unwrap_or_else(|| path.clone()))
}

/// The names in an open folder, in no order.
fn names(dir: &OwnedFd) -> impl Iterator<Item = String> + use<> {
    let items = Dir::read_from(dir).into_iter().flatten().flatten();
    items.filter_map(|item| item.file_name().to_str().ok().map(str::to_owned))
}

impl Vault {
    /// The files in the folder of a note whose names alone show that they are conflict copies.
    pub fn conflict_copies_beside(&self, path: &NotePath) -> Vec<NotePath> {
        let Ok(place) = self.locate(path) else { return Vec::new() };
        let copies = names(&place.dir).filter(|name| conflict::is_conflict_copy(name));
        copies.filter_map(|name| path.beside(&name)).collect()
    }
}

/// The time for which a note, or a line, must have been unchanged.
pub const STILL: SignedDuration = SignedDuration::from_secs(5);
/// The longest wait for that.
pub const AT_MOST: SignedDuration = SignedDuration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
struct LastSeen {
    hash: Hash,
    since: Timestamp,
    wanted: Option<Timestamp>,
}

/// Records how long each note has been unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuietTracker {
    notes: BTreeMap<NotePath, LastSeen>,
}

impl QuietTracker {
    /// Records that a note had this hash at `now`. The first reading counts as a change.
    pub fn observe(&mut self, path: &NotePath, hash: Hash, now: Timestamp) {
        match self.notes.get_mut(path) {
            // A clock that was set back must not make the note wait for hours.
            Some(seen) if seen.hash == hash => seen.since = seen.since.min(now),
            Some(seen) => (seen.hash, seen.since) = (hash, now),
            None => {
                self.notes.insert(path.clone(), LastSeen { hash, since: now, wanted: None });
            }
        }
    }

    /// Records our own write: the note has a new hash, but doesn't count as changed.
    pub fn record_own_write(&mut self, path: &NotePath, hash: Hash) {
        let since = self.notes.get(path).map_or(Timestamp::MIN, |seen| seen.since);
        self.notes.insert(path.clone(), LastSeen { hash, since, wanted: None });
    }

    /// Records that an edit that isn't urgent waits; from now on it waits at most a minute.
    pub fn start_waiting(&mut self, path: &NotePath, now: Timestamp) {
        if let Some(seen) = self.notes.get_mut(path) {
            let wanted = seen.wanted.get_or_insert(now);
            *wanted = (*wanted).min(now);
        }
    }

    /// The time at which the edit may be made, if nothing else writes the note until then.
    pub fn ready_at(&self, path: &NotePath) -> Option<Timestamp> {
        let seen = self.notes.get(path)?;
        let quiet = seen.since.checked_add(STILL).ok()?;
        let latest = seen.wanted.and_then(|wanted| wanted.checked_add(AT_MOST).ok());
        Some(latest.map_or(quiet, |latest| quiet.min(latest)))
    }
}

/// Records how long each line of one note has been unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SteadyLines {
    since: BTreeMap<Vec<u8>, Timestamp>,
}

impl SteadyLines {
    /// Records the lines of the note at `now`; other lines are forgotten.
    pub fn observe<'a>(&mut self, lines: impl IntoIterator<Item = &'a [u8]>, now: Timestamp) {
        let mut before = std::mem::take(&mut self.since);
        for line in lines {
            let since = before.remove(line).map_or(now, |since| since.min(now));
            self.since.entry(line.to_vec()).or_insert(since);
        }
    }

    /// Whether the line has been unchanged for at least 5 s.
    pub fn is_steady(&self, line: &[u8], now: Timestamp) -> bool {
        self.steady_at(line).is_some_and(|at| at <= now)
    }

    /// Since when the line has been unchanged; `None` if there is no such line.
    pub fn since(&self, line: &[u8]) -> Option<Timestamp> {
        self.since.get(line).copied()
    }

    /// The time at which the line will have been unchanged for 5 s; `None` if there is no such line.
    pub fn steady_at(&self, line: &[u8]) -> Option<Timestamp> {
        self.since.get(line)?.checked_add(STILL).ok()
    }
}

/// The times after a write at which the note is checked again.
pub const LOOKS: [SignedDuration; 2] = [SignedDuration::from_secs(5), SignedDuration::from_secs(60)];

/// The pending checks. Pure: time is an argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FollowUps {
    looks: BTreeSet<(Timestamp, NotePath)>,
}

impl FollowUps {
    /// Schedules the checks of a note that was written at `now`, 5 s and 60 s later.
    pub fn record_write(&mut self, path: &NotePath, now: Timestamp) {
        for after in LOOKS {
            if let Ok(at) = now.checked_add(after) {
                self.looks.insert((at, path.clone()));
            }
        }
    }

    /// Takes the notes to check now, each once. If the clock was set back, a check that is more than a minute ahead is
    /// due at once.
    pub fn due(&mut self, now: Timestamp) -> BTreeSet<NotePath> {
        let horizon = now.checked_add(LOOKS[1]).unwrap_or(Timestamp::MAX);
        let (due, later): (BTreeSet<_>, BTreeSet<_>) =
            std::mem::take(&mut self.looks).into_iter().partition(|(at, _)| *at <= now || *at > horizon);
        self.looks = later;
        due.into_iter().map(|(_, path)| path).collect()
    }

    /// When the next look is due.
    pub fn next(&self) -> Option<Timestamp> {
        self.looks.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn quiet_is_five_seconds_without_a_change() {
        let note = NotePath::new("Reminders.md").unwrap();
        let mut quiet = QuietTracker::default();
        assert_eq!(quiet.ready_at(&note), None);
        quiet.observe(&note, blake3::hash(b"1"), at(0));
        assert_eq!(quiet.ready_at(&note), Some(at(5)));
        quiet.observe(&note, blake3::hash(b"2"), at(6));
        assert_eq!(quiet.ready_at(&note), Some(at(11)));
        quiet.observe(&note, blake3::hash(b"2"), at(11));
        assert_eq!(quiet.ready_at(&note), Some(at(11)));
    }

    #[test]
    fn a_wish_waits_a_minute_at_most() {
        let note = NotePath::new("Reminders.md").unwrap();
        let mut quiet = QuietTracker::default();
        quiet.observe(&note, blake3::hash(b"0"), at(0));
        quiet.start_waiting(&note, at(0));
        for second in (3_i32..60).step_by(3) {
            quiet.observe(&note, blake3::hash(&second.to_le_bytes()), at(second.into()));
            quiet.start_waiting(&note, at(second.into()));
            assert!(quiet.ready_at(&note) > Some(at(second.into())));
        }
        assert_eq!(quiet.ready_at(&note), Some(at(60)));
        quiet.record_own_write(&note, blake3::hash(b"ours"));
        assert_eq!(quiet.ready_at(&note), Some(at(62)));
    }

    #[test]
    fn lines_are_steady_after_two_looks() {
        let mut lines = SteadyLines::default();
        lines.observe([&b"a"[..], b"b"], at(0));
        lines.observe([&b"a"[..], b"b2"], at(5));
        assert!(lines.is_steady(b"a", at(5)));
        assert!(!lines.is_steady(b"b2", at(5)) && !lines.is_steady(b"b", at(5)));
        lines.observe([&b"b2"[..]], at(7));
        lines.observe([&b"a"[..], b"b2"], at(10));
        assert!(!lines.is_steady(b"a", at(10)) && lines.is_steady(b"b2", at(10)));
    }

    #[test]
    fn a_write_is_looked_at_twice() {
        let note = NotePath::new("Reminders.md").unwrap();
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let mut looks = FollowUps::default();
        looks.record_write(&note, at(0));
        assert_eq!(looks.next(), Some(at(5)));
        assert!(looks.due(at(4)).is_empty());
        assert_eq!(looks.due(at(5)).len(), 1);
        assert!(looks.due(at(59)).is_empty());
        assert_eq!(looks.due(at(60)).len(), 1);
        assert_eq!(looks.next(), None);
    }

    #[test]
    fn a_clock_set_back_brings_them_forward() {
        let note = NotePath::new("Reminders.md").unwrap();
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let mut looks = FollowUps::default();
        looks.record_write(&note, at(0));
        assert_eq!(looks.due(at(-3_600)).len(), 1);
        assert_eq!(looks.next(), None);
    }
}
