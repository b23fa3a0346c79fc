//! Queries as people type them, and what they get; `search`, `reindex` and `stats` as commands.

use vault_agent::search::{Hit, Kind, Role};

use super::vault::*;

const NOTES: &str = "\
//- notes/Kanban board.md\n---\naliases: [task wall]\ntags: [project/alpha]\n---\n# Boards\nCards run from left to right.\n\n## Colours\nA dark theme with a side bar. #ui\n\n- runs\n- running fast\n- snake_case_name and camelCase\n\
//- notes/other.md\nThe theme is dark but the bar stands aside. [docs](https://docs.rs/tantivy)\n\n| city | müller |\n|---|---|\n| Zürich | 2026-11-20 |\n\
//- notes/中文.md\n时间复杂度与空间。\n\nノート リンク 猫\n\
//- MEMORY.md\n# Memory\n## Kyle\n- prefers TypeScript\n- [2026-05-08T14:00:00Z] dislikes mornings\n\
//- daily/2026-11-20.md\n- 14:02 saw the dentist\n\
//- Pinned.md\n- [[20260130T142355Z_0001#^01JGXYZ0000000000000000001]]\n\
//- logs/discord-channel/7/20260130T142355Z_0001.md\n---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n\n> [!user] 2026-01-30T14:23:55Z Alice\n> What did we say about the dentist?\n\n^01JGXYZ0000000000000000001\n\n> [!recall]- 2026-01-30T14:23:56Z\n> dentist was recalled here\n\n^01JGXYZ0000000000000000002\n\n> [!agent] 2026-01-30T14:23:57Z Bot\n> Thursday.\n\n^01JGXYZ0000000000000000003\n";

#[test]
fn words_phrases_prefixes_filters_and_other_scripts() {
    let (_vault, index) = indexed(NOTES);
    for (count, queries) in [
        (0, &["\"\"", "-\"\"", "path:\""][..]),
        (1, &["dentist before:2026-11", "tag:ui", "dark section:colours", "dark -section:colours"]),
        (1, &["dark path:other", "\"间复杂\"", "猫", "ﾉｰﾄ", "docs.rs/tantivy"]),
        // A quoted word is left out as it is written, and only where it stands as often.
        (2, &["theme -\"themes\"", "theme -\"dark dark\""]),
        (2, &["them*", "kyle kind:memory", "dark path:notes/*.md", "zurich MULLER"]),
        (3, &["running"]),
    ] {
        queries.iter().for_each(|query| assert_eq!(index.found(query).len(), count, "{query}"));
    }
    let board = "notes/Kanban board.md:9 paragraph A dark theme with a side bar. #ui";
    for (query, found) in [
        ("\"side bar\"", board),
        ("dark tag:project", board),
        (
            "theme -\"side bar\"",
            "notes/other.md:1 paragraph The theme is dark but the bar stands aside. docs",
        ),
        ("typescript", "MEMORY.md:3 memory Kyle: prefers TypeScript"),
        ("dentist after:2026-11", "daily/2026-11-20.md:1 daily 2026-11-20 14:02 saw the dentist"),
        ("复杂度", "notes/中文.md:1 paragraph 时间复杂度与空间。"),
        ("2026-11-20 kind:row", "notes/other.md:5 row Zürich | 2026-11-20"),
    ] {
        assert_eq!(index.found(query), [found], "{query}");
    }
    // The title of a note counts for all of its blocks.
    for (query, first) in [
        ("task wall", "notes/Kanban "),
        ("kanban cards", "Cards run"),
        ("snake_case_name", "snake_case_name"),
        ("case", "camelCase"),
    ] {
        assert!(index.found(query)[0].contains(first), "{query}");
    }
}

#[test]
fn words_of_every_script_and_place_in_a_note_are_whole() {
    let (_vault, index) = indexed(
        "//- hindi.md\nमुझे हिन्दी पसंद है\n//- di.md\nदी ने कहा\n//- hin.md\nहिन सब\n\
         //- ref.md\nintro\n\n[anna]: zugodum\n\nmore\n\n[emil]: Bubapak.\n\n[site]: https://a.org\n[ch]: tabakum.html#x\n\
         \n- [bob]: kabulom\n\n> [eva]:\n> pumulok more\n\n[^1]: fukamul\n\n| a |\n|---|\n| b | nazugum |\n\
         //- soft.md\nzuga\u{ad}lom\n\
         //- html.md\n<div class=\"kuk\">\nif a < kabubod then\nrest pumugik\n<a\n href=\"kuk\">zukamal</a>\n</div>\n",
    );
    for (queries, found) in [
        (&["दी", "\"दी\""][..], &["di.md:1"][..]),
        (&["हिन्*", "हिन्दी"], &["hindi.md:1"]),
        (&["kind:paragraph -दी -path:ref -path:html -path:soft"], &["hin.md:1", "hindi.md:1"]),
        (&["zugodum"], &["ref.md:3"]),
        (&["bubapak"], &["ref.md:7"]),
        (&["kabulom"], &["ref.md:12"]),
        (&["pumulok"], &["ref.md:14"]),
        (&["fukamul"], &["ref.md:17"]),
        (&["nazugum"], &["ref.md:21"]),
        (&["zukamal", "kabubod", "pumugik"], &["html.md:1"]),
        (&["zugalom", "zuga\u{ad}lom", "\"zugalom\"", "zugal*"], &["soft.md:1"]),
        (&["tabakum", "kuk"], &[]),
    ] {
        for query in queries {
            let place = |hit: &Hit| format!("{}:{}", hit.path, hit.line);
            let mut places: Vec<String> = index.ask(*query).hits.iter().map(place).collect();
            places.sort_unstable();
            assert_eq!(places, found, "{query}");
        }
    }
}

