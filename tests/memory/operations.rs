//! Each operation through the binary: what it answers is what stands in the note.

use crate::support::prelude::*;

const VAULT: &str = "\
//- now: 2026-12-01T09:30:00Z
//- zone: Europe/London
//- /MEMORY.md
# Memory

## Kyle

- prefers tea

## Stack
- [2026-11-20 14:02] Rust
//- /daily/2026-11-30.md
# Monday

- 14:02 Met Anna about the flat [importance:: 0.8] #project/move
  She will call
- no time
";

/// Asserts that what a save answered stands in the note, in the line that it names.
fn assert_read_back(vault: &TestVault, saved: &Value) {
    let note = vault.read(saved["path"].as_str().unwrap());
    let lines: Vec<&str> = note.lines().collect();
    let (from, to) = (saved["line"].as_u64().unwrap() as usize, saved["end_line"].as_u64().unwrap() as usize);
    assert_eq!(lines[from - 1..to].join("\n"), saved["text"].as_str().unwrap());
}

#[test]
fn a_fact_goes_under_its_section() {
    let vault = TestVault::new(VAULT);
    let saved = vault.json(&["memory", "save", "drinks it green", "--section", "kyle"]);
    let all = json!({
        "path": "MEMORY.md", "line": 6, "end_line": 6, "section": "Kyle", "scope": "global", "existing": false, "id": null,
        "text": "- [2026-12-01 09:30] drinks it green",
    });
    assert_eq!(saved, all);
    let saved = vault.json(&["memory", "save", "lives in Leith", "--importance", "0.8", "--tier", "core"]);
    assert_read_back(&vault, &saved);
    let kyle = "## Kyle\n\n- prefers tea\n- [2026-12-01 09:30] drinks it green\n\n## Stack\n";
    let notes = "Rust\n\n## Notes\n- [2026-12-01 09:30] lives in Leith [importance:: 0.8] [tier:: core]\n";
    contains_all(vault.read("MEMORY.md"), &[kyle, notes]);
}

#[test]
fn memories_that_differ_in_a_field_are_two() {
    let vault = TestVault::new("");
    let day = "- 14:02 Anna [phone:: 1]\n- 14:02 Anna [phone:: 2]\n- 15:00 Anna [phone:: 2]\n";
    vault.write("daily/2026-11-30.md", day);
    for (number, existing) in [("3", false), ("4", false), ("3", true)] {
        let text = format!("Anna [phone:: {number}]");
        assert_eq!(vault.json(&["memory", "save", &text])["existing"], existing, "{text}");
    }
    (0..3).for_each(|_| drop(vault.run(&["memory", "promote", "2026-11-30", "1"]).ok()));
    assert_eq!(vault.read("daily/2026-11-30.md"), "");
    let memory = vault.read("MEMORY.md");
    assert_eq!(memory.matches("Anna").count(), 5, "{memory}");
    // What has no words is the same to the letter alone.
    for existing in [false, true] {
        assert_eq!(vault.json(&["memory", "save", "[importance:: 0.5]"])["existing"], existing);
    }
}

#[test]
fn follow_ups_that_two_machines_add_apart_have_two_ids() {
    let added = |words: &[&str]| {
        let vault = TestVault::new("");
        let machines = "[machines]\nengine = \"git\"\nremote = \"file:///nowhere/voice.git\"\n";
        vault.write("vault-agent.toml", format!("timezone = \"UTC\"\n{machines}"));
        let ids = words.iter().map(|words| {
            vault.json(&["commitment", "add", "2026-12-02 09:00", words])["id"].as_str().unwrap().to_owned()
        });
        ids.collect::<Vec<_>>()
    };
    let (one, other) = (added(&["ask Kyle", "water the plants"]), added(&["water the plants", "call Mum"]));
    assert_eq!(one[1], other[0], "the same follow-up is one");
    assert!(!one.contains(&other[1]) && one[0] != one[1], "{one:?} {other:?}");
}

