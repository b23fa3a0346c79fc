//! Taking back what the agent wrote, and only that.

use crate::room::Room;

#[test]
fn the_last_writes_go_and_what_people_wrote_stays() {
    let room = Room::new();
    room.write("a.md", "mine\n");
    room.snapshot();
    room.agent_appends("a.md", "agent one");
    room.agent_appends("b.md", "agent two");
    room.write("a.md", "first\nmine\nagent one\nlast\n");
    let plan = room.history.plan_undo(2).unwrap();
    assert_eq!((plan.writes.len(), plan.conflicts.len()), (2, 0));
    room.tick();
    let report = room.history.undo(&room.editor, &plan).unwrap();
    assert_eq!((report.undone.len(), report.notes.len()), (2, 2));
    assert_eq!(room.read("a.md"), "first\nmine\nlast\n");
    assert!(!room.has("b.md"));
    assert!(room.snapshot().is_empty());
    // Undone writes and undos don't count again.
    assert!(room.history.plan_undo(5).unwrap().writes.is_empty());
    assert_eq!(room.subjects()[0], "restore: undid: saved: agent two");
    room.fsck();
}

#[test]
fn a_write_that_people_changed_since_is_shown_and_left_and_the_others_go() {
    let room = Room::new();
    room.write("a.md", "mine\n");
    room.snapshot();
    room.agent_appends("other.md", "fine");
    room.agent_appends("a.md", "agent");
    room.write("a.md", "mine\nagent, corrected by me\n");
    let plan = room.history.plan_undo(2).unwrap();
    assert_eq!(plan.conflicts.len(), 1);
    assert_eq!(
        (plan.conflicts[0].path.as_str(), plan.conflicts[0].subject.as_str()),
        ("a.md", "saved: agent")
    );
    assert!(plan.conflicts[0].diff.contains("+agent"));
    let report = room.history.undo(&room.editor, &plan).unwrap();
    assert_eq!((report.undone.len(), report.notes), (1, vec!["other.md".to_owned()]));
    assert!(!room.has("other.md"));
    assert_eq!(room.read("a.md"), "mine\nagent, corrected by me\n");
    // One step alone: nothing else is taken back in its place.
    room.snapshot();
    assert!(room.history.plan_undo(1).unwrap().writes.is_empty());
}

#[test]
fn a_newer_write_that_stays_does_not_hold_up_an_older_one_of_the_same_note() {
    let room = Room::new();
    room.write("a.md", "mine\n\n\n");
    room.snapshot();
    for line in ["one", "two", "three"] {
        room.agent_appends("a.md", line);
    }
    room.write("a.md", "mine\n\n\none\ntwo\nthree, as I say it\n");
    let plan = room.history.plan_undo(3).unwrap();
    assert_eq!((plan.writes.len(), plan.conflicts.len()), (2, 1));
    room.history.undo(&room.editor, &plan).unwrap();
    assert_eq!(room.read("a.md"), "mine\n\n\nthree, as I say it\n");
}

#[test]
fn a_restore_can_be_undone() {
    let room = Room::new();
    room.write("a.md", "one\n");
    room.snapshot();
    room.write("a.md", "two\n");
    room.snapshot();
    let point = room.history.point("HEAD~1").unwrap();
    room.history.restore(&room.editor, &point, &[], false).unwrap();
    assert_eq!(room.read("a.md"), "one\n");
    let plan = room.history.plan_undo(1).unwrap();
    room.history.undo(&room.editor, &plan).unwrap();
    assert_eq!(room.read("a.md"), "two\n");
}
