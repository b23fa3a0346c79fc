//! Sources that mean harm, or are broken: each costs a line in the report, and nothing else.

use std::os::unix::fs::symlink;

use crate::support::prelude::*;

fn workspace(vault: &TestVault) -> (std::path::PathBuf, String) {
    let root = vault.home().join("workspace");
    vault.write(root.join("MEMORY.md"), "## A\n- fine\n");
    (root.clone(), root.to_string_lossy().into_owned())
}

/// What a report says was left out, before the reasons.
fn left_out(run: &Run) -> Vec<&str> {
    run.stderr.lines().filter_map(|line| line.split_once(": left out: ")).map(|(what, _)| what).collect()
}

/// A file that says to be this large and takes no room.
fn sparse(path: &std::path::Path, bytes: u64) {
    std::fs::File::create(path).unwrap().set_len(bytes).unwrap();
}

#[test]
fn links_pipes_giants_and_bytes_that_are_no_text_are_left_out() {
    let vault = TestVault::new("");
    let (root, shown) = workspace(&vault);
    vault.write(vault.home().join("secret.md"), "a key\n");
    vault.write(vault.home().join("secrets/2026-11-19.md"), "a key\n");
    vault.write(root.join("memory/2026-11-20.md"), "- fine\n- bell \u{7}\n");
    symlink(vault.home().join("secret.md"), root.join("USER.md")).unwrap();
    symlink(vault.home().join("secrets"), root.join("memory/more")).unwrap();
    symlink(&root, root.join("memory/loop")).unwrap();
    std::fs::write(root.join("memory/latin.md"), b"caf\xe9\n").unwrap();
    std::fs::write(root.join("memory/null.md"), "a\0b\n").unwrap();
    std::fs::write(root.join("memory/a\\b.md"), "x\n").unwrap();
    sparse(&root.join("memory/giant.md"), 1 << 30);
    fifo(root.join("memory/pipe.md"));
    let run = vault.run(&["import", &shown]);
    run.exits(1).says("2 added, 0 there already");
    let links = ["USER.md", "memory/loop", "memory/more"];
    let files = ["pipe", "a\\b", "giant", "latin", "null"].map(|name| format!("memory/{name}.md"));
    assert_eq!(left_out(&run), [&links[..], &files.each_ref().map(String::as_str)].concat());
    assert!(!vault.tree().values().any(|text| text.contains("a key")));
    assert_eq!(vault.read("MEMORY.md"), "# Memory\n\n## A\n- fine\n");
}

#[test]
fn a_note_that_can_not_be_read_costs_its_own_items_and_a_deep_folder_itself() {
    let vault = TestVault::new("");
    let (root, shown) = workspace(&vault);
    std::fs::create_dir_all(root.join("memory").join("a/".repeat(40))).unwrap();
    std::fs::create_dir_all(vault.root().join("daily")).unwrap();
    sparse(&vault.root().join("daily/2026-11-19.md"), 600 << 20);
    for day in ["2026-11-19", "2026-11-20"] {
        std::fs::write(root.join(format!("memory/{day}.md")), "- fine\n").unwrap();
    }
    let run = vault.run(&["import", &shown]);
    run.exits(1).says("2 added").warns("folders are read 32 deep");
    run.warns("memory/2026-11-19.md: left out: `daily/2026-11-19.md` has 629145600 bytes");
    assert!(vault.read("daily/2026-11-20.md").contains("fine"));
}

#[test]
fn files_of_entries_have_a_bound() {
    let vault = TestVault::new("");
    let path = vault.home().join("memory.json");
    sparse(&path, 1 << 30);
    let shown = path.to_string_lossy().into_owned();
    for args in [&["migrate", "memory-json"][..], &["import", "--from", "jsonl"], &["import"]] {
        let run = vault.run(&[args, &[&shown]].concat());
        run.exits(2).warns("has 1073741824 bytes; at most 67108864 are read");
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
    let run = vault.run_with(&["import", "-"], &text);
    run.exits(1).says("5 added, 0 there already");
    let left: BTreeSet<String> = left_out(&run).into_iter().map(str::to_owned).collect();
    assert_eq!(left, (2..=14).chain(19..=23).map(|line| format!("line {line}")).collect());
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
    let vault = TestVault::new("//- /MEMORY.md\n## A\n- x\n%%\n## B\n//- /Reminders.md\n```\n");
    vault.write("daily", "a file where the days should be\n");
    let before = vault.tree();
    let text = [
        r#"{"kind":"memory","section":"A","text":"y"}"#,
        r#"{"kind":"memory","section":"B","text":"z"}"#,
        r#"{"kind":"reminder","date":"2026-12-01","time":"09:00","recur":"none","msg":"x"}"#,
        r#"{"kind":"daily","date":"2026-12-01","text":"x"}"#,
    ]
    .join("\n");
    let run = vault.run_with(&["import", "-"], &text);
    run.exits(1).says("0 added, 0 there already");
    assert_eq!(left_out(&run), ["line 1", "line 2", "line 4", "line 3"]);
    assert_eq!(vault.tree(), before);
}
