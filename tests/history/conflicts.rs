//! Conflict copies of sync tools: listed, shown, brought into their notes, and taken back.

use crate::history::room::knows;
use crate::support::prelude::*;

const COPY: &str = "a.sync-conflict-20261121-093000-ABCDEFG.md";

/// A vault whose history knows the note as `base`, whose last line came later than the others; then the note and a copy
/// of it changed.
fn diverged(base: &str, note: &str, copy: &str) -> TestVault {
    let vault = TestVault::new("//- zone: Europe/London\n");
    let last = base.trim_end().rfind('\n').map_or(0, |end| end + 1);
    [&base[..last], base].iter().for_each(|state| knows(&vault, "a.md", state));
    vault.write("a.md", note);
    vault.write(COPY, copy);
    vault
}

/// Writes the copy that Syncthing makes of a note, and merges it; the note then.
fn merged(vault: &TestVault, note: &str, copy: impl AsRef<[u8]>) -> String {
    let name = note.replace(".md", &COPY[1..]);
    vault.write(&name, copy);
    let _ = vault.run(&["conflicts", "merge", "--yes", &name]).ok();
    vault.read(note)
}

/// Each of these stands once in the text.
fn once<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) {
    words.into_iter().for_each(|one| assert_eq!(text.matches(one).count(), 1, "{one} in {text}"));
}

fn reminder(day: u32, recur: &str, msg: &str) -> String {
    format!("- [ ] date=2026-12-0{day} time=09:30 recur={recur} msg=\"{msg}\"\n")
}

#[test]
fn a_copy_is_merged_as_one_operation_and_taken_back() {
    let vault = diverged("one\ntwo\nthree\n", "one\n2\nthree\n", "one\nzwei\nthree\nfour\n");
    let before = vault.tree();
    vault.run(&["conflicts", "show", COPY]).ok().says("+zwei").says("both stay:\n2\nzwei");
    let asked = vault.run(&["conflicts", "merge", COPY]);
    asked.exits(2);
    assert_eq!(vault.tree(), before, "without a yes nothing is written: {asked:?}");

    let merged = vault.json(&["conflicts", "merge", "--yes", COPY]);
    assert_eq!(vault.read("a.md"), "one\n2\nzwei\nthree\nfour\n");
    assert_eq!(pick(&merged, "merged both/0/copy"), json!([true, "zwei\n"]));
    assert!(!vault.has(COPY), "{merged}");
    vault.run(&["history"]).ok().says(format!("merged {COPY} into a.md"));

    let undone = vault.run(&["undo"]);
    assert_eq!((undone.code, vault.tree()), (0, before), "one undo takes back all of it: {undone:?}");
}

#[test]
fn what_both_have_removed_or_moved_on_with_stays_gone() {
    let vault = diverged("one\ntwo\nthree\n", "one\ntwo\nthree\nnew here\n", "");
    assert_eq!(merged(&vault, "a.md", "one\nthree\n"), "one\nthree\nnew here\n");
    // A byte order mark is the note's, whoever added it.
    for (mark, other) in [("\u{feff}", ""), ("", "\u{feff}")] {
        let vault = diverged("one\ntwo\n", &format!("{mark}one\ntwo\n"), "");
        let text = merged(&vault, "a.md", format!("{other}one\ntwo\nthree\n"));
        assert_eq!(text, format!("{mark}one\ntwo\nthree\n"));
    }
    // Without a history of the note no line is treated as removed.
    let vault = TestVault::new("//- /a.md\none\ntwo\n");
    vault.write(COPY, "one\nthree\n");
    vault.run(&["conflicts", "show", COPY]).ok().says("no line is treated as removed");
    assert_eq!(merged(&vault, "a.md", "one\nthree\n"), "one\ntwo\nthree\n");
}

#[test]
fn copies_are_listed_and_those_without_a_note_are_said() {
    let vault = TestVault::new("//- /a.md\na\n");
    let gone = "sub/gone (conflicted copy 2026-11-21 093000).md";
    // A number at the end of a name without a namesake is a name.
    [COPY, "a 2.md", "Chapter 2.md", gone].iter().for_each(|name| vault.write(name, "x\n"));
    let listed = vault.json(&["conflicts", "list"]);
    let shown = listed.as_array().unwrap().iter().map(|copy| pick(copy, "copy certain has_note"));
    let expected = [json!(["a 2.md", false, true]), json!([COPY, true, true]), json!([gone, true, false])];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    vault.run(&["conflicts", "merge", "--yes", gone]).exits(1).warns("isn't there");
    let run = vault.run(&["conflicts", "merge", "--yes", "a.md"]);
    run.exits(2).warns("is not named as a conflict copy");
    // The other copies beside the note don't hold up one of them.
    let _ = vault.run(&["conflicts", "merge", "--yes", "a 2.md"]).ok();
    assert_eq!(vault.read("a.md"), "a\nx\n");
}

