use jiff::{Timestamp, civil};

use super::*;
use crate::deliver::notifier::MessageKind;

const LIMIT: usize = 2000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn local(day: i8) -> civil::DateTime {
    civil::date(2026, 12, day).at(9, 30, 0, 0)
}

fn fact(id: &str, day: i8) -> NotifiedItem {
    NotifiedItem {
        kind: MessageKind::Reminder,
        id: id.to_owned(),
        local: local(day),
        due: at(0),
        late_seconds: 0,
        missed: 0,
        msg: "x".to_owned(),
        recurring: false,
        next: None,
        note: None,
    }
}

fn message(id: &str, day: i8, body: &str) -> NewMessage {
    let key = key(id, local(day), None);
    NewMessage {
        key: key.clone(),
        kind: MessageKind::Reminder,
        to: Recipient::Primary,
        scope: Some("thread:7".parse().unwrap()),
        body: body.to_owned(),
        deliveries: vec![(key, LineHash::of(id.as_bytes()), fact(id, day))],
        lookup_since: None,
    }
}

fn journal() -> (tempfile::TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    (dir, journal)
}

fn state(journal: &Journal, id: &str, day: i8) -> Option<DeliveryState> {
    journal.row(&key(id, local(day), None)).unwrap().map(|row| row.state)
}

/// Sends a message of one chunk.
fn send(journal: &Journal, key: &str) {
    assert!(journal.sending(key, 0, at(0)).unwrap());
    assert!(journal.sent(key, (0, 0), None, "place").unwrap());
}

#[test]
fn a_delivery_goes_through_its_states() {
    let (_dir, journal) = journal();
    assert_eq!(state(&journal, "a", 1), None);
    let claimed = journal.claim(&[message("a", 1, "hello")], |_| LIMIT).unwrap();
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].chunks[0].text, "hello");
    assert_eq!(claimed[0].scope, Some("thread:7".parse().unwrap()));
    assert_eq!(state(&journal, "a", 1), Some(DeliveryState::Due));
    journal.sending(&claimed[0].key, 0, at(1)).unwrap();
    assert_eq!(state(&journal, "a", 1), Some(DeliveryState::Sending));
    assert_eq!(journal.messages().unwrap()[0].chunks[0].first, Some(at(1)));
    assert!(journal.sent(&claimed[0].key, (0, 0), Some("99"), "place").unwrap());
    let row = journal.row(&claimed[0].key).unwrap().unwrap();
    assert_eq!((row.state, row.delivered.as_deref()), (DeliveryState::Sent, Some("99")));
    assert!(journal.messages().unwrap().is_empty());
    assert_eq!(journal.unsettled().unwrap().len(), 1);
    journal.done([claimed[0].key.as_str()]).unwrap();
    assert_eq!(state(&journal, "a", 1), Some(DeliveryState::Done));
}

#[test]
fn what_was_claimed_is_claimed_once() {
    let (dir, journal) = journal();
    let other = Journal::open(dir.path()).unwrap();
    assert_eq!(journal.claim(&[message("a", 1, "x"), message("b", 1, "x")], |_| LIMIT).unwrap().len(), 2);
    let second = other.claim(&[message("b", 1, "x"), message("c", 1, "x")], |_| LIMIT).unwrap();
    assert_eq!(second.iter().map(|message| message.key.as_str()).collect::<Vec<_>>(), ["c@2026-12-01T09:30"]);
}

#[test]
fn one_pass_at_a_time() {
    let (dir, journal) = journal();
    let other = Journal::open(dir.path()).unwrap();
    let lock = journal.lock(PASS_LOCK).unwrap();
    assert!(lock.is_some());
    assert!(other.lock(PASS_LOCK).unwrap().is_none());
    drop(lock);
    assert!(other.lock(PASS_LOCK).unwrap().is_some());
}

