//! A program that misbehaves: its turn is another brain's, and nothing of it is left.

use std::time::Duration;

use vault_agent::brain::FailureClass;
use vault_agent::brain::wire::BrainTimeouts;

use crate::brain::rig::PATIENT;
use crate::harness::rig::{KEY, Rig, remind};
use crate::models::Reply;

async fn followed(name: &str) -> Rig {
    Rig::new(|rig| rig.brain("claude-code", name) + &rig.brain("chat", "next")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_and_endless_lines_are_passed_over() {
    let rig = followed("cc+garbage+long-line").await;
    rig.server.script(vec![Reply::text("All the same.")]);
    let answer = rig.ask(1, "?").await.unwrap();
    assert_eq!((answer.text.as_str(), answer.facts.brain.as_str()), ("All the same.", "cc"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_silent_is_ended() {
    let short = Duration::from_millis(1500);
    for (wrong, watch, said) in [
        (
            "hang-start",
            BrainTimeouts { first_byte: short, ..PATIENT },
            "it said nothing for 1 s and was ended",
        ),
        (
            "hang-after-tool",
            BrainTimeouts { silence: short, ..PATIENT },
            "it said nothing for 1 s and was ended",
        ),
        (
            "hang-after-tool",
            BrainTimeouts { overall: short, ..PATIENT },
            "it did not answer within 0 minutes and was ended",
        ),
    ] {
        let mut rig = followed(&format!("cc+{wrong}")).await;
        rig.watch = watch;
        let script = if wrong == "hang-start" { vec![] } else { vec![remind("claude-code")] };
        rig.server.script(script);
        rig.server.script(vec![Reply::text("I finish.")]);
        let answer = rig.ask(1, "?").await.unwrap();
        assert_eq!(answer.text, "I finish.");
        let calls = rig.journal.calls(1).unwrap();
        assert_eq!(calls[0].class, Some(FailureClass::Timeout));
        assert!(calls[0].error.as_ref().unwrap().starts_with(said), "{:?}", calls[0].error);
        assert_eq!(rig.left(), Vec::<String>::new(), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_counts_though_its_program_or_a_grandchild_stays() {
    for wrong in ["hold", "hang-end", "hold+hang-end"] {
        let rig = followed(&format!("cc+{wrong}")).await;
        rig.server.script(vec![Reply::text("That is all.")]);
        let answer = rig.ask(1, "?").await.unwrap();
        assert_eq!((answer.text.as_str(), answer.facts.brain.as_str()), ("That is all.", "cc"));
        assert_eq!(rig.left(), Vec::<String>::new(), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ends_or_is_not_there_is_told_and_its_key_is_not() {
    for (name, program, said) in [
        ("cc+exit-start", "bin/claude", "ended with status 1 (cannot start"),
        ("cc", "bin/nobody", "can't be started"),
    ] {
        let rig = Rig::new(|rig| {
            let first = rig.brain("claude-code", name).replace("bin/claude", program);
            first + &rig.brain("chat", "next")
        })
        .await;
        rig.server.script(vec![Reply::text("I do.")]);
        assert_eq!(rig.ask(1, "?").await.unwrap().facts.brain, "next");
        let error = rig.journal.calls(1).unwrap()[0].error.clone().unwrap();
        assert!(error.contains(said), "{error}");
        assert_eq!(error.contains("No such file"), program == "bin/nobody", "{error}");
        assert!(!error.contains("sk-ant") && !error.contains(KEY), "{error}");
    }
}