#[test]
fn what_is_no_text_or_half_merged_or_in_no_history_is_left_alone() {
    for (settings, note, copy) in [
        ("", "one\n".as_bytes(), [0xff, 0xfe, 0].as_slice()),
        ("", b"one\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> theirs\n", b"one\n"),
        ("[history]\nenabled = false\n", b"one\n", b"two\n"),
    ] {
        let vault = TestVault::new("");
        vault.write("vault-agent.toml", settings);
        vault.write("a.md", note);
        vault.write(COPY, copy);
        vault.run(&["conflicts", "merge", "--yes", COPY]).exits(1);
        assert_eq!(std::fs::read(vault.path("a.md")).unwrap(), note);
        assert_eq!(std::fs::read(vault.path(COPY)).unwrap(), copy);
    }
}

/// Neither had the lines of the other, also where a template gave both notes the same head.
#[test]
fn a_note_that_both_machines_made_has_the_lines_of_both() {
    for (ours, theirs) in [
        ("- 22:20 met Anna\n", "# Monday\n\n- 10:00 tea\n"),
        ("# Monday\n\n- 22:20 met Anna\n", "# Monday\n\n- 10:00 tea\n"),
    ] {
        for later in ["", "- 22:30 more\n"] {
            for is_copy_ours in [true, false] {
                let vault = TestVault::new("");
                knows(&vault, "b.md", "b\n");
                let all = format!("{ours}{later}");
                [ours, &all].iter().for_each(|state| knows(&vault, "a.md", state));
                let [note, copy] = if is_copy_ours { [theirs, &all] } else { [&all, theirs] };
                vault.write("a.md", note);
                let lines = all.lines().chain(theirs.lines()).filter(|line| !line.is_empty());
                once(&merged(&vault, "a.md", copy), lines);
            }
        }
    }
}

/// The history began when the two machines had gone apart already: its first state is of this machine alone.
#[test]
fn a_note_that_both_machines_had_before_the_history_has_the_lines_of_both() {
    let (ours, theirs) = ("- one\n- mine\n- two\n", "- one\n- theirs\n- two\n");
    let (more, other) = (format!("{ours}- new here\n"), format!("{theirs}- new there\n"));
    for [note, copy] in [
        [&more, theirs],
        [&more, &other],
        [ours, &other],
        // The tool kept the other machine's as the note, and what was written here may be in no snapshot.
        [&other, ours],
        [&other, &more],
        [theirs, &more],
    ] {
        let vault = TestVault::new("");
        knows(&vault, "a.md", ours);
        vault.write("a.md", note);
        let merged = merged(&vault, "a.md", copy);
        let lines: std::collections::BTreeSet<_> = note.lines().chain(copy.lines()).collect();
        once(&merged, lines);
    }
    // A line that was added here and stands on both sides says that both come from it.
    let vault = TestVault::new("");
    [ours, &more].iter().for_each(|state| knows(&vault, "a.md", state));
    vault.write("a.md", format!("{more}- last\n"));
    assert_eq!(merged(&vault, "a.md", "- one\n- two\n- new here\n"), "- one\n- two\n- new here\n- last\n");
}

/// A phone was away while the server told and moved lines, and most lines of the short note were reworded there.
#[test]
fn reworded_reminders_are_known_by_their_ids() {
    let line = |day: u32, recur: &str, msg: &str, id: char| {
        reminder(day, recur, msg).replace('\n', &format!(" id=rid_{}\n", id.to_string().repeat(12)))
    };
    let note = |lines: &[String]| format!("# Reminders\n\n{}", lines.concat());
    let (vault, one) = (TestVault::new(""), line(1, "none", "one", 'A'));
    let far = line(9, "none", "far", 'C');
    let server = note(&[line(2, "daily", "pills", 'B'), far.clone()]);
    let before = note(&[one.clone(), line(1, "daily", "pills", 'B'), far, line(1, "none", "call", 'D')]);
    [&note(&[]), &before, &server].into_iter().for_each(|state| knows(&vault, "Reminders.md", state));
    let phone = [
        one,
        line(1, "daily", "pills with water", 'B'),
        line(9, "none", "far and edited", 'C'),
        line(1, "none", "call!", 'D'),
        reminder(3, "none", "new"),
    ];
    vault.write("Reminders.md", note(&phone));
    let merged = merged(&vault, "Reminders.md", server);
    once(&merged, ["\"far", "\"call!\"", "\"new\"", "pills"]);
    let pills = line(2, "daily", "pills with water", 'B');
    assert!(merged.contains(&pills) && !merged.contains("\"one\""), "told here and reworded there: {merged}");
}

