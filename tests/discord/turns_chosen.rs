//! What a brain chose among memories stands in the log, and the request is made again from there; and a turn that waits
//! can be stopped.

use super::rig::*;
use super::turns::{answers, rig_with};
use super::turns_remade::remade;
use crate::models::{ModelServer, Reply};
use vault_agent::format::log::EventKind;
use vault_agent::turn::{TurnJournal, TurnState};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_chosen_memories_is_made_again_with_an_equal_hash() {
    let server = ModelServer::start().await;
    let rig = rig_with(&server, &[("one", "messages"), ("small", "chat")]).await;
    let settings = rig.vault().join("vault-agent.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let more = "[assistant]\nchain = [\"one\"]\ntools = []\n[recall]\nbrain = \"small\"\n";
    std::fs::write(&settings, format!("{more}{text}")).unwrap();
    let mut chosen = 0;
    server.respond(move |asked| {
        if !asked.system().starts_with("You choose") {
            return Reply::text("On Friday.").usage(500, 0, 5);
        }
        chosen += 1;
        let text = if chosen == 1 { "The dentist is on Friday." } else { "NONE" };
        Reply::text(text).usage(70, 0, 7)
    });
    let running = rig.run().await;
    for nth in 1..=2 {
        rig.fake.say(CHANNEL, ALICE, "<@500> when is the dentist?");
        rig.wait_done(nth).await;
    }
    running.stop().await.unwrap();
    let events = rig.events(CHANNEL);
    let recalled: Vec<&str> = events
        .iter()
        .filter(|block| block.event.kind == EventKind::Recall)
        .map(|block| block.event.content.as_str())
        .collect();
    assert_eq!(recalled.len(), 1, "NONE injects nothing: {recalled:?}");
    assert!(recalled[0].contains("\"chosen_by\": \"small\""), "{}", recalled[0]);
    let facts = rig.facts(CHANNEL);
    assert!(facts.iter().all(|facts| (facts.input, facts.output, facts.calls) == (570, 12, 2)), "{facts:?}");
    let (fresh, cache) = (rig.temp.path().join("fresh"), rig.temp.path().join("cache"));
    let questions = events.iter().filter(|block| block.event.kind == EventKind::User);
    for id in questions.filter_map(|block| block.event.id.as_deref()) {
        for state in [&rig.state(), &fresh] {
            let found = remade(&rig, id, state, &cache);
            assert_eq!(found["equal"], true, "{found}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_waits_to_be_tried_again_can_be_stopped() {
    let mut rig = Rig::new().await;
    rig.answering = Answering::Never;
    let running = rig.run().await;
    let id = rig.fake.say(CHANNEL, ALICE, "<@500> when is the dentist?");
    let turns = TurnJournal::open(&rig.state()).unwrap();
    rig.wait("it is accepted", || turns.turn(id).unwrap().is_some()).await;
    // A press between two waits meets nobody; the next one does.
    while rig.fake.reply(slash(ALICE, "stop", &[])).await != "Stopped." {}
    rig.wait_done(1).await;
    assert_eq!(answers(&rig), ["Stopped."]);
    assert_eq!(turns.turn(id).unwrap().unwrap().state, TurnState::Done);
    running.stop().await.unwrap();
}
