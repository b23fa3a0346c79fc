//! The commands, as a person and a program meet them; and a history off the machine and back, with the user's own git.

use vault_agent::history::push;

use crate::history::room::*;

fn vault() -> TestVault {
    TestVault::new("//- zone: Europe/London\n//- /a.md\none\ntwo\n//- /sub/b.md\nb\n")
}

#[test]
fn history_diff_restore_and_undo_in_a_row() {
    let vault = vault();
    let first = vault.json(&["history"]);
    assert_eq!(pick(&first, "0/subject 0/actor"), json!(["first snapshot: 3 files", "human"]));
    vault.write("a.md", "one\n2\n");
    std::fs::remove_file(vault.path("sub/b.md")).unwrap();
    vault.run(&["diff", "a.md"]).says("--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    for path in ["HEAD~1", "nope.md"] {
        vault.run(&["diff", "HEAD", path]).exits(2).warns("joined by `..`, as in `diff HEAD~2..HEAD`");
    }
    vault.run(&["restore", "--dry-run", "a.md"]).says("change a.md").says("+two");
    assert_eq!(vault.read("a.md"), "one\n2\n");
    let done = vault.json(&["restore", "a.md"]);
    assert_eq!((done["restored"][0].as_str(), vault.read("a.md").as_str()), (Some("a.md"), "one\ntwo\n"));
    assert!(done["snapshot_before"].is_string() && done["from"].is_string());
    assert!(!vault.has("sub/b.md"));
    let undo = vault.json(&["undo"]);
    assert_eq!((undo["undone"].as_array().unwrap().len(), vault.read("a.md").as_str()), (1, "one\n2\n"));
    let deleted = vault.run(&["restore", "sub/b.md"]);
    assert_eq!((deleted.code, vault.read("sub/b.md").as_str()), (0, "b\n"), "{deleted:?}");
    let log = vault.run(&["history", "--actor", "restore"]);
    assert_eq!(log.stdout.lines().count(), 3, "{log:?}");
    let patch = vault.json(&["history", "--patch", "-n", "1"]);
    assert!(patch[0]["patch"].as_str().unwrap().contains("+b"), "{patch}");
    vault.run(&["audit"]).exits(0);
}

#[test]
fn a_change_of_line_endings_alone_is_said() {
    let vault = vault();
    let _ = vault.run(&["history"]).ok();
    let no_newline = "\\ No newline at end of file";
    for (text, said) in [
        ("one\r\ntwo\r\n", "line endings: LF -> CRLF"),
        ("one\r\ntwo\n", "line endings: CRLF -> CRLF in 1 of 2 lines"),
        ("one\ntwo\n", "line endings: CRLF in 1 of 2 lines -> LF"),
        ("one\rtwo\r", "line endings: LF -> CR"),
        ("one\ntwo\n", "line endings: CR -> LF"),
        ("one\ntwo", no_newline),
        ("one\ntwo\n", no_newline),
    ] {
        vault.write("a.md", text);
        let part = said.split_once(':').map_or(said, |(part, _)| part);
        vault.run(&["restore", "--dry-run", "a.md"]).ok().says(part);
        let diff = vault.run(&["diff", "a.md"]).ok().stdout;
        assert!(diff.contains(said), "{text:?}: {diff}");
        let words = diff.lines().next().unwrap().starts_with("line endings: ");
        assert_eq!(words, said != no_newline, "before what `patch` reads: {diff}");
        vault.run(&["history", "--patch", "-n", "1"]).says(said);
    }
    vault.write("a.md", "one\nthree\n");
    vault.run(&["diff", "a.md"]).lacks("line endings").lacks(no_newline);
}

