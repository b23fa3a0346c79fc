//! A pass that is ended at each of its steps, and the next one.

use std::cell::Cell;

use vault_agent::deliver::PassReport;

use crate::deliver::world::{World, id, line, secs};
use crate::support::processes::until_crash;
use crate::support::without_random;

/// The steps of a pass at which it can be ended.
pub static STEPS: [&str; 11] = [
    "deliver::before-claim",
    "deliver::after-claim",
    "deliver::before-sending-row",
    "deliver::before-send",
    "deliver::after-send",
    "deliver::before-sent-row",
    "deliver::after-sent-row",
    "deliver::before-rewrite",
    "deliver::after-rewrite",
    "deliver::before-ids",
    "deliver::after-ids",
];

/// A tick that ends at the step when it comes to it for the (n + 1)-th time; `None` where it did.
pub fn tick_until(world: &mut World, step: usize, nth: usize) -> Option<PassReport> {
    until_crash(&STEPS[step..=step], nth, || world.tick())
}

/// One of the crashes that a test tries.
pub struct Crash<'c> {
    step: usize,
    nth: usize,
    /// How many seconds go by until the next pass.
    pub wait: i64,
    pub context: String,
    hits: &'c Cell<usize>,
}

impl Crash<'_> {
    /// A tick that crashes; what it did where it came to its end all the same.
    pub fn tick(&self, world: &mut World) -> Option<PassReport> {
        let report = tick_until(world, self.step, self.nth);
        self.hits.set(self.hits.get() + usize::from(report.is_none()));
        report
    }
}

/// Tries a crash at each step, the first so many times that it is passed, and so many seconds before the next pass; at
/// least so many have to come.
pub fn at_each_step(times: usize, waits: &[i64], least: usize, attempt: impl Fn(&Crash<'_>)) {
    let hits = Cell::new(0);
    for (step, name) in STEPS.iter().enumerate() {
        for nth in 0..times {
            for &wait in waits {
                let context = format!("{name}, {nth} times before, then {wait} s");
                attempt(&Crash { step, nth, wait, context, hits: &hits });
            }
        }
    }
    assert!(hits.get() >= least, "only {} crashes", hits.get());
}

#[test]
fn each_step_may_be_the_last_before_a_crash() {
    let text = line("2026-12-01", "09:30", "none", "One", &id('A'))
        + &line("2026-12-01", "09:30", "daily", "Two", "")
        + "mine\n"
        + &line("2026-12-01", "09:30", "none", "Three", "")
        + &line("2026-12-09", "09:30", "none", "Later", "");
    let after = "- [ ] date=2026-12-02 time=09:30 recur=daily msg=\"Two\" id=rid_[ID]\nmine\n- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Later\" id=rid_[ID]\n";
    // Soon enough for the nonce, or so late that the place is asked.
    at_each_step(3, &[30, 600], 2 * STEPS.len(), |crash| {
        let (mut world, context) = (World::new("2026-12-01T09:30:00Z", &text), &crash.context);
        crash.tick(&mut world);
        let second = world.later(secs(crash.wait)).tick();
        assert!(world.tick().fired.is_empty(), "{context}");
        assert_eq!(without_random(&world.read()), after, "{context}");
        let texts = world.place.texts();
        assert_eq!(texts.len(), 3, "{context}: {texts:?}");
        assert!(second.problems.is_empty(), "{context}: {:?}", second.problems);
    });
}