#[test]
fn a_sure_failure_frees_the_delivery_and_an_unknown_outcome_keeps_the_text() {
    let (_dir, journal) = journal();
    let claimed = journal.claim(&[message("a", 1, "x"), message("b", 1, "y")], |_| LIMIT).unwrap();
    let retry = at(60);
    journal.sending(&claimed[0].key, 0, at(0)).unwrap();
    journal.not_sent(&claimed[0].key, 0, retry, "unreachable", "place").unwrap();
    let row = journal.row(&claimed[0].key).unwrap().unwrap();
    assert_eq!(
        (row.state, row.attempts, row.retry, row.attempted),
        (DeliveryState::Due, 1, Some(retry), Some(at(0)))
    );
    journal.sending(&claimed[1].key, 0, at(0)).unwrap();
    journal.unknown(&claimed[1].key, retry, "500").unwrap();
    journal.release_unsent().unwrap();
    let open = journal.messages().unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].body.as_str(), open[0].retry, open[0].attempts), ("y", Some(retry), 1));
    assert_eq!(journal.open_deliveries().unwrap().len(), 2);
}

#[test]
fn chunks_are_sent_one_by_one_and_a_begun_message_is_kept() {
    let (_dir, journal) = journal();
    let body = format!("{}\n\n{}", "a".repeat(1500), "b".repeat(1500));
    let claimed = journal.claim(&[message("a", 1, &body)], |_| LIMIT).unwrap();
    let (key, nonces) =
        (&claimed[0].key, claimed[0].chunks.iter().map(|chunk| &chunk.nonce).collect::<Vec<_>>());
    assert_eq!(nonces.len(), 2);
    assert_ne!(nonces[0], nonces[1]);
    journal.sending(key, 0, at(0)).unwrap();
    assert!(!journal.sent(key, (0, 0), None, "place").unwrap());
    journal.sending(key, 1, at(1)).unwrap();
    journal.not_sent(key, 1, at(9), "unreachable", "place").unwrap();
    journal.release_unsent().unwrap();
    let open = journal.messages().unwrap();
    assert_eq!(open[0].chunks[0].state, ChunkState::Sent);
    assert_eq!(open[0].chunks[1].state, ChunkState::Due);
    assert_eq!(state(&journal, "a", 1), Some(DeliveryState::Sending));
    assert!(journal.sending(key, 1, at(9)).unwrap());
    assert!(journal.sent(key, (0, 1), None, "place").unwrap());
    assert_eq!(journal.row(key).unwrap().unwrap().delivered.as_ref(), Some(nonces[0]));
}

#[test]
fn a_refused_message_goes_elsewhere_with_other_nonces_or_fails_for_these_settings() {
    let (_dir, journal) = journal();
    let claimed = journal.claim(&[message("a", 1, "x")], |_| LIMIT).unwrap();
    let rerouted = journal.reroute(&claimed[0].key, 1, LIMIT).unwrap().unwrap();
    assert_eq!(rerouted.route, 1);
    assert_ne!(rerouted.chunks[0].nonce, claimed[0].chunks[0].nonce);
    journal.failed(&claimed[0].key, "no", "settings 1").unwrap();
    let row = journal.row(&claimed[0].key).unwrap().unwrap();
    assert_eq!((row.state, row.settings.as_deref()), (DeliveryState::Failed, Some("settings 1")));
    assert_eq!(
        journal.claim(&[message("a", 1, "x")], |_| LIMIT).unwrap().len(),
        1,
        "a failed one can be claimed again"
    );
    journal.refused("discord thread:7", at(0), "50001", "s").unwrap();
    assert_eq!(journal.refusals("s").unwrap()[0].reason, "50001");
    assert!(journal.refusals("other").unwrap().is_empty());
    journal.accepted("discord thread:7").unwrap();
    assert!(journal.refusals("s").unwrap().is_empty());
}