#[test]
fn undo_passes_over_what_the_agent_writes_for_itself() {
    let line = |msg: &str| format!("- [ ] date=2027-01-01 time=09:00 recur=none msg=\"{msg}\"\n");
    let vault = vault();
    let _ = vault.run(&["memory", "save", "Anna likes tea"]).ok();
    vault.write("Reminders.md", line("one") + &line("two"));
    let _ = vault.run(&["tick"]).ok();
    let newest = vault.json(&["history", "--actor", "scheduler"]);
    assert_eq!(newest[0]["subject"], "ids given to 2 reminders", "{newest}");
    let with_ids = vault.read("Reminders.md");
    let refused = vault.run(&["undo", newest[0]["id"].as_str().unwrap()]);
    refused.exits(1).warns("is no write of the agent that could be undone");
    vault.run(&["undo"]).ok().says("undid: saved: Anna likes tea");
    assert_eq!(vault.read("Reminders.md"), with_ids);
    vault.run(&["undo"]).ok().warns("the agent has written nothing that could be undone");
    // And over the settings that a first run wrote.
    let vault = TestVault::new("//- /a.md\none\n");
    let _ = vault.run(&["doctor", "--fix"]);
    assert!(vault.has("vault-agent.toml"));
    vault.run(&["undo"]).ok().warns("the agent has written nothing that could be undone");
    assert!(vault.has("vault-agent.toml"));
}

#[test]
fn one_operation_is_shown_and_undone_by_its_snapshot() {
    let vault = vault();
    let _ = vault.run(&["memory", "save", "Anna likes tea"]).ok();
    let _ = vault.run(&["memory", "save", "Bob likes coffee"]).ok();
    let saved = vault.json(&["history", "--actor", "cli"]);
    let id = saved[1]["id"].as_str().unwrap();
    let before = vault.tree();
    let shown = vault.json(&["undo", "--dry-run", &id[..10]]);
    let undone = pick(&shown, "dry_run operations/0/subject operations/0/snapshots/0");
    assert_eq!(undone, json!([true, saved[1]["subject"], id]));
    assert!(shown["changes"][0]["diff"].as_str().unwrap().contains("Anna likes tea"), "{shown}");
    assert_eq!(vault.tree(), before, "nothing was changed");
    let done = vault.json(&["undo", &id[..10]]);
    assert_eq!((&done["undone"][0], &done["changes"]), (&saved[1]["id"], &shown["changes"]));
    let memory = vault.read("MEMORY.md");
    assert!(memory.contains("Bob likes coffee") && !memory.contains("Anna"), "{memory}");
    let people = vault.json(&["history", "--actor", "human"]);
    for (args, code, words) in [
        (&[id][..], 1, "was undone already"),
        (&["--turn", "01NOBODY"], 1, "has changed nothing"),
        (&[people[0]["id"].as_str().unwrap()], 1, "is no write of the agent"),
        (&["abcdef0123"], 2, "is neither a snapshot's id"),
    ] {
        vault.run(&[&["undo"], args].concat()).exits(code).warns(words);
    }
}

#[test]
fn a_path_is_found_in_either_form_of_its_accents() {
    let (composed, decomposed) = ("B\u{fc}cher", "Bu\u{308}cher");
    let vault = TestVault::new(&format!("//- /{decomposed}/a.md\none\n"));
    let _ = vault.run(&["history"]).ok();
    knows(&vault, "other.md", "x\n");
    // A link to the vault's folder is no other place.
    std::os::unix::fs::symlink(vault.root(), vault.home().join("link")).unwrap();
    let linked = format!("{}/link/{decomposed}", vault.home().display());
    for path in [composed.to_owned(), format!("{composed}/a.md"), decomposed.to_owned(), linked] {
        assert_eq!(vault.json(&["history", &path]).as_array().unwrap().len(), 1, "{path:?}");
    }
    std::fs::remove_file(vault.path(format!("{decomposed}/a.md"))).unwrap();
    std::fs::remove_dir(vault.path(decomposed)).unwrap();
    let _ = vault.run(&["history"]).ok();
    assert_eq!(vault.json(&["history", composed]).as_array().unwrap().len(), 2, "gone since");
}