fn within(text: &str, scope: &str) -> Query {
    Query { scope: Some(scope.to_owned()), ..Query::new(text) }
}

#[test]
fn a_folder_is_a_scope_in_either_form_of_its_accents() {
    let (composed, decomposed) = ("B\u{fc}cher", "Bu\u{308}cher");
    let fixture = format!("//- {decomposed}/caf\u{e9}.md\n- an apple\n//- other.md\n- an apple\n");
    let (_vault, index) = indexed(&fixture);
    for folder in [composed, decomposed] {
        for scope in [folder.to_owned(), format!("{folder}/"), format!("{folder}/cafe\u{301}.md")] {
            let hits = index.search(&within("apple", &scope)).unwrap().hits;
            assert_eq!(hits.len(), 1, "{scope:?}");
            assert!(hits[0].path.starts_with(decomposed));
        }
    }
    assert!(index.search(&within("apple", "B\u{fc}x")).is_err());
}

#[test]
fn conversations_have_speakers_scopes_and_pins_but_no_echo() {
    let (_vault, index) = indexed(NOTES);
    let answer = index.search(&within("dentist", "channel:7")).unwrap();
    assert_eq!(answer.hits.len(), 1, "{:?}", show(&answer));
    let hit = &answer.hits[0];
    assert!(hit.pinned);
    assert_eq!((hit.role, hit.author.as_deref()), (Some(Role::User), Some("Alice")));
    assert_eq!(hit.context_id.as_deref(), Some("7"));
    assert_eq!(hit.timestamp, Some("2026-01-30T14:23:55Z".parse().unwrap()));
    assert!(index.ask("recalled here kind:turn").hits.is_empty());
    assert_eq!(index.search(&within("alice", "logs")).unwrap().hits.len(), 1);
    assert_eq!(index.search(&within("dentist", "memory")).unwrap().hits.len(), 1);
}

#[test]
fn comments_are_of_a_kind_of_their_own_and_come_last() {
    let (_vault, index) = indexed(
        "//- a.md\n# Notes\nThe quarterly budget stands in a long paragraph about many other things.\n\n%%\nbudget\n%%\n\n- milk <!-- budget --> and bread\n",
    );
    assert_eq!(index.found("budget kind:comment"), ["a.md:5 comment budget", "a.md:8 comment budget"]);
    assert!(index.found("budget")[0].starts_with("a.md:2 paragraph"), "{:?}", index.found("budget"));
    assert_eq!(index.found("budget").len(), 3);
    assert_eq!(index.found("milk"), ["a.md:8 item milk and bread"]);
}

#[test]
fn odd_queries_are_answered_with_a_word_about_them() {
    let (_vault, index) = indexed(NOTES);
    let answer = index.ask("dentist word ".repeat(8000));
    assert!(!answer.hits.is_empty() && !answer.notes.is_empty());
    let answer = index.ask("kind:nothing dentist");
    assert_eq!(answer.hits.len(), 2);
    assert!(answer.notes[0].contains("kind:nothing"));
    assert!(index.search(&Query::new("dentist").limit(0)).unwrap().hits.is_empty());
}

#[test]
fn a_date_without_an_offset_is_the_whole_day_of_the_vaults_zone() {
    let vault = TestVault::new(
        "//- by header.md\n---\ndate: 2026-07-01\n---\nwritten\n\
//- 2026-07-01 by name.md\nwritten\n\
//- late.md\n---\ndate: 2026-07-01 23:30\n---\nwritten\n\
//- daily/2026-07-01.md\n- 23:30 written\n\
//- the day before.md\n---\ncreated: 2026-06-30T23:59\n---\nwritten\n",
    );
    for zone in ["America/New_York", "Pacific/Auckland", "UTC"] {
        let cache = tempfile::tempdir().unwrap();
        let index = index_of(&vault.root(), cache.path(), zone, SystemClock);
        let count =
            |query: &str| index.ask(query).hits.iter().filter(|hit| hit.kind != Kind::Properties).count();
        assert_eq!(count("written after:2026-07-01"), 4);
        assert_eq!(count("written after:2026-07-01 before:2026-07-02"), 4);
        assert_eq!(count("written before:2026-07-01"), 1);
        let all = count("written after:1900-01-01");
        assert_eq!((count("written before:9999-12-31"), count("written after:9999-12-31")), (all, 0));
        assert_eq!(count("written after:2026-07-02"), 0);
    }
}

