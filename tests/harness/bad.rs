//! A program that misbehaves, or dies after a tool call: its turn is another brain's, which finishes from what the journal
//! holds, and nothing of the program is left.

use crate::harness::rig::*;

use crate::brain::rig::PATIENT;

async fn followed(name: &str) -> Rig {
    Rig::new(|rig| rig.brain("claude-code", name) + &rig.brain("chat", "next")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_silent_is_ended() {
    let short = Duration::from_millis(1500);
    let (silent, late) =
        ("it said nothing for 1 s and was ended", "it did not answer within 0 minutes and was ended");
    for (wrong, timeouts, said) in [
        ("hang-start", BrainTimeouts { first_byte: short, ..PATIENT }, silent),
        ("hang-after-tool", BrainTimeouts { silence: short, ..PATIENT }, silent),
        ("hang-after-tool", BrainTimeouts { overall: short, ..PATIENT }, late),
    ] {
        let mut rig = followed(&format!("cc+{wrong}")).await;
        rig.timeouts = timeouts;
        let before = (wrong != "hang-start").then(|| remind("claude-code"));
        rig.server.script(before.into_iter().chain([Reply::text("I finish.")]).collect());
        assert_eq!(rig.ask(1, "?").await.unwrap().text, "I finish.");
        let calls = rig.journal.calls(1).unwrap();
        assert_eq!(calls[0].class, Some(FailureClass::Timeout));
        assert!(calls[0].error.as_ref().unwrap().starts_with(said), "{:?}", calls[0].error);
        assert_eq!(rig.left(), Vec::<String>::new(), "{wrong}");
    }
}

/// Nonsense and endless lines are passed over, and a program or a grandchild that stays is ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_counts_whatever_stands_before_it_and_stays_after_it() {
    for wrong in ["garbage+long-line", "hold", "hang-end", "hold+hang-end"] {
        let rig = followed(&format!("cc+{wrong}")).await;
        rig.server.script(vec![Reply::text("That is all.")]);
        let answer = rig.ask(1, "?").await.unwrap();
        assert_eq!((answer.text.as_str(), answer.facts.brain.as_str()), ("That is all.", "cc"), "{wrong}");
        assert_eq!(rig.left(), Vec::<String>::new(), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ends_or_is_not_there_is_told_and_its_key_is_not() {
    for (name, program, said) in [
        ("cc+exit-start", "bin/claude", "ended with status 1 (cannot start"),
        ("cc", "bin/nobody", "can't be started"),
    ] {
        let first = |rig: &Rig| rig.brain("claude-code", name).replace("bin/claude", program);
        let rig = Rig::new(|rig| first(rig) + &rig.brain("chat", "next")).await;
        rig.server.script(vec![Reply::text("I do.")]);
        assert_eq!(rig.ask(1, "?").await.unwrap().facts.brain, "next");
        let error = rig.journal.calls(1).unwrap()[0].error.clone().unwrap();
        assert!(error.contains(said), "{error}");
        assert_eq!(error.contains("No such file"), program == "bin/nobody", "{error}");
        assert!(!error.contains("sk-ant") && !error.contains(CLAUDE_KEY), "{error}");
    }
}

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
            let broken = (!is_program(first)).then(Reply::reset);
            let replies = [remind(first)].into_iter().chain(broken).chain([Reply::text("It is set.")]);
            rig.server.script(replies.collect());
            let answer = rig.ask(1, "Remind me of tea.").await.unwrap();
            let pair = format!("{first} to {second}");
            assert_eq!(answer.text, "It is set.", "{pair}");
            assert_eq!(answer.facts.brain, "second", "{pair}");
            assert_eq!((rig.tools(1).len(), rig.reminders()), (1, 1), "{pair}");
            let told = words(rig.server.requests().last().unwrap());
            contains_all(told, &["reminder_add", "drink tea", "Remind me of tea."]);
            assert_eq!(rig.left(), Vec::<String>::new(), "{pair}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_end_nobody_saw_is_told_so_and_not_made_again() {
    for second in kinds() {
        let first = |rig: &Rig| rig.brain("claude-code", "first+die-in-tool");
        let rig = Rig::new(|rig| first(rig) + &rig.brain(second, "second")).await;
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
        let first = |rig: &Rig| rig.brain("claude-code", "first+die-after-tool") + "tools = [\"Bash\"]\n";
        let mut rig = Rig::new(|rig| first(rig) + &rig.brain(second, "second")).await;
        rig.person = Person::who_says(ApprovalVerdict::Yes);
        let call = Reply::tool("Bash", json!({"command": "echo the number is $((6 * 7))"}));
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
    tokio::select! {
        _ = rig.answer(1) => panic!("it hangs"),
        () = rig.server.wait_for(2) => {}
    }
    rig.server.script(vec![Reply::text("It is set.")]);
    assert_eq!(rig.answer(1).await.unwrap().text, "It is set.");
    assert_eq!((rig.tools(1).len(), rig.reminders()), (1, 1));
    let told = words(rig.server.requests().last().unwrap());
    contains_all(told, &["Another assistant began to answer", "drink tea"]);
}
