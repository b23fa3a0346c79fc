//! Answers say how fresh they are; nothing makes them silently wrong.

use vault_agent::search::follow::follower::signed;

use super::vault::*;

/// An index and its follower, which has looked at everything once.
fn followed(vault: &TestVault) -> (Arc<Index>, Told) {
    let index = Arc::new(vault.index());
    let follower = Told::start(&index);
    (index, follower)
}

#[test]
fn without_a_daemon_every_query_sees_the_disk() {
    let (vault, index) = indexed("//- a.md\nfirst\n//- b.md\nsecond\n");
    let count = |query: &str| index.ask(query).hits.len();
    assert_eq!((count("first"), count("third")), (1, 0));
    vault.write("a.md", "third");
    assert_eq!((count("first"), count("third")), (0, 1));
    vault.remove("a.md");
    assert_eq!(count("third"), 0);
    let answer = index.ask("second");
    assert_eq!(answer.freshness.checked_by, CheckedBy::Scan);
    assert!(answer.freshness.complete && answer.freshness.warnings.is_empty());
}

#[test]
fn a_follower_vouches_and_what_it_has_not_committed_is_read_directly() {
    let vault = TestVault::new("//- a.md\nfirst\n//- b.md\nsecond\n");
    let (index, follower) = followed(&vault);
    assert!(Follower::start(Arc::clone(&index)).is_err(), "one follower a vault");
    let other = vault.index();
    assert_eq!(beside_a_daemon(&other, "first").hits.len(), 1);
    vault.write("a.md", "third");
    follower.changed(["a.md".to_owned()]);
    // At once, committed or not.
    assert_eq!(other.ask("third").hits.len(), 1);
    until("the commit", || follower.following().behind == 0);
    assert_eq!(beside_a_daemon(&other, "third").freshness.read_directly, 0);
    // A hit that changed although the watcher said nothing is found out by its stat.
    vault.write("b.md", "fourth");
    assert!(other.ask("second").hits.is_empty());
    follower.rescan("test");
    follower.looked();
    assert_eq!(other.ask("fourth").hits.len(), 1);
    // A folder that was renamed.
    vault.write("in/c.md", "fifth");
    follower.commit(&["in"]);
    fs::rename(vault.path("in"), vault.path("out")).unwrap();
    follower.commit(&["in", "out"]);
    assert_eq!(other.found("fifth"), ["out/c.md:1 paragraph fifth"]);
    // A watcher that is blind is not trusted.
    follower.unwatched("test");
    follower.looked();
    vault.write("unseen.md", "sixth");
    assert_eq!(other.ask("sixth").hits.len(), 1);
    drop(follower);
    assert_eq!(other.checked("third"), (1, CheckedBy::Scan));
}

#[test]
fn beside_a_follower_nothing_is_missed_before_it_has_settled() {
    let vault = TestVault::new("//- a.md\nfirst\n//- MEMORY.md\n- tea\n");
    let (_, follower) = followed(&vault);
    let other = vault.index();
    let count = |query: &str| other.ask(query).hits.len();
    // Changing, but not settled: nothing is committed, and others read the note itself.
    vault.write("a.md", "first second");
    follower.changing(["a.md".to_owned()]);
    assert_eq!((count("second"), follower.following().behind), (1, 1));
    follower.commit(&["a.md"]);
    assert_eq!(count("second"), 1);
    // One that stirred and was then looked at with all others is settled.
    follower.changing(["a.md".to_owned()]);
    follower.rescan("test");
    follower.looked();
    // The agent's own notes, of which nobody has heard yet. One word is known, so that the answer isn't empty.
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let own = ["MEMORY.md", "Pinned.md", "Reminders.md", "COMMITMENTS.md", &format!("daily/{now}.md")];
    for (n, path) in own.iter().enumerate() {
        vault.write(path, format!("- first zebra{n}\n"));
        assert_eq!(beside_a_daemon(&other, &format!("first zebra{n}")).hits[0].path, *path);
    }
    // Nor does a dead watcher cause an empty answer.
    vault.write("unseen.md", "unheard");
    assert_eq!(other.checked("unheard"), (1, CheckedBy::Scan));
}

