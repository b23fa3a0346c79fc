//! A turn's request made again from the notes: equal while the state is there and when it is gone, with what a brain chose
//! among memories, and with the summaries of a long conversation.

use crate::discord::rig::*;

/// `turns ID --request --json`, by a machine that knows what this one does, or has the vault alone.
pub fn remade(rig: &Rig, id: &str, knows: bool) -> Value {
    let mut command = rig.program(&["--json", "turns", id, "--request"]);
    if !knows {
        command.env("VAULT_AGENT_STATE_DIR", rig.dir().join("fresh"));
        command.env("VAULT_AGENT_CACHE_DIR", rig.dir().join("empty"));
    }
    let out = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&out.stderr)))
}

/// Insists that the request is made again with the hash that it had.
#[track_caller]
fn is_equal(rig: &Rig, id: &str, knows: bool) {
    let found = remade(rig, id, knows);
    assert_eq!(found["equal"], true, "{id}, {knows}: {found}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_request_is_made_again_from_the_notes_with_and_without_state() {
    let rig = Rig::new().await;
    let brains = rig.brains(&[("one", "messages"), ("two", "chat")]);
    rig.set(&(brains + "[memory]\nuser_namespace = \"user\"\n"));
    rig.write("MEMORY.md", "# Memory\n\n## People\n- Anna drinks oolong tea only.\n");
    rig.write("Pinned.md", "# Pinned\n\n- The gate's code is 4711\n");
    rig.write("Assistant.md", "You are kind.\n");
    rig.write("user/profile.md", "# Profile\n\n- Name: Alice of the mill\n");
    let working = "# Working Memory\nUpdated: 2026-11-20T09:00:00Z\nExpires: 2099-01-01T00:00:00Z\n\nThe mill's roof.\n";
    rig.write("user/working.md", working);
    skills(&rig, 1);
    rig.server.script(vec![Reply::text("Oolong."), Reply::status(503), Reply::text("By the second.")]);
    let search = Reply::tool("memory_search", json!({ "query": "Anna" }));
    rig.server.script(vec![search, Reply::text("Still oolong.")]);
    rig.server.respond(|_| Reply::text("As before."));
    let (daemon, mut asked) = (rig.reading_daemon().await, Vec::new());
    let texts = "What does Anna drink?|And who says so?|Look again: what does Anna drink?|Thanks, and now?";
    for text in texts.split('|') {
        asked.push(rig.asked_and_over(text).await);
    }
    let first = rig.fake.messages(CHANNEL).remove(1);
    let id = rig.reply(CHANNEL, ALICE, &first["id"].as_str().unwrap(), "Which kind?");
    rig.wait("its answer", || rig.is_over(id)).await;
    asked.push(id);
    let told = rig.server.requests().pop().unwrap();
    contains_all(String::from_utf8_lossy(&told.bytes), &["(a reply to what Vault said: Oolong.)"]);
    drop(daemon);
    let questions = rig.questions();
    assert_eq!(questions.len(), 5);
    for (message, id) in asked.iter().zip(&questions) {
        for name in [&message.to_string(), id] {
            let found = remade(&rig, name, true);
            assert_eq!(pick(&found, "equal hash"), json!([true, found["stored_hash"]]), "{name}: {found}");
        }
    }
    // Without state and cache the log alone knows the question's block.
    questions.iter().for_each(|id| is_equal(&rig, id, false));
    for asked in rig.server.requests() {
        contains_all(String::from_utf8_lossy(&asked.bytes), &["Alice of the mill", "The mill's roof."]);
    }
    assert!(log_of(&rig).contains(" skills=s00 "), "the log keeps which skills were told");
    // A skill that says something else since is told apart; history knows what it said.
    let told = rig.text("skills/s00/SKILL.md");
    rig.write("skills/s00/SKILL.md", told.replace("number 0", "another"));
    assert_eq!(remade(&rig, &questions[0], false)["equal"], false);
    is_equal(&rig, &questions[0], true);
    // So is working memory; a persona that changed since is told apart, too, and history knows how both stood.
    rig.write("user/working.md", working.replace("roof", "wheel"));
    assert_eq!(remade(&rig, &questions[0], false)["equal"], false);
    rig.write("Assistant.md", "You are terse.\n");
    assert_eq!(remade(&rig, &questions[0], false)["equal"], false);
    is_equal(&rig, &questions[0], true);
    // Settings that changed since make no difference either: other tools, another profile.
    rig.write("vault-agent.toml", rig.text("vault-agent.toml").replace("user_namespace", "# user_namespace"));
    rig.prepend("assistant.tools = []\n");
    assert_eq!(remade(&rig, &questions[0], false)["equal"], false);
    // It has the settings, too.
    questions.iter().for_each(|id| is_equal(&rig, id, true));
}

/// So many skills.
fn skills(rig: &Rig, count: usize) {
    for n in 0..count {
        let text = format!("---\nname: s{n:02}\ndescription: Does number {n}.\n---\nHow.\n");
        rig.write(format!("skills/s{n:02}/SKILL.md"), text);
    }
}

fn log_of(rig: &Rig) -> String {
    rig.events(CHANNEL).into_iter().map(|block| format!("{}\n", block.event.content)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_skills_nearest_to_a_question_are_told_again_too() {
    let rig = Rig::new().await;
    rig.set(&rig.brains(&[("one", "messages")]));
    skills(&rig, 25);
    rig.server.script(vec![Reply::text("First."), Reply::text("Second.")]);
    let daemon = rig.reading_daemon().await;
    for text in ["What is number 17?", "And number 21?"] {
        rig.asked_and_over(text).await;
    }
    drop(daemon);
    let requests = rig.server.requests();
    assert_eq!(requests[0].system(), requests[1].system());
    assert!(requests[0].last_user().contains("- s17: ") && requests[1].last_user().contains("- s21: "));
    assert!(log_of(&rig).contains(" skills=near:s17,"), "{}", log_of(&rig));
    rig.questions().iter().for_each(|id| is_equal(&rig, id, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_chosen_memories_is_made_again_with_an_equal_hash() {
    let rig = Rig::with(&[("one", "messages"), ("small", "chat")]).await;
    rig.prepend("[assistant]\nchain = [\"one\"]\ntools = []\n[recall]\nbrain = \"small\"\n");
    let mut chosen = 0;
    rig.server.respond(move |asked| {
        if !asked.system().starts_with("You choose") {
            return Reply::text("On Friday.").usage(500, 0, 5);
        }
        chosen += 1;
        let text = if chosen == 1 { "The dentist is on Friday." } else { "NONE" };
        Reply::text(text).usage(70, 0, 7)
    });
    let running = rig.run().await;
    for nth in 1..=2 {
        rig.answer("when is the dentist?", nth).await;
    }
    drop(running);
    let mut recalled = rig.events(CHANNEL);
    recalled.retain(|block| block.event.kind == EventKind::Recall);
    assert_eq!(recalled.len(), 1, "NONE injects nothing: {recalled:?}");
    assert!(recalled[0].event.content.contains("\"chosen_by\": \"small\""), "{recalled:?}");
    let facts = rig.facts(CHANNEL);
    assert!(facts.iter().all(|facts| (facts.input, facts.output, facts.calls) == (570, 12, 2)), "{facts:?}");
    for id in rig.questions() {
        [true, false].iter().for_each(|knows| is_equal(&rig, &id, *knows));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_awaited_and_a_stopped_request_are_made_again_and_one_with_a_file_that_is_not_kept_says_so() {
    let rig = Rig::with(&[("one", "messages")]).await;
    rig.prepend("[assistant]\ntools = []\n");
    rig.server.script(vec![Reply::hang(), Reply::text("Read.")]);
    let running = rig.run().await;
    let awaited = rig.ask("one?").to_string();
    rig.server.wait_for(1).await;
    is_equal(&rig, &awaited, true);
    assert_eq!(rig.command("stop", &[]).await, "Stopped.");
    rig.wait_done(1).await;
    rig.fake.world().files.insert("9".into(), b"oolong".to_vec());
    let link = format!("{}/attachments/9", rig.fake.api_base());
    let file = json!({ "id": "9", "filename": "tea.txt", "size": 6, "content_type": "text/plain",
        "url": link, "proxy_url": link });
    rig.fake.post(CHANNEL, ALICE, json!({ "content": "<@500> and this?", "attachments": [file] }));
    rig.wait_done(2).await;
    drop(running);
    assert!(rig.server.requests()[1].last_user().contains("oolong"));
    let [stopped, read] = &rig.questions()[..] else { panic!("two questions") };
    is_equal(&rig, stopped, true);
    for (id, knows, why) in
        [(stopped, false, "no brain answered"), (read, true, "the file `tea.txt` was sent")]
    {
        let found = remade(&rig, id, knows);
        assert!(found["reason"].as_str().unwrap().starts_with(why) && found["equal"] == false, "{found}");
    }
}

/// A log of the last hours with 130 messages of some 250 tokens; one says what colour the mast gets.
fn log() -> String {
    let mut text = format!("---\nsurface: discord-channel\ncontext_id: \"{CHANNEL}\"\n---\n");
    let begin = Timestamp::now() - SignedDuration::from_hours(12);
    for at in 0..130 {
        let (kind, who) = if at % 2 == 0 { ("user", "Alice") } else { ("agent", "Vault") };
        let said = if at == 10 { "The mast is painted turquoise on Friday." } else { "This is small talk." };
        let filler = "It goes on and on for a while, as talk does. ".repeat(22);
        let when = begin + SignedDuration::from_mins(at);
        let id = ulid::Ulid::from_parts(u64::try_from(when.as_millisecond()).unwrap(), 77);
        text += &event(&format!("{kind}] {when} {who}"), &format!("{said} {filler}"), &id.to_string());
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_about_what_was_summarised_is_told_of_it_and_made_again() {
    let rig = Rig::new().await;
    rig.set(&rig.brains(&[("one", "messages")]));
    let name = format!("discord-channel/{CHANNEL}/20260101T000000Z_0001");
    rig.write(format!("logs/{name}.md"), log());
    let mut tries = 0;
    rig.server.respond(move |asked| {
        if !asked.system().starts_with("You summarise a piece") {
            return Reply::text("Turquoise.");
        }
        tries += 1;
        if tries == 1 {
            return Reply::text("They agreed on").stop("length");
        }
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        Reply::text(format!("They agreed on a colour.\n{secret}\n\nExpand for details about: the mast."))
    });
    let daemon = rig.daemon();
    rig.fake.connected().await;
    let note = format!("summaries/{name}/d0-0001.md");
    rig.wait("a summary", || rig.path(&note).exists()).await;
    let summary = rig.text(&note);
    contains_all(&summary, &["\nbrain: one\n", "They agreed on a colour.", "[masked: "]);
    contains_none(&summary, &["ghp_"]);
    let id = rig.asked_and_over("Which colour is the mast painted?").await;
    drop(daemon);
    let requests = rig.server.requests();
    let asked = requests.iter().rev().find(|asked| asked.last_user().contains("Which colour")).unwrap();
    let messages: Vec<String> = asked.messages().iter().map(ToString::to_string).collect();
    contains_all(&messages[0], &["[Summary sum_", "They agreed on a colour"]);
    contains_all(messages.last().unwrap(), &["Said earlier in this conversation", "painted turquoise"]);
    assert!(!messages[1].contains("small talk") || messages.len() > 64, "the tail is told whole");
    let told = asked.messages().len();
    assert!((66..131).contains(&told), "{told} messages: what is summarised isn't told whole");
    // The request is made again: with state, without, and from history once the summary says something else.
    let block = rig.turn_journal().turn(id).unwrap().unwrap().name();
    [true, false].iter().for_each(|knows| is_equal(&rig, &block, *knows));
    rig.write(&note, summary.replace("a colour", "nothing"));
    assert_eq!(remade(&rig, &block, false)["equal"], false);
    is_equal(&rig, &block, true);
    // What it took is counted. The summary that was cut was asked for again, once.
    assert_eq!(names_in(rig.path("logs/summaries/summaries")).len(), 1);
    let is_of_summary = |asked: &&Arc<Asked>| asked.system().starts_with("You summarise");
    assert_eq!(requests.iter().filter(is_of_summary).count(), 2);
}
