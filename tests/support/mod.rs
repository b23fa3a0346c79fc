//! A hermetic vault for tests: a fixture language, a frozen clock, an emptied environment.
//!
//! A fixture is one string with many notes. Lines before the first note set the stage:
//!
//! ```text
//! //- now: 2026-12-01T09:30:00Z
//! //- zone: Europe/London
//! //- /Reminders.md
//! - [ ] date=2026-12-01 time=09:30 recur=none msg="Call"
//! //- /daily/2026-12-01.md
//! - 09:12 Met Anna
//! ```
//!
//! A note is what stands between its header and the next one. In one below `logs/` a line `[!user] TIME NAME: WORDS ^ID` is
//! a whole event, and one that begins so gets the head of its path. `zone:` writes `vault-agent.toml`. The
//! clock stands still while a command runs and moves on by one second after it, so that two commands
//! are never at the same instant.
#![allow(dead_code)]

pub mod folder;
pub mod prelude;
pub mod processes;

use std::fmt::Write as _;
use std::process::Output;

use folder::holds_folder;
pub use folder::{Folder, files_below};
use prelude::*;
use vault_agent::config::Dirs;

/// The instant of a fixture that names none: 2026-12-01 09:30 in London.
pub const NOON: &str = "2026-12-01T09:30:00Z";

/// Waits until something is `done`; it is a defect if that takes long.
#[track_caller]
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} took too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The same, while others of this runtime go on.
pub async fn when(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} took too long");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Does what waits for something, on a runtime of its own.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}

/// A runtime whose threads go on beside the test's.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// A bare repository, in a folder of its own.
pub fn bare_repository() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().expect("a temporary folder");
    let path = temp.path().join("voice.git");
    let made = Command::new("git").args(["init", "--bare", "-q"]).arg(&path).status();
    assert!(made.expect("git runs").success());
    (temp, path)
}

/// Sets a file's rights.
#[cfg(unix)]
pub fn set_mode(path: impl AsRef<Path>, mode: u32) {
    let rights = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(path, rights).expect("a file of ours");
}

/// A pipe with a name, its owner's alone.
#[cfg(unix)]
pub fn fifo(path: impl AsRef<Path>) {
    assert!(Command::new("mkfifo").arg("-m600").arg(path.as_ref()).status().expect("mkfifo runs").success());
}

/// A file's rights.
#[cfg(unix)]
pub fn mode(path: impl AsRef<Path>) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).expect("a file").permissions()) & 0o777
}

/// Writes a file that only its owner can read, as a secret's.
#[cfg(unix)]
pub fn write_private(path: impl AsRef<Path>, text: &str) {
    std::fs::write(&path, text).expect("a file");
    set_mode(path, 0o600);
}

/// Writes a program, in a folder that may have to be made.
#[cfg(unix)]
pub fn write_program(path: impl AsRef<Path>, text: &str) {
    std::fs::create_dir_all(path.as_ref().parent().expect("a parent")).expect("folders");
    std::fs::write(&path, text).expect("a file");
    set_mode(path, 0o755);
}

/// Insists on these words in a text.
#[track_caller]
pub fn contains_all(text: impl AsRef<str>, words: &[&str]) {
    let text = text.as_ref();
    words.iter().for_each(|words| assert!(text.contains(words), "{words:?} is not in\n{text}"));
}

/// Insists that none of these words is in a text.
#[track_caller]
pub fn contains_none(text: impl AsRef<str>, words: &[&str]) {
    let text = text.as_ref();
    words.iter().for_each(|words| assert!(!text.contains(words), "{words:?} is in\n{text}"));
}

/// These fields of a JSON document as one array; `hits/0/path` is a field of a field.
pub fn pick(of: &serde_json::Value, fields: &str) -> serde_json::Value {
    fields.split(' ').map(|field| of.pointer(&format!("/{field}")).cloned().unwrap_or_default()).collect()
}

