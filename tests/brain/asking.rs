//! `ask` and `turns` as a person meets them: the real binary, a vault, and the scripted server.

use crate::support::prelude::*;

/// A brain that speaks to this server.
fn brain(server: &ModelServer, kind: &str) -> String {
    server.brain("b", kind, "key_env = \"TEST_KEY\"\nvision = true\nprice = { input = 1.0, output = 2.0 }")
}

/// A vault with this brain.
fn vault(brain: &str) -> TestVault {
    let mut vault = TestVault::new("//- MEMORY.md\n# Memory\n\n## People\n- Anna drinks oolong tea only.\n");
    vault.write("vault-agent.toml", format!("timezone = \"Europe/London\"\n{brain}"));
    vault.env("TEST_KEY", "sk-canary-0123456789abcdef");
    vault
}

/// A server that says these, and a vault whose one brain it is.
async fn over(kind: &str, replies: Vec<Reply>) -> (ModelServer, TestVault) {
    bounded(kind, "", replies).await
}

/// The same, with settings of the assistant.
pub async fn bounded(kind: &str, assistant: &str, replies: Vec<Reply>) -> (ModelServer, TestVault) {
    let server = ModelServer::of(replies).await;
    let vault = vault(&format!("[assistant]\n{assistant}\n{}", brain(&server, kind)));
    (server, vault)
}

