//! Search over notes: a note is a document, found by what it says as a whole, by words that look like those of the
//! question, and by characters.

use crate::support::prelude::*;

const NOTES: &str = include_str!("notes.txt");

fn paths(vault: &TestVault, query: &str) -> Vec<String> {
    let found = vault.run(&["--json", "search", "--", query]).json();
    let hits = found["hits"].as_array().unwrap().clone();
    hits.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn parts_of_compounds_misspelt_words_and_characters_find_their_note() {
    let vault = TestVault::new(NOTES);
    for (query, path) in [
        ("wo ist das Kabel", "energie/laden.md"),
        ("Hausbaterie", "energie/laden.md"),
        ("tomatose", "long.md"),
        ("银儿连子粥", "rezepte/suppe.md"),
    ] {
        assert_eq!(paths(&vault, query).first().map(String::as_str), Some(path), "{query}");
    }
    assert_eq!(paths(&vault, "zugzwang"), [""; 0]);
}

#[test]
fn each_note_comes_once_before_any_comes_again() {
    let vault = TestVault::new(NOTES);
    let found = paths(&vault, "tomatoes");
    assert!(found.len() > 2, "{found:?}");
    let first: std::collections::BTreeSet<_> = found[..2].iter().collect();
    assert_eq!(first.len(), 2, "{found:?}");
}

#[test]
fn a_filter_narrows_and_leaves_the_order() {
    let vault = TestVault::new(NOTES);
    for query in
        ["path:long tomatoes sun", "path:long which tomatoes need sun?", "tomatoes sun -kitchen path:l"]
    {
        let found = vault.run(&["--json", "search", "--", query]).json();
        let hits = found["hits"].as_array().unwrap();
        assert!(hits[0]["snippet"].as_str().unwrap().contains("need sun"), "{query}: {found}");
        assert!(hits.iter().all(|hit| hit["path"] == "long.md"), "{query}: {found}");
    }
}

#[test]
fn a_word_of_another_language_finds_the_note_that_has_its_translation() {
    let vault = TestVault::new(
        "\
//- vault-agent.toml
//- threads.md
# Threads

One thread sends a message to another.
//- strom.md
# Strom

Das Auto wartet, bis der Preis niedrig ist.
//- garden.md
# Garden

The tomatoes grow by the wall.
",
    );
    for (query, path) in [
        ("eine Nachricht", "threads.md"),
        ("发送消息", "threads.md"),
        ("precio", "strom.md"),
        ("price", "strom.md"),
    ] {
        assert_eq!(paths(&vault, query).first().map(String::as_str), Some(path), "{query}");
        let found = vault.run(&["--json", "search", "--", query]).json();
        assert!(found["hits"].as_array().unwrap().iter().all(|hit| hit["alike"] == true), "{query}: {found}");
    }
    assert_eq!(vault.json(&["search", "--exact", "precio"])["hits"], json!([]));
    // A word that stands in a note is not translated.
    assert_eq!(paths(&vault, "message"), ["threads.md"]);
    vault.write("post.md", "# Post\n\nEine Nachricht kam an.\n");
    assert_eq!(paths(&vault, "Nachricht"), ["post.md"]);
}
