//! The notifier, in every case that is known to go wrong; and every notification arrives exactly once, though the pass is
//! killed at each of its steps, and the real binary at random.

use crate::discord::rig::*;
use secrecy::SecretString;
use vault_agent::deliver::{
    MessageKind, MessageLookup, MessageScope, Notifier, OutgoingMessage, PassMode, SendOutcome,
    notifier::nonce,
};
use vault_agent::discord::{DiscordApi, WebhookNotifier};
use vault_agent::schedule::DigestRule;

use super::fake::Scope as Limit;
use super::traps::{AROUND, SENDING, Traps};
use crate::deliver::world::{World, fact, line, message};

fn notification(number: u32, text: &str) -> OutgoingMessage {
    let (kind, id) = (MessageKind::Reminder, format!("rid_AAAAAAAAA{number:03}"));
    let facts = vec![fact(kind, &id, "2026-12-01T09:30", text)];
    OutgoingMessage { facts, ..message(kind, &format!("{id}@2026-12-01T09:30"), text) }
}

async fn fake_and_bot() -> (FakeDiscord, BotNotifier) {
    let fake = FakeDiscord::start().await;
    let token = SecretString::from(fake.world().token.clone());
    let api = DiscordApi::new(Some(&token), Some(&fake.api_base())).unwrap();
    (fake, BotNotifier::new(api, Some(CHANNEL), vec![ALICE]))
}

fn sent(outcome: &SendOutcome) -> bool {
    matches!(outcome, SendOutcome::Sent { .. })
}

/// Insists that a message is refused, with these words.
async fn is_refused(by: &dyn Notifier, message: &OutgoingMessage, words: &str) {
    let outcome = by.send(message).await;
    let SendOutcome::Refused { reason } = outcome else { panic!("{words}: {outcome:?}") };
    contains_all(reason, &[words]);
}

#[tokio::test]
async fn what_may_have_arrived_is_unknown_and_the_second_attempt_makes_no_second_message() {
    let (fake, bot) = fake_and_bot().await;
    let oops = Fault::StatusAfter(500, json!({ "message": "oops", "code": 0 }));
    let faults =
        [Fault::LoseAnswer, Fault::StatusAfter(502, json!({})), oops, Fault::Garbage, Fault::OddJson];
    for (number, fault) in (0u32..).zip(faults) {
        let message = notification(number, &format!("reminder {number}"));
        fake.fault("POST", "/messages", fault.clone(), 1);
        let first = bot.send(&message).await;
        assert!(matches!(first, SendOutcome::Unknown { .. }), "{fault:?}: {first:?}");
        assert!(sent(&bot.send(&message).await), "{fault:?}");
        assert_eq!(fake.messages(CHANNEL).len(), number as usize + 1, "{fault:?}");
    }
}