#[test]
fn the_latest_sent_occurrence_is_found() {
    let (_dir, journal) = journal();
    for day in [1, 3, 5] {
        let claimed = journal.claim(&[message("a", day, "x")], |_| LIMIT).unwrap();
        if day < 5 {
            send(&journal, &claimed[0].key);
        }
    }
    assert_eq!(journal.latest_sent("a", local(1), local(9)).unwrap(), Some(local(3)));
    assert_eq!(journal.latest_sent("a", local(2), local(2)).unwrap(), None);
    assert_eq!(journal.latest_sent("b", local(1), local(9)).unwrap(), None);
}

#[test]
fn names_and_findings_are_remembered() {
    let (_dir, journal) = journal();
    let (a, b) = (LineHash::of(b"a"), LineHash::of(b"b"));
    let id = crate::format::ReminderId::from_random([0; 8]);
    journal.set_names(&[(a, id)]).unwrap();
    assert_eq!(journal.name(&a).unwrap(), Some(id));
    assert_eq!(journal.name(&b).unwrap(), None);
    let set = |hashes: &[LineHash]| hashes.iter().copied().collect();
    assert_eq!(journal.new_findings("R", &set(&[a, b]), true).unwrap().len(), 2);
    assert_eq!(journal.new_findings("R", &set(&[a]), true).unwrap().len(), 0);
    assert_eq!(journal.new_findings("R", &set(&[a, b]), false).unwrap(), set(&[b]), "it was gone in between");
    assert_eq!(journal.new_findings("R", &set(&[a, b]), true).unwrap(), set(&[b]));
}

#[test]
fn findings_of_one_note_are_not_those_of_another() {
    let (_dir, journal) = journal();
    let set = |hashes: &[LineHash]| hashes.iter().copied().collect();
    let a = LineHash::of(b"a");
    assert_eq!(journal.new_findings("R", &set(&[a]), true).unwrap().len(), 1);
    assert_eq!(journal.new_findings("C", &set(&[]), true).unwrap().len(), 0);
    assert_eq!(journal.new_findings("R", &set(&[a]), true).unwrap().len(), 0);
}

#[test]
fn a_file_that_is_no_database_is_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(FILE_NAME), "this is no database, but long enough to look at, really")
        .unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    assert!(journal.messages().unwrap().is_empty());
    assert!(dir.path().join("deliveries.sqlite.broken-1").exists());
}

#[test]
fn a_newer_journal_is_left_alone() {
    let (dir, journal) = journal();
    journal.db.connection().pragma_update(None, "user_version", 99).unwrap();
    drop(journal);
    let error = Journal::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("version 99"), "{error}");
}

#[test]
fn a_committed_row_survives_and_pruning_keeps_the_newest() {
    let (dir, journal) = journal();
    let claimed = journal.claim(&[message("a", 1, "x")], |_| LIMIT).unwrap();
    send(&journal, &claimed[0].key);
    drop(journal);
    let journal = Journal::open(dir.path()).unwrap();
    assert_eq!(state(&journal, "a", 1), Some(DeliveryState::Sent));
    let claimed = journal.claim(&[message("b", 1, "x")], |_| LIMIT).unwrap();
    send(&journal, &claimed[0].key);
    journal
        .db
        .write(|tx| tx.execute("UPDATE deliveries SET number = -300000 WHERE subject = 'a'", []))
        .unwrap();
    journal.done([key("a", local(1), None).as_str()]).unwrap();
    assert_eq!(state(&journal, "a", 1), None, "long done");
    assert_eq!(state(&journal, "b", 1), Some(DeliveryState::Sent));
}

