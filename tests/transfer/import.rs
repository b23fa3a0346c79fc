//! `import` of workspaces and projects.

use std::path::PathBuf;

use serde_json::json;

use crate::support::TestVault;

/// A vault, and a folder outside it with these files.
fn set_up(fixture: &str, files: &[(&str, &str)]) -> (TestVault, PathBuf, String) {
    let vault = TestVault::new(fixture);
    let root = vault.home().join("workspace");
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let shown = root.to_string_lossy().into_owned();
    (vault, root, shown)
}

const WORKSPACE: &[(&str, &str)] = &[
    (
        "MEMORY.md",
        "# Long-term memory\n\n- no heading\n\n## People\n- Anna likes tea\n  - green\n\nA paragraph\nof two lines.\n\n### Work\n1. Bob writes Go\n\n<!-- nothing -->\n",
    ),
    ("USER.md", "# User\n\n- Name: Kyle\n"),
    ("SOUL.md", "You are a pirate.\n"),
    ("memory/2026-11-20.md", "# Friday\n\n- met Anna\n"),
    ("memory/2026-11-21.md", "# Saturday\n\n- met Bob\n- slept\n"),
    ("memory/projects/flat.md", "# Flat\n\nThird floor.\n"),
    (".git/config", "x\n"),
];

#[test]
#[cfg(feature = "history")]
fn an_import_into_five_notes_is_one_undo() {
    let (vault, _, root) =
        set_up("//- /MEMORY.md\n# Memory\n\n- mine\n//- /daily/2026-11-21.md\n- slept\n", WORKSPACE);
    let before = vault.tree();
    let _ = vault.run(&["import", &root]).ok();
    assert_eq!(vault.tree().len(), before.len() + 3);
    let undone = vault.run(&["undo"]).ok();
    assert!(undone.stdout.starts_with("undid: imported from openclaw"), "{undone:?}");
    assert_eq!(vault.tree(), before, "and no file with the text is left beside");
    assert_eq!(vault.run(&["history", "--json"]).json()[0]["paths"].as_array().unwrap().len(), 5);
}

