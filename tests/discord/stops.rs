//! A word to stop counts though the program dies before it is obeyed, or was away when it was said.

use super::rig::*;
use super::traps::{STOP, Traps};
use super::turns::{Look, answers, rig_with};
use crate::models::{ModelServer, Reply};
use serde_json::json;
use std::sync::Arc;

/// A bot in the midst of a tool that never ends; whoever asks its brain again would be answered.
async fn looking(server: &ModelServer) -> (Rig, Arc<Look>, Running) {
    let mut rig = rig_with(server, &[("one", "chat")]).await;
    let tool = Look::new(0);
    rig.tools = tool.clone();
    server.script(vec![Reply::tool("look", json!({ "q": "tea" }))]);
    server.respond(|_| Reply::text("Yes."));
    let running = rig.run().await;
    rig.fake.say(CHANNEL, ALICE, "<@500> look?");
    rig.wait("the tool", || tool.count() == 1).await;
    (rig, tool, running)
}

/// The turn is ended by the word, once, also after one more restart, and nobody was asked again for it.
async fn is_stopped(rig: &Rig, server: &ModelServer, tool: &Look) {
    let running = rig.run().await;
    rig.wait_done(1).await;
    assert_eq!((answers(rig), server.requests().len()), (vec!["Stopped.".to_owned()], 1));
    running.crash().await;
    let running = rig.run().await;
    rig.fake.say(CHANNEL, ALICE, "<@500> and now?");
    rig.wait_done(2).await;
    assert_eq!((answers(rig), tool.count()), (vec!["Stopped.".to_owned(), "Yes.".to_owned()], 1));
    let noted = |block: &&_| {
        let block: &vault_agent::format::log::LogBlock = block;
        block.event.content == "Alice stopped the answer."
    };
    assert_eq!(rig.events(CHANNEL).iter().filter(noted).count(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_to_stop_that_was_said_while_the_program_was_away_ends_what_ran() {
    let server = ModelServer::start().await;
    let (rig, tool, running) = looking(&server).await;
    running.crash().await;
    rig.fake.say(CHANNEL, ALICE, "<@500> stop");
    is_stopped(&rig, &server, &tool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_to_stop_counts_though_the_program_dies_before_it_is_obeyed() {
    let server = ModelServer::start().await;
    let (rig, tool, running) = looking(&server).await;
    let traps = Traps::set(&rig);
    traps.arm(STOP, 0);
    rig.fake.say(CHANNEL, ALICE, "<@500> stop");
    rig.wait("the crash", || traps.is_sprung()).await;
    running.crash().await;
    traps.disarm();
    is_stopped(&rig, &server, &tool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_after_a_word_to_stop_is_answered() {
    let server = ModelServer::start().await;
    let (rig, _, running) = looking(&server).await;
    running.crash().await;
    rig.fake.say(CHANNEL, ALICE, "<@500> and this?");
    rig.fake.say(CHANNEL, ALICE, "<@500> stop");
    rig.fake.say(CHANNEL, ALICE, "<@500> but this?");
    let running = rig.run().await;
    rig.wait_done(3).await;
    assert_eq!(answers(&rig), ["Stopped.", "Stopped.", "Yes."]);
    running.stop().await.unwrap();
}
