//! Killed at every step: the repository is one that git accepts, the vault is whole, and the next
//! command goes on from there.

use crate::history::room::{self, *};

const SNAPSHOT_STEPS: &str = "history::created history::scanned history::objects-written history::logged \
    history::branch-set history::branch-moved";
const RESTORE_STEPS: &str = "history::restore-noted history::restore-step history::objects-written \
    history::logged history::branch-moved history::restore-committed";

fn vault() -> TestVault {
    TestVault::new("//- zone: Europe/London\n//- /a.md\none\n//- /sub/b.md\ntwo\n//- /c.md\nthree\n")
}

/// Plain git reads the same files from the newest snapshot as lie in the vault.
fn snapshot_equals_vault(vault: &TestVault) {
    let git = |args: &[&str]| room::said(room::git_command(&repository(vault)).args(args));
    let listed = git(&["ls-tree", "-r", "-z", "--name-only", "main"]);
    let text = |path: &str| (path.to_owned(), git(&["cat-file", "blob", &format!("main:{path}")]));
    let snapshot: BTreeMap<String, String> = listed.split_terminator('\0').map(text).collect();
    assert_eq!(snapshot, shown(vault));
}

/// Each note is as it was in one of two trees.
fn nothing_is_torn(vault: &TestVault, trees: [&BTreeMap<String, String>; 2], step: &str) {
    for (path, text) in shown(vault) {
        let is_whole = trees.iter().any(|tree| tree.get(&path) == Some(&text));
        assert!(is_whole, "{step}: `{path}` is torn: {text:?}");
    }
}

/// The next snapshot holds the vault as it is, and neither git nor `verify` finds anything wrong, before or after it.
fn goes_on(vault: &TestVault) {
    for look in [&["history", "verify"][..], &["history"], &["history", "verify"]] {
        let _ = vault.run(look).ok();
    }
    room::fsck(&repository(vault));
    snapshot_equals_vault(vault);
}

#[test]
fn a_snapshot_that_is_killed_at_any_step() {
    for step in SNAPSHOT_STEPS.split(' ') {
        // A repository that is there is not created.
        for is_first in [true, false].into_iter().filter(|first| *first || step != "history::created") {
            let vault = vault();
            if !is_first {
                let _ = vault.run(&["history"]).ok();
                vault.write("a.md", "changed\n");
                std::fs::remove_file(vault.path("c.md")).unwrap();
            }
            let before = vault.tree();
            vault.killed(&format!("{step}=return"), &["history"]);
            assert_eq!(vault.tree(), before, "{step}");
            if repository(&vault).join("HEAD").exists() {
                room::fsck(&repository(&vault));
            }
            goes_on(&vault);
        }
    }
}

#[test]
fn a_restore_that_is_killed_at_any_step_is_finished_or_taken_back() {
    for step in RESTORE_STEPS.split(' ') {
        for finish in [true, false] {
            let vault = vault();
            let _ = vault.run(&["history"]).ok();
            let old = vault.tree();
            vault.write("a.md", "changed\n");
            std::fs::remove_file(vault.path("sub/b.md")).unwrap();
            let _ = vault.run(&["history"]).ok();
            let new = vault.tree();
            vault.killed(&format!("{step}=return"), &["restore", "--at", "HEAD~1", "--yes"]);
            room::fsck(&repository(&vault));
            nothing_is_torn(&vault, [&old, &new], step);
            let rest = if finish { &["--at", "HEAD", "--yes"][..] } else { &["--roll-back"] };
            let went_on = vault.run(&[&["restore"], rest].concat()).ok();
            assert_eq!(&shown(&vault), if finish { &old } else { &new }, "{step}: {went_on:?}");
            goes_on(&vault);
        }
    }
}

#[test]
fn a_write_that_is_killed_before_its_snapshot_is_the_agents_whatever_a_person_adds() {
    for step in ["vault::in-place::written", "vault::create::named"] {
        let vault = vault();
        if step.contains("in-place") {
            vault.write("MEMORY.md", "# Memory\n\n- Anna\n");
        }
        let _ = vault.run(&["history"]).ok();
        vault.killed(&format!("{step}=panic"), &["memory", "save", "agents fact"]);
        let written = vault.read("MEMORY.md");
        assert!(written.contains("agents fact"), "{step}");
        vault.write("MEMORY.md", written + "my own line\n");
        let _ = vault.run(&["tick"]).ok();
        let by = |id: usize| vault.json(&["history", "MEMORY.md"])[id]["actor"].clone();
        assert_eq!((by(0), by(1)), ("human".into(), "cli".into()), "{step}");
        let _ = vault.run(&["undo"]).ok();
        let left = vault.read("MEMORY.md");
        assert!(left.contains("my own line") && !left.contains("agents fact"), "{step}: {left}");
        goes_on(&vault);
    }
}

