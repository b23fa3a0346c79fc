//! What the bot may and may not do: it goes on with what it may, and says the rest in one sentence each.

use crate::discord::rig::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_intent_commands_work_and_once_it_is_on_messages_do() {
    let (rig, running) = Rig::prepared(|rig| rig.times.stall = Duration::from_secs(6)).await;
    rig.say("seen");
    rig.wait_said(CHANNEL, 1).await;
    running.crash().await;
    rig.fake.world().message_content_enabled = false;
    let running = rig.start();
    running.is_degraded(&[DiscordError::MissingIntent]).await;
    assert_eq!(rig.fake.world().intents & (1 << 15), 0);
    let reply = rig.command("remember", &[("text", "works")]).await;
    assert!(reply.starts_with("Pinned:"), "{reply}");
    rig.say("unseen");
    let dm = { rig.fake.world().dm(ALICE) };
    rig.fake.say(dm, ALICE, "a direct one");
    rig.wait_said(dm, 1).await;
    assert_eq!(rig.said(CHANNEL), ["seen"], "nothing empty is logged");
    rig.fake.world().message_content_enabled = true;
    running.until(GatewayStatus::Ready).await;
    rig.say("seen again");
    rig.is_said(CHANNEL, &["seen", "unseen", "seen again"]).await;
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
    let server = DiscordError::WrongServer { set: 1001, real: 1000 };
    for (access, permission) in
        [(Access::NoSend, "Send Messages"), (Access::NoHistory, "Read Message History")]
    {
        rig.fake.world().channel_mut(CHANNEL).access = access;
        let lacks = DiscordError::Lacks { channel: CHANNEL, permissions: vec![permission] };
        running.is_degraded(&[server.clone(), lacks, DiscordError::NoOwner]).await;
    }
    rig.fake.world().channel_mut(CHANNEL).access = Access::Full;
    running.is_degraded(&[server, DiscordError::NoOwner]).await;
    // The threads of the bound channel are found in its own server.
    assert!(!rig.fake.requests("GET", "/guilds/1000/threads/active").is_empty());
}