#[test]
fn an_openclaw_workspace_comes_in() {
    let fixture = "//- /MEMORY.md\n# Memory\n\n## People\n- Anna likes tea\n  - green\n\n//- /daily/2026-11-21.md\n- 09:00 slept\n- slept\n";
    let (vault, _, root) = set_up(fixture, WORKSPACE);
    insta::assert_snapshot!(vault.run(&["import", &root]).shown(), @r"
    exit 0
    --- stdout
    changed MEMORY.md
    made daily/2026-11-20.md
    changed daily/2026-11-21.md
    made user/profile.md
    made imported/openclaw/memory/projects/flat.md
    7 added, 2 there already
    ");
    insta::assert_snapshot!(vault.read("MEMORY.md"), @r"
    # Memory

    ## People
    - Anna likes tea
      - green
    - A paragraph
      of two lines.

    ## OpenClaw
    - no heading

    ## People / Work
    - Bob writes Go
    ");
    insta::assert_snapshot!(vault.read("daily/2026-11-21.md"), @r"
    - 09:00 slept
    - slept
    - met Bob
    ");
    assert_eq!(vault.read("daily/2026-11-20.md"), "# Friday\n\n- met Anna\n");
    assert_eq!(vault.read("user/profile.md"), "# User\n\n- Name: Kyle\n");
    assert_eq!(vault.read("imported/openclaw/memory/projects/flat.md"), "# Flat\n\nThird floor.\n");
    assert!(!vault.tree().values().any(|text| text.contains("pirate")));
    let newest = &vault.run(&["history", "--json"]).ok().json()[0];
    assert_eq!((&newest["actor"], &newest["trailers"]["Client"]), (&json!("cli"), &json!("openclaw")));

    let before = vault.tree();
    let again = vault.run(&["import", &root, "--json"]).ok().json();
    assert_eq!((&again["added"], &again["notes"]), (&json!(0), &json!([])));
    assert_eq!(vault.tree(), before);
}

#[test]
fn a_basic_memory_project_comes_in() {
    let coffee = "---\ntitle: Coffee\ntype: note\npermalink: coffee\n---\n# Coffee\n\n- [method] Pour over #brewing (at home)\n- relates_to [[Beans]]\n";
    let files = [("drinks/Coffee.md", coffee), ("Beans.md", "Just words.\n")];
    let (vault, root, shown) = set_up("//- /MEMORY.md\n# Memory\n", &files);
    let before = vault.tree();
    insta::assert_snapshot!(vault.run(&["import", &shown, "--dry-run"]).shown(), @r"
    exit 0
    --- stdout
    MEMORY.md would be changed:
    + ## Coffee
    + - [method] Pour over #brewing (at home)
    imported/workspace/Beans.md would be made:
    + Just words.
    imported/workspace/drinks/Coffee.md would be made:
    + ---
    + title: Coffee
    + type: note
    + permalink: coffee
    + ---
    + # Coffee
    + 
    + - [method] Pour over #brewing (at home)
    + - relates_to [[Beans]]
    3 would be added, 0 there already
    ");
    assert_eq!(vault.tree(), before);
    let _ = vault.run(&["import", &shown, "--from", "basic-memory"]).ok();
    assert_eq!(vault.read("imported/workspace/drinks/Coffee.md"), coffee);
    assert_eq!(vault.read("imported/workspace/Beans.md"), "Just words.\n");
    insta::assert_snapshot!(vault.read("MEMORY.md"), @r"
    # Memory

    ## Coffee
    - [method] Pour over #brewing (at home)
    ");

    // A note that was changed here stays as it is; what is new there comes.
    vault.write("imported/workspace/Beans.md", "My own words.\n");
    std::fs::write(root.join("Tea.md"), "- [kind] Green\n").unwrap();
    insta::assert_snapshot!(vault.run(&["import", &shown]).shown(), @r"
    exit 0
    --- stdout
    changed MEMORY.md
    made imported/workspace/Tea.md
    2 added, 2 there already
    --- stderr
    Beans.md: a note with other words is there already; it is left as it is
    ");
    assert_eq!(vault.read("imported/workspace/Beans.md"), "My own words.\n");
    let _ = vault.run(&["import", &shown, "--into", "elsewhere"]).ok();
    assert_eq!(vault.read("elsewhere/Beans.md"), "Just words.\n");
}

#[test]
fn a_profile_that_somebody_wrote_stays() {
    let (vault, _, root) = set_up("//- /user/profile.md\nMine.\n", WORKSPACE);
    let run = vault.run(&["import", &root]).ok();
    assert!(run.stderr.contains("USER.md: a note with other words is there already"), "{}", run.stderr);
    assert_eq!(vault.read("user/profile.md"), "Mine.\n");
    // One that nobody has filled in counts as none.
    let (vault, _, root) = set_up("", WORKSPACE);
    let _ = vault.run(&["init"]).ok();
    let _ = vault.run(&["import", &root]).ok();
    assert_eq!(vault.read("user/profile.md"), "# User\n\n- Name: Kyle\n");
}

#[test]
fn what_it_is_must_be_clear() {
    let (vault, _, root) = set_up("", &[("note.md", "Just words.\n")]);
    insta::assert_snapshot!(vault.run(&["import", &root]).shown().replace(&root, "[ROOT]"), @r"
    exit 2
    --- stderr
    error: can't tell what `[HOME]/workspace` is from
    hint: say it with `--from openclaw`, `basic-memory` or `jsonl`
    ");
    assert_eq!(vault.run(&["import", "/nowhere"]).code, 2);
    assert_eq!(vault.run(&["import", ".", "--from", "openclaw"]).code, 2, "the vault itself");
    assert_eq!(vault.run(&["import", &root, "--into", "../out"]).code, 2);
    assert_eq!(vault.run(&["import", &root, "--from", "jsonl"]).code, 2);
}