#[tokio::test]
async fn what_surely_did_not_arrive_is_tried_again_or_refused_with_words() {
    let (fake, bot) = fake_and_bot().await;
    let message = notification(1, "hello");
    for (limit, after) in [(Limit::User, 1.5), (Limit::Global, 0.25), (Limit::Shared, 3.0)] {
        fake.fault("POST", "/messages", Fault::RateLimited { scope: limit, retry_after: after }, 1);
        let outcome = bot.send(&message).await;
        let SendOutcome::Retry { after: Some(wait), .. } = outcome else { panic!("{limit:?}: {outcome:?}") };
        assert_eq!(wait, Duration::from_secs_f64(after));
    }
    fake.fault("POST", "/messages", Fault::DropRequest, 1);
    let outcome = bot.send(&message).await;
    assert!(matches!(outcome, SendOutcome::Unknown { .. } | SendOutcome::Retry { .. }), "{outcome:?}");
    for (access, word) in [
        (Access::Missing, "channel_id"),
        (Access::Hidden, "View Channel"),
        (Access::NoSend, "Send Messages"),
        (Access::DmRefused, "direct messages"),
    ] {
        fake.world().channel_mut(CHANNEL).access = access;
        is_refused(&bot, &message, word).await;
    }
    fake.world().channel_mut(CHANNEL).access = Access::Full;
    fake.world().add_thread(3000, CHANNEL, "t", false);
    fake.world().channel_mut(3000).locked = true;
    let mut threaded = notification(2, "in a thread");
    threaded.scope = Some(MessageScope::Thread(3000));
    is_refused(&bot, &threaded, "locked").await;
    fake.world().channel_mut(3000).locked = false;
    fake.world().channel_mut(3000).archived = true;
    assert!(sent(&bot.send(&threaded).await), "posting unarchives");
    assert!(fake.messages(CHANNEL).is_empty());
    fake.world().token = "another".into();
    is_refused(&bot, &message, "Reset Token").await;
    // Nobody listens there.
    let gone = { FakeDiscord::start().await.api_base() };
    tokio::time::sleep(Duration::from_millis(50)).await;
    let api = DiscordApi::new(Some(&SecretString::from("t")), Some(&gone)).unwrap();
    let outcome = BotNotifier::new(api, Some(1), vec![]).send(&notification(1, "x")).await;
    let SendOutcome::Retry { reason, .. } = outcome else { panic!("{outcome:?}") };
    assert!(!reason.contains("127.0.0.1"), "an address may be a secret: {reason}");
}

#[tokio::test]
async fn the_look_back_finds_its_own_message_and_no_other_with_the_same_words() {
    for nonces in [true, false] {
        let (fake, bot) = fake_and_bot().await;
        fake.world().nonce_in_history = nonces;
        let (ours, twin) = (notification(1, "take the pill"), notification(2, "take the pill"));
        let since = Timestamp::now();
        assert!(sent(&bot.send(&twin).await));
        for n in 0..250 {
            fake.say(CHANNEL, ALICE, &format!("chatter {n}"));
        }
        fake.say(CHANNEL, ALICE, "take the pill");
        let found = bot.find(&ours, since, &|_| true).await;
        assert_eq!(found, MessageLookup::NotFound, "nonces in history: {nonces}");
        assert!(sent(&bot.send(&ours).await));
        assert!(matches!(bot.find(&ours, since, &|_| true).await, MessageLookup::Found { .. }));
        let mut plain = notification(3, "a digest");
        plain.kind = MessageKind::Digest;
        assert!(sent(&bot.send(&plain).await));
        assert!(matches!(bot.find(&plain, since, &|_| true).await, MessageLookup::Found { .. }));
        let later = Timestamp::now() + SignedDuration::from_mins(10);
        assert_eq!(bot.find(&plain, later, &|_| true).await, MessageLookup::NotFound);
        fake.fault("GET", "/messages", Fault::Garbage, 1);
        let found = bot.find(&plain, since, &|_| true).await;
        assert!(matches!(found, MessageLookup::Later { .. }), "an odd page proves nothing");
    }
}

#[tokio::test]
async fn a_scope_names_the_place_and_nobody_else_is_pinged() {
    let (fake, bot) = fake_and_bot().await;
    let mut message = notification(1, "<@42> @everyone @here <@&600> <@&601> <@66>");
    message.scope = Some(MessageScope::User(ALICE));
    assert!(sent(&bot.send(&message).await));
    let dm = fake.world().dm(ALICE);
    assert_eq!(fake.messages(dm).len(), 1);
    assert_eq!(fake.world().pings, ["42"]);
    let body = &fake.requests("POST", "/messages")[0].body;
    assert_eq!(body["enforce_nonce"], json!(true));
    assert_eq!(body["nonce"].as_str().unwrap().len(), 25);
    // The DM channel is asked for once.
    message.nonce = nonce(MessageKind::Reminder, "other", 0, 0);
    assert!(sent(&bot.send(&message).await));
    assert_eq!(fake.requests("POST", "/users/@me/channels").len(), 1);
}

