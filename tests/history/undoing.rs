//! Taking back what the agent wrote, and only that.

use crate::history::room::*;
use vault_agent::history::UndoSelection;
use vault_agent::vault::{OPERATION, Origin};

#[test]
fn the_last_writes_go_and_what_people_wrote_stays() {
    let room = Room::of(&[("a.md", "mine\n")]);
    room.agent_appends("a.md", "agent one");
    room.agent_appends("b.md", "agent two");
    room.write("a.md", "first\nmine\nagent one\nlast\n");
    let plan = room.plan_undo(2);
    assert_eq!((plan.writes.len(), plan.conflicts.len()), (2, 0));
    let report = room.undo(&plan);
    assert_eq!((report.undone.len(), report.notes.len()), (2, 2));
    assert_eq!(room.read("a.md"), "first\nmine\nlast\n");
    assert!(!room.has("b.md"));
    assert!(room.snapshot().commits.is_empty());
    // Undone writes and undos don't count again.
    assert!(room.plan_undo(5).writes.is_empty());
    assert_eq!(room.subjects()[0], "restore: undid 2 operations");
    room.fsck();
}

#[test]
fn a_write_that_people_changed_since_is_shown_and_left_and_the_others_go() {
    let room = Room::of(&[("a.md", "mine\n")]);
    room.agent_appends("other.md", "fine");
    room.agent_appends("a.md", "agent");
    room.write("a.md", "mine\nagent, corrected by me\n");
    let plan = room.plan_undo(2);
    assert_eq!(plan.conflicts.len(), 1);
    let conflict = &plan.conflicts[0];
    assert_eq!((conflict.path.as_str(), conflict.subject.as_str()), ("a.md", "saved: agent"));
    assert!(conflict.diff.contains("+agent"));
    let report = room.undo(&plan);
    assert_eq!((report.undone.len(), report.notes), (1, vec!["other.md".to_owned()]));
    assert!(!room.has("other.md"));
    assert_eq!(room.read("a.md"), "mine\nagent, corrected by me\n");
    // One step alone: nothing else is taken back in its place.
    room.snapshot();
    assert!(room.plan_undo(1).writes.is_empty());
}

#[test]
fn a_newer_write_that_stays_does_not_hold_up_an_older_one_of_the_same_note() {
    let room = Room::of(&[("a.md", "mine\n\n\n")]);
    ["one", "two", "three"].iter().for_each(|line| room.agent_appends("a.md", line));
    room.write("a.md", "mine\n\n\none\ntwo\nthree, as I say it\n");
    let plan = room.plan_undo(3);
    assert_eq!((plan.writes.len(), plan.conflicts.len()), (2, 1));
    room.undo(&plan);
    assert_eq!(room.read("a.md"), "mine\n\n\nthree, as I say it\n");
}

#[test]
fn a_restore_of_a_link_can_be_undone_whatever_it_leads_to_and_stood_in_its_place() {
    use std::os::unix::fs::symlink;
    for target in ["a.md", "nowhere.md", "/etc/hostname"] {
        for other in [None, Some("a person's file\n")] {
            let room = Room::of(&[("a.md", "mine\n")]);
            let link = room.root().join("link.md");
            symlink(target, &link).unwrap();
            room.save("a.md", "one\n");
            room.remove("link.md");
            other.iter().for_each(|text| room.write("link.md", text));
            room.save("a.md", "two\n");
            let (before, tree) = (room.files(), room.git_tree("main"));
            room.restore("HEAD~1", &[], false);
            let restored = room.files();
            assert_eq!(std::fs::read_link(&link).unwrap(), std::path::Path::new(target));
            let report = room.undo(&room.plan_undo(1));
            assert_eq!((report.notes.len(), report.conflicts.len()), (2, 0), "{target}: {report:?}");
            assert!(room.files() == before && room.git_tree("main") == tree, "{target} {other:?}");
            room.undo(&room.plan_undo(UndoSelection::Snapshot(report.snapshot.unwrap())));
            assert_eq!(room.files(), restored, "{target} {other:?}");
            room.is_settled();
            // A link that a person has put there since stays.
            room.remove("link.md");
            symlink("b.md", &link).unwrap();
            room.snapshot();
            assert_eq!(room.plan_undo(1).conflicts[0].path, "link.md");
            room.fsck();
        }
    }
}