/// The tool kept the other machine's version as the note, which may be unchanged, and the copy is what was written here,
/// line by line.
#[test]
fn what_was_written_here_stays_where_it_became_the_copy() {
    for theirs in ["theirs\n", ""] {
        let vault = TestVault::new("");
        for mine in ["one\ntwo", "one\nmine\ntwo", "one\nmine\ntwo\nmine too", "one\nmine\n2\nmine too"] {
            knows(&vault, "a.md", format!("{mine}\n"));
        }
        let copy = vault.read("a.md") + "not in history yet\n";
        vault.write("a.md", format!("{theirs}one\ntwo\n"));
        let expected = format!("{theirs}one\nmine\n2\nmine too\nnot in history yet\n");
        assert_eq!(merged(&vault, "a.md", &copy), expected);
        // After a merge that was taken back, or of another copy, too.
        let _ = vault.run(&["undo"]).ok();
        merged(&vault, "a.md", "one\nmine\ntwo\n");
        contains_all(merged(&vault, "a.md", &copy), &expected.lines().collect::<Vec<_>>());
    }
    // The other machine's note went on before the merge.
    let vault = TestVault::new("");
    ["one\n", "one\nmine\n", "one\ntheirs\n"].iter().for_each(|state| knows(&vault, "a.md", state));
    vault.write("a.md", "one\ntheirs\nmore\n");
    once(&merged(&vault, "a.md", "one\nmine\n"), ["one", "mine", "theirs", "more"]);
    // A second copy, of the other machine, takes nothing out of what the first merge kept.
    let vault = TestVault::new("");
    ["one\ntwo\n", "one\nmine\ntwo\n", "one\ntwo\ntheirs\n"].iter().for_each(|it| knows(&vault, "a.md", it));
    merged(&vault, "a.md", "one\nmine\ntwo\n");
    once(&merged(&vault, "a.md", "one\nlater\ntwo\ntheirs\n"), ["one", "mine", "later", "two", "theirs"]);
}

/// Their heads are alike, and the history knows the first state, or a newer one than the copy is of, or none.
#[test]
fn follow_ups_that_both_added_stay_whole() {
    let block = |time: &str, text: &str| {
        format!("\n---\nid: c-2026-12-01-001\nstatus: pending\ndue: 2026-12-02T{time}:00Z\n---\n{text}\n")
    };
    let (anna, bob) = (block("15:00", "Call Anna"), block("10:00", "Ask Bob"));
    for (states, later) in [(&["# C\n"][..], ""), (&["# C\n", &format!("# C\n{anna}")], "later\n"), (&[], "")]
    {
        let vault = TestVault::new("//- zone: Europe/London\n");
        states.iter().for_each(|state| knows(&vault, "COMMITMENTS.md", state));
        vault.write("COMMITMENTS.md", format!("# C\n{anna}{later}"));
        let merged = merged(&vault, "COMMITMENTS.md", format!("# C\n{bob}"));
        let expected = format!("# C\n{anna}{later}{bob}").replace("\n\n", "\n");
        assert_eq!(merged.replace("\n\n", "\n"), expected, "{states:?}");
    }
}

/// The ends of the names of copies.
pub const COPIES: [&str; 8] = [
    ".sync-conflict-20261121-093000-ABCDEFG",
    " (Ann's conflicted copy 2026-11-21)",
    " (Cópia em conflito de pc-saito 2026-11-21 (1))",
    " 2",
    " (1)",
    "-DESKTOP-ABC1234",
    " (conflict_on_2026-11-21)",
    ".conflict1",
];

