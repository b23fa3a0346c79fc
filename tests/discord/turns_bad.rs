//! What goes wrong with brains, questions and notes: each has one visible, plain outcome, and nothing else changes.

use super::turns::{Look, look};
use crate::discord::rig::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_answer_is_cut_and_pings_nobody() {
    let endless = Reply::text("@everyone <@42> <@66> <@&601> é ".repeat(100_000 / 32));
    let (rig, _running) = Rig::scripted("chat", vec![endless]).await;
    let last = rig.answer("@everyone go on", 1).await;
    let all = rig.answers();
    assert!(last.ends_with("characters; this is its beginning.)"), "{last}");
    assert!(all.len() < 15 && all.iter().all(|text| text.chars().count() <= 2000), "{} messages", all.len());
    assert_eq!(rig.fake.world().pings, Vec::<String>::new());
    let facts = rig.facts(CHANNEL);
    assert_eq!(facts.len(), all.len(), "each chunk says whose it is");
    assert_eq!(facts.iter().filter(|facts| !facts.is_partial()).count(), 1);
    assert_eq!(facts.iter().map(|facts| facts.calls).sum::<u32>(), 1, "only the last counts");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_without_words_have_an_answer_too() {
    let rig = Rig::with(&[("one", "messages")]).await;
    rig.server.respond(|asked| Reply::text(format!("heard: {}", asked.last_user().lines().last().unwrap())));
    let _running = rig.run().await;
    assert_eq!(rig.answer("", 1).await, "heard: (an empty message)");
    let file = json!({ "id": "9", "filename": "mast.pdf", "size": 3000, "content_type": "application/pdf",
        "url": "https://cdn.example/9", "proxy_url": "https://cdn.example/9" });
    rig.fake.post(CHANNEL, ALICE, json!({ "content": "<@500>", "attachments": [file] }));
    rig.wait_done(2).await;
    let said = rig.answers().pop().unwrap();
    contains_all(&said, &["mast.pdf", "application/pdf"]);
    assert!(!said.contains("https"), "a link that expires is no name: {said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_its_state_nothing_that_was_answered_is_answered_again() {
    let replies = vec![look(), Reply::text("First."), Reply::text("All.")];
    let (rig, tool) = Look::rig("messages", 0, replies).await;
    let running = rig.run().await;
    tool.asked(&rig, "one?", 1).await;
    let _ = ["two?", "three?"].map(|text| rig.ask(text));
    rig.wait("the questions", || rig.turns(TurnState::Accepted) == 2).await;
    tool.gate.add_permits(1);
    rig.wait_done(3).await;
    running.crash().await;
    fs::remove_dir_all(rig.state()).unwrap();
    fs::create_dir(rig.state()).unwrap();
    rig.server.script(vec![Reply::text("Four.")]);
    let _running = rig.run().await;
    assert_eq!(rig.answer("four?", 1).await, "Four.");
    assert_eq!(rig.answers(), ["First.", "All.", "Four."]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_of_an_absence_are_turns_of_their_own_and_see_no_later_one() {
    let rig = Rig::with(&[("one", "messages")]).await;
    rig.server.respond(|asked| Reply::text(format!("heard {}", asked.last_user().lines().last().unwrap())));
    rig.run().await.crash().await;
    for n in 1..=3 {
        rig.ask(&format!("number {n}"));
    }
    let _running = rig.run().await;
    rig.wait_done(3).await;
    assert_eq!(rig.answers(), ["heard number 1", "heard number 2", "heard number 3"]);
    for (n, asked) in rig.server.requests().iter().enumerate() {
        let body = asked.body.to_string();
        assert!((1..=3).filter(|other| body.contains(&format!("number {other}"))).eq(1..=n + 1), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_permission_to_read_history_an_answer_is_no_reply() {
    let mut rig = Rig::with(&[("one", "chat")]).await;
    rig.tell_progress();
    rig.server.respond(|_| Reply::text("Yes.").after(Duration::from_millis(400)));
    let _running = rig.run().await;
    rig.fake.world().channel_mut(CHANNEL).access = Access::NoHistory;
    assert_eq!(rig.answer("may I?", 1).await, "Yes.");
    assert!(rig.fake.messages(CHANNEL).pop().unwrap()["message_reference"].is_null());
    rig.wait("what was going on goes", || rig.answers() == ["Yes."]).await;
    let posts = rig.posts();
    let is_shown = |post: &Record| post.body["content"].as_str().unwrap().starts_with("-# ⏳");
    assert!(posts.iter().any(|post| post.status == 200 && is_shown(post)), "{posts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_discord_refuses_for_good_holds_no_other_one_up() {
    let replies = ["Bad words.", "Gone.", "Fine."].map(Reply::text);
    let (rig, _running) = Rig::scripted("chat", replies.to_vec()).await;
    rig.fake.fault("POST", "/channels/2000/messages", Fault::refuse(400, 200_000, "Blocked"), 1);
    let said = rig.answer("one?", 1).await;
    assert_eq!(said, "Discord refused this answer (200000: Blocked); it stands in the log.");
    assert_eq!(rig.said(CHANNEL).last().unwrap(), "Bad words.");
    rig.fake.fault("POST", "/channels/2000/messages", Fault::refuse(404, 10_003, "Unknown Channel"), 2);
    rig.answer("two?", 2).await;
    rig.wait("its text", || rig.noted("This answer could not be shown:\nGone.") == 1).await;
    assert_eq!(rig.answer("three?", 3).await, "Fine.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_waits_for_permissions_can_be_stopped() {
    let replies = vec![Reply::text("Kept back.").usage(500, 0, 5), Reply::text("Fine.")];
    let (rig, _running) = Rig::scripted("chat", replies).await;
    rig.fake.world().channel_mut(CHANNEL).access = Access::NoSend;
    let question = rig.ask("one?");
    rig.wait("a refusal", || !rig.posts().is_empty()).await;
    while rig.command("stop", &[]).await != "Stopped." {
        assert!(!rig.is_over(question));
    }
    rig.wait("the end of the turn", || rig.is_over(question)).await;
    rig.fake.world().channel_mut(CHANNEL).access = Access::Full;
    assert_eq!(rig.answer("two?", 1).await, "Fine.");
    assert_eq!(rig.answers(), ["Fine."]);
    let is_it = |text: &String| text.starts_with("Alice stopped the answer.");
    contains_all(rig.contents(CHANNEL).into_iter().find(is_it).unwrap(), &[" in=500 "]);
}
