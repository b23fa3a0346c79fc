//! Brings things back: notes, sections and single lines; and says where each line of a note comes from.

use std::os::unix::fs::symlink;

use crate::history::room::*;
use vault_agent::history::{BlameBound, HistoryError, LineTarget, LineWriter};
use vault_agent::vault::Origin;

#[test]
fn a_file_a_folder_and_everything_come_back() {
    let room = Room::of(&[("a.md", "one\n"), ("d/b.md", "two\n"), ("d/c.md", "three\n")]);
    room.tick();
    room.write("a.md", "changed\n");
    std::fs::remove_dir_all(room.root().join("d")).unwrap();
    room.write("new.md", "newer\n");
    let then = room.history.point("3 minutes ago");
    let is_before = |words: &String| words.contains("is before the first snapshot");
    assert!(matches!(&then, Err(HistoryError::BeyondHistory(words)) if is_before(words)), "{then:?}");
    let one = room.restore("1 minute ago", &["d/b.md"], false);
    assert_eq!(one.restored, ["d/b.md"]);
    assert_eq!((room.read("d/b.md").as_str(), room.has("d/c.md")), ("two\n", false));
    let all = room.restore("1 minute ago", &[], false);
    assert_eq!((all.restored.len(), all.deleted.len(), all.skipped.len()), (2, 0, 0));
    assert_eq!((room.read("a.md").as_str(), room.has("new.md")), ("one\n", true));
    let exact = room.restore("1 minute ago", &[], true);
    assert_eq!(exact.deleted, ["new.md"]);
    assert_eq!(room.files().keys().collect::<Vec<_>>(), ["a.md", "d/b.md", "d/c.md"]);
    // The restore itself can be taken back from the snapshot before it.
    room.restore(exact.snapshot_before.as_deref().unwrap(), &[], true);
    assert_eq!(room.read("new.md"), "newer\n");
    assert_eq!(room.subjects()[0], "restore: restored: new.md as of 2026-12-01 09:32:00 GMT");
    room.is_settled();
}

#[test]
fn a_snapshot_that_was_taken_in_1970_is_not_the_state_of_a_later_time() {
    let room = Room::of(&[("a.md", "one\n")]);
    let right = room.now();
    room.clock.set("1970-01-01T00:01:00Z".parse().unwrap());
    room.save("a.md", "two\n");
    room.clock.set(right + SignedDuration::from_mins(10));
    room.save("a.md", "three\n");
    assert_eq!(room.restore("5 minutes ago", &["a.md"], false).restored, ["a.md"]);
    assert_eq!(room.read("a.md"), "one\n");
    room.restore("1970-01-01T00:02:00Z", &["a.md"], false);
    assert_eq!(room.read("a.md"), "two\n");
}

#[test]
fn what_a_restore_missed_is_brought_back_by_the_next() {
    let room = Room::of(&[("a.md", "a\n"), ("n/d/b.md", "bee\n"), ("n/x.md", "one\n")]);
    room.tick();
    let scopes = ["n".to_owned()];
    let restore = || {
        let point = room.history.before_last_change(&scopes).unwrap().unwrap();
        room.history.restore(&room.editor, &point, &scopes, false).unwrap()
    };
    std::fs::remove_dir_all(room.root().join("n/d")).unwrap();
    std::fs::remove_file(room.root().join("n/x.md")).unwrap();
    room.write("n/d", "obstacle\n");
    let first = restore();
    assert_eq!((first.restored, first.skipped.len()), (vec!["n/x.md".to_owned()], 1));
    assert!(first.skipped[0].reason.contains("`n/d` is no folder"), "{:?}", first.skipped);
    assert_eq!(room.read("n/d"), "obstacle\n");
    contains_all(&room.subjects()[0], &["restore: restored: 1 of 2 files as of "]);
    assert_eq!(room.history.newest().unwrap().message.notes().collect::<Vec<_>>(), ["n/x.md"]);
    std::fs::remove_file(room.root().join("n/d")).unwrap();
    assert_eq!(restore().restored, ["n/d/b.md"]);
    assert_eq!(room.read("n/d/b.md"), "bee\n");
    room.is_settled();
}

