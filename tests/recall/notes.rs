//! Search over notes: a note is a document, found by what it says as a whole, by words that look like those of the
//! question, and by characters.

use crate::recall::{hits, paths};
use crate::support::prelude::*;

const NOTES: &str = include_str!("notes.txt");

#[test]
fn a_note_is_found_by_parts_of_compounds_misspelt_words_characters_and_filters() {
    let vault = TestVault::new(NOTES);
    for (query, path) in [
        ("wo ist das Kabel", "energie/laden.md"),
        ("Hausbaterie", "energie/laden.md"),
        ("tomatose", "long.md"),
        ("银儿连子粥", "rezepte/suppe.md"),
    ] {
        assert_eq!(paths(&vault.json(&["search", query]))[0], path, "{query}");
    }
    assert_eq!(vault.json(&["search", "zugzwang"])["hits"], json!([]));
    // Each note comes once before any comes again.
    let found = vault.json(&["search", "tomatoes"]);
    assert!(paths(&found).len() > 2 && paths(&found)[0] != paths(&found)[1], "{found}");
    // A filter narrows and leaves the order.
    for query in
        ["path:long tomatoes sun", "path:long which tomatoes need sun?", "tomatoes sun -kitchen path:l"]
    {
        let found = vault.json(&["search", "--", query]);
        assert!(hits(&found)[0]["snippet"].as_str().unwrap().contains("need sun"), "{query}: {found}");
        assert!(paths(&found).iter().all(|path| *path == "long.md"), "{query}: {found}");
    }
}

#[test]
fn a_word_of_another_language_finds_the_note_that_has_its_translation() {
    let vault = TestVault::new(
        "//- vault-agent.toml\n//- threads.md\n# Threads\n\nOne thread sends a message to another.\n\
//- strom.md\n# Strom\n\nDas Auto wartet, bis der Preis niedrig ist.\n\
//- garden.md\n# Garden\n\nThe tomatoes grow by the wall.\n",
    );
    for (query, path) in [
        ("eine Nachricht", "threads.md"),
        ("发送消息", "threads.md"),
        ("precio", "strom.md"),
        ("price", "strom.md"),
    ] {
        let found = vault.json(&["search", query]);
        assert_eq!(paths(&found)[0], path, "{query}");
        assert!(hits(&found).iter().all(|hit| hit["alike"] == true), "{query}: {found}");
    }
    assert_eq!(vault.json(&["search", "--exact", "precio"])["hits"], json!([]));
    // A word that stands in a note is not translated.
    assert_eq!(paths(&vault.json(&["search", "message"])), ["threads.md"]);
    vault.write("post.md", "# Post\n\nEine Nachricht kam an.\n");
    assert_eq!(paths(&vault.json(&["search", "Nachricht"])), ["post.md"]);
}