#[test]
fn of_two_notes_that_differ_by_the_form_of_an_accent_the_one_named_comes_back() {
    let (composed, decomposed) = ("\u{e9}.md", "e\u{301}.md");
    let vault = TestVault::new(&format!("//- /{composed}\none\n//- /{decomposed}\nother\n"));
    let _ = vault.run(&["history"]).ok();
    knows(&vault, decomposed, "other two\n");
    for is_known in [false, true] {
        std::fs::remove_file(vault.path(composed)).unwrap();
        if is_known {
            let _ = vault.run(&["history"]).ok();
        }
        let run = vault.run(&["restore", "--yes", composed]).ok();
        assert_eq!((&*vault.read(composed), &*vault.read(decomposed)), ("one\n", "other two\n"));
        // The hint takes back the restore, and nothing that was written since.
        vault.write("thesis.md", "mine\n");
        let hint = run.stderr.split('`').nth(1).unwrap().to_owned();
        let _ = vault.run(&hint.split(' ').skip(1).collect::<Vec<_>>()).ok();
        assert!(!vault.has(composed) && vault.has("thesis.md"), "{hint}");
        knows(&vault, composed, "one\n");
    }
}

/// Also where a pass comes before a restore has written the note, or while a sync tool replaces it.
fn stays_restored(vault: &TestVault, path: &str) {
    let note = vault.read(path);
    for text in ["# Nothing\n", &note] {
        vault.write(path, text);
        assert_eq!(vault.json(&["tick"])["fired"], json!([]));
    }
    assert_eq!(vault.read(path), note);
}

#[test]
fn a_reminder_comes_back_by_its_id_and_does_not_fire() {
    let vault = TestVault::new("//- zone: Europe/London\n//- /Reminders.md\n# R\n");
    vault.set_now("2026-12-01T09:00:00Z");
    let added = vault.json(&["remind", "add", "2026-12-01 09:30", "Call"]);
    let (id, line) = (added["id"].as_str().unwrap(), added["line_text"].as_str().unwrap());
    assert_eq!(vault.json(&["history", "--id", id]).as_array().unwrap().len(), 1);
    let _ = vault.run(&["remind", "rm", id]).ok();
    vault.set_now("2026-12-01T12:00:00Z");
    vault.run(&["restore", "--id", id]).exits(0).warns("doesn't fire");
    assert!(vault.read("Reminders.md").contains(line));
    assert_eq!(vault.json(&["tick"])["fired"], json!([]));
    assert!(vault.read("Reminders.md").contains(line), "and it stays");
    assert_eq!(vault.json(&["history", "--id", id]).as_array().unwrap().len(), 3);
    stays_restored(&vault, "Reminders.md");
    let _ = vault.run(&["remind", "rm", id]).ok();
    let _ = vault.run(&["restore", "--id", id, "--fire-missed"]).ok();
    let tick = vault.json(&["tick"]);
    assert_eq!(tick["fired"].as_array().unwrap().len(), 1, "{tick}");
}

#[test]
fn a_follow_up_that_comes_back_after_its_time_is_not_told() {
    let note = "# Follow-ups\n\n---\nid: c-2026-11-30-001\nstatus: pending\ndue: 2026-12-01T10:00:00Z\n---\nAsk Ann\n";
    let without_time = note.replace("due: 2026-12-01T10:00:00Z\n", "");
    let of_line = &["restore", "--line", "COMMITMENTS.md:6"][..];
    for (left, restore) in [(&*without_time, of_line), ("", &["restore", "COMMITMENTS.md"])] {
        let vault = TestVault::new("//- now: 2026-12-01T09:00:00Z\n");
        knows(&vault, "COMMITMENTS.md", note);
        vault.write("COMMITMENTS.md", left);
        vault.set_now("2026-12-01T12:00:00Z");
        vault.run(restore).ok().warns("1 restored follow-up is past its time and doesn't fire");
        assert_eq!(vault.json(&["tick"])["fired"], json!([]));
        assert_eq!(vault.read("COMMITMENTS.md"), note, "and it stays");
        stays_restored(&vault, "COMMITMENTS.md");
        vault.write("COMMITMENTS.md", left);
        let _ = vault.run(&[restore, &["--fire-missed"]].concat()).ok();
        let tick = vault.json(&["tick"]);
        assert_eq!(tick["fired"][0]["id"], "c-2026-11-30-001", "{tick}");
        assert!(vault.read("COMMITMENTS.md").contains("status: delivered"));
    }
}