#[test]
fn a_note_that_is_another_by_now_is_not_replaced() {
    let room = Room::of(&[("a.md", "one\n")]);
    room.save("a.md", "two\n");
    let point = room.history.point("HEAD~1").unwrap();
    let prepared = std::cell::Cell::new(false);
    let prepare = || {
        prepared.set(true);
        Ok(())
    };
    let bring = |was: &[u8]| room.history.restore_note(&room.editor, &point, &note("a.md"), was, prepare);
    // What it takes isn't prepared for a note that stays.
    let refused = bring(b"what the form was made for\n");
    assert!(matches!(refused, Err(HistoryError::Changed(_))), "{refused:?}");
    assert_eq!((room.read("a.md").as_str(), prepared.get()), ("two\n", false));
    assert_eq!(bring(b"two\n").unwrap().restored, ["a.md"]);
    assert_eq!((room.read("a.md").as_str(), prepared.get()), ("one\n", true));
    room.is_settled();
}

#[test]
fn links_modes_and_files_in_each_others_places_come_back() {
    let room = Room::new();
    room.write("run.md", "x");
    set_mode(room.root().join("run.md"), 0o755);
    symlink("run.md", room.root().join("link.md")).unwrap();
    room.save("was.md", "file");
    let before = room.files();
    set_mode(room.root().join("run.md"), 0o644);
    room.remove("link.md");
    room.write("link.md", "a file now");
    room.remove("was.md");
    room.save("was.md/inside.md", "a folder now");
    let first = room.history.point("HEAD~1").unwrap().id.to_string();
    let [loose, exact] = [false, true].map(|exact| room.restore(&first, &[], exact).skipped);
    assert!(loose.len() == 1 && loose[0].reason.contains("is a folder"), "{loose:?}");
    assert!(exact.is_empty(), "{exact:?}");
    assert_eq!(room.files(), before);
    assert_eq!(mode(room.root().join("run.md")), 0o755);
    room.fsck();
}

#[test]
fn what_a_fetched_history_would_write_into_the_persons_own_git_or_out_of_the_vault_is_left() {
    let room = Room::of(&[("proj/deep/n.md", "a note\n"), ("a.md", "x\n")]);
    symlink("../../a.md", room.path("proj/deep/l.md")).unwrap();
    room.snapshot();
    std::fs::rename(room.root().join("proj"), room.dir().join("proj")).unwrap();
    std::fs::remove_dir_all(room.dir().join("proj/deep")).unwrap();
    std::fs::create_dir_all(room.dir().join("proj/deep/n.md")).unwrap();
    symlink(room.dir().join("proj"), room.path("proj")).unwrap();
    let report = room.restore("HEAD", &["proj/deep/n.md", "proj/deep/l.md"], false);
    assert!(report.skipped.iter().all(|it| it.reason.contains("out of the vault")), "{report:?}");
    assert_eq!(report.skipped.len(), 2);
    assert!(room.dir().join("proj/deep/n.md").is_dir(), "nothing outside of the vault is removed");
    assert!(!room.dir().join("proj/deep/l.md").is_symlink());

    // No git makes such a tree.
    let repository = git2::Repository::open(room.history.dir()).unwrap();
    let mut id = repository.blob(b"#!/bin/sh\n").unwrap();
    for entry in ["100755 post-commit", "40000 hooks", "40000 .git"] {
        let tree = [entry.as_bytes(), &[0], id.as_bytes()].concat();
        id = repository.odb().unwrap().write(git2::ObjectType::Tree, &tree).unwrap();
    }
    let (tree, head) = (repository.find_tree(id).unwrap(), repository.head().unwrap());
    let by = git2::Signature::now("other", "other").unwrap();
    let parent = head.peel_to_commit().unwrap();
    let made = repository.commit(None, &by, &by, "from elsewhere", &tree, &[&parent]).unwrap();
    let (ours, theirs) = (parent.tree().unwrap(), repository.find_commit(made).unwrap());
    repository.commit(Some("refs/heads/main"), &by, &by, "joined", &ours, &[&parent, &theirs]).unwrap();
    std::fs::create_dir_all(room.root().join(".git/hooks")).unwrap();
    let report = room.restore(&made.to_string(), &[], false);
    assert!(report.skipped[0].reason.contains("git reserves this name"), "{report:?}");
    assert!(!room.root().join(".git/hooks/post-commit").exists());
}

