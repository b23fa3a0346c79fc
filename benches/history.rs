//! History against git itself, in one run.
//!
//! The peer is what the Obsidian git plugin and gitwatch do: `git add -A && git commit` in a work tree of
//! the same files, with an index and the untracked cache. Ours is a snapshot of the same change, synced
//! to disk before it returns. A second peer is libgit2 alone, each object synced. Sizes: `NOTES` (10,000),
//! `COMMITS` (50,000). Ratios above 1 are faster than the peer; none is asserted, they are printed.
//!
//! `cargo bench --bench history`, or with `NOTES=100000`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use vault_agent::clock::{Clock, SystemClock};
use vault_agent::config::Settings;
use vault_agent::history::{Deletions, History, LogFilter};
use vault_agent::vault::{Actor, ChangeReason, NotePath, ObservedChange, Vault};

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    let quick = std::env::args().any(|argument| argument == "--test");
    let notes = number("NOTES", if quick { 200 } else { 10_000 });
    let commits = number("COMMITS", if quick { 200 } else { 50_000 });
    let temp = tempfile::Builder::new().prefix("history-bench").tempdir_in(place()).unwrap();
    println!("{notes} notes in folders of 200, 1 to 4 KiB each; {} processors", processors());
    let ours = temp.path().join("vault");
    let theirs = temp.path().join("git");
    write_notes(&ours, notes);
    write_notes(&theirs, notes);
    let vault = Vault::open(&ours).unwrap();
    let state = temp.path().join("state");
    let history = History::open(&vault, &Settings::default(), &state, clock()).unwrap();
    // Files that were just written are read twice; both sides get rested ones.
    std::thread::sleep(Duration::from_millis(2_100));

    let git = git_init(&theirs);
    let first_git = git.then(|| time(|| git_commit(&theirs, "first")));
    let first = time(|| drop(history.snapshot_all(Deletions::Hold).unwrap()));
    row("first snapshot", first, first_git);
    // The second walk settles what the first one could not trust yet.
    std::thread::sleep(Duration::from_millis(2_100));
    history.snapshot_all(Deletions::Hold).unwrap();

    let rounds: u32 = if quick { 2 } else { 9 };
    let changed = note_name(notes / 2);
    let mut turn = 0;
    let mut change = |root: &Path| {
        turn += 1;
        std::fs::write(root.join(&changed), format!("changed for the {turn}th time\n")).unwrap();
    };
    let one_git = git.then(|| {
        median(rounds, || {
            change(&theirs);
            time(|| git_commit(&theirs, "one"))
        })
    });
    let durable_git = git.then(|| {
        git_run(&theirs, &["config", "core.fsync", "all"]);
        let took = median(rounds, || {
            change(&theirs);
            time(|| git_commit(&theirs, "one, synced"))
        });
        git_run(&theirs, &["config", "--unset", "core.fsync"]);
        took
    });
    let paths: BTreeSet<NotePath> = [NotePath::new(&changed).unwrap()].into();
    let one = median(rounds * 3, || {
        change(&ours);
        time(|| drop(history.snapshot_paths(&paths, Deletions::Hold).unwrap()))
    });
    row("snapshot after one changed note", one, one_git);
    row("  against git with core.fsync=all", one, durable_git);
    let opened = median(rounds * 3, || {
        change(&ours);
        time(|| {
            let history = History::open(&vault, &Settings::default(), &state, clock()).unwrap();
            history.snapshot_paths(&paths, Deletions::Hold).unwrap();
        })
    });
    row("  with opening the repository", opened, one_git);

    let plain = Plain::new(&temp.path().join("plain.git"), &ours, notes);
    let one_plain = median(rounds * 3, || {
        change(&ours);
        time(|| plain.commit(&ours, std::slice::from_ref(&changed)))
    });
    row("  against plain git2, each object synced", one, Some(one_plain));

    let many: Vec<String> = (0..notes.min(1_000)).map(note_name).collect();
    let mut change_many = |root: &Path| {
        for name in &many {
            turn += 1;
            std::fs::write(root.join(name), format!("changed for the {turn}th time\n")).unwrap();
        }
    };
    let paths: BTreeSet<NotePath> = many.iter().map(|name| NotePath::new(name).unwrap()).collect();
    let thousand_git = git.then(|| {
        median(3, || {
            change_many(&theirs);
            time(|| git_commit(&theirs, "a thousand"))
        })
    });
    let thousand = median(3, || {
        change_many(&ours);
        time(|| drop(history.snapshot_paths(&paths, Deletions::Hold).unwrap()))
    });
    row("snapshot after 1,000 changed notes", thousand, thousand_git);
    let thousand_plain = median(3, || {
        change_many(&ours);
        time(|| plain.commit(&ours, &many))
    });
    row("  against plain git2, each object synced", thousand, Some(thousand_plain));

    std::thread::sleep(Duration::from_millis(2_100));
    history.snapshot_all(Deletions::Hold).unwrap();
    let status = git.then(|| median(rounds, || time(|| git_run(&theirs, &["status", "--porcelain"]))));
    let walk = median(rounds, || {
        time(|| assert!(history.snapshot_all(Deletions::Hold).unwrap().commits.is_empty()))
    });
    row("full walk, nothing changed (git status)", walk, status);

    println!("peak memory up to here: {} MB", peak_memory());
    life_of_one(temp.path(), commits);
}

