use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn new_run(local: &str, started: Timestamp) -> RoutineRun {
    let local: civil::DateTime = local.parse().unwrap();
    RoutineRun {
        key: run_key("morning", local),
        routine: "morning".to_owned(),
        local,
        due: local.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp(),
        started,
        note: b"note".to_vec(),
        material: "m".to_owned(),
        ..RoutineRun::default()
    }
}

#[test]
fn a_run_is_claimed_once_and_its_text_is_fixed_once() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let first = at("2026-12-01T00:00:00Z");
    journal.enabled("morning", "daily 08:00", first, first).unwrap();
    let now = at("2026-12-01T08:00:05Z");
    let run = new_run("2026-12-01T08:00", now);
    assert!(journal.claim_run(&run, true, Some("hash")).unwrap());
    assert!(!journal.claim_run(&run, true, Some("hash")).unwrap());
    let known = journal.known("morning", "daily 08:00").unwrap().unwrap();
    assert_eq!(
        (known.handled, known.ran, known.baseline.as_deref()),
        (Some(run.due), Some(now), Some("hash"))
    );
    let message = || Some((Some(MessageScope::Channel(7)), "text".to_owned()));
    assert!(journal.fix_run(&run.key, ("text", "%% x %%"), "", message(), 2000).unwrap());
    assert!(!journal.fix_run(&run.key, ("other", ""), "", message(), 2000).unwrap());
    // It is no message of the reminders' pass, and no delivery that a pass could give back.
    assert!(journal.messages().unwrap().is_empty());
    journal.release_unsent().unwrap();
    let waiting = journal.answer(&run_message_key(&run.key)).unwrap().unwrap();
    assert_eq!((waiting.is_sent(), waiting.body.as_str()), (false, "text"));
    journal.sending(&waiting.key, 0, now).unwrap();
    journal.sent(&waiting.key, (0, 0), Some("m1"), "place").unwrap();
    assert!(journal.belongs_to_delivery("m1").unwrap());
    assert!(journal.answer(&run_message_key(&run.key)).unwrap().unwrap().is_sent());
    journal.finish_run(&run.key, None).unwrap();
    assert!(journal.open_runs().unwrap().is_empty());
    assert!(!journal.claim_run(&run, true, Some("hash")).unwrap(), "never again");
    assert_eq!(journal.last_run("morning").unwrap(), Some(now));
}

#[test]
fn many_may_make_the_file_at_the_same_moment() {
    for _ in 0..8 {
        let dir = tempfile::tempdir().unwrap();
        let (path, start, claimed) = (dir.path(), std::sync::Barrier::new(8), std::sync::Mutex::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let journal = Journal::open(path).unwrap();
                    let run = new_run("2026-12-01T08:00", at("2026-12-01T08:00:00Z"));
                    let is_ours = journal.claim_run(&run, true, None).unwrap();
                    *claimed.lock().unwrap() += u32::from(is_ours);
                });
            }
        });
        assert_eq!(*claimed.lock().unwrap(), 1);
    }
}

#[test]
fn another_schedule_counts_anew() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let (first, later) = (at("2026-12-01T00:00:00Z"), at("2026-12-01T10:00:00Z"));
    journal.enabled("a", "daily 08:00", first, first).unwrap();
    let run = RoutineRun { routine: "a".into(), ..new_run("2026-12-01T08:00", first) };
    journal.claim_run(&run, true, None).unwrap();
    let other = journal.enabled("a", "daily 09:00", later, later).unwrap();
    let eight = Some(at("2026-12-01T08:00:00Z"));
    assert_eq!((other.since, other.handled, other.ran), (later, eight, Some(first)));
    let gone = journal.gone_routines(&["b"]).unwrap();
    assert_eq!(
        (gone[0].name.as_str(), gone[0].schedule.as_str(), gone[0].handled),
        ("a", "daily 09:00", eight)
    );
    journal.reset_all_except(&["b"], &["a", "b"], later).unwrap();
    assert_eq!(journal.gone_routines(&["b"]).unwrap(), []);
    assert_eq!(journal.known("a", "daily 09:00").unwrap(), None);
    let next = at("2026-12-02T00:00:00Z");
    let again = journal.enabled("a", "daily 09:00", next, next).unwrap();
    assert_eq!((again.since, again.handled, again.ran), (next, eight, Some(first)));
    // The clock had been ahead.
    assert_eq!(journal.enabled("a", "daily 09:00", first, first).unwrap().handled, None);
}
