//! Every notification arrives exactly once: the pass is killed at each of its steps, and the real binary at random.

use super::fake::{FakeDiscord, Fault};
use super::rig::*;
use super::traps::{AROUND, SENDING, Traps};
use crate::deliver::world::World;
use crate::support::random::Random;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vault_agent::deliver::PassMode;
use vault_agent::discord::{BotNotifier, DiscordApi, Owners};
use vault_agent::schedule::DigestRule;

/// So many reminders a round.
const COUNT: usize = 40;

/// And so many rounds with the real binary.
const ROUNDS: usize = 8;

fn write_reminders(rig: &Rig, numbers: std::ops::Range<usize>, time: &str) {
    let lines: String = numbers
        .map(|n| {
            format!("- [ ] date=2026-12-01 time={time} recur=none msg=\"number {n:03}.\" id=rid_{}\n", id(n))
        })
        .collect();
    rig.write("Reminders.md", lines);
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
    let notifier = BotNotifier::new(rig.api(), Some(CHANNEL), Owners::new(&[ALICE]));
    let (root, at) = (rig.temp.path().to_owned(), now.to_string());
    let thread = std::thread::Builder::new().name(rig.thread_name()).spawn(move || {
        let mut world = World::of(root, &at);
        world.notifier = Some(Arc::new(notifier));
        world.settings.digest = DigestRule { over: 3, after: SignedDuration::from_hours(24) };
        world.try_pass(PassMode::Tick).map(drop).map_err(|error| error.to_string())
    });
    let thread = thread.unwrap();
    let joined = tokio::task::spawn_blocking(move || thread.join()).await.unwrap();
    joined.map_err(|_| "a crash".to_owned())?
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_each_step_every_notification_arrives_exactly_once() {
    // Within Discord's window the nonce protects; after it, the look-back.
    for window in [Duration::from_secs(3600), Duration::ZERO] {
        for point in AROUND.iter().chain(&SENDING) {
            let rig = Rig::new().await;
            let traps = Traps::set(&rig);
            let at: Timestamp = "2026-12-01T09:30:00Z".parse().unwrap();
            rig.fake.world().nonce_window = window;
            rig.fake.world().nonce_in_history = point.len() % 2 == 0;
            write_reminders(&rig, 0..COUNT, "09:30");
            let mut now = at;
            let mut crashes = 0;
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
                let step = if window.is_zero() { 150 } else { 20 };
                now += SignedDuration::from_secs(step);
                let left = rig.read("Reminders.md");
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
    let mut random = Random(7);
    let (mut kills, begun) = (0, Instant::now());
    for round in 0..ROUNDS {
        write_reminders(&rig, round * COUNT..(round + 1) * COUNT, &format!("{:02}:30", 9 + round));
        let mut now: Timestamp = format!("2026-12-01T{:02}:30:00Z", 9 + round).parse().unwrap();
        let mut left_to_kill = 6;
        loop {
            rig.fake.world().set_now(now);
            let before = rig.fake.requests("POST", "/messages").len();
            // Killed after a random number of requests and a random moment more, so that every step is hit.
            let (requests, moment) = (random.at(10), Duration::from_micros(random.below(9000)));
            let mut child = rig.program(&["tick", "--json", "--now", &now.to_string()]).spawn().unwrap();
            let end = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break Some(status);
                }
                if left_to_kill > 0 && rig.fake.requests("POST", "/messages").len() >= before + requests {
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
            let late = random.below(3) == 0;
            if late {
                rig.fake.world().nonces.clear();
            }
            now += SignedDuration::from_secs(if late { 125 } else { 5 });
            let left = rig.read("Reminders.md");
            if end.is_some() && left.is_empty() {
                break;
            }
        }
    }
    assert_eq!(told(&rig.fake, ROUNDS * COUNT), vec![1; ROUNDS * COUNT]);
    println!("{} reminders, {kills} kills: each told exactly once ({:?})", ROUNDS * COUNT, begun.elapsed());
    assert!(kills > ROUNDS, "{kills} kills are no proof");
}

#[test]
fn a_token_never_shows() {
    let token = SecretString::from("very-secret-token");
    let api = DiscordApi::new(Some(&token), None).unwrap();
    assert!(!format!("{api:?}").contains("secret"));
}
