//! A turn's request made again from the notes: equal while the state is there, and when it is gone.

use std::process::Stdio;

use serde_json::Value;

use super::rig::*;
use crate::models::Reply;

/// `turns ID --request --json`, by a machine that knows what this one does, or has the vault alone.
pub fn remade(rig: &Rig, id: &str, knows: bool) -> Value {
    let mut command = rig.program(&["--json", "turns", id, "--request"]);
    if !knows {
        command.env("VAULT_AGENT_STATE_DIR", rig.temp.path().join("fresh"));
        command.env("VAULT_AGENT_CACHE_DIR", rig.temp.path().join("empty"));
    }
    let out = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&out.stderr)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_request_is_made_again_from_the_notes_with_and_without_state() {
    let rig = Rig::new().await;
    rig.set(
        &(rig.brains(&[("one", "messages"), ("two", "chat")])
            + "[memory]
user_namespace = \"user\"
"),
    );
    rig.write("MEMORY.md", "# Memory\n\n## People\n- Anna drinks oolong tea only.\n");
    rig.write("Pinned.md", "# Pinned\n\n- The gate's code is 4711\n");
    rig.write("Assistant.md", "You are kind.\n");
    rig.write("user/profile.md", "# Profile\n\n- Name: Alice of the mill\n");
    let working = "# Working Memory\nUpdated: 2026-11-20T09:00:00Z\nExpires: 2099-01-01T00:00:00Z\n\nThe mill's roof.\n";
    rig.write("user/working.md", working);
    skills(&rig, 1);
    rig.server.script(vec![
        Reply::text("Oolong."),
        Reply::status(503),
        Reply::text("By the second."),
        Reply::tool("memory_search", serde_json::json!({ "query": "Anna" })),
        Reply::text("Still oolong."),
    ]);
    rig.server.respond(|_| Reply::text("As before."));
    let daemon = Daemon::run(&rig).await;
    let mut asked = Vec::new();
    for text in
        ["What does Anna drink?", "And who says so?", "Look again: what does Anna drink?", "Thanks, and now?"]
    {
        let id = rig.ask(text);
        rig.wait("its answer", || rig.is_over(id)).await;
        asked.push(id);
    }
    drop(daemon);
    let questions = rig.questions();
    assert_eq!(questions.len(), 4);
    for (message, id) in asked.iter().zip(&questions) {
        for name in [&message.to_string(), id] {
            let found = remade(&rig, name, true);
            assert_eq!(found["equal"], true, "{name}: {found}");
            assert_eq!(found["hash"], found["stored_hash"]);
        }
    }
    // Without state and cache the log alone knows the question's block.
    for id in &questions {
        let found = remade(&rig, id, false);
        assert_eq!(found["equal"], true, "{id}: {found}");
    }
    for asked in rig.server.requests() {
        let text = String::from_utf8_lossy(&asked.bytes);
        assert!(text.contains("Alice of the mill") && text.contains("The mill's roof."), "{text}");
    }
    assert!(log_of(&rig).contains(" skills=s00 "), "the log keeps which skills were told");
    // A skill that says something else since is told apart; history knows what it said.
    let told = rig.read("skills/s00/SKILL.md");
    rig.write("skills/s00/SKILL.md", told.replace("number 0", "another"));
    assert_eq!(remade(&rig, &questions[0], false)["equal"], false);
    assert_eq!(remade(&rig, &questions[0], true)["equal"], true, "from history");
    // So is working memory; a persona that changed since is told apart, too, and history knows how both stood.
    rig.write("user/working.md", working.replace("roof", "wheel"));
    assert_eq!(remade(&rig, &questions[0], false)["equal"], false);
    rig.write("Assistant.md", "You are terse.\n");
    assert_eq!(remade(&rig, &questions[0], false)["equal"], false);
    assert_eq!(remade(&rig, &questions[0], true)["equal"], true, "from history");
}

/// So many skills.
fn skills(rig: &Rig, count: usize) {
    for n in 0..count {
        let text = format!("---\nname: s{n:02}\ndescription: Does number {n}.\n---\nHow.\n");
        rig.write(&format!("skills/s{n:02}/SKILL.md"), text);
    }
}

fn log_of(rig: &Rig) -> String {
    let events = rig.events(CHANNEL);
    events.into_iter().map(|block| format!("{}\n", block.event.content)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_skills_nearest_to_a_question_are_told_again_too() {
    let rig = Rig::new().await;
    rig.set(&rig.brains(&[("one", "messages")]));
    skills(&rig, 25);
    rig.server.script(vec![Reply::text("First."), Reply::text("Second.")]);
    let daemon = Daemon::run(&rig).await;
    for text in ["What is number 17?", "And number 21?"] {
        let id = rig.ask(text);
        rig.wait("its answer", || rig.is_over(id)).await;
    }
    drop(daemon);
    let requests = rig.server.requests();
    assert_eq!(requests[0].system(), requests[1].system());
    assert!(requests[0].last_user().contains("- s17: ") && requests[1].last_user().contains("- s21: "));
    assert!(log_of(&rig).contains(" skills=near:s17,"), "{}", log_of(&rig));
    for id in rig.questions() {
        let found = remade(&rig, &id, false);
        assert_eq!(found["equal"], true, "{id}: {found}");
    }
}
