//! A history that was tampered with, and one whose locks or folder went, as somebody meets them.

use crate::history::room::{self, *};

/// A vault with five snapshots of three notes.
fn vault() -> TestVault {
    let vault = TestVault::new("//- zone: Europe/London\n//- /sub/b.md\ntwo\n//- /c.md\nthree\n");
    for text in ["one", "text 1", "text 2", "text 3", "text 4"] {
        knows(&vault, "a.md", format!("{text}\n"));
    }
    let _ = vault.run(&["history", "verify"]).ok();
    vault
}

fn git(vault: &TestVault, args: &[&str]) -> String {
    room::said(room::git_command(&repository(vault)).args(args)).trim().to_owned()
}

/// The file of the object that this names.
fn object(vault: &TestVault, revision: &str) -> PathBuf {
    let id = git(vault, &["rev-parse", revision]);
    repository(vault).join("objects").join(&id[..2]).join(&id[2..])
}

fn remove(vault: &TestVault, revision: &str) {
    std::fs::remove_file(object(vault, revision)).unwrap();
}

/// All objects in one pack.
fn pack(vault: &TestVault) -> PathBuf {
    git(vault, &["gc", "--quiet"]);
    let packs = files_below(&repository(vault).join("objects/pack"));
    packs.into_iter().find(|path| path.extension().unwrap() == "pack").unwrap()
}

fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 0x10;
    overwrite(path, bytes);
}

/// Writes what git has made read-only.
fn overwrite(path: &Path, bytes: impl AsRef<[u8]>) {
    set_mode(path, 0o644);
    std::fs::write(path, bytes).unwrap();
}

/// A commit of the tree of `of` with another message or date, after `parent`.
fn commit(vault: &TestVault, of: &str, message: &str, date: &str, parent: Option<&str>) -> String {
    let tree = git(vault, &["rev-parse", &format!("{of}^{{tree}}")]);
    let mut command = room::git_command(&repository(vault));
    command.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
    command.args(["-c", "user.name=cli", "-c", "user.email=cli@vault-agent.invalid"]);
    command.args(["commit-tree", "-m", message]).args(parent.into_iter().flat_map(|parent| ["-p", parent]));
    room::said(command.arg(tree)).trim().to_owned()
}

/// Such a commit is the newest.
fn amend(vault: &TestVault, of: &str, message: &str, date: &str, parent: Option<&str>) {
    set_main(vault, &commit(vault, of, message, date, parent));
}

const DATE: &str = "2026-12-01T09:30:10Z";

/// `main~from` and what follows it, made anew on top of `base`.
fn replay(vault: &TestVault, from: usize, base: &str) -> String {
    let mut parent = base.to_owned();
    for back in (0..from).rev() {
        let of = git(vault, &["rev-parse", &format!("main~{back}")]);
        parent = commit(vault, &of, &git(vault, &["log", "-1", "--format=%B", &of]), DATE, Some(&parent));
    }
    parent
}

fn newest_message(vault: &TestVault) -> String {
    git(vault, &["log", "-1", "--format=%B", "main"])
}

fn set_main(vault: &TestVault, id: &str) {
    git(vault, &["update-ref", "refs/heads/main", id]);
}

