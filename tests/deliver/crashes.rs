//! A pass that is ended at each of its steps, and the next one.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use jiff::SignedDuration;
use vault_agent::deliver::PassReport;

use crate::deliver::world::{World, id, line};
use crate::support::processes::at;
use crate::support::without_random;

/// The steps of a pass at which it can be ended.
pub const STEPS: [&str; 11] = [
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

thread_local! {
    /// The step at which this thread crashes, and how often it passes it before.
    static CRASH: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// A tick that ends at the step when it comes to it for the (n + 1)-th time; `None` where it did. Other
/// tests of this process are not hit.
pub fn tick_until(world: &mut World, step: usize, nth: usize) -> Option<PassReport> {
    static POINTS: Once = Once::new();
    POINTS.call_once(|| {
        for (index, name) in STEPS.iter().enumerate() {
            let crash = move || match CRASH.get() {
                Some((step, 0)) if step == index => {
                    CRASH.set(None);
                    std::panic::resume_unwind(Box::new("a crash"));
                }
                Some((step, nth)) if step == index => CRASH.set(Some((step, nth - 1))),
                _ => {}
            };
            at(name, crash);
        }
    });
    CRASH.set(Some((step, nth)));
    let report = catch_unwind(AssertUnwindSafe(|| world.tick())).ok();
    CRASH.set(None);
    report
}

#[test]
fn each_step_may_be_the_last_before_a_crash() {
    let text = line("2026-12-01", "09:30", "none", "One", &id('A'))
        + &line("2026-12-01", "09:30", "daily", "Two", "")
        + "mine\n"
        + &line("2026-12-01", "09:30", "none", "Three", "")
        + &line("2026-12-09", "09:30", "none", "Later", "");
    let after = "- [ ] date=2026-12-02 time=09:30 recur=daily msg=\"Two\" id=rid_[ID]\nmine\n- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Later\" id=rid_[ID]\n";
    let mut crashes = 0;
    for (step, name) in STEPS.iter().enumerate() {
        for nth in 0..3 {
            // Soon enough for the nonce, or so late that the place is asked.
            for wait in [30, 600] {
                let mut world = World::new("2026-12-01T09:30:00Z", &text);
                let first = tick_until(&mut world, step, nth);
                let context = format!("{name}, {nth} times before, then {wait} s");
                world.later(SignedDuration::from_secs(wait));
                let second = world.tick();
                assert!(world.tick().fired.is_empty(), "{context}");
                assert_eq!(without_random(&world.read()), after, "{context}");
                let texts = world.place.texts();
                assert_eq!(texts.len(), 3, "{context}: {texts:?}");
                crashes += usize::from(first.is_none());
                assert!(second.problems.is_empty(), "{context}: {:?}", second.problems);
            }
        }
    }
    assert!(crashes >= 2 * STEPS.len(), "only {crashes} crashes");
}