/// A snapshot as libgit2 alone makes it: an index, `core.fsyncObjectFiles`, one commit.
struct Plain(git2::Repository);

impl Plain {
    fn new(dir: &Path, root: &Path, notes: usize) -> Self {
        let repo = git2::Repository::init_bare(dir).unwrap();
        let plain = Self(repo);
        plain.commit(root, &(0..notes).map(note_name).collect::<Vec<_>>());
        plain.0.config().unwrap().set_bool("core.fsyncObjectFiles", true).unwrap();
        Self(git2::Repository::open_bare(dir).unwrap())
    }

    fn commit(&self, root: &Path, paths: &[String]) {
        let mut index = self.0.index().unwrap();
        for path in paths {
            let zero = git2::IndexTime::new(0, 0);
            let entry = git2::IndexEntry {
                ctime: zero,
                mtime: zero,
                dev: 0,
                ino: 0,
                mode: 0o100_644,
                uid: 0,
                gid: 0,
                file_size: 0,
                id: git2::Oid::ZERO_SHA1,
                flags: 0,
                flags_extended: 0,
                path: path.clone().into_bytes(),
            };
            index.add_frombuffer(&entry, &std::fs::read(root.join(path)).unwrap()).unwrap();
        }
        let tree = self.0.find_tree(index.write_tree().unwrap()).unwrap();
        index.write().unwrap();
        let who = git2::Signature::now("x", "x@example.invalid").unwrap();
        let parent = self.0.head().ok().map(|head| head.peel_to_commit().unwrap());
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        self.0.commit(Some("HEAD"), &who, &who, "changed", &tree, &parents).unwrap();
    }
}

/// `history --id` over many commits, packed as maintenance leaves them.
fn life_of_one(temp: &Path, commits: usize) {
    let root = temp.join("long");
    std::fs::create_dir_all(&root).unwrap();
    let vault = Vault::open(&root).unwrap();
    let history = History::open(&vault, &Settings::default(), &temp.join("long-state"), clock()).unwrap();
    import_long_history(&history, commits);
    let filter = LogFilter { id: Some("rid_NEEDLE777777".into()), ..LogFilter::default() };
    let took =
        median(5, || time(|| assert_eq!(history.records(&filter).unwrap().len(), commits.div_ceil(1_000))));
    println!("history --id over {commits} commits: {took:?}");
    let path = LogFilter { path: Some("Reminders.md".into()), limit: Some(20), ..LogFilter::default() };
    println!("history Reminders.md, first page: {:?}", time(|| drop(history.records(&path).unwrap())));
    let record = ChangeReason {
        actor: Actor::Scheduler,
        subject: "fired: x".into(),
        body: None,
        trailers: Vec::new(),
    };
    let note = NotePath::new("Reminders.md").unwrap();
    let before = history.read_at(&history.newest().unwrap(), "Reminders.md").unwrap();
    let after = b"after".to_vec();
    let change = ObservedChange { path: &note, before: before.as_deref(), after: Some(&after), why: &record };
    println!(
        "one write of the agent after {commits} commits: {:?}",
        time(|| history.record(&change).unwrap())
    );
}