#[test]
fn nothing_is_told_from_a_copy() {
    let reminder = |msg: &str| reminder(1, "none", msg);
    let task = |id: &str| format!("- [ ] {id} 📅 2026-12-01 09:00\n");
    let vault = TestVault::new("//- /vault-agent.toml\n[reminders]\nalso = [\"tasks\"]\n");
    vault.write("Reminders.md", reminder("my reminder"));
    vault.write("Todo.md", task("my task"));
    for copy in COPIES {
        vault.write(format!("Reminders{copy}.md"), reminder("strange"));
        vault.write(format!("Todo{copy}.md"), task("strange"));
    }
    // A number at the end of a name without a namesake is a name.
    vault.write("Plan 2.md", task("planned"));
    let run = vault.run(&["tick"]);
    contains_all(&run.stdout, &["my reminder", "2 already overdue", "Plan 2.md (1)", "Todo.md (1)"]);
    run.lacks("strange");
    for copy in COPIES.into_iter().filter(|copy| *copy != " 2") {
        ["Reminders", "Todo"].iter().for_each(|name| vault.remove(&format!("{name}{copy}.md")));
    }
    for (name, why) in [("Todo", "its tasks are not delivered"), ("Reminders", "that is not written")] {
        let named = format!("`{name} 2.md` is named like a conflict copy of `{name}.md`, so {why}");
        vault.run(&["doctor"]).says(named);
    }
    vault.run(&["check", "Todo 2.md"]).says("rename it, or merge it with `vault-agent conflicts merge`");
}

/// The daemon may run on a machine that nobody looks at.
#[test]
fn a_copy_beside_the_reminders_is_told_of_once() {
    let vault = TestVault::new("//- /Reminders.md\n# Reminders\n");
    vault.run(&["tick"]).lacks("conflicting copy");
    vault.write("Reminders.sync-conflict-20261121-093000-ABCDEFG.md", "- [ ] Call\n");
    let said = "is a conflicting copy of `Reminders.md`: lines that only the copy has are not delivered";
    vault.run(&["tick"]).says(said);
    vault.run(&["tick"]).lacks("conflicting copy");
    // The line can't get its id, and is known as delivered all the same.
    vault.write("Reminders.md", reminder(1, "none", "Tea"));
    vault.run(&["tick"]).says("Tea");
    assert_eq!(vault.run(&["--json", "status"]).json()["late"], json!([]));
    // A phone doesn't tell the case of letters apart.
    let vault = TestVault::new("//- /commitments.md\nMy own\n");
    vault.write("reminders.md", reminder(5, "none", "Call"));
    let run = vault.run(&["tick"]);
    run.says("`Reminders.md` is missing, so nothing of `reminders.md` is delivered").lacks("commitments.md");
}

/// As rclone's bisync leaves it: both sides are renamed, with the mark behind the extension.
#[test]
fn a_note_that_became_two_copies_is_missed() {
    let line = |msg: &str| reminder(5, "none", msg);
    let vault = TestVault::new("");
    vault.write("Reminders.md", line("one"));
    let _ = vault.run(&["tick"]).ok();
    let note = vault.read("Reminders.md");
    vault.remove("Reminders.md");
    vault.write("Reminders.md..path1", format!("{note}{}", line("from the phone")));
    vault.write("Reminders.md..path2", format!("{note}{}", line("from here")));
    vault.run(&["conflicts", "list"]).says("Reminders.md..path1").says("Reminders.md..path2");
    vault.run(&["tick"]).says("`Reminders.md` is missing, so nothing of `Reminders.md..path");
    vault.run(&["status"]).exits(1).says("so nothing of `Reminders.md..path1` is");
    vault.run(&["doctor"]).exits(1).says("`Reminders.md..path2` is a sync tool's conflict copy");
    vault.run(&["check"]).exits(1).says("Reminders.md:1:1: `Reminders.md` is missing, so nothing of");
    vault.run(&["remind", "add", "tomorrow 9am", "Tea"]).exits(1).warns("conflicting copy");
    // The person chooses one, and merges the other.
    std::fs::rename(vault.path("Reminders.md..path1"), vault.path("Reminders.md")).unwrap();
    let before = vault.tree();
    let _ = vault.run(&["conflicts", "merge", "--yes", "Reminders.md..path2"]).ok();
    once(&vault.read("Reminders.md"), ["\"one\"", "from the phone", "from here"]);
    let _ = vault.run(&["undo"]).ok();
    assert_eq!(vault.tree(), before, "history keeps the copy");
}

