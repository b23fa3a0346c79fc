//! Runs that are left at a call until a person has answered, as `tick` leaves them: at each crash, and for each word.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use jiff::SignedDuration;
use serde_json::json;

use crate::models::Reply;
use crate::routines::rig::{Outside, Rig};

/// A rig with routines of these names, each of which calls the tool once and then says what it said.
fn rig(names: &[&str]) -> (Rig, Arc<Outside>) {
    let mut rig = Rig::new("2026-12-01T08:00:00Z");
    let tool = Arc::new(Outside::default());
    (rig.tools, rig.leaves) = (tool.clone(), true);
    for name in names {
        rig.routine(name, "schedule: daily 08:00", "What is new?");
    }
    rig.respond(|asked| match asked.results().last() {
        None => Reply::tool("fetch", json!({})),
        Some(said) => Reply::text(format!("It said: {said}")),
    });
    (rig, tool)
}

/// What a person does to the lines of the note.
fn word(rig: &Rig, change: impl Fn(&str) -> String) {
    let note = rig.read("Approvals.md");
    assert!(note.contains("- [ ] ap_"), "{note}");
    rig.write("Approvals.md", &change(&note));
}

#[test]
fn each_point_may_be_the_last_before_a_crash_and_the_call_is_made_once() {
    let mut crashes = 0;
    for nth in 0.. {
        let (rig, tool) = rig(&["news"]);
        let mut crashed = rig.step_until(nth).is_none();
        if crashed {
            rig.later(SignedDuration::from_secs(60)).step();
        }
        rig.later(SignedDuration::from_secs(60));
        let waiting = rig.step();
        assert!(waiting.outcomes()[0].contains("it waits for the approval"), "{nth}: {waiting:?}");
        let note = rig.read("Approvals.md");
        assert_eq!(note.matches("ap_").count(), 1, "{nth}: one question: {note}");
        assert_eq!((tool.0.load(Ordering::SeqCst), rig.told().len()), (0, 0), "{nth}");
        word(&rig, |note| note.replace("- [ ] ap_", "- [x] ap_"));
        crashed |= rig.step_until(nth).is_none();
        rig.later(SignedDuration::from_secs(600)).step();
        let (answers, calls) = (rig.answers("news"), tool.0.load(Ordering::SeqCst));
        assert_eq!(answers.len(), 1, "{nth}: {answers:?}");
        // A crash may come between the row and the call: then the model is told that nobody knows.
        let is_unknown = answers[0].contains("outcome is unknown");
        assert!(calls == 1 || calls == 0 && is_unknown, "{nth}: {calls} calls, {answers:?}");
        assert!(answers[0].contains("the page") || is_unknown, "{nth}: {answers:?}");
        assert_eq!(rig.told().len(), 1, "{nth}: {:?}", rig.told());
        assert_eq!(rig.read("Approvals.md").matches("ap_").count(), 1, "{nth}");
        crashes += u32::from(crashed);
        if !crashed {
            break;
        }
    }
    assert!(crashes > 20, "only {crashes} points");
}

#[test]
fn a_no_a_deleted_line_and_the_end_of_the_time_are_heard_by_the_next_tick() {
    let declined = "The person declined this";
    let minus = |note: &str| note.replace("- [ ] ap_", "- [-] ap_");
    let gone = |note: &str| note.lines().filter(|line| !line.contains("ap_")).collect::<Vec<_>>().join("\n");
    let same = |note: &str| note.to_owned();
    type Change<'a> = (&'a dyn Fn(&str) -> String, i64, &'a str);
    let changes: [Change<'_>; 4] = [
        (&minus, 60, declined),
        (&gone, 60, declined),
        (&same, 1_900, "Nobody approved this in time"),
        (&|note| note.replace("- [ ] ap_", "- [x] ap_").replace("\"fetch", "\"rm fetch"), 60, declined),
    ];
    for (change, wait, says) in changes {
        // Another one's question tidies the note, too.
        let (rig, tool) = rig(&["a", "news"]);
        rig.step();
        word(&rig, change);
        rig.later(SignedDuration::from_secs(wait)).step();
        for name in ["a", "news"] {
            let answers = rig.answers(name);
            assert!(answers.len() == 1 && answers[0].contains(says), "{says}: {answers:?}");
        }
        assert_eq!(tool.0.load(Ordering::SeqCst), 0, "{says}");
        assert!(!rig.read("Approvals.md").contains("- [ ] ap_") || says.starts_with("Nobody"), "{says}");
        assert!(rig.later(SignedDuration::from_secs(60)).step().driven.is_empty());
    }
}
