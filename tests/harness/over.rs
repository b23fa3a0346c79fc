//! A brain that dies after a tool call is followed by another kind, which finishes from what the journal holds.

use vault_agent::turn::Responder;

use crate::harness::rig::{Person, Rig, remind, words};
use crate::models::Reply;
use crate::support::processes::python;

/// Every kind that can be tried here.
fn kinds() -> Vec<&'static str> {
    let mut kinds = vec!["messages", "responses", "chat", "claude-code"];
    if python() {
        kinds.extend(["codex", "acp"]);
    }
    kinds
}

fn is_program(kind: &str) -> bool {
    matches!(kind, "claude-code" | "codex" | "acp")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_finishes_what_every_other_began() {
    for first in kinds() {
        for second in kinds() {
            let name = if is_program(first) { "first+die-after-tool" } else { "first" };
            let rig = Rig::new(|rig| rig.brain(first, name) + &rig.brain(second, "second")).await;
            let mut script = vec![remind(first)];
            if !is_program(first) {
                script.push(Reply::reset());
            }
            script.push(Reply::text("It is set."));
            rig.server.script(script);
            let answer = rig.ask(1, "Remind me of tea.").await.unwrap();
            let pair = format!("{first} to {second}");
            assert_eq!(
                (answer.text.as_str(), answer.facts.brain.as_str()),
                ("It is set.", "second"),
                "{pair}"
            );
            assert_eq!((rig.tools(1).len(), rig.reminders()), (1, 1), "{pair}");
            let requests = rig.server.requests();
            let told = words(requests.last().unwrap());
            assert!(told.contains("reminder_add") && told.contains("drink tea"), "{pair}: {told}");
            assert!(told.contains("Remind me of tea."), "{pair}");
            assert_eq!(rig.left(), Vec::<String>::new(), "{pair}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_end_nobody_saw_is_told_so_and_not_made_again() {
    for second in kinds() {
        let rig =
            Rig::new(|rig| rig.brain("claude-code", "first+die-in-tool") + &rig.brain(second, "second"))
                .await;
        rig.server.script(vec![remind("claude-code"), Reply::text("I looked: it is set.")]);
        assert_eq!(rig.ask(1, "Remind me.").await.unwrap().facts.brain, "second");
        assert_eq!((rig.tools(1).len(), rig.reminders()), (1, 1), "{second}");
        let told = words(rig.server.requests().last().unwrap());
        assert!(told.contains("its outcome is unknown"), "{second}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_a_programs_own_are_told_to_a_wire_in_words() {
    for second in kinds() {
        let mut rig = Rig::new(|rig| {
            rig.brain("claude-code", "first+die-after-tool")
                + "tools = [\"Bash\"]\n"
                + &rig.brain(second, "second")
        })
        .await;
        let verdict = vault_agent::agent::tools::ApprovalVerdict::Yes;
        rig.person = Person::who_says(verdict);
        let call = Reply::tool("Bash", serde_json::json!({"command": "echo the number is $((6 * 7))"}));
        rig.server.script(vec![call, Reply::text("42.")]);
        assert_eq!(rig.ask(1, "?").await.unwrap().text, "42.");
        let asked = rig.server.requests().pop().unwrap();
        assert!(words(&asked).contains("the number is 42"), "{second}");
        assert!(asked.results().is_empty(), "{second}: {:?}", asked.results());
    }
}

/// The daemon dies while a harness works: whatever runs the turn afterwards goes on from the journal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_goes_on_after_a_crash_of_ours() {
    let rig = Rig::new(|rig| rig.brain("claude-code", "cc")).await;
    rig.server.script(vec![remind("claude-code"), Reply::hang()]);
    rig.accept(1, "Remind me.", "");
    let engine = rig.engine();
    {
        let never = tokio_util::sync::CancellationToken::new();
        let answering = engine.answer(1, &rig.desk, &never);
        tokio::select! {
            _ = answering => panic!("it hangs"),
            () = rig.server.wait_for(2) => {}
        }
    }
    rig.server.script(vec![Reply::text("It is set.")]);
    assert_eq!(rig.answer(1).await.unwrap().text, "It is set.");
    assert_eq!((rig.tools(1).len(), rig.reminders()), (1, 1));
    let told = words(rig.server.requests().last().unwrap());
    assert!(told.contains("Another assistant began to answer") && told.contains("drink tea"), "{told}");
}
