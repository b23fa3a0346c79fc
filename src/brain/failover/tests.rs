//! Tests the rules of failover: the order of attempts for each class of failure, cooldowns, and shared accounts. A
//! property test runs random failures.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn start() -> Timestamp {
    "2026-12-01T09:30:00Z".parse().unwrap()
}

fn after(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

/// Three brains with an address each; `a` has two keys.
fn chain() -> Vec<BrainId> {
    vec![
        BrainId::new("a", "messages", "https://a.example", "m1", &["key-1", "key-2"]),
        BrainId::new("b", "chat", "https://b.example/v1", "m2", &["key-3"]),
        BrainId::new("c", "chat", "http://127.0.0.1:8080", "m3", &[]),
    ]
}

fn error(class: FailureClass) -> BrainError {
    BrainError::new(class, class.name())
}

fn too_long() -> BrainError {
    BrainError { too_long: true, ..error(FailureClass::Format) }
}

fn failed(
    health: &mut BrainHealth,
    links: &[BrainId],
    at: usize,
    key: usize,
    error: &BrainError,
    now: Timestamp,
) {
    record(health, links, at, key, Some(error), now);
}

fn succeeded(health: &mut BrainHealth, links: &[BrainId], at: usize, key: usize, now: Timestamp) {
    record(health, links, at, key, None, now);
}

/// A walk in which each attempt fails as `fails` says; gives (brain, key, shrink) of each.
fn walk(
    chain: &[BrainId],
    health: &mut BrainHealth,
    now: Timestamp,
    fails: impl Fn(BrainAttempt) -> Option<BrainError>,
) -> Vec<(usize, usize, bool)> {
    let (mut tried, mut asked) = (Vec::new(), Vec::new());
    while let Some(attempt) = next(chain, health, &tried, now) {
        asked.push((attempt.index, attempt.key, attempt.shrink));
        let Some(error) = fails(attempt) else {
            succeeded(health, chain, attempt.index, attempt.key, now);
            break;
        };
        failed(health, chain, attempt.index, attempt.key, &error, now);
        tried.push(FailedAttempt { attempt, class: error.class, too_long: error.too_long });
        assert!(asked.len() < 20, "{asked:?}");
    }
    asked
}

fn only_a_fails(error: BrainError) -> impl Fn(BrainAttempt) -> Option<BrainError> {
    move |attempt| (attempt.index == 0).then(|| error.clone())
}

#[test]
fn the_first_that_is_well_is_asked() {
    let mut health = BrainHealth::default();
    assert_eq!(walk(&chain(), &mut health, start(), |_| None), [(0, 0, false)]);
    assert_eq!(health.seen["a"].last_ok, Some(start()));
    assert_eq!(next(&[], &health, &[], start()), None);
}

#[test]
fn each_class_goes_on_as_the_table_says() {
    use FailureClass::*;
    // (class, the walk in which `a` fails so, for how long `a` is passed over afterwards)
    type Case = (FailureClass, &'static [(usize, usize, bool)], Option<i64>);
    let table: [Case; 8] = [
        (Billing, &[(0, 0, false), (1, 0, false)], Some(5 * HOUR)),
        (RateLimit, &[(0, 0, false), (1, 0, false)], Some(MINUTE)),
        (Auth, &[(0, 0, false), (0, 1, false), (1, 0, false)], Some(i64::MAX)),
        (Timeout, &[(0, 0, false), (1, 0, false)], None),
        (Overloaded, &[(0, 0, false), (1, 0, false)], None),
        (Format, &[(0, 0, false), (1, 0, false)], None),
        (UnknownModel, &[(0, 0, false), (1, 0, false)], Some(i64::MAX)),
        (Crash, &[(0, 0, false), (1, 0, false)], None),
    ];
    for (class, expected, pause) in table {
        let (chain, mut health) = (chain(), BrainHealth::default());
        assert_eq!(walk(&chain, &mut health, start(), only_a_fails(error(class))), expected, "{class:?}");
        assert_eq!(health.seen["a"].last_error.as_deref(), Some(class.name()));
        let rest = availability(&health, &chain[0], start());
        let expected = match pause {
            None => Availability::Free,
            Some(i64::MAX) => Availability::Off(class),
            Some(pause) => Availability::Until(class, after(pause)),
        };
        assert_eq!(rest, expected, "{class:?}");
        if let Some(pause) = pause.filter(|pause| *pause < i64::MAX) {
            assert_eq!(walk(&chain, &mut health.clone(), after(pause - 1), |_| None), [(1, 0, false)]);
            assert_eq!(walk(&chain, &mut health.clone(), after(pause), |_| None), [(0, 0, false)]);
        }
    }
}

#[test]
fn a_refusal_is_an_answer() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    assert_eq!(
        walk(&chain, &mut health, start(), only_a_fails(error(FailureClass::Refusal))),
        [(0, 0, false)]
    );
    assert_eq!(availability(&health, &chain[0], start()), Availability::Free);
}

#[test]
fn too_long_is_shortened_once() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    let asked = walk(&chain, &mut health, start(), only_a_fails(too_long()));
    assert_eq!(asked, [(0, 0, false), (0, 0, true), (1, 0, false)]);
    let asked = walk(&chain, &mut health, start(), |a| (!a.shrink).then(too_long));
    assert_eq!(asked, [(0, 0, false), (0, 0, true)]);
    // The key is changed with the short request.
    let asked = walk(&chain, &mut health, start(), |a| match (a.index, a.shrink, a.key) {
        (0, false, _) => Some(too_long()),
        (0, true, 0) => Some(error(FailureClass::Auth)),
        _ => None,
    });
    assert_eq!(asked, [(0, 0, false), (0, 0, true), (0, 1, true)]);
}

