//! Learning by a brain behind a real server: only what was said counts, and nothing is asked twice.

use vault_agent::capture::new_turns::{PersonTurn, turns};
use vault_agent::capture::{BrainLearner, Inbox, ListedCandidate};

use crate::support::prelude::*;

const LOG: &str = "logs/discord-channel/7/20261120T100000Z_0001.md";

fn log(said: &[impl AsRef<str>]) -> String {
    let event = |(at, words)| event("user] 2026-11-20T10:00:00Z Anna", words, &format!("01JGXYZ{at:019}"));
    LOG_HEAD.to_owned() + &said.iter().map(AsRef::as_ref).enumerate().map(event).collect::<String>()
}

struct World {
    vault: TestVault,
    server: ModelServer,
}

impl World {
    async fn new<T: AsRef<str>>(memory: &str, said: &[T]) -> Self {
        let server = ModelServer::start().await;
        let vault = TestVault::new("//- now: 2026-11-22T10:00:00Z\n");
        let brain = server.brain("small", "chat", "");
        let inbox = "[inbox]\nper_day = 1000\nopen = 1000\n[capture]\nbrain = \"small\"\n";
        vault.write("vault-agent.toml", format!("{inbox}{brain}"));
        vault.write("MEMORY.md", memory);
        vault.write(LOG, log(said));
        Self { vault, server }
    }

    fn turns(&self) -> Vec<PersonTurn> {
        turns(LOG, self.vault.read(LOG).as_bytes(), None).0
    }

    async fn learn(&self) -> Option<usize> {
        BrainLearner::new(self.vault.workspace(), Arc::default()).unwrap().learn(self.turns()).await.unwrap()
    }

    fn asked(&self) -> Vec<ListedCandidate> {
        Inbox::new(self.vault.workspace().memory()).list().unwrap()
    }
}

fn entry(n: usize, quote: &str, text: &str, category: &str) -> Value {
    json!({ "n": n, "quote": quote, "about": "Anna", "category": category, "abstract": text,
            "overview": "", "content": "", "utility": 0.9 })
}

fn found(entries: &[Value]) -> Reply {
    Reply::text(json!({ "memories": entries }).to_string()).usage(500, 0, 60)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_brain_finds_is_asked_and_what_it_did_is_counted() {
    let sent_on = "Forwarded:\n> I live in Minsk.";
    let world = World::new("", &["I only drink green tea.", &format!("ok\n\n{sent_on}"), sent_on]).await;
    world.server.script(vec![found(&[
        entry(0, "I only drink green tea", "only drinks green tea", "preferences"),
        entry(1, "I live in Minsk.", "lives in Minsk", "profile"),
        entry(2, "I live in Minsk.", "lives in Minsk", "profile"),
        entry(1, "I only drink green tea", "of another message", "preferences"),
        entry(0, "I only drink black tea", "never said", "preferences"),
    ])]);
    assert_eq!(world.learn().await, Some(1));
    let asked = world.asked();
    assert_eq!((asked[0].text.as_str(), asked[0].by.as_deref()), ("only drinks green tea", Some("small")));
    let request = &world.server.requests()[0];
    assert!(request.last_user().contains("I only drink green tea") && request.body.get("tools").is_none());
    assert!(!request.last_user().contains("Minsk"), "{}", request.last_user());
    // What was asked about isn't asked of the brain again, as after a crash.
    world.server.script(vec![found(&[])]);
    assert_eq!(world.learn().await, Some(0));
    let again = world.server.requests();
    assert!(again.len() == 2 && !again[1].last_user().contains("green tea"), "{again:?}");
    let usage = world.vault.json(&["usage", "--by", "channel"]);
    assert_eq!(usage["by"][0]["key"], "capture", "{usage}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_fact_that_is_near_is_judged_by_the_brain_within_the_categorys_rule() {
    let memory = "## Anna\n- likes black tea in the morning\n";
    let world = World::new(memory, &["I like green tea in the morning now, no black tea."]).await;
    let decision = json!({ "n": 0, "decision": "supersede", "match_index": 0, "reason": "x" });
    let quote = "I like green tea in the morning";
    let entries = found(&[entry(0, quote, "likes green tea in the morning", "preferences")]);
    world.server.script(vec![entries, Reply::text(json!({ "decisions": [decision] }).to_string())]);
    assert_eq!(world.learn().await, Some(1));
    contains_all(world.server.requests()[1].last_user(), &["likes black tea in the morning"]);
    assert_eq!(world.asked()[0].replaces.as_deref(), Some("likes black tea in the morning"));
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_brain_does_nothing_is_asked_whose_quote_does_not_stand_there() {
    // A brain that makes things up: quotes that are right, near, swapped, cut in odd places, or of its own.
    let words = ["green", "tea", "Graz", "sister", "Rex", "walk", "never", "Sunday", "käse", "茶"];
    let mut random = Rng::with_seed(7);
    let mut sentence =
        |length: usize| (0..length).map(|_| words[random.usize(..words.len())]).collect::<Vec<_>>().join(" ");
    let all: Vec<String> = (0..60).map(|_| format!("I say {}.\nAnd {}.", sentence(6), sentence(4))).collect();
    let world = World::new("", &all).await;
    world.server.script(vec![Reply::text("I'd rather not.")]);
    world.server.respond(|asked| {
        let turns: Vec<Value> = serde_json::from_str(&asked.last_user()).unwrap();
        let mut entries = Vec::new();
        for turn in &turns {
            let (n, text) = (turn["n"].as_u64().unwrap() as usize, turn["text"].as_str().unwrap());
            let cut = |from, length| text.chars().skip(from).take(length).collect::<String>();
            let near = [text.to_uppercase(), text.replace("say", "said"), format!("{text}!")];
            for (at, quote) in [cut(0, 20), cut(3, 14), cut(5, 400)].iter().chain(&near).enumerate() {
                // Every third is of another message.
                let place = n + usize::from(at % 3 == 2);
                entries.push(entry(place, quote, &format!("fact {n} {at} {quote}"), "cases"));
            }
        }
        found(&entries)
    });
    assert!(world.learn().await.unwrap() > 3);
    let blocks: HashMap<String, String> =
        world.turns().into_iter().map(|turn| (turn.source(), turn.text)).collect();
    let asked = world.asked();
    let wrong = asked.iter().filter(|one| !blocks[&one.source].contains(&one.quote)).count();
    assert_eq!(wrong, 0, "of {}", asked.len());
    for source in blocks.keys() {
        assert!(asked.iter().filter(|one| one.source == *source).count() <= 5);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brain_that_declines_finds_nothing_and_one_that_rests_lets_its_turns_wait() {
    let world = World::new("", &["I only drink green tea."]).await;
    world.server.script(vec![Reply::text("").stop("content_filter"), found(&[]).stop("length")]);
    assert_eq!(world.learn().await, Some(0));
    assert_eq!(world.server.requests().len(), 2, "it is not asked for ever");
    world.server.script(vec![Reply::status(429).retry_after(600)]);
    assert_eq!(world.learn().await, None);
    assert_eq!(world.learn().await, None, "it rests, and isn't asked");
    assert_eq!(world.server.requests().len(), 3);
    assert!(world.asked().is_empty() && !world.vault.has("Inbox.md"));
}