#[test]
fn a_late_writer_takes_back_nothing_that_was_sent() {
    let (dir, journal) = journal();
    let late = Journal::open(dir.path()).unwrap();
    let (key, text) = ("answer:1".to_owned(), "x".to_owned());
    // An answer stays in the journal after it was sent.
    let claimed =
        journal.claim(&[NewMessage::plain(key.clone(), MessageKind::Answer, None, text)], |_| LIMIT).unwrap();
    assert!(
        journal.sending(&key, 0, at(0)).unwrap() && journal.sent(&key, (0, 0), Some("99"), "place").unwrap()
    );
    assert!(!late.sending(&key, 0, at(1)).unwrap(), "it would come twice");
    late.not_sent(&key, 0, at(9), "unreachable", "place").unwrap();
    late.sent(&key, (0, 0), Some("100"), "place").unwrap();
    let answer = journal.answer(&claimed[0].key).unwrap().unwrap();
    let chunk = &answer.chunks[0];
    assert_eq!(
        (chunk.state, chunk.message_id.as_deref(), answer.retry),
        (ChunkState::Sent, Some("99"), None)
    );
    // Nor is a message sent that was ended.
    let key = &journal.claim(&[message("a", 1, "x")], |_| LIMIT).unwrap()[0].key;
    send(&journal, key);
    assert!(!late.sending(key, 0, at(1)).unwrap());
    late.failed(key, "no", "settings").unwrap();
    assert_eq!(state(&journal, "a", 1), Some(DeliveryState::Sent));
}

#[test]
fn what_arrived_is_recorded_though_another_writer_was_refused() {
    let (dir, journal) = journal();
    let late = Journal::open(dir.path()).unwrap();
    let answer = NewMessage::plain("answer:1".to_owned(), MessageKind::Answer, None, "x".to_owned());
    let key = &journal.claim(&[answer], |_| LIMIT).unwrap()[0].key;
    assert!(journal.sending(key, 0, at(0)).unwrap() && late.sending(key, 0, at(1)).unwrap());
    late.not_sent(key, 0, at(9), "too many requests", "place").unwrap();
    assert!(journal.sent(key, (0, 0), Some("99"), "place").unwrap());
    assert_eq!(journal.answer(key).unwrap().unwrap().chunks[0].state, ChunkState::Sent);
}

#[test]
fn a_message_that_another_writer_moved_on_stays_where_it_is() {
    let (dir, journal) = journal();
    let late = Journal::open(dir.path()).unwrap();
    let key = &journal.claim(&[message("a", 1, "x")], |_| LIMIT).unwrap()[0].key;
    journal.reroute(key, 1, LIMIT).unwrap().unwrap();
    assert!(!late.sent(key, (0, 0), Some("99"), "the first place").unwrap());
    assert!(journal.sending(key, 0, at(1)).unwrap());
    assert_eq!(late.reroute(key, 1, LIMIT).unwrap(), None);
    let open = &journal.messages().unwrap()[0];
    assert_eq!((open.route, open.chunks[0].state), (1, ChunkState::Sending));
}

#[test]
fn what_a_message_carries_is_left_to_its_sender() {
    use crate::deliver::Restoring;
    use crate::schedule::Zone;

    let (dir, journal) = journal();
    let (late, zone) = (Journal::open(dir.path()).unwrap(), Zone::get("UTC").unwrap());
    let id = "rid_AAAAAAAAAAAA";
    let line = format!("- [ ] date=2026-12-01 time=09:30 recur=none msg=\"x\" id={id}\n");
    let restoring =
        Restoring { journal: &late, zone: &zone, now: "2026-12-01T10:00:00Z".parse().unwrap(), fire: false };
    let key = &journal.claim(&[message(id, 1, "x")], |_| LIMIT).unwrap()[0].key;
    for step in [DeliveryState::Due, DeliveryState::Sending] {
        assert_eq!(state(&journal, id, 1), Some(step));
        assert_eq!(restoring.hold_reminders(b"", line.as_bytes()).unwrap(), 0);
        late.task_moved(key, "b@2026-12-01T09:30", &LineHash::of(b"b"), &fact("b", 1)).unwrap();
        assert_eq!(state(&journal, id, 1), Some(step));
        journal.sending(key, 0, at(0)).unwrap();
    }
    journal.not_sent(key, 0, at(9), "unreachable", "place").unwrap();
    assert_eq!(state(&journal, id, 1), Some(DeliveryState::Due));
    // It is on no message's way any more.
    restoring.hold_reminders(b"", line.as_bytes()).unwrap();
    assert_eq!(state(&journal, id, 1), Some(DeliveryState::Failed));
}