#[test]
fn a_new_vault_is_one_snapshot_that_undo_leaves_alone() {
    let vault = TestVault::new("");
    let home = vault.home().join("v");
    let dir = home.to_str().unwrap();
    let _ = vault.run(&["init", dir]).ok();
    let log = vault.json(&["--vault", dir, "history"]);
    assert_eq!(log.as_array().unwrap().len(), 1, "{log}");
    assert_eq!((&log[0]["actor"], &log[0]["subject"]), (&"cli".into(), &"init: wrote the template".into()));
    assert_eq!(log[0]["paths"].as_array().unwrap().len(), 24, "{log}");
    vault.run(&["--vault", dir, "undo"]).ok().warns("nothing that could be undone");
    assert!(home.join("Reminders.md").is_file());
    // A second one has nothing to say.
    let _ = vault.run(&["init", dir]).ok();
    assert_eq!(vault.json(&["--vault", dir, "history"]).as_array().unwrap().len(), 1);
}

#[test]
fn wrong_use_is_said_with_what_to_do_and_changes_nothing() {
    let vault = vault();
    let _ = vault.run(&["history"]).ok();
    let before = vault.tree();
    for (args, code, words) in [
        (&["restore", "--at", "1999-01-01"][..], 1, "is before the first snapshot"),
        (&["restore", "--at", "2099-01-01", "a.md"], 1, "lies ahead"),
        (&["restore", "--at", "soonish"], 2, "neither a snapshot's id nor a time"),
        (&["restore", "../outside.md"], 2, "is not a path inside the vault"),
        (&["restore", "--at", "HEAD", "", "-y"], 2, "a path is empty"),
        (&["history", ""], 2, "a path is empty"),
        (&["history", "nothing.md", "--json"], 2, "neither in the vault nor in its history"),
        (&["diff", "nothing.md"], 2, "nor is it a path in the vault"),
        (&["restore", "--at", "HEAD", "nothing.md"], 1, "is not in the snapshot"),
        (&["restore"], 2, "name a snapshot or a time to restore"),
        (&["restore", "--line", "a.md"], 2, "names no line"),
        (&["restore", "--id", "rid_AAAAAAAAAAAA"], 1, "Reminders.md"),
        (&["restore", "--from-remote"], 2, "no remote is known"),
        (&["history", "--actor", "nobody"], 2, "is no actor"),
        (&["history", "--since", "whenever"], 2, "is no time"),
        (&["undo", "0"], 2, "can't undo"),
    ] {
        vault.run(args).exits(code).warns(words);
    }
    assert_eq!(vault.tree(), before);
}

#[test]
fn ticks_in_place_of_a_daemon_take_what_people_changed() {
    let vault = vault();
    for version in ["1\n", "2\n", "3\n"] {
        vault.write("Essay.md", version);
        let _ = vault.run(&["tick"]).ok();
    }
    std::fs::remove_file(vault.path("Essay.md")).unwrap();
    let _ = vault.run(&["tick", "--dry-run"]).ok();
    let _ = vault.run(&["tick"]).ok();
    let log = vault.json(&["history", "Essay.md"]);
    let actors = log.as_array().unwrap().iter().map(|it| it["actor"].as_str().unwrap());
    assert_eq!(actors.collect::<Vec<_>>(), ["human"; 4], "{log}");
    let _ = vault.run(&["restore", "Essay.md", "-y"]).ok();
    assert_eq!(vault.read("Essay.md"), "3\n");
}

