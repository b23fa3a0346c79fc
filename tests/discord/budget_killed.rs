//! A crash between a person's word on the day's budget and what is made of it.

use super::approvals::{asked, lines, push, questions};
use super::rig::*;
use super::traps::Traps;
use super::turns::{answers, rig_with};
use crate::models::{ModelServer, Reply};
use vault_agent::format::approval::ApprovalState;
use vault_agent::turn::TurnJournal;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_on_the_budget_that_a_crash_cut_off_counts_and_is_asked_for_once() {
    for (label, state) in [("Once", ApprovalState::Used), ("No", ApprovalState::Declined)] {
        let server = ModelServer::start().await;
        server.respond(|_| Reply::text("By the model."));
        let rig = rig_with(&server, &[("one", "messages")]).await;
        let file = rig.vault().join("vault-agent.toml");
        let brains = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("[assistant]\nday_tokens = 100\n{brains}")).unwrap();
        let traps = Traps::set(&rig);
        let running = rig.run().await;
        for (text, count) in [("hello", 1), ("when is the dentist?", 2)] {
            rig.fake.say(CHANNEL, ALICE, &format!("<@500> {text}"));
            rig.wait_done(count).await;
        }
        let question = asked(&rig, 1).await;
        // The note has the word, and the journal, which says what may be spent, never gets it.
        traps.arm("approval::after-word", 0);
        push(&rig, ALICE, &question, label).await;
        rig.wait("the crash", || traps.is_sprung()).await;
        running.crash().await;
        traps.disarm();
        assert_eq!(lines(&rig)[0].state, Some(state));
        let journal = TurnJournal::open(&rig.state()).unwrap();
        assert!(journal.budget_events_since(jiff::Timestamp::UNIX_EPOCH).unwrap().is_empty());

        let running = rig.run().await;
        for count in [3, 4] {
            rig.fake.say(CHANNEL, ALICE, "<@500> the dentist, once more");
            rig.wait_done(count).await;
            let said = answers(&rig).pop().unwrap();
            assert_eq!(said == "By the model.", label == "Once", "{said}");
            assert_eq!((questions(&rig).len(), lines(&rig).len()), (1, 1), "{label}: {:?}", lines(&rig));
        }
        running.stop().await.unwrap();
    }
}
