//! How soon a due reminder is on the wire to Discord, and what a logged message costs as the log grows: the bot without an
//! account, against a Discord of our own on this machine.
//!
//! `cargo bench --bench discord -- conversation` holds a short conversation with it instead, and prints what the vault
//! holds afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

#[path = "../tests/support/discord/mod.rs"]
mod fake;
/// Where the rig looks for the fake, as among the tests.
mod discord {
    pub(crate) use crate::fake;
}
#[path = "../tests/support/models/mod.rs"]
mod models;
#[path = "../tests/discord/rig.rs"]
#[allow(dead_code, unused_imports)]
mod rig;
#[path = "pass/settings.rs"]
mod settings;
#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rig::{ALICE, CHANNEL, MALLORY, Rig, slash};
use vault_agent::clock::ManualClock;
use vault_agent::deliver::pass::{PassContext, pass};
use vault_agent::deliver::{DeliveryOrder, Journal, PassMode, PassState};
use vault_agent::discord::{BotNotifier, IncomingMessage, Logbook, Surface, entries, snowflake};
use vault_agent::machines::Machines;
use vault_agent::redact::Redactor;
use vault_agent::vault::{EditOptions, Editor, Vault};

#[tokio::main]
async fn main() {
    if std::env::args().any(|argument| argument == "conversation") {
        conversation().await;
    } else {
        wire().await;
        log();
    }
}

async fn conversation() {
    let rig = Rig::new().await;
    let running = rig.run().await;
    rig.fake.say(CHANNEL, ALICE, "<@500> when is the dentist?");
    rig.wait_said(CHANNEL, 2).await;
    rig.fake.say(CHANNEL, MALLORY, "<@500> and the door code?");
    rig.wait_said(CHANNEL, 3).await;
    for (name, options) in [
        ("remind", vec![("when", "tomorrow 9am"), ("what", "Call Mum"), ("recur", "weekly")]),
        ("remember", vec![("text", "Mum's birthday is 3 May")]),
        ("reminders", vec![]),
        ("status", vec![]),
    ] {
        println!("/{name}\n{}\n", rig.fake.reply(slash(ALICE, name, &options)).await);
    }
    drop(running);
    let mut files = rig.log_files();
    files.extend(["Reminders.md", "Pinned.md"].map(|name| rig.path(name)));
    for file in files {
        let name = file.strip_prefix(rig.root()).unwrap().display();
        println!("==> {name}\n{}", std::fs::read_to_string(&file).unwrap());
    }
}

/// From the minute's boundary to the first and the last request, with 1,000 reminders due at once.
async fn wire() {
    const COUNT: usize = 1000;
    let rig = Rig::new().await;
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let id = |n: usize| (0..12).map(|at| char::from(letters[(n >> (5 * at)) & 31])).collect::<String>();
    let line =
        |n| format!("- [ ] date=2026-12-01 time=09:30 recur=none msg=\"number {n}\" id=rid_{}\n", id(n));
    std::fs::write(rig.path("Reminders.md"), (0..COUNT).map(line).collect::<String>()).unwrap();
    let at: Timestamp = "2026-12-01T09:30:00Z".parse().unwrap();
    rig.fake.world().set_now(at);
    let state = rig.state();
    let clock = Arc::new(ManualClock::new(at));
    let vault = Vault::open(&rig.root()).unwrap();
    let editor = Editor::new(vault.clone(), &state, clock.clone(), EditOptions::default());
    let journal = Journal::open(&state).unwrap();
    let delivery_order =
        DeliveryOrder::only(Arc::new(BotNotifier::new(rig.api(), Some(CHANNEL), vec![ALICE])));
    let settings = settings::pass_settings();
    let context = PassContext {
        vault: &vault,
        editor: &editor,
        journal: &journal,
        delivery_order: &delivery_order,
        clock: &*clock,
        settings: &settings,
        machines: &Machines::alone(),
    };
    let begun = Instant::now();
    let report = pass(&context, &mut PassState::default(), PassMode::Tick).await.unwrap();
    let records = rig.fake.requests("POST", "/messages");
    let first = records.first().unwrap().at.duration_since(begun);
    let last = records.last().unwrap().at.duration_since(begun);
    println!("{COUNT} reminders due at once: first request answered after {first:?}, last after {last:?}");
    println!("whole pass {:?}, {} told, {} failed", begun.elapsed(), report.fired.len(), report.failed.len());
}

/// What one logged message costs, first and last of 10,000.
fn log() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir(temp.path().join("vault")).unwrap();
    let clock = Arc::new(vault_agent::clock::SystemClock);
    let vault = Vault::open(&temp.path().join("vault")).unwrap();
    let editor = Arc::new(Editor::new(vault, temp.path(), clock.clone(), EditOptions::default()));
    let book = Logbook::new(editor, "logs", clock, Redactor::default());
    book.open(Surface::Channel, 1, None, |_| false).unwrap();
    let base = snowflake::first_at(Timestamp::now());
    let mut spent: Vec<Duration> = vec![];
    for n in 0..10_000u64 {
        let value = serde_json::json!({ "id": (base + n).to_string(), "channel_id": "1", "content": "a message of usual length, as people write them",
            "author": { "id": "42", "username": "alice" } });
        let message = IncomingMessage::from_json(&value).unwrap();
        let begun = Instant::now();
        book.record(1, &entries(&message, 500, None, false)).unwrap();
        spent.push(begun.elapsed());
    }
    let median = |part: &[Duration]| {
        let mut sorted = part.to_vec();
        sorted.sort();
        sorted[sorted.len() / 2]
    };
    let (first, last) = (median(&spent[1..101]), median(&spent[9_900..]));
    println!(
        "a logged message costs {first:?} among the first hundred, {last:?} among the last of 10,000 (median)"
    );
    println!("ratio {:.2}", last.as_secs_f64() / first.as_secs_f64());
}
