//! Tests rounds of several machines over one store, each written out step by step.

use super::value::EntriesFormat;
use super::*;
use crate::machines::engine::{apply, check_changes};

fn machine(at: u32) -> Protocol {
    let me = OwnMachine { name: format!("m{at}"), machine: format!("i{at}"), rank: at };
    Protocol::new(me, Timing::GIT, 0)
}

fn turn(machine: &mut Protocol, entries: &mut Entries, seconds: u64, keys: &[&str]) {
    turn_as(Eligibility::Any { due_in: 0 }, machine, entries, seconds, keys);
}

fn turn_as(right: Eligibility, machine: &mut Protocol, entries: &mut Entries, seconds: u64, keys: &[&str]) {
    let clock = Duration::from_secs(seconds);
    machine.record_entries(entries.clone(), clock);
    let wanted: Vec<ClaimRequest> =
        keys.iter().map(|key| ClaimRequest { key: (*key).to_owned(), right, within: None }).collect();
    let mut count = 0;
    let name = machine.me.name.clone();
    let mut nonce = || {
        count += 1;
        format!("{name}-{seconds}-{count}")
    };
    let Some(attempt) = machine.attempt(ClockReadings { clock, wall_ms: 0 }, &wanted, &mut nonce) else {
        return;
    };
    check_changes(&attempt.changes).unwrap();
    let answer = apply(entries, &attempt.changes);
    machine.record_outcome(attempt, Ok(answer), clock);
}

/// Seed 1004 of the simulation.
#[test]
fn what_was_dropped_and_came_back_is_asked_about_before_it_is_sent() {
    let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
    let key = claim_key("rid_AAAAAAAAAAAA@2026-12-01T09:30", "discord");
    let at = at_second;
    turn(&mut one, &mut entries, 0, &[&key]);
    assert!(matches!(one.send_right(&key, at(1)), SendRight::Yes { ask: false, .. }));
    // It is being sent when the line goes.
    one.line_removed(&key);
    turn(&mut one, &mut entries, 2, &[]);
    turn(&mut two, &mut entries, 3, &[]);
    // The machine that dropped it may take it back when its copy has the line again; no machine sends it meanwhile.
    assert_eq!(
        (one.send_right(&key, at(3)), two.send_right(&key, at(3))),
        (SendRight::Wait, SendRight::Never)
    );
    two.line_restored(&key, at(4));
    turn(&mut two, &mut entries, 4, &[]);
    turn(&mut two, &mut entries, 5, &[&key]);
    turn(&mut two, &mut entries, 6, &[&key]);
    assert!(matches!(two.send_right(&key, at(7)), SendRight::Yes { ask: true, .. }));
}

/// As of a renamed note, or one that a sync tool brought in an older state.
#[test]
fn many_lines_that_go_and_come_back_are_written_down_in_parts() {
    let (mut one, mut entries) = (machine(0), Entries::new());
    let keys: Vec<String> = (0..300).map(|at| format!("claim/{at}/discord")).collect();
    let states =
        |entries: &Entries, state: &str| entries.values().filter(|text| text.contains(state)).count();
    keys.iter().for_each(|key| one.line_removed(key));
    (0..6).for_each(|at| turn(&mut one, &mut entries, at, &[]));
    assert_eq!(states(&entries, "dropped"), 300);
    keys.iter().for_each(|key| one.line_restored(key, at_second(10)));
    (10..16).for_each(|at| turn(&mut one, &mut entries, at, &[]));
    assert_eq!(states(&entries, "dropped"), 0);
}