/// An event of a log; `of` is its kind, its time and who said it, such as `user] 2026-12-01T09:30:00Z Ann`.
pub fn event(of: &str, words: &str, id: &str) -> String {
    let lines: String = words.lines().map(|line| format!("> {line}\n")).collect();
    format!("\n> [!{of}\n{lines}\n^{id}\n")
}

/// The head of a log of Discord's channel 7 that says no more than that.
pub const LOG_HEAD: &str = "---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n";

/// A log of a fixture: its head, where it begins with an event, and its events in full.
fn log_in_full(path: &str, text: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let ["logs", surface, context, file] = parts[..] else { return text.to_owned() };
    let mut full = String::new();
    if text.starts_with("[!") {
        let started: Timestamp = file[..16].parse().expect("a log's name begins with its time");
        let _ = write!(full, "---\nsurface: {surface}\ncontext_id: \"{context}\"\nstarted: {started}\n---\n");
    }
    for line in text.split_inclusive('\n') {
        let said = line.strip_prefix("[!").and_then(|line| line.trim_end().split_once(": "));
        match said.and_then(|(of, said)| Some((of, said.rsplit_once(" ^")?))) {
            Some((of, (words, id))) => full += &event(of, words, id),
            None => full += line,
        }
    }
    full
}

/// The binary with the state of a vault and an emptied environment; not started.
pub fn program(folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vault-agent"));
    command.args(args).stdin(Stdio::null()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TZ", "UTC").env("LANG", "C.UTF-8");
    command.env("VAULT_AGENT_STATE_DIR", folder.state()).env("VAULT_AGENT_CACHE_DIR", folder.cache());
    command
}

/// The workspace of the folder where `vault`, `state` and `cache` are, as a process of its own opens it.
pub fn workspace(folder: &Path, clock: Arc<dyn Clock>) -> Workspace {
    let dirs = Dirs { state: folder.join("state"), cache: folder.join("cache") };
    let vault = Vault::open(&folder.join("vault")).expect("a vault");
    Workspace::open_in(vault, dirs, clock).expect("a workspace")
}

/// A vault in a temporary folder, with directories, home and clock of its own.
#[derive(Debug)]
pub struct TestVault {
    folder: Folder,
    now: std::cell::Cell<Timestamp>,
    environment: BTreeMap<String, String>,
}

holds_folder!(TestVault);

/// What a command did.
#[derive(Debug)]
#[must_use = "look at what the command said"]
pub struct Run {
    /// What was asked.
    args: String,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code; -1 where a signal ended the process.
    pub code: i32,
}

impl TestVault {
    /// A vault with the notes of a fixture.
    pub fn new(fixture: &str) -> Self {
        let this = Self {
            folder: Folder::new(&["vault/.obsidian", "state", "cache", "home"]),
            now: std::cell::Cell::new(NOON.parse().expect("an instant")),
            environment: BTreeMap::new(),
        };
        this.add(fixture);
        this
    }

    /// Adds the notes of a fixture.
    pub fn add(&self, fixture: &str) {
        let write = |(path, text): (String, String)| self.write(&path, log_in_full(&path, &text));
        let mut note: Option<(String, String)> = None;
        for line in fixture.split_inclusive('\n') {
            let Some(header) = line.strip_prefix("//- ") else {
                match &mut note {
                    Some((_, text)) => text.push_str(line),
                    None => assert!(line.trim().is_empty(), "text before the first note: {line:?}"),
                }
                continue;
            };
            note.take().into_iter().for_each(write);
            match header.trim_end().split_once(": ") {
                Some(("now", value)) => self.set_now(value),
                Some(("zone", value)) => self.write("vault-agent.toml", format!("timezone = \"{value}\"\n")),
                _ => note = Some((header.trim().trim_start_matches('/').to_owned(), String::new())),
            }
        }
        note.into_iter().for_each(write);
    }

    /// The home directory that commands see.
    pub fn home(&self) -> PathBuf {
        self.dir().join("home")
    }

    /// The vault as the program opens it, at the clock's instant.
    pub fn workspace(&self) -> Arc<Workspace> {
        Arc::new(workspace(self.dir(), Arc::new(ManualClock::new(self.now()))))
    }

    /// All files of the vault with their texts, for whole-vault comparisons.
    pub fn tree(&self) -> BTreeMap<String, String> {
        let root = self.root();
        // A writer's own file may be gone by now.
        let read = |path: PathBuf| {
            let bytes = std::fs::read(&path).ok()?;
            let name = path.strip_prefix(&root).expect("inside").to_string_lossy().into_owned();
            Some((name, String::from_utf8_lossy(&bytes).into_owned()))
        };
        files_below(&root).into_iter().filter_map(read).collect()
    }

    /// Sets the clock, as `2026-12-01T09:30:00Z`.
    pub fn set_now(&self, now: &str) {
        self.now.set(now.parse().unwrap_or_else(|error| panic!("{now}: {error}")));
    }

    /// The clock.
    pub fn now(&self) -> Timestamp {
        self.now.get()
    }

    /// Moves the clock.
    pub fn advance(&self, by: SignedDuration) {
        self.now.set(self.now.get() + by);
    }

    /// Sets an environment variable for the commands that follow.
    pub fn env(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// The same, with a variable for all commands.
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env(name, value);
        self
    }

    /// The binary with this vault, an emptied environment and the clock; not started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = program(&self.folder, args);
        command.env("HOME", self.home()).env("VAULT_AGENT_NOW", self.now.get().to_string());
        // A debug build on a busy machine may need more than a host's patience.
        command.env("VAULT_AGENT_HOOK_PATIENCE_MS", "60000");
        command.envs(&self.environment).current_dir(self.root());
        command
    }

    /// The command as another program starts it, `starter` with its arguments.
    pub fn started_by(&self, starter: &[&str], args: &[&str]) -> Command {
        let (own, mut command) = (self.command(args), Command::new(starter[0]));
        command.args(&starter[1..]).arg(own.get_program()).args(own.get_args()).stdin(Stdio::null());
        command.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.root());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Run {
        self.ran(args, || self.command(args).output())
    }

    /// Runs a command line, in whose words quotes mean what they mean in a shell.
    pub fn sh(&self, line: &str) -> Run {
        let words = shlex::split(line).expect("a command line");
        self.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// What a tick at this time says.
    #[track_caller]
    pub fn tick_at(&self, now: &str) -> String {
        self.set_now(now);
        self.run(&["tick"]).ok().stdout
    }

    /// What a command that goes well answers with `--json`.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        self.run(&[&["--json"], args].concat()).ok().json()
    }

    /// What `doctor` finds of one check.
    pub fn doctor(&self, check: &str) -> Vec<serde_json::Value> {
        let report = self.run(&["--json", "doctor"]).json();
        report.as_array().unwrap().iter().filter(|row| row["check"] == check).cloned().collect()
    }

    /// Runs a command that ends at a failpoint, such as `history::logged=return`.
    #[track_caller]
    pub fn killed(&self, failpoint: &str, args: &[&str]) {
        let run = self.ran(args, || self.command(args).env("FAILPOINTS", failpoint).output());
        assert_ne!(run.code, 0, "{failpoint} was not reached: {run:?}");
    }

    /// Starts a command that says nothing here.
    pub fn spawn(&self, args: &[&str]) -> Killed {
        let mut command = self.command(args);
        Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs"))
    }

    /// Starts a daemon that says nothing here.
    pub fn daemon(&self) -> Killed {
        self.spawn(&["run"])
    }

    /// Starts a daemon, and waits until it listens.
    pub fn listening_daemon(&self) -> Killed {
        let daemon = self.daemon();
        until("the daemon's socket", || self.state().join("ask.sock").exists());
        daemon
    }

    /// Waits until a note reads as wanted; the limit is only for what never happens.
    #[track_caller]
    pub fn until(&self, note: &str, wanted: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = self.text(note);
            if wanted(&text) {
                return text;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{note} never became as wanted:\n{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Runs a command with text on its standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::thread::scope(|scope| {
            scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
            self.ran(args, || child.wait_with_output())
        })
    }

    /// What a command does; a server on another thread of the test's runtime answers it meanwhile.
    fn ran(&self, args: &[&str], run: impl FnOnce() -> std::io::Result<Output>) -> Run {
        use tokio::runtime::{Handle, RuntimeFlavor::MultiThread};
        let has_threads = Handle::try_current().is_ok_and(|now| now.runtime_flavor() == MultiThread);
        let output = if has_threads { tokio::task::block_in_place(run) } else { run() };
        self.advance(SignedDuration::from_secs(1));
        self.seen(args, &output.expect("the binary runs"))
    }

    fn seen(&self, args: &[&str], output: &Output) -> Run {
        let names =
            ["vault", "state", "cache", "home"].map(|name| (self.dir().join(name), name.to_uppercase()));
        let replace = |text: String, (path, name): &(PathBuf, String)| {
            text.replace(&*path.to_string_lossy(), &format!("[{name}]"))
        };
        Run::seen(args.join(" "), output, |text| names.iter().fold(text, replace))
    }
}

impl Run {
    /// What a command does whose environment is another than the vault's.
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary runs");
        Self::seen(format!("{command:?}"), &output, |text| text)
    }

    fn seen(args: String, output: &Output, clean: impl Fn(String) -> String) -> Self {
        let text = |bytes: &[u8]| clean(String::from_utf8_lossy(bytes).into_owned());
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Self { args, stdout, stderr, code: output.status.code().unwrap_or(-1) }
    }

    /// The JSON document on standard output.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON: {error}\n{}\n{}", self.stdout, self.stderr))
    }

    /// Insists on exit code 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0);
        self
    }

    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "{}\n{}\n{}", self.args, self.stdout, self.stderr);
        self
    }

    /// Insists on these words on standard output.
    #[track_caller]
    pub fn says(&self, words: impl AsRef<str>) -> &Self {
        assert!(self.stdout.contains(words.as_ref()), "{:?} is not in\n{self:?}", words.as_ref());
        self
    }

    /// Insists that they are not there.
    #[track_caller]
    pub fn lacks(&self, words: impl AsRef<str>) -> &Self {
        assert!(!self.stdout.contains(words.as_ref()), "{:?} is in\n{self:?}", words.as_ref());
        self
    }

    /// Insists on these words on standard error.
    #[track_caller]
    pub fn warns(&self, words: impl AsRef<str>) -> &Self {
        assert!(self.stderr.contains(words.as_ref()), "{:?} is not in\n{self:?}", words.as_ref());
        self
    }

    /// Insists that they are not there.
    #[track_caller]
    pub fn warns_not(&self, words: impl AsRef<str>) -> &Self {
        assert!(!self.stderr.contains(words.as_ref()), "{:?} is in\n{self:?}", words.as_ref());
        self
    }

    /// Output and errors as one text for snapshots, with the exit code where it isn't 0; random ids are replaced.
    pub fn shown(&self) -> String {
        let (out, said) = (without_random(&self.stdout), without_random(&self.stderr));
        match self.code {
            0 if said.is_empty() => out,
            0 => format!("{out}--- stderr\n{said}"),
            code => format!("{out}--- exit {code}\n{said}"),
        }
    }
}

/// The text with each random reminder id replaced by `rid_[ID]`.
pub fn without_random(text: &str) -> String {
    let id = regex_lite::Regex::new(r"rid_[A-Z2-7]{12}\b").expect("a pattern");
    id.replace_all(text, "rid_[ID]").into_owned()
}

/// Runs one command over a fixture and compares what it said and one note with what is expected.
pub fn check(fixture: &str, args: &[&str], note: &str, expected: &str) -> Run {
    let vault = TestVault::new(fixture);
    let run = vault.run(args);
    assert_eq!(without_random(&vault.read(note)), expected, "{}\n{}", run.stdout, run.stderr);
    run
}
