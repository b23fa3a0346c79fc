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
    insta::assert_snapshot!(saved, @r#"{"end_line":6,"existing":false,"id":null,"line":6,"path":"MEMORY.md","scope":"global","section":"Kyle","text":"- [2026-12-01 09:30] drinks it green"}"#);
    assert_read_back(&vault, &saved);
    let saved = vault.json(&["memory", "save", "lives in Leith", "--importance", "0.8", "--tier", "core"]);
    assert_read_back(&vault, &saved);
    insta::assert_snapshot!(vault.read("MEMORY.md"), @"
    # Memory

    ## Kyle

    - prefers tea
    - [2026-12-01 09:30] drinks it green

    ## Stack
    - [2026-11-20 14:02] Rust

    ## Notes
    - [2026-12-01 09:30] lives in Leith [importance:: 0.8] [tier:: core]
    ");
}

#[test]
fn memories_that_differ_in_a_field_are_two() {
    let vault = TestVault::new(
        "//- now: 2026-12-01T09:30:00Z\n//- /daily/2026-11-30.md\n- 14:02 Anna [phone:: 1]\n- 14:02 Anna [phone:: 2]\n- 15:00 Anna [phone:: 2]\n",
    );
    for (number, existing) in [("3", false), ("4", false), ("3", true)] {
        let text = format!("Anna [phone:: {number}]");
        assert_eq!(vault.json(&["memory", "save", &text])["existing"], existing, "{text}");
    }
    for _ in 0..3 {
        drop(vault.run(&["memory", "promote", "2026-11-30", "1"]).ok());
    }
    assert_eq!(vault.read("daily/2026-11-30.md"), "");
    let memory = vault.read("MEMORY.md");
    assert_eq!(memory.matches("Anna").count(), 5, "{memory}");
}

#[test]
fn follow_ups_that_two_machines_add_apart_have_two_ids() {
    let added = |words: &[&str]| {
        let vault = TestVault::new(
            "//- now: 2026-12-01T09:30:00Z\n//- /vault-agent.toml\ntimezone = \"UTC\"\n[machines]\nengine = \"git\"\nremote = \"file:///nowhere/voice.git\"\n",
        );
        let ids = words.iter().map(|words| {
            let said = vault.json(&["commitment", "add", "2026-12-02 09:00", words]);
            said["id"].as_str().unwrap().to_owned()
        });
        ids.collect::<Vec<_>>()
    };
    let (one, other) = (added(&["ask Kyle", "water the plants"]), added(&["water the plants", "call Mum"]));
    assert_eq!(one[1], other[0], "the same follow-up is one");
    assert!(!one.contains(&other[1]) && one[0] != one[1], "{one:?} {other:?}");
}

#[test]
fn a_pin_goes_with_its_memory() {
    let vault = TestVault::new(
        "//- now: 2026-12-01T09:30:00Z\n//- daily/2026-11-30.md\n- 10:00 Met Anna ^a1\n//- Pinned.md\n- [[daily/2026-11-30.md#^a1]]\n- [[2026-11-30#^a1|Anna]]\n",
    );
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
    insta::assert_snapshot!(vault.read("MEMORY.md"), @"
    ## Notes
    - [2026-11-30 09:00] took pill [[daily/2026-11-30]]
    - [2026-11-30 20:30] plan b #project/a [[daily/2026-11-30]]
    - [2026-11-30 20:40] plan b [[daily/2026-11-30]]
    - [2026-11-30 21:00] took pill [[daily/2026-11-30]]
    ");
}

#[test]
fn what_has_no_words_is_the_same_to_the_letter_alone() {
    let vault = TestVault::new("//- /MEMORY.md\n- ^a1\n");
    for existing in [false, true] {
        assert_eq!(vault.json(&["memory", "save", "[importance:: 0.5]"])["existing"], existing);
    }
}

#[test]
fn what_is_known_is_answered() {
    let vault = TestVault::new(VAULT);
    let before = vault.read("MEMORY.md");
    for args in [
        &["memory", "save", "Prefers  TEA.", "--section", "Kyle"][..],
        &["memory", "save", "prefers tea"],
        &["memory", "save", "rust", "--section", "Stack"],
    ] {
        let saved = vault.json(args);
        assert_eq!(saved["existing"], true, "{saved}");
        assert_read_back(&vault, &saved);
    }
    assert_eq!(vault.read("MEMORY.md"), before);
    // The section is the subject, and the scope the owner: elsewhere the same words are another fact.
    for args in [
        &["memory", "save", "prefers tea", "--section", "Anna"][..],
        &["memory", "save", "prefers tea", "--section", "Kyle", "--scope", "project:a"],
    ] {
        let saved = vault.json(args);
        assert_eq!(saved["existing"], false, "{saved}");
        assert_eq!(vault.json(args)["existing"], true);
    }
    insta::assert_snapshot!(vault.run(&["memory", "save", "prefers tea"]).shown(), @"
    - [2026-12-01 09:30] prefers tea
    --- stderr
    nothing written: it stands in `MEMORY.md`, line 12
    ");
}

#[test]
fn a_note_of_the_day_has_the_local_date_and_time() {
    let vault = TestVault::new("//- now: 2026-07-01T23:30:00Z\n//- zone: Europe/London\n");
    let saved = vault.json(&["memory", "save", "--to", "daily", "Slept badly", "--scope", "user:anna"]);
    insta::assert_snapshot!(saved, @r#"{"end_line":1,"existing":false,"id":null,"line":1,"path":"daily/2026-07-02.md","scope":"user:anna","section":null,"text":"- 00:30 Slept badly #user/anna"}"#);
    assert_read_back(&vault, &saved);
    let again = ["memory", "save", "--to", "daily", "slept badly", "--scope", "user:anna"];
    assert_eq!(vault.json(&again)["existing"], true);
    vault.set_now("2026-07-01T23:31:00Z");
    assert_eq!(vault.json(&again)["existing"], false);
}

#[test]
fn a_follow_up_has_an_id_and_is_made_once() {
    let vault = TestVault::new(VAULT);
    let words = ["memory", "save", "--to", "commitment", "Ask about the interview", "--due", "tomorrow 9am"];
    let args = [&words[..], &["--precision", "soft", "--place", "channel:7"]].concat();
    let saved = vault.json(&args);
    assert_eq!((saved["id"].as_str(), saved["existing"].as_bool()), (Some("c-2026-12-01-001"), Some(false)));
    assert_read_back(&vault, &saved);
    insta::assert_snapshot!(vault.read("COMMITMENTS.md"), @"
    ---
    id: c-2026-12-01-001
    status: pending
    precision: soft
    due: 2026-12-02T09:00:00Z
    scope: channel:7
    created: 2026-12-01T09:30:00Z
    ---
    Ask about the interview
    ");
    let again = vault.json(&args);
    assert_eq!((again["id"].as_str(), again["existing"].as_bool()), (Some("c-2026-12-01-001"), Some(true)));
    let wrong =
        vault.run(&["memory", "save", "--to", "commitment", "x", "--place", "kitchen", "--due", "tomorrow"]);
    insta::assert_snapshot!(wrong.shown(), @"
    --- exit 2
    error: `kitchen` is no place to deliver a follow-up: write `channel:ID`, `thread:ID` or `user:ID` with the number that Discord shows
    ");
}

#[test]
fn lines_of_any_note_are_read() {
    let vault = TestVault::new(VAULT);
    insta::assert_snapshot!(vault.json(&["memory", "get", "daily/2026-11-30", "--lines", "3-4"]), @r#"{"end_line":4,"hash":"b673a5ab75874b33","line":3,"path":"daily/2026-11-30.md","text":"- 14:02 Met Anna about the flat [importance:: 0.8] #project/move\n  She will call\n","total_lines":5,"truncated":false}"#);
    let whole = vault.run(&["memory", "get", "MEMORY.md"]).ok();
    assert_eq!(whole.stdout, vault.read("MEMORY.md"));
    insta::assert_snapshot!(vault.run(&["memory", "get", "MEMORY.md", "--lines", "90"]).shown(), @"
    --- exit 1
    error: `MEMORY.md` has 8 lines; there is no line 90
    hint: the note may have changed: read it again
    ");
    insta::assert_snapshot!(vault.run(&["memory", "get", "MEMORY.md", "--lines", "7-3"]).shown(), @"
    --- exit 2
    error: lines 7 to 3 are no range: lines count from 1, and the first can't be after the last
    hint: give two numbers such as 3 and 7, or leave the lines out for the whole note
    ");
}

#[test]
fn shelves_are_listed_by_scope() {
    let vault = TestVault::new(VAULT);
    insta::assert_snapshot!(vault.run(&["memory", "list"]).shown(), @"
    ## Kyle
       5  prefers tea
    ## Stack
       8  Rust
    ");
    insta::assert_snapshot!(vault.run(&["memory", "list", "daily"]).shown(), @"
    daily/2026-11-30.md
       3  14:02  Met Anna about the flat [importance:: 0.8] #project/move She will call
       5         no time
    ");
    insta::assert_snapshot!(vault.json(&["memory", "list", "daily", "--scope", "project:Move"]), @r#"[{"date":"2026-11-30","memories":[{"end_line":4,"line":3,"scope":"project:move","text":"Met Anna about the flat [importance:: 0.8] #project/move\nShe will call","timestamp":"14:02"}],"path":"daily/2026-11-30.md"}]"#);
    assert_eq!(vault.json(&["memory", "list", "--scope", "project:none"]), json!([]));
    for kind in ["long", "pins", "commitment"] {
        let said = vault.run(&["memory", "list", kind, "--date", "bogus"]);
        said.exits(2)
            .warns(format!("`--date` means nothing with `memory list {kind}`"))
            .warns("memory list daily");
    }
    vault.run(&["memory", "list", "daily", "--date", "bogus"]).exits(2);
    let both = vault.json(&["memory", "list", "--scope", "project:none,global"]);
    assert_eq!(both.as_array().unwrap().len(), 2);
    insta::assert_snapshot!(vault.run(&["memory", "list", "shelf"]).shown(), @"
    --- exit 2
    error: `shelf` is no kind of memory: write `long`, `daily` or `commitment`
    hint: or `pins`
    ");
}

#[test]
fn a_bullet_moves_into_memory_with_its_origin() {
    let vault = TestVault::new(VAULT);
    let promoted = vault.json(&["memory", "promote", "yesterday", "4", "--section", "The move"]);
    insta::assert_snapshot!(promoted, @r#"{"end_line":13,"existing":false,"from":"daily/2026-11-30.md","id":null,"line":11,"path":"MEMORY.md","removed":true,"scope":"project:move","section":"The move","text":"- [2026-11-30 14:02] Met Anna about the flat [importance:: 0.8] #project/move\n  She will call\n  [[daily/2026-11-30]]","was":"- 14:02 Met Anna about the flat [importance:: 0.8] #project/move\n  She will call"}"#);
    assert_read_back(&vault, &promoted);
    insta::assert_snapshot!(vault.read("daily/2026-11-30.md"), @"
    # Monday

    - no time
    ");
    assert!(vault.read("MEMORY.md").ends_with("[[daily/2026-11-30]]\n"), "{}", vault.read("MEMORY.md"));
    insta::assert_snapshot!(vault.run(&["memory", "promote", "2026-11-30", "2"]).shown(), @"
    --- exit 1
    error: line 2 of `daily/2026-11-30.md` is no memory
    hint: the note may have changed: read it again and give the line of a bullet
    ");
    insta::assert_snapshot!(vault.run(&["memory", "promote", "2026-11-29", "2"]).shown(), @"
    --- exit 1
    error: there is no note of 2026-11-29
    hint: the list of the days' notes shows which there are
    ");
    let rest = vault.json(&["memory", "promote", "2026-11-30", "3"]);
    assert_eq!(rest["text"], "- [2026-11-30] no time [[daily/2026-11-30]]");
}

#[test]
fn a_bullet_with_bytes_that_are_no_text_stays_where_it_is() {
    let vault = TestVault::new(VAULT);
    let day = "daily/2026-11-28.md";
    vault.write(day, b"- 11:00 last b\xe9te\n- 12:00 keep\n");
    let (before, memory) = (std::fs::read(vault.path(day)).unwrap(), vault.read("MEMORY.md"));
    let refused = vault.run(&["memory", "promote", "2026-11-28", "1"]).shown();
    assert!(refused.starts_with("--- exit 1") && refused.contains("no UTF-8"), "{refused}");
    assert_eq!((std::fs::read(vault.path(day)).unwrap(), vault.read("MEMORY.md")), (before, memory));
}

#[test]
fn a_follow_up_has_a_time_and_nothing_else_has() {
    let vault = TestVault::new(VAULT);
    let before = vault.tree();
    insta::assert_snapshot!(vault.run(&["memory", "save", "x", "--due", "tomorrow"]).shown(), @"
    --- exit 2
    error: `--due` means nothing with `--to long`
    hint: save a follow-up with `--to commitment`, or leave it out
    ");
    insta::assert_snapshot!(vault.run(&["memory", "save", "x", "--to", "commitment"]).shown(), @"
    --- exit 2
    error: a follow-up needs a due time: `--due` is missing
    hint: write it as `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`, `17:00` or `1 april 8:15`
    ");
    assert_eq!(vault.run(&["memory", "save", "x", "--to", "daily", "--section", "y"]).code, 2);
    assert_eq!(vault.tree(), before);
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
    for words in ["gate", "alarm"] {
        drop(vault.json(&["memory", "unpin", words]));
    }
    assert_eq!(vault.json(&["memory", "unpin", "Mum"])["text"], pinned["text"]);
    insta::assert_snapshot!(vault.run(&["memory", "unpin", "Mum"]).shown(), @"
    --- exit 1
    error: nothing is pinned as `Mum`: see the list of pins for the exact words
    ");
    assert_eq!(vault.read("Pinned.md"), "- prefers tea [[MEMORY]]\n");
}

#[test]
fn a_memory_is_forgotten_by_what_it_says() {
    let vault = TestVault::new(VAULT);
    insta::assert_snapshot!(vault.run(&["memory", "forget", "MEMORY.md", "5", "--text", "likes coffee"]).shown(), @"
    --- exit 1
    error: no memory in `MEMORY.md` says `likes coffee`
    hint: read the note again, and give the words of a bullet as they stand there
    ");
    insta::assert_snapshot!(vault.run(&["memory", "forget", "MEMORY.md", "5", "--text", "prefers tea"]).shown(), @"
    - prefers tea
    --- stderr
    removed from `MEMORY.md`, line 5
    ");
    assert!(!vault.read("MEMORY.md").contains("prefers tea"));
    vault.write("Diary.md", "- mine\n");
    insta::assert_snapshot!(vault.run(&["memory", "forget", "Diary.md", "1"]).shown(), @"
    --- exit 1
    error: `Diary.md` is not a note of memories; the agent doesn't change it
    hint: follow-ups are cancelled, and other notes are their owner's to change
    ");
    assert_eq!(vault.read("Diary.md"), "- mine\n");
}

#[test]
fn exact_words_mean_no_other_memory_whatever_the_line() {
    let (rent, day) = ("## Rent\n- Rent [amount:: 950]\n- x\n- Rent [amount:: 980]\n", "daily/2026-11-30.md");
    let pills = "- 06:00 new\n- 08:00 took pill\n- 09:00 walk\n- 20:00 took pill\n";
    let vault = TestVault::new(&format!("//- /MEMORY.md\n{rent}//- /{day}\n{pills}"));
    let forget =
        |path: &str, line: &str, text: &str| vault.run(&["memory", "forget", path, line, "--text", text]);
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
    insta::assert_snapshot!(vault.run(&["undo", "2"]).ok().stdout, @"
    undid: saved: kept after
    undid: promoted: Met Anna about the flat [importance:: 0.8] #project/move
    ");
    assert_eq!(vault.read("daily/2026-11-30.md"), day);
    assert!(vault.read("MEMORY.md").contains("kept before"));
    drop(vault.run(&["undo"]).ok());
    assert_eq!(vault.read("MEMORY.md"), memory);
}

#[test]
fn a_bullet_that_can_not_be_removed_is_not_promoted() {
    let vault = TestVault::new(VAULT);
    vault.write("daily/2026-11-30.sync-conflict-20261201-091500-ABCDEFG.md", "# Monday\n");
    let memory = vault.read("MEMORY.md");
    vault.run(&["memory", "promote", "2026-11-30", "3"]).exits(1).warns("sync-conflict");
    assert_eq!(vault.read("MEMORY.md"), memory, "the fact would stand in both notes");
}

#[test]
fn the_form_of_an_accent_makes_no_other_section() {
    let vault = TestVault::new("//- /MEMORY.md\n## Zoe\u{308}\n- likes tea\n");
    assert_eq!(
        vault.json(&["memory", "save", "likes figs", "--section", "Zo\u{eb}"])["section"],
        "Zoe\u{308}"
    );
}

#[test]
fn what_is_asked_for_twice_is_done_to_one_bullet() {
    let vault = TestVault::new(
        "//- /daily/2026-11-30.md\n- one\n- two\n- three\n//- /MEMORY.md\n- a\n- b\n//- /Pinned.md\n- tea\n- tea with milk\n",
    );
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
    insta::assert_snapshot!(vault.run(&["memory", "forget", "MEMORY.md", "1"]).shown(), @"
    --- exit 1
    error: line 1 of `MEMORY.md` was removed just now (`a`); another memory stands there now
    hint: to remove that one as well, give its words with `--text`
    ");
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
        &["memory", "promote", "2026-11-30", "3"],
        &["memory", "forget", "MEMORY.md", "5"],
        &["memory", "edit", "MEMORY.md", "drinks it green", "drinks it black"],
    ] {
        drop(vault.run(args).ok());
    }
    let history = vault.json(&["history"]);
    let ours = history.as_array().unwrap().iter().filter(|entry| entry["actor"] == "cli");
    let show = |entry: &Value| format!("{} {}", entry["subject"].as_str().unwrap(), entry["paths"]);
    let told: Vec<String> = ours.map(show).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    edited: drinks it green ["MEMORY.md"]
    forgot: prefers tea ["MEMORY.md"]
    promoted: Met Anna about the flat [importance:: 0.8] #project/move ["daily/2026-11-30.md"]
    promoted: Met Anna about the flat [importance:: 0.8] #project/move ["MEMORY.md"]
    noted: Slept badly ["daily/2026-12-01.md"]
    saved: drinks it green ["MEMORY.md"]
    "#);
    let _ = vault.run(&["undo", "2"]).ok();
    contains_all(vault.read("MEMORY.md"), &["drinks it green", "prefers tea"]);
}

#[test]
fn a_follow_up_at_the_very_top_is_told_and_marked() {
    let block =
        "---\nid: c-2026-11-30-001\nstatus: pending\ndue: 2026-12-01T09:00:00Z\n---\nCall the bank.\n";
    let vault = TestVault::new(&format!("//- now: 2026-12-01T09:30:00Z\n//- /COMMITMENTS.md\n{block}"));
    let first = vault.json(&["tick"]);
    assert_eq!(first["fired"].as_array().unwrap().len(), 1, "{first}");
    assert_eq!(vault.read("COMMITMENTS.md"), block.replace("pending", "delivered"));
    assert_eq!(vault.json(&["memory", "list", "commitment", "--all"])[0]["status"], "delivered");
}

#[test]
fn a_memory_is_changed_by_what_it_says() {
    let vault = TestVault::new(VAULT);
    let edited = vault.json(&["memory", "edit", "MEMORY.md", "rust", "Rust and SQLite"]);
    insta::assert_snapshot!(edited, @r#"{"end_line":8,"existing":false,"id":null,"line":8,"path":"MEMORY.md","scope":"global","section":"Stack","text":"- [2026-11-20 14:02] Rust and SQLite","was":"- [2026-11-20 14:02] Rust"}"#);
    assert_read_back(&vault, &edited);
    // A day's bullet keeps its time, its fields and whose it is.
    let was = "Met Anna about the flat\nShe will call";
    let day = vault.json(&["memory", "edit", "daily/2026-11-30.md", was, "Anna called"]);
    assert_eq!(day["text"], "- 14:02 Anna called [importance:: 0.8] #project/move");
    assert_read_back(&vault, &day);
    insta::assert_snapshot!(vault.run(&["memory", "edit", "MEMORY.md", "prefers coffee", "x"]).shown(), @"
    --- exit 1
    error: no memory in `MEMORY.md` says `prefers coffee`
    hint: read the note again, and give the words of a bullet as they stand there
    hint: line 5: `prefers tea`
    ");
    let hash = vault.json(&["memory", "get", "MEMORY.md"])["hash"].as_str().unwrap().to_owned();
    let edit =
        |was: &str, new: &str| vault.run(&["memory", "edit", "MEMORY.md", was, new, "--expected", &hash]);
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
    let places = |vault: &TestVault| -> Vec<serde_json::Value> {
        let hits = vault.json(&["search", "tea"])["hits"].clone();
        let place = |hit: &Value| json!([hit["path"], hit["line"], hit["text"]]);
        hits.as_array().unwrap().iter().map(place).collect()
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
