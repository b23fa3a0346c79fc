//! A session's start, its compaction and its end.

use crate::hooks::host::*;

const NOTES: &str = include_str!("sessions.txt");

fn start(vault: &TestVault, source: &str) -> String {
    context(&tell(vault, "session-start", json!({ "source": source, "model": "claude-opus-4" })))
}

#[test]
fn a_start_gives_the_person_the_work_and_the_projects_memories() {
    let vault = TestVault::new(NOTES);
    let text = start(&vault, "startup");
    let order = "--- Who you're talking to ---\n# Profile|--- Recent context ---\nDrawing the plan|\
        untrusted context|INJECTED_CONTEXT_RELEVANT_MEMORIES\n{|The gate code changes in May|\
        The well is behind the oak.|Uses tabs in this project|Plans before it plants|Likes short answers";
    let places: Vec<Option<usize>> = order.split('|').map(|words| text.find(words)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{text}");
    contains_none(&text, &["Uses spaces", "Bakes on Sundays", "</system-reminder>"]);
    assert_eq!(log(&vault), "");
}

#[test]
fn the_same_vault_gives_the_same_bytes_whatever_the_source() {
    let vault = TestVault::new(NOTES);
    let first = start(&vault, "startup");
    for source in ["startup", "resume", "clear", "compact"] {
        assert_eq!(start(&vault, source), first, "{source}");
        assert_eq!(start(&TestVault::new(""), source), "", "an empty vault says nothing");
    }
}

#[test]
fn what_the_start_gave_is_not_given_again_until_a_compaction() {
    let vault = TestVault::new("//- MEMORY.md\n## People\n\n- Anna's birthday is on the third of May\n");
    assert!(start(&vault, "startup").contains("third of May"));
    assert_eq!(prompt(&vault, "When is Anna's birthday?"), "");
    // After a compaction the start gives it again, and the prompt then doesn't.
    assert!(start(&vault, "compact").contains("third of May"));
    assert_eq!(prompt(&vault, "When is Anna's birthday?"), "");
}

#[test]
fn a_pinned_link_gives_all_of_its_memory_in_the_memorys_scope() {
    let mut vault = TestVault::new(
        "//- MEMORY.md\n## A\n\n- alpha #project/other\n  beta ^one\n- gamma\n  delta ^two\n- eps #project/other\n  - zeta ^three\n\
         //- Pinned.md\n- [[MEMORY#^one]]\n- see [[MEMORY#^two]]\n- [[MEMORY#^three]]\n- Plants first #project/mine/sub\n",
    );
    vault.env("VAULT_AGENT_PROJECT", "mine");
    let text = start(&vault, "startup");
    contains_none(&text, &["alpha", "beta", "eps", "zeta"]);
    contains_all(&text, &["see: A: gamma\\ndelta", "Plants first"]);
    // An id below a list or table means all of it; notes are found by name; a link inside the words is one of them.
    vault.write("sub/Garage.md", "- one\n  - inner\n- two %% aside %%\n\n^l\n\n| a |\n|---|\n| b |\n\n^t\n\n- mixed\n- x #project/other\n- y #project/mine\n\n^m\n");
    let pins = "- [[garage#^l]]\n- [[GARAGE.md#^t]]\n- [[sub/garage#^m]]\n- Use [[garage#^t]] for guests\n";
    vault.write("Pinned.md", pins);
    let text = start(&vault, "startup");
    contains_all(&text, &["one\\ninner\\ntwo", "a\\nb", "Use [[garage#^t]] for guests"]);
    contains_none(&text, &["aside", "mixed", "sub/garage#^m"]);
}

#[test]
fn a_long_profile_leaves_the_budget_whole() {
    let vault = TestVault::new(NOTES);
    vault.write("user/profile.md", format!("# Profile\n\n{}", "Ann likes \"oaks\".\n".repeat(2000)));
    let run = tell(&vault, "session-start", json!({"source": "startup"}));
    let text = context(&run);
    assert!(text.contains("Ann likes") && text.contains("gate code"), "{text}");
    assert!(text.chars().count() <= 8000 && run.stdout.chars().count() < 10_000);
}

fn conversation() -> Vec<Value> {
    vec![
        user("2026-12-01T09:00:00.000Z", "hi"),
        said("Hello! What shall we do?"),
        user("2026-12-01T09:01:00.000Z", "Draw the plan of the beds in beds.md. I prefer oaks over beeches."),
        used("t1", "Write", json!({ "file_path": "/work/garden/beds.md", "content": "..." })),
        said("We decided to put the oaks in the north. The next step is the well. Shall I go on?"),
    ]
}

#[test]
fn a_compaction_writes_working_memory_for_the_next_start() {
    let vault = TestVault::new(NOTES);
    record(&vault, &conversation());
    let more = json!({ "trigger": "auto", "custom_instructions": "" });
    assert_eq!(tell(&vault, "pre-compact", more).stdout, "");
    let text = vault.read("user/working.md");
    let head = "# Working Memory\nUpdated: 2026-12-01T09:30:00Z\nExpires: 2026-12-15T09:30:00Z\n\n";
    assert!(text.starts_with(&format!("{head}(From a conversation")), "{text}");
    contains_all(text, &["## Worked on\n- Draw the plan", "## Files\n- /work/garden/beds.md"]);
    assert!(start(&vault, "compact").contains("The next step is the well."));
    assert_eq!(log(&vault), "");
}

#[test]
fn a_compaction_without_a_namespace_writes_nothing() {
    let vault = TestVault::new("");
    record(&vault, &conversation());
    let before = vault.tree();
    let _ = tell(&vault, "pre-compact", json!({ "trigger": "manual" }));
    assert_eq!(vault.tree(), before);
    // Nor in a pause.
    let vault = TestVault::new(NOTES);
    let _ = vault.run(&["pause"]).ok();
    record(&vault, &conversation());
    let before = vault.read("user/working.md");
    let _ = tell(&vault, "pre-compact", json!({ "trigger": "manual" }));
    assert_eq!(vault.read("user/working.md"), before);
}

#[test]
fn the_end_writes_one_line_into_the_day_however_often_it_is_told() {
    let vault = TestVault::new(NOTES);
    record(&vault, &conversation());
    assert!(prompt(&vault, "Where is the well, behind the oak?").contains("behind the oak"));
    for reason in ["prompt_input_exit", "other", "prompt_input_exit"] {
        assert_eq!(tell(&vault, "session-end", json!({ "reason": reason })).stdout, "");
        // Not even what the session remembers is needed for that.
        let _ = std::fs::remove_dir_all(vault.cache().join("hooks"));
    }
    let mark = &blake3::hash(SESSION.as_bytes()).to_hex()[..8];
    let text = vault.read("daily/2026-12-01.md").replace(mark, "[MARK]");
    // The digits are of the folder's path.
    let text = text.trim_end().trim_end_matches(|c: char| c.is_ascii_hexdigit());
    insta::assert_snapshot!(text, @"- 09:30 Claude Code session [MARK]: Draw the plan of the beds in beds.md. I prefer oaks over beeches. (2 prompts); recalled [[logs/discord-thread/7/20260801T090000Z_0001#^01K1J000000000000000000001]], [[Pinned]] line 3 #project/garden-");
    let history = vault.json(&["history", "daily"]);
    let who = pick(&history[0], "actor trailers/Client trailers/Conversation");
    assert_eq!(who, json!(["hook", "claude-code", SESSION]), "{history}");
    assert_eq!(log(&vault), "");
}

#[test]
fn a_session_in_which_nothing_was_said_leaves_no_line() {
    let vault = TestVault::new("");
    record(&vault, &[]);
    let _ = tell(&vault, "session-end", json!({ "reason": "other" }));
    assert!(!vault.has("daily/2026-12-01.md"));
    // Of a long one the number of prompts is not known.
    let turn = |n: usize| {
        let time = format!("2026-12-01T09:00:{n:02}.000Z");
        [user(&time, "Draw the next bed"), said(&"Long words. ".repeat(5000))]
    };
    record(&vault, &(0..40).flat_map(turn).collect::<Vec<_>>());
    let _ = tell(&vault, "session-end", json!({ "reason": "other" }));
    contains_all(vault.read("daily/2026-12-01.md"), &["Draw the next bed (at least 2"]);
}

#[test]
fn a_missing_transcript_is_a_line_in_the_log() {
    let vault = TestVault::new(NOTES);
    for (event, name) in [("session-end", "SessionEnd"), ("pre-compact", "PreCompact"), ("stop", "Stop")] {
        assert_eq!(hook(&vault, event, &input(&vault, name, json!({}))).stdout, "");
        let said = format!("{event}: the transcript can't be read");
        assert!(log(&vault).lines().last().unwrap().contains(&said), "{}", log(&vault));
    }
}

#[test]
fn secrets_reach_neither_working_memory_nor_the_day_nor_an_offer() {
    let notes = NOTES.replace("[memory]\n", "[hooks]\nmask = [\"acme_[a-z]{8,}\"]\n[memory]\n");
    for (said_there, secret) in [
        ("postgres://bob:vwmFWe7JRVxBYPeM@db.example.com/x", "vwmFWe7JRVxBYPeM"),
        ("mysql -uroot -pT0psecretPw app", "T0psecretPw"),
        ("acme_supersecretword", "acme_supersecretword"),
    ] {
        for last in [format!("I've saved {said_there} to your memory."), "Done.".to_owned()] {
            let vault = TestVault::new(&notes);
            let lines = [
                user("2026-12-01T09:28:00.000Z", &format!("Draw the beds with {said_there}")),
                said(&format!("We decided to use {said_there} for the beds. Next step: rotate {said_there}")),
                user("2026-12-01T09:29:00.000Z", "Draw the plan of the pond in pond.md."),
                said("It is drawn."),
                user("2026-12-01T09:29:50.000Z", &format!("I prefer that you always use {said_there}")),
                said(&last),
            ];
            record(&vault, &lines);
            let stop = tell(&vault, "stop", json!({})).stdout;
            let _ = tell(&vault, "pre-compact", json!({ "trigger": "auto" }));
            let _ = tell(&vault, "session-end", json!({ "reason": "other" }));
            for text in [vault.read("user/working.md"), vault.read("daily/2026-12-01.md"), stop] {
                assert!(!text.contains(secret), "{secret} in {text}");
            }
        }
    }
    // The rest of such a line stays.
    let vault = TestVault::new(&notes);
    let asked = "Draw the beds with acme_supersecretword and a spade";
    record(&vault, &[user("2026-12-01T09:29:00.000Z", asked)]);
    let _ = tell(&vault, "pre-compact", json!({ "trigger": "auto" }));
    contains_all(vault.read("user/working.md"), &["Draw the beds with [masked: own pattern] and a spade"]);
}
