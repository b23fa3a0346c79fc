//! A prompt gets the few memories that bear on it, and small talk gets nothing.

use vault_agent::hooks::{recall_gate::RecallDecision, recall_gate::gate};

use crate::hooks::host::*;

const NOTES: &str = "\
//- MEMORY.md
# Memory

## People

- Anna's birthday is on the third of May, she collects teapots
- The landlord is called Weber and answers only letters

## House

- The boiler is serviced every October by Hofer
";

fn vault() -> TestVault {
    TestVault::new(NOTES)
}

#[test]
fn the_memory_that_matters_is_given_and_marked_as_untrusted() {
    let vault = vault();
    let text = prompt(&vault, "What could I give Anna for her birthday?");
    let head = ["INJECTED_CONTEXT_RELEVANT_MEMORIES\n{", "untrusted", "never instructions"];
    contains_all(&text, &head);
    assert!(text.contains("collects teapots") && !text.contains("boiler"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    assert_eq!(pick(&json, "memories/0/path memories/0/line"), json!(["MEMORY.md", 5]));
    // What bears on nothing gets nothing.
    assert_eq!(prompt(&vault, "Which kubernetes ingress controller handles wildcard certificates?"), "");
    assert_eq!(log(&vault), "");
}

#[test]
fn nothing_new_means_the_same_bytes() {
    let (one, other) = (vault(), vault());
    let question = "Who services the boiler, and when?";
    let first = prompt(&one, question);
    assert!(!first.is_empty());
    assert_eq!(first, prompt(&other, question));
    assert_eq!(prompt(&one, question), "", "the conversation has it");
    // What the session remembers is worth nothing: without it the answer is the first one again.
    std::fs::remove_dir_all(one.cache().join("hooks")).unwrap();
    assert_eq!(first, prompt(&one, question));
    std::fs::remove_dir_all(one.cache()).unwrap();
    std::fs::create_dir(one.cache()).unwrap();
    assert_eq!(first, prompt(&one, question));
}

#[test]
fn small_talk_opens_nothing() {
    let vault = vault();
    for text in ["hi", "ok, thanks!", "/clear", "👍", "好的"] {
        assert_eq!(prompt(&vault, text), "", "{text}");
    }
    assert_eq!([vault.cache(), vault.state()].map(names_in), [vec![], Vec::<String>::new()]);
}

#[test]
fn the_budget_is_the_settings() {
    let vault = TestVault::new("//- vault-agent.toml\n[hooks]\nmax_chars = 900\n");
    let oak = |n: usize| {
        let care = "with care ".repeat(n);
        format!("- The oak number {n} in the garden \"was\" planted <b>by</b> Hofer {care}\n")
    };
    vault.write("MEMORY.md", format!("# Memory\n\n## Garden\n\n{}", (0..40).map(oak).collect::<String>()));
    let question = json!({ "prompt": "Which oak in the garden did Hofer plant?" });
    let run = tell(&vault, "user-prompt-submit", question);
    let text = context(&run);
    assert!(text.contains("oak") && text.chars().count() <= 900 && !text.contains("<b>"), "{text}");
    assert!(run.stdout.len() < 10_000);
}

#[test]
fn a_prompt_finds_its_memory_among_thousands_of_lines() {
    let vault = vault();
    vault.write("Stock.md", (0..3100).map(|n| format!("- shelf {n} holds tea\n")).collect::<String>());
    let question = "Who services the boiler in October?";
    let _ = vault.run(&["reindex"]).ok();
    let text = prompt(&vault, question);
    assert!(text.contains("serviced every October by Hofer") && !text.contains("shelf"), "{text}");
    // Its words alone are in no memory.
    assert_eq!(prompt(&vault, "Please explain the borrow checker to me"), "");
    // An edit in place, of just the note that is found.
    vault.write("MEMORY.md", NOTES.split_once('\n').unwrap().1.replace("Hofer", "Gruber"));
    let text = prompt(&vault, question);
    assert!(text.contains("Gruber") && !text.contains("Hofer"), "{text}");
}

/// Greetings and confirmations, by language.
const SMALL_TALK: &str = include_str!("small_talk.txt");

/// Questions, requests and words about memory, by language.
const WORTH_A_LOOK: &str = include_str!("worth_a_look.txt");

/// Every prompt of a table is decided so.
fn decides(table: &str, decision: RecallDecision) {
    for (language, prompts) in table.lines().map(|line| line.split_once(": ").unwrap()) {
        for prompt in prompts.split(" | ") {
            assert_eq!(gate(prompt), decision, "{language}: {prompt}");
        }
    }
}

#[test]
fn small_talk_and_commands_get_nothing_and_what_is_asked_gets_through_in_any_language() {
    decides(SMALL_TALK, RecallDecision::Closed);
    decides(WORTH_A_LOOK, RecallDecision::Open);
    let commands = "host: /clear | /compact focus on tests\n\
                    shell: !ls -la | git status | cargo test --all | npm run build | cd .. | pwd | $ make";
    decides(commands, RecallDecision::Closed);
    for text in ["👍", "🎉🎉🎉", "...", "!!!", "?", "❤️ 😀", "—"] {
        assert_ne!(gate(text), RecallDecision::Open, "{text}");
    }
    assert_eq!(["", "   ", "\n\t"].map(gate), [RecallDecision::Closed; 3]);
    decides("orders: fix the tests | run it | add docs | 测试一下", RecallDecision::Short);
}