#[test]
fn a_pin_goes_with_its_memory() {
    let vault = TestVault::new("//- daily/2026-11-30.md\n- 10:00 Met Anna ^a1\n");
    vault.write("Pinned.md", "- [[daily/2026-11-30.md#^a1]]\n- [[2026-11-30#^a1|Anna]]\n");
    for (command, pin, short) in [
        (&["memory", "promote", "2026-11-30", "1"][..], "MEMORY", "MEMORY"),
        (&["undo"], "daily/2026-11-30.md", "2026-11-30"),
    ] {
        let _ = vault.run(command).ok();
        assert_eq!(vault.read("Pinned.md"), format!("- [[{pin}#^a1]]\n- [[{short}#^a1|Anna]]\n"));
    }
}

#[test]
fn memories_that_differ_in_a_time_or_scope_alone_are_promoted_both() {
    let day = "- 09:00 took pill\n- 20:30 plan b #project/a\n- 20:40 plan b\n- 21:00 took pill\n";
    let vault = TestVault::new(&format!("//- /daily/2026-11-30.md\n{day}"));
    for text in ["took pill", "plan b #project/a", "plan b", "took pill"] {
        let promoted = vault.json(&["memory", "promote", "2026-11-30", "1", "--text", text]);
        assert_eq!(pick(&promoted, "existing removed"), json!([false, true]), "{promoted}");
    }
    assert_eq!(vault.read("MEMORY.md").matches("[[daily/2026-11-30]]").count(), 4);
}

#[test]
fn what_is_known_is_answered() {
    let vault = TestVault::new(VAULT);
    let before = vault.read("MEMORY.md") + "\n## Zoe\u{308}\n- born in Kiel\n";
    vault.write("MEMORY.md", &before);
    for args in [
        &["memory", "save", "Prefers  TEA.", "--section", "Kyle"][..],
        &["memory", "save", "prefers tea"],
        &["memory", "save", "rust", "--section", "Stack"],
        &["memory", "save", "born in Kiel", "--section", "Zo\u{eb}"],
    ] {
        let saved = vault.json(args);
        assert_eq!(saved["existing"], true, "{saved}");
        assert_read_back(&vault, &saved);
    }
    assert_eq!(vault.read("MEMORY.md"), before);
    // The section is the subject, and the scope the owner: elsewhere the same words are another fact.
    let twice = [("Anna", "global", false), ("Kyle", "project:a", false), ("Kyle", "project:a", true)];
    for (section, scope, existing) in twice {
        let saved = vault.json(&["memory", "save", "prefers tea", "--section", section, "--scope", scope]);
        assert_eq!(saved["existing"], existing, "{saved}");
    }
    let known = vault.run(&["memory", "save", "prefers tea"]).ok();
    known.warns("nothing written: it stands in `MEMORY.md`, line 15");
}

#[test]
fn a_note_of_the_day_has_the_local_date_and_time() {
    let vault = TestVault::new("//- now: 2026-07-01T23:30:00Z\n//- zone: Europe/London\n");
    let save = |text: &str| vault.json(&["memory", "save", "--to", "daily", text, "--scope", "user:anna"]);
    let saved = save("Slept badly");
    let place = json!(["daily/2026-07-02.md", "- 00:30 Slept badly #user/anna", "user:anna"]);
    assert_eq!(pick(&saved, "path text scope"), place);
    assert_read_back(&vault, &saved);
    assert_eq!(save("slept badly")["existing"], true);
    vault.set_now("2026-07-01T23:31:00Z");
    assert_eq!(save("slept badly")["existing"], false);
}

#[test]
fn a_follow_up_has_an_id_and_is_made_once() {
    let vault = TestVault::new(VAULT);
    let words = ["memory", "save", "--to", "commitment", "Ask about the interview", "--due", "tomorrow 9am"];
    let args = [&words[..], &["--precision", "soft", "--place", "channel:7"]].concat();
    let saved = vault.json(&args);
    assert_eq!(pick(&saved, "id existing"), json!(["c-2026-12-01-001", false]));
    assert_read_back(&vault, &saved);
    let head =
        "precision: soft\ndue: 2026-12-02T09:00:00Z\nscope: channel:7\ncreated: 2026-12-01T09:30:00Z\n---\n";
    contains_all(vault.read("COMMITMENTS.md"), &[head]);
    assert_eq!(pick(&vault.json(&args), "id existing"), json!(["c-2026-12-01-001", true]));
    // It has a time, and nothing else has.
    let before = vault.tree();
    for (args, words) in [
        ("--to commitment --due tomorrow --place kitchen", "is no place to deliver a follow-up"),
        ("--to commitment", "a follow-up needs a due time: `--due` is missing"),
        ("--due tomorrow", "`--due` means nothing with `--to long`"),
        ("--to daily --section y", "`--section`"),
    ] {
        let args: Vec<&str> = "memory save x".split(' ').chain(args.split(' ')).collect();
        vault.run(&args).exits(2).warns(words);
    }
    assert_eq!(vault.tree(), before);
}

