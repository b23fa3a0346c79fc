//! `search`, `reindex`, `stats` as commands.

use serde_json::json;

use crate::support::TestVault;

const FIXTURE: &str = "//- /a.md\n# Trees\nThe oak stands alone.\n//- /notes/b.md\n- oak and elm\n- ash\n";

#[test]
fn queries_on_standard_input_are_answered_in_order() {
    let vault = TestVault::new(FIXTURE);
    let run = vault.run_with(
        &["--json", "search", "--stdin", "--limit", "1"],
        "{\"id\":1,\"query\":\"oak\"}\n\n{\"id\":\"two\",\"query\":\"elm\",\"limit\":5}\nnot json\n\
{\"id\":[3],\"query\":\"oak\",\"scope\":\"notes\"}\n{\"query\":\"kind:nothing ash\"}\n{\"id\":5,\"query\":\"absent\"}\n",
    );
    let lines: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // A line that is no query is answered too, and the exit code says so.
    assert_eq!((lines.len(), run.code), (6, 1), "{}", run.stderr);
    assert_eq!((&lines[0]["id"], lines[0]["hits"].as_array().unwrap().len()), (&json!(1), 1));
    assert_eq!((&lines[1]["id"], &lines[1]["hits"][0]["path"]), (&json!("two"), &json!("notes/b.md")));
    assert!(lines[2]["error"].as_str().unwrap().contains("not a query"));
    assert_eq!((&lines[3]["id"], &lines[3]["hits"][0]["path"]), (&json!([3]), &json!("notes/b.md")));
    assert!(lines[4]["notes"][0].as_str().unwrap().contains("kind:nothing"));
    assert_eq!(lines[5]["id"], 5);
}

#[test]
fn reindex_and_stats_say_what_is_there() {
    let vault = TestVault::new(FIXTURE);
    vault.write("binary.md", [0u8, 1, 2, 3].repeat(50));
    let made = vault.json(&["reindex"]);
    assert_eq!((&made["files"], &made["skipped"], &made["blocks"]), (&json!(3), &json!(1), &json!(4)));
    let stats = vault.json(&["stats"]);
    assert_eq!(
        (&stats["files"], &stats["blocks"], &stats["by_kind"]["item"]),
        (&json!(2), &json!(4), &json!(2))
    );
    assert!(stats["index_bytes"].as_u64().unwrap() > 0);
    assert!(stats["left_out"]["binary.md"].as_str().unwrap().contains("not text"));
}

#[test]
fn a_cache_that_can_t_be_used_is_said_on_standard_error_and_the_answer_comes() {
    let mut vault = TestVault::new(FIXTURE);
    vault.write("file", "");
    let cache = vault.path("file").join("cache");
    vault.env("VAULT_AGENT_CACHE_DIR", &cache.to_string_lossy());
    let run = vault.run(&["search", "path:a.md oak"]).ok();
    run.says("The oak stands alone.").warns("can't use the cache");
    vault.run(&["reindex"]).exits(1).warns("VAULT_AGENT_CACHE_DIR");
}

#[test]
fn whatever_stands_in_a_log_is_found_and_check_names_an_unknown_kind() {
    let vault = TestVault::new(
        "//- vault-agent.toml
//- logs/discord-channel/7/20261101T100000Z_0001.md
---
surface: discord-channel
context_id: \"7\"
started: 2026-11-01T10:00:00Z
---

> [!user] 2026-11-01T10:00:00Z Ann
> Where is the boat?

^01K8ZZZZZZ000000000000000A

> [!assistant] 2026-11-01T10:01:00Z Bot
> The kayak lies behind the boathouse.

> [!note] My own
> The paddle belongs to Sven.

The life vest is at the tailor's.
",
    );
    for (words, line) in [("kayak", 12), ("paddle", 15), ("tailor", 18), ("boat", 7)] {
        let found = vault.run(&["--json", "search", words]).json();
        assert_eq!(found["hits"][0]["line"], line, "{words}: {found}");
    }
    let run = vault.run(&["check"]);
    run.exits(1).says("0001.md:12:5: `assistant` is no kind of event");
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
}