#[test]
fn the_undo_of_a_restore_brings_back_the_right_to_execute() {
    let room = Room::of(&[("skills/s/run.sh", "old\n")]);
    let script = room.root().join("skills/s/run.sh");
    let now = || (room.read("skills/s/run.sh"), mode(&script));
    set_mode(&script, 0o755);
    room.save("skills/s/run.sh", "new\n");
    // Of the text and of the mode; then of the mode alone.
    for other in ["new\n", "old\n"] {
        room.write("skills/s/run.sh", other);
        set_mode(&script, 0o755);
        room.snapshot();
        room.restore(&room.log().last().unwrap().commit.id.to_string(), &[], false);
        assert_eq!(now(), ("old\n".to_owned(), 0o644));
        room.undo(&room.plan_undo(1));
        assert_eq!(now(), (other.to_owned(), 0o755));
        room.is_settled();
    }
}

/// Appends to two notes as one operation of the agent does.
fn operation(room: &Room, name: &str, paths: [&str; 2]) {
    for path in paths {
        let why = why(Actor::Cli, &format!("moved {name}")).trailer(OPERATION, name);
        room.appends(path, &format!("{name} in {path}"), &why);
    }
}

#[test]
fn an_operation_stays_as_a_whole_where_one_of_its_notes_is_in_no_snapshot() {
    let room = Room::with(|settings| {
        settings.history.max_file_bytes = 100;
        settings.history.exclude = vec!["private/**".into()];
    });
    room.write("a.md", "mine\n");
    room.save("large.md", "x\n".repeat(100));
    room.agent_appends("a.md", "older");
    for other in ["large.md", "private/secret.md"] {
        operation(&room, other, ["a.md", other]);
        let (before, plan) = (room.files(), room.plan_undo(1));
        assert!(plan.writes.is_empty() && plan.notes.is_empty(), "{other}: {plan:?}");
        assert_eq!(plan.conflicts[0].path, other);
        assert!(plan.conflicts[0].reason.contains("no snapshot holds it"), "{plan:?}");
        let report = room.undo(&plan);
        assert!(report.undone.is_empty() && report.conflicts == plan.conflicts, "{report:?}");
        assert_eq!(room.files(), before, "{other}");
    }
    // Nor is a single write passed over for the one before it.
    room.agent_appends("private/b.md", "newer");
    let plan = room.plan_undo(1);
    assert!(plan.writes.is_empty() && plan.conflicts[0].path == "private/b.md", "{plan:?}");
    // What was done before is taken back when it is asked for, and what an exclusion hides is in no message.
    let plan = room.plan_undo(4);
    assert_eq!((plan.writes.len(), plan.conflicts.len()), (1, 3));
    let messages = room.git(&["log", "--format=%B"]);
    contains_none(messages, &["moved large.md\n\nActor: cli\nOperation: large.md\nLeft-Out", "newer"]);
    room.fsck();
}

