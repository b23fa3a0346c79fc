//! A brain that chooses among what memory found: its lines, its "NONE", and everything else that it may do.

use vault_agent::format::log::INJECTED;

use crate::brain::spending::{World, anna};
use crate::support::prelude::*;

const FOUND: &str = "INJECTED_CONTEXT_RELEVANT_MEMORIES\n{\"memories\":[{\"excerpt\":\"Anna drinks oolong since 2019\"},\
                     {\"excerpt\":\"Bert keeps bees\"}]}";

/// A world whose recaller is one server and whose answers come from another.
async fn world(more: &str) -> (World, ModelServer, ModelServer) {
    let (small, big) = (ModelServer::start().await, ModelServer::start().await);
    big.respond(|_| Reply::text("Oolong.").usage(1000, 0, 10));
    let brains = big.brain("big", "chat", "") + &small.brain("small", "chat", more);
    let chain = "[assistant]\nchain = [\"big\"]\n[recall]\nbrain = \"small\"\n";
    let mut world = World::new(&format!("{chain}{brains}"));
    world.memory = FOUND;
    (world, small, big)
}

/// Asks, and gives what the answering brain was told.
async fn told(world: &World, big: &ModelServer) -> String {
    assert_eq!(world.say("What does Anna drink?").await, "Oolong.");
    big.requests().last().unwrap().last_user()
}

#[tokio::test]
async fn its_lines_are_given_and_its_none_is_honoured() {
    let (world, small, big) = world("").await;
    let lines = Reply::text("- Anna drinks oolong since 2019\n- and nothing else").usage(200, 0, 20);
    small.script(vec![lines, Reply::text("NONE")]);
    let text = told(&world, &big).await;
    assert!(text.contains(INJECTED) && text.contains("Anna drinks oolong since 2019"), "{text}");
    assert!(text.contains("\"chosen_by\": \"small\"") && !text.contains("bees"), "{text}");
    let asked = &small.requests()[0];
    assert!(asked.last_user().contains("bees") && asked.last_user().contains("What does Anna drink?"));
    assert!(asked.body.get("tools").is_none());
    // What it took is counted with the turn, and is no attempt at its answer.
    let journal = world.journal();
    assert_eq!(journal.calls(1).unwrap().len(), 1);
    assert_eq!(journal.background_calls(1).unwrap()[0].usage.input, 200);
    contains_none(told(&world, &big).await, &[INJECTED]);
    assert_eq!(journal.turn(2).unwrap().unwrap().recalled.unwrap().injection, "");
    let facts = world.ask(anna("x")).await.facts;
    assert_eq!((facts.input, facts.calls, facts.failed.len()), (1000, 2, 1), "the script is over: 500");
}

#[tokio::test]
async fn a_secret_in_a_note_is_masked_before_any_brain_is_asked() {
    let (mut world, small, big) = world("").await;
    world.memory = "INJECTED_CONTEXT_RELEVANT_MEMORIES\n{\"memories\":[{\"excerpt\":\"Anna's is \
                    ghp_0123456789abcdefghijABCDEFGHIJ012345\"}]}";
    small.script(vec![Reply::text("a\nb\nc\nd")]);
    let text = told(&world, &big).await;
    let given = world.journal().turn(1).unwrap().unwrap().recalled.unwrap().injection;
    for text in [text, small.requests()[0].last_user(), given] {
        assert!(text.contains("Anna's is [masked: ") && !text.contains("ghp_"), "{text}");
    }
}

#[tokio::test]
async fn whatever_else_it_does_ours_is_given() {
    let wrong = [
        Reply::hang(),
        Reply::status(503),
        Reply::reset(),
        Reply::garbage(),
        Reply::text(""),
        Reply::text("a\nb\nc\nd"),
        Reply::text("Anna drinks oolong since 1919"),
        Reply::text("Anna").stop("length"),
        Reply::tool("look", json!({})),
    ];
    for (nth, reply) in wrong.into_iter().enumerate() {
        let (world, small, big) = world("").await;
        small.script(vec![reply]);
        let text = told(&world, &big).await;
        assert!(text.contains("bees") && text.contains("oolong since 2019"), "{nth}: {text}");
        assert_eq!(small.requests().len(), 1, "{nth}");
    }
}

#[tokio::test]
async fn one_that_rests_or_is_over_its_budget_is_not_asked() {
    let (world, small, big) = world("day_tokens = 100").await;
    small.script(vec![Reply::text("NONE").usage(100, 0, 0)]);
    assert!(!told(&world, &big).await.contains("bees"));
    assert!(told(&world, &big).await.contains("bees"));
    assert_eq!(small.requests().len(), 1, "its budget is used up");

    let (world, small, big) = self::world("").await;
    small.script(vec![Reply::status(402)]);
    for _ in 0..2 {
        assert!(told(&world, &big).await.contains("bees"));
    }
    assert_eq!(small.requests().len(), 1, "its account is empty");

    // Where nothing was found there is nothing to choose from.
    let (mut world, small, big) = self::world("").await;
    world.memory = "";
    assert!(!told(&world, &big).await.contains(INJECTED));
    assert!(small.requests().is_empty());
}
