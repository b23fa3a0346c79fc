//! Stores the page's sessions and form ids, in `page.sqlite` of the state directory. Also checks, for `doctor`, that
//! file and the page's address.
//!
//! A session is kept as the hash of its cookie. A form's id is claimed on disk before its change, and gets the outcome
//! after the change. So a form that is sent again changes nothing, also after a crash. Deleting the file ends all
//! sessions.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use rusqlite::params;
use serde::Serialize;

use super::control_socket;
use crate::doctor::Check;
use crate::instance::{DaemonLock, DaemonStatus};
use crate::listen::secret;
use crate::sqlite::{Database, Result, StateFileKind};
use crate::workspace::Workspace;

/// The file's name in the state directory.
pub const FILE_NAME: &str = "page.sqlite";
/// A session ends so long after it began.
const SESSION: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Form ids are kept for so long: longer than a session lives.
const FORMS: SignedDuration = SignedDuration::from_hours(31 * 24);

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS sessions (
    hash       TEXT PRIMARY KEY,   -- of the cookie
    id         TEXT NOT NULL,      -- what it is called on the page and the command line
    began_ms   INTEGER NOT NULL,
    browser    TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS forms (
    id         TEXT PRIMARY KEY,
    session    TEXT NOT NULL,      -- the session's id
    at_ms      INTEGER NOT NULL,
    goes_to    TEXT,               -- where its answer is shown; NULL while the change isn't made
    said       TEXT,
    words      TEXT                -- a hash of what was sent; NULL in older files
) STRICT;";

/// The file.
static KIND: StateFileKind = StateFileKind {
    name: "the page's state",
    hint: Some("deleting the file ends all sessions of the page, and nothing else"),
    versions: &[],
    each_time: |db| {
        db.execute_batch(SCHEMA)?;
        if !db.prepare("SELECT * FROM forms")?.column_names().any(|name| name == "words") {
            db.execute_batch("ALTER TABLE forms ADD COLUMN words TEXT")?;
        }
        Ok(())
    },
};

/// A session of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PageSession {
    /// Its id.
    pub id: String,
    /// When it began.
    pub began: Timestamp,
    /// When it ends.
    pub ends: Timestamp,
    /// The browser's name for itself.
    pub browser: String,
}

/// The state of a form's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FormIdState {
    /// It is new, and claimed now.
    New,
    /// It was sent before, and this came of it: where to go, and the words.
    Done(String, String),
    /// It was sent before, and nothing is known of what came of it.
    Open,
    /// It was sent before with other words.
    Other,
}

/// The sessions and form ids of one vault.
#[derive(Debug)]
pub struct PageStore {
    path: PathBuf,
    open: Mutex<Option<OpenFile>>,
}

/// The open file, and its device and inode.
type OpenFile = (Arc<Database>, Option<(u64, u64)>);

impl PageStore {
    /// Opens the store in the state directory, making it where it is missing.
    ///
    /// # Errors
    /// It can't be read or written.
    pub fn open(state: &Path) -> Result<Self> {
        let store = Self { path: state.join(FILE_NAME), open: Mutex::default() };
        store.db().map(|_| store)
    }

