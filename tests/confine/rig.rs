//! A vault, a secret beside it, a scratch, and boxes of both kinds over the real program.

pub use std::io::{BufRead, BufReader, Read, Write};
pub use std::path::{Path, PathBuf};
pub use std::process::{Child, Command, Stdio};
pub use std::sync::Arc;
pub use tokio_util::sync::CancellationToken;
pub use vault_agent::confine::{Exit, Policy};

use vault_agent::confine::{CommandOutcome, Gate, Helper};

/// What nothing in a box may ever see.
pub const CANARY: &str = "canary-5f1c9d";

/// The program itself.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_vault-agent");

/// A machine's worth of files, and a box.
pub struct Rig {
    pub dir: tempfile::TempDir,
    pub helper: Helper,
    pub policy: Policy,
}

impl Rig {
    /// With namespaces, or without as on machines that give none. `None`, with a word, where this machine can't
    /// enforce the rules.
    pub fn new(namespaces: bool) -> Option<Self> {
        let helper = Helper::new(PROGRAM);
        let helper = if namespaces { helper } else { helper.without_namespaces() };
        let enforcement = helper.enforcement();
        if !enforcement.is_whole() {
            eprintln!("skipped: this machine does not enforce {:?}", enforcement.weak().collect::<Vec<_>>());
            return None;
        }
        if namespaces && let Some(why) = &enforcement.without_namespaces {
            eprintln!("skipped: {why}");
            return None;
        }
        let dir = tempfile::tempdir().expect("a folder");
        let policy = Policy::new(dir.path().join("scratch"));
        let mut rig = Self { dir, helper, policy };
        rig.clear();
        for (file, text) in [
            ("vault/notes/a.md", "# Tea\nAnna likes green tea.\n"),
            ("vault/notes/b.md", "# Coffee\nBen likes coffee.\n"),
            ("home/secret", &format!("{CANARY}\n")),
            ("home/.ssh/id_ed25519", &format!("{CANARY}\n")),
            ("shared/public", "nothing\n"),
        ] {
            rig.write(file, text);
        }
        std::os::unix::fs::symlink(rig.at("home/secret"), rig.at("vault/notes/link.md")).expect("a link");
        rig.policy.read.push(rig.at("vault"));
        Some(rig)
    }

    /// Both kinds that this machine has.
    pub fn both() -> impl Iterator<Item = (&'static str, Self)> {
        let kinds = [("namespaces", true), ("no namespaces", false)].into_iter();
        kinds.filter_map(|(name, namespaces)| Some((name, Self::new(namespaces)?)))
    }

    /// A path in the folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file, in a folder that may have to be made.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.at(name).parent().expect("a folder")).expect("folders");
        std::fs::write(self.at(name), text).expect("a file");
    }

    /// Empties the scratch.
    pub fn clear(&self) {
        let _ = std::fs::remove_dir_all(self.at("scratch"));
        std::fs::create_dir_all(self.at("scratch")).expect("a folder");
    }

    /// Runs a command in the box.
    pub async fn run(&self, command: &str) -> CommandOutcome {
        self.run_with(&self.policy, command, None).await
    }

    /// Runs a command in a box of another policy.
    pub async fn run_with(
        &self,
        policy: &Policy,
        command: &str,
        gate: Option<Arc<dyn Gate>>,
    ) -> CommandOutcome {
        let ran = self.helper.run(policy, command, gate, &CancellationToken::new()).await;
        ran.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// Every file outside the scratch, with its bytes and mode: what a command must not change.
    pub fn outside(&self) -> Vec<(PathBuf, Vec<u8>, u32)> {
        let (mut found, mut open) = (Vec::new(), vec![self.dir.path().to_path_buf()]);
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(&dir).expect("a folder").flatten() {
                let path = entry.path();
                let meta = path.symlink_metadata().expect("a file");
                let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions());
                if path == self.at("scratch") {
                    found.push((path, Vec::new(), 0));
                    continue;
                }
                if meta.is_dir() {
                    open.push(path.clone());
                }
                let bytes = if meta.is_file() { std::fs::read(&path).expect("a file") } else { Vec::new() };
                found.push((path, bytes, mode));
            }
        }
        found.sort();
        found
    }
}

/// Whether a plain shell finds a program where a box would; says so where it doesn't. Nothing is always there.
pub fn has(program: &str) -> bool {
    let dirs = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];
    let is_there = program.is_empty() || dirs.iter().any(|dir| Path::new(dir).join(program).exists());
    if !is_there {
        eprintln!("skipped: no {program} here");
    }
    is_there
}

/// Runs a command outside any box, as a control.
pub fn plain(command: &str, cwd: &Path) -> (Option<i32>, String) {
    let mut bash = Command::new("bash");
    bash.args(["-c", command]).current_dir(cwd).env("TMPDIR", cwd).env("HOME", cwd);
    let output = bash.output().expect("bash");
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}