#[test]
fn an_empty_account_rests_longer_each_time() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    let mut now = start();
    for hours in [5, 10, 20, 24, 24, 24] {
        failed(&mut health, &chain, 0, 0, &error(FailureClass::Billing), now);
        let Availability::Until(FailureClass::Billing, until) = availability(&health, &chain[0], now) else {
            panic!("it rests")
        };
        assert_eq!(until.duration_since(now).as_secs(), hours * HOUR);
        now = until;
    }
    // A quiet day after the rest, or an answer, and it starts over.
    let quiet = now + SignedDuration::from_secs(DAY);
    let mut again = health.clone();
    failed(&mut again, &chain, 0, 0, &error(FailureClass::Billing), quiet);
    assert_eq!(again.rows[0].count, 1);
    succeeded(&mut health, &chain, 0, 0, now);
    failed(&mut health, &chain, 0, 0, &error(FailureClass::Billing), now);
    assert_eq!(health.rows[0].count, 1);
}

#[test]
fn who_shares_an_account_shares_its_emptiness_and_nothing_else() {
    let opus = BrainId::new("opus", "messages", "https://a.example", "big", &["k"]);
    let haiku = BrainId::new("haiku", "messages", "https://a.example/v1", "small", &["k"]);
    let other = BrainId::new("other", "messages", "https://a.example", "small", &["k2"]);
    let links = [opus, haiku, other];
    for class in FailureClass::ALL {
        let mut health = BrainHealth::default();
        failed(&mut health, &links, 0, 0, &error(class), start());
        let shared = availability(&health, &links[1], start()) != Availability::Free;
        assert_eq!(shared, class == FailureClass::Billing, "{class:?}");
        assert_eq!(availability(&health, &links[2], start()), Availability::Free);
        succeeded(&mut health, &links, 1, 0, start());
        assert!(
            class != FailureClass::Billing || availability(&health, &links[0], start()) == Availability::Free
        );
    }
}

#[test]
fn rate_limits_follow_the_provider_or_the_steps() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    let mut now = start();
    for minutes in [1, 5, 25, 60, 60] {
        failed(&mut health, &chain, 0, 0, &error(FailureClass::RateLimit), now);
        assert_eq!(
            availability(&health, &chain[0], now),
            Availability::Until(FailureClass::RateLimit, now + SignedDuration::from_mins(minutes))
        );
        now += SignedDuration::from_mins(minutes);
    }
    let wait = |wait: Duration| BrainError { retry_after: Some(wait), ..error(FailureClass::RateLimit) };
    for (asked, given) in
        [(Duration::from_secs(7), 7), (Duration::from_millis(1200), 2), (Duration::MAX, DAY)]
    {
        failed(&mut health, &chain, 0, 0, &wait(asked), now);
        let until = now + SignedDuration::from_secs(given);
        assert_eq!(
            availability(&health, &chain[0], now),
            Availability::Until(FailureClass::RateLimit, until)
        );
    }
    failed(&mut health, &chain, 0, 0, &wait(Duration::ZERO), now);
    assert_eq!(availability(&health, &chain[0], now), Availability::Free);
    // A day without a failure.
    let mut fresh = BrainHealth::default();
    failed(&mut fresh, &chain, 0, 0, &error(FailureClass::RateLimit), start());
    failed(&mut fresh, &chain, 0, 0, &error(FailureClass::RateLimit), after(DAY));
    assert_eq!(fresh.rows[0].count, 1);
    failed(&mut fresh, &chain, 0, 0, &error(FailureClass::RateLimit), after(2 * DAY - 1));
    assert_eq!(fresh.rows[0].count, 2);
}