#[test]
fn a_note_that_waits_for_a_merge_is_not_restored() {
    let vault = diverged("one\ntwo\n", "one\nmine\n", "one\nyours\n");
    let id = |at: usize| vault.json(&["history"])[at]["id"].as_str().unwrap().to_owned();
    let first = id(1);
    let restore = |args: &[&str]| vault.run(&[&["restore", "-y", "--at", first.as_str()][..], args].concat());
    for args in [&["a.md"][..], &[], &["--line", "a.md:2"]] {
        restore(args).exits(1).warns(format!("`{COPY}` is a conflicting copy of `a.md`"));
        assert_eq!(vault.read("a.md"), "one\nmine\n", "{args:?}");
    }
    vault.run(&["restore", "--dry-run", "--at", &first]).says("skip a.md: ").lacks("change a.md");
    // A restore that takes the copy away, and its undo.
    restore(&["--exact"]).exits(0);
    assert_eq!((vault.read("a.md").as_str(), vault.has(COPY)), ("one\ntwo\n", false));
    vault.run(&["undo"]).exits(0);
    assert_eq!((vault.read("a.md").as_str(), vault.has(COPY)), ("one\nmine\n", true));
    vault.remove(COPY);
    let marked = "one\n<<<<<<< a\nmine\n=======\nyours\n>>>>>>> b\n";
    vault.write("a.md", marked);
    restore(&["a.md"]).exits(1).warns("`a.md` line 2 begins a merge conflict");
    assert_eq!(vault.read("a.md"), marked);
    // Markers that a restore itself has brought back go with its undo.
    let with_markers = id(0);
    vault.write("a.md", "clean\n");
    vault.run(&["restore", "-y", "--at", &with_markers, "a.md"]).exits(0);
    assert_eq!(vault.read("a.md"), marked);
    vault.run(&["undo"]).exits(0);
    assert_eq!(vault.read("a.md"), "clean\n");
    // What is only perhaps a copy, and an empty note, hold up nothing.
    vault.write("a 2.md", "two\n");
    restore(&["a.md"]).exits(0);
    vault.write("a.md", "");
    vault.write(COPY, "one\n");
    restore(&["a.md"]).exits(0);
    assert_eq!(vault.read("a.md"), "one\ntwo\n");
}

#[test]
fn nothing_is_undone_beside_a_copy_but_a_merge() {
    let vault = TestVault::new("//- zone: Europe/London\n//- /MEMORY.md\n# Memory\n");
    let _ = vault.run(&["memory", "save", "Anna likes tea"]).ok();
    let copy = "MEMORY.sync-conflict-20261121-093000-ABCDEFG.md";
    vault.write(copy, "# Memory\n");
    let saved = vault.read("MEMORY.md");
    for args in [&["undo", "--dry-run"][..], &["undo"]] {
        vault.run(args).exits(1).warns(format!("`{copy}` is a conflicting copy of `MEMORY.md`"));
        assert_eq!(vault.read("MEMORY.md"), saved);
    }
    vault.remove(copy);
    vault.run(&["undo"]).exits(0);
    assert!(!vault.read("MEMORY.md").contains("tea"));

    let vault = diverged("one\ntwo\n", "one\n2\n", "one\ntwo\nthree\n");
    vault.write("a (conflicted copy 2026-11-21 093000).md", "one\n");
    let before = vault.tree();
    let _ = vault.run(&["conflicts", "merge", "--yes", COPY]).ok();
    vault.run(&["undo"]).exits(0);
    assert_eq!(vault.tree(), before);
}

/// The daemon or a command wrote the note last, so the copy is the phone's, also if the note became shorter than older
/// states.
#[test]
fn a_note_that_a_command_shortened_is_no_other_machines() {
    let vault = TestVault::new("");
    for line in ["daily 10:00, pills", "2026-12-05 10:00, dentist", "2026-12-24 10:00, xmas"] {
        let (when, what) = line.split_once(", ").unwrap();
        let _ = vault.run(&["remind", "add", when, what]).ok();
    }
    let phone = vault.read("Reminders.md").replace("\"dentist\"", "\"dentist, bring card\"");
    let _ = vault.run(&["remind", "rm", "xmas"]).ok();
    let merged = merged(&vault, "Reminders.md", phone);
    once(&merged, ["pills", "dentist", "bring card"]);
    assert!(!merged.contains("xmas"), "{merged}");
}