#[test]
fn lines_of_any_note_are_read() {
    let vault = TestVault::new(VAULT);
    let all = json!({
        "path": "daily/2026-11-30.md", "line": 3, "end_line": 4, "total_lines": 5, "truncated": false,
        "hash": "b673a5ab75874b33",
        "text": "- 14:02 Met Anna about the flat [importance:: 0.8] #project/move\n  She will call\n",
    });
    assert_eq!(vault.json(&["memory", "get", "daily/2026-11-30", "--lines", "3-4"]), all);
    assert_eq!(vault.run(&["memory", "get", "MEMORY.md"]).ok().stdout, vault.read("MEMORY.md"));
    for (lines, code, words) in [("90", 1, "has 8 lines; there is no line 90"), ("7-3", 2, "are no range")] {
        vault.run(&["memory", "get", "MEMORY.md", "--lines", lines]).exits(code).warns(words);
    }
}

#[test]
fn shelves_are_listed_by_scope() {
    let vault = TestVault::new(VAULT);
    let list = |args: &[&str]| vault.run(&[&["memory", "list"], args].concat());
    assert_eq!(list(&[]).stdout, "## Kyle\n   5  prefers tea\n## Stack\n   8  Rust\n");
    list(&["daily"]).says("   3  14:02  Met Anna about the flat").says("   5         no time");
    let moved = vault.json(&["memory", "list", "daily", "--scope", "project:Move"]);
    let fields = "0/date 0/memories/0/line 0/memories/0/timestamp 0/memories/0/scope 0/memories/1";
    assert_eq!(pick(&moved, fields), json!(["2026-11-30", 3, "14:02", "project:move", null]));
    assert_eq!(vault.json(&["memory", "list", "--scope", "project:none"]), json!([]));
    let both = vault.json(&["memory", "list", "--scope", "project:none,global"]);
    assert_eq!(both.as_array().unwrap().len(), 2);
    for kind in ["long", "pins", "commitment"] {
        let said = format!("`--date` means nothing with `memory list {kind}`");
        list(&[kind, "--date", "bogus"]).exits(2).warns(said);
    }
    list(&["daily", "--date", "bogus"]).exits(2);
    list(&["shelf"]).exits(2).warns("`shelf` is no kind of memory");
}

#[test]
fn a_bullet_moves_into_memory_with_its_origin() {
    let vault = TestVault::new(VAULT);
    let promoted = vault.json(&["memory", "promote", "yesterday", "4", "--section", "The move"]);
    let was = "- 14:02 Met Anna about the flat [importance:: 0.8] #project/move\n  She will call";
    let text = format!("{}\n  [[daily/2026-11-30]]", was.replace("14:02", "[2026-11-30 14:02]"));
    let wanted = json!([was, text, "daily/2026-11-30.md", true, "project:move"]);
    assert_eq!(pick(&promoted, "was text from removed scope"), wanted);
    assert_read_back(&vault, &promoted);
    assert_eq!(vault.read("daily/2026-11-30.md"), "# Monday\n\n- no time\n");
    assert!(vault.read("MEMORY.md").ends_with(&format!("\n## The move\n{text}\n")));
    for (day, words) in [
        ("2026-11-30", "line 2 of `daily/2026-11-30.md` is no memory"),
        ("2026-11-29", "there is no note of 2026-11-29"),
    ] {
        vault.run(&["memory", "promote", day, "2"]).exits(1).warns(words);
    }
    let rest = vault.json(&["memory", "promote", "2026-11-30", "3"]);
    assert_eq!(rest["text"], "- [2026-11-30] no time [[daily/2026-11-30]]");
}

