//! Checks that the history is complete and was not rewritten.
//!
//! Every check compares the end of the branch with the list of snapshots that is kept outside the repository
//! (`store::ledger`). Every check also finds grafts, replacement refs and other files by which plain git would show
//! another history. The [`CheckDepth`] selects the further checks:
//!
//! - `Recent`: whether the objects of the last thousand snapshots exist;
//! - `Present`: whether all objects exist, and whether the list names the same snapshots as the branch;
//! - `Whole`: as `Present`, and whether all objects can be read and match their ids.
//!
//! Nothing is changed, except damage that the next snapshot would repair, too.

use git2::{ErrorCode, ObjectType, Oid};

use crate::history::error::Result;
use crate::history::prelude::*;
use crate::history::read::show;
use crate::history::store::{BRANCH, HistoryStore, LedgerLine, LineKind, loose_path, short_id};
use crate::history::take::{History, plural};

/// The number of snapshots that [`CheckDepth::Recent`] checks.
const RECENT_SNAPSHOTS: usize = 1_000;
/// The most faults of a kind that are named.
const MAX_NAMED: usize = 50;

/// The depth of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckDepth {
    /// The list, and that what the last snapshots hold is there.
    Recent,
    /// The list, and that everything is there.
    Present,
    /// The list, and that everything can be read and is what its id says.
    Whole,
}

/// Something that is wrong with the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryFlaw {
    /// `rewritten`, `missing`, `damaged` or `foreign`.
    pub kind: &'static str,
    /// The snapshot or object; empty where it is the repository as a whole.
    pub id: String,
    /// The file whose text it is, or the folder.
    pub path: Option<String>,
    /// The fault, in words.
    pub detail: String,
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// How many snapshots were looked at.
    pub snapshots: usize,
    /// How many objects: snapshots, folders, texts.
    pub objects: usize,
    /// The faults.
    pub flaws: Vec<HistoryFlaw>,
    /// The limits of the proof: since when there is a list, when the history began anew.
    pub notes: Vec<String>,
}

impl History {
    /// Checks that the history is complete and still the one that was written.
    ///
    /// # Errors
    /// The repository can't be opened or locked. Damage in it is no error but a flaw.
    pub fn verify(&self, look: CheckDepth) -> Result<Verification> {
        drop(self.store());
        // A store of its own: the other one remembers what it has read.
        let store = HistoryStore::open(self.dir())?;
        let (head, account) = {
            let _lock = store.lock()?;
            (store.head()?, account(&store.ledger.lines()?, self.zone()))
        };
        let mut walk = IntegrityWalk {
            store: &store,
            look,
            found: Verification { notes: account.notes, ..Verification::default() },
            seen: HashSet::new(),
            reached: Vec::new(),
        };
        for (id, detail) in account.rewritten {
            walk.flaw("rewritten", id, None, detail);
        }
        walk.foreign();
        if let Some(head) = head {
            walk.snapshots(head);
        }
        if look >= CheckDepth::Present {
            walk.compare(&account.listed, head);
        }
        walk.found.objects = walk.seen.len();
        Ok(walk.found)
    }

    /// Accepts the history as it is now: earlier changes are no longer reported.
    pub fn accept_as_it_is(&self) -> Result<()> {
        let store = self.store();
        let lock = store.lock()?;
        store.accept(&lock)
    }

    /// Tries to write as a snapshot would, and leaves nothing behind.
    ///
    /// # Errors
    /// It can't be written; why, in words.
    pub fn check_writable(&self) -> Result<()> {
        // A snapshot that is being taken can be taken, and may take long: each visit of the page asks this.
        if self.is_busy() {
            return Ok(());
        }
        let store = self.store();
        let lock = store.lock()?;
        store.check_writable(&lock)
    }
}

/// The content of the list of snapshots.
struct LedgerAccount {
    /// The limits of the proof.
    notes: Vec<String>,
    /// Moves and removals of the branch by another program, each with the snapshot and a description.
    rewritten: Vec<(Option<Oid>, String)>,
    /// The snapshots that must be there, in order.
    listed: Vec<Oid>,
}

