//! `migrate memory-json`.

use crate::support::prelude::*;

/// A store as the earlier server left it, with one entry that lost its content.
const STORE: &str = include_str!("memory.json");

/// A vault with a store in its home, and the store's path.
fn vault(store: &str) -> (TestVault, String) {
    let vault = TestVault::new("//- /MEMORY.md\n# Memory\n\n## Kyle\n- by hand\n\n## Other\n- x\n");
    let path = vault.home().join("memory.json");
    std::fs::write(&path, store).unwrap();
    (vault, path.to_string_lossy().into_owned())
}

/// The names in the home directory.
fn home(vault: &TestVault) -> Vec<String> {
    names_in(vault.home())
}

#[test]
fn entries_become_memories_by_key_and_the_store_is_kept_beside() {
    let (vault, store) = vault(STORE);
    let run = vault.run(&["migrate", "memory-json", &store]);
    run.exits(1).says("3 added, 0 there already").warns("entry 4: left out: it has no `content`");
    run.says("`[HOME]/memory.json` is now `[HOME]/memory.json.bak.20261201T093000Z`");
    insta::assert_snapshot!(vault.read("MEMORY.md"), @r"
    # Memory

    ## Kyle
    - by hand
    - [2026-04-01T12:34:56Z] prefers Rust
      - Context: said so twice
    - [2026-04-03T08:00:00Z] two
      lines

    ## Other
    - x

    ## stack
    - [2026-04-02T08:00:00Z] k8s on lima
    ");
    assert_eq!(home(&vault), ["memory.json.bak.20261201T093000Z"]);
    assert_eq!(std::fs::read_to_string(vault.home().join(&home(&vault)[0])).unwrap(), STORE);
    assert_eq!(vault.json(&["history"])[0]["trailers"]["Client"], json!("memory-json"));
    // Running it again adds nothing.
    let memory = vault.read("MEMORY.md");
    let again = vault.run(&["migrate", "memory-json", &store]).ok();
    again.warns("nothing to do: `[HOME]/memory.json.bak.20261201T093000Z` was already imported");
    assert_eq!((vault.read("MEMORY.md"), home(&vault).len()), (memory.clone(), 1));
    // Nor does the same store once more, which gets a backup of its own.
    std::fs::write(&store, STORE).unwrap();
    let again = vault.run(&["migrate", "memory-json", &store, "--json"]);
    assert_eq!(pick(&again.json(), "added duplicates"), json!([0, 3]));
    assert_eq!((vault.read("MEMORY.md"), home(&vault).len()), (memory, 2));
}

#[test]
fn after_an_undo_the_backup_is_named_and_can_be_taken_over_once_more() {
    let (vault, store) = vault(STORE);
    let _ = vault.run(&["migrate", "memory-json", &store]);
    let memory = vault.read("MEMORY.md");
    let _ = vault.run(&["undo"]).ok();
    let again = vault.run(&["migrate", "memory-json", &store]);
    again.exits(1).warns("3 of its 3 memories are no longer in the vault");
    let backup = "[HOME]/memory.json.bak.20261201T093000Z";
    again.warns(format!("`vault-agent migrate memory-json '{backup}'` imports them again"));
    let _ = vault.run(&["migrate", "memory-json", vault.home().join(&home(&vault)[0]).to_str().unwrap()]);
    assert_eq!((vault.read("MEMORY.md"), home(&vault).len()), (memory, 1));
}

#[test]
fn a_dry_run_shows_the_lines_and_changes_nothing() {
    let (vault, store) = vault(STORE);
    let (before, run) = (vault.tree(), vault.run(&["migrate", "memory-json", &store, "--dry-run"]));
    run.exits(1).says("+ ## Kyle\n+ - [2026-04-01T12:34:56Z] prefers Rust\n+   - Context: said so twice\n");
    run.says("3 would be added, 0 there already").warns("entry 4: left out: it has no `content`");
    assert_eq!((vault.tree(), home(&vault)), (before, vec!["memory.json".to_owned()]));
}

#[test]
fn what_is_no_store_is_left_where_it_is() {
    for text in ["", "{}", "hello", "[1, 2]", "{\"kind\":\"memory\"}\n"] {
        let (vault, store) = vault(text);
        let before = vault.tree();
        assert_eq!(vault.run(&["migrate", "memory-json", &store]).code, 2, "{text}");
        assert_eq!((vault.tree(), home(&vault)), (before, vec!["memory.json".to_owned()]), "{text}");
    }
    let (vault, _) = vault("[]");
    assert_eq!(vault.run(&["migrate", "memory-json", "/nowhere/memory.json"]).code, 2);
}