    /// The file at its path: one that was deleted holds no session, although it is still open here.
    fn db(&self) -> Result<Arc<Database>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let there = || std::fs::metadata(&self.path).ok().map(|file| (file.dev(), file.ino()));
        if let Some((db, _)) = open.as_ref().filter(|(_, known)| *known == there()) {
            return Ok(Arc::clone(db));
        }
        let (db, _) = open.insert((Arc::new(Database::open(&KIND, self.path.clone())?), there()));
        Ok(Arc::clone(db))
    }

    /// Begins a session; `cookie` is its secret.
    pub(super) fn begin(&self, cookie: &str, browser: &str, now: Timestamp) -> Result<()> {
        let hash = secret::hash(cookie);
        let browser: String = browser.chars().filter(|c| !c.is_control()).take(200).collect();
        self.db()?.write(|it| {
            it.execute("DELETE FROM sessions WHERE began_ms < ?1", [ms(now - SESSION)])?;
            let id = &hash[..8];
            it.execute("INSERT INTO sessions VALUES (?1, ?2, ?3, ?4)", params![hash, id, ms(now), browser])?;
            Ok(())
        })
    }

    /// The session that a cookie belongs to.
    pub(super) fn session(&self, cookie: &str, now: Timestamp) -> Result<Option<PageSession>> {
        let sql = "SELECT id, began_ms, browser FROM sessions WHERE hash = ?1 AND began_ms > ?2";
        self.db()?.row(sql, params![secret::hash(cookie), ms(now - SESSION)], session)
    }

    /// All sessions that go on, the newest first.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn sessions(&self, now: Timestamp) -> Result<Vec<PageSession>> {
        let sql = "SELECT id, began_ms, browser FROM sessions WHERE began_ms > ?1 ORDER BY began_ms DESC, id";
        self.db()?.rows(sql, [ms(now - SESSION)], session)
    }

    /// Ends a session. Returns whether there was one of this name.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn end(&self, id: &str) -> Result<bool> {
        Ok(self.db()?.execute("DELETE FROM sessions WHERE id = ?1", [id])? > 0)
    }

    /// Claims a form's id, unless it was sent before; `words` is a hash of what the form says.
    pub(super) fn claim(&self, id: &str, session: &str, words: &str, now: Timestamp) -> Result<FormIdState> {
        self.db()?.write(|it| {
            it.execute("DELETE FROM forms WHERE at_ms < ?1", [ms(now - FORMS)])?;
            let sql = "INSERT OR IGNORE INTO forms (id, session, at_ms, words) VALUES (?1, ?2, ?3, ?4)";
            if it.execute(sql, params![id, session, ms(now), words])? == 1 {
                return Ok(FormIdState::New);
            }
            let sql = "SELECT goes_to, said, words FROM forms WHERE id = ?1";
            let (to, said, before): (Option<String>, Option<String>, Option<String>) =
                it.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            if before.is_some_and(|before| before != words) {
                return Ok(FormIdState::Other);
            }
            Ok(to.map_or(FormIdState::Open, |to| FormIdState::Done(to, said.unwrap_or_default())))
        })
    }

    /// Stores the outcome of a form.
    pub(super) fn finish(&self, id: &str, to: &str, said: &str) -> Result<()> {
        let sql = "UPDATE forms SET goes_to = ?2, said = ?3 WHERE id = ?1";
        self.db()?.execute(sql, [id, to, said]).map(drop)
    }

    /// Releases a form's id, because nothing was changed.
    pub(super) fn release(&self, id: &str) -> Result<()> {
        self.db()?.execute("DELETE FROM forms WHERE id = ?1 AND goes_to IS NULL", [id]).map(drop)
    }

    /// The outcome of a form of this session, in words once there is one; `None` if the form is unknown.
    pub(super) fn outcome(&self, id: &str, session: &str) -> Result<Option<Option<String>>> {
        let sql = "SELECT said FROM forms WHERE id = ?1 AND session = ?2";
        self.db()?.row(sql, [id, session], |row| row.get(0))
    }
}

fn session(row: &rusqlite::Row<'_>) -> rusqlite::Result<PageSession> {
    let began = Timestamp::from_millisecond(row.get(1)?).unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(PageSession { id: row.get(0)?, began, ends: began + SESSION, browser: row.get(2)? })
}

fn ms(at: Timestamp) -> i64 {
    at.as_millisecond()
}