/// Commits as the agent makes them, through git's own fast-import where there is one: writing each with
/// its syncs would measure the disk for minutes.
fn import_long_history(history: &History, commits: usize) {
    use std::io::Write;
    let mut child = Command::new("git")
        .arg("--git-dir")
        .arg(history.dir())
        .args(["fast-import", "--quiet", "--force"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("git, to make a long history");
    let mut stdin = std::io::BufWriter::new(child.stdin.take().unwrap());
    let mut lines: Vec<String> = (0..40).map(|n| format!("- [ ] reminder {n}")).collect();
    for number in 0..commits {
        let at = number % 40;
        lines[at] = format!("- [ ] reminder {at} changed {number}");
        let id =
            if number % 1_000 == 0 { "rid_NEEDLE777777".to_owned() } else { format!("rid_{number:012}") };
        let text = lines.join("\n") + "\n";
        let message = format!(
            "fired: number {number}\n\nActor: scheduler\nReminder: {id}\nDue: 2026-12-01T09:30:00Z\nDelivery: {number}\nNote: Reminders.md\n"
        );
        let when = 1_700_000_000 + number * 60;
        write!(
            stdin,
            "commit refs/heads/main\ncommitter scheduler <scheduler@vault-agent.invalid> {when} +0000\ndata {}\n{message}\nM 100644 inline Reminders.md\ndata {}\n{text}\n",
            message.len(),
            text.len()
        )
        .unwrap();
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// On the disk that the build is on: a temporary file system in memory would hide what syncing costs.
fn place() -> PathBuf {
    let target = std::env::current_exe().unwrap();
    target.parent().unwrap().to_owned()
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn note_name(number: usize) -> String {
    format!("folder {:03}/note {number}.md", number / 200)
}

fn write_notes(root: &Path, count: usize) {
    let mut seed = 88_172_645_463_325_252_u64;
    for number in 0..count {
        let path = root.join(note_name(number));
        if number % 200 == 0 {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        let mut text = format!("# Note {number}\n\n");
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let length = 1_000 + usize::try_from(seed % 3_000).unwrap();
        while text.len() < length {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            text.push_str(
                ["tea ", "Anna ", "dentist ", "on Friday ", "the garden "]
                    [usize::try_from(seed % 5).unwrap()],
            );
            text.push_str(&format!("{:x} ", seed % 65_536));
        }
        std::fs::write(path, text).unwrap();
    }
}

fn git_init(root: &Path) -> bool {
    if Command::new("git").arg("--version").output().is_err() {
        println!("no git is installed: no ratios");
        return false;
    }
    git_run(root, &["init", "--quiet"]);
    for (key, value) in [
        ("core.untrackedCache", "true"),
        ("index.version", "4"),
        ("user.name", "x"),
        ("user.email", "x@example.invalid"),
        ("gc.auto", "0"),
        ("commit.gpgSign", "false"),
    ] {
        git_run(root, &["config", key, value]);
    }
    true
}

fn git_commit(root: &Path, message: &str) {
    git_run(root, &["add", "-A"]);
    git_run(root, &["commit", "--quiet", "-m", message]);
}

fn git_run(root: &Path, args: &[&str]) {
    let output = Command::new("git").arg("-C").arg(root).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn time(act: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    act();
    begun.elapsed()
}

fn median(rounds: u32, mut act: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..rounds).map(|_| act()).collect();
    all.sort();
    all[all.len() / 2]
}

fn row(what: &str, ours: Duration, theirs: Option<Duration>) {
    match theirs {
        Some(theirs) => println!(
            "{what:<42} ours {:>9.2} ms   git {:>9.2} ms   {:>6.1}x",
            ours.as_secs_f64() * 1e3,
            theirs.as_secs_f64() * 1e3,
            theirs.as_secs_f64() / ours.as_secs_f64()
        ),
        None => println!("{what:<42} ours {:>9.2} ms", ours.as_secs_f64() * 1e3),
    }
}

/// The largest resident set so far, in megabytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}