#[test]
fn a_bullet_that_can_not_be_taken_out_of_its_day_is_not_promoted() {
    let (vault, day) = (TestVault::new(VAULT), "daily/2026-11-28.md");
    vault.write(day, b"- 11:00 last b\xe9te\n- 12:00 keep\n");
    vault.write("daily/2026-11-30.sync-conflict-20261201-091500-ABCDEFG.md", "# Monday\n");
    let (before, memory) = (std::fs::read(vault.path(day)).unwrap(), vault.read("MEMORY.md"));
    vault.run(&["memory", "promote", "2026-11-28", "1"]).exits(1).warns("no UTF-8");
    vault.run(&["memory", "promote", "2026-11-30", "3"]).exits(1).warns("sync-conflict");
    assert_eq!(std::fs::read(vault.path(day)).unwrap(), before);
    assert_eq!(vault.read("MEMORY.md"), memory, "the fact would stand in both notes");
}

#[test]
fn pins_are_added_and_removed() {
    let vault = TestVault::new(VAULT);
    let pinned = vault.json(&["memory", "pin", "Mum's birthday is 3 May", "--link", "logs/a#^X1"]);
    assert_eq!(pinned["text"], "- Mum's birthday is 3 May [[logs/a#^X1]]");
    assert_read_back(&vault, &pinned);
    let line = vault.json(&["memory", "pin", "--line", "MEMORY.md:5"]);
    assert_eq!(line["text"], "- prefers tea [[MEMORY]]");
    assert_eq!(vault.json(&["memory", "pin", "--line", "MEMORY.md:5"])["existing"], true);
    assert_eq!(vault.json(&["memory", "list", "pins"]).as_array().unwrap().len(), 2);
    for (words, existing) in [("gate 4711", false), ("alarm 9999", false), ("alarm 9999", true)] {
        let pinned = vault.json(&["memory", "pin", words, "--link", "MEMORY"]);
        assert_eq!(pick(&pinned, "existing text"), json!([existing, format!("- {words} [[MEMORY]]")]));
    }
    assert_eq!(vault.json(&["memory", "pin", "--link", "MEMORY"])["existing"], true);
    ["gate", "alarm"].iter().for_each(|words| drop(vault.json(&["memory", "unpin", words])));
    assert_eq!(vault.json(&["memory", "unpin", "Mum"])["text"], pinned["text"]);
    vault.run(&["memory", "unpin", "Mum"]).exits(1).warns("nothing is pinned as `Mum`");
    assert_eq!(vault.read("Pinned.md"), "- prefers tea [[MEMORY]]\n");
}

#[test]
fn a_memory_is_forgotten_by_what_it_says() {
    let vault = TestVault::new(VAULT);
    let forget = |text: &str| vault.run(&["memory", "forget", "MEMORY.md", "5", "--text", text]);
    forget("likes coffee").exits(1).warns("no memory in `MEMORY.md` says `likes coffee`");
    forget("prefers tea").ok().says("- prefers tea").warns("removed from `MEMORY.md`, line 5");
    assert!(!vault.read("MEMORY.md").contains("prefers tea"));
    vault.write("Diary.md", "- mine\n");
    let other = vault.run(&["memory", "forget", "Diary.md", "1"]);
    other.exits(1).warns("`Diary.md` is not a note of memories; the agent doesn't change it");
    assert_eq!(vault.read("Diary.md"), "- mine\n");
}

#[test]
fn exact_words_mean_no_other_memory_whatever_the_line() {
    let (rent, day) = ("## Rent\n- Rent [amount:: 950]\n- x\n- Rent [amount:: 980]\n", "daily/2026-11-30.md");
    let pills = "- 06:00 new\n- 08:00 took pill\n- 09:00 walk\n- 20:00 took pill\n";
    let vault = TestVault::new(&format!("//- /MEMORY.md\n{rent}//- /{day}\n{pills}"));
    let forget = |path, line, text| vault.run(&["memory", "forget", path, line, "--text", text]);
    forget(day, "3", "took pill").exits(1).warns("line 2: `took pill`").warns("line 4: `took pill`");
    vault.run(&["memory", "edit", day, "took pill", "x", "--line", "1"]).exits(1).warns("line 4");
    assert_eq!(vault.read(day), pills);
    forget(day, "4", "took pill").ok().says("- 20:00 took pill");
    forget("MEMORY.md", "2", "Rent [amount:: 980]").ok().says("- Rent [amount:: 980]");
    // The same again is about a memory that is gone.
    forget("MEMORY.md", "2", "Rent [amount:: 980]").exits(1).warns("line 2: `Rent [amount:: 950]`");
    assert_eq!(vault.read("MEMORY.md"), "## Rent\n- Rent [amount:: 950]\n- x\n");
}

