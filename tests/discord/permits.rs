//! What the bot may and may not do: it goes on with what it may, and says the rest in one sentence each.

use crate::discord::rig::*;

async fn until(running: &Running, wanted: GatewayStatus) {
    let mut status = running.status.clone();
    let seen = tokio::time::timeout(LONG, status.wait_for(|status| *status == wanted)).await;
    let now = running.status.borrow().clone();
    assert!(seen.is_ok_and(|seen| seen.is_ok()), "wanted {wanted:?}, is {now:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_intent_commands_work_and_once_it_is_on_messages_do() {
    let mut rig = Rig::new().await;
    rig.times.stall = Duration::from_secs(6);
    let running = rig.run().await;
    rig.say("seen");
    rig.wait_said(CHANNEL, 1).await;
    running.crash().await;
    rig.fake.world().message_content_enabled = false;
    let running = rig.start();
    until(&running, GatewayStatus::Degraded(vec![DiscordError::MissingIntent])).await;
    assert_eq!(rig.fake.world().intents & (1 << 15), 0);
    let reply = rig.command("remember", &[("text", "works")]).await;
    assert!(reply.starts_with("Pinned:"), "{reply}");
    rig.say("unseen");
    let dm = { rig.fake.world().dm(ALICE) };
    rig.fake.say(dm, ALICE, "a direct one");
    rig.wait_said(dm, 1).await;
    assert_eq!(rig.said(CHANNEL), ["seen"], "nothing empty is logged");
    rig.fake.world().message_content_enabled = true;
    until(&running, GatewayStatus::Ready).await;
    rig.say("seen again");
    rig.wait_said(CHANNEL, 3).await;
    assert_eq!(rig.said(CHANNEL), ["seen", "unseen", "seen again"]);
    assert!(rig.events(CHANNEL).len() == 3, "no edit was made up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_missing_is_one_sentence_each_and_goes_once_it_is_mended() {
    let mut rig = Rig::new().await;
    rig.times.sweep = Duration::from_millis(300);
    rig.settings.guild_id = Some(1001);
    rig.settings.owner_ids = vec![];
    rig.fake.world().channel_mut(CHANNEL).access = Access::NoSend;
    let running = rig.start();
    let lacks = |permission| DiscordError::Lacks { channel: CHANNEL, permissions: vec![permission] };
    let server = DiscordError::WrongServer { set: 1001, real: 1000 };
    let problems = vec![server.clone(), lacks("Send Messages"), DiscordError::NoOwner];
    until(&running, GatewayStatus::Degraded(problems)).await;
    rig.fake.world().channel_mut(CHANNEL).access = Access::NoHistory;
    let problems = vec![server.clone(), lacks("Read Message History"), DiscordError::NoOwner];
    until(&running, GatewayStatus::Degraded(problems)).await;
    rig.fake.world().channel_mut(CHANNEL).access = Access::Full;
    until(&running, GatewayStatus::Degraded(vec![server, DiscordError::NoOwner])).await;
    // The threads of the bound channel are found in its own server.
    assert!(!rig.fake.requests("GET", "/guilds/1000/threads/active").is_empty());
}
