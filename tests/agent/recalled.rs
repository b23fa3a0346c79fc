//! What memory gives a question: never the words that ask it, which stand in the log already.

use vault_agent::agent::{AnswerEngine, EngineParts, TurnMemory, VaultMemory};
use vault_agent::turn::{NewTurn, NoConversation, Responder, TurnJournal};

use crate::brain::spending::Ears;
use crate::support::prelude::*;

const VAULT: &str = "//- now: 2026-12-01T09:30:00Z
//- /logs/discord-channel/2000/20261110T090000Z_0001.md
[!user] 2026-11-10T09:00:00Z Alice: Zanzibar pepper seeds sprout after three weeks. ^01JGXYZ0000000000000000001
//- /logs/discord-channel/2000/20261201T090000Z_0001.md
[!user] 2026-12-01T09:29:00Z Alice: <@500> I put Zanzibar pepper seeds behind the shed. ^01JGXYZ0000000000000000002
[!user] 2026-12-01T09:30:00Z Alice: <@500> What do you know about Zanzibar pepper seeds? ^01JGXYZ0000000000000000003
";

/// As a turn asks: without mentions, all of its messages together.
const QUESTION: &str =
    "I put Zanzibar pepper seeds behind the shed.\nWhat do you know about Zanzibar pepper seeds?";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_turn_asks_is_no_memory_of_it() {
    let vault = TestVault::new(VAULT);
    let memory = VaultMemory::new(vault.workspace());
    let today = "logs/discord-channel/2000/20261201T090000Z_0001";
    let links = ["2", "3"].map(|n| format!("{today}#^01JGXYZ000000000000000000{n}"));
    let own = links.each_ref().map(String::as_str);
    for own in [&own[..], &[]] {
        let given = memory.context_for(QUESTION, own).await.unwrap();
        let told = given.injection + &given.links + &memory.answer(QUESTION, own).await.unwrap();
        assert!(told.contains("sprout after three weeks"), "{told}");
        assert!(!told.contains("What do you know"), "{told}");
        // Asked by somebody else, the first of the two messages would be a memory.
        assert_eq!(told.contains("behind the shed"), own.is_empty(), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_in_a_request_is_not_recalled_into_it() {
    let server = ModelServer::by(|_| Reply::text("Done.")).await;
    let log = "logs/discord-channel/2000/20261110T090000Z_0001";
    let brain = server.brain("small", "chat", "context_tokens = 6000");
    let mut fixture = format!("//- /vault-agent.toml\n[memory]\nuser_namespace = \"user\"\n{brain}");
    fixture += "//- /Pinned.md\n* no nuts\n  and no sesame\n%%\n- an old pin\n%%\n";
    fixture += &format!("//- /{log}.md\n");
    let id = |nth: usize| format!("01JGXYZ000{nth:05}00000000000");
    for nth in 0..300 {
        let text = format!("Number {nth} of the peppers is sown behind the shed, where it is warm and dry.");
        fixture += &format!("[!user] 2026-11-10T09:00:00Z Alice: {text} ^{}\n", id(nth));
    }
    let vault = TestVault::new(&fixture);
    let (workspace, ears) = (vault.workspace(), Arc::new(Ears::default()));
    let journal = Arc::new(TurnJournal::in_memory().unwrap());
    let parts = EngineParts::of(&workspace, &journal);
    let engine = AnswerEngine::new(EngineParts { memory: Arc::clone(&ears) as _, ..parts });
    let turn = NewTurn { message: 1, block: format!("{log}#^{}", id(299)), ..NewTurn::default() };
    journal.accept(&turn, workspace.clock.now()).unwrap();
    engine.unwrap().answer(1, &NoConversation, &CancellationToken::new()).await.unwrap();
    let asked = String::from_utf8_lossy(&server.requests()[0].bytes).into_owned();
    assert!(asked.contains("* no nuts\\n  and no sesame") && !asked.contains("old pin"), "{asked}");
    let without = ears.0.lock().unwrap().clone();
    let told = (0..300).filter(|nth| asked.contains(&format!("Number {nth} of"))).count();
    let left_out = |nth: &usize| without.contains(&format!("{log}#^{}", id(*nth)));
    for nth in (0..300).filter(left_out) {
        assert!(asked.contains(&format!("Number {nth} of")), "{nth} stands nowhere");
    }
    // What memory may give takes room, so a few of the oldest that are told may be recalled, too.
    let count = (0..300).filter(left_out).count();
    assert!(told < 300 && count > told / 2 && left_out(&299) && left_out(&298), "{count} of {told}");
    for note in ["user/profile", "user/working", "Pinned"] {
        assert!(without.iter().any(|place| place == note), "{note}: {:?}", &without[count..]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_nobody_answered_is_no_memory_and_what_is_left_out_makes_room() {
    let unanswered =
        "[!user] 2026-11-10T09:01:00Z Bob: Who sells Zanzibar pepper seeds? ^01JGXYZ0000000000000000009\n";
    let (old, today) = VAULT.split_once("//- /logs/discord-channel/2000/20261201T090000Z_0001.md").unwrap();
    let answer = "[!user] 2026-11-10T09:02:00Z Cleo: The market does. ^01JGXYZ000000000000000000A\n";
    for (answer, is_given) in [("", false), (answer, true)] {
        let today = format!("//- /logs/discord-channel/2000/20261201T090000Z_0001.md{today}");
        let vault = TestVault::new(&format!("{old}{unanswered}{answer}{today}"));
        let memory = VaultMemory::new(vault.workspace());
        let question = "What do you know about Zanzibar pepper seeds?";
        let given = memory.context_for(question, &[]).await.unwrap();
        assert!(given.injection.contains("sprout after three weeks"), "{}", given.injection);
        assert_eq!(given.injection.contains("Who sells"), is_given, "{}", given.injection);
        let without = ["logs/discord-channel/2000/20261110T090000Z_0001#^01JGXYZ0000000000000000001"];
        let given = memory.context_for(question, &without).await.unwrap();
        assert!(!given.injection.contains("sprout"), "{}", given.injection);
    }
}
