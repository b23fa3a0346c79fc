//! What the history proves, and how it says what it doesn't.

use crate::history::room::*;
use vault_agent::history::{AuditReport, audit};

const TREE: &str = r#"- [ ] date=2026-12-01 time=09:30 recur=none msg="Tree" id=rid_AAAAAAAAAAAA"#;
const CALL: &str = r#"- [ ] date=2026-12-02 time=09:30 recur=none msg="Call" id=rid_BBBBBBBBBBBB"#;

fn room() -> Room {
    let room = Room::new();
    room.write("Reminders.md", format!("# R\n{TREE}\n{CALL}\n"));
    room.save("logs/discord-channel/1/20260130T142355Z_0001.md", "one\ntwo\n");
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
    let report = room.editor.edit(&note("Reminders.md"), operations, &scheduler(trailers)).unwrap();
    assert!(report.all_done());
}

#[test]
fn an_honest_history_passes() {
    let room = room();
    let delete = Operation::DeleteLine { line: TREE.into() };
    let due = ("Due", "2026-12-01T09:30:00+00:00");
    fires(&room, &[delete], &[("Reminder", "rid_AAAAAAAAAAAA"), due, ("Delivery", "1")]);
    room.agent_appends("logs/discord-channel/1/20260130T142355Z_0001.md", "three");
    room.save("Reminders.md", format!("# R\n{}\n", CALL.replace("09:30", "10:00")));
    let report = judged(&room);
    assert_eq!(report.violations, []);
    assert_eq!((report.commits, report.agent_commits), (4, 2));
}

#[test]
fn a_log_that_did_not_only_grow_is_named_with_its_line() {
    let room = room();
    room.save("logs/discord-channel/1/20260130T142355Z_0001.md", "one\nTWO\n");
    let path = "logs/discord-channel/1/20260130T142355Z_0001.md";
    assert_eq!(said(&room), [format!("append-only {path}:2 what was written in the log was changed")]);
}

#[test]
fn a_log_that_a_person_moved_is_whole() {
    let room = room();
    let log = "logs/discord-channel/1/20260130T142355Z_0001.md";
    let to = log.replace("/1/", "/old/");
    room.rename(log, &to);
    room.save(&to, "one\ntwo\nthree\n");
    room.rename(&to, log);
    room.snapshot();
    assert_eq!(said(&room), [""; 0]);
    room.rename(log, &to);
    room.save(&to, "one\nTWO\n");
    // Elsewhere nobody would see that it only grows.
    room.rename(&to, "Archive.md");
    room.snapshot();
    let deleted = |log: &str| format!("append-only {log}:1 the log was deleted");
    assert_eq!(said(&room), [deleted(log), deleted(&to)]);
}

#[test]
fn the_first_line_goes_and_its_byte_order_mark_stays() {
    let room = Room::new();
    room.write("Reminders.md", format!("\u{feff}{TREE}\n{CALL}\n"));
    let delete = Operation::DeleteLine { line: TREE.into() };
    fires(&room, &[delete], &[("Reminder", "rid_AAAAAAAAAAAA"), ("Delivery", "1")]);
    assert!(room.read("Reminders.md").starts_with(&format!("\u{feff}{CALL}")));
    assert_eq!(said(&room), [""; 0]);
}

#[test]
fn a_one_off_that_vanished_needs_a_delivery() {
    let room = room();
    let delete = Operation::DeleteLine { line: TREE.into() };
    fires(&room, &[delete], &[("Reminder", "rid_AAAAAAAAAAAA")]);
    insta::assert_debug_snapshot!(said(&room), @r#"
    [
        "delivered Reminders.md:2 the scheduler removed `rid_AAAAAAAAAAAA`, and there is no delivery of it on record",
    ]
    "#);
}

#[test]
fn a_write_that_touched_more_than_it_says_is_named() {
    let room = room();
    let operations = [
        Operation::DeleteLine { line: TREE.into() },
        Operation::ReplaceLine { line: b"# R".to_vec(), with: b"# X".to_vec() },
    ];
    fires(&room, &operations, &[("Reminder", "rid_AAAAAAAAAAAA"), ("Delivery", "1")]);
    let said = said(&room);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("only-what-it-says Reminders.md:1") && said[0].contains("`# R`"), "{said:?}");
}

#[test]
fn ids_never_change() {
    let room = room();
    let other = CALL.replace("rid_BBBBBBBBBBBB", "rid_CCCCCCCCCCCC");
    room.save("Reminders.md", format!("# R\n{TREE}\n{other}\n"));
    assert_eq!(said(&room), ["ids Reminders.md:3 the id `rid_BBBBBBBBBBBB` became `rid_CCCCCCCCCCCC`"]);
}

#[test]
fn a_line_that_gains_its_id_is_no_stray() {
    let room = Room::new();
    let bare = r#"- [ ] date=2026-12-01 time=09:30 recur=none msg="Tree""#;
    room.save("Reminders.md", format!("{bare}\n"));
    let gains = Operation::ReplaceLine { line: bare.into(), with: TREE.into() };
    fires(&room, &[gains], &[("Reminder", "rid_AAAAAAAAAAAA")]);
    assert_eq!(said(&room), Vec::<String>::new());
}

#[test]
fn ids_given_to_thousands_of_lines_are_no_stray_ones() {
    let room = Room::new();
    let line =
        |n: usize, id: &str| format!("- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Tree {n}\"{id}\n");
    let id = |n: usize| format!("rid_{n:0>12}");
    let text = |with: &dyn Fn(usize) -> String| (0..4000).map(|n| line(n, &with(n))).collect::<String>();
    room.save("Reminders.md", text(&|_| String::new()));
    let ids: Vec<String> = (0..4000).map(id).collect();
    let trailers: Vec<(&str, &str)> = ids[..100].iter().map(|id| ("Reminder", id.as_str())).collect();
    let all = text(&|n| format!(" id={}", id(n)));
    room.tick();
    let write = |_: &[u8]| vault_agent::vault::EditPlan::Bytes(all.clone().into_bytes());
    room.editor.edit_with(&note("Reminders.md"), &scheduler(&trailers), write).unwrap();
    assert_eq!(said(&room), [] as [&str; 0]);
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
