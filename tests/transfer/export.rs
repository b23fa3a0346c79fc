//! `export`, and its way back in.

use crate::support::prelude::*;

const VAULT: &str = include_str!("vault.txt");

/// The records of an export without their places.
fn records(vault: &TestVault) -> Vec<Value> {
    let out = vault.run(&["export", "--format", "jsonl"]).ok().stdout;
    let mut all: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for record in &mut all {
        assert!(record["path"].is_string() && record["line"].is_u64(), "{record}");
        record.as_object_mut().unwrap().remove("line");
    }
    all
}

#[test]
fn json_lines_come_in_again_as_they_went_out() {
    let vault = TestVault::new(VAULT);
    let out = vault.run(&["export", "--format", "jsonl"]).ok().stdout;
    insta::assert_snapshot!(out, @r#"
    {"kind":"memory","path":"MEMORY.md","line":3,"section":null,"timestamp":null,"scope":"global","text":"no section"}
    {"kind":"memory","path":"MEMORY.md","line":5,"section":"Kyle","timestamp":"2026-05-08","scope":"project:vault","text":"prefers Rust #project/vault\nand says so\n\n- twice"}
    {"kind":"memory","path":"MEMORY.md","line":9,"section":"Kyle","timestamp":null,"scope":"global","text":"[k:: v] drinks \"tea\" ^b1"}
    {"kind":"memory","path":"MEMORY.md","line":11,"section":"Stack","timestamp":null,"scope":"global","text":"k8s"}
    {"kind":"daily","path":"daily/2026-11-20.md","line":1,"date":"2026-11-20","time":"14:02","section":null,"scope":"global","text":"Met Anna\nabout the flat"}
    {"kind":"daily","path":"daily/2026-11-20.md","line":4,"date":"2026-11-20","time":null,"section":"Evening","scope":"global","text":"no time"}
    {"kind":"reminder","path":"Reminders.md","line":1,"id":"rid_K5V4M2J7Q2ZP","date":"2026-12-31","time":"09:30","recur":"monthly","day":null,"msg":"Rent, \"all\" of it; 50%","block_id":"r1","timezone":"Europe/London"}
    {"kind":"reminder","path":"Reminders.md","line":2,"id":"rid_AAAAAAAAAAAA","date":"2027-02-28","time":"10:00","recur":"monthly","day":31,"msg":"Books","block_id":null,"timezone":"Europe/London"}
    {"kind":"reminder","path":"Reminders.md","line":4,"id":null,"date":"2026-12-02","time":"07:00","recur":"none","day":null,"msg":"Bins","block_id":null,"timezone":"Europe/London"}
    {"kind":"commitment","path":"COMMITMENTS.md","line":1,"id":"c-2026-05-08-001","status":"pending","precision":"soft","due":"2026-12-08T19:00:00Z","scope":"channel:42","created":"2026-05-08T14:00:00Z","source":"turn-1","text":"Remind Kyle, please\nof two things"}
    {"kind":"commitment","path":"COMMITMENTS.md","line":13,"id":"c-2026-05-08-002","status":"delivered","precision":null,"due":null,"scope":null,"created":"2026-05-08T14:00:00Z","source":null,"text":"Done"}
    {"kind":"pin","path":"Pinned.md","line":1,"target":"[[Notes/House#^keys]]","text":"the house [[Notes/House#^keys]]"}
    {"kind":"pin","path":"Pinned.md","line":2,"target":null,"text":"plain"}
    "#);
    let other = TestVault::new("//- zone: Europe/London\n");
    let _ = other.run_with(&["import", "-"], &out).ok();
    assert_eq!(records(&other), records(&vault));
    // Once more adds nothing.
    let before = other.tree();
    let again = other.run_with(&["import", "-", "--json"], &out).ok().json();
    assert_eq!((&again["added"], &again["duplicates"]), (&0.into(), &13.into()));
    assert_eq!(other.tree(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn an_export_to_a_name_that_is_no_text_is_written_and_said() {
    use std::os::unix::ffi::OsStringExt as _;
    let vault = TestVault::new(VAULT);
    let file = vault.home().join(std::ffi::OsString::from_vec(b"out\xff.md".to_vec()));
    for more in [&[][..], &["--json"]] {
        let run = vault.command(&["export", "-o"]).arg(&file).args(more).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert!(std::fs::read_to_string(&file).unwrap().contains("##"));
    }
}

#[test]
fn an_export_is_found_out_as_one_and_another_zone_is_said() {
    let vault = TestVault::new(VAULT);
    let file = vault.home().join("out.jsonl").to_string_lossy().into_owned();
    let run = vault.run(&["export", "--format", "jsonl", "-o", &file]).ok();
    insta::assert_snapshot!(run.stdout, @"`[HOME]/out.jsonl`: 4 memories, 2 notes of days, 3 reminders, 2 follow-ups, 2 pins");
    let other = TestVault::new("//- zone: Asia/Tokyo\n");
    insta::assert_snapshot!(other.run(&["import", &file]).shown(), @r"
    made MEMORY.md
    made daily/2026-11-20.md
    made Reminders.md
    made COMMITMENTS.md
    made Pinned.md
    13 added, 0 there already
    --- stderr
    line 7: reminders come from a vault in Europe/London; this one reads their times in Asia/Tokyo
    ");
}

#[test]
fn an_id_that_is_taken_costs_no_follow_up() {
    let vault = TestVault::new(VAULT);
    let out = vault.run(&["export", "--format", "jsonl"]).ok().stdout;
    let other = TestVault::new(
        "//- /COMMITMENTS.md\n---\nid: c-2026-05-08-001\nstatus: pending\n---\nSomething else\n",
    );
    let _ = other.run_with(&["import", "-"], &out).ok();
    contains_all(other.read("COMMITMENTS.md"), &["id: c-2026-05-08-003\n", "id: c-2026-05-08-002\n"]);
    let before = other.tree();
    let _ = other.run_with(&["import", "-"], &out).ok();
    assert_eq!(other.tree(), before);
}

#[test]
fn the_document_is_readable() {
    insta::assert_snapshot!(TestVault::new(VAULT).run(&["export"]).ok().stdout);
    insta::assert_snapshot!(TestVault::new("").run(&["export"]).ok().stdout, @r"
    # What vault remembers

    As of 2026-12-01 09:30, Europe/London.
    ");
}

#[test]
fn an_export_replaces_only_an_export() {
    let vault = TestVault::new(VAULT);
    let file = vault.home().join("out.ics");
    let shown = file.to_string_lossy().into_owned();
    for _ in 0..2 {
        let _ = vault.run(&["export", "--format", "ics", "--output", &shown]).ok();
    }
    assert!(std::fs::read_to_string(&file).unwrap().ends_with("END:VCALENDAR\r\n"));
    std::fs::write(&file, "a letter\n").unwrap();
    assert_eq!(vault.run(&["export", "--format", "ics", "-o", &shown]).code, 2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a letter\n");
    // A note of the vault would be a second truth.
    let before = vault.tree();
    assert_eq!(vault.run(&["export", "-o", "Everything.md"]).code, 2);
    assert_eq!(vault.tree(), before);
    let _ = vault.run(&["export", "--format", "ics", "-o", "feed.ics"]).ok();
    assert!(vault.has("feed.ics"));
    let json = vault.json(&["export", "--format", "ics"]);
    assert!(json["text"].as_str().unwrap().starts_with("BEGIN:VCALENDAR\r\n"));
    let counts =
        ["memories", "daily", "reminders", "commitments", "pins"].map(|key| json[key].as_u64().unwrap());
    assert_eq!(counts, [0, 0, 3, 1, 0], "what the file holds");
}
