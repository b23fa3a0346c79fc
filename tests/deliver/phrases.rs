//! Words that a brain found before a reminder's minute: used where they are there and say the same, waited for never.

use crate::deliver::world::*;
use tokio::runtime::Runtime;
use vault_agent::agent::Phraser;
use vault_agent::turn::{TurnJournal, usage};

use crate::cli::daemon::Daemon;
use crate::deliver::crashes::at_each_step;

const BEFORE: &str = "2026-12-01T09:29:00Z";
const DUE: &str = "2026-12-01T09:30:00Z";
const PRICE: &str = "price = { input = 1.0, output = 2.0 }";
const WORDS: &str = "Time to call Mum!";

fn call_mum() -> String {
    line("2026-12-01", "09:30", "none", "Call Mum", &id('A'))
}

fn world(text: &str) -> World {
    let mut world = World::new(BEFORE, text);
    world.settings.phrase = true;
    world
}

/// What a daemon's pass sees coming.
fn upcoming(world: &mut World) -> Vec<PendingSend> {
    world.pass(PassMode::Daemon).upcoming
}

/// Keeps words for the one thing that is coming, as a brain's.
fn keep(world: &mut World, words: &str) {
    let coming = upcoming(world);
    assert_eq!(coming.len(), 1, "{coming:?}");
    let journal = world.journal();
    assert!(journal.begin_phrase(&coming[0].key, &coming[0].line, "plain", world.clock.now()).unwrap());
    journal.set_phrase(&coming[0].key, &coming[0].line, words).unwrap();
}

#[test]
fn a_changed_line_and_words_that_lost_something_are_said_plainly() {
    let plainly = |words: &str, change: fn(&mut World), said: &str| {
        let mut world = world(&call_mum());
        keep(&mut world, words);
        change(world.at(DUE));
        assert_eq!(world.told(), [said], "{words}");
    };
    plainly("Time to call!", |_| {}, "Reminder: Call Mum");
    let both = |world: &mut World| world.write(call_mum().replace("Call Mum", "Call Mum and Dad"));
    plainly(WORDS, both, "Reminder: Call Mum and Dad");
    // What came late says so, and says it plainly.
    let late = |world: &mut World| world.clock.set("2026-12-01T11:00:00Z".parse().unwrap());
    plainly(WORDS, late, "Reminder: Call Mum (due 09:30, 1 h 30 min late)");
    // Turned off in the meantime.
    plainly(WORDS, |world| world.settings.phrase = false, "Reminder: Call Mum");
}

#[test]
fn only_what_is_told_once_and_within_a_minute_is_looked_at() {
    let text = call_mum()
        + &line("2026-12-01", "09:30", "daily", "Pills", &id('B'))
        + &line("2026-12-01", "09:31", "none", "Later", &id('C'))
        + &line("2026-12-01", "09:30", "none", "Nameless", "")
        + &line("2026-12-01", "09:30", "none", &"long ".repeat(80), &id('D'));
    let mut one = world(&text);
    let follow_ups = "---\nid: c-1\nstatus: pending\ndue: 2026-12-01T09:29:30Z\n---\nAsk Kyle\n\n\
                      ---\nid: c-2\nstatus: pending\ndue: 2026-12-01T09:29:40Z\n---\nTwo\nlines\n";
    one.folder.write("COMMITMENTS.md", follow_ups);
    let coming: Vec<_> = upcoming(&mut one).into_iter().map(|one| one.fact.msg).collect();
    assert_eq!(coming, ["Call Mum", "Ask Kyle"]);
    one.settings.phrase = false;
    assert_eq!((upcoming(&mut one), one.tick().upcoming), (vec![], vec![]));
}

#[test]
fn each_step_may_be_the_last_before_a_crash_with_words_too() {
    at_each_step(1, &[30, 200], 0, |crash| {
        let mut world = world(&call_mum());
        keep(&mut world, WORDS);
        crash.tick(world.at(DUE));
        world.later(secs(crash.wait)).tick();
        assert_eq!((world.told(), world.read().as_str()), (vec![WORDS.to_owned()], ""), "{}", crash.context);
    });
}