#[test]
fn a_prefix_finds_all_words_that_begin_so_and_no_other_form() {
    let words: String = (0..40).map(|n| format!("prefixed{n}\n\n")).collect();
    let vault = TestVault::new(&format!(
        "//- a.md\n{words}\n//- b.md\nconfigured\n\nits configuration\n\nthe them thin\n"
    ));
    let answer = vault.index().search(&Query::new("prefixed*").limit(100)).unwrap();
    assert_eq!((answer.hits.len(), answer.notes.len()), (40, 0));
    assert_eq!(vault.find("prefixed12*").len(), 1);
    assert_eq!(vault.find("configurat*"), ["b.md:3 paragraph its configuration"]);
    assert_eq!(vault.find("config* -configurat*"), ["b.md:1 paragraph configured"]);
    // Function words.
    assert_eq!(vault.find("the*"), ["b.md:5 paragraph the them thin"]);
    assert_eq!(vault.find("\"the them\""), ["b.md:5 paragraph the them thin"]);
    assert_eq!(vault.find("\"its\" -the"), ["b.md:3 paragraph its configuration"]);
    assert!(vault.find("\"them\" -the").is_empty());
}

#[test]
fn a_phrase_is_found_where_its_words_own_something() {
    let vault = TestVault::new(
        "//- a.md\nthe universe's end\n//- b.md\nthe universe\u{2019}s end, too\n//- c.md\nthe universes end\n",
    );
    assert_eq!(vault.find("\"the universe\"").len(), 2);
    assert_eq!(vault.find("\"universe\" end").len(), 2);
    assert_eq!(vault.find("\"the universe's end\"").len(), 2);
}

const FIXTURE: &str = "//- /a.md\n# Trees\nThe oak stands alone.\n//- /notes/b.md\n- oak and elm\n- ash\n";

#[test]
fn queries_on_standard_input_are_answered_in_order() {
    let vault = TestVault::new(FIXTURE);
    let run = vault.run_with(
        &["--json", "search", "--stdin", "--limit", "1"],
        "{\"id\":1,\"query\":\"oak\"}\n\n{\"id\":\"two\",\"query\":\"elm\",\"limit\":5}\nnot json\n\
{\"id\":[3],\"query\":\"oak\",\"scope\":\"notes\"}\n{\"query\":\"kind:nothing ash\"}\n{\"id\":5,\"query\":\"absent\"}\n{\"id\":6,\"query\":\"oak\",\"limit\":-1}\n\
{\"id\":7,\"query\":\"oak \\ud83d\"}\n",
    );
    let lines: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // A line that is no query is answered too, and the exit code says so.
    assert_eq!((lines.len(), run.code), (8, 1), "{}", run.stderr);
    assert_eq!((&lines[0]["id"], lines[0]["hits"].as_array().unwrap().len()), (&json!(1), 1));
    assert_eq!((&lines[1]["id"], &lines[1]["hits"][0]["path"]), (&json!("two"), &json!("notes/b.md")));
    assert!(lines[2]["error"].as_str().unwrap().contains("not a query"));
    assert_eq!((&lines[3]["id"], &lines[3]["hits"][0]["path"]), (&json!([3]), &json!("notes/b.md")));
    assert!(lines[4]["notes"][0].as_str().unwrap().contains("kind:nothing"));
    assert_eq!(lines[5]["id"], 5);
    assert!(lines[6]["id"] == 6 && lines[6]["error"].as_str().unwrap().contains("not a query"));
    assert!(lines[7]["id"] == 7 && lines[7]["error"].is_null(), "{}", lines[7]);
}

#[test]
fn answers_have_the_vault_s_days_and_nothing_invisible() {
    let vault = TestVault::new(
        "//- vault-agent.toml\ntimezone = \"Europe/London\"\n//- daily/2026-07-01.md\n# The \u{202e}garden\n\nthe gnu \u{202e}walks\n",
    );
    let run = vault.run(&["search", "gnu"]).ok();
    run.says("daily/2026-07-01.md:3  The garden  2026-07-01 00:00\n    the gnu walks\n").lacks("\u{202e}");
    vault.run(&["--json", "search", "gnu"]).ok().lacks("\u{202e}").lacks("\\u202e");
}

#[test]
fn reindex_and_stats_say_what_is_there() {
    let vault = TestVault::new(FIXTURE);
    vault.write("binary.md", [0u8, 1, 2, 3].repeat(50));
    let made = vault.json(&["reindex"]);
    assert_eq!((&made["files"], &made["skipped"], &made["blocks"]), (&json!(3), &json!(1), &json!(4)));
    let stats = vault.json(&["stats"]);
    assert_eq!(pick(&stats, "files blocks by_kind/item"), json!([2, 4, 2]));
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
    run.exits(1).says("0001.md:12:5: `assistant` is not a kind of event");
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
}
