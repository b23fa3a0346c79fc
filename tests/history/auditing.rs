//! What the history proves, and how it says what it doesn't.

use crate::history::room::*;
use vault_agent::history::{AuditReport, audit};

const LOG: &str = "logs/discord-channel/1/20260130T142355Z_0001.md";
const TREE: &str = r#"- [ ] date=2026-12-01 time=09:30 recur=none msg="Tree" id=rid_AAAAAAAAAAAA"#;
const CALL: &str = r#"- [ ] date=2026-12-02 time=09:30 recur=none msg="Call" id=rid_BBBBBBBBBBBB"#;

fn room() -> Room {
    let room = Room::new();
    room.write("Reminders.md", format!("# R\n{TREE}\n{CALL}\n"));
    room.save(LOG, "one\ntwo\n");
    room
}

fn judged(room: &Room) -> AuditReport {
    audit(&room.history, &room.settings.paths, &|_| None).unwrap()
}

fn said(room: &Room) -> Vec<String> {
    judged(room).violations.iter().map(|v| format!("{} {}:{} {}", v.rule, v.path, v.line, v.detail)).collect()
}

fn scheduler(trailers: &[(&str, &str)]) -> ChangeReason {
    let trailers = trailers.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    ChangeReason { trailers, ..why(Actor::Scheduler, "fired: Tree") }
}

fn fires(room: &Room, operations: &[Operation], trailers: &[(&str, &str)]) {
    room.tick();
    assert!(room.editor.edit(&note("Reminders.md"), operations, &scheduler(trailers)).unwrap().all_done());
}

#[test]
fn an_honest_history_passes() {
    let room = room();
    let delete = Operation::DeleteLine { line: TREE.into() };
    let due = ("Due", "2026-12-01T09:30:00+00:00");
    fires(&room, &[delete], &[("Reminder", "rid_AAAAAAAAAAAA"), due, ("Delivery", "1")]);
    room.agent_appends(LOG, "three");
    room.save("Reminders.md", format!("# R\n{}\n", CALL.replace("09:30", "10:00")));
    let report = judged(&room);
    assert_eq!(report.violations, []);
    assert_eq!((report.commits, report.agent_commits), (4, 2));
}

#[test]
fn a_log_that_a_person_moved_is_whole_and_one_that_did_not_only_grow_is_named_with_its_line() {
    let room = room();
    let to = LOG.replace("/1/", "/old/");
    room.rename(LOG, &to);
    room.save(&to, "one\ntwo\nthree\n");
    room.rename(&to, LOG);
    room.snapshot();
    assert_eq!(said(&room), [""; 0]);
    room.save(LOG, "one\nTWO\nthree\n");
    let changed = format!("append-only {LOG}:2 what was written in the log was changed");
    assert_eq!(said(&room), [changed.as_str()]);
    room.rename(LOG, &to);
    room.save(&to, "one\n2\n");
    // Elsewhere nobody would see that it only grows.
    room.rename(&to, "Archive.md");
    room.snapshot();
    let deleted = |log: &str| format!("append-only {log}:1 the log was deleted");
    assert_eq!(said(&room), [changed, deleted(LOG), deleted(&to)]);
}

#[test]
fn what_the_scheduler_s_word_does_not_bear_out_is_named() {
    let delete = Operation::DeleteLine { line: TREE.into() };
    let (reminder, delivery) = (("Reminder", "rid_AAAAAAAAAAAA"), ("Delivery", "1"));
    // A one-off that vanished needs a delivery.
    let vanished = room();
    fires(&vanished, std::slice::from_ref(&delete), &[reminder]);
    let removed = "delivered Reminders.md:2 the scheduler removed `rid_AAAAAAAAAAAA`, and there is no delivery of it on record";
    assert_eq!(said(&vanished), [removed]);
    // A write touches no more than it says.
    let strayed = room();
    let stray = Operation::ReplaceLine { line: b"# R".to_vec(), with: b"# X".to_vec() };
    fires(&strayed, &[delete.clone(), stray], &[reminder, delivery]);
    let told = said(&strayed);
    assert!(told.len() == 2 && told[0].starts_with("only-what-it-says Reminders.md:1"), "{told:?}");
    assert!(told[0].contains("`# R`"), "{told:?}");
    // Ids never change.
    let renamed = room();
    let other = CALL.replace("rid_BBBBBBBBBBBB", "rid_CCCCCCCCCCCC");
    renamed.save("Reminders.md", format!("# R\n{TREE}\n{other}\n"));
    assert_eq!(said(&renamed), ["ids Reminders.md:3 the id `rid_BBBBBBBBBBBB` became `rid_CCCCCCCCCCCC`"]);
    // The first line goes, and its byte order mark stays.
    let marked = Room::new();
    marked.write("Reminders.md", format!("\u{feff}{TREE}\n{CALL}\n"));
    fires(&marked, &[delete], &[reminder, delivery]);
    assert!(marked.read("Reminders.md").starts_with(&format!("\u{feff}{CALL}")));
    assert_eq!(said(&marked), [""; 0]);
}

#[test]
fn ids_given_to_lines_are_no_stray_ones_however_many() {
    for count in [1, 4000] {
        let room = Room::new();
        let line = |n: usize, id: &str| {
            format!("- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Tree {n}\"{id}\n")
        };
        room.save("Reminders.md", (0..count).map(|n| line(n, "")).collect::<String>());
        let ids: Vec<String> = (0..count).map(|n| format!("rid_{n:0>12}")).collect();
        let all: String = ids.iter().enumerate().map(|(n, id)| line(n, &format!(" id={id}"))).collect();
        // A message names the first hundred.
        let trailers: Vec<(&str, &str)> = ids.iter().take(100).map(|id| ("Reminder", id.as_str())).collect();
        room.tick();
        let write = |_: &[u8]| vault_agent::vault::EditPlan::Bytes(all.clone().into_bytes());
        room.editor.edit_with(&note("Reminders.md"), &scheduler(&trailers), write).unwrap();
        assert_eq!(said(&room), [""; 0], "{count}");
    }
}

#[test]
fn the_line_end_that_a_cut_note_gets_is_no_change_of_its_last_line() {
    let vault = TestVault::new("//- zone: Europe/London\n");
    let line = CALL.replace("12-02", "12-30").replace("none", "monthly");
    vault.write("Reminders.md", format!("\r\n{line}\r\n- text\r"));
    let _ = vault.run(&["remind", "move", "rid_BBBBBBBBBBBB", "2026-12-31"]).ok();
    assert!(vault.read("Reminders.md").contains("- text\r\r\n"));
    vault.run(&["audit"]).exits(0);
}