/// A phraser over the world's vault, whose brains are this server.
fn phraser(world: &World, server: &ModelServer, more: &str) -> Phraser {
    let settings = format!("[assistant]\nphrase = true\n{more}\n{}", server.brain("b", "chat", PRICE));
    world.folder.write("vault-agent.toml", settings);
    let workspace = Arc::new(support::workspace(world.dir(), world.clock.clone()));
    assert!(workspace.pass_settings().phrase);
    Phraser::new(workspace, Arc::default()).unwrap()
}

/// How asking for words ended.
fn ended(runtime: &Runtime, phraser: &Phraser, fire: &PendingSend) -> String {
    format!("{:?}", runtime.block_on(phraser.phrase(fire)).unwrap())
}

/// What the log says of the answers.
fn answers(world: &World) -> Vec<usage::LoggedAnswer> {
    let log = world.folder.path("logs/phrasing/phrasing/20261201T000000Z_0001.md");
    usage::answers(&std::fs::read(log).unwrap())
}

#[test]
fn a_brain_is_asked_once_and_what_it_took_is_counted() {
    let runtime = runtime();
    let server = runtime.block_on(ModelServer::by(|_| Reply::text(WORDS).usage(100, 0, 10)));
    let mut world = world(&call_mum());
    let phraser = phraser(&world, &server, "");
    let coming = upcoming(&mut world);
    assert_eq!([0, 1].map(|_| ended(&runtime, &phraser, &coming[0])), ["Kept", "NotAsked"]);
    let report = world.at(DUE).tick();
    assert_eq!((world.place.texts(), world.read().as_str()), (vec![WORDS.to_owned()], ""));
    // The report and the journal have the plain words.
    assert_eq!((report.fired[0].text.as_str(), report.fired[0].late_seconds), ("Call Mum", 0));
    let key = "rid_AAAAAAAAAAAA@2026-12-01T09:30";
    assert_eq!(world.journal().row(key).unwrap().unwrap().fact.msg, "Call Mum");
    let asked = server.requests();
    assert_eq!(asked.len(), 1);
    let body = asked[0].body.to_string();
    assert!(body.contains("Call Mum") && body.contains("2026-12-01 09:30"), "{body}");
    assert!(asked[0].body.get("tools").is_none() && !body.contains("INJECTED"), "{body}");
    assert_eq!(asked[0].body["max_tokens"], 300);
    // For the day's budget, and for `usage`.
    let spent = TurnJournal::open(&world.state()).unwrap().spent_since(BEFORE.parse().unwrap()).unwrap();
    assert_eq!((spent.len(), spent[0].1.input, spent[0].1.output), (1, 100, 10));
    let [answer] = &answers(&world)[..] else { panic!("one answer") };
    let facts = &answer.facts;
    assert_eq!((answer.channel.as_str(), facts.brain.as_str(), facts.input), ("phrasing", "b", 100));
    assert!(facts.usd.is_some());
}

#[test]
fn what_fails_or_lost_the_persons_words_leaves_the_plain_text() {
    let runtime = runtime();
    let lost = Reply::text("Time to ring your mother!");
    for (reply, failed) in [(lost, 0), (Reply::text("NONE"), 0), (Reply::garbage(), 1)] {
        let server = runtime.block_on(ModelServer::of(vec![reply]));
        let mut world = world(&call_mum());
        assert_eq!(ended(&runtime, &phraser(&world, &server, ""), &upcoming(&mut world)[0]), "Plain");
        assert_eq!(world.at(DUE).told(), ["Reminder: Call Mum"]);
        assert_eq!(answers(&world)[0].facts.failed.len(), failed);
    }
}