/// Evaluates the list. It counts from where the repository was gone, or a person took the history as it was.
fn account(lines: &[LedgerLine], zone: &Zone) -> LedgerAccount {
    fn of(lines: &[LedgerLine], kind: LineKind) -> impl Iterator<Item = &LedgerLine> {
        lines.iter().filter(move |line| line.kind == kind)
    }
    let begin = lines.iter().rposition(|line| matches!(line.kind, LineKind::Anew | LineKind::Accepted));
    let (before, since) = lines.split_at(begin.map_or(0, |at| at + 1));
    let on = |line: &LedgerLine| show(line.at, zone);
    let (mut notes, mut rewritten) = (Vec::new(), Vec::new());
    if let Some(line) = before.last().filter(|line| line.kind == LineKind::Accepted) {
        let at = on(line);
        notes.push(format!("the history was accepted as it was on {at}; nothing before that is verified"));
    } else if let Some(line) = of(since, LineKind::Adopted).next() {
        notes.push(format!(
            "the list of snapshots begins on {}: whether any was rewritten before can't be told",
            on(line)
        ));
    }
    for line in of(since, LineKind::Mended) {
        notes.push(format!(
            "the branch file of `history.git` was damaged on {}, and was written anew; no snapshot was lost",
            on(line)
        ));
    }
    for line in of(before, LineKind::Anew) {
        notes.push(format!("`history.git` was gone on {}, and a new history began", on(line)));
    }
    let mut end = before.last().and_then(LedgerLine::end);
    for line in since.iter().filter(|line| line.kind != LineKind::Next) {
        if line.kind == LineKind::Moved {
            let was = end.map_or_else(|| "nothing".to_owned(), short_id);
            let (at, found) = (on(line), short_id(line.id));
            let words = "was: another program has rewritten it";
            rewritten
                .push((Some(line.id), format!("on {at} the history ended at {found} where {was} {words}")));
        }
        end = line.end();
    }
    for line in of(since, LineKind::PutBack) {
        let at = on(line);
        let detail = format!("on {at} the branch `main` was gone; it was put back to where it had been");
        rewritten.push((None, detail));
    }
    let is_listed = |line: &&LedgerLine| matches!(line.kind, LineKind::Kept | LineKind::Adopted);
    LedgerAccount { notes, rewritten, listed: since.iter().filter(is_listed).map(|line| line.id).collect() }
}

struct IntegrityWalk<'a> {
    store: &'a HistoryStore,
    look: CheckDepth,
    found: Verification,
    seen: HashSet<Oid>,
    /// The snapshots, as far as they could be read.
    reached: Vec<Oid>,
}

