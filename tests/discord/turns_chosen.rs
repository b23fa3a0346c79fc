//! What a brain chose among memories stands in the log, and the request is made again from there; and a turn that waits
//! can be stopped.

use super::rig::*;
use super::turns_remade::remade;
use crate::models::Reply;
use vault_agent::format::log::EventKind;
use vault_agent::turn::TurnState;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_chosen_memories_is_made_again_with_an_equal_hash() {
    let rig = Rig::with(&[("one", "messages"), ("small", "chat")]).await;
    let more = "[assistant]\nchain = [\"one\"]\ntools = []\n[recall]\nbrain = \"small\"\n";
    rig.prepend(more);
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
        for knows in [true, false] {
            let found = remade(&rig, &id, knows);
            assert_eq!(found["equal"], true, "{knows}: {found}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_waits_to_be_tried_again_can_be_stopped() {
    let mut rig = Rig::new().await;
    rig.responder = Some(std::sync::Arc::new(Never));
    let _running = rig.run().await;
    let id = rig.ask("when is the dentist?");
    let turns = rig.turn_journal();
    rig.wait("it is accepted", || turns.turn(id).unwrap().is_some()).await;
    // A press between two waits meets nobody; the next one does.
    while rig.command("stop", &[]).await != "Stopped." {}
    rig.wait_done(1).await;
    assert_eq!(rig.answers(), ["Stopped."]);
    assert_eq!(turns.turn(id).unwrap().unwrap().state, TurnState::Done);
}