#[test]
fn an_undo_is_one_commit_and_can_be_undone_by_its_id() {
    let room = Room::of(&[("a.md", "mine\n"), ("b.md", "mine, too\n")]);
    operation(&room, "one", ["a.md", "b.md"]);
    operation(&room, "two", ["a.md", "new/c.md"]);
    let (done, count) = (room.files(), room.log().len());
    // By the older write of the newer operation: both of its notes, and nothing else.
    let id = room.log()[1].commit.id.to_string();
    let plan = room.plan_undo(UndoSelection::Snapshot(id.clone()));
    let [operation] = &plan.operations()[..] else { panic!("{plan:?}") };
    assert_eq!((operation.subject.as_str(), operation.notes.len()), ("moved two", 2));
    assert_eq!(plan.notes.len(), 2);
    let report = room.undo(&plan);
    assert_eq!((room.log().len(), report.notes.len()), (count + 1, 2));
    assert_eq!(room.log()[0].changes.len(), 2);
    assert_eq!(room.read("a.md"), "mine\none in a.md\n");
    assert!(!room.has("new/c.md"));
    assert_eq!(names_in(room.path("new")), [""; 0], "nothing is left of the text that was undone");
    assert!(room.snapshot().commits.is_empty());
    let again = room.history.plan_undo(UndoSelection::Snapshot(id)).unwrap_err().to_string();
    assert!(again.contains("undone already"), "{again}");
    // The undo is undone.
    room.undo(&room.plan_undo(UndoSelection::Snapshot(report.snapshot.unwrap())));
    assert_eq!(room.files(), done);
    // And both operations stand again.
    room.tick();
    room.undo(&room.plan_undo(2));
    assert_eq!((room.read("a.md").as_str(), room.read("b.md").as_str()), ("mine\n", "mine, too\n"));
    assert_eq!(room.log().len(), count + 3);
    room.fsck();
}

#[test]
fn a_turn_is_taken_back_by_its_id() {
    let room = Room::of(&[("a.md", "mine\n")]);
    for (turn, path) in [
        ("01ABC call 1", "a.md"),
        ("01XYZ", "a.md"),
        ("01ABC call 12", "b.md"),
        ("01ABCD", "c.md"),
        // By a brain that the turn asked.
        ("asked-01ABC call 0", "d.md"),
        ("asked-01ABCD call 0", "c.md"),
    ] {
        let origin = Origin::new(Actor::Assistant).conversation(format!("turn {turn}"));
        room.appends(path, &format!("by {turn}"), &origin.why(format!("saved by {turn}")));
    }
    let plan = room.plan_undo(UndoSelection::Turn("01ABC".into()));
    assert_eq!(plan.writes.len(), 3);
    room.undo(&plan);
    assert_eq!(room.read("a.md"), "mine\nby 01XYZ\n");
    assert!(!room.has("b.md") && !room.has("d.md"));
    assert_eq!(room.read("c.md"), "by 01ABCD\nby asked-01ABCD call 0\n");
    let again = room.history.plan_undo(UndoSelection::Turn("01ABC".into())).unwrap_err().to_string();
    assert!(again.contains("changed nothing"), "{again}");
}

#[test]
fn what_a_person_changed_after_the_plan_wins_and_the_undo_is_whole() {
    let room = Room::of(&[("a.md", "mine\n"), ("b.md", "mine, too\n")]);
    operation(&room, "one", ["a.md", "b.md"]);
    // A line elsewhere: worked out anew, and done.
    let plan = room.plan_undo(1);
    room.write("b.md", "top\nmine, too\none in b.md\n");
    let report = room.undo(&plan);
    assert_eq!((report.undone.len(), report.skipped.len()), (2, 0), "{report:?}");
    assert_eq!((room.read("a.md").as_str(), room.read("b.md").as_str()), ("mine\n", "top\nmine, too\n"));
    assert_eq!(room.subjects()[0], "restore: undid: moved one");
    // The agent's own line: nothing is taken back, not in the other note either.
    operation(&room, "two", ["a.md", "b.md"]);
    let plan = room.plan_undo(1);
    room.write("b.md", "top\nmine, too\ntwo in b.md, as I say it\n");
    let report = room.undo(&plan);
    assert!(report.undone.is_empty() && report.conflicts.len() == 1, "{report:?}");
    assert_eq!(room.read("a.md"), "mine\ntwo in a.md\n");
    assert_eq!(room.read("b.md"), "top\nmine, too\ntwo in b.md, as I say it\n");
    room.snapshot();
    assert_eq!(room.plan_undo(1).conflicts.len(), 1, "it stands");
    room.fsck();
}