const UNDO_STEPS: &str = "history::undo-noted=return history::restore-step=return \
    history::restore-step=1*off->return history::objects-written=return history::logged=return \
    history::branch-moved=return history::branch-set=return history::restore-committed=return";

#[test]
fn an_undo_that_is_killed_at_any_step_is_finished_by_the_next_and_is_whole_in_between() {
    for step in UNDO_STEPS.split(' ') {
        let restore = &["restore", "--at", "HEAD", "--yes"][..];
        for (between, next) in [(false, &["undo"][..]), (true, &["undo"]), (true, restore)] {
            let vault = vault();
            vault.write("daily/2026-11-30.md", "- Anna likes tea\n");
            let _ = vault.run(&["history"]).ok();
            let before = vault.tree();
            let _ = vault.run(&["memory", "promote", "2026-11-30", "1"]).ok();
            let _ = vault.run(&["memory", "save", "something else"]).ok();
            let newest = vault.tree();
            let _ = vault.run(&["undo"]).ok();
            let promoted = vault.tree();
            assert_ne!(promoted, newest);
            vault.killed(step, &["undo"]);
            nothing_is_torn(&vault, [&before, &promoted], step);
            if between {
                // A snapshot takes nothing of it for a person's.
                let _ = vault.run(&["history"]).ok();
            }
            let went_on = vault.run(next).ok();
            assert_eq!(shown(&vault), before, "{step} {between} {next:?}: {went_on:?}");
            let _ = vault.run(&["history"]).ok();
            room::fsck(&repository(&vault));
            let log = vault.run(&["history", "--json"]).ok().stdout;
            assert_eq!(log.matches("undid: promoted").count(), 1, "{step}: one commit: {log}");
        }
    }
}

#[test]
fn a_person_who_writes_while_an_undo_is_killed_loses_nothing_and_it_is_whole() {
    let (day, memory) = ("daily/2026-11-30.md", "MEMORY.md");
    let notes = [(day, "- Anna likes tea\n"), (memory, "# Memory\n\n## Friends\n\n- Bob\n")];
    for (step, mine) in [("1*off->return", memory), ("1*off->return", day), ("return", memory)] {
        let vault = vault();
        notes.iter().for_each(|(path, text)| vault.write(path, text));
        let _ = vault.run(&["history"]).ok();
        let _ = vault.run(&["memory", "promote", "2026-11-30", "1"]).ok();
        vault.killed(&format!("history::restore-step={step}"), &["undo"]);
        vault.write(mine, format!("mine\n{}", vault.read(mine)));
        let _ = vault.run(&["undo"]).ok();
        for (path, text) in notes {
            let own = if path == mine { "mine\n" } else { "" };
            assert_eq!(vault.read(path), format!("{own}{text}"), "{mine}");
        }
        room::fsck(&repository(&vault));
    }
}

/// The notes, without what the editing engine keeps for a minute.
fn shown(vault: &TestVault) -> BTreeMap<String, String> {
    let mut tree = vault.tree();
    tree.retain(|path, _| !path.contains(".vault-agent-"));
    tree
}

#[test]
fn killed_at_no_step_in_particular() {
    let vault = vault();
    (0..300).for_each(|number| vault.write(format!("n/{number}.md"), format!("note {number}\n")));
    for round in 0..8_u64 {
        vault.write("a.md", format!("round {round}\n"));
        // SIGKILL: nothing is tidied up.
        vault.spawn(&["history"]).kill_after(std::time::Duration::from_millis(3 + round * 11));
        if repository(&vault).join("HEAD").exists() {
            room::fsck(&repository(&vault));
        }
    }
    goes_on(&vault);
}

/// Run by the test below in a process of its own; nothing otherwise.
#[test]
fn a_child_that_packs() {
    let Some((_, root)) = doomed() else { return };
    Room::at(&root).history.pack_from(1).unwrap();
}

#[test]
fn packing_that_is_killed_loses_nothing() {
    let room = Room::new();
    for turn in 0..4 {
        room.write("a.md", format!("{turn}\n"));
        room.save(&format!("{turn}.md"), "x");
        if turn == 1 {
            room.history.pack_from(1).unwrap();
        }
    }
    let died = killed_at(&a_child_that_packs, "packs", "history::packed", 1, room.dir());
    assert!(died, "packing was not reached");
    room.fsck();
    room.history.pack_from(1).unwrap();
    room.fsck();
    assert_eq!(room.log().len(), 4);
    let first = room.history.point("HEAD~3").unwrap();
    assert_eq!(room.history.read_at(&first, "a.md").unwrap().unwrap(), b"0\n");
}

