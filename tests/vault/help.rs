//! A vault in a temporary folder, an editor on it, and children of this test binary.

pub use crate::support::prelude::*;
pub use vault_agent::vault::{EditError, EditStrategy};

use vault_agent::vault::EditReport;

/// The environment variable that tells a child of this binary what to be.
pub const ROLE: &str = "VAULT_TEST_ROLE";

/// The steps of an edit in place and of a new note, in order.
pub const IN_PLACE: &str = "vault::in-place::opened vault::in-place::leased vault::in-place::planned \
    vault::in-place::journalled vault::in-place::half-written vault::in-place::before-cut \
    vault::in-place::before-sync vault::in-place::written vault::in-place::released vault::in-place::told \
    vault::in-place::cleared";
pub const CREATE: &str = "vault::create::journalled vault::create::temp vault::create::synced \
    vault::create::named vault::create::told";

pub fn note(path: &str) -> NotePath {
    NotePath::new(path).unwrap()
}

pub fn why() -> ChangeReason {
    ChangeReason::new(Actor::Scheduler, "fired: Call \"Mum\"").trailer("Reminder", "rid_K5V4M2J9Q2ZP")
}

pub fn append(text: &str) -> Operation {
    Operation::Append { text: text.as_bytes().to_vec() }
}

/// A vault with an editor whose clock stands still until told.
pub struct Room {
    folder: Folder,
    pub clock: Arc<ManualClock>,
    pub editor: Editor,
}

holds_folder!(Room);

impl Room {
    pub fn new() -> Self {
        Self::with(EditStrategy::Auto)
    }

    pub fn with(strategy: EditStrategy) -> Self {
        let folder = Folder::new(&[]);
        let clock = Arc::new(ManualClock::new("2026-12-01T09:30:00Z".parse().unwrap()));
        let editor = editor(folder.dir(), clock.clone(), strategy);
        Self { folder, clock, editor }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn append(&self, path: &str, text: &str) -> Result<EditReport, EditError> {
        self.editor.edit(&note(path), &[append(text)], &why())
    }

    /// Looks for late writes when so many seconds have gone by.
    pub fn follow_ups_after(&self, seconds: i64) -> Vec<NotePath> {
        self.clock.advance(jiff::SignedDuration::from_secs(seconds));
        self.editor.follow_ups(self.now())
    }

    /// Looks for late writes until the note reads `wanted`. Other tests start processes, which for a
    /// moment hold whatever this one has open, so the first look may find the file in use.
    pub fn follow_up_until(&self, path: &str, wanted: &str) {
        until(&format!("`{path}` to read {wanted:?}"), || {
            self.editor.follow_ups(self.now());
            self.text(path) == wanted
        });
    }

    /// The names in the vault's top folder, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        names_in(self.path(""))
    }
}

/// An editor of the vault in `root/vault` with its state in `root/state`.
pub fn editor(root: &Path, clock: Arc<dyn Clock>, strategy: EditStrategy) -> Editor {
    let vault = Vault::open(&root.join("vault")).unwrap();
    Editor::new(vault, &root.join("state"), clock, EditOptions { strategy, ..EditOptions::default() })
}

/// A child of this binary that plays `role` and is told `words`; the test `entry` picks them up.
pub fn child<T: Fn()>(entry: &T, role: &str, words: &str) -> Command {
    let mut command = again(entry);
    command.env(ROLE, format!("{role}|{words}")).stderr(Stdio::inherit());
    command
}

/// The words that this process is told, where it is the child that plays `role`; between them stands `|`.
pub fn told(role: &str) -> Option<String> {
    std::env::var(ROLE).ok()?.strip_prefix(role)?.strip_prefix('|').map(str::to_owned)
}
