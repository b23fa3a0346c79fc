//! `export`, and its way back in.

use crate::support::prelude::*;

const VAULT: &str = include_str!("vault.txt");

/// The records of an export without their places.
fn records(vault: &TestVault) -> Vec<Value> {
    let out = vault.run(&["export", "--format", "jsonl"]).ok().stdout;
    let placeless = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let place = record.as_object_mut().unwrap().remove("line");
        assert!(record["path"].is_string() && place.is_some_and(|line| line.is_u64()), "{record}");
        record
    };
    out.lines().map(placeless).collect()
}

#[test]
fn json_lines_come_in_again_as_they_went_out() {
    let vault = TestVault::new(VAULT);
    let out = vault.run(&["export", "--format", "jsonl"]).ok().stdout;
    let lines = [
        r#"{"kind":"memory","path":"MEMORY.md","line":5,"section":"Kyle","timestamp":"2026-05-08","scope":"project:vault","text":"prefers Rust #project/vault\nand says so\n\n- twice"}"#,
        r#"{"kind":"daily","path":"daily/2026-11-20.md","line":1,"date":"2026-11-20","time":"14:02","section":null,"scope":"global","text":"Met Anna\nabout the flat"}"#,
        r#"{"kind":"reminder","path":"Reminders.md","line":1,"id":"rid_K5V4M2J7Q2ZP","date":"2026-12-31","time":"09:30","recur":"monthly","day":null,"msg":"Rent, \"all\" of it; 50%","block_id":"r1","timezone":"Europe/London"}"#,
        r#"{"kind":"commitment","path":"COMMITMENTS.md","line":1,"id":"c-2026-05-08-001","status":"pending","precision":"soft","due":"2026-12-08T19:00:00Z","scope":"channel:42","created":"2026-05-08T14:00:00Z","source":"turn-1","text":"Remind Kyle, please\nof two things"}"#,
        r#"{"kind":"pin","path":"Pinned.md","line":1,"target":"[[Notes/House#^keys]]","text":"the house [[Notes/House#^keys]]"}"#,
    ];
    contains_all(&out, &lines);
    let other = TestVault::new("//- zone: Europe/London\n");
    let _ = other.run_with(&["import", "-"], &out).ok();
    assert_eq!(records(&other), records(&vault));
    // Once more adds nothing.
    let (before, again) = (other.tree(), other.run_with(&["import", "-", "--json"], &out).ok().json());
    assert_eq!((&again["added"], &again["duplicates"]), (&0.into(), &13.into()));
    assert_eq!(other.tree(), before);
}

#[test]
fn equal_lines_all_come_in_again() {
    let vault = TestVault::new(
        "//- zone: Europe/London\n//- /MEMORY.md\n- Weight 80\n- [2026-02-01] Weight 80\n- Weight 80\n//- /daily/2026-11-20.md\n- 08:00 Took pill\n- 08:00 Took pill\n",
    );
    let out = vault.run(&["export", "--format", "jsonl"]).ok().stdout;
    let other = TestVault::new("//- zone: Europe/London\n");
    for added in [5, 0] {
        let run = other.run_with(&["import", "-", "--json"], &out).ok().json();
        assert_eq!(run["added"], added, "{run}");
    }
    assert_eq!(records(&other), records(&vault));
}

#[test]
fn what_an_export_leaves_out_is_named_and_the_rest_comes() {
    let vault = TestVault::new(VAULT);
    std::fs::File::create(vault.root().join("daily/2026-11-21.md")).unwrap().set_len(600 << 20).unwrap();
    vault.write("Reminders.md", "- [ ] date=2026-13-01 time=09:00 recur=none msg=\"x\"\n");
    let run = vault.run(&["export", "--format", "jsonl"]);
    run.exits(1).warns("left out: `daily/2026-11-21.md`").warns("which may be left out: 1").says("Met Anna");
}

