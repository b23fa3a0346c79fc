//! What was said, edited, deleted or hung on a message while nobody looked stands in the log as everything else does.

use crate::discord::rig::*;
use vault_agent::config::KeepAttachments;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_history_that_fails_lets_nothing_in_front_of_it() {
    let rig = Rig::new().await;
    rig.run().await.crash().await;
    let mut wanted = vec![];
    (0..250).for_each(|n| rig.says(&mut wanted, format!("away {n}")));
    // One page is read, the next fails in three ways; meanwhile people go on talking.
    let none = Fault::Slow(Duration::ZERO);
    for fault in [none, Fault::Garbage, Fault::DropRequest, Fault::Status(500, json!({}))] {
        rig.fake.fault("GET", "/channels/2000/messages", fault, 1);
    }
    let _running = rig.connect().await;
    for n in 0..40 {
        rig.says(&mut wanted, format!("live {n}"));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    rig.is_said(CHANNEL, &wanted).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_that_is_refused_for_good_holds_nothing_up() {
    let rig = Rig::new().await;
    rig.fake.fault("GET", "/messages", Fault::refuse(403, 50001, "Missing Access"), 1000);
    let _running = rig.connect().await;
    rig.wait("a try", || rig.rounds() > 0).await;
    rig.say("heard all the same");
    rig.wait_said(CHANNEL, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_and_deletions_of_an_absence_are_shown_once() {
    let (rig, running) = Rig::running().await;
    let ids: Vec<u64> = (0..40).map(|n| rig.say(&format!("m{n}"))).collect();
    rig.wait_said(CHANNEL, 40).await;
    // One that was seen, and must not be shown again.
    rig.fake.edit(CHANNEL, ids[0], "seen");
    rig.wait("an edit", || rig.noted("edited ") == 1).await;
    running.crash().await;
    for (n, id) in ids.iter().enumerate().take(25).skip(10) {
        rig.fake.edit(CHANNEL, *id, &format!("m{n}, but better"));
    }
    ids[25..35].iter().for_each(|id| rig.fake.delete(CHANNEL, *id));
    for _ in 0..3 {
        let running = rig.run().await;
        rig.wait("the edits", || rig.noted("edited ") >= 16 && rig.noted("deleted ") >= 10).await;
        rig.say("on");
        rig.wait_said(CHANNEL, rig.said(CHANNEL).len().max(41)).await;
        running.crash().await;
    }
    assert_eq!((rig.noted("edited "), rig.noted("deleted ")), (16, 10));
    assert!(rig.contents(CHANNEL).iter().any(|content| content.ends_with("]]:\nm24, but better")));
    // A bot that may not read history gets empty pages: nothing was deleted.
    rig.fake.world().channel_mut(CHANNEL).access = Access::NoHistory;
    let asked = || rig.fake.requests("GET", "/channels/2000/messages/").len();
    let before = asked();
    let running = rig.start();
    rig.wait("a look at one message", || asked() > before).await;
    rig.say("end");
    rig.wait("the end", || rig.said(CHANNEL).last().is_some_and(|said| said == "end")).await;
    drop(running);
    assert_eq!(rig.noted("deleted "), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_event_can_be_read_of_is_fetched_at_once_and_in_its_place() {
    let (rig, _running) = Rig::running().await;
    // The sweep comes every ten minutes only.
    rig.fake.gateway(GatewayFault::Malform);
    let (first, last) = (rig.say("first"), rig.say("last"));
    rig.is_said(CHANNEL, &["first", "last"]).await;
    rig.fake.gateway(GatewayFault::Malform);
    rig.fake.edit(CHANNEL, first, "changed");
    rig.wait("the edit", || rig.noted("edited ") == 1).await;
    rig.fake.gateway(GatewayFault::Lose);
    rig.fake.delete(CHANNEL, last);
    rig.fake.gateway(GatewayFault::Invalid(false));
    rig.wait("the deletion", || rig.noted("deleted ") == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_that_came_and_went_in_an_absence_are_read() {
    let (rig, clock) = Rig::clocked().await;
    let running = rig.run().await;
    rig.say("before");
    rig.wait_said(CHANNEL, 1).await;
    running.crash().await;
    let advance = |hours| rig.advance(&clock, SignedDuration::from_hours(hours));
    advance(1);
    let mut threads = vec![];
    for n in 0..3 {
        let id = { rig.fake.world().snowflake() };
        rig.fake.world().add_thread(id, CHANNEL, &format!("thread {n}"), true);
        let _ = ["one", "two"].map(|text| rig.fake.say(id, ALICE, &format!("{n} {text}")));
        rig.fake.world().archive(id);
        threads.push(id);
        advance(1);
    }
    // Three days, longer than a thread counts as young.
    advance(72);
    let _running = rig.run().await;
    for (n, id) in threads.into_iter().enumerate() {
        rig.is_said(id, &[format!("{n} one"), format!("{n} two")]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_without_text_is_no_empty_turn() {
    let rig = Rig::new().await;
    rig.fake.world().users.insert(77, "Builder".into());
    rig.fake.world().bots.insert(77);
    let snapshot = json!({ "type": 0, "content": "said elsewhere", "mentions": [], "mention_roles": [],
        "attachments": [], "embeds": [], "timestamp": "2026-11-20T10:00:00.000000+00:00",
        "edited_timestamp": null, "flags": 0, "components": [] });
    let forward = json!({ "content": "", "message_snapshots": [{ "message": snapshot }],
        "message_reference": { "type": 1, "message_id": "5", "channel_id": "9", "guild_id": "1000" } });
    let card = json!({ "content": "", "embeds": [{ "type": "rich", "title": "Build 7", "description": "It failed" }] });
    // serenity 0.12.5 can't decode components of the second version.
    let layout = json!({ "content": "", "components": [{ "type": 17, "accent_color": null, "spoiler": false,
        "components": [{ "type": 10, "content": "Deployed" }] }] });
    // One without any word is looked up, and logged.
    let nothing = json!({ "content": "" });
    let wanted = ["Forwarded:\n> said elsewhere", "", "Build 7\nIt failed", "Deployed"];
    let all = [(ALICE, &forward), (ALICE, &nothing), (77, &card), (77, &layout)];
    let say = || all.map(|(author, body)| rig.fake.post(CHANNEL, author, body.clone()));
    let running = rig.run().await;
    say();
    rig.is_said(CHANNEL, &wanted).await;
    running.crash().await;
    say();
    let _running = rig.run().await;
    // From history.
    rig.is_said(CHANNEL, &[wanted, wanted].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_kept_beside_the_log_where_that_is_asked_for() {
    let mut rig = Rig::new().await;
    rig.settings.keep_attachments = KeepAttachments::Files;
    rig.settings.max_attachment_bytes = 1000;
    let base = rig.fake.api_base();
    let file = |id: &str, name: &str, size: u64| {
        json!({ "id": id, "filename": name, "size": size, "content_type": "text/plain",
            "url": format!("{base}/attachments/{id}"), "proxy_url": format!("{base}/attachments/{id}") })
    };
    for (id, size) in [("1", 3), ("2", 3), ("3", 5000), ("4", 5000)] {
        rig.fake.world().files.insert(id.into(), vec![b'x'; size]);
    }
    let _running = rig.run().await;
    let files = [
        file("1", "list.txt", 3),
        file("2", "../../../escape.md", 3),
        file("3", "large.txt", 5000),
        file("4", "liar.txt", 10),
        file("5", "gone.txt", 3),
        json!({ "id": "6", "filename": "foreign.txt", "size": 3, "url": "https://example.com/x",
            "proxy_url": "https://example.com/x" }),
    ];
    let id = rig.fake.post(CHANNEL, ALICE, json!({ "content": "see", "attachments": files }));
    rig.wait("the files", || rig.events(CHANNEL).len() >= 2).await;
    let about = rig.contents(CHANNEL).remove(1);
    let lines: Vec<&str> = about.lines().collect();
    let folder = format!("logs/discord-channel/{CHANNEL}/files");
    assert_eq!(lines[0], format!("attached [[{folder}/{id}-1-list.txt|list.txt]] (text/plain, 3 bytes)"));
    assert!(lines[1].starts_with(&format!("attached [[{folder}/{id}-2-")), "{about}");
    lines[2..].iter().for_each(|line| contains_all(line, &["](<http"]));
    let kept = names_in(rig.path(&folder));
    assert_eq!(kept, [format!("{id}-1-list.txt"), format!("{id}-2-_.._.._escape.md.txt")]);
    assert_eq!(fs::read(rig.path(&folder).join(&kept[0])).unwrap(), b"xxx");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_that_could_not_be_looked_up_is_read_soon() {
    let rig = Rig::new().await;
    let dm = rig.fake.world().dm(ALICE);
    let oops = || Fault::Status(500, json!({}));
    rig.fake.fault("POST", "/users/@me/channels", oops(), 1);
    let _running = rig.run().await;
    rig.fake.fault("GET", &format!("/channels/{dm}"), oops(), 1);
    rig.fake.say(dm, ALICE, "the dentist?");
    // The sweep comes every ten minutes only.
    rig.wait_done(1).await;
}