#[test]
fn three_time_outs_in_a_row_are_a_reason_to_rest() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    for (n, class) in
        [FailureClass::Timeout, FailureClass::Overloaded, FailureClass::Timeout, FailureClass::Timeout]
            .into_iter()
            .enumerate()
    {
        let now = after(i64::try_from(n).unwrap() * 120);
        failed(&mut health, &chain, 0, 0, &error(class), now);
        let expected = match n {
            0 | 1 => Availability::Free,
            2 => Availability::Until(class, now + SignedDuration::from_mins(1)),
            _ => Availability::Until(class, now + SignedDuration::from_mins(5)),
        };
        assert_eq!(availability(&health, &chain[0], now), expected, "{n}");
    }
    succeeded(&mut health, &chain, 0, 0, after(900));
    failed(&mut health, &chain, 0, 0, &error(FailureClass::Timeout), after(901));
    assert_eq!(availability(&health, &chain[0], after(901)), Availability::Free);
}

#[test]
fn a_refused_key_is_not_tried_again_until_it_changes() {
    let (mut chain, mut health) = (chain(), BrainHealth::default());
    let first_key_fails = |a: BrainAttempt| (a.index == 0 && a.key == 0).then(|| error(FailureClass::Auth));
    assert_eq!(walk(&chain, &mut health, start(), first_key_fails), [(0, 0, false), (0, 1, false)]);
    assert_eq!(walk(&chain, &mut health, start(), |_| None), [(0, 1, false)]);
    walk(&chain, &mut health, start(), only_a_fails(error(FailureClass::Auth)));
    assert_eq!(availability(&health, &chain[0], after(400 * DAY)), Availability::Off(FailureClass::Auth));
    // A new key file: only the new key counts as well.
    chain[0] = BrainId::new("a", "messages", "https://a.example", "m1", &["key-1", "key-9"]);
    assert_eq!(walk(&chain, &mut health.clone(), start(), |_| None), [(0, 1, false)]);
    // New settings.
    chain[0] = BrainId::new("a", "messages", "https://a.example/new", "m1", &["key-1", "key-2"]);
    assert_eq!(walk(&chain, &mut health, start(), |_| None), [(0, 0, false)]);
}

#[test]
fn a_program_without_a_key_is_asked_again_after_a_pause() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    failed(&mut health, &chain, 2, 0, &error(FailureClass::Auth), start());
    let until = Availability::Until(FailureClass::Auth, after(60));
    assert_eq!(availability(&health, &chain[2], start()), until);
    succeeded(&mut health, &chain, 0, 0, after(1));
    assert_eq!(availability(&health, &chain[2], after(1)), until);
    assert_eq!(availability(&health, &chain[2], after(60)), Availability::Free);
    succeeded(&mut health, &chain, 2, 0, after(61));
    assert!(health.rows.is_empty());
}

#[test]
fn a_pause_from_a_clock_that_was_ahead_does_not_hold() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    failed(&mut health, &chain, 0, 0, &error(FailureClass::RateLimit), after(3 * DAY));
    assert_eq!(availability(&health, &chain[0], start()), Availability::Free);
    assert_ne!(availability(&health, &chain[0], after(3 * DAY - 60)), Availability::Free);
}

#[test]
fn another_model_or_address_is_another_brain() {
    let (mut chain, mut health) = (chain(), BrainHealth::default());
    for class in [FailureClass::UnknownModel, FailureClass::Billing] {
        failed(&mut health, &chain, 1, 0, &error(class), start());
    }
    assert_ne!(availability(&health, &chain[1], start()), Availability::Free);
    chain[1] = BrainId::new("b", "chat", "https://b.example/v1", "m9", &["key-3"]);
    assert_eq!(availability(&health, &chain[1], start()), Availability::Free);
    chain[1] = BrainId::new("b", "chat", "https://elsewhere/v1", "m2", &["key-3"]);
    assert_eq!(availability(&health, &chain[1], start()), Availability::Free);
}

#[test]
fn where_all_are_cooling_the_one_whose_time_ends_first_is_tried_once() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    failed(&mut health, &chain, 0, 0, &error(FailureClass::Billing), start());
    failed(&mut health, &chain, 1, 0, &error(FailureClass::RateLimit), start());
    failed(&mut health, &chain, 2, 0, &error(FailureClass::UnknownModel), start());
    let attempt = next(&chain, &health, &[], start()).unwrap();
    assert_eq!(attempt, BrainAttempt { index: 1, key: 0, shrink: false, last_resort: true });
    assert_eq!(walk(&chain, &mut health, start(), |_| Some(error(FailureClass::RateLimit))), [(1, 0, false)]);
    let rests = Availability::Until(FailureClass::Billing, after(5 * HOUR));
    assert_eq!(availability(&health, &chain[0], start()), rests);
    assert_eq!(availability(&health, &chain[2], start()), Availability::Off(FailureClass::UnknownModel));
    // A brain that is off isn't cooling.
    assert_eq!(next(&chain[2..], &health, &[], start()), None);
    // One brain asked for by its name is a chain of one.
    assert!(next(&chain[..1], &health, &[], start()).unwrap().last_resort);
}