#[test]
fn beside_a_daemon_no_answer_is_older_than_the_disk() {
    let vault = TestVault::new("//- a.md\nalways\n");
    let (daemon, index) = (Daemon::start(&vault), vault.index());
    let mut by_daemon = 0;
    for n in 0..300 {
        let path = format!("{}/note.md", n % 7);
        vault.write(&path, format!("always now{n}\n"));
        // A word that is known besides, so that the answer is never empty and nobody looks at everything for that.
        let answer = index.ask(format!("always now{n}"));
        assert_eq!(answer.hits[0].path, path, "{n}: {:?}", answer.freshness);
        assert_eq!(answer.hits[0].text, format!("always now{n}"), "{n}: {:?}", answer.freshness);
        assert!(answer.freshness.complete, "{n}: {:?}", answer.freshness);
        by_daemon += usize::from(answer.freshness.checked_by == CheckedBy::Daemon);
        if n % 10 == 9 {
            std::fs::remove_file(vault.path(&path)).unwrap();
            let answer = index.ask(format!("always now{n}"));
            assert!(answer.hits.iter().all(|hit| hit.path != path), "{n}: {:?}", answer.freshness);
        }
    }
    assert!(by_daemon > 0, "the daemon never vouched: {:?}", daemon.follower.following());
}

#[test]
fn beside_a_daemon_no_note_in_a_new_folder_is_missed() {
    let vault = TestVault::new("//- a.md\nalways\n");
    let (daemon, index) = (Daemon::start(&vault), vault.index());
    for folder in 1..=30 {
        for n in 0..25 {
            vault.write(format!("copied {folder}/{}/{n}.md", n % 2), "always\n");
        }
        let answer = index.search(&Query::new("always").limit(1000)).unwrap();
        assert_eq!(answer.hits.len(), 1 + folder * 25, "{:?}", answer.freshness);
        assert!(answer.freshness.complete);
    }
    until("the commit", || daemon.follower.following().behind == 0);
    assert_eq!(vault.find("always").len(), 10);
}

#[test]
fn an_index_that_was_made_anew_beside_a_daemon_is_not_vouched_for_while_it_is_empty() {
    let notes: String = (0..60).map(|n| format!("//- b{n}.md\ncommon\n")).collect();
    for lost in ["index.sqlite", "index.seal", "tantivy"] {
        let vault = TestVault::new(&notes);
        let (daemon, index) = (Daemon::start(&vault), vault.index());
        let all = || {
            let answer = index.search(&Query::new("common").limit(1000)).unwrap();
            assert_eq!(answer.hits.len(), 60, "{lost}: {:?}", answer.freshness);
        };
        all();
        let path = index.cache().join(lost);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
        vault.write("b1.md", "common changed\n");
        for _ in 0..20 {
            all();
            // What the daemon is told is what it commits, into an index of whatever making.
            daemon.follower.changed(["b1.md".to_owned()]);
        }
        assert_eq!(beside_a_daemon(&index, "common changed").hits[0].path, "b1.md");
        all();
    }
}

#[test]
fn a_daemon_s_word_that_is_damaged_or_about_a_lost_commit_is_not_believed() {
    let vault = TestVault::new("//- a.md\nfirst\n");
    let (_, _follower) = followed(&vault);
    let other = vault.index();
    assert_eq!(beside_a_daemon(&other, "first").hits.len(), 1);
    let word = vault.cache().join("live");
    let said = std::fs::read_to_string(&word).unwrap();
    let (commit, _) = said.split_once('\n').unwrap();
    // As if a damaged log had lost the last commit: the daemon knows of a later one than is there.
    let (epoch, generation) = commit.rsplit_once(' ').unwrap();
    let later = signed(&format!("{epoch} {}", generation.parse::<u64>().unwrap() + 1));
    // As if the file had been cut: it may have named changed notes.
    for damaged in [&later, commit] {
        let mut rounds = 0;
        until("five looks at every file", || {
            std::fs::write(&word, damaged).unwrap();
            let checked = other.checked("first");
            // The follower may have said it anew meanwhile.
            if std::fs::read_to_string(&word).unwrap() == damaged {
                assert_eq!(checked, (1, CheckedBy::Scan));
                rounds += 1;
            }
            rounds == 5
        });
    }
}

#[test]
fn an_older_index_that_was_put_back_beside_a_daemon_is_not_vouched_for() {
    let vault = TestVault::new("//- a.md\nplain\n//- b.md\nkelp\n//- c.md\nplain\n");
    let (index, follower) = followed(&vault);
    let each_table = |sql: &str| {
        let tables = ["meta", "files", "segments", "dead"].map(|table| sql.replace("{}", table)).concat();
        let conn = rusqlite::Connection::open(index.cache().join("index.sqlite")).unwrap();
        conn.execute_batch(&format!("BEGIN IMMEDIATE; {tables} COMMIT")).unwrap();
    };
    each_table("CREATE TABLE old_{} AS SELECT * FROM {};");
    vault.write("a.md", "kelp");
    follower.commit(&["a.md"]);
    each_table("DELETE FROM {}; INSERT INTO {} SELECT * FROM old_{};");
    vault.write("c.md", "other");
    follower.commit(&["c.md"]);
    assert_eq!(beside_a_daemon(&vault.index(), "kelp").hits.len(), 2);
}

