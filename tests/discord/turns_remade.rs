//! A turn's request made again from the notes: equal while the state is there, and when it is gone.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use vault_agent::format::log::EventKind;
use vault_agent::turn::TurnJournal;

use super::rig::*;
use super::turns::settings;
use super::turns_killed::Daemon;
use crate::models::{ModelServer, Reply};

/// `turns ID --request --json` with these directories.
pub fn remade(rig: &Rig, id: &str, state: &Path, cache: &Path) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_vault-agent"))
        .args(["--json", "turns", id, "--request"])
        .env("VAULT_AGENT_VAULT", rig.vault())
        .env("VAULT_AGENT_STATE_DIR", state)
        .env("VAULT_AGENT_CACHE_DIR", cache)
        .env_remove("VAULT_AGENT_NOW")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&out.stderr)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_request_is_made_again_from_the_notes_with_and_without_state() {
    let server = ModelServer::start().await;
    let rig = Rig::new().await;
    let text = format!(
        "{}[memory]\nuser_namespace = \"user\"\n[notify]\nkind = \"discord\"\n[discord]\nchannel_id = {CHANNEL}\n\
         guild_id = 1000\nowner_ids = [{ALICE}]\napi_base = \"{}\"\n",
        settings(&server, &[("one", "messages"), ("two", "chat")]),
        rig.fake.api_base()
    );
    std::fs::write(rig.vault().join("vault-agent.toml"), text).unwrap();
    std::fs::write(rig.vault().join("MEMORY.md"), "# Memory\n\n## People\n- Anna drinks oolong tea only.\n")
        .unwrap();
    std::fs::write(rig.vault().join("Pinned.md"), "# Pinned\n\n- The gate's code is 4711\n").unwrap();
    std::fs::write(rig.vault().join("Assistant.md"), "You are kind.\n").unwrap();
    std::fs::create_dir_all(rig.vault().join("user")).unwrap();
    std::fs::write(rig.vault().join("user/profile.md"), "# Profile\n\n- Name: Alice of the mill\n").unwrap();
    let working = "# Working Memory\nUpdated: 2026-11-20T09:00:00Z\nExpires: 2099-01-01T00:00:00Z\n\nThe mill's roof.\n";
    std::fs::write(rig.vault().join("user/working.md"), working).unwrap();
    skills(&rig, 1);
    server.script(vec![
        Reply::text("Oolong."),
        Reply::status(503),
        Reply::text("By the second."),
        Reply::tool("memory_search", serde_json::json!({ "query": "Anna" })),
        Reply::text("Still oolong."),
    ]);
    server.respond(|_| Reply::text("As before."));
    let daemon = Daemon::start(&rig);
    rig.fake.connected().await;
    rig.wait("history read", || !rig.fake.requests("GET", "/messages").is_empty()).await;
    let state = TurnJournal::open(&rig.state()).unwrap();
    let mut asked = Vec::new();
    for text in
        ["What does Anna drink?", "And who says so?", "Look again: what does Anna drink?", "Thanks, and now?"]
    {
        let id = rig.fake.say(CHANNEL, ALICE, &format!("<@500> {text}"));
        rig.wait("its answer", || state.turn(id).unwrap().is_some_and(|turn| turn.state.is_final())).await;
        asked.push(id);
    }
    drop(daemon);
    let questions: Vec<String> = rig
        .events(CHANNEL)
        .into_iter()
        .filter(|block| block.event.kind == EventKind::User)
        .filter_map(|block| block.event.id)
        .collect();
    assert_eq!(questions.len(), 4);
    let cache = rig.temp.path().join("cache");
    for (message, id) in asked.iter().zip(&questions) {
        for name in [&message.to_string(), id] {
            let found = remade(&rig, name, &rig.state(), &cache);
            assert_eq!(found["equal"], true, "{name}: {found}");
            assert_eq!(found["hash"], found["stored_hash"]);
        }
    }
    // Without state and cache the log alone knows the question's block.
    let (fresh, empty) = (rig.temp.path().join("fresh"), rig.temp.path().join("empty"));
    for id in &questions {
        let found = remade(&rig, id, &fresh, &empty);
        assert_eq!(found["equal"], true, "{id}: {found}");
    }
    for asked in server.requests() {
        let text = String::from_utf8_lossy(&asked.bytes);
        assert!(text.contains("Alice of the mill") && text.contains("The mill's roof."), "{text}");
    }
    assert!(log_of(&rig).contains(" skills=s00 "), "the log keeps which skills were told");
    // A skill that says something else since is told apart; history knows what it said.
    let told = std::fs::read_to_string(rig.vault().join("skills/s00/SKILL.md")).unwrap();
    std::fs::write(rig.vault().join("skills/s00/SKILL.md"), told.replace("number 0", "another")).unwrap();
    assert_eq!(remade(&rig, &questions[0], &fresh, &empty)["equal"], false);
    assert_eq!(remade(&rig, &questions[0], &rig.state(), &cache)["equal"], true, "from history");
    // So is working memory; a persona that changed since is told apart, too, and history knows how both stood.
    std::fs::write(rig.vault().join("user/working.md"), working.replace("roof", "wheel")).unwrap();
    assert_eq!(remade(&rig, &questions[0], &fresh, &empty)["equal"], false);
    std::fs::write(rig.vault().join("Assistant.md"), "You are terse.\n").unwrap();
    assert_eq!(remade(&rig, &questions[0], &fresh, &empty)["equal"], false);
    assert_eq!(remade(&rig, &questions[0], &rig.state(), &cache)["equal"], true, "from history");
}

