//! A vault with its history, editor and clock.

use std::ops::Range;

pub use crate::support::prelude::*;
use vault_agent::history::{CommitRecord, History, RestoreReport, SnapshotResult};
pub use vault_agent::history::{Deletions, LogFilter};
use vault_agent::history::{UndoPlan, UndoReport, UndoSelection};

pub struct Room {
    folder: Folder,
    pub clock: Arc<ManualClock>,
    pub settings: Settings,
    pub history: Arc<History>,
    pub editor: Editor,
}

holds_folder!(Room);

pub fn note(path: &str) -> NotePath {
    NotePath::new(path).unwrap()
}

pub fn why(actor: Actor, subject: &str) -> ChangeReason {
    ChangeReason { actor, subject: subject.into(), body: None, trailers: Vec::new() }
}

impl Room {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        Self::on(Folder::new(&[]), settings, "2026-12-01T09:30:00Z")
    }

    /// A room that another process has made and will remove.
    pub fn at(path: &Path) -> Self {
        Self::on(Folder::Others(path.to_owned()), Settings::default(), "2026-12-02T09:30:00Z")
    }

    fn on(folder: Folder, settings: Settings, now: &str) -> Self {
        let clock = Arc::new(ManualClock::new(now.parse().unwrap()));
        let (history, editor) = open(folder.dir(), &settings, &clock);
        Self { folder, clock, settings, history, editor }
    }

    /// As a new process would: everything opened anew.
    pub fn reopen(&mut self) {
        (self.history, self.editor) = open(self.dir(), &self.settings, &self.clock);
    }

    /// A room whose first snapshot holds these notes.
    pub fn of(notes: &[(&str, &str)]) -> Self {
        let room = Self::new();
        notes.iter().for_each(|(path, text)| room.write(path, text));
        room.snapshot();
        room
    }

    /// Writes, and takes a snapshot.
    pub fn save(&self, path: &str, text: impl AsRef<[u8]>) {
        self.write(path, text);
        self.snapshot();
    }

    pub fn tick(&self) {
        self.clock.advance(SignedDuration::from_secs(60));
    }

    pub fn snapshot(&self) -> SnapshotResult {
        self.tick();
        self.history.snapshot_all(Deletions::Hold).unwrap()
    }

    /// Nothing is left for a snapshot, and git finds nothing wrong.
    pub fn is_settled(&self) {
        assert!(self.snapshot().commits.is_empty());
        self.fsck();
    }

    pub fn snapshot_of(&self, paths: &[&str]) -> SnapshotResult {
        self.tick();
        self.history.snapshot_paths(&paths.iter().map(|path| note(path)).collect(), Deletions::Hold).unwrap()
    }

    /// Notes of these numbers in a folder, each with its text.
    pub fn fill(&self, folder: &str, numbers: Range<usize>, text: impl Fn(usize) -> String) {
        numbers.for_each(|number| self.write(format!("{folder}/{number}.md"), text(number)));
    }

    /// Removes notes of these numbers.
    pub fn thin(&self, folder: &str, numbers: Range<usize>) {
        numbers.for_each(|number| self.remove(&format!("{folder}/{number}.md")));
    }

    pub fn rename(&self, from: &str, to: &str) {
        let to = self.root().join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::rename(self.root().join(from), to).unwrap();
    }

    /// Appends as the agent does.
    pub fn agent_appends(&self, path: &str, text: &str) {
        self.appends(path, text, &why(Actor::Mcp, &format!("saved: {}", text.trim())));
    }

    /// Appends through the editor, a minute later.
    pub fn appends(&self, path: &str, text: &str, why: &ChangeReason) {
        self.tick();
        let report = self.editor.edit(&note(path), &[Operation::Append { text: text.into() }], why).unwrap();
        assert_eq!(report.warning, None);
    }

    pub fn log(&self) -> Vec<CommitRecord> {
        self.history.records(&LogFilter::default()).unwrap()
    }

    /// The subjects of what a filter finds, the newest first.
    pub fn found(&self, filter: &LogFilter) -> Vec<String> {
        let records = self.history.records(filter).unwrap().into_iter();
        records.map(|record| record.commit.message.subject).collect()
    }

    pub fn subjects(&self) -> Vec<String> {
        let messages = self.log().into_iter().map(|record| record.commit.message);
        messages.map(|message| format!("{}: {}", message.actor(), message.subject)).collect()
    }

    /// Every regular file and link below the vault, with content.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut out = BTreeMap::new();
        collect(&self.root(), &self.root(), &mut out);
        out
    }

    /// What a snapshot holds, by plain git's own reading.
    pub fn git_tree(&self, revision: &str) -> BTreeMap<String, String> {
        let out = self.git(&["ls-tree", "-r", "-z", "--full-tree", revision]);
        let lines = out.split_terminator('\0').map(|line| line.split_once('\t').unwrap());
        lines.map(|(meta, path)| (path.to_owned(), meta.to_owned())).collect()
    }

    /// The paths that the newest snapshot holds.
    pub fn kept(&self) -> Vec<String> {
        self.git_tree("main").into_keys().collect()
    }

    /// Brings back these files, or all, as they were.
    pub fn restore(&self, at: &str, paths: &[&str], exact: bool) -> RestoreReport {
        let point = self.history.point(at).unwrap();
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        self.history.restore(&self.editor, &point, &paths, exact).unwrap()
    }

    pub fn plan_undo(&self, what: impl Into<UndoSelection>) -> UndoPlan {
        self.history.plan_undo(what).unwrap()
    }

    /// Carries a plan out a minute later.
    pub fn undo(&self, plan: &UndoPlan) -> UndoReport {
        self.tick();
        self.history.undo(&self.editor, plan).unwrap()
    }

    pub fn git(&self, args: &[&str]) -> String {
        said(git_command(self.history.dir()).args(args))
    }

    pub fn fsck(&self) {
        fsck(self.history.dir());
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

fn open(temp: &Path, settings: &Settings, clock: &Arc<ManualClock>) -> (Arc<History>, Editor) {
    let vault = Vault::open(&temp.join("vault")).unwrap();
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    let state = temp.join("state");
    let history = Arc::new(History::open(&vault, settings, &state, Arc::clone(&clock)).unwrap());
    let editor = Editor::new(vault, &state, clock, EditOptions::default());
    editor.set_observer(Arc::clone(&history) as _);
    (history, editor)
}

fn collect(dir: &Path, root: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()) {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if name.contains(".vault-agent-") {
            // What the editing engine keeps for a minute after a removal.
            continue;
        }
        if kind.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            out.insert(name, [b"-> ", target.to_str().unwrap().as_bytes()].concat());
        } else if kind.is_dir() {
            if entry.file_name() != ".git" {
                collect(&path, root, out);
            }
        } else {
            out.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

/// Writes a note, and takes it into the history.
pub fn knows(vault: &TestVault, note: &str, text: impl AsRef<[u8]>) {
    vault.write(note, text);
    let _ = vault.run(&["history"]).ok();
}

/// Where a vault's history lies.
pub fn repository(vault: &TestVault) -> PathBuf {
    vault.state().join("history.git")
}

/// Plain git over a history, with nobody's settings.
pub fn git_command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("LC_ALL", "C.UTF-8");
    command.arg("--git-dir").arg(dir);
    command
}

/// What a command says that goes well.
pub fn said(command: &mut Command) -> String {
    let output = command.output().expect("git");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Git's own strictest opinion.
pub fn fsck(dir: &Path) {
    let mut git = git_command(dir);
    let output = git.args(["fsck", "--strict", "--full", "--no-dangling"]).output().expect("git");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("error"), "git fsck: {said}");
}
