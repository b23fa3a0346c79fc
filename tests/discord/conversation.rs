//! What is said on Discord, and what becomes of it in the vault.

use crate::discord::rig::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_somebody_posts_is_masked_in_the_log_by_its_kind() {
    let (rig, _running) = Rig::running().await;
    let token = format!("ghp_{}", "0123456789abcdefghij".repeat(2));
    rig.say(&format!("the build needs {token}, doesn't it?"));
    rig.say("DB_PASSWORD=corr-ect works");
    rig.fake.world().add_thread(3000, CHANNEL, &format!("plans {token}"), true);
    rig.fake.say(3000, ALICE, "in the thread");
    rig.wait_said(CHANNEL, 2).await;
    rig.wait_said(3000, 1).await;
    assert!(rig.log_files().iter().all(|file| !fs::read_to_string(file).unwrap().contains(&token)));
    let events = rig.events(CHANNEL);
    assert_eq!(events[0].event.content, "the build needs [masked: github token], doesn't it?");
    assert_eq!(events[1].event.content, "DB_PASSWORD=[masked: password] works");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_stands_in_a_log_under_an_owner_s_name_or_the_bot_s() {
    let others: &[_] =
        &[(MALLORY, "ALICE.", "ALICE. (66)"), (67, "Vault", "Vault (67)"), (68, "Bert", "Bert")];
    // The second time the owners' names can't be asked for.
    for (people, failures) in [(others, 0), (&[(MALLORY, "Alice", "Alice (66)")], 1_000)] {
        let rig = Rig::new().await;
        rig.fake.world().users.extend(people.iter().map(|(id, name, _)| (*id, (*name).to_owned())));
        rig.fake.fault("GET", "/members/42", Fault::Status(500, json!({})), failures);
        let _running = rig.connect().await;
        for id in people.iter().map(|(id, ..)| *id).chain([ALICE]) {
            rig.fake.say(CHANNEL, id, "I live in Graz.");
        }
        rig.wait_said(CHANNEL, people.len() + 1).await;
        let authors: Vec<String> = rig.events(CHANNEL).into_iter().map(|block| block.event.author).collect();
        assert_eq!(authors, people.iter().map(|(.., logged)| *logged).chain(["Alice"]).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bot_answers_its_role_and_replies_but_no_stranger() {
    let (rig, _running) = Rig::running().await;
    rig.fake.say(CHANNEL, MALLORY, "<@500> tell me the dentist");
    rig.say("<@&601> not for the bot: dentist");
    rig.say("just talking about the dentist");
    rig.say("<@&600> dentist?");
    rig.wait_said(CHANNEL, 5).await;
    let answer = rig.fake.messages(CHANNEL).pop().unwrap();
    rig.reply(CHANNEL, ALICE, &answer["id"].as_str().unwrap(), "and the dentist's name?");
    rig.wait_said(CHANNEL, 7).await;
    let dm = { rig.fake.world().dm(MALLORY) };
    rig.fake.say(dm, MALLORY, "psst, dentist");
    rig.say("end");
    rig.wait_said(CHANNEL, 8).await;
    assert!(rig.said(dm).is_empty());
    assert_eq!(rig.events(CHANNEL).iter().filter(|b| b.event.kind == EventKind::Agent).count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anything_that_can_be_said_comes_back_from_the_log_byte_for_byte() {
    let (rig, _running) = Rig::running().await;
    let long = "x".repeat(4000);
    let texts = [
        "```rust\nlet x = 1;\n```",
        "---\nid: c-2026-01-01-001\n---",
        "> [!user] 2026-01-30T14:23:55Z Mallory\n> hi\n\n^01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "\u{200b}\u{202e}right to left\u{202c} \u{1f469}\u{200d}\u{1f680} e\u{301}",
        "trailing  \n\n\n  leading",
        "%% hidden %% <!-- comment",
        "שלום עולם مرحبا",
        &long,
        "\r\nold\rline ends\n",
    ];
    for text in texts {
        rig.say(text);
    }
    rig.is_said(CHANNEL, &texts).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_and_deletions_are_further_events_and_files_are_links() {
    let (rig, _running) = Rig::running().await;
    let file = json!({ "content": "see", "attachments": [{ "id": "1", "filename": "a b.png", "size": 12345,
        "url": "https://cdn.example/a.png", "proxy_url": "https://cdn.example/a.png", "content_type": "image/png" }] });
    let id = rig.fake.post(CHANNEL, ALICE, file);
    rig.wait_said(CHANNEL, 1).await;
    let before = rig.log_text(0);
    rig.fake.edit(CHANNEL, id, "saw");
    rig.wait("the edit", || rig.events(CHANNEL).len() >= 3).await;
    rig.fake.delete(CHANNEL, id);
    rig.wait("the deletion", || rig.events(CHANNEL).len() >= 4).await;
    assert!(rig.log_text(0).starts_with(&before), "the log was rewritten");
    let (events, block) = (rig.contents(CHANNEL), &rig.questions()[0]);
    assert_eq!(events[1], "attached [a b.png](<https://cdn.example/a.png>) (image/png, 12.3 kB)");
    assert!(events[2].starts_with("edited [[logs/discord-channel/2000/"), "{}", events[2]);
    assert!(events[2].ends_with(&format!("#^{block}]]:\nsaw")), "{}", events[2]);
    contains_all(&events[3], &["deleted [[logs/discord-channel/2000/"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bound_thread_needs_no_further_mention() {
    let (rig, running) = Rig::running().await;
    rig.fake.world().add_thread(3000, CHANNEL, "plans", true);
    // Not in the same millisecond.
    for (text, said) in [("unrelated dentist", 1), ("<@500> the dentist?", 3), ("and the dentist again", 5)] {
        rig.fake.say(3000, ALICE, text);
        rig.wait_said(3000, said).await;
    }
    // After a restart, too, what was said before the mention isn't answered.
    drop(running);
    let _running = rig.run().await;
    for (at, text) in [(5, "the dentist once more"), (7, "and the dentist's wife")] {
        rig.fake.say(3000, ALICE, text);
        rig.wait_said(3000, at + 2).await;
        assert_eq!(rig.said(3000)[at], text);
    }
    let file = rig.log_files().into_iter().find(|f| f.to_string_lossy().contains("discord-thread/3000"));
    contains_all(fs::read_to_string(file.unwrap()).unwrap(), &["title: plans"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_begins_with_the_message_that_it_was_made_on() {
    let (rig, _running) = Rig::scripted("chat", vec![Reply::text("Take the red one.")]).await;
    let about = rig.say("Shall I take the red or the blue bike? <@501>");
    rig.wait_said(CHANNEL, 1).await;
    rig.fake.world().add_thread(3000, CHANNEL, "bikes", true);
    let shown = rig.fake.messages(CHANNEL).pop().unwrap();
    let start = json!({ "type": 21, "content": "", "referenced_message": shown,
        "message_reference": { "message_id": about.to_string() } });
    rig.fake.post(3000, ALICE, start);
    rig.fake.say(3000, ALICE, "<@500> which?");
    rig.wait_said(3000, 3).await;
    assert_eq!(rig.said(3000)[0], "Shall I take the red or the blue bike? <@501>");
    assert!(rig.server.requests()[0].body.to_string().contains("red or the blue bike"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_lasts_as_long_as_the_answer_takes() {
    let slow = Reply::text("Well.").after(Duration::from_secs(9));
    let (rig, _running) = Rig::scripted("chat", vec![slow]).await;
    // The sign may fail; the loop goes on.
    rig.fake.fault("POST", "/typing", Fault::refuse(500, 0, "oops"), 1);
    let signs = || rig.fake.requests("POST", "/typing").len();
    rig.ask("think");
    rig.wait("typing", || signs() > 0).await;
    assert!(rig.said(CHANNEL).len() < 2, "it shows before the answer is there");
    rig.wait_said(CHANNEL, 2).await;
    let shown = signs();
    assert!(shown >= 2, "renewed {shown} times");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(signs(), shown);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_lost_malformed_doubled_and_swapped_leave_one_log_in_order() {
    let (rig, _running) = Rig::prepared(|rig| rig.times.sweep = Duration::from_millis(700)).await;
    let mut wanted = vec![];
    for round in 0..5 {
        for fault in [GatewayFault::Lose, GatewayFault::Malform, GatewayFault::Double, GatewayFault::Swap] {
            rig.fake.gateway(fault.clone());
            rig.says(&mut wanted, format!("{round} {fault:?}"));
        }
        rig.says(&mut wanted, format!("{round} end"));
    }
    rig.wait_said(CHANNEL, wanted.len()).await;
    // What stands after later messages says so, and nothing else does.
    let (mut newest, events) = (None, rig.events(CHANNEL));
    for (at, block) in events.iter().enumerate().filter(|(_, block)| block.event.kind == EventKind::User) {
        let place = wanted.iter().position(|text| *text == block.event.content);
        let is_late = place < newest;
        let next = events.get(at + 1).map(|next| next.event.content.contains("logged late"));
        assert_eq!(next.unwrap_or_default(), is_late, "{}", block.event.content);
        newest = newest.max(place);
    }
    let mut said = rig.said(CHANNEL);
    said.sort();
    wanted.sort();
    assert_eq!(said, wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_while_a_page_of_history_stumbles_stands_after_that_page() {
    let (rig, _running) = Rig::prepared(|rig| rig.times.sweep = Duration::from_millis(300)).await;
    let mut wanted = vec![];
    rig.says(&mut wanted, "first");
    rig.wait_said(CHANNEL, 1).await;
    {
        let mut world = rig.fake.world();
        for n in 0..130 {
            wanted.push(format!("lost {n}"));
            // No event tells of it.
            let message = world.message(CHANNEL, ALICE, &json!({ "content": wanted.last() }));
            let id = world.store(message, false);
            // Whichever of them begins the second page: that page can't be had at first.
            rig.fake.fault("GET", &format!("after={id}"), Fault::refuse(500, 0, "oops"), 9);
        }
    }
    let stumbled =
        || rig.fake.requests("GET", "/messages").iter().filter(|request| request.status == 500).count();
    rig.wait("a page that stumbles", || stumbled() > 0).await;
    rig.says(&mut wanted, "live");
    let before = stumbled();
    rig.wait("a page that stumbles again", || stumbled() > before).await;
    rig.fake.heal();
    rig.is_said(CHANNEL, &wanted).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapped_and_doubled_events_are_in_order() {
    // A busy machine may take longer than usual between two events that were swapped.
    let (rig, _running) = Rig::prepared(|rig| rig.times.gather = Duration::from_secs(2)).await;
    let mut wanted = vec![];
    for n in 0..20 {
        rig.fake.gateway(if n % 4 == 0 { GatewayFault::Swap } else { GatewayFault::Double });
        rig.says(&mut wanted, format!("message {n}"));
    }
    rig.says(&mut wanted, "end");
    rig.is_said(CHANNEL, &wanted).await;
}
