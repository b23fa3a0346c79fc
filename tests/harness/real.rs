//! The real Claude Code against the scripted model server: by hand and nightly, see `run`. Without
//! `VAULT_AGENT_CLAUDE`, the path of its program, nothing is done here.

use crate::harness::rig::*;

use crate::harness::turns::Log;

fn real() -> Option<PathBuf> {
    let path = std::env::var_os("VAULT_AGENT_CLAUDE").map(PathBuf::from);
    if path.is_none() {
        println!("skipped: VAULT_AGENT_CLAUDE names no Claude Code");
    }
    path
}

/// A vault whose first brain is the real program, behind a script that writes down what it was started with.
async fn rig(real: &std::path::Path, more: &str) -> Rig {
    let rig = Rig::new(|rig| {
        let first = rig.brain("claude-code", "cc").replace("model-cc", "claude-sonnet-4-6");
        first + more + &rig.brain("chat", "next").replace("key_file = \"../key\"\n", "")
    })
    .await;
    let (program, seen) = (rig.dir().join("bin/claude"), rig.dir().join("arguments"));
    let script =
        format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >{}\nexec {} \"$@\"\n", seen.display(), real.display());
    write_program(program, &script);
    rig
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_a_tool_and_no_word_on_the_command_line() {
    let Some(real) = real() else { return };
    let rig = rig(&real, "").await;
    rig.write("Assistant.md", "You are Zorba.\n");
    rig.server.script(vec![remind("claude-code"), Reply::text("It is set.")]);
    let answer = rig.ask(1, "Remind me of the secret tea.").await.unwrap();
    assert_eq!((answer.text.as_str(), answer.facts.brain.as_str()), ("It is set.", "cc"));
    assert_eq!((rig.tools(1).len(), rig.reminders()), (1, 1));
    assert!(answer.facts.usd.is_some_and(|usd| usd > 0.0));
    let arguments = std::fs::read_to_string(rig.dir().join("arguments")).unwrap();
    contains_none(arguments, &["Zorba", "secret tea", CLAUDE_KEY]);
    let asked = &rig.server.requests()[0];
    assert!(asked.system().contains("You are Zorba."), "{}", asked.system());
    let tools = &asked.body["tools"];
    let (count, bytes) = (tools.as_array().map_or(0, Vec::len), tools.to_string().len());
    println!("tools: {count}, schemas: {bytes} bytes, whole request: {} bytes", asked.bytes.len());
    assert!(rig.server.requests().iter().all(|asked| asked.wire == "messages"), "nothing else is asked");
    assert_eq!(rig.left(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_is_given_and_declined() {
    let Some(real) = real() else { return };
    // The second is one that Claude Code thinks harmless.
    for (verdict, command) in [
        (ApprovalVerdict::Yes, "echo made it"),
        (ApprovalVerdict::No, "echo made it"),
        (ApprovalVerdict::No, "ls /"),
    ] {
        let mut rig = rig(&real, "tools = [\"Bash\"]\n").await;
        rig.person = Person::who_says(verdict);
        let call = Reply::tool("Bash", json!({"command": command, "description": "d"}));
        rig.server.script(vec![call, Reply::text("So be it.")]);
        assert_eq!(rig.ask(1, "make it").await.unwrap().text, "So be it.");
        assert_eq!(rig.person.asked.lock().unwrap().len(), 1, "{command}");
        let end = rig.tools(1).remove(0).result.unwrap();
        let ran = verdict == ApprovalVerdict::Yes;
        assert_eq!((!end.is_error, end.text.contains("made it")), (ran, ran));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_after_a_tool_another_finishes() {
    let Some(real) = real() else { return };
    let rig = rig(&real, "").await;
    rig.server.script(vec![remind("claude-code"), Reply::hang(), Reply::text("It is set.")]);
    let killing = async {
        rig.server.wait_for(2).await;
        let found = Command::new("pgrep").args(["-f", real.to_str().unwrap()]).output().unwrap();
        for pid in String::from_utf8_lossy(&found.stdout).lines() {
            // Not the supervisor, which has the script's path alone.
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let place = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            if line.starts_with(real.to_str().unwrap()) && place.starts_with(rig.dir()) {
                Command::new("kill").args(["-9", pid]).status().unwrap();
            }
        }
    };
    let (answer, ()) = tokio::join!(rig.ask(1, "Remind me."), killing);
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.facts.brain.as_str()), ("It is set.", "next"));
    assert_eq!(answer.facts.failed, [("cc".to_owned(), FailureClass::Crash)]);
    assert_eq!((rig.tools(1).len(), rig.reminders()), (1, 1));
    assert!(words(rig.server.requests().last().unwrap()).contains("drink tea"));
    assert_eq!(rig.left(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_session_is_gone_on_with_and_a_lost_one_made_again() {
    let Some(real) = real() else { return };
    let rig = rig(&real, "").await;
    let log = Log(&rig);
    log.begin();
    rig.server.script(vec![Reply::text("Oolong."), Reply::text("Cake."), Reply::text("Both.")]);
    log.turn(1, "What tea?").await;
    assert_eq!(log.turn(2, "And to eat?").await, "Cake.");
    let asked = rig.server.requests().pop().unwrap();
    assert_eq!(asked.messages().iter().filter(|message| message["role"] == "assistant").count(), 1);
    assert!(!words(&asked).contains("What was said here before"));
    let home = std::env::var_os("CLAUDE_CONFIG_DIR")
        .map_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".claude"), PathBuf::from);
    let dir = rig.state().join("harness/cc").to_string_lossy().replace(['/', '.'], "-");
    std::fs::remove_dir_all(home.join("projects").join(&dir)).unwrap();
    assert_eq!(log.turn(3, "And then?").await, "Both.");
    let asked = rig.server.requests().pop().unwrap();
    assert!(words(&asked).contains("What was said here before"), "{}", words(&asked));
    let _ = std::fs::remove_dir_all(home.join("projects").join(&dir));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_of_its_provider_are_classed() {
    let Some(real) = real() else { return };
    let error = |kind: &str, words: &str| {
        json!({"type": "error", "error": {"type": kind, "message": words}}).to_string()
    };
    let table = [
        (Reply::status(401).body(error("authentication_error", "invalid x-api-key")), FailureClass::Auth),
        (Reply::status(529).body(error("overloaded_error", "Overloaded")), FailureClass::RateLimit),
        (Reply::status(404).body(error("not_found_error", "model: x")), FailureClass::UnknownModel),
    ];
    for (reply, class) in table {
        let rig = rig(&real, "").await;
        // Of an unknown model it asks a second time, without a stream.
        rig.server.script(vec![reply; if class == FailureClass::UnknownModel { 2 } else { 1 }]);
        rig.server.script(vec![Reply::text("I can.")]);
        let began = Instant::now();
        let answer = rig.ask(1, "Who can?").await.unwrap();
        println!("{class:?}: another answered after {} ms", began.elapsed().as_millis());
        assert_eq!((answer.text.as_str(), answer.facts.failed[0].1), ("I can.", class));
    }
}