#[test]
fn a_newer_format_and_entries_that_went_back_are_waited_for() {
    let (mut one, mut entries) = (machine(0), Entries::new());
    turn(&mut one, &mut entries, 0, &[]);
    assert!(one.is_voice(at_second(1)) && !one.is_voice(at_second(240)));
    one.record_entries(Entries::from([(FORMAT.into(), r#"{"version":1}"#.into())]), at_second(2));
    assert_eq!(one.problem(at_second(2)), Some(ParticipationProblem::Rewound { seen: 1, found: 0 }));
    assert!(!one.is_voice(at_second(2)));
    let newer = Entries::from([(FORMAT.into(), r#"{"version":2,"more":[]}"#.into())]);
    one.record_entries(newer.clone(), at_second(3));
    assert_eq!(one.problem(at_second(3)), Some(ParticipationProblem::Newer(2)));
    turn(&mut one, &mut newer.clone(), 4, &["claim/x"]);
    assert_eq!(one.send_right("claim/x", at_second(4)), SendRight::Wait);
}

#[test]
fn another_vaults_entries_are_known_and_left_alone() {
    let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
    turn(&mut one, &mut entries, 0, &[]);
    // The first machine whose settings name the vault writes it down; one whose settings lag waits.
    two.set_vault(Some("V1".to_owned()));
    turn(&mut two, &mut entries, 1, &["claim/x"]);
    assert_eq!(EntriesFormat::read(&entries[FORMAT]).unwrap().vault.as_deref(), Some("V1"));
    for (other, wait) in [(None, true), (Some("V2".to_owned()), true), (Some("V1".to_owned()), false)] {
        one.set_vault(other);
        let before = entries.clone();
        turn(&mut one, &mut entries, 1000, &["claim/x"]);
        assert_eq!(
            one.problem(at_second(1000)),
            wait.then(|| ParticipationProblem::OtherVault("V1".to_owned()))
        );
        assert_eq!(before == entries, wait);
        assert!(!one.is_voice(at_second(1000)) || !wait);
    }
}

/// The one that hands over begins nothing more, and gives the lease back when all must have ended that it began.
#[test]
fn a_voice_that_is_asked_for_falls_silent_before_the_next_one_speaks() {
    let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
    turn(&mut one, &mut entries, 0, &[]);
    assert_eq!(one.left_as_voice(at_second(10)), at_second(230));
    two.take_voice();
    turn(&mut two, &mut entries, 10, &[]);
    one.record_entries(entries.clone(), at_second(20));
    assert!(!one.is_voice(at_second(20)), "it was told that another one is to be the voice");
    turn(&mut one, &mut entries, 49, &[]);
    turn(&mut two, &mut entries, 49, &[]);
    assert!(!two.is_voice(at_second(49)), "what began at second 19 may still be on its way");
    turn(&mut one, &mut entries, 50, &[]);
    turn(&mut two, &mut entries, 51, &[]);
    assert!(two.is_voice(at_second(51)) && !one.is_voice(at_second(51)));
}

/// No other machine began what the voice had claimed, so the voice of the next epoch goes on with it.
#[test]
fn a_voice_that_is_the_voice_again_goes_on_with_what_it_had_claimed() {
    let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
    let key = "claim/morning@2026-12-01T08:00/run";
    turn(&mut one, &mut entries, 0, &[]);
    turn_as(Eligibility::Voice, &mut one, &mut entries, 1, &[key]);
    assert!(matches!(one.send_right(key, at_second(2)), SendRight::Yes { ask: false, .. }));
    two.take_voice();
    turn(&mut two, &mut entries, 10, &[]);
    turn(&mut one, &mut entries, 20, &[]);
    turn(&mut one, &mut entries, 50, &[]);
    turn(&mut two, &mut entries, 51, &[]);
    one.take_voice();
    turn(&mut one, &mut entries, 60, &[]);
    turn(&mut two, &mut entries, 70, &[]);
    turn(&mut two, &mut entries, 100, &[]);
    turn(&mut one, &mut entries, 101, &[]);
    assert_eq!((one.is_voice(at_second(102)), one.send_right(key, at_second(102))), (true, SendRight::Wait));
    turn_as(Eligibility::Voice, &mut one, &mut entries, 102, &[key]);
    assert!(matches!(one.send_right(key, at_second(103)), SendRight::Yes { ask: true, .. }));
}

/// A machine that slept for days between two looks can't say when what it sees now was written: its clock may have gone
/// faster than the holder's.
#[test]
fn what_was_seen_long_ago_says_nothing_of_when_a_lease_was_written() {
    let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
    turn(&mut one, &mut entries, 0, &[]);
    turn(&mut two, &mut entries, 0, &[]);
    let days = 3 * 86_400;
    for at in (100..=days).step_by(100) {
        turn(&mut one, &mut entries, at, &[]);
    }
    // Its clock is a minute ahead by then, two in ten thousand.
    turn(&mut two, &mut entries, days + 60 + 1, &[]);
    turn(&mut two, &mut entries, days + 60 + 261, &[]);
    assert!(!two.is_voice(at_second(days + 322)));
    turn(&mut two, &mut entries, days + 60 + 330, &[]);
    assert!(two.is_voice(at_second(days + 391)), "it was unchanged for five minutes and this one's turn");
}

#[test]
fn old_claims_go_as_fast_as_they_come() {
    let (mut one, mut entries) = (machine(0), Entries::new());
    turn(&mut one, &mut entries, 0, &[]);
    let old = r#"{"by":"m0","machine":"i0","epoch":1,"nonce":"n","until":1,"state":"sent","at":-2592001}"#;
    entries.extend((0..2000).map(|number| (format!("claim/old-{number}"), old.to_owned())));
    let seen = |ms: i64| format!(r#"{{"machine":"b","nonce":"n","version":"1","clock_ms":{ms}}}"#);
    // One that was given away, and one that was away for a week.
    entries.extend(
        [("machine/lost", -2_592_001_000), ("machine/off", -604_800_000)]
            .map(|(key, ms)| (key.to_owned(), seen(ms))),
    );
    // Its renewals of two hours.
    (1..72).for_each(|round| turn(&mut one, &mut entries, round * 100, &[]));
    let left = entries.keys().filter(|key| key.starts_with("claim/") || key.starts_with("machine/"));
    assert_eq!(left.collect::<Vec<_>>(), ["machine/m0", "machine/off"]);
}

#[test]
fn a_copy_of_the_state_directory_on_another_machine_is_seen() {
    let (mut one, mut copy, mut entries) = (machine(0), machine(0), Entries::new());
    turn(&mut one, &mut entries, 0, &[]);
    turn(&mut one, &mut entries, 300, &[]);
    assert_eq!(one.problem(at_second(300)), None, "its own presence is no copy's");
    turn(&mut copy, &mut entries, 301, &[]);
    turn(&mut one, &mut entries, 302, &["claim/x"]);
    assert_eq!(one.problem(at_second(302)), Some(ParticipationProblem::Twin));
    assert!(one.problem(at_second(302 + 600)).is_none() && !entries.contains_key("claim/x"));
}

fn at_second(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Each is younger than a month; the oldest go.
#[test]
fn of_too_many_claims_the_oldest_that_are_settled_go() {
    let (mut one, mut entries) = (machine(0), Entries::new());
    turn(&mut one, &mut entries, 0, &[]);
    let claim = |at: i64, state: &str| {
        format!(r#"{{"by":"m0","machine":"i0","epoch":1,"nonce":"n","until":1,"state":"{state}","at":{at}}}"#)
    };
    let most = i64::try_from(presence::MOST_CLAIMS).unwrap();
    entries.extend((0..most + 50).map(|at| (format!("claim/{at}"), claim(at - most, "sent"))));
    entries.insert("claim/open".to_owned(), claim(-2 * most, "claimed"));
    (1..4).for_each(|round| turn(&mut one, &mut entries, round * 100, &[]));
    assert_eq!(entries.keys().filter(|key| key.starts_with("claim/")).count(), presence::MOST_CLAIMS);
    assert!(entries.contains_key("claim/open") && entries.contains_key("claim/51"));
    assert!(!entries.contains_key("claim/50"));
}

/// With etcd, a claim that is made a minute ahead would end 8 s after its message is due.
#[test]
fn a_claim_is_renewed_before_it_ends_and_is_taken_over_after_the_last_renewal() {
    let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
    (one.timing, two.timing) = (Timing::ETCD, Timing::ETCD);
    let key = claim_key("rid_AAAAAAAAAAAA@2026-12-01T09:30", "webhook");
    for second in 0..=180 {
        let right = Eligibility::Any { due_in: 60_000 - i64::try_from(second).unwrap() * 1000 };
        if second <= 120 {
            turn_as(right, &mut one, &mut entries, second, &[&key]);
            let may = one.send_right(&key, at_second(second));
            let least = Duration::from_secs(7);
            assert!(matches!(may, SendRight::Yes { ask: false, left } if left >= least), "{second}: {may:?}");
        }
        turn_as(right, &mut two, &mut entries, second, &[&key]);
        let takes = matches!(two.send_right(&key, at_second(second)), SendRight::Yes { ask: true, .. });
        assert_eq!(takes, second >= 141, "renewed at second 116, for 25 s: {second}");
    }
}

#[test]
fn what_was_sent_while_the_store_was_away_is_marked_before_it_is_taken_over() {
    let (mut one, mut two, mut entries) = (machine(0), machine(1), Entries::new());
    let keys = ["claim/sent", "claim/dead"];
    turn(&mut one, &mut entries, 0, &keys);
    turn(&mut two, &mut entries, 1, &keys);
    one.mark_sent(keys[0], None);
    two.record_failure();
    assert!(two.must_read(at_second(240)));
    // Their claims ended at second 241.
    for second in [265, 294] {
        turn(&mut two, &mut entries, second, &keys);
        assert_eq!(keys.map(|key| two.send_right(key, at_second(second))), [SendRight::Wait; 2]);
    }
    turn(&mut one, &mut entries, 294, &[]);
    // A store that fails all the time keeps nobody from taking over.
    two.record_failure();
    turn(&mut two, &mut entries, 296, &keys);
    assert_eq!(two.send_right(keys[0], at_second(296)), SendRight::Never);
    assert!(matches!(two.send_right(keys[1], at_second(296)), SendRight::Yes { ask: true, .. }));
}