#[test]
fn one_undo_takes_a_promotion_back_from_both_notes() {
    let vault = TestVault::new(VAULT);
    let (memory, day) = (vault.read("MEMORY.md"), vault.read("daily/2026-11-30.md"));
    drop(vault.json(&["memory", "save", "kept before"]));
    drop(vault.json(&["memory", "promote", "2026-11-30", "3"]));
    drop(vault.json(&["memory", "save", "kept after"]));
    vault.run(&["undo", "2"]).ok().says("undid: saved: kept after\nundid: promoted: Met Anna");
    assert_eq!(vault.read("daily/2026-11-30.md"), day);
    assert!(vault.read("MEMORY.md").contains("kept before"));
    drop(vault.run(&["undo"]).ok());
    assert_eq!(vault.read("MEMORY.md"), memory);
}

#[test]
fn what_is_asked_for_twice_is_done_to_one_bullet() {
    let vault = TestVault::new("//- /daily/2026-11-30.md\n- one\n- two\n- three\n//- /MEMORY.md\n- a\n- b\n");
    vault.write("Pinned.md", "- tea\n- tea with milk\n");
    assert_eq!(vault.json(&["memory", "promote", "2026-11-30", "1"])["existing"], false);
    // A line is the one that stands there now.
    let next = vault.json(&["memory", "promote", "2026-11-30", "1"]);
    assert_eq!(pick(&next, "existing text"), json!([false, "- [2026-11-30] two [[daily/2026-11-30]]"]));
    assert_eq!(vault.read("daily/2026-11-30.md"), "- three\n");
    // By its words, from a reading that is out of date by now.
    let third = vault.json(&["memory", "promote", "2026-11-30", "3", "--text", "three"]);
    assert_eq!(third["text"], "- [2026-11-30] three [[daily/2026-11-30]]");
    assert_eq!(vault.json(&["memory", "promote", "2026-11-30", "3", "--text", "three"])["existing"], true);
    vault.run(&["memory", "promote", "2026-11-30", "1", "--text", "four"]).exits(1);
    assert_eq!(vault.read("daily/2026-11-30.md"), "");

    assert_eq!(vault.json(&["memory", "forget", "MEMORY.md", "1"])["text"], "- a");
    let again = vault.run(&["memory", "forget", "MEMORY.md", "1"]);
    again.exits(1).warns("line 1 of `MEMORY.md` was removed just now (`a`)");
    assert_ne!(vault.run(&["memory", "forget", "MEMORY.md", "1", "--text", "a"]).code, 0);
    assert_eq!(vault.json(&["memory", "forget", "MEMORY.md", "9", "--text", "b"])["line"], 1);

    assert_eq!(vault.json(&["memory", "unpin", "tea"])["text"], "- tea");
    assert!(vault.run(&["memory", "unpin", "tea"]).shown().contains("nothing is pinned as `tea`"));
    assert_eq!(vault.json(&["memory", "unpin", "tea w"])["text"], "- tea with milk");
}

#[test]
fn each_operation_is_one_snapshot_that_says_why() {
    let vault = TestVault::new(VAULT);
    for args in [
        &["memory", "save", "drinks it green", "--section", "Kyle"][..],
        &["memory", "save", "--to", "daily", "Slept badly"],
        &["memory", "promote", "2026-11-30", "5"],
        &["memory", "forget", "MEMORY.md", "5"],
        &["memory", "edit", "MEMORY.md", "drinks it green", "drinks it black"],
    ] {
        drop(vault.run(args).ok());
    }
    let history = vault.json(&["history", "--actor", "cli"]);
    let told = history.as_array().unwrap().iter().map(|entry| pick(entry, "subject paths/0"));
    let expected = [
        ["edited: drinks it green", "MEMORY.md"],
        ["forgot: prefers tea", "MEMORY.md"],
        ["promoted: no time", "daily/2026-11-30.md"],
        ["promoted: no time", "MEMORY.md"],
        ["noted: Slept badly", "daily/2026-12-01.md"],
        ["saved: drinks it green", "MEMORY.md"],
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected.map(|one| json!(one)));
    let _ = vault.run(&["undo", "2"]).ok();
    contains_all(vault.read("MEMORY.md"), &["drinks it green", "prefers tea"]);
}

