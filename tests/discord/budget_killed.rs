//! A crash between a person's word on the day's budget and what is made of it.

use super::approvals::lines;
use super::rig::*;
use super::traps::Traps;
use crate::models::Reply;
use vault_agent::format::approval::ApprovalState;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_on_the_budget_that_a_crash_cut_off_counts_and_is_asked_for_once() {
    for (label, state) in [("Once", ApprovalState::Used), ("No", ApprovalState::Declined)] {
        let rig = Rig::with(&[("one", "messages")]).await;
        rig.server.respond(|_| Reply::text("By the model."));
        rig.prepend("[assistant]\nday_tokens = 100\n");
        let traps = Traps::set(&rig);
        let running = rig.run().await;
        for (text, count) in [("hello", 1), ("when is the dentist?", 2)] {
            rig.answer(text, count).await;
        }
        let question = rig.asked(1).await;
        // The note has the word, and the journal, which says what may be spent, never gets it.
        traps.arm("approval::after-word", 0);
        rig.press(&question, label).await;
        traps.crash(&rig, running).await;
        assert_eq!(lines(&rig)[0].state, Some(state));
        assert!(rig.turn_journal().budget_events_since(jiff::Timestamp::UNIX_EPOCH).unwrap().is_empty());

        let _running = rig.run().await;
        for count in [3, 4] {
            let said = rig.answer("the dentist, once more", count).await;
            assert_eq!(said == "By the model.", label == "Once", "{said}");
            let counts = (rig.questions_asked().len(), lines(&rig).len());
            assert_eq!(counts, (1, 1), "{label}: {:?}", lines(&rig));
        }
    }
}