#[test]
fn a_brain_that_hangs_changes_no_delivery_and_is_not_asked_again_after_a_crash() {
    let runtime = runtime();
    let server = runtime.block_on(ModelServer::by(|_| Reply::hang()));
    let text = call_mum() + &line("2026-12-01", "09:31", "none", "Tea", &id('B'));
    let came = |world: &World| -> Vec<(String, String)> {
        let arrived = world.place.arrived.lock().unwrap();
        arrived.iter().map(|message| (message.at.to_string(), message.text.clone())).collect()
    };
    let (mut with, mut without) = (world(&text), World::new(BEFORE, &text));
    let (phraser, mut hanging) = (Arc::new(phraser(&with, &server, "")), Vec::new());
    for minute in 0..4 {
        for one in upcoming(&mut with) {
            let phraser = Arc::clone(&phraser);
            hanging.push(runtime.spawn(async move { phraser.phrase(&one).await }));
            runtime.block_on(server.wait_for(hanging.len()));
        }
        without.pass(PassMode::Daemon);
        if minute == 0 {
            // A crash in the midst of the call: begun again, nobody is asked a second time.
            hanging[0].abort();
            assert_eq!(ended(&runtime, &phraser, &upcoming(&mut with)[0]), "NotAsked");
        }
        with.later(secs(60));
        without.later(secs(60));
    }
    assert_eq!((came(&with).len(), came(&with)), (2, came(&without)));
    assert_eq!(server.requests().len(), 2);
    hanging.iter().for_each(tokio::task::JoinHandle::abort);
}

#[test]
fn nobody_is_asked_too_late_over_budget_or_while_resting() {
    let runtime = runtime();
    let server = runtime.block_on(ModelServer::by(|_| Reply::status(402)));
    let others = ["B", "C"].map(|name| line("2026-12-01", "09:30", "none", name, &name.repeat(12))).concat();
    let mut world = world(&(call_mum() + &others));
    let coming = upcoming(&mut world);
    let ended = |phraser: &Phraser, at: usize| ended(&runtime, phraser, &coming[at]);
    let one = phraser(&world, &server, "");
    assert_eq!(ended(&one, 0), "Plain");
    assert_eq!(ended(&one, 1), "NotAsked", "its account is empty");
    std::fs::remove_file(world.state().join("brains.json")).unwrap();
    server.respond(|_| Reply::text("Something else.").usage(1000, 0, 10));
    let well = phraser(&world, &server, "day_tokens = 100000");
    world.at(DUE);
    assert_eq!(ended(&well, 1), "NotAsked", "it is due");
    world.at(BEFORE);
    assert_eq!(ended(&well, 1), "Plain");
    assert_eq!(ended(&phraser(&world, &server, "day_tokens = 1000"), 2), "NotAsked");
    assert_eq!(server.requests().len(), 2);
}

/// The real daemon, whose clock runs thirty times as fast, until it says something about the reminder.
fn said_by_the_daemon(server: &ModelServer) -> String {
    let mut vault =
        TestVault::new(&format!("//- now: 2026-12-01T09:28:50Z\n//- /Reminders.md\n{}", call_mum()));
    vault.write("vault-agent.toml", format!("[assistant]\nphrase = true\n{}", server.brain("b", "chat", "")));
    vault.env("VAULT_AGENT_NOW", "2026-12-01T09:28:50Z@15");
    Daemon::start(&vault, &["run"]).hear("Mum")
}

#[test]
fn the_daemon_says_what_a_brain_found_and_does_not_wait_for_one_that_hangs() {
    let runtime = runtime();
    let server = runtime.block_on(ModelServer::by(|_| Reply::text(WORDS)));
    let said = said_by_the_daemon(&server);
    assert!(said.ends_with(WORDS), "{said}");
    server.respond(|_| Reply::hang());
    contains_all(said_by_the_daemon(&server), &["09:30 Call Mum"]);
    assert_eq!(server.requests().len(), 2);
}
