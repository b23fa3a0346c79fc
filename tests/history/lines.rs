//! Where each line of a note comes from, and a section or a line brought back.

use jiff::SignedDuration;
use vault_agent::history::{BlameBound, LineTarget, LineWriter};
use vault_agent::vault::{Actor, Operation, Origin};

use crate::history::room::{Room, note};
use crate::support::TestVault;

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
    assert_eq!(
        shown(&room, "new.md", BlameBound::default()),
        [
            "person:# Plan",
            "person:mine",
            "assistant:the assistant's",
            "person:unseen",
            "person:also mine",
            "person:newest"
        ]
    );
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
    let mut text = String::new();
    for count in 0..12 {
        text.push_str(&format!("line {count}\n"));
        room.save("a.md", &text);
    }
    let bound = BlameBound { snapshots: 3, ..BlameBound::default() };
    let blame = room.history.blame(&note("a.md"), None, bound).unwrap();
    assert!(!blame.complete);
    let known: Vec<bool> = blame.lines.iter().map(|line| line.origin.is_some()).collect();
    assert_eq!(known.iter().filter(|known| **known).count(), 3);
    assert!(known[9..].iter().all(|known| *known));
    assert!(room.history.blame(&note("none.md"), None, bound).is_err());
    // A note of thousands of lines with few bytes to spend is no reason to hang.
    let tight = BlameBound { bytes: 10, ..BlameBound::default() };
    assert!(!room.history.blame(&note("a.md"), None, tight).unwrap().complete);
}

#[test]
fn a_section_comes_back_and_what_stands_beside_it_stays() {
    let room = Room::of(&[("a.md", "# N\n## A\none\ntwo\n## B\nthree\n")]);
    room.save("a.md", "# N\nnew\n## A\nspoilt\n## B\nthree, and more\n");
    let target = LineTarget::Section("A".to_owned());
    let plan = room.history.plan_part(&note("a.md"), &target, None).unwrap();
    assert!(!plan.is_unchanged());
    // Somebody types between the plan and its carrying out.
    room.write("a.md", "# N\nnew\n## A\nspoilt\n## B\nthree, and more\nand more\n");
    let report = room.history.restore_part(&room.editor, &plan).unwrap();
    assert_eq!(report.restored, ["a.md"]);
    assert_eq!(room.read("a.md"), "# N\nnew\n## A\none\ntwo\n## B\nthree, and more\nand more\n");
    assert_eq!(room.subjects()[0], "restore: restored: a section of a.md");
    // It is undone as any other write.
    let undo = room.plan_undo(vault_agent::history::UndoSelection::Last(1));
    room.undo(&undo);
    assert_eq!(room.read("a.md"), "# N\nnew\n## A\nspoilt\n## B\nthree, and more\nand more\n");
    let missing = LineTarget::Section("Z".to_owned());
    let error = room.history.plan_part(&note("a.md"), &missing, None).unwrap_err().to_string();
    assert!(error.contains("no section `Z`"), "{error}");
    room.fsck();
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