/// A daemon or `history` that came before `undo` took the write for a person's.
#[test]
fn an_edit_that_was_killed_is_the_agents_and_is_undone_first() {
    for step in ["vault::in-place::written", "vault::in-place::released"] {
        for first in ["undo", "history"] {
            let vault = TestVault::new("//- now: 2026-12-01T08:00:00Z\n");
            let one = "- [ ] date=2026-12-02 time=09:00 recur=none msg=\"one\" id=rid_AAAAAAAAAAAA\n";
            knows(&vault, "Reminders.md", one.to_owned() + &one.replace("one\"", "two\"").replace('A', "B"));
            let _ = vault.run(&["remind", "edit", "rid_AAAAAAAAAAAA", "--message", "edited"]).ok();
            let before = vault.read("Reminders.md");
            vault.killed(&format!("{step}=panic"), &["remind", "rm", "rid_BBBBBBBBBBBB"]);
            assert!(!vault.read("Reminders.md").contains("two"), "{step}");
            let _ = vault.run(&[first]).ok();
            if first == "history" {
                let _ = vault.run(&["undo"]).ok();
            }
            assert_eq!(vault.read("Reminders.md"), before, "{step}, {first}");
        }
    }
}

#[test]
fn an_operation_of_two_notes_that_was_killed_is_undone_as_a_whole() {
    for step in ["vault::in-place::journalled", "vault::in-place::written", "vault::in-place::released"] {
        let vault = TestVault::new("//- now: 2026-12-01T08:00:00Z\n//- /MEMORY.md\n# Memory\n");
        let _ = vault.run(&["memory", "save", "--to", "daily", "the key is under the mat"]).ok();
        vault.killed(&format!("{step}=1*off->panic"), &["memory", "promote", "2026-12-01", "1"]);
        let _ = vault.run(&["undo"]).ok();
        let count = |note| vault.read(note).matches("under the mat").count();
        assert_eq!((count("MEMORY.md"), count("daily/2026-12-01.md")), (0, 1), "{step}");
    }
}

#[test]
fn what_a_killed_undo_took_back_stays_so_whoever_comes_first() {
    for step in ["vault::in-place::written", "vault::in-place::released"] {
        for first in [&["tick"][..], &["memory", "save", "three"], &["history"], &["undo"]] {
            let vault = TestVault::new("//- now: 2026-12-01T08:00:00Z\n//- /MEMORY.md\n# Memory\n");
            let _ = vault.run(&["memory", "save", "fact one"]).ok();
            let _ = vault.run(&["memory", "save", "fact two"]).ok();
            vault.killed(&format!("{step}=panic"), &["undo"]);
            let _ = vault.run(first).ok();
            // The killed one is finished, alone or with the next.
            let facts = || ["fact one", "fact two", "three"].map(|it| vault.read("MEMORY.md").contains(it));
            for _ in 0..3 {
                assert!(!facts()[1], "{step}, {first:?}");
                let _ = vault.run(&["undo"]).ok();
            }
            assert_eq!(facts(), [false; 3], "{step}, {first:?}");
            let people = vault.json(&["history", "--actor", "human"]);
            assert_eq!(people.as_array().unwrap().len(), 1, "{step}, {first:?}: {people}");
        }
    }
}

#[test]
fn a_restore_that_was_killed_is_undone_as_a_whole_whoever_came_between() {
    for step in [
        "vault::in-place::written=panic",
        "vault::in-place::released=1*off->panic",
        "history::restore-step=1*off->return",
    ] {
        for first in [&["tick"][..], &["memory", "save", "q"], &["history"], &["undo"]] {
            let (vault, notes) = (TestVault::new(""), ["x1.md", "x2.md", "x3.md"]);
            for text in ["old\n", "new\nnew\n"] {
                notes.iter().for_each(|note| vault.write(note, text));
                let _ = vault.run(&["history"]).ok();
            }
            vault.killed(step, &["restore", "--at", "HEAD~1", "-y", "x1.md", "x2.md", "x3.md"]);
            let _ = vault.run(first);
            let undos = if first == ["undo"] { 0 } else { 1 + usize::from(first.contains(&"save")) };
            (0..undos).for_each(|_| drop(vault.run(&["undo"]).ok()));
            assert_eq!(notes.map(|note| vault.read(note)), ["new\nnew\n"; 3], "{step}, {first:?}");
        }
    }
}

/// Killed after the note was written, and before the copy was removed.
#[test]
fn a_conflict_copy_is_merged_once() {
    let vault = TestVault::new("//- zone: Europe/London\n//- /a.md\none\ntwo\n");
    for known in ["# A\none\ntwo\n", "# A\n"] {
        let _ = vault.run(&["history"]).ok();
        vault.write("a.md", known);
    }
    let copy = "a.sync-conflict-20261121-093000-ABCDEFG.md";
    for _ in 0..2 {
        vault.write(copy, "# A\nnew\none\n");
        let _ = vault.run(&["conflicts", "merge", "--yes", copy]).ok();
        assert_eq!((vault.read("a.md").as_str(), vault.has(copy)), ("# A\nnew\n", false));
    }
    // Another copy of that name.
    vault.write(copy, "# A\nnew\none\nother\n");
    let _ = vault.run(&["conflicts", "merge", "--yes", copy]).ok();
    assert!(vault.read("a.md").contains("other\n"));
}