#[test]
fn a_file_that_a_merge_removes_is_no_damage() {
    let vault = searched("//- a.md\nfirst\n");
    // Another process merges, and holds the lock.
    let lock = std::fs::File::options().write(true).open(vault.cache().join("write.lock")).unwrap();
    lock.lock().unwrap();
    let files = std::fs::read_dir(vault.cache().join("tantivy")).unwrap();
    let moved: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    let away = |path: &Path| vault.cache().join(path.file_name().unwrap());
    moved.iter().for_each(|path| std::fs::rename(path, away(path)).unwrap());
    let index = vault.index();
    let answer = std::thread::scope(|scope| {
        let search = scope.spawn(|| index.ask("first"));
        let waits = |line: &str| line.contains("-> FLOCK") && line.contains(&std::process::id().to_string());
        until("the search to wait", || {
            std::fs::read_to_string("/proc/locks").unwrap().lines().any(waits) || search.is_finished()
        });
        moved.iter().for_each(|path| std::fs::rename(away(path), path).unwrap());
        lock.unlock().unwrap();
        search.join().unwrap()
    });
    assert_eq!((answer.hits.len(), answer.freshness.warnings), (1, Vec::new()));
}

#[test]
fn no_answer_is_short_while_many_notes_change() {
    const NOTES: usize = 1200;
    let vault = TestVault::new("");
    let root = vault.path("");
    let write = |round: usize, n: usize| {
        let (new, folder) = (root.join(format!(".{n}.tmp")), root.join((n % 12).to_string()));
        std::fs::write(&new, format!("always round{round}\n")).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::rename(new, folder.join(format!("{n}.md"))).unwrap();
    };
    (0..NOTES).for_each(|n| write(0, n));
    let (_daemon, index) = (Daemon::start(&vault), vault.index());
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (1..3).for_each(|round| (0..NOTES).for_each(|n| write(round, n))));
        for _ in 0..20 {
            let is_over = writer.is_finished();
            let answer = index.search(&Query::new("always").limit(NOTES * 2)).unwrap();
            assert_eq!(answer.hits.len(), NOTES, "{:?}", answer.freshness);
            if is_over {
                break;
            }
        }
    });
    let answer = index.search(&Query::new("always round2").limit(NOTES)).unwrap();
    assert!(answer.hits.iter().all(|hit| hit.text == "always round2"), "{:?}", answer.freshness);
}

#[test]
fn a_follower_survives_the_deletion_of_the_cache() {
    let vault = TestVault::new("//- a.md\nfirst\n");
    let (index, follower) = followed(&vault);
    // The follower writes its word there meanwhile.
    until("the deletion", || std::fs::remove_dir_all(vault.cache()).is_ok());
    assert_eq!(index.ask("first").hits.len(), 1);
    vault.write("b.md", "second");
    follower.changed(["b.md".to_owned()]);
    follower.looked();
    until("the new lock", || vault_agent::search::follow::follower::is_held(&vault.cache()));
    assert_eq!(vault.find("second").len(), 1);
}

#[test]
fn an_emptied_or_unmounted_vault_forgets_nothing_and_says_so() {
    let (vault, index) = indexed("//- a.md\nfirst\n//- b.md\nfirst too\n");
    assert_eq!(index.ask("first").hits.len(), 2);
    std::fs::rename(vault.root(), vault.home().join("away")).unwrap();
    let answer = index.ask("first");
    assert_eq!((answer.hits.len(), answer.freshness.checked_by), (2, CheckedBy::Nobody));
    let of = &answer.freshness;
    assert!(!of.complete && of.warnings[0].contains("not there"), "{of:?}");
    std::fs::create_dir(vault.root()).unwrap();
    let answer = index.ask("first");
    assert_eq!(answer.hits.len(), 2);
    assert!(answer.freshness.warnings[0].contains("no notes"), "{:?}", answer.freshness);
    let health = index.health(true);
    assert!(health.iter().any(|found| found.detail.contains("no notes")), "{health:?}");
    assert!(index.catch_up().is_err());
    assert!(index.update(&["a.md".to_owned(), "b.md".to_owned()]).is_err());
    // On purpose it is emptied.
    index.reindex(&|_| {}, &AtomicBool::new(false)).unwrap();
    assert!(index.ask("first").hits.is_empty());
}

