//! Sources that mean harm, or are broken: each costs a line in the report, and nothing else.

use std::os::unix::fs::symlink;

use crate::support::prelude::*;

fn workspace(vault: &TestVault) -> (std::path::PathBuf, String) {
    let root = vault.home().join("workspace");
    std::fs::create_dir_all(root.join("memory")).unwrap();
    std::fs::write(root.join("MEMORY.md"), "## A\n- fine\n").unwrap();
    (root.clone(), root.to_string_lossy().into_owned())
}

/// A file that says to be this large and takes no room.
fn sparse(path: &std::path::Path, bytes: u64) {
    std::fs::File::create(path).unwrap().set_len(bytes).unwrap();
}

#[test]
fn links_pipes_giants_and_bytes_that_are_no_text_are_left_out() {
    let vault = TestVault::new("");
    let (root, shown) = workspace(&vault);
    std::fs::write(vault.home().join("secret.md"), "a key\n").unwrap();
    std::fs::create_dir(vault.home().join("secrets")).unwrap();
    std::fs::write(vault.home().join("secrets/2026-11-19.md"), "a key\n").unwrap();
    symlink(vault.home().join("secret.md"), root.join("USER.md")).unwrap();
    symlink(vault.home().join("secrets"), root.join("memory/more")).unwrap();
    symlink(&root, root.join("memory/loop")).unwrap();
    std::fs::write(root.join("memory/latin.md"), b"caf\xe9\n").unwrap();
    std::fs::write(root.join("memory/null.md"), "a\0b\n").unwrap();
    std::fs::write(root.join("memory/a\\b.md"), "x\n").unwrap();
    std::fs::write(root.join("memory/2026-11-20.md"), "- fine\n- bell \u{7}\n").unwrap();
    sparse(&root.join("memory/giant.md"), 1 << 30);
    fifo(root.join("memory/pipe.md"));
    insta::assert_snapshot!(vault.run(&["import", &shown]).shown(), @r"
    made MEMORY.md
    made daily/2026-11-20.md
    2 added, 0 there already
    --- exit 1
    USER.md: left out: it is a symbolic link, which is not followed
    memory/loop: left out: it is a symbolic link, which is not followed
    memory/more: left out: it is a symbolic link, which is not followed
    memory/pipe.md: left out: it is not a file
    memory/a\b.md: left out: `imported/openclaw/memory/a\\b.md` has a character that no note's path may have (a backslash; write `/`)
    memory/giant.md: left out: it has 1073741824 bytes; notes are read up to 16777216
    memory/latin.md: left out: it is not UTF-8 text
    memory/null.md: left out: it is no text: it holds a null character
    ");
    assert!(!vault.tree().values().any(|text| text.contains("a key")));
    assert_eq!(vault.read("MEMORY.md"), "# Memory\n\n## A\n- fine\n");
}

#[test]
fn files_of_entries_have_a_bound() {
    let vault = TestVault::new("");
    let path = vault.home().join("memory.json");
    sparse(&path, 1 << 30);
    let shown = path.to_string_lossy().into_owned();
    for args in [
        vec!["migrate", "memory-json", &shown],
        vec!["import", "--from", "jsonl", &shown],
        vec!["import", &shown],
    ] {
        vault.run(&args).exits(2).warns("has 1073741824 bytes; at most 67108864 are read");
    }
}

#[test]
fn lines_of_an_export_that_can_not_be_used_are_listed() {
    let vault = TestVault::new("");
    let deep = format!("{{\"kind\":\"memory\",\"text\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    let long = "x".repeat(1 << 20);
    let text = [
        r#"{"kind":"memory","text":"fine"}"#,
        r#"{"kind":"memory","path":"../../etc/passwd","text":"x"}"#,
        r#"{"kind":"memory","path":"/etc/passwd","text":"x"}"#,
        r#"{"kind":"daily","date":"2026-02-30","text":"x"}"#,
        r#"{"kind":"daily","date":"2026-02-28","time":"24:00","text":"x"}"#,
        r#"{"kind":"daily","date":"-000001-02-28","text":"x"}"#,
        r#"{"kind":"reminder","date":"2026-12-01","time":"09:00","recur":"yearly","msg":"x"}"#,
        r#"{"kind":"reminder","date":"2026-12-01","time":"09:00","recur":"none","msg":"a\nb"}"#,
        r#"{"kind":"reminder","date":"2026-12-01","time":"09:00","recur":"none","msg":"x","id":"rid_x"}"#,
        r#"{"kind":"reminder","date":"2026-12-01","time":"09:00","recur":"none","msg":"x","block_id":"a b"}"#,
        r#"{"kind":"commitment","id":"a b","status":"pending","text":"x"}"#,
        r#"{"kind":"commitment","id":"c-1","status":"pending","text":" "}"#,
        r#"{"kind":"commitment","id":"c-1","status":"pending","scope":"general","text":"x"}"#,
        r#"{"kind":"memory","text":"\u001b[31m"}"#,
        r#"{"kind":"memory","section":"","text":"no name"}"#,
        r#"{"kind":"memory","section":"a\n## b","text":"one line"}"#,
        r#"{"kind":"memory","section":"%% <!-- hidden","text":"not hidden"}"#,
        r#"{"kind":"memory","text":"- [ ] date=2026-12-01 time=09:00 recur=none msg=\"x\"\n---\nid: c-1\n## c\n```"}"#,
        r#"{"kind":"pin","text":""}"#,
        r#"{"kind":"spell"}"#,
        "nonsense",
        &deep,
        &format!("{{\"kind\":\"memory\",\"text\":\"{long}\"}}"),
    ]
    .join("\n");
    insta::assert_snapshot!(vault.run_with(&["import", "-"], &text).shown(), @r"
    made MEMORY.md
    5 added, 0 there already
    --- exit 1
    line 2: left out: it is no line of an export: `../../etc/passwd` leaves the vault; `..` is not allowed in a path
    line 3: left out: it is no line of an export: `/etc/passwd` is absolute; paths are relative to the vault, as in `daily/2026-11-20.md`
    line 4: left out: it is no line of an export: parsed date is not valid: parameter 'day' for `2026-02` is invalid, must be in range `1..=28`
    line 5: left out: its time `24:00` is not HH:MM
    line 6: left out: its day is before year 1
    line 7: left out: it is no line of an export: unknown variant `yearly`, expected one of `none`, `daily`, `weekly`, `monthly`
    line 8: left out: the message holds a control character (\n) at character 2: write it on one line
    line 9: left out: it is no line of an export: `rid_x` is not a reminder id: one is `rid_` and 12 characters of A-Z and 2-7
    line 13: left out: its scope `general` is none of `channel:ID`, `thread:ID`, `user:ID`
    line 20: left out: it is no line of an export: unknown variant `spell`, expected one of `memory`, `daily`, `reminder`, `commitment`, `pin`
    line 21: left out: it is no line of an export: expected ident
    line 22: left out: it is no line of an export: recursion limit exceeded
    line 14: left out: the text has a control character (\u{1b}) at character 1
    line 23: left out: the text has 1048576 bytes; a memory has at most 65536
    line 10: left out: there is text after the block id
    line 11: left out: it would not read back as it is
    line 12: left out: it would not read back as it is
    line 19: left out: there is nothing to keep: the text is empty
    ");
    insta::assert_snapshot!(vault.read("MEMORY.md"), @r#"
    # Memory

    - fine
    - no name
    - - [ ] date=2026-12-01 time=09:00 recur=none msg="x"
      ---
      id: c-1
      ## c
      ```
      ```

    ## a ## b
    - one line

    ## % <-- hidden
    - not hidden
    "#);
    assert!(!vault.has("Reminders.md") && !vault.has("COMMITMENTS.md"));
}

#[test]
fn a_note_that_ends_in_a_comment_takes_nothing() {
    let fixture = "//- /MEMORY.md\n## A\n- x\n%%\n## B\n//- /Reminders.md\n```\n//- /daily\n";
    let vault = TestVault::new(fixture.trim_end_matches("//- /daily\n"));
    vault.write("daily", "a file where the days should be\n");
    let before = vault.tree();
    let text = [
        r#"{"kind":"memory","section":"A","text":"y"}"#,
        r#"{"kind":"memory","section":"B","text":"z"}"#,
        r#"{"kind":"reminder","date":"2026-12-01","time":"09:00","recur":"none","msg":"x"}"#,
        r#"{"kind":"daily","date":"2026-12-01","text":"x"}"#,
    ]
    .join("\n");
    insta::assert_snapshot!(vault.run_with(&["import", "-"], &text).shown(), @r"
    0 added, 0 there already
    --- exit 1
    line 1: left out: the note ends, or the section does, inside a comment or a code block
    line 2: left out: the note ends, or the section does, inside a comment or a code block
    line 4: left out: `daily/2026-12-01.md`: `daily` is no folder; move it out of the way
    line 3: left out: the note ends inside a comment or a code block; close it first
    ");
    assert_eq!(vault.tree(), before);
}