#[test]
fn a_memory_is_changed_by_what_it_says() {
    let vault = TestVault::new(VAULT);
    let edited = vault.json(&["memory", "edit", "MEMORY.md", "rust", "Rust and SQLite"]);
    let (was, text) = ("- [2026-11-20 14:02] Rust", "- [2026-11-20 14:02] Rust and SQLite");
    assert_eq!(pick(&edited, "was text section line existing"), json!([was, text, "Stack", 8, false]));
    // A day's bullet keeps its time, its fields and whose it is.
    let was = "Met Anna about the flat\nShe will call";
    let day = vault.json(&["memory", "edit", "daily/2026-11-30.md", was, "Anna called"]);
    assert_eq!(day["text"], "- 14:02 Anna called [importance:: 0.8] #project/move");
    assert_read_back(&vault, &day);
    let other = vault.run(&["memory", "edit", "MEMORY.md", "prefers coffee", "x"]);
    other.exits(1).warns("no memory in `MEMORY.md` says `prefers coffee`").warns("line 5: `prefers tea`");
    let hash = vault.json(&["memory", "get", "MEMORY.md"])["hash"].as_str().unwrap().to_owned();
    let edit = |was, new| vault.run(&["memory", "edit", "MEMORY.md", was, new, "--expected", &hash]);
    let _ = edit("prefers tea", "prefers oolong").ok();
    edit("prefers oolong", "x").exits(1).warns("was changed since it was read");
    assert!(vault.read("MEMORY.md").contains("- prefers oolong\n"));
}

#[test]
fn notes_whose_lines_end_with_cr_alone_are_read_and_never_written() {
    let fact = "# Memory\n\n## Food\n- Anna likes green tea\n- [2026-11-20] Bob eats no eggs\n  at all\n";
    let day = "- 08:00 the walk was long\n- 09:00 coffee was cold\n";
    let notes = [("MEMORY.md", fact), ("daily/2026-11-30.md", day), ("Pinned.md", "- tea\n- eggs\n")];
    let (lf, cr) = (TestVault::new(""), TestVault::new(""));
    for (path, text) in notes {
        lf.write(path, text);
        cr.write(path, text.replace('\n', "\r"));
    }
    for args in [
        &["memory", "list"][..],
        &["memory", "list", "daily"],
        &["memory", "list", "pins"],
        &["memory", "get", "MEMORY.md", "--lines", "4-5"],
        &["recall", "What does Anna like?"],
    ] {
        let (wanted, found) = (lf.run(args).ok(), cr.run(args).ok());
        assert!(wanted.stdout.lines().count() > 1 || args[1] == "What does Anna like?", "{wanted:?}");
        assert_eq!(found.stdout, wanted.stdout, "{args:?}");
    }
    let places = |vault: &TestVault| -> Value {
        let hits = vault.json(&["search", "tea"])["hits"].clone();
        hits.as_array().unwrap().iter().map(|hit| pick(hit, "path line text")).collect()
    };
    assert_eq!(places(&cr), places(&lf));
    let before = cr.tree();
    for args in [
        &["memory", "save", "Carl likes cake"][..],
        &["memory", "forget", "MEMORY.md", "4"],
        &["memory", "edit", "MEMORY.md", "Anna likes green tea", "Anna likes tea"],
        &["memory", "promote", "2026-11-30", "2"],
        &["memory", "pin", "cake"],
    ] {
        let run = cr.run(args);
        run.exits(1).warns("ends its lines with CR alone").warns("save it with LF at the end of each line");
    }
    assert_eq!(cr.tree(), before);
    // What has to be written to be of use is said to be of none.
    let due = "- [ ] date=2026-12-01 time=09:00 recur=none msg=\"Call\"\n";
    cr.write("Reminders.md", due.repeat(2).replace('\n', "\r"));
    cr.run(&["check"]).exits(1).says("Reminders.md:1:1: the file ends its lines with CR alone");
    cr.run(&["doctor"]).says("CR alone");
}