#[tokio::test]
async fn a_webhook_alone_sends_and_can_not_be_asked() {
    let fake = FakeDiscord::start().await;
    let address = SecretString::from("https://discord.com/api/webhooks/700/webhook-token");
    let webhook = WebhookNotifier::new(&address, Some(&fake.api_base()), vec![ALICE]).unwrap();
    let message = notification(1, "hello @everyone");
    assert!(sent(&webhook.send(&message).await));
    assert_eq!(fake.world().pings, Vec::<String>::new());
    assert_eq!(webhook.find(&message, Timestamp::now(), &|_| true).await, MessageLookup::NotFound);
    fake.fault("POST", "/webhooks", Fault::LoseAnswer, 1);
    assert!(matches!(webhook.send(&message).await, SendOutcome::Unknown { .. }));
    let address = SecretString::from("https://discord.com/api/webhooks/700/another");
    let webhook = WebhookNotifier::new(&address, Some(&fake.api_base()), vec![]).unwrap();
    let SendOutcome::Refused { reason } = webhook.send(&message).await else { panic!("refused") };
    assert!(reason.contains("Copy Webhook URL") && !reason.contains("another"), "{reason}");
    assert!(!format!("{webhook:?}").contains("another"));
}

#[tokio::test]
async fn with_the_rate_limiter_on_a_429_is_waited_for_with_the_same_nonce() {
    let mut fake = FakeDiscord::start().await;
    let address = fake.start_tls().await;
    let token = SecretString::from(fake.world().token.clone());
    let client = super::fake::tls::client(address);
    let api = DiscordApi::with(Some(&token), client.clone(), client, None);
    let bot = BotNotifier::new(api, Some(CHANNEL), vec![]);
    for (number, limit) in (0u32..).zip([Limit::User, Limit::Global, Limit::Shared]) {
        fake.fault("POST", "/messages", Fault::RateLimited { scope: limit, retry_after: 1.0 }, 1);
        let begun = Instant::now();
        assert!(sent(&bot.send(&notification(number, "hello")).await), "{limit:?}");
        assert!(begun.elapsed() >= Duration::from_secs(1), "{limit:?}: {:?}", begun.elapsed());
    }
    // 5xx comes back at once, unknown.
    fake.fault("POST", "/messages", Fault::StatusAfter(500, json!({})), 1);
    let message = notification(20, "hello");
    assert!(matches!(bot.send(&message).await, SendOutcome::Unknown { .. }));
    assert!(sent(&bot.send(&message).await));
    assert_eq!(fake.messages(CHANNEL).len(), 3 + 1);
}

/// So many reminders a round.
const COUNT: usize = 40;

/// And so many rounds with the real binary.
const ROUNDS: usize = 8;

fn write_reminders(rig: &Rig, numbers: std::ops::Range<usize>, time: &str) {
    let line = |n| line("2026-12-01", time, "none", &format!("number {n:03}."), &id(n));
    rig.write("Reminders.md", numbers.map(line).collect::<String>());
}

fn id(n: usize) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    (0..12).map(|at| char::from(letters[(n >> (5 * at)) & 31])).collect()
}

/// How often each number was told, over all messages.
fn told(fake: &FakeDiscord, count: usize) -> Vec<usize> {
    let all = fake.texts(CHANNEL).join("\n");
    (0..count).map(|n| all.matches(&format!("number {n:03}.")).count()).collect()
}

