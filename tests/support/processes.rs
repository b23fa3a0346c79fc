//! Tests in processes of their own, and failpoints that hit one thread of this process.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{LazyLock, PoisonError, mpsc::Sender};

use super::prelude::*;

/// Set in the process that [`alone`] starts.
const ALONE: &str = "VAULT_AGENT_TEST_ALONE";

/// The name by which the test binary knows a test, from the test itself.
pub fn name<T: Fn()>(_: &T) -> &'static str {
    std::any::type_name::<T>().split_once("::").expect("a path below the crate").1
}

/// This test binary once more, with one test alone.
pub fn again<T: Fn()>(test: &T) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name(test), "--nocapture", "--test-threads=1"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs the test in a process of its own, where what it sets for the whole process meets no other test. True in that
/// process; elsewhere the test has been run when this returns.
pub fn alone<T: Fn()>(test: &T) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let output = again(test).env(ALONE, "1").stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
    false
}

/// Python with its modules for TOML, without what a version manager puts before it: that takes as long as Python's start.
static PYTHON: LazyLock<Option<String>> = LazyLock::new(|| {
    let asked =
        Command::new("python3").args(["-c", "import sys, tomllib; print(sys.executable, end='')"]).output();
    let output = asked.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().filter(|path| !path.is_empty())
});

/// Whether there is Python with its modules for TOML; without it a test says so and leaves that part out.
#[allow(clippy::print_stderr, reason = "says what is left out")]
pub fn python() -> bool {
    if PYTHON.is_none() {
        eprintln!("skipped: there is no python3 with tomllib");
    }
    PYTHON.is_some()
}

/// The program of Python.
pub fn python3() -> &'static str {
    PYTHON.as_deref().unwrap_or("python3")
}

/// The settings of an MCP server that behaves in a way, by Python; what it writes of itself goes to a file.
pub fn scripted_server(name: &str, mode: &str, pids: &std::path::Path, more: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/server.py");
    let (pids, python) = (pids.display(), python3());
    format!(
        "[[mcp]]\nname = \"{name}\"\ncommand = [\"{python}\", \"-u\", \"{script}\", \"{mode}\", \"{pids}\"]\n{more}\n"
    )
}

/// The processes of this machine: the id, the command line and the environment of each, with their NUL characters.
pub fn running() -> Vec<(u32, String, String)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let process = |entry: std::fs::DirEntry| {
        let read = |name: &str| {
            String::from_utf8_lossy(&std::fs::read(entry.path().join(name)).unwrap_or_default()).into_owned()
        };
        Some((entry.file_name().to_str()?.parse().ok()?, read("cmdline"), read("environ")))
    };
    entries.filter_map(process).collect()
}

/// The processes that have this folder in their arguments or environment, but this one: each with its command line.
pub fn named(place: &std::path::Path) -> Vec<String> {
    let place = place.to_string_lossy().into_owned();
    let is_named = |(pid, line, environment): &(u32, String, String)| {
        *pid != std::process::id() && (line.contains(&place) || environment.contains(&place))
    };
    let named = running().into_iter().filter(is_named);
    named.map(|(pid, line, _)| format!("{pid}: {}", line.replace('\0', " "))).collect()
}

/// Whether a process lives.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Sends the lines of a pipe as they come, from a thread of its own.
pub fn send_lines(pipe: impl Read + Send + 'static, to: Sender<String>) {
    let lines = BufReader::new(pipe).lines().map_while(Result::ok);
    std::thread::spawn(move || lines.for_each(|line| drop(to.send(line))));
}

/// A process that is killed when it is dropped.
pub struct Killed(pub Child);

impl Killed {
    /// `kill -9` after so long; whether it still ran then.
    pub fn kill_after(mut self, moment: std::time::Duration) -> bool {
        std::thread::sleep(moment);
        self.0.try_wait().expect("a process of ours").is_none()
    }
}

impl std::ops::Deref for Killed {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Killed {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

type Act = Arc<dyn Fn() + Send + Sync>;

/// What is done at each failpoint.
static ACTS: Mutex<Option<HashMap<&'static str, Vec<Act>>>> = Mutex::new(None);

/// Has `act` done whenever any thread passes the failpoint, beside what others do there. It finds out itself whether the
/// thread is one of its test's.
pub fn at(point: &'static str, act: impl Fn() + Send + Sync + 'static) {
    let mut acts = ACTS.lock().unwrap_or_else(PoisonError::into_inner);
    let of_point = acts.get_or_insert_default().entry(point).or_default();
    of_point.push(Arc::new(act));
    if of_point.len() == 1 {
        fail::cfg_callback(point, move || {
            let acts = ACTS.lock().unwrap_or_else(PoisonError::into_inner);
            let of_point = acts.as_ref().and_then(|acts| acts.get(point)).cloned().unwrap_or_default();
            drop(acts);
            of_point.iter().for_each(|act| act());
        })
        .unwrap();
    }
}

thread_local! {
    /// The points at one of which this thread crashes, and how often it passes one of them before.
    static CRASH: Cell<Option<(&'static [&'static str], usize)>> = const { Cell::new(None) };
}

/// Does `act`, which crashes when it comes to one of the points for the (n + 1)-th time: then there is none. Other
/// threads are not hit.
pub fn until_crash<T>(points: &'static [&'static str], nth: usize, act: impl FnOnce() -> T) -> Option<T> {
    static SET: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    for point in points {
        if SET.lock().unwrap_or_else(PoisonError::into_inner).insert(point) {
            at(point, || match CRASH.get().filter(|(points, _)| points.contains(point)) {
                Some((_, 0)) => {
                    CRASH.set(None);
                    resume_unwind(Box::new("a crash"));
                }
                Some((points, left)) => CRASH.set(Some((points, left - 1))),
                None => {}
            });
        }
    }
    CRASH.set(Some((points, nth)));
    let done = catch_unwind(AssertUnwindSafe(act)).ok();
    CRASH.set(None);
    done
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
    !again(test).env(DOOM, format!("{role} {point} {round} {}", root.display())).status().unwrap().success()
}