#[test]
fn a_restore_that_a_full_disk_stopped_is_not_forgotten_by_the_next() {
    let room = Room::of(&[("a.md", "a\n"), ("b.md", "b\n")]);
    room.remove("a.md");
    room.save("b.md", "new\n");
    let edits = room.state().join("edits");
    std::fs::write(&edits, "").unwrap();
    assert_eq!(room.restore("HEAD~1", &["a.md"], false).restored, [""; 0]);
    let point = room.history.point("HEAD~1").unwrap();
    let again = room.history.restore(&room.editor, &point, &["b.md".into()], false).unwrap_err();
    assert!(again.to_string().contains("has to be finished first"), "{again}");
    std::fs::remove_file(&edits).unwrap();
    room.restore("HEAD~1", &["b.md"], false);
    assert_eq!((room.read("a.md").as_str(), room.read("b.md").as_str()), ("a\n", "b\n"));
}

#[test]
fn a_note_whose_present_text_no_snapshot_can_keep_is_named() {
    let room = Room::with(|settings| settings.history.max_file_bytes = 10);
    room.save("a.md", "oldest\n");
    room.save("a.md", "good\n");
    let damaged = "far too large\n";
    room.save("a.md", damaged);
    for scopes in [&["a.md"][..], &[]] {
        let report = room.restore("HEAD~1", scopes, false);
        assert!(report.skipped[0].reason.contains("move it away or raise the limit"), "{report:?}");
    }
    // The newest state differs from the present text, although it is the last that was kept.
    let newest = room.history.before_last_change(&["a.md".into()]).unwrap().unwrap();
    let report = room.restore(&newest.id.to_string(), &["a.md"], false);
    assert_eq!((report.skipped.len(), room.read("a.md").as_str()), (1, damaged));
    room.rename("a.md", "away.txt");
    room.restore(&newest.id.to_string(), &["a.md"], false);
    assert_eq!(room.read("a.md"), "good\n");
}

#[test]
fn a_damaged_object_is_named_and_the_vault_stays() {
    let room = Room::of(&[("a.md", "precious\n")]);
    room.save("a.md", "newer\n");
    let id = git2::Oid::hash_object(git2::ObjectType::Blob, b"precious\n").unwrap().to_string();
    let object = room.history.dir().join("objects").join(&id[..2]).join(&id[2..]);
    set_mode(&object, 0o644);
    std::fs::write(&object, b"garbage").unwrap();
    let report = room.restore("HEAD~1", &["a.md"], false);
    assert!(report.restored.is_empty());
    assert!(report.skipped[0].reason.contains("the history is damaged"), "{report:?}");
    assert_eq!(room.read("a.md"), "newer\n");
}

/// `person:first line`, in the order of the note.
fn shown(room: &Room, path: &str, bound: BlameBound) -> Vec<String> {
    let blame = room.history.blame(&note(path), None, bound).unwrap();
    let word = |line: &_| blame.origin(line).map_or("older", |origin| origin.writer.as_str());
    blame.lines.iter().map(|line| format!("{}:{}", word(line), line.text)).collect()
}

