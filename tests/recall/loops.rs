//! What is recalled, and what never is: recall doesn't feed on itself, on help or on small talk.

use crate::recall::hits;
use crate::support::prelude::*;

fn turn(n: usize, kind: &str, who: &str, text: &str) -> String {
    let of = format!("{kind}] 2026-11-20T09:{:02}:{:02}Z {who}", n / 60 % 60, n % 60);
    event(&of, text, &format!("01K1J0000000000000000{n:05}"))
}

const HEAD: &str = "//- MEMORY.md\n# Memory\n\n## Anna\n- drinks green tea\n\
//- logs/discord-channel/7/20261120T090000Z_0001.md\n---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n";

#[test]
fn answers_from_memory_and_the_questions_to_them_never_come_back() {
    let mut fixture = HEAD.to_owned();
    for n in 0..40 {
        let question = ["What does Anna drink?", "what does Anna drink", "Does Anna drink?"][n % 3];
        fixture += &turn(3 * n, "user", "Ben", question);
        let recalled = turn(3 * n + 1, "recall", "memory", "- [[MEMORY]] Anna drinks");
        fixture += &recalled.replace("[!recall]", "[!recall]-");
        let answer = match n % 4 {
            0 => "From your notes (excerpts, found by search):\n- Anna: drinks green tea",
            1 => "I found nothing about that in your notes.",
            2 => "Anna drinks green tea, as your notes say.\n%% brain=memory ms=4 %%",
            _ => "Anna drinks green tea!\n%% brain=claude model=opus in=5 out=7 usd=0.01 ms=9 ctx=anna %%",
        };
        fixture += &turn(3 * n + 2, "agent", "Pai", answer);
    }
    fixture += &turn(200, "user", "Ben", "Anna brought her tea cup along.");
    let vault = TestVault::new(&fixture);
    for question in ["What does Anna drink?", "Which tea does Anna drink?"] {
        let json = vault.json(&["recall", question]);
        let hits = hits(&json);
        assert_eq!(hits[0]["path"], "MEMORY.md", "{json}");
        let first = json["digest"].as_str().unwrap().lines().next().unwrap();
        assert!(first.contains("green tea (MEMORY.md:4)"), "{json}");
        let last_fact = hits.iter().rposition(|hit| hit["role"] != "agent").unwrap();
        let first_said = hits.iter().position(|hit| hit["role"] == "agent").unwrap_or(hits.len());
        assert!(last_fact < first_said, "{json}");
        assert!(hits.iter().all(|hit| !hit["snippet"].as_str().unwrap().ends_with('?')), "{json}");
    }
    // Neither answers of memory nor injections nor facts on answers are found even by their words.
    for words in [
        "excerpts",
        "found nothing",
        "brain=claude",
        "opus",
        "kind:turn path:logs notes say",
        "MEMORY kind:turn",
    ] {
        let json = vault.json(&["search", words]);
        assert!(hits(&json).iter().all(|hit| hit["kind"] != "turn"), "{words}: {json}");
    }
    assert_eq!(vault.json(&["search", "role:agent tea"])["hits"][0]["snippet"], "Anna drinks green tea!");
}

#[test]
fn what_was_pinned_is_recalled_by_what_it_says() {
    let vault = TestVault::new("//- note.md\nThe dishwasher leaks.\n\nThe sofa opens ^d\n");
    let _ = vault.run(&["memory", "pin", "The spare key hangs behind the blue door"]).ok();
    let json = vault.json(&["recall", "Where does the spare key hang?"]);
    assert!(json["digest"].as_str().unwrap_or_default().contains("blue door"), "{json}");
    assert_eq!(json["hits"][0]["path"], "Pinned.md");
    assert!(json["hits"][0]["pinned"] == true && json["hits"][0]["score"].as_f64().unwrap() != 0.0, "{json}");
    // About something else it comes along, marked as that.
    let json = vault.json(&["recall", "Is the dishwasher leaking?"]);
    assert!(json["digest"].as_str().unwrap().contains("dishwasher leaks"), "{json}");
    assert!(!json["digest"].as_str().unwrap().contains("blue door"), "{json}");
    assert_eq!(pick(&json, "hits/0/path hits/0/score"), json!(["Pinned.md", 0.0]));
    // So does a line of a note, with its link, and a block by a link in other letters.
    vault.write("Pinned.md", "");
    vault.write("U\u{308}ber/Fa\u{308}cher.md", "The lease ends in May\n\nRubbish goes on Fridays ^r\n");
    let _ = vault.run(&["memory", "pin", "--line", "U\u{308}ber/Fa\u{308}cher.md:1"]).ok();
    let pins = vault.read("Pinned.md");
    vault.write("Pinned.md", format!("{pins}- [[fächer#^r]]\n- Use [[note#^d]] for guests\n- [[list#^l]]\n"));
    // Below a list an id means all of it.
    vault.write("list.md", "---\ntags: x\n---\nbefore\n\n- one\n  - inner\n- two\n\n^l\n");
    let json = vault.json(&["recall", "Is the dishwasher leaking?"]);
    assert_eq!(hits(&json).iter().filter(|hit| hit["pinned"] == true).count(), 6, "{json}");
    // A long one leaves room for other pins.
    vault.write("a list.md", format!("{}\n^l\n", "- row\n".repeat(20)));
    vault.write("Pinned.md", format!("- [[a list#^l]]\n{}", vault.read("Pinned.md")));
    let run = vault.run(&["recall", "--inject", "Is the dishwasher leaking?"]);
    run.says("lease ends").says("Rubbish goes").says("for guests").says("\"one\"").says("\"row\"");
}

#[test]
fn the_template_is_nobody_s_memory() {
    let vault = TestVault::new("//- vault-agent.toml\n");
    let _ = vault.run(&["init"]).ok();
    let questions = [
        "What does Anna drink?",
        "Do zebras live in this vault or folder?",
        "What should be remembered for good in sections?",
        "How are daily notes named?",
        "What is due today, what was promised, and what was left open yesterday?",
        "Is my vault alive?",
    ];
    for question in questions {
        assert_eq!(vault.run(&["recall", question]).stdout.trim(), "NONE", "{question}");
        assert_eq!(vault.json(&["recall", question])["hits"], json!([]), "{question}");
    }
    // What a person adds to such a note is a memory, and whoever searches for help by its words finds it.
    let welcome = vault.read("Welcome.md");
    vault.write("Welcome.md", format!("{welcome}\nThe zebra Zora lives in the garden of this vault.\n"));
    vault.write("Help/Welcome again.md", &welcome);
    let json = vault.json(&["recall", "Where does the zebra Zora live?"]);
    assert!(json["digest"].as_str().unwrap().contains("garden"), "{json}");
    assert_eq!(hits(&json).len(), 1, "{json}");
    assert_eq!(vault.run(&["recall", questions[2]]).stdout.trim(), "NONE");
    // Neither is the template found by who searches: only what a person changed.
    for words in
        ["a ticked reminder is asleep", "About daily notes", "Ask how the interview went", "recur=weekly"]
    {
        assert_eq!(vault.json(&["search", words])["hits"], json!([]), "{words}");
    }
    let reminders = vault.read("Reminders.md");
    vault.write("Reminders.md", reminders.replace("date   the day,", "date   the day of the zebra fair,"));
    let found = vault.json(&["search", "zebra fair"]);
    let hit = hits(&found).iter().find(|hit| hit["path"] == "Reminders.md").unwrap();
    assert!(hit["snippet"].as_str().unwrap().contains("zebra fair"), "{found}");
}
