//! The gateway fails, the process dies, hours pass: nothing said is lost, nothing is answered twice.

use crate::discord::rig::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_lose_the_connection_loses_no_message() {
    use GatewayFault::{Close, Cut, Invalid, Reconnect, Zombie};
    let (rig, _running) = Rig::prepared(|rig| rig.fake.world().heartbeat_ms = 400).await;
    let mut wanted = vec![];
    for fault in [Reconnect, Close(1000), Close(4000), Cut, Invalid(true), Invalid(false), Zombie] {
        rig.fake.gateway(fault.clone());
        rig.says(&mut wanted, format!("during {fault:?}"));
        rig.is_said(CHANNEL, &wanted).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_day_away_all_is_logged_and_whoever_spoke_to_the_bot_is_answered() {
    let (rig, clock) = Rig::clocked().await;
    rig.fake.world().add_thread(3000, CHANNEL, "side", false);
    let running = rig.run().await;
    rig.fake.say(3000, ALICE, "<@500> dentist?");
    rig.wait_said(3000, 2).await;
    running.crash().await;
    let mut wanted = vec![];
    for hour in 0..24 {
        rig.advance(&clock, SignedDuration::from_hours(1));
        (0..2).for_each(|n| rig.says(&mut wanted, format!("<@500> hour {hour} dentist {n}")));
        if hour % 12 == 11 {
            // Said in a thread that is bound, to nobody: answered only lately.
            rig.fake.say(3000, ALICE, &format!("hour {hour} in the thread"));
        }
    }
    rig.advance(&clock, SignedDuration::from_mins(5));
    let running = rig.run().await;
    rig.wait_said(CHANNEL, 2 * wanted.len()).await;
    assert_eq!(rig.said(CHANNEL)[..wanted.len()], wanted);
    let replies = rig.fake.messages(CHANNEL).split_off(wanted.len());
    let question = |reply: &Value| reply["referenced_message"]["content"].as_str().unwrap().to_owned();
    assert_eq!(replies.iter().map(question).collect::<Vec<_>>(), wanted, "each once, in order");
    for (at, reply) in replies.iter().enumerate() {
        let (answer, is_late) = (reply["content"].as_str().unwrap(), at < wanted.len() - 2);
        assert!(answer.contains("The dentist is on Friday"), "{answer}");
        assert_eq!(answer.starts_with("Sorry, I was away.\n\n"), is_late, "{at}: {answer}");
    }
    rig.wait_said(3000, 5).await;
    rig.wait_done(wanted.len() + 2).await;
    drop(running);
    let said = rig.said(3000);
    assert_eq!(said[2..4], ["hour 11 in the thread", "hour 23 in the thread"]);
    assert_eq!(said.len(), 5, "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn final_refusals_are_one_clear_sentence_each() {
    let mut rig = Rig::new().await;
    rig.token = Some("wrong".into());
    assert_eq!(rig.start().end().await, Err(DiscordError::WrongToken));
    rig.token = None;
    rig.fake.world().channel_mut(CHANNEL).access = Access::Hidden;
    rig.start().is_degraded(&[DiscordError::MissingPermission(CHANNEL)]).await;
    rig.fake.world().ws_url = "wss://gateway.discord.gg".into();
    let end = rig.start().end().await;
    assert!(matches!(end, Err(DiscordError::BadGateway(..))), "a foreign gateway was accepted: {end:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_stops_at_once_even_before_a_first_connection_and_comes_back_after_an_outage() {
    let mut rig = Rig::new().await;
    rig.times.stall = Duration::from_millis(1500);
    rig.fake.gateway(GatewayFault::Outage);
    let running = rig.start();
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(running);
    rig.fake.fault("GET", "/gateway", Fault::Status(500, json!({})), 1);
    let _running = rig.start();
    tokio::time::sleep(Duration::from_millis(500)).await;
    rig.fake.heal();
    rig.fake.connected().await;
    rig.wait("history read", || rig.rounds() > 0).await;
    rig.say("back");
    rig.wait_said(CHANNEL, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_people_reply_to_before_it_is_read_is_answered() {
    let (rig, running) = Rig::running().await;
    let dm = rig.fake.world().dm(ALICE);
    // Without a place in its history, a channel is read from the start of the program.
    rig.wait("the direct messages read", || rig.has_cursor(dm)).await;
    running.crash().await;
    let hurry = |channel, author, to: u64| rig.reply(channel, author, &to, "hurry, please");
    let questions = [ALICE, MALLORY].map(|author| {
        let question = rig.ask("the dentist?");
        hurry(CHANNEL, author, question);
        question
    });
    let asked = rig.fake.say(dm, ALICE, "the dentist?");
    let again = hurry(dm, ALICE, asked);
    let _running = rig.run().await;
    rig.wait_done(4).await;
    for question in questions.into_iter().chain([asked, again]) {
        assert_eq!(rig.turn_journal().turn(question).unwrap().unwrap().state, TurnState::Done);
    }
    assert_eq!(rig.answers().len(), 2);
}