/// The checks for `doctor`.
pub fn checks(workspace: &Workspace) -> Vec<Check> {
    let (web, state) = (&workspace.settings.web, &workspace.dirs.state);
    let daemon = DaemonLock::holder(state).is_some();
    if web.enabled && daemon && !control_socket::socket(state).exists() {
        let fix = "start the daemon again: it may be an older version";
        return vec![Check::fail("page", "the daemon doesn't serve the page", fix)];
    }
    // A check makes no file.
    let store = state.join(FILE_NAME).exists().then(|| PageStore::open(state)).transpose();
    let sessions =
        store.and_then(|store| store.map_or(Ok(Vec::new()), |it| it.sessions(workspace.clock.now())));
    let who = match sessions.map(|sessions| sessions.len()) {
        Ok(1) => "1 browser session".to_owned(),
        Ok(count) => format!("{count} browser sessions"),
        Err(error) => {
            let fix = "delete the file: that ends all its sessions, and nothing else";
            return vec![Check::fail("page", error.to_string(), fix)];
        }
    };
    let status = DaemonStatus::read(state).filter(|_| daemon);
    let listens = match status.and_then(|mut status| status.parts.remove("page")) {
        Some(said) if said.starts_with("listens") || said.starts_with("closed") => said,
        Some(why) if web.enabled => {
            let fix =
                "free the address, or name another in `[web] listen`; it is tried again every ten seconds";
            return vec![Check::fail("page", why, fix)];
        }
        _ if web.enabled => format!("listens on {} while the daemon runs", web.listen),
        _ => "starts with `vault-agent web`".to_owned(),
    };
    vec![Check::ok("page", format!("{listens}; {who}"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_kept_as_a_hash_and_ends_after_thirty_days() {
        let temp = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let store = PageStore::open(temp.path()).unwrap();
        store.begin("0123456789", "a browser\n", now).unwrap();
        let again = PageStore::open(temp.path()).unwrap();
        let found = again.session("0123456789", now).unwrap().unwrap();
        assert_eq!(found.browser, "a browser");
        assert!(again.session("another", now).unwrap().is_none());
        assert!(again.session("0123456789", now + SESSION).unwrap().is_none());
        drop((store, again));
        let bytes = std::fs::read(temp.path().join(FILE_NAME)).unwrap();
        assert!(!bytes.windows(10).any(|part| part == b"0123456789"));
        let store = PageStore::open(temp.path()).unwrap();
        assert!(store.end(&found.id).unwrap() && !store.end(&found.id).unwrap());
        assert!(store.session("0123456789", now).unwrap().is_none());
        // A deleted file ends the sessions of whoever has it open, too, and takes new ones.
        store.begin("9876543210", "a browser", now).unwrap();
        std::fs::remove_file(temp.path().join(FILE_NAME)).unwrap();
        assert!(store.session("9876543210", now).unwrap().is_none());
        store.begin("1111111111", "a browser", now).unwrap();
        let others = PageStore::open(temp.path()).unwrap().sessions(now).unwrap();
        assert_eq!(others, store.sessions(now).unwrap());
        assert_eq!(others.len(), 1);
    }

    #[test]
    fn a_file_without_the_hash_of_forms_gets_it() {
        let temp = tempfile::tempdir().unwrap();
        let older =
            SCHEMA.replace("said       TEXT,", "said       TEXT").replace("    words      TEXT  ", "--");
        rusqlite::Connection::open(temp.path().join(FILE_NAME)).unwrap().execute_batch(&older).unwrap();
        let store = PageStore::open(temp.path()).unwrap();
        assert_eq!(store.claim("a", "s", "w", Timestamp::UNIX_EPOCH).unwrap(), FormIdState::New);
    }

    #[test]
    fn a_form_is_claimed_once_until_it_is_given_back() {
        let temp = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let store = PageStore::open(temp.path()).unwrap();
        assert_eq!(store.claim("a", "s", "w", now).unwrap(), FormIdState::New);
        assert_eq!(store.claim("a", "s", "w", now).unwrap(), FormIdState::Open);
        store.release("a").unwrap();
        assert_eq!(store.claim("a", "s", "w", now).unwrap(), FormIdState::New);
        store.finish("a", "/", "added").unwrap();
        store.release("a").unwrap();
        assert_eq!(store.claim("a", "s", "w", now).unwrap(), FormIdState::Done("/".into(), "added".into()));
        assert_eq!(store.claim("a", "s", "other", now).unwrap(), FormIdState::Other);
        assert_eq!(store.outcome("a", "s").unwrap(), Some(Some("added".to_owned())));
        assert_eq!(store.outcome("a", "another").unwrap(), None);
    }
}
