//! A vault in a temporary folder with an editor on it, for tests of the room itself.

pub use crate::support::prelude::*;
pub use vault_agent::memory::{MemoryError, Scope};

use vault_agent::format::commitment::Commitment;
use vault_agent::memory::{MemoryNotes, NewMemory, Origin, SavedMemory};

/// 2026-12-01 09:30 in London.
pub const NOW: &str = "2026-12-01T09:30:00Z";

/// What an operation needs.
pub struct Rig {
    folder: Folder,
    pub vault: Vault,
    pub editor: Editor,
    pub settings: Settings,
    pub zone: Zone,
}

holds_folder!(Rig);

impl Rig {
    /// A vault with these notes.
    pub fn new(notes: &[(&str, &str)]) -> Self {
        let rig = Self::on(Folder::new(&[]));
        notes.iter().for_each(|(path, text)| rig.write(path, text));
        rig
    }

    /// The vault in `root/vault`, as another process would open it.
    pub fn at(root: &Path) -> Self {
        Self::on(Folder::Others(root.to_owned()))
    }

    fn on(folder: Folder) -> Self {
        let vault = Vault::open(&folder.root()).unwrap();
        let clock = Arc::new(ManualClock::new(now()));
        let editor = Editor::new(vault.clone(), &folder.state(), clock, EditOptions::default());
        let settings = Settings::default();
        let zone = Zone::get("Europe/London").unwrap();
        Self { folder, vault, editor, settings, zone }
    }

    pub fn memory(&self) -> MemoryNotes<'_> {
        let Self { vault, editor, settings, zone, .. } = self;
        MemoryNotes { vault, editor, settings, zone }
    }

    /// Saves words without fields of their own as a fact.
    pub fn save_long(
        &self,
        text: &str,
        section: Option<&str>,
        scope: &Scope,
    ) -> Result<SavedMemory, MemoryError> {
        let memory = NewMemory { section, scope: scope.clone(), ..NewMemory::new(text) };
        self.memory().save_fact(&memory, now(), &origin())
    }

    /// And into the day's note.
    pub fn save_daily(&self, text: &str, scope: &Scope) -> Result<SavedMemory, MemoryError> {
        let memory = NewMemory { scope: scope.clone(), ..NewMemory::new(text) };
        self.memory().save_note(&memory, now(), &origin())
    }

    pub fn promise(&self, text: &str) -> Result<SavedMemory, MemoryError> {
        let draft = Commitment { text: text.to_owned(), ..Commitment::default() };
        self.memory().save_commitment(&draft, None, now(), &origin())
    }
}

pub fn now() -> Timestamp {
    NOW.parse().unwrap()
}

pub fn origin() -> Origin {
    Origin::new(Actor::Mcp).client("test 1.0").conversation("c-1")
}

/// What a process of its own is told: what it does, in which folder, and at which pass of which failpoint it aborts.
const DOOM: &str = "VAULT_AGENT_TEST_DOOM";

/// The part and the folder, in a process that [`killed_at`] started; the failpoint is set.
pub fn doomed() -> Option<(String, PathBuf)> {
    let doom = std::env::var(DOOM).ok()?;
    let [role, point, round, root] = doom.splitn(4, ' ').collect::<Vec<_>>()[..] else { panic!("{doom}") };
    let (round, seen) = (round.parse::<usize>().unwrap(), AtomicUsize::new(0));
    fail::cfg_callback(point, move || {
        if seen.fetch_add(1, Ordering::Relaxed) + 1 == round {
            std::process::abort();
        }
    })
    .unwrap();
    Some((role.to_owned(), PathBuf::from(root)))
}

/// Whether the process died that ran `test`, with this part, up to a pass of a failpoint.
pub fn killed_at<T: Fn()>(test: &T, role: &str, point: &str, round: usize, root: &Path) -> bool {
    let doom = format!("{role} {point} {round} {}", root.display());
    !again(test).env(DOOM, doom).status().unwrap().success()
}