impl IntegrityWalk<'_> {
    fn flaw(&mut self, kind: &'static str, id: Option<Oid>, path: Option<&str>, detail: String) {
        let id = id.map(|id| id.to_string()).unwrap_or_default();
        self.found.flaws.push(HistoryFlaw { kind, id, path: path.map(str::to_owned), detail });
    }

    /// Notes everything that makes plain git show another history than ours.
    fn foreign(&mut self) {
        let dir = self.store.dir();
        let head = std::fs::read_to_string(dir.join("HEAD")).unwrap_or_default();
        if head.trim() != format!("ref: {BRANCH}") {
            let detail = format!("`HEAD` doesn't name the branch `main` but `{}`", head.trim());
            self.flaw("foreign", None, None, detail);
        }
        for (file, what) in [
            ("info/grafts", "grafts: plain git shows other parents than the snapshots have"),
            ("shallow", "a shallow boundary: plain git shows no snapshot before it"),
            ("objects/info/alternates", "alternates: objects are read from another repository"),
        ] {
            if dir.join(file).exists() {
                self.flaw("foreign", None, None, format!("`{file}` is there: {what}"));
            }
        }
        let replaced = self.store.repo().references_glob("refs/replace/*");
        for name in
            replaced.into_iter().flatten().flatten().filter_map(|it| it.name().ok().map(str::to_owned))
        {
            let id = Oid::from_str(name.trim_start_matches("refs/replace/")).ok();
            let detail = format!("`{name}` is there: plain git shows something else in its place");
            self.flaw("foreign", id, None, detail);
        }
    }

    fn snapshots(&mut self, head: Oid) {
        let limit = if self.look == CheckDepth::Recent { RECENT_SNAPSHOTS } else { usize::MAX };
        for id in self.store.ancestry(head).take(limit) {
            self.found.snapshots += 1;
            self.seen.insert(id);
            match self.check(id, ObjectType::Commit, true) {
                Ok(()) => {
                    if let Ok(commit) = self.store.commit(id) {
                        self.folder(commit.tree, "", id);
                    }
                }
                Err((kind, words)) => {
                    self.flaw(kind, Some(id), None, format!("the snapshot {} {words}", short_id(id)));
                }
            }
            self.reached.push(id);
        }
    }

    fn folder(&mut self, id: Oid, path: &str, snapshot: Oid) {
        if id == crate::history::store::empty_tree() || !self.seen.insert(id) {
            return;
        }
        let shown = if path.is_empty() { "the vault" } else { path.trim_end_matches('/') };
        let find = || self.store.repo().find_tree(id).map_err(|error| damaged(&error));
        let tree = self.check(id, ObjectType::Tree, true).and_then(|()| find());
        let tree = match tree {
            Ok(tree) => tree,
            Err((kind, words)) => {
                let detail = format!("the list of `{shown}` in the snapshot {} {words}", short_id(snapshot));
                return self.flaw(kind, Some(id), Some(shown), detail);
            }
        };
        for entry in tree.iter() {
            let path = format!("{path}{}", String::from_utf8_lossy(entry.name_bytes()));
            if entry.kind() == Some(ObjectType::Tree) {
                self.folder(entry.id(), &format!("{path}/"), snapshot);
            } else if self.seen.insert(entry.id())
                && let Err((kind, words)) =
                    self.check(entry.id(), ObjectType::Blob, self.look == CheckDepth::Whole)
            {
                let detail = format!("the text of `{path}` in the snapshot {} {words}", short_id(snapshot));
                self.flaw(kind, Some(entry.id()), Some(&path), detail);
            }
        }
    }

    /// Whether an object is there; with `read` also whether it can be read and is what its id says.
    fn check(&self, id: Oid, kind: ObjectType, read: bool) -> Result<(), (&'static str, String)> {
        let missing = || ("missing", "is missing".to_owned());
        let odb = self.store.repo().odb().map_err(|error| damaged(&error))?;
        if !read {
            return if odb.exists(id) { Ok(()) } else { Err(missing()) };
        }
        let is_file = || loose_path(self.store.dir(), id).exists();
        let object = odb.read(id).map_err(|error| match error.code() {
            ErrorCode::NotFound if !is_file() => missing(),
            _ => damaged(&error),
        })?;
        if object.kind() != kind || Oid::hash_object(kind, object.data()).ok() != Some(id) {
            return Err(("damaged", "is damaged: it is not what its id says".to_owned()));
        }
        Ok(())
    }

    /// Compares the list with the branch: reports snapshots of the list that are missing, and snapshots of the branch
    /// that aren't in the list.
    fn compare(&mut self, listed: &[Oid], head: Option<Oid>) {
        let reached: HashSet<Oid> = self.reached.iter().copied().collect();
        let known: HashSet<Oid> = listed.iter().copied().collect();
        let gone: Vec<Oid> = listed.iter().copied().filter(|id| !reached.contains(id)).collect();
        let strange: Vec<Oid> = self.reached.iter().copied().filter(|id| !known.contains(id)).collect();
        for id in gone.iter().take(MAX_NAMED) {
            let detail = match self.store.commit(*id) {
                Ok(commit) => format!(
                    "the snapshot {} (\"{}\") was taken out of the history; it is still in the repository",
                    short_id(*id),
                    commit.message.subject
                ),
                Err(_) => format!("the snapshot {} was taken out of the history and is gone", short_id(*id)),
            };
            self.flaw("rewritten", Some(*id), None, detail);
        }
        for id in strange.iter().take(MAX_NAMED) {
            let subject = self.store.commit(*id).map(|commit| commit.message.subject).unwrap_or_default();
            let detail =
                format!("the snapshot {} (\"{subject}\") was not made by vault-agent", short_id(*id));
            self.flaw("rewritten", Some(*id), None, detail);
        }
        let more = gone.len().saturating_sub(MAX_NAMED) + strange.len().saturating_sub(MAX_NAMED);
        if more > 0 {
            self.flaw("rewritten", head, None, format!("and {more} more {}", plural(more, "snapshot")));
        }
    }
}

fn damaged(error: &git2::Error) -> (&'static str, String) {
    ("damaged", format!("is damaged: {}", error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_begins_anew_where_a_person_or_an_empty_folder_says_so() {
        let id = |text: &str| Oid::hash_object(ObjectType::Blob, text.as_bytes()).unwrap();
        let (at, zone) = ("2026-12-01T09:30:00Z".parse().unwrap(), Zone::get("UTC").unwrap());
        let line = |kind, text: &str| LedgerLine { at, kind, id: id(text) };
        let mut lines =
            vec![line(LineKind::Adopted, "1"), line(LineKind::Kept, "2"), line(LineKind::Moved, "3")];
        let found = account(&lines, &zone);
        assert_eq!(found.listed, [id("1"), id("2")]);
        assert!(found.notes[0].starts_with("the list of snapshots begins on 2026-12-01"));
        assert_eq!(found.rewritten[0].0, Some(id("3")));
        assert!(found.rewritten[0].1.contains(&format!("where {} was", short_id(id("2")))));
        lines.extend([
            line(LineKind::Accepted, "3"),
            line(LineKind::Adopted, "3"),
            line(LineKind::Kept, "4"),
        ]);
        let found = account(&lines, &zone);
        assert_eq!((found.listed, found.rewritten.len(), found.notes.len()), (vec![id("3"), id("4")], 0, 1));
        assert!(found.notes[0].starts_with("the history was accepted as it was"));
        lines.push(line(LineKind::Anew, "4"));
        let found = account(&lines, &zone);
        assert_eq!((found.listed.len(), found.notes.len()), (0, 1));
    }
}
