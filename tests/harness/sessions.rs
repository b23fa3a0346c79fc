//! A conversation goes on in the harness's session where that holds all of it, and from the log where it doesn't.

use std::io::Write;

use vault_agent::agent::OtherBrains;
use vault_agent::agent::rebuild_request::rebuild;
use vault_agent::turn::TurnJournal;

use crate::harness::rig::{Rig, words};
use crate::models::Reply;

const LOG: &str = "vault/logs/day.md";

/// A log that people and the assistant write.
pub struct Log<'a>(pub &'a Rig);

impl Log<'_> {
    fn write(&self, text: &str) {
        let path = self.0.temp.path().join(LOG);
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn block(&self, kind: &str, who: &str, id: &str, text: &str) {
        self.write(&format!("\n> [!{kind}] 2026-11-22T09:00:00Z {who}\n> {text}\n\n^{id}\n"));
    }

    pub fn begin(&self) {
        self.write("---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n");
    }

    /// A question and its answer, logged.
    pub async fn turn(&self, message: u64, text: &str) -> String {
        let id = format!("Q{message}");
        self.block("user", "Ann", &id, text);
        self.0.accept(message, text, &format!("logs/day#^{id}"));
        let answer = self.0.answer(message).await.unwrap();
        self.block("agent", "Vault", &format!("A{message}"), &answer.text);
        answer.text
    }
}

async fn rig(name: &str) -> Rig {
    let rig = Rig::new(|rig| rig.brain("claude-code", name) + &rig.brain("chat", "other")).await;
    Log(&rig).begin();
    rig
}

/// How many messages of people the last request held, and whether the last one tells of the past.
fn last(rig: &Rig) -> (usize, bool) {
    let asked = rig.server.requests().pop().unwrap();
    let users = asked.messages().iter().filter(|message| message["role"] == "user").count();
    (users, asked.last_user().contains("What was said here before"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_goes_on_in_its_session() {
    let rig = rig("cc").await;
    let log = Log(&rig);
    rig.server.script(vec![Reply::text("Oolong."), Reply::text("Cake."), Reply::text("Both.")]);
    log.turn(1, "What tea?").await;
    log.turn(2, "And to eat?").await;
    assert_eq!(last(&rig), (2, false), "its session knows the first question");
    // The stand-in says a quarter for each message of the whole session.
    for turn in [1, 2] {
        assert_eq!(rig.journal.costs(turn).unwrap(), [("cc".to_owned(), 0.5)], "it is counted once");
    }
    // Somebody says something to nobody: it is new to the session.
    log.block("user", "Bob", "B1", "I like scones");
    log.turn(3, "And which of them?").await;
    assert_eq!(last(&rig), (3, true));
    assert!(words(rig.server.requests().last().unwrap()).contains("I like scones"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_session_does_not_know_begins_a_new_one_from_the_log() {
    for change in ["edit", "persona", "other brain", "lost", "cleared"] {
        let rig = rig("cc").await;
        let log = Log(&rig);
        rig.server.script(vec![Reply::text("Oolong."), Reply::text("Cake."), Reply::text("Both.")]);
        log.turn(1, "What tea?").await;
        match change {
            "edit" => log.block("system", "Vault", "S1", "edited [[logs/day#^Q1]]:\n> What wine?"),
            "persona" => std::fs::write(rig.vault().join("Assistant.md"), "You are Zorba.\n").unwrap(),
            "other brain" => {
                log.block("user", "Ann", "Q5", "and wine?");
                log.block("agent", "Vault", "A5", "Retsina.");
            }
            "lost" => {
                for entry in std::fs::read_dir(rig.state().join("harness/cc")).unwrap() {
                    std::fs::remove_file(entry.unwrap().path()).unwrap();
                }
            }
            _ => std::fs::remove_file(rig.state().join("turns.sqlite")).unwrap(),
        }
        if change == "cleared" {
            let mut rig = rig;
            rig.journal = std::sync::Arc::new(TurnJournal::open(&rig.state()).unwrap());
            Log(&rig).turn(2, "And to eat?").await;
            assert_eq!(last(&rig), (1, true), "{change}");
            continue;
        }
        assert_eq!(log.turn(2, "And to eat?").await, "Cake.");
        assert_eq!(last(&rig), (1, true), "{change}");
        assert_eq!(rig.journal.calls(2).unwrap().len(), 1, "{change}: in the same attempt");
        // The new session is gone on with.
        log.turn(3, "And then?").await;
        assert_eq!(last(&rig), (2, false), "{change}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_neutral_request_is_the_one_that_files_give() {
    let rig = rig("cc").await;
    let log = Log(&rig);
    rig.server.script(vec![Reply::text("Oolong."), Reply::text("Cake.")]);
    log.turn(1, "What tea?").await;
    log.block("user", "Ann", "Q2", "And to eat?");
    rig.accept(2, "And to eat?", "logs/day#^Q2");
    let answer = rig.answer(2).await.unwrap();
    assert_eq!(last(&rig), (2, false), "it was told in its session");
    log.block("agent", "Vault", "A2", &answer.facts.append_to(&answer.text).replace('\n', "\n> "));
    let tools = vault_agent::agent::Toolbox::specs(&vault_agent::mcp::VaultTools::beside_turns(
        rig.open(),
        OtherBrains::default(),
    ));
    let rebuilt = rebuild(&rig.open(), Some(rig.journal.as_ref()), "Q2", &|_, _| tools.clone()).unwrap();
    assert_eq!(rebuilt.hash, rebuilt.stored_hash);
    assert!(rebuilt.hash.is_some());
}