#[test]
fn what_a_person_wrote_otherwise_than_an_import_would_does_not_come_twice() {
    let pinned = "- in May [[People/Anna|Anna]]\n- pass ![[scan.png]]\n- [2026-05-08] dentist ^dentist\n";
    let memory = "# Memory\n\n## Work\n- `=SUM(A1:A3)`\n- <%% tp.date.now() %%>\n- see\n  ```\n  code\n";
    let follow_up = |id: &str, status: &str, made: &str| {
        format!("---\nid: {id}\nstatus: {status}\ncreated: 2026-05-08T{made}:00Z\n---\nCall Anna\n\n")
    };
    // One that is over, and one with the same words that waits.
    let follow_ups = follow_up("c-2026-05-08-001", "cancelled", "14:00")
        + &follow_up("c-2026-05-08-002", "pending", "15:00");
    let vault = TestVault::new("");
    let day = ("daily/2026-11-20.md", "- 14:02 `= this.file.name`\n");
    for (path, text) in [("Pinned.md", pinned), ("MEMORY.md", memory), ("COMMITMENTS.md", &follow_ups), day] {
        vault.write(path, text);
    }
    let out = vault.run(&["export", "--format", "jsonl"]).ok().stdout;
    let before = vault.tree();
    let run = vault.run_with(&["import", "-", "--json"], &out).ok().json();
    assert_eq!((&run["added"], &run["duplicates"]), (&0.into(), &9.into()), "{out}");
    assert_eq!(vault.tree(), before);
    let other = TestVault::new("");
    let _ = other.run_with(&["import", "-"], &out).ok();
    assert_eq!(other.read("Pinned.md"), format!("# Pinned\n\n{pinned}"));
    assert_eq!(other.read("COMMITMENTS.md"), format!("# Commitments\n\n{}\n", follow_ups.trim_end()));
    // Also from there, and once more.
    for (vault, out) in [(&vault, other.run(&["export", "--format", "jsonl"]).ok().stdout), (&other, out)] {
        let before = vault.tree();
        let _ = vault.run_with(&["import", "-"], &out).ok();
        assert_eq!(vault.tree(), before);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_export_to_a_name_that_is_no_text_is_written_and_said() {
    use std::os::unix::ffi::OsStringExt as _;
    let vault = TestVault::new(VAULT);
    let file = vault.home().join(std::ffi::OsString::from_vec(b"out\xff.md".to_vec()));
    for more in [&[][..], &["--json"]] {
        let _ = Run::of(vault.command(&["export", "-o"]).arg(&file).args(more)).ok();
        assert!(std::fs::read_to_string(&file).unwrap().contains("##"));
    }
}

#[test]
fn an_export_is_found_out_as_one_and_another_zone_is_said() {
    let vault = TestVault::new(VAULT);
    let file = vault.home().join("out.jsonl").to_string_lossy().into_owned();
    let run = vault.run(&["export", "--format", "jsonl", "-o", &file]).ok();
    run.says("4 memories, 2 notes of days, 3 reminders, 2 follow-ups, 2 pins");
    let run = TestVault::new("//- zone: Asia/Tokyo\n").run(&["import", &file]).ok();
    run.says("13 added, 0 there already").warns("- [ ] date=2026-12-02 time=07:00");
    run.warns("reminders come from a vault in Europe/London; this one reads their times in Asia/Tokyo");
}

#[test]
fn an_id_that_is_taken_costs_no_follow_up() {
    let out = TestVault::new(VAULT).run(&["export", "--format", "jsonl"]).ok().stdout;
    let other = TestVault::new("");
    other.write("COMMITMENTS.md", "---\nid: c-2026-05-08-001\nstatus: pending\n---\nSomething else\n");
    let _ = other.run_with(&["import", "-"], &out).ok();
    contains_all(other.read("COMMITMENTS.md"), &["id: c-2026-05-08-797185\n", "id: c-2026-05-08-002\n"]);
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
    let day = "As of 2026-12-01 09:30, Europe/London.\n";
    for other in [
        "BEGIN:VCALENDAR\r\nPRODID:-//Google Inc//Google Calendar 70.9054//EN\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n",
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Apple Inc.//macOS 14//EN\r\nEND:VCALENDAR\r\n",
        "{\"kind\":\"log\",\"msg\":\"mine\"}\n",
        "{\"kind\":\"memory\",\"text\":\"by hand\"}\nMy own notes\n",
        "# What I remember\n",
        "# What v remembers\n\nMy own essay\n",
        &format!("# What to do\n\n{day}"),
    ] {
        std::fs::write(&file, other).unwrap();
        for format in ["ics", "markdown", "jsonl"] {
            let run = vault.run(&["export", "--format", format, "-o", &shown]);
            run.exits(2).warns("exists and is not an export");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), other);
        }
    }
    std::fs::remove_file(&file).unwrap();
    for format in ["ics", "markdown", "jsonl", "markdown", "ics"] {
        let _ = vault.run(&["export", "--format", format, "-o", &shown]).ok();
    }
    // A note of the vault would be a second truth.
    let before = vault.tree();
    assert_eq!(vault.run(&["export", "-o", "Everything.md"]).code, 2);
    assert_eq!(vault.tree(), before);
    let _ = vault.run(&["export", "--format", "ics", "-o", "feed.ics"]).ok();
    assert!(vault.has("feed.ics"));
    let json = vault.json(&["export", "--format", "ics"]);
    assert!(json["text"].as_str().unwrap().starts_with("BEGIN:VCALENDAR\r\n"));
    let counts = pick(&json, "memories daily reminders commitments pins");
    assert_eq!(counts, json!([0, 0, 3, 1, 0]), "what the file holds");
}