/// So many skills.
fn skills(rig: &Rig, count: usize) {
    for n in 0..count {
        let folder = rig.vault().join(format!("skills/s{n:02}"));
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: s{n:02}\ndescription: Does number {n}.\n---\nHow.\n");
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
    }
}

fn log_of(rig: &Rig) -> String {
    let events = rig.events(CHANNEL);
    events.into_iter().map(|block| format!("{}\n", block.event.content)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_skills_nearest_to_a_question_are_told_again_too() {
    let server = ModelServer::start().await;
    let rig = Rig::new().await;
    let text = format!(
        "{}[notify]\nkind = \"discord\"\n[discord]\nchannel_id = {CHANNEL}\nguild_id = 1000\nowner_ids = [{ALICE}]\n\
         api_base = \"{}\"\n",
        settings(&server, &[("one", "messages")]),
        rig.fake.api_base()
    );
    std::fs::write(rig.vault().join("vault-agent.toml"), text).unwrap();
    skills(&rig, 25);
    server.script(vec![Reply::text("First."), Reply::text("Second.")]);
    let daemon = Daemon::start(&rig);
    rig.fake.connected().await;
    rig.wait("history read", || !rig.fake.requests("GET", "/messages").is_empty()).await;
    let state = TurnJournal::open(&rig.state()).unwrap();
    for text in ["What is number 17?", "And number 21?"] {
        let id = rig.fake.say(CHANNEL, ALICE, &format!("<@500> {text}"));
        rig.wait("its answer", || state.turn(id).unwrap().is_some_and(|turn| turn.state.is_final())).await;
    }
    drop(daemon);
    let requests = server.requests();
    assert_eq!(requests[0].system(), requests[1].system());
    assert!(requests[0].last_user().contains("- s17: ") && requests[1].last_user().contains("- s21: "));
    assert!(log_of(&rig).contains(" skills=near:s17,"), "{}", log_of(&rig));
    let (fresh, empty) = (rig.temp.path().join("fresh"), rig.temp.path().join("empty"));
    let user = rig.events(CHANNEL).into_iter().filter(|block| block.event.kind == EventKind::User);
    for id in user.filter_map(|block| block.event.id) {
        let found = remade(&rig, &id, &fresh, &empty);
        assert_eq!(found["equal"], true, "{id}: {found}");
    }
}
