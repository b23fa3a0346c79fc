//! A vault in a temporary folder with an editor on it, for tests of the room itself.

pub use crate::support::prelude::*;
pub use vault_agent::memory::{MemoryError, Scope};

use vault_agent::format::commitment::Commitment;
use vault_agent::memory::{MemoryNotes, NewMemory, Origin, SavedMemory};

/// 2026-12-01 09:30 in London.
pub const NOW: &str = "2026-12-01T09:30:00Z";

type Saved = Result<SavedMemory, MemoryError>;

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
        Self { folder, vault, editor, settings, zone: Zone::get("Europe/London").unwrap() }
    }

    pub fn memory(&self) -> MemoryNotes<'_> {
        let Self { vault, editor, settings, zone, .. } = self;
        MemoryNotes { vault, editor, settings, zone }
    }

    /// Saves words without fields of their own as a fact.
    pub fn save_long(&self, text: &str, section: Option<&str>, scope: &Scope) -> Saved {
        let memory = NewMemory { section, scope: scope.clone(), ..NewMemory::new(text) };
        self.memory().save_fact(&memory, now(), &origin())
    }

    /// And into the day's note.
    pub fn save_daily(&self, text: &str, scope: &Scope) -> Saved {
        let memory = NewMemory { scope: scope.clone(), ..NewMemory::new(text) };
        self.memory().save_note(&memory, now(), &origin())
    }

    pub fn promise(&self, text: &str) -> Saved {
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