#[test]
fn an_account_that_was_just_found_empty_is_known_for_an_hour() {
    let (chain, mut health) = (chain(), BrainHealth::default());
    failed(&mut health, &chain, 0, 0, &error(FailureClass::Billing), start());
    assert!(was_just_empty(&health, &chain[0], after(HOUR - 1)));
    assert!(!was_just_empty(&health, &chain[0], after(HOUR)));
    assert!(!was_just_empty(&health, &chain[1], start()));
    // A clock that was put back says nothing.
    assert!(!was_just_empty(&health, &chain[0], after(-1)));
}

#[test]
fn brains_of_one_provider_run_dry_together_and_keyless_ones_each_alone() {
    let same = [
        BrainId::new("big", "chat", "https://p.example/v1", "m1", &["key"]),
        BrainId::new("small", "chat", "https://p.example", "m2", &["key"]),
        BrainId::new("other", "chat", "https://p.example", "m2", &["another"]),
        BrainId::new("one", "chat", "http://127.0.0.1:8080", "m1", &[]),
        BrainId::new("two", "chat", "http://127.0.0.1:8080", "m2", &[]),
    ];
    let mut health = BrainHealth::default();
    for at in [0, 3] {
        failed(&mut health, &same, at, 0, &error(FailureClass::Billing), start());
    }
    let rests: Vec<bool> =
        same.iter().map(|link| availability(&health, link, start()) != Availability::Free).collect();
    assert_eq!(rests, [true, true, false, true, false]);
}

#[test]
fn a_stopped_call_says_nothing_about_a_brain() {
    let mut health = BrainHealth::default();
    failed(&mut health, &chain(), 0, 0, &BrainError::cancelled(), start());
    assert_eq!(health, BrainHealth::default());
}

fn any_error() -> impl Strategy<Value = BrainError> {
    (0..FailureClass::ALL.len(), any::<bool>(), proptest::option::of(0..100_000_u64)).prop_map(
        |(class, long, wait)| {
            let class = FailureClass::ALL[class];
            let retry_after = wait.map(Duration::from_secs);
            BrainError { too_long: long && class == FailureClass::Format, retry_after, ..error(class) }
        },
    )
}

proptest! {
    /// Walks with any failures end, never ask the same brain with the same key and length twice, never ask one
    /// that is off, and come back to a brain for its next key or a shorter request alone.
    #[test]
    fn walks_end_and_never_repeat(
        walks in proptest::collection::vec((0..200_000_i64, proptest::collection::vec(any_error(), 12)), 1..12),
        keys in proptest::collection::vec(0..4_usize, 1..5),
    ) {
        let names = ["w", "x", "y", "z"];
        let secrets = ["k1", "k2", "k3"];
        let chain: Vec<BrainId> = keys.iter().zip(names)
            .map(|(n, name)| BrainId::new(name, "chat", &format!("http://{name}"), "m", &secrets[..*n])).collect();
        let most: usize = chain.iter().map(|link| link.keys.len() + 1).sum();
        let (mut health, mut now) = (BrainHealth::default(), start());
        for (pause, errors) in walks {
            now += SignedDuration::from_secs(pause);
            let (mut tried, mut seen) = (Vec::<FailedAttempt>::new(), HashSet::new());
            while let Some(attempt) = next(&chain, &health, &tried, now) {
                prop_assert!(seen.insert((attempt.index, attempt.key, attempt.shrink)));
                prop_assert!(seen.len() <= most);
                prop_assert!(attempt.key < chain[attempt.index].keys.len());
                prop_assert!(!matches!(availability(&health, &chain[attempt.index], now), Availability::Off(_)));
                if attempt.last_resort && tried.is_empty() {
                    prop_assert!(chain.iter().all(|link| availability(&health, link, now) != Availability::Free));
                }
                let again = tried.iter().any(|t| t.attempt.index == attempt.index);
                if again {
                    let last = tried.last().unwrap();
                    prop_assert_eq!(last.attempt.index, attempt.index);
                    prop_assert!(last.class == FailureClass::Auth || (last.too_long && attempt.shrink));
                }
                let Some(error) = errors.get(tried.len()) else {
                    succeeded(&mut health, &chain, attempt.index, attempt.key, now);
                    prop_assert_eq!(availability(&health, &chain[attempt.index], now), Availability::Free);
                    break;
                };
                failed(&mut health, &chain, attempt.index, attempt.key, error, now);
                tried.push(FailedAttempt { attempt, class: error.class, too_long: error.too_long });
            }
            // Nothing rests for longer than a day.
            for link in &chain {
                if let Availability::Until(_, until) = availability(&health, link, now) {
                    prop_assert!(until.duration_since(now).as_secs() <= DAY);
                }
            }
        }
    }
}