#[test]
fn deletions_in_bulk_ask_for_a_word() {
    let vault = TestVault::new("");
    (0..60).for_each(|number| vault.write(format!("n/{number}.md"), format!("{number}\n")));
    knows(&vault, "vault-agent.toml", "timezone = \"Europe/London\"\n");
    std::fs::remove_dir_all(vault.path("n")).unwrap();
    vault.run(&["history"]).warns("60 of 61 known files are gone");
    assert!(vault.doctor("history")[0]["detail"].as_str().unwrap().contains("), too many"));
    let back = vault.run(&["restore", "n", "--yes"]);
    assert_eq!((back.code, vault.has("n/59.md")), (0, true), "{back:?}");
    std::fs::remove_dir_all(vault.path("n")).unwrap();
    let _ = vault.run(&["history", "--accept-deletions"]).ok();
    assert!(!vault.run(&["history"]).stderr.contains("are gone"));
}

#[test]
fn a_new_machine_gets_the_vault_back() {
    let (room, (_temp, remote)) = (Room::new(), bare_repository());
    room.write("a.md", "one\n");
    room.save("sub/b.md", "two\n");
    room.agent_appends("a.md", "agent");
    let url = remote.to_str().unwrap();
    push(room.history.dir(), url, None).unwrap();
    push(room.history.dir(), url, None).unwrap();

    let new = TestVault::new("");
    new.run(&["restore", "--from-remote", url, "--yes"]).exits(0);
    assert_eq!((new.read("a.md").as_str(), new.read("sub/b.md").as_str()), ("one\nagent\n", "two\n"));
    new.run(&["history"]).says("saved: agent").lacks("deleted");
    fsck(&repository(&new));
}

#[test]
fn a_machine_with_a_past_of_its_own_joins_it() {
    let (room, (_temp, remote)) = (Room::new(), bare_repository());
    room.save("a.md", "theirs\n");
    let url = remote.to_str().unwrap();
    push(room.history.dir(), url, None).unwrap();

    let other = Room::of(&[("mine.md", "first\n")]);
    let first = other.log()[0].commit.id.to_string();
    other.save("mine.md", "mine\n");
    other.agent_appends("mine.md", "its own fact");
    let refused = push(other.history.dir(), url, None).unwrap_err();
    assert!(refused.to_string().starts_with("`git push` failed: "), "{refused}");
    // Of several machines with one remote each has its branch.
    push(other.history.dir(), url, Some("m/1")).unwrap();
    assert_eq!(said(git_command(&remote).args(["branch", "--format=%(refname:short)"])), "main\nmain-m-1\n");
    other.restore(&other.history.adopt_remote(url).unwrap().to_string(), &[], false);
    let now = "mine\nits own fact\n";
    assert_eq!((other.read("a.md").as_str(), other.read("mine.md").as_str()), ("theirs\n", now));
    push(other.history.dir(), url, None).unwrap();
    // Both pasts can be reached, its own first; the join itself changed nothing.
    let of = |path: &str| LogFilter { path: Some(path.to_owned()), ..LogFilter::default() };
    let known = |path| other.history.records(&of(path)).unwrap().len();
    assert_eq!((known("mine.md"), known("a.md")), (3, 2));
    let report = vault_agent::history::audit(&other.history, &other.settings.paths, &|_| None).unwrap();
    assert_eq!((report.commits, report.violations), (6, vec![]));
    let plan = other.plan_undo(5);
    let undone: Vec<&str> = plan.writes.iter().map(|it| it.commit.message.subject.as_str()).collect();
    assert!(undone.len() == 2 && undone[0].starts_with("restored: "), "{undone:?}");
    other.restore(&first, &["mine.md"], false);
    assert_eq!(other.read("mine.md"), "first\n");
    other.fsck();
}

#[test]
fn without_git_or_a_remote_the_words_are_clear() {
    let room = Room::of(&[("a.md", "x")]);
    let nowhere = room.dir().join("nowhere.git");
    let failed = push(room.history.dir(), nowhere.to_str().unwrap(), None).unwrap_err().to_string();
    assert!(failed.contains("`git push` failed") || failed.contains("could not be started"), "{failed}");

    let vault = TestVault::new("//- /a.md\nx\n").with_env("PATH", "/nonexistent");
    let run = vault.run(&["restore", "--from-remote", "/nowhere"]);
    run.exits(1).warns("`git` could not be started").warns("install git");
    let _ = vault.run(&["history"]).ok();
}
