//! `recall` and `search` over a small vault.

use crate::recall::{hits, paths};
use crate::support::prelude::*;

const LOGS: &str = "\
//- vault-agent.toml
//- logs/discord-channel/7/20260801T090000Z_0001.md
[!user] 2026-08-01T09:00:00Z Ann: I adopted a kitten from the shelter yesterday, her name is Biscuit! ^01K1J000000000000000000001
[!agent] 2026-08-01T09:00:30Z Pai: Congratulations! What did the vet say? ^01K1J000000000000000000002
[!user] 2026-08-01T09:01:00Z Ann: She needs her vaccination in September. ^01K1J000000000000000000003
[!tool]- 2026-08-01T09:01:10Z calendar: {\"kitten\": \"adopted kitten shelter vaccination\"} ^01K1J000000000000000000004
[!user] 2026-08-01T09:02:00Z Ann: The dishwasher is leaking again. ^01K1J000000000000000000005
";

fn vault(more: &str) -> TestVault {
    TestVault::new(&format!("{LOGS}{more}"))
}

#[test]
fn a_turn_is_found_by_the_day_that_it_is_about() {
    let turn = |second: u32, text: &str| {
        format!("[!user] 2026-08-12T09:00:{second:02}Z Ann: {text} ^01K1J0000000000000000001{second:02}\n")
    };
    let texts = [
        "We went to the old harbour two weeks ago.",
        "I went to the lake house two months ago.",
        "We went to the climbing hall three days ago.",
        "I went to the flea market today.",
    ];
    let turns: String = texts.iter().zip(10..).map(|(text, second)| turn(second, text)).collect();
    let vault = vault(&format!("//- logs/discord-channel/7/20260812T090000Z_0001.md\n{turns}"));
    for (question, answer) in [
        ("Where did Ann go on 9 August 2026?", "climbing hall"),
        ("Where did Ann go on 29 July 2026?", "old harbour"),
        ("Where did Ann go in June?", "lake house"),
    ] {
        let found = vault.json(&["search", question]);
        let first = found["hits"][0]["snippet"].as_str().unwrap();
        assert!(first.contains(answer), "{question}: {first}");
    }
}

#[test]
fn nothing_is_given_where_nothing_helps_for_small_talk_and_of_other_people_s_lives() {
    let vault = vault("//- hello.md\n- says hello and thanks every morning\n");
    for prompt in [
        "Which kubernetes ingress controller handles the wildcard certificate?",
        "",
        "x",
        "🎉🎉🎉",
        "What a lovely day it is!",
        "Erzähl mir einen Witz.",
        "Raconte-moi une blague.",
        "¿Qué tal te va hoy?",
        "今天天气真好啊。",
        "Сегодня прекрасная погода.",
        "Which instrument did Priya learn in Lisbon?",
        "hello",
        "ok, thanks!",
        "Good morning.",
        "👍",
        "yes please",
    ] {
        assert_eq!(vault.run(&["recall", prompt]).stdout.trim(), "NONE", "{prompt}");
        assert!(vault.json(&["recall", prompt])["digest"].is_null());
        assert_eq!(vault.run(&["recall", "--inject", prompt]).stdout, "");
    }
    let json = vault.json(&["recall", "quarterly spreadsheet of the oil refinery"]);
    assert_eq!(pick(&json, "digest hits"), json!([null, []]));
    assert!(vault.run(&["recall", &"kitten ".repeat(15_000)]).stdout.contains("kitten"));
}

#[test]
fn what_is_near_in_meaning_is_given_a_dressed_question_is_the_bare_one_and_a_slip_is_mended() {
    let vault = vault("");
    let recall = |prompt: &str| vault.run(&["recall", prompt]).stdout;
    let bare = recall("Did Ann adopt a kitten?");
    assert!(bare.contains("kitten from the shelter"));
    assert!(bare.lines().count() <= 3 && bare.trim_end().chars().count() <= 400);
    let found = vault.json(&["search", "Where did Ann get her cat?"]);
    assert!(found["hits"][0]["snippet"].as_str().unwrap().contains("kitten from the shelter"), "{found}");
    for dressed in [
        "Did Ann adopt a kitten? Please answer in one sentence.",
        "Hi! Did Ann adopt a kitten? Thanks a lot!",
        "did ann adopt a kitten?",
        "Did Ann adotp a ktiten?",
    ] {
        assert_eq!(recall(dressed), bare, "{dressed}");
    }
}

#[test]
fn an_injection_is_marked_bounded_and_without_tools() {
    let (vault, question) = (vault(""), "When does the kitten need her vaccination?");
    let run = vault.run(&["recall", "--inject", question]);
    let json = run.stdout.strip_prefix("INJECTED_CONTEXT_RELEVANT_MEMORIES\n").expect("the mark comes first");
    let json: Value = serde_json::from_str(json).unwrap();
    assert_eq!(json["budget_tokens_est"], 1000);
    let memories = json["memories"].as_array().unwrap();
    let excerpts: Vec<&str> = memories.iter().map(|memory| memory["excerpt"].as_str().unwrap()).collect();
    assert!(excerpts.iter().any(|excerpt| excerpt.contains("vaccination in September")), "{excerpts:?}");
    assert!(!excerpts.iter().any(|excerpt| excerpt.contains('{')), "tools are not given: {excerpts:?}");
    assert!(memories[0]["path"].as_str().unwrap().starts_with("logs/"), "{json}");
    assert!(memories[0]["line"].as_u64().unwrap() > 6, "{json}");
    assert_eq!(memories[0]["truncated"], false);
    vault.run(&["recall", "--inject", "--expand", question]).says("Pai: Congratulations!");
}

#[test]
fn pinned_memories_come_first() {
    let vault = vault(
        "//- Pinned.md\n- [[logs/discord-channel/7/20260801T090000Z_0001#^01K1J000000000000000000005]]\n",
    );
    let json = vault.json(&["recall", "--inject", "Did Ann adopt a kitten?"]);
    let first = &json["injected"]["memories"][0];
    assert!(first["excerpt"].as_str().unwrap().contains("dishwasher"), "{json}");
    assert!(json["digest"].as_str().unwrap().contains("kitten"), "a digest is about the question");
}

#[test]
fn pins_that_come_along_silence_no_find() {
    const FACT: &str = "The kumquat jam recipe needs 300 grams of sugar";
    for (count, words) in [(8, ""), (20, ""), (8, "that goes on and on, far too long for its line ")] {
        let pins: String =
            (0..count).map(|at| format!("- pinned thing number {at} {}\n", words.repeat(20))).collect();
        let vault = TestVault::new(&format!("//- Pinned.md\n{pins}//- MEMORY.md\n- {FACT}\n"));
        let question = "how much sugar does the kumquat jam recipe need?";
        vault.run(&["recall", question]).says(FACT).lacks("pinned thing");
        let json = vault.json(&["recall", "--inject", question]);
        let given = json["injected"]["memories"].as_array().unwrap();
        assert!(given[0]["path"] == "Pinned.md" && given.iter().any(|one| one["excerpt"] == FACT), "{json}");
        assert_eq!(hits(&json).len(), 9, "eight pins and the fact");
    }
}

#[test]
fn a_bound_holds_for_what_is_injected() {
    let vault = vault("//- MEMORY.md\n- Ann adopted the kitten Biscuit\n");
    let question = "Did Ann adopt a kitten?";
    let whole = vault.run(&["recall", "--inject", question]).stdout;
    let short = vault.run(&["recall", "--inject", "--max-chars", "600", question]).stdout;
    assert!(whole.chars().count() > 600);
    assert!(short.contains("kitten") && short.chars().count() <= 600, "{short}");
    assert_eq!(vault.run(&["recall", "--inject", "--max-chars", "20", question]).stdout, "");
}

#[test]
fn what_a_tool_said_is_found_by_its_words_and_never_given() {
    let vault = vault(
        "//- logs/discord-channel/7/20260802T090000Z_0001.md
[!user] 2026-08-02T09:00:00Z Ann: who fixed the sink? ^01K1J000000000000000000011
[!tool]- 2026-08-02T09:00:10Z read_file: invoice 4711 plumber Hendrickson, paid by card ^01K1J000000000000000000012
",
    );
    for query in [
        "Hendrickson",
        "plumber",
        "\"invoice 4711\"",
        "\"invoice 4711 plumber Hendrickson\"",
        "\"invoice 4711 plumber Hendrickson, paid\"",
        "role:tool Hendrickson",
        "role:tool invoice of the plumber, paid by card",
        "Hendrick*",
    ] {
        for exact in [&[][..], &["--exact"]] {
            let found = vault.json(&[&["search", query], exact].concat());
            let first = &found["hits"][0];
            assert!(first["role"] == "tool" && first["alike"].is_null(), "{query}: {found}");
        }
    }
    let both = vault.json(&["search", "kitten"]);
    assert!(both["hits"][0]["role"] == "user", "{both}");
    assert!(hits(&both).iter().any(|hit| hit["role"] == "tool"), "{both}");
    assert_eq!(vault.run(&["recall", "Who is the plumber Hendrickson?"]).stdout.trim(), "NONE");
}

#[test]
fn settings_that_name_no_model_say_so_and_recall_goes_on() {
    let vault = vault("");
    vault.write("vault-agent.toml", "[embed]\nprovider = \"local:models/none\"\n");
    let run = vault.run(&["recall", "Did Ann adopt a kitten?"]);
    run.says("kitten").warns("is no directory");
    vault.write("vault-agent.toml", "[embed]\nprovider = \"none\"\n");
    assert!(vault.run(&["recall", "Did Ann adopt a kitten?"]).stdout.contains("kitten"));
}

#[test]
fn a_word_that_nothing_is_about_finds_nothing() {
    let vault = vault("//- note.md\n# Pets\n\nBiscuit likes tuna.\n");
    for query in ["zugzwang", "kubernetes ingress controllers"] {
        assert_eq!(vault.json(&["search", query])["hits"], json!([]), "{query}");
    }
    // A word beside a turn speaks for it, and so does a near word.
    for (query, expected) in [("vet", "vaccination"), ("cat", "kitten")] {
        contains_all(vault.json(&["search", query]).to_string(), &[expected]);
    }
}

#[test]
fn a_new_vault_s_only_memory_is_given() {
    let vault = TestVault::new(
        "//- vault-agent.toml\n//- MEMORY.md\n# Memory\n\n## Kyle\n- [2026-05-08T14:00:00Z] prefers TypeScript\n",
    );
    vault.run(&["recall", "Does Kyle prefer TypeScript or JavaScript?"]).says("prefers TypeScript");
}

#[test]
fn a_transcript_with_a_heading_a_turn_is_searched_turn_by_turn() {
    let vault = TestVault::new(
        "//- vault-agent.toml\n//- logs/discord-channel/pets-1/20260801T090000Z_0001.md\n---\nchannel: pets-1\nsession: 1\n\
started: 2026-08-01T09:00:00Z\n---\n\n## 2026-08-01T09:00:00Z user Ann ^D1-1\nI adopted a kitten!\n(shares a photo: a cat)\n\n\
## 2026-08-01T09:00:30Z user Bob ^D1-2\nHow lovely, what is the name?\n\n## 2026-08-01T09:01:00Z user Ann ^D1-3\nBiscuit.\n",
    );
    let scope = "logs/discord-channel/pets-1/";
    let found = vault.json(&["search", "What is Ann's kitten called?", "--scope", scope]);
    let place = |hit: &Value| (hit["line"].as_u64().unwrap(), hit["end_line"].as_u64().unwrap());
    let places: Vec<_> = hits(&found).iter().map(place).collect();
    assert!(places.contains(&(7, 9)) && places.contains(&(14, 15)), "{found}");
    assert_eq!(pick(&found, "hits/0/kind hits/0/context_id"), json!(["turn", "pets-1"]));
}

#[test]
fn filters_hold_in_a_question_too() {
    let vault = vault(
        "//- pets.md\n# Pets\n\nAnn has a cat from the shelter. #pets\n\n- Ann's cat has no vaccination\n\
         //- daily/2026-07-01.md\n- Ann saw a cat at the shelter\n",
    );
    let found = vault.json(&["search", "Where did Ann get her cat?"]);
    assert!(hits(&found).len() > 3 && found["notes"] == json!([]), "{found}");
    for (filter, takes) in [
        ("path:pets", (|path, _| path == "pets.md") as fn(&str, &Value) -> bool),
        ("role:user", |_, hit| hit["role"] == "user"),
        ("role:agent", |_, hit| hit["role"] == "agent"),
        ("tag:pets", |path, _| path == "pets.md"),
        ("before:2026-07-15", |path, _| path == "daily/2026-07-01.md"),
        ("after:2026-07-15", |path, _| path.starts_with("logs/")),
        ("-shelter", |_, hit| !hit["snippet"].as_str().unwrap().contains("shelter")),
    ] {
        for query in
            [format!("Where did Ann get her cat {filter}?"), format!("{filter} where did Ann get her cat ?")]
        {
            let found = vault.json(&["search", "--", &query]);
            let mut all = paths(&found).into_iter().zip(hits(&found));
            assert!(all.len() > 0 && all.all(|(path, hit)| takes(path, hit)), "{query}: {found}");
            assert_eq!(found["notes"], json!([]), "{query}");
        }
    }
    let found = vault.json(&["search", "Where did author:ann get her cat?"]);
    assert!(found["notes"][0].as_str().unwrap().contains("no filter `author:`"), "{found}");
}

#[test]
fn filters_hold_in_recall_too() {
    let vault = vault(
        "//- MEMORY.md\n# Memory\n\n## Quokka13\n- [2026-05-08T14:00:00Z] quokka13 eats leaves\n\
         //- copied/zoo.md\n# Zoo\n\nThe quokka13 lives in Perth. #zoo\n\n- the quokka13 sleeps all day\n\
         //- copied2/zoo.md\n# Zoo\n\nThe quokka13 lives in Albany.\n\
         //- daily/2026-07-01.md\n- Ann saw where the quokka13 lives\n\
         //- Pinned.md\n- Ann is afraid of wasps\n",
    );
    let places = |query: &str| {
        let found = vault.json(&["recall", "--", query]);
        let text = |hit: &Value, key: &str| hit[key].as_str().unwrap_or_default().to_owned();
        let places: Vec<_> =
            hits(&found).iter().map(|hit| (text(hit, "path"), text(hit, "snippet"))).collect();
        (places, found["digest"].as_str().unwrap_or("NONE").to_owned(), found["notes"].clone())
    };
    let (all, ..) = places("where does quokka13 live?");
    for path in ["copied/zoo.md", "copied2/zoo.md", "daily/2026-07-01.md", "MEMORY.md", "Pinned.md"] {
        assert!(all.iter().any(|(place, _)| place == path), "{path}: {all:?}");
    }
    for (filter, takes) in [
        ("path:copied2/", (|path, _| path == "copied2/zoo.md") as fn(&str, &str) -> bool),
        ("path:copied/", |path, _| path == "copied/zoo.md"),
        ("-path:copied/", |path, _| path != "copied/zoo.md"),
        ("tag:zoo", |path, _| path == "copied/zoo.md"),
        ("kind:memory", |path, _| path == "MEMORY.md"),
        ("before:2026-06-01", |path, _| path == "MEMORY.md"),
        ("after:2026-06-01", |path, _| path == "daily/2026-07-01.md"),
        ("-lives", |_, text| !text.contains("lives")),
    ] {
        for query in [
            format!("quokka13 {filter}"),
            format!("where does quokka13 live? {filter}"),
            format!("{filter} where does quokka13 live?"),
        ] {
            let (found, digest, notes) = places(&query);
            assert!(digest.contains("quokka13"), "{query}: {digest}");
            assert!(found.iter().all(|(path, text)| takes(path, text)), "{query}: {found:?}");
            assert_eq!(notes, json!([]), "{query}");
        }
    }
    // What is no filter is said; what is pasted, and a program's options, are none.
    let (_, digest, notes) = places("where does quokka13 live before:soon?");
    assert!(digest.contains("quokka13") && notes[0].as_str().unwrap().contains("before:soon"), "{notes}");
    for prompt in [
        "where does quokka13 live?\n  path:nowhere/\n  -quokka13",
        "where does quokka13 live? zoo --quokka13",
        "where does quokka13 live? file:///home/ann/zoo.js",
    ] {
        let (_, digest, notes) = places(prompt);
        assert!(digest.contains("quokka13"), "{prompt}: {digest}");
        assert_eq!(notes, json!([]), "{prompt}");
    }
}

#[test]
fn what_comes_along_is_of_the_scope_too() {
    let vault = TestVault::new(
        "//- MEMORY.md\n# Memory\n\n- The bubapak reactor of the plant is cooled with water #project/alpha\n\
         - The zugodum code is 774411 and belongs to Beta only #project/beta\n\n%% aside %%\n\
         //- notes/r.md\nThe reactor kidubor stands in hall seven and is inspected in May.\n\n<!-- aside -->\n\
         //- Pinned.md\n- The kulazok is 774411\n",
    );
    for (scope, question, told) in [
        ("project:alpha", "what cools the bubapak reactor of the plant", "bubapak"),
        ("all", "bubapak reactor plant cooled water -zugodum -kulazok", "bubapak"),
        ("notes", "where does the kidubor reactor stand", "kidubor"),
    ] {
        let run = vault.run(&["recall", "--inject", "--expand", "--scope", scope, "--", question]);
        run.says(told).lacks("774411").lacks("aside");
    }
}

#[test]
fn an_unknown_scope_is_an_error_that_says_what_there_is() {
    let vault = vault(
        "//- pets/biscuit.md\nBiscuit likes tuna\n//- pets-private/tuna.md\nThe tuna is hidden\n//- petstore.md\nNo tuna here\n",
    );
    for command in ["search", "recall"] {
        for unknown in ["petz", "pet", "pets/bis"] {
            let run = vault.run(&[command, "tuna", "--scope", unknown]);
            let told = format!("no scope, folder or note `{unknown}`");
            run.exits(2).warns(&told).warns("`pets`").warns("channel:ID");
        }
        for (scope, path) in
            [("pets", "pets/biscuit.md"), ("pets/biscuit", "pets/biscuit.md"), ("petstore,", "petstore.md")]
        {
            let found = vault.json(&[command, "Who likes tuna?", "--scope", scope]);
            assert!(paths(&found).iter().all(|own| *own == path), "{scope}: {found}");
            assert!(command == "recall" || !paths(&found).is_empty(), "{scope}");
        }
        // Several places widen.
        let found = vault.json(&["search", "tuna", "--scope", "petstore, pets,global"]);
        assert_eq!(hits(&found).len(), 2, "{found}");
        vault.run(&[command, "tuna", "--scope", "pets,petz"]).exits(2).warns("`petz`");
        vault.run(&[command, "tuna", "--scope", ","]).exits(2);
        for known in
            ["pets", "pets/", "pets/biscuit.md", "logs", "memory", "MEMORY.md", "daily", "channel:8", "all"]
        {
            assert_eq!(vault.run(&[command, "tuna", "--scope", known]).code, 0, "{known}");
        }
    }
}