#[test]
fn each_line_has_its_writer_turn_and_time() {
    let room = Room::of(&[("old.md", "# Plan\nmine\nalso mine\n")]);
    room.clock.advance(SignedDuration::from_hours(24));
    let why = Origin::new(Actor::Assistant).client("claude").conversation("turn 01TURN").why("saved: x");
    let with = Operation::ReplaceAll {
        expect: Some(b"# Plan\nmine\nalso mine\n".to_vec()),
        with: b"# Plan\nmine\nthe assistant's\nalso mine\n".to_vec(),
    };
    assert!(room.editor.edit(&note("old.md"), &[with], &why).unwrap().all_done());
    room.clock.advance(SignedDuration::from_hours(24));
    // Renamed, and changed by hand since.
    room.rename("old.md", "new.md");
    room.snapshot();
    room.save("new.md", "# Plan\r\nmine\nthe assistant's\nalso mine\nnewest");
    room.write("new.md", "# Plan\r\nmine\nthe assistant's\nunseen\nalso mine\nnewest");
    let blame = shown(&room, "new.md", BlameBound::default());
    assert_eq!(blame[..3], ["person:# Plan", "person:mine", "assistant:the assistant's"]);
    assert_eq!(blame[3..], ["person:unseen", "person:also mine", "person:newest"]);
    room.write("no snapshot.md", "x\n");
    assert_eq!(shown(&room, "no snapshot.md", BlameBound::default()), ["person:x"]);
    room.remove("no snapshot.md");
    let blame = room.history.blame(&note("new.md"), None, BlameBound::default()).unwrap();
    let origin = |line: usize| blame.origin(&blame.lines[line]).unwrap();
    assert_eq!((origin(2).turn.as_deref(), origin(2).client.as_deref()), (Some("01TURN"), Some("claude")));
    assert_eq!((origin(2).writer, origin(2).subject.as_str()), (LineWriter::Assistant, "saved: x"));
    assert!(origin(3).snapshot.is_none() && blame.complete);
    assert!(origin(0).time.as_deref().unwrap().starts_with("2026-12-01T09:3"));
    assert!(origin(5).at > origin(2).at && origin(2).at > origin(0).at);
    // As it was, by the first snapshot.
    let first = room.history.point("HEAD~3").unwrap();
    let then = room.history.blame(&note("old.md"), Some(&first), BlameBound::default()).unwrap();
    assert_eq!((then.lines.len(), then.origins.len()), (3, 1));
}

#[test]
fn a_bound_ends_the_look_back_and_says_so() {
    let room = Room::new();
    for count in 1..=12 {
        room.save("a.md", (0..count).map(|line| format!("line {line}\n")).collect::<String>());
    }
    let bound = BlameBound { snapshots: 3, ..BlameBound::default() };
    let blame = room.history.blame(&note("a.md"), None, bound).unwrap();
    assert!(!blame.complete);
    let known: Vec<bool> = blame.lines.iter().map(|line| line.origin.is_some()).collect();
    assert_eq!(known, [[false; 9].as_slice(), &[true; 3]].concat());
    assert!(room.history.blame(&note("none.md"), None, bound).is_err());
    // A note of thousands of lines with few bytes to spend is no reason to hang.
    let tight = BlameBound { bytes: 10, ..BlameBound::default() };
    assert!(!room.history.blame(&note("a.md"), None, tight).unwrap().complete);
}

#[test]
fn a_section_comes_back_and_what_stands_beside_it_stays() {
    let room = Room::of(&[("a.md", "# N\n## A\none\ntwo\n## B\nthree\n")]);
    room.save("a.md", "# N\nnew\n## A\nspoilt\n## B\nthree, and more\n");
    let plan = room.history.plan_part(&note("a.md"), &section("A"), None).unwrap();
    assert!(!plan.is_unchanged());
    // Somebody types between the plan and its carrying out.
    room.write("a.md", "# N\nnew\n## A\nspoilt\n## B\nthree, and more\nand more\n");
    assert_eq!(room.history.restore_part(&room.editor, &plan).unwrap().restored, ["a.md"]);
    assert_eq!(room.read("a.md"), "# N\nnew\n## A\none\ntwo\n## B\nthree, and more\nand more\n");
    assert_eq!(room.subjects()[0], "restore: restored: a section of a.md");
    // It is undone as any other write.
    room.undo(&room.plan_undo(1));
    assert_eq!(room.read("a.md"), "# N\nnew\n## A\nspoilt\n## B\nthree, and more\nand more\n");
    let error = room.history.plan_part(&note("a.md"), &section("Z"), None).unwrap_err().to_string();
    assert!(error.contains("no section `Z`"), "{error}");
    room.fsck();
}

