//! Each write of the agent is one commit; people's changes are a commit of their own before it.

use vault_agent::history::{LogFilter, NOTE};
use vault_agent::vault::{Actor, ChangeObserver, ChangeReason, ObservedChange, Operation};

use crate::history::room::{Room, note, why};

#[test]
fn what_a_person_changed_before_the_agent_wrote_is_committed_first() {
    let room = Room::of(&[("Reminders.md", "mine\n")]);
    room.write("Reminders.md", "mine\nand more of mine\n");
    room.agent_appends("Reminders.md", "agent's");
    let log = room.log();
    assert_eq!(room.subjects()[..2], ["mcp: saved: agent's", "human: changed Reminders.md"]);
    assert_eq!(log[0].commit.message.trailer(NOTE), Some("Reminders.md"));
    let before = room.history.read_at(&log[1].commit, "Reminders.md").unwrap().unwrap();
    assert_eq!(before, b"mine\nand more of mine\n");
    room.is_settled();
}

#[test]
fn creating_and_removing_are_writes_too() {
    let room = Room::new();
    room.snapshot();
    room.editor
        .create(&note("daily/2026-12-01.md"), b"- 09:30 hello\n", &why(Actor::Cli, "saved: hello"))
        .unwrap();
    let removal = Operation::RemoveFile { expect: b"- 09:30 hello\n".to_vec() };
    room.tick();
    room.editor.edit(&note("daily/2026-12-01.md"), &[removal], &why(Actor::Cli, "removed the day")).unwrap();
    assert_eq!(room.subjects()[..2], ["cli: removed the day", "cli: saved: hello"]);
    assert!(room.git_tree("main").is_empty());
    room.fsck();
}

#[test]
fn being_told_again_after_a_crash_changes_nothing() {
    let mut room = Room::of(&[("a.md", "one\n")]);
    let reason = ChangeReason {
        trailers: vec![("Reminder".into(), "rid_X".into())],
        ..why(Actor::Scheduler, "fired: x")
    };
    let path = note("a.md");
    let change = ObservedChange { path: &path, before: Some(b"one\n"), after: Some(b"two\n"), why: &reason };
    room.write("a.md", "two\n");
    room.history.changed(&change).unwrap();
    let before = room.subjects();
    room.reopen();
    room.history.changed(&change).unwrap();
    assert_eq!(room.subjects(), before);
    // The same words about the same change in one run are two writes.
    let back = ObservedChange { path: &path, before: Some(b"two\n"), after: Some(b"one\n"), why: &reason };
    room.history.changed(&back).unwrap();
    room.history.changed(&change).unwrap();
    assert_eq!(room.subjects().len(), before.len() + 2);
}

#[test]
fn a_snapshot_that_overtakes_the_word_about_a_write_takes_nothing_from_it() {
    let room = Room::of(&[("a.md", "one\n")]);
    room.save("a.md", "two\n");
    let reason = why(Actor::Cli, "saved: two");
    let path = note("a.md");
    let change = ObservedChange { path: &path, before: Some(b"one\n"), after: Some(b"two\n"), why: &reason };
    room.history.changed(&change).unwrap();
    assert_eq!(room.subjects()[..2], ["cli: saved: two", "human: changed a.md"]);
    assert_eq!(room.history.read_at(&room.log()[0].commit, "a.md").unwrap().unwrap(), b"two\n");
    room.is_settled();
}

#[test]
fn trailers_name_what_the_write_belongs_to() {
    let room = Room::new();
    room.snapshot();
    let reason = ChangeReason {
        actor: Actor::Scheduler,
        subject: "fired: Call \"Mum\"".into(),
        body: Some("3 minutes late".into()),
        trailers: vec![
            ("Reminder".into(), "rid_K5V4M2J9Q2ZP".into()),
            ("Due".into(), "2026-12-01T09:30:00Z".into()),
        ],
    };
    room.editor.edit(&note("Reminders.md"), &[Operation::Append { text: b"x".to_vec() }], &reason).unwrap();
    let filter = LogFilter { id: Some("rid_K5V4M2J9Q2ZP".into()), ..LogFilter::default() };
    let records = room.history.records(&filter).unwrap();
    assert_eq!(records.len(), 1);
    insta::assert_snapshot!(records[0].commit.message.render(), @r#"
    fired: Call "Mum"

    3 minutes late

    Actor: scheduler
    Reminder: rid_K5V4M2J9Q2ZP
    Due: 2026-12-01T09:30:00Z
    Note: Reminders.md
    "#);
}

#[test]
fn many_processes_may_snapshot_at_once() {
    let room = Room::of(&[("a.md", "0\n")]);
    let handles: Vec<_> = (0..4)
        .map(|thread| {
            let vault = vault_agent::vault::Vault::open(&room.root()).unwrap();
            let state = room.temp.path().join("state");
            let clock = std::sync::Arc::clone(&room.clock) as std::sync::Arc<dyn vault_agent::clock::Clock>;
            let history = vault_agent::history::History::open(&vault, &room.settings, &state, clock).unwrap();
            std::thread::spawn(move || {
                for turn in 0..10 {
                    let name = format!("t{thread}-{turn}.md");
                    std::fs::write(vault.root().join(&name), "x").unwrap();
                    let paths = [note(&name)].into();
                    history.snapshot_paths(&paths, vault_agent::history::Deletions::Hold).unwrap();
                }
            })
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
    assert_eq!(room.git_tree("main").len(), 41);
    assert_eq!(room.log().len(), 41);
    room.is_settled();
}