pub fn ask(vault: &TestVault, args: &[&str]) -> Run {
    vault.run(&[&["--json", "ask"], args].concat())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_wire_answers_with_what_memory_gives() {
    for kind in ["messages", "responses", "chat"] {
        let (server, vault) = over(kind, vec![Reply::text("Oolong.").usage(1000, 400, 50)]).await;
        let _ = vault.run(&["reindex"]).ok();
        let run = ask(&vault, &["What does Anna drink?"]).ok();
        let report = run.json();
        let fields = pick(&report, "answer brain attempts/0/class usage/input usage/cached");
        assert_eq!(fields, json!(["Oolong.", "b", null, 1000, 400]), "{kind}: {report}");
        assert!((report["usage"]["usd"].as_f64().unwrap() - 0.0011).abs() < 1e-9, "{report}");
        let asked = &server.requests()[0];
        let told = asked.last_user();
        contains_all(&told, &["INJECTED_CONTEXT_RELEVANT_MEMORIES"]);
        assert!(told.ends_with("What does Anna drink?"), "{told}");
        contains_all(asked.system(), &["Obsidian vault"]);
        // No trace: no log, no journal of turns; and no key anywhere.
        assert!(!vault.path("logs").exists() && !vault.state().join("turns.sqlite").exists());
        run.lacks("sk-canary").warns_not("sk-canary");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_is_called_in_the_vault_and_can_be_undone() {
    let save = |what: &str| Reply::tool("memory_save", json!({ "scope": "long", "content": what }));
    let wrong = Reply::tool("no_such_tool", json!({})).and_tool("memory_get", json!("{\"path\": "));
    let (server, vault) = over("chat", vec![save("Bert keeps bees."), wrong, Reply::text("Saved.")]).await;
    let report = ask(&vault, &["Remember that Bert keeps bees."]).ok().json();
    assert_eq!(pick(&report, "tools/0/name tools/0/ok tools/1/ok"), json!(["memory_save", true, false]));
    assert_eq!(report["attempts"].as_array().unwrap().len(), 1, "{report}");
    let results = server.requests()[2].results();
    contains_all(&results[1], &["there is no tool `no_such_tool`"]);
    contains_all(&results[2], &["no JSON object"]);
    let is_saved = |words: &str| vault.tree().values().any(|text| text.contains(words));
    assert!(is_saved("Bert keeps bees"));
    let history = vault.json(&["history"]);
    assert!(history.as_array().unwrap().iter().any(|one| one["actor"] == "assistant"), "{history}");
    // Of another turn, which stays.
    server.script(vec![save("Cleo keeps cats."), Reply::text("Saved.")]);
    let other = ask(&vault, &["Remember that Cleo keeps cats."]).ok().json();
    let turn = report["turns"][0].as_str().unwrap();
    assert_ne!(other["turns"][0], turn);
    let _ = vault.run(&["undo", "--turn", turn]).ok();
    assert!(!is_saved("Bert keeps bees") && is_saved("Cleo keeps cats"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nobody_answers_memory_does_and_says_why() {
    let error = r#"{"error":{"message":"bad key sk-canary-0123456789abcdef"}}"#;
    let (_server, vault) = over("chat", vec![Reply::status(401).body(error)]).await;
    let run = ask(&vault, &["What does Anna drink?"]);
    run.exits(1);
    let report = run.json();
    assert_eq!(pick(&report, "brain attempts/0/brain attempts/0/class"), json!([null, "b", "auth"]));
    assert!(report["answer"].as_str().unwrap().contains("oolong"), "{report}");
    run.warns("b did not answer (").lacks("sk-canary").warns_not("sk-canary");
    contains_none(fs::read_to_string(vault.state().join("brains.json")).unwrap(), &["sk-canary"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_that_lacked_its_key_is_asked_again_where_the_settings_need_none() {
    let (_server, vault) = over("chat", vec![Reply::text("Hello.")]).await;
    let settings = vault.text("vault-agent.toml");
    vault.write("vault-agent.toml", settings.replace("TEST_KEY", "VAULT_AGENT_TEST_NO_KEY"));
    ask(&vault, &["Who are you?"]).exits(1).warns("there is no key");
    vault.write("vault-agent.toml", settings.replace("key_env = \"TEST_KEY\"\n", ""));
    assert_eq!(ask(&vault, &["Who are you?"]).ok().json()["answer"], "Hello.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_no_brain_memory_answers_and_says_how_to_set_one_up() {
    let vault = vault("");
    let run = ask(&vault, &["What does Anna drink?"]).ok();
    assert!(run.json()["answer"].as_str().unwrap().contains("oolong"), "{run:?}");
    run.warns("[[brain]]");
    ask(&vault, &["--brain", "nobody", "Hello?"]).exits(2).warns("no brain has the name `nobody`");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_a_form_is_checked_and_asked_for_again_once() {
    let replies = ["Sure: green", "```json\n{\"colour\": \"green\"}\n```"].map(Reply::text);
    let (server, vault) = over("chat", replies.to_vec()).await;
    server.respond(|_| Reply::text("{}"));
    let schema = vault.home().join("schema.json");
    let text = r#"{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}"#;
    fs::write(&schema, text).unwrap();
    let schema = schema.to_str().unwrap();
    let report = ask(&vault, &["--schema", schema, "Which colour?"]).ok().json();
    assert_eq!(report["answer"], r#"{"colour": "green"}"#);
    assert_eq!((server.requests().len(), report["attempts"].as_array().unwrap().len()), (2, 2), "{report}");
    ask(&vault, &["--schema", schema, "Which colour?"]).exits(1).warns("doesn't have the form");
    assert_eq!(server.requests().len(), 4);
    // What it did is done, and the second time it can do nothing.
    let call = Reply::tool("reminder_add", json!({ "when": "tomorrow 9:00", "message": "Buy paint" }));
    server.script(vec![call, Reply::text("I added it."), Reply::text("{\"colour\": \"red\"}")]);
    let _ = ask(&vault, &["--schema", schema, "Remind me to buy paint"]).ok();
    assert_eq!(vault.read("Reminders.md").matches("Buy paint").count(), 1);
    let again = server.requests().pop().unwrap();
    assert!(again.body["tools"].is_null(), "{}", again.body["tools"]);
    contains_all(again.last_user(), &["I added it.", "Done before that:\n- `reminder_add"]);
    // A schema that leads back to itself without an end fits no answer.
    fs::write(schema, r##"{"$ref":"#"}"##).unwrap();
    server.script(vec![Reply::text("{}"), Reply::text("{}")]);
    ask(&vault, &["--schema", schema, "Why?"]).exits(1).warns("doesn't have the form");
    // A pipe that nobody writes to costs no call.
    let count = server.requests().len();
    fs::write(schema, r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##).unwrap();
    let pipe = vault.home().join("pipe");
    support::fifo(&pipe);
    let pipe = pipe.to_str().unwrap();
    ask(&vault, &["--schema", pipe, "Why?"]).exits(2).warns("is no JSON");
    ask(&vault, &["--schema", schema, "--image", pipe, "Why?"]).exits(2).warns("is no picture");
    assert_eq!(server.requests().len(), count);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_confirmation_is_sent_before_the_program_ends_and_once() {
    let call = Reply::tool("reminder_add", json!({ "when": "tomorrow 9:00", "message": "Call Mum" }));
    let (_server, mut vault) = over("chat", vec![call, Reply::text("Added.")]).await;
    let place = ModelServer::by(|_| Reply::text("ok").after(Duration::from_millis(300))).await;
    let notify = format!("[notify]\nkind = \"webhook\"\n[notify.webhook]\nurl = \"{}/hook\"\n", place.url());
    vault.write("vault-agent.toml", format!("{}{notify}", vault.read("vault-agent.toml")));
    vault.env("VAULT_AGENT_WEBHOOK_SECRET", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    ask(&vault, &["Remind me"]).ok().warns_not("arrived").warns_not("panicked");
    for _ in 0..2 {
        drop(vault.run(&["tick"]).ok());
        assert_eq!(place.requests().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_is_shown_and_other_files_are_refused() {
    let (server, vault) = over("messages", vec![Reply::text("A dot.")]).await;
    let picture = vault.home().join("dot.png");
    fs::write(&picture, b"\x89PNG dot").unwrap();
    let _ = ask(&vault, &["--image", picture.to_str().unwrap(), "What is it?"]).ok();
    assert!(server.requests()[0].body.to_string().contains("iVBORyBkb3Q="), "the bytes in base64");
    // A brain that sees no pictures isn't asked about one.
    vault.write("vault-agent.toml", vault.read("vault-agent.toml").replace("vision = true", ""));
    let blind = ask(&vault, &["--image", picture.to_str().unwrap(), "What is it?"]);
    blind.exits(2).warns("`b` takes no pictures");
    assert_eq!(server.requests().len(), 1);
    for name in ["notes.txt", "notes.png"] {
        let text = vault.home().join(name);
        fs::write(&text, "x").unwrap();
        ask(&vault, &["--image", text.to_str().unwrap(), "What is it?"]).exits(2).warns("is no picture");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_turns_tools_said_fits_the_brain_and_is_halved_where_it_is_too_long() {
    let (server, vault) = (ModelServer::start().await, TestVault::new("//- now: 2026-12-01T09:30:00Z\n"));
    let brain = server.brain("b", "chat", "context_tokens = 16000\n");
    vault.write("vault-agent.toml", format!("[assistant]\ntools = [\"vault\"]\n{brain}"));
    for name in ["One.md", "Two.md"] {
        vault.write(name, "A line about the harbour and what was said there.\n".repeat(560));
    }
    let [one, two] = ["One.md", "Two.md"].map(|path| json!({"path": path}));
    let both = Reply::tool("memory_get", one).and_tool("memory_get", two);
    let error = r#"{"error":{"code":"context_length_exceeded","message":"too long"}}"#;
    server.script(vec![both, Reply::status(400).body(error), Reply::text("I have read both.")]);
    assert_eq!(ask(&vault, &["What do both notes say?"]).ok().json()["answer"], "I have read both.");
    let requests = server.requests();
    let tokens = |at: usize| requests[at].body.to_string().chars().count() / 4;
    assert!(tokens(1) < 13_000 && tokens(2) < 7_500, "{} {}", tokens(1), tokens(2));
    let results = requests[1].results();
    assert!(results[0].contains("characters left out") && results[1].len() > 27_000, "the oldest first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_a_tool_found_is_masked_before_the_brain_gets_it() {
    let server = ModelServer::start().await;
    let vault =
        TestVault::new("//- /Keys.md\nThe build needs ghp_0123456789abcdefghijABCDEFGHIJ012345, says Ann.\n");
    let brain = server.brain("b", "chat", "");
    vault.write("vault-agent.toml", format!("[assistant]\ntools = [\"vault\"]\n{brain}"));
    server.script(vec![Reply::tool("memory_get", json!({"path": "Keys.md"})), Reply::text("A token.")]);
    let _ = ask(&vault, &["What does it take?"]).ok();
    contains_all(&server.requests()[1].results()[0], &["The build needs [masked: github token], says Ann."]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_comes_from_standard_input_and_no_persona_bends_anything() {
    let (server, vault) = over("chat", vec![]).await;
    server.respond(|_| Reply::text("Oolong."));
    let run = vault.run_with(&["ask", "-"], "What does\nAnna drink?\n").ok();
    assert!(run.stdout.trim().ends_with("Oolong."), "{run:?}");
    contains_all(server.requests()[0].last_user(), &["What does\nAnna drink?"]);
    assert_eq!(ask(&vault, &[" "]).code, 2, "an empty question is none");
    // A persona that is huge, no text or no file bends nothing.
    let told = || {
        let _ = ask(&vault, &["Hello?"]).ok();
        server.requests().last().unwrap().system().chars().count()
    };
    for persona in [vec![0xff; 1 << 20], vec![b'x'; 1 << 20], b"Be \xff\xfe\x80 kind.\0\n".to_vec()] {
        vault.write("Assistant.md", persona);
        assert!((100..30_000).contains(&told()), "{}", told());
    }
    vault.remove("Assistant.md");
    fs::create_dir(vault.path("Assistant.md")).unwrap();
    assert!(told() > 100);
}