/// Changes a byte of a file where it stands: the one that `place` says, which is told the file's length.
fn spoil(path: &Path, place: impl FnOnce(usize) -> Option<usize>) {
    let mut bytes = fs::read(path).unwrap();
    if let Some(place) = place(bytes.len()) {
        bytes[place] ^= 0x80;
        fs::File::options().write(true).open(path).unwrap().write_all(&bytes).unwrap();
    }
}

#[test]
fn a_damaged_old_or_deleted_cache_is_made_anew() {
    let vault = TestVault::new("//- a.md\nfirst\n");
    let good = vault.find("first");
    // Bytes and files: `recall::damage`.
    let conn = rusqlite::Connection::open(vault.cache().join("index.sqlite")).unwrap();
    conn.execute("UPDATE meta SET value = 'another version' WHERE key = 'schema'", []).unwrap();
    drop(conn);
    assert_eq!(vault.find("first"), good);
    // Under an open index too.
    let index = vault.index();
    let segments = || files_below(&vault.cache().join("tantivy"));
    for extension in ["store", "rows", "idx", "pos", "term"] {
        assert_eq!(index.found("first"), good);
        for path in segments().iter().filter(|path| path.extension().unwrap() == extension) {
            spoil(path, |length| Some(length / 2));
        }
        let answer = index.ask("first");
        assert_eq!(show(&answer), good, "{extension}");
        assert!(answer.freshness.warnings.is_empty(), "{extension}: {:?}", answer.freshness);
        let told: String = index.health(false).into_iter().map(|found| found.detail).collect();
        assert!(told.contains(&format!(".{extension}` is not what it was")), "{extension}: {told}");
    }
    let cut = |path: PathBuf| fs::File::options().write(true).open(path).unwrap().set_len(0).unwrap();
    segments().into_iter().for_each(cut);
    assert_eq!(index.found("first"), good);
    // The log of the database, which SQLite trusts once it has read it.
    let log = vault.cache().join("index.sqlite-wal");
    for at in 1..200 {
        vault.write("second äöü.md", format!("other\n\n{at} times\n"));
        index.catch_up().unwrap();
        spoil(&log, |length| length.checked_sub(at * 101));
        vault.write("third.md", format!("other\n\n{at} times\n"));
        for (query, count) in [("\"first\"", 1), ("\"other\"", 2)] {
            let answer = index.ask(query);
            assert_eq!(answer.hits.len(), count, "{at}: {answer:?}");
        }
    }
    std::fs::remove_dir_all(vault.cache()).unwrap();
    assert_eq!(index.found("first"), good);
}

#[test]
fn an_interrupted_reindex_changes_nothing() {
    let (_vault, index) = indexed("//- a.md\nfirst\n");
    let before = index.ask("first");
    assert!(matches!(index.reindex(&|_| {}, &AtomicBool::new(true)), Err(IndexError::Interrupted)));
    assert_eq!(index.ask("first"), before);
    index.reindex(&|_| {}, &AtomicBool::new(false)).unwrap();
    assert_eq!(index.ask("first").hits, before.hits);
}

#[test]
fn a_note_that_is_looked_at_twice_counts_once() {
    let vault = TestVault::new("//- a.md\nfirst\n\nand more\n\nand more\n//- b.md\nsecond first\n");
    let (index, follower) = followed(&vault);
    // One is being typed and read directly, of the other nobody heard: before it says that there is nothing, it looks at
    // both.
    vault.write("a.md", "third");
    follower.changing(["a.md".to_owned()]);
    vault.write("b.md", "fourth first\n");
    let answer = index.ask("fourth");
    assert_eq!((answer.hits.len(), answer.freshness.read_directly), (1, 2));
    assert_eq!(answer.hits, vault.index_at(tempfile::tempdir().unwrap().path()).ask("fourth").hits);
}

/// The program as a user for whom rights count; none where this can't be.
fn as_ordinary_user(vault: &TestVault) -> Option<impl Fn(&[&str]) -> Command> {
    let is_root = rustix::process::geteuid().is_root();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let command =
        move |args: &[&str]| if is_root { vault.started_by(&user, args) } else { vault.command(args) };
    if is_root {
        let owner = Command::new("chown").args(["-R", "65534:65534"]).arg(vault.dir()).status();
        let runs = command(&["--version"]).output();
        if !owner.is_ok_and(|it| it.success()) || !runs.is_ok_and(|it| it.status.success()) {
            eprintln!("skipped: rights don't count for root, and no other user can run the program");
            return None;
        }
    }
    Some(command)
}

