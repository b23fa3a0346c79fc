//! The real binary as a daemon: it answers, it survives being killed while people talk, and it goes on without Discord.

use crate::deliver::world::line;
use crate::discord::rig::*;

async fn rig() -> Rig {
    let rig = Rig::new().await;
    rig.set("");
    rig.write("MEMORY.md", "## Health\n- The dentist is on Friday at ten\n");
    rig
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_daemon_answers_commands_and_questions_and_runs_a_routine() {
    let rig = rig().await;
    let note = "---\nschedule: daily 08:00\nenabled: false\nscope: channel:2000\n---\nWhat is due?\n";
    rig.write("routines/morning.md", note);
    let block = "---\nid: c-2026-12-01-001\nstatus: pending\n---\nAsk how the interview went.\n";
    rig.write("COMMITMENTS.md", block);
    let _daemon = rig.reading_daemon().await;
    let said = |words: &str| rig.said(CHANNEL).iter().any(|said| said.contains(words));
    rig.command("remind", &[("when", "2031-01-01 09:00"), ("what", "Call Mum")]).await;
    let status = rig.command("status", &[]).await;
    contains_all(&status, &["Running since ", "Wed 1 Jan 2031 09:00: Call Mum"]);
    assert!(!status.contains("Z, "), "a time for people: {status}");
    rig.ask("when is the dentist?");
    rig.wait("an answer from the notes", || said("Friday at ten")).await;
    assert_eq!(rig.command("routine", &[("action", "list")]).await, "- `morning` (daily 08:00): off");
    let routine = async |action, name| rig.command("routine", &[("action", action), ("name", name)]).await;
    assert_eq!(routine("enable", "morning").await, "`morning` is enabled.");
    assert_eq!(rig.text("routines/morning.md"), note.replace("enabled: false", "enabled: true"));
    contains_all(routine("run", "nightly").await, &["no routine has the name `nightly`"]);
    assert!(routine("run", "morning").await.starts_with("`morning` is running"));
    rig.wait("the routine's answer", || said("Ask how the interview went.")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_while_people_talk_the_log_holds_each_message_once() {
    let rig = rig().await;
    let mut wanted: Vec<String> = vec![];
    for round in 0..8u64 {
        let daemon = rig.daemon();
        rig.fake.connected().await;
        for n in 0..25 {
            rig.says(&mut wanted, format!("round {round} message {n}"));
            tokio::time::sleep(Duration::from_millis(3 + (round * 7 + n) % 11)).await;
        }
        rig.wait_said(CHANNEL, 1).await;
        drop(daemon);
        rig.fake.until("the session's end", |w| w.sessions.values().all(|s| s.tx.is_none())).await;
    }
    let daemon = rig.daemon();
    let first = rig.said(CHANNEL).remove(0);
    rig.is_said(CHANNEL, &wanted[wanted.iter().position(|text| *text == first).unwrap()..]).await;
    drop(daemon);
}

/// The exit code and the words of `doctor`.
fn doctor(rig: &Rig, token: &str) -> (Option<i32>, String) {
    let mut command = rig.program(&["doctor"]);
    let command = command.env("DISCORD_TOKEN", token).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_discord_is_one_sentence_in_doctor() {
    let rig = rig().await;
    let text = rig.text("vault-agent.toml").replace("kind = \"discord\"", "kind = \"console\"");
    rig.write("vault-agent.toml", &text);
    let token = rig.fake.world().token.clone();
    let (_, fine) = doctor(&rig, &token);
    let words = ["Discord knows the bot as `vault`", "the bound channel `assistant` can be read and written"];
    contains_all(&fine, &words);
    for line in fine.lines().filter(|line| line.contains("discord")) {
        assert_eq!(fine.matches(line).count(), 1, "{line}");
    }
    rig.fake.world().channel_mut(CHANNEL).access = Access::NoHistory;
    let wrong =
        text.replace("guild_id = 1000", "guild_id = 1001").replace("owner_ids = [42]", "owner_ids = []");
    rig.write("vault-agent.toml", wrong);
    let (_, wrong) = doctor(&rig, &token);
    assert_eq!(wrong.matches("FAIL discord").count(), 3, "{wrong}");
    contains_all(&wrong, &["set it to 1000", "owner_ids"]);
    rig.write("vault-agent.toml", text);
    rig.fake.world().message_content_enabled = false;
    rig.fake.world().channel_mut(CHANNEL).access = Access::Hidden;
    let (code, wrong) = doctor(&rig, &token);
    assert_eq!(code, Some(1));
    contains_all(&wrong, &["Message Content Intent", "Read Message History"]);
    let (_, wrong) = doctor(&rig, "another-token");
    assert!(wrong.contains("Reset Token") && !wrong.contains("another-token"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_wrong_token_the_daemon_goes_on_with_the_console() {
    let rig = rig().await;
    let soon = jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::get("Europe/London").unwrap());
    rig.write("Reminders.md", line(&soon.date().to_string(), "00:00", "none", "still told", "AAAAAAAAAAAA"));
    let (out, mut command) = (rig.said_file(), rig.program(&["run"]));
    command.env("DISCORD_TOKEN", "wrong").stdout(fs::File::create(&out).unwrap());
    let daemon = Killed(command.spawn().unwrap());
    for (file, words) in [(out, "still told"), (rig.state().join("status.json"), "Reset Token")] {
        rig.wait(words, || fs::read_to_string(&file).is_ok_and(|text| text.contains(words))).await;
    }
    drop(daemon);
    assert!(rig.fake.world().identifies <= 2, "a wrong token must not be tried over and over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_settings_log_no_message_twice() {
    let rig = rig().await;
    let _daemon = rig.reading_daemon().await;
    // Only history has it, and the page comes when the next bot has read it, too.
    rig.fake.gateway(GatewayFault::Lose);
    rig.say("heard late");
    rig.fake.fault("GET", "/channels/2000/messages", Fault::Slow(Duration::from_secs(4)), 1);
    let pages = || rig.fake.requests("GET", "/channels/2000/messages").len();
    let before = pages();
    rig.fake.gateway(GatewayFault::Reconnect);
    rig.wait("the first page", || pages() > before).await;
    rig.write("vault-agent.toml", rig.text("vault-agent.toml") + "thread_idle_days = 3\n");
    rig.wait("the next bot", || rig.said(CHANNEL) == ["heard late"]).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(rig.said(CHANNEL), ["heard late"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_settings_lose_nothing_that_the_log_alone_holds() {
    let rig = Rig::new().await;
    rig.set(&rig.brains(&[("one", "chat")]));
    rig.server.script(vec![Reply::text("Bad words.").after(Duration::from_secs(2))]);
    let _daemon = rig.reading_daemon().await;
    rig.ask("well?");
    rig.server.wait_for(1).await;
    // History is read when the answer is refused, and the settings change meanwhile.
    rig.fake.fault("POST", "/channels/2000/messages", Fault::refuse(404, 10_003, "Unknown Channel"), 9);
    rig.fake.fault("GET", "/channels/2000/messages", Fault::Slow(Duration::from_secs(20)), 1);
    rig.fake.gateway(GatewayFault::Reconnect);
    rig.wait("the refusal", || !rig.posts().is_empty()).await;
    let noted = || rig.noted("This answer could not be shown:\nBad words.");
    assert_eq!(noted(), 0, "it came too early to prove anything");
    rig.write("vault-agent.toml", rig.text("vault-agent.toml") + "thread_idle_days = 3\n");
    rig.wait("its text", || noted() == 1).await;
}