#[test]
fn an_export_goes_through_a_link_and_replaces_no_pipe() {
    let vault = TestVault::new(VAULT);
    let home = vault.home();
    let path = |name: &str| home.join(name).to_string_lossy().into_owned();
    let link = |name: &str, to: &str| std::os::unix::fs::symlink(home.join(to), home.join(name)).unwrap();
    let export = |format: &str, name: &str| vault.run(&["export", "--format", format, "-o", &path(name)]);
    std::fs::write(home.join("real.ics"), "").unwrap();
    link("link.ics", "real.ics");
    let _ = export("ics", "link.ics").ok();
    assert!(home.join("link.ics").is_symlink());
    assert!(std::fs::read_to_string(home.join("real.ics")).unwrap().starts_with("BEGIN:VCALENDAR"));
    link("nowhere", "not-there");
    export("ics", "nowhere").exits(2).warns("is no regular file");
    // A pipe, a folder, and a link to each; a device is the same case.
    fifo(home.join("fifo"));
    std::fs::create_dir(home.join("folder")).unwrap();
    link("to-fifo", "fifo");
    link("to-folder", "folder");
    for name in ["fifo", "to-fifo", "folder", "to-folder"] {
        for format in ["markdown", "jsonl"] {
            export(format, name).exits(2).warns("is no regular file");
        }
    }
    assert!(home.join("to-fifo").is_symlink() && home.join("to-folder").is_symlink());
    link("note", vault.path("MEMORY.md").to_str().unwrap());
    export("markdown", "note").exits(2).warns("would be a note of the vault");
}

#[test]
fn a_folder_is_replaced_only_if_an_export_wrote_all_of_it() {
    let vault = TestVault::new(VAULT);
    let (folder, link) = (vault.home().join("out"), vault.home().join("link"));
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    let export = |to: &Path| vault.run(&["export", "--format", "okf", "-o", to.to_str().unwrap()]);
    for to in [&folder, &link, &folder] {
        let _ = export(to).ok();
    }
    assert!(link.is_symlink() && folder.join("index.md").is_file());
    for other in ["NOTES.md", "memory/mine.md", ".git/HEAD"] {
        let file = folder.join(other);
        vault.write(&file, "mine\n");
        let shown = other.trim_end_matches("/HEAD");
        export(&folder).exits(2).warns(format!("no export alone: there is `{shown}`"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine\n");
        std::fs::remove_file(file).unwrap();
    }
    std::fs::remove_dir(folder.join(".git")).unwrap();
    let _ = export(&folder).ok();
}

#[test]
fn a_follow_up_that_a_person_changed_since_is_left_and_does_not_come_twice() {
    let vault = TestVault::new(VAULT);
    let out = vault.run(&["export", "--format", "jsonl"]).ok().stdout;
    let note = vault.read("COMMITMENTS.md");
    for (was, is) in [("Remind Kyle, please", "Remind Kyle, kindly"), ("2026-12-08T", "2026-12-09T")] {
        let changed = note.replace(was, is);
        assert_ne!(changed, note);
        vault.write("COMMITMENTS.md", &changed);
        let run = vault.run_with(&["import", "-"], &out);
        assert_eq!(run.stderr.contains("has other words by now; it is left as it is"), was.starts_with('R'));
        assert_eq!(vault.read("COMMITMENTS.md"), changed);
    }
    // Without an instant of its own, one with a taken id is another; its new id has the day of the taken one.
    let record =
        |it: &str| json!({"kind": "commitment", "id": "c-2026-05-08-001", "status": "pending", "text": it});
    let other = TestVault::new("");
    let _ = other.run_with(&["import", "-"], &format!("{}\n{}\n", record("One"), record("Two"))).ok();
    let note = other.read("COMMITMENTS.md");
    assert!(note.contains("id: c-2026-05-08-702158\n"), "{note}");
}

#[test]
fn a_reminder_with_an_invisible_character_is_refused_as_by_hand() {
    let of = |it: &str| json!({"kind": "reminder", "date": "2027-01-01", "time": "09:30", "recur": "none", "msg": it});
    let vault = TestVault::new("");
    let run = vault.run_with(&["import", "-"], &format!("{}\n{}\n", of("Call\u{200b} Mum"), of("Call Dad")));
    run.exits(1).warns("line 1: left out: its message has an invisible character (\\u{200b})");
    assert!(vault.read("Reminders.md").contains("Call Dad"));
}