/// One pass in a thread of its own, which may die of a failpoint.
async fn one_pass(rig: &Rig, now: Timestamp) -> Result<(), String> {
    let (notifier, root, at) = (rig.notifier(), rig.dir().to_owned(), now.to_string());
    let thread = std::thread::Builder::new().name(rig.thread_name()).spawn(move || {
        let mut world = World::of(root, &at);
        world.notifier = Some(Arc::new(notifier));
        world.settings.digest = DigestRule { over: 3, after: SignedDuration::from_hours(24) };
        world.try_pass(PassMode::Tick).map(drop).map_err(|error| error.to_string())
    });
    let joined = tokio::task::spawn_blocking(move || thread.unwrap().join()).await.unwrap();
    joined.map_err(|_| "a crash".to_owned())?
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_each_step_every_notification_arrives_exactly_once() {
    // Within Discord's window the nonce protects; after it, the look-back.
    for window in [Duration::from_secs(3600), Duration::ZERO] {
        for point in AROUND.iter().chain(&SENDING) {
            let rig = Rig::new().await;
            let traps = Traps::set(&rig);
            rig.fake.world().nonce_window = window;
            rig.fake.world().nonce_in_history = point.len() % 2 == 0;
            write_reminders(&rig, 0..COUNT, "09:30");
            let (mut now, mut crashes): (Timestamp, _) = ("2026-12-01T09:30:00Z".parse().unwrap(), 0);
            loop {
                rig.fake.world().set_now(now);
                // Now and then the network fails too.
                if crashes % 3 == 1 {
                    rig.fake.fault("POST", "/messages", Fault::LoseAnswer, 1);
                    rig.fake.fault("POST", "/messages", Fault::StatusAfter(503, json!({})), 1);
                }
                let calls = 3 + crashes % 7;
                match crashes < 8 {
                    true => traps.arm(point, calls),
                    false => traps.disarm(),
                }
                let result = one_pass(&rig, now).await;
                crashes += 1;
                // A zero window stands for "after the window": then so much time has passed too.
                now += SignedDuration::from_secs(if window.is_zero() { 150 } else { 20 });
                let left = rig.text("Reminders.md");
                if result.is_ok() && crashes > 8 && left.is_empty() {
                    break;
                }
                assert!(crashes < 60, "{point}: it never ends; left:\n{left}");
            }
            assert_eq!(told(&rig.fake, COUNT), vec![1; COUNT], "{point}, window {window:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_binary_killed_at_random_tells_each_of_hundreds_exactly_once() {
    let rig = Rig::new().await;
    rig.set("");
    // Slow enough that a kill falls between a request and its answer.
    rig.fake.fault("POST", "/messages", Fault::Slow(Duration::from_millis(3)), usize::MAX);
    let mut random = Rng::with_seed(7);
    let (mut kills, begun) = (0, Instant::now());
    for round in 0..ROUNDS {
        write_reminders(&rig, round * COUNT..(round + 1) * COUNT, &format!("{:02}:30", 9 + round));
        let mut now: Timestamp = format!("2026-12-01T{:02}:30:00Z", 9 + round).parse().unwrap();
        let mut left_to_kill = 6;
        loop {
            rig.fake.world().set_now(now);
            let before = rig.posts().len();
            // Killed after a random number of requests and a random moment more, so that every step is hit.
            let (requests, moment) = (random.usize(..10), Duration::from_micros(random.u64(..9000)));
            let mut child = rig.program(&["tick", "--json", "--now", &now.to_string()]).spawn().unwrap();
            let end = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break Some(status);
                }
                if left_to_kill > 0 && rig.posts().len() >= before + requests {
                    tokio::time::sleep(moment).await;
                    child.kill().unwrap();
                    child.wait().unwrap();
                    (kills, left_to_kill) = (kills + 1, left_to_kill - 1);
                    break None;
                }
                tokio::time::sleep(Duration::from_micros(300)).await;
                assert!(begun.elapsed() < Duration::from_secs(400), "it never ends");
            };
            // Now and then so late that the nonce is no longer known, and the channel is read instead.
            let late = random.u64(..3) == 0;
            if late {
                rig.fake.world().nonces.clear();
            }
            now += SignedDuration::from_secs(if late { 125 } else { 5 });
            let left = rig.text("Reminders.md");
            if end.is_some() && left.is_empty() {
                break;
            }
        }
    }
    assert_eq!(told(&rig.fake, ROUNDS * COUNT), vec![1; ROUNDS * COUNT]);
    assert!(kills > ROUNDS, "{kills} kills are no proof");
}