/// A daemon, once it vouches for what a search finds.
fn vouching_daemon(command: &impl Fn(&[&str]) -> Command) -> Killed {
    let mut run = command(&["run"]);
    let daemon = Killed(run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    until("the daemon to vouch", || {
        Run::of(&mut command(&["--json", "search", "goose"])).json()["freshness"]["checked_by"] == "daemon"
    });
    daemon
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_answer_is_not_complete() {
    let vault = TestVault::new("//- a.md\ngoose\n//- shut.md\ngoose\n");
    let Some(command) = as_ordinary_user(&vault) else { return };
    let one = "`shut.md` was not searched: it can't be read: Permission denied (os error 13)";
    // When the index is made, once it is committed, and where nothing is found.
    set_mode(vault.path("shut.md"), 0o0);
    let search = |query: &str, complete: bool, hits: usize| {
        for asks in ["search", "recall"] {
            let run = Run::of(&mut command(&["--json", asks, query])).ok().json();
            let warnings = if complete { Value::Null } else { json!([one]) };
            assert_eq!(pick(&run["freshness"], "complete warnings"), json!([complete, warnings]), "{run}");
            assert!(asks == "recall" || run["hits"].as_array().unwrap().len() == hits, "{run}");
        }
    };
    search("what of the goose", false, 1);
    search("what of the goose", false, 1);
    Run::of(&mut command(&["search", "zebra"])).ok().warns(one).warns("nothing found");
    Run::of(&mut command(&["recall", "what of the goose"])).ok().warns(one);
    // Beside a daemon.
    let _daemon = vouching_daemon(&command);
    search("what of the goose", false, 1);
    set_mode(vault.path("shut.md"), 0o644);
    search("what of the goose", true, 2);
    // Without a cache.
    set_mode(vault.path("shut.md"), 0o0);
    let mut bare = command(&["--json", "search", "goose"]);
    let run = Run::of(bare.env("VAULT_AGENT_CACHE_DIR", vault.path("a.md").join("cache"))).ok().json();
    assert_eq!(run["freshness"]["complete"], false, "{run}");
}

#[test]
fn a_folder_that_cannot_be_read_is_named_and_the_answer_is_not_complete() {
    let vault = TestVault::new("//- a.md\ngoose\n//- shut/b.md\ngoose\n//- open/in/c.md\ngoose\n");
    let Some(command) = as_ordinary_user(&vault) else { return };
    let search = |with: &str| {
        let run = Run::of(&mut command(&["--json", "search", "goose"])).ok().json();
        let (hits, fresh) = (run["hits"].as_array().unwrap().len(), &run["freshness"]);
        assert_eq!(fresh["checked_by"], with, "{run}");
        let warnings: Vec<String> = serde_json::from_value(fresh["warnings"].clone()).unwrap_or_default();
        (hits, fresh["complete"].as_bool().unwrap(), warnings.join("; "))
    };
    assert_eq!(search("scan"), (3, true, String::new()));
    set_mode(vault.path("shut"), 0o0);
    set_mode(vault.path("open/in"), 0o0);
    let one =
        |path: &str| format!("`{path}` was not searched: it can't be read: Permission denied (os error 13)");
    assert_eq!(search("scan"), (1, false, format!("{}; {}", one("open/in"), one("shut"))));
    Run::of(&mut command(&["search", "goose"])).ok().says("a.md").warns(one("shut"));
    // What is left out on purpose is not missed.
    vault.write("vault-agent.toml", "[index]\nexclude = [\"open/in/**\"]\n");
    assert_eq!(search("scan"), (1, false, one("shut")));
    // Beside a daemon, which looks at it no more than once.
    let _daemon = vouching_daemon(&command);
    let (hits, complete, warnings) = search("daemon");
    assert_eq!((hits, complete), (1, false), "{warnings}");
    assert!(warnings.starts_with("`shut` was not searched: it can't be read"), "{warnings}");
    set_mode(vault.path("shut"), 0o755);
    assert_eq!(search("daemon"), (2, true, String::new()));
    // Shut again, of which the watcher says nothing.
    set_mode(vault.path("shut"), 0o0);
    let (hits, complete, warnings) = search("scan");
    assert!(hits == 1 && !complete && warnings.contains("`shut"), "{warnings}");
}