type Tampering = (&'static str, fn(&TestVault));

const REWRITTEN: &[Tampering] = &[
    ("the last snapshot amended", |vault| {
        amend(vault, "main", "human: nothing to see", DATE, Some("main~1"));
    }),
    ("the last snapshot's time changed", |vault| {
        amend(vault, "main", &newest_message(vault), "2020-01-01T00:00:00Z", Some("main~1"));
    }),
    ("the last snapshot's files changed", |vault| {
        amend(vault, "main~3", &newest_message(vault), DATE, Some("main~1"));
    }),
    ("a snapshot in the middle dropped", |vault| set_main(vault, &replay(vault, 2, "main~3"))),
    ("a snapshot in the middle relabelled as the agent's", |vault| {
        let other = commit(vault, "main~2", "saved: it\n\nActor: mcp\nNote: a.md", DATE, Some("main~3"));
        set_main(vault, &replay(vault, 2, &other));
    }),
    ("the first snapshot relabelled", |vault| {
        let other = commit(vault, "main~4", "first snapshot: 9 files\n\nActor: human", DATE, None);
        set_main(vault, &replay(vault, 4, &other));
    }),
    ("the branch rewound", |vault| set_main(vault, "main~2")),
    ("the past cut off", |vault| amend(vault, "main", &newest_message(vault), DATE, None)),
    ("the branch deleted", |vault| drop(git(vault, &["update-ref", "-d", "refs/heads/main"]))),
    ("a snapshot that nobody of ours made", |vault| {
        amend(vault, "main~1", "changed a.md\n\nActor: human\nNote: a.md", DATE, Some("main"));
    }),
    ("a line cut out of the list of snapshots", |vault| {
        let log = vault.state().join("history.log");
        let text = std::fs::read_to_string(&log).unwrap();
        std::fs::write(&log, text.replacen(&format!("{}\n", text.lines().nth(1).unwrap()), "", 1)).unwrap();
    }),
    ("rewound, and everything collected", |vault| {
        set_main(vault, "main~2");
        git(vault, &["reflog", "expire", "--expire=now", "--all"]);
        git(vault, &["gc", "--prune=now", "--quiet"]);
    }),
];

const FOREIGN: &[Tampering] = &[
    ("a snapshot replaced for plain git", |vault| drop(git(vault, &["replace", "main~1", "main~3"]))),
    ("another branch named by HEAD", |vault| {
        git(vault, &["update-ref", "refs/heads/other", "main~2"]);
        git(vault, &["symbolic-ref", "HEAD", "refs/heads/other"]);
    }),
    ("a shallow boundary", |vault| {
        let id = git(vault, &["rev-parse", "main~1"]);
        std::fs::write(repository(vault).join("shallow"), format!("{id}\n")).unwrap();
    }),
    ("another parent grafted", |vault| {
        let ids = git(vault, &["rev-parse", "main", "main~3"]).replace('\n', " ");
        std::fs::write(repository(vault).join("info/grafts"), ids).unwrap();
    }),
];

const MISSING: &[Tampering] = &[
    ("the text of a note deleted", |vault| remove(vault, "main:sub/b.md")),
    ("an old text of a note deleted", |vault| remove(vault, "main~2:a.md")),
    ("an old folder's list deleted", |vault| remove(vault, "main~2^{tree}")),
    ("an old snapshot deleted", |vault| remove(vault, "main~2")),
    ("a pack swapped with another history's", |vault| {
        let other = self::vault();
        knows(&other, "a.md", "another one's");
        overwrite(&pack(vault), std::fs::read(pack(&other)).unwrap());
    }),
];

const DAMAGED: &[Tampering] = &[
    ("a text damaged", |vault| damage(&object(vault, "main~1:a.md"))),
    ("a text emptied", |vault| overwrite(&object(vault, "main~1:a.md"), "")),
    ("a text in another one's place", |vault| {
        overwrite(&object(vault, "main~1:a.md"), std::fs::read(object(vault, "main:c.md")).unwrap());
    }),
    ("a pack damaged", |vault| damage(&pack(vault))),
];

fn verified(vault: &TestVault) -> Vec<String> {
    let run = vault.run(&["history", "verify", "--json"]);
    let found = run.json();
    let flaws = found["flaws"].as_array().unwrap();
    let kinds: Vec<String> = flaws.iter().map(|flaw| flaw["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(run.code, i32::from(!kinds.is_empty()), "{run:?}");
    kinds
}

fn doctor(vault: &TestVault) -> String {
    let row = &vault.doctor("history")[0];
    format!("{} {}", row["status"].as_str().unwrap(), row["detail"].as_str().unwrap())
}

#[test]
fn every_tampering_is_seen() {
    let groups = [("rewritten", REWRITTEN), ("foreign", FOREIGN), ("missing", MISSING), ("damaged", DAMAGED)];
    for (kind, tamperings) in groups {
        for (name, tamper) in tamperings {
            let vault = vault();
            tamper(&vault);
            let found = verified(&vault);
            assert!(found.iter().any(|found| found == kind), "{name}: {found:?}");
            let audit = vault.run(&["audit", "--json"]).exits(1).json();
            assert_eq!(audit["flaws"], vault.run(&["history", "verify", "--json"]).json()["flaws"], "{name}");
            // A text that is there and damaged is only found by reading it, a line by going through the list.
            if kind != "damaged" && !name.contains("line cut") {
                let said = doctor(&vault);
                assert!(said.starts_with("fail "), "{name}: {said:?}");
            }
        }
    }
}

#[test]
fn what_was_rewritten_stays_said_until_a_person_takes_it() {
    let vault = vault();
    set_main(&vault, "main~2");
    // The next snapshots go on from there.
    for text in ["5", "6"] {
        vault.write("a.md", text);
        let said = vault.run(&["history", "-n", "1"]).ok();
        assert_eq!(said.stderr.contains("changed by another program"), text == "5", "{said:?}");
    }
    assert!(doctor(&vault).contains("another program has rewritten it"));
    let found = vault.run(&["history", "verify"]);
    assert_eq!(found.stdout.matches("was taken out of the history").count(), 2, "{found:?}");
    vault.run(&["history", "verify", "--accept"]).ok().warns("the history was accepted as it was");
    vault.write("a.md", "7");
    let _ = vault.run(&["audit"]).ok();
    assert!(doctor(&vault).starts_with("ok "));
}

#[test]
fn an_older_vault_has_no_list_and_gets_one() {
    let vault = vault();
    std::fs::remove_file(vault.state().join("history.log")).unwrap();
    knows(&vault, "a.md", "more");
    for look in [&["history", "verify"][..], &["audit"]] {
        vault.run(look).ok().warns("the list of snapshots begins on");
    }
    set_main(&vault, "main~1");
    assert!(verified(&vault).contains(&"rewritten".to_owned()));
}

#[test]
fn a_branch_file_that_was_emptied_or_cut_heals_at_once_and_loses_nothing() {
    let torn: [fn(&str) -> String; 4] =
        [|_| String::new(), |id| id[..17].to_owned(), |_| "\0".repeat(41), |id| format!("{id}{id}")];
    for tear in torn {
        for first in [&["history", "-n", "1"][..], &["history", "verify"], &["memory", "save", "a fact"]] {
            let vault = vault();
            let id = git(&vault, &["rev-parse", "main"]);
            let count = vault.run(&["history", "--json"]).json().as_array().unwrap().len();
            // Another state of the branch, long ago: it must not come back.
            let old = format!("{} refs/heads/main\n", git(&vault, &["rev-parse", "main~3"]));
            std::fs::write(repository(&vault).join("packed-refs"), old).unwrap();
            std::fs::write(repository(&vault).join("refs/heads/main"), tear(&id)).unwrap();
            vault.run(first).ok().warns_not("not recorded");
            assert_eq!(verified(&vault), Vec::<String>::new());
            vault.run(&["history", "verify"]).ok().warns("was damaged on");
            let more = usize::from(first[0] == "memory");
            assert_eq!(vault.run(&["history", "--json"]).json().as_array().unwrap().len(), count + more);
            room::fsck(&repository(&vault));
        }
    }
}

#[test]
fn locks_that_a_killed_process_left_stop_nobody() {
    let vault = vault();
    for lock in ["refs/heads/main.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "index.lock"] {
        std::fs::write(repository(&vault).join(lock), "").unwrap();
        vault.write("a.md", format!("while {lock} was there\n"));
        assert!(doctor(&vault).starts_with("ok "), "{lock}");
        std::fs::write(repository(&vault).join(lock), "").unwrap();
        vault.run(&["memory", "save", &format!("a fact saved beside {lock}")]).ok().warns_not("not recorded");
        let _ = vault.run(&["history"]).ok();
        assert_eq!(git(&vault, &["show", "main:a.md"]), format!("while {lock} was there"));
        assert!(!repository(&vault).join(lock).exists(), "{lock}");
    }
    let _ = vault.run(&["audit"]).ok();
    room::fsck(&repository(&vault));
}

#[test]
fn what_can_not_be_written_is_said_by_doctor_and_the_command() {
    let vault = vault();
    let objects = repository(&vault).join("objects");
    set_mode(&objects, 0o500);
    if std::fs::write(objects.join("probe"), "").is_ok() {
        eprintln!("the super-user writes everywhere, so this proves nothing here");
        return;
    }
    assert!(doctor(&vault).contains("no snapshot can be taken"), "{}", doctor(&vault));
    let new = TestVault::new("//- /a.md\none\n");
    set_mode(new.state(), 0o500);
    new.run(&["history"]).exits(1).warns("can't create");
    set_mode(objects, 0o700);
    set_mode(new.state(), 0o700);
}

/// The page looks at the history at each visit.
#[test]
fn a_quick_look_waits_for_no_snapshot() {
    let room = Room::of(&[("a.md", "one\n")]);
    let lock = std::fs::File::open(room.history.dir().join("vault-agent.lock")).unwrap();
    lock.lock().unwrap();
    room.history.check_writable().unwrap();
}

/// As a file system's error, and rights that are taken away for a moment.
#[test]
fn a_history_that_can_not_be_read_is_left_alone() {
    let vault = vault();
    let (at, away) = (repository(&vault), vault.state().join("away"));
    std::fs::rename(&at, &away).unwrap();
    std::os::unix::fs::symlink(&at, &at).unwrap();
    assert!(doctor(&vault).contains("can't read"), "{:?}", doctor(&vault));
    vault.run(&["history"]).exits(1).warns("can't read");
    std::fs::remove_file(&at).unwrap();
    std::fs::rename(&away, &at).unwrap();
    assert_eq!(verified(&vault), Vec::<String>::new());
    // What was left of a deleted one is named.
    std::fs::remove_dir_all(at.join("objects")).unwrap();
    std::fs::remove_file(at.join("HEAD")).unwrap();
    let said = vault.run(&["history"]).ok();
    said.warns("a new one begins; what was left of the history is in `").warns(".old`");
}

#[test]
fn a_history_that_was_deleted_begins_anew_and_says_so() {
    let vault = vault();
    std::fs::remove_dir_all(repository(&vault)).unwrap();
    vault.run(&["history"]).ok().warns("a new one begins");
    vault.run(&["history", "verify"]).ok().warns("`history.git` was gone on");
    assert!(doctor(&vault).starts_with("ok "));
    // Only what names the branch: the objects are there.
    std::fs::remove_file(repository(&vault).join("HEAD")).unwrap();
    knows(&vault, "a.md", "and on");
    assert_eq!(verified(&vault), Vec::<String>::new());
}
