use super::*;
use crate::brain::ToolCall;
use crate::turn::TurnState;

fn now() -> Timestamp {
    "2026-11-22T09:00:00Z".parse().unwrap()
}

fn turn(message: u64) -> NewTurn {
    NewTurn { message, channel: 7, author: "Alice".into(), text: "hi".into(), ..NewTurn::default() }
}

#[test]
fn a_message_is_accepted_once_and_goes_on_only_forward() {
    let journal = TurnJournal::in_memory().unwrap();
    assert!(journal.accept(&turn(1), now()).unwrap());
    assert!(!journal.accept(&turn(1), now()).unwrap());
    journal.record_recalled(1, &RecallRow::default(), now()).unwrap();
    journal.record_call_start(1, "claude", now()).unwrap();
    assert!(journal.record_answer(1, "text", "%% x %%", 1, now()).unwrap());
    assert!(!journal.begin_again(1, now()).unwrap());
    assert!(!journal.record_answer(1, "another", "", 1, now()).unwrap());
    let row = journal.turn(1).unwrap().unwrap();
    assert_eq!(
        (row.state, row.answer.as_deref(), row.brain.as_deref()),
        (TurnState::Answered, Some("text"), Some("claude"))
    );
    assert!(journal.advance(1, TurnState::Sent, "", now()).unwrap());
    assert!(journal.advance(1, TurnState::Done, "", now()).unwrap());
    assert!(journal.open_turns(None).unwrap().is_empty());
}

#[test]
fn many_may_make_the_file_at_the_same_moment() {
    for _ in 0..8 {
        let dir = tempfile::tempdir().unwrap();
        let (path, start) = (dir.path(), std::sync::Barrier::new(8));
        std::thread::scope(|scope| {
            for message in 1..=8 {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    assert!(TurnJournal::open(path).unwrap().accept(&turn(message), now()).unwrap());
                });
            }
        });
        assert_eq!(TurnJournal::open(path).unwrap().latest(99).unwrap().len(), 8);
    }
}

#[test]
fn a_joined_message_goes_along_and_an_edited_one_begins_again() {
    let journal = TurnJournal::in_memory().unwrap();
    for id in [1, 2] {
        journal.accept(&turn(id), now()).unwrap();
    }
    journal.join(2, &[1], now()).unwrap();
    journal.record_recalled(2, &RecallRow { injection: "x".into(), problem: None }, now()).unwrap();
    assert_eq!(journal.turn(1).unwrap().unwrap().state, TurnState::Recalled);
    assert!(journal.begin_again(2, now()).unwrap());
    // The memory result is already in the log, so it stays.
    let row = journal.turn(2).unwrap().unwrap();
    assert_eq!(
        (row.state, row.assembled.is_none(), row.recalled.is_some()),
        (TurnState::Accepted, true, true)
    );
    assert_eq!(journal.joined_to(2).unwrap().len(), 1);
}

#[test]
fn a_tool_is_started_once() {
    let journal = TurnJournal::in_memory().unwrap();
    journal.accept(&turn(1), now()).unwrap();
    let call = ToolCall { id: "c".into(), name: "memory_save".into(), arguments: "{}".into() };
    assert!(journal.tool_started(1, 0, &call, now()).unwrap());
    assert!(!journal.tool_started(1, 0, &call, now()).unwrap());
    assert_eq!(journal.tools(1).unwrap()[0].result, None);
    let end = ToolEnd { text: "ok".into(), is_error: false, ms: 3 };
    journal.tool_finished(1, 0, &end, now()).unwrap();
    assert_eq!(journal.tools(1).unwrap()[0].result.as_ref(), Some(&end));
}

#[test]
fn a_file_that_is_no_database_is_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(FILE_NAME), "not a database, and long enough to look like a header")
        .unwrap();
    let journal = TurnJournal::open(dir.path()).unwrap();
    assert!(journal.accept(&turn(1), now()).unwrap());
    assert!(dir.path().join("turns.sqlite.broken-1").exists());
}

#[test]
fn a_late_writer_changes_no_turn_that_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, late) = (TurnJournal::open(dir.path()).unwrap(), TurnJournal::open(dir.path()).unwrap());
    journal.accept(&turn(1), now()).unwrap();
    let request = |hash: &str| RequestRow {
        at: now(),
        budget: 1,
        tail: None,
        hash: hash.into(),
        skills: None,
        sums: Vec::new(),
    };
    let recalled = |injection: &str| RecallRow { injection: injection.into(), problem: None };
    journal.record_recalled(1, &recalled("tea"), now()).unwrap();
    journal.record_request(1, &request("first"), now()).unwrap();
    journal.record_call_start(1, "claude", now()).unwrap();
    let call = ToolCall { id: "c".into(), name: "memory_save".into(), arguments: "{}".into() };
    journal.tool_started(1, 0, &call, now()).unwrap();
    let end = ToolEnd { text: "ok".into(), is_error: false, ms: 3 };
    journal.tool_finished(1, 0, &end, now()).unwrap();
    assert!(journal.record_answer(1, "text", "", 1, now()).unwrap());
    let (before, steps) = (journal.turn(1).unwrap(), journal.steps(1).unwrap());

    late.record_recalled(1, &recalled("coffee"), now()).unwrap();
    late.record_request(1, &request("second"), now()).unwrap();
    late.record_call_start(1, "local", now()).unwrap();
    late.tool_finished(1, 0, &ToolEnd::failed("unknown"), now()).unwrap();
    late.join(2, &[1], now()).unwrap();
    assert_eq!((journal.turn(1).unwrap(), journal.steps(1).unwrap()), (before, steps));
    assert_eq!(journal.tools(1).unwrap()[0].result.as_ref(), Some(&end));
}