/// Notes with lists, paragraphs and sections, close together and apart, with each way to end.
const TEXTS: [&str; 8] = [
    "# N\n\n## A\none\n\n## B\n\ntwo\n\n## C\nthree\n",
    "## A\none\n## B\ntwo\n## C\nthree",
    "\n## A\n\n\n- one\n  more\n- two\n\n\n## B\n\n## C\nthree\n\n",
    "---\nx: 1\n---\n# T\n\nword\n\n### A\nfirst\n\n## B\n### D\nlast\n\n",
    "a\n\nb\n\nc\n\nd",
    "- a\n- b\n- c\n",
    "same\n\nsame\nother\n\nsame\n\nother\n",
    "intro\n\n- a\n- b\n\noutro\n",
];

#[test]
fn a_deleted_part_comes_back_with_the_blank_lines_that_it_had() {
    let is_blank = |line: &&&str| line.trim().is_empty();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for text in TEXTS.iter().flat_map(|text| [(*text).to_owned(), text.replace('\n', "\r\n")]) {
        let room = Room::of(&[("a.md", &text)]);
        let point = room.history.newest().unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let numbers = (0..lines.len()).filter(|at| !lines[*at].trim().is_empty()).map(|at| {
            let more = lines[at + 1..].iter().take_while(|line| line.starts_with("  ")).count();
            (LineTarget::Number(at + 1), at..at + 1 + more)
        });
        let sections = vault_agent::history::sections(text.as_bytes()).into_iter();
        let sections = sections.map(|one| (LineTarget::Section(one.heading), one.lines));
        for (target, part) in numbers.chain(sections) {
            let core = part.start..part.end - lines[part.clone()].iter().rev().take_while(is_blank).count();
            let above = lines[..core.start].iter().rev().take_while(is_blank).count();
            let below = lines[core.end..].iter().take_while(is_blank).count();
            // The part alone, with any of the blank lines around it, or emptied.
            let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
            let mut gone = vec![lines[..core.start].concat() + newline + &lines[core.end..].concat()];
            for (above, below) in (0..=above).flat_map(|above| (0..=below).map(move |below| (above, below))) {
                gone.push(lines[..core.start - above].concat() + &lines[core.end + below..].concat());
            }
            // Of the last part also with the newline above it.
            if core.end + below == lines.len() {
                gone.push(lines[..core.start].concat().trim_end().to_owned());
            }
            for gone in gone {
                room.write("a.md", &gone);
                let plan = room.history.plan_part(&note("a.md"), &target, Some(point.clone())).unwrap();
                tried += 1;
                let after = String::from_utf8_lossy(&plan.after);
                if after != text {
                    wrong.push(format!("{target:?}: {gone:?} becomes\n{after:?}, not\n{text:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_part_comes_back_between_what_is_new() {
    for (old, now, target, after) in [
        // Its neighbours went, too.
        ("H\n\n- a\n- b\n- c\n\nP\n", "H\n\nP\n", LineTarget::Number(4), "H\n\n- b\n\nP\n"),
        ("# N\n\n## A\n1\n\n## B\n2\n\n## C\n3\n", "# N\n", section("B"), "# N\n\n## B\n2\n"),
        // A line goes below what stood above it, a section above what stood below it.
        ("- a\n- b\n\nP\n", "- a\n- new\n\nP\n", LineTarget::Number(2), "- a\n- b\n- new\n\nP\n"),
        ("a\n\nb\n\nc\n", "a\n\nnew\n\nc\n", LineTarget::Number(3), "a\n\nb\n\nnew\n\nc\n"),
        ("## A\n1\n\n## B\n2\n", "## A\n1\nnew\n", section("B"), "## A\n1\nnew\n\n## B\n2\n"),
        (
            "## A\n1\n\n## B\n2\n\n## C\n3\n",
            "## A\n1\n\nnew\n\n## C\n3\n",
            section("B"),
            "## A\n1\n\nnew\n\n## B\n2\n\n## C\n3\n",
        ),
        // It is followed by a section that is newer, or by none any more.
        ("## A\n1\n", "## A\n2\n\n## B\n3\n", section("A"), "## A\n1\n\n## B\n3\n"),
        ("## A\n1\n\n## B\n2\n", "## A\n2\n", section("A"), "## A\n1\n"),
        // The note has other line ends by now.
        ("a\nb\nc\n", "a\r\nc\r\n", LineTarget::Number(2), "a\r\nb\r\nc\r\n"),
        ("a\n\n- b", "new", LineTarget::Number(3), "new\n\n- b"),
    ] {
        let room = Room::of(&[("a.md", old)]);
        room.write("a.md", now);
        let point = room.history.newest().unwrap();
        let plan = room.history.plan_part(&note("a.md"), &target, Some(point)).unwrap();
        assert_eq!(String::from_utf8_lossy(&plan.after), after, "{target:?} of {old:?} into {now:?}");
    }
}

fn section(heading: &str) -> LineTarget {
    LineTarget::Section(heading.to_owned())
}

#[test]
fn the_commands_show_lines_and_bring_a_section_back() {
    let vault = TestVault::new("//- /a.md\n# N\n## A\none\n## B\ntwo\n");
    drop(vault.run(&["history"]).ok());
    vault.write("a.md", "# N\n## A\nspoilt\n## B\ntwo\n");
    let json = vault.json(&["history", "a.md", "--lines"]);
    let origin = |line: usize| &json["origins"][json["lines"][line]["origin"].as_u64().unwrap() as usize];
    assert_eq!((&json["lines"][2]["text"], &json["complete"]), (&"spoilt".into(), &true.into()));
    assert_eq!((&origin(2)["writer"], &origin(2)["subject"]), (&"person".into(), &"changed a.md".into()));
    assert!(origin(0)["snapshot"].is_string() && origin(0) != origin(2));
    let shown = vault.run(&["history", "a.md", "--lines"]).ok().stdout;
    assert!(shown.lines().nth(2).unwrap().ends_with("3  spoilt"), "{shown}");
    vault.run(&["restore", "--dry-run", "--section", "a.md#A"]).ok().says("-spoilt").says("+one");
    assert_eq!(vault.read("a.md"), "# N\n## A\nspoilt\n## B\ntwo\n");
    drop(vault.run(&["restore", "--yes", "--section", "a.md#A"]).ok());
    assert_eq!(vault.read("a.md"), "# N\n## A\none\n## B\ntwo\n");
    assert_eq!(vault.run(&["restore", "--section", "a.md"]).code, 2);
    assert_eq!(vault.run(&["history", "--lines"]).code, 2);
}

#[test]
fn a_note_that_is_in_the_cloud_alone_is_named() {
    let vault = TestVault::new("//- /a.md\none\n//- /b.md\ntwo\n");
    drop(vault.run(&["history"]).ok());
    vault.remove("a.md");
    vault.write(".a.md.icloud", "");
    for at in [&["--at", "HEAD"][..], &[]] {
        let run = vault.run(&[&["restore", "--json", "a.md"][..], at].concat());
        run.exits(1).warns("`a.md` is in the cloud and not on this disk; open it once to download it");
        assert_eq!(run.json()["skipped"][0]["path"], "a.md", "{run:?}");
    }
}
