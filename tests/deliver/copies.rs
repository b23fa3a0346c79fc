//! Several notifiers at once, each with a state of its own.

use crate::deliver::crashes::{STEPS, at_each_step};
use crate::deliver::world::*;

const NOW: &str = "2026-12-01T09:30:00Z";

fn one() -> World {
    World::due("Call").with_other()
}

/// One and, each day, another.
fn two() -> World {
    World::new(NOW, &(due(&["One"]) + &line("2026-12-01", "09:30", "daily", "Two", &id('B')))).with_other()
}

#[test]
fn one_that_fails_is_tried_alone_until_it_takes_it() {
    let mut world = one();
    (0..3).for_each(|_| world.others[0].fault(Fault::Unreachable(None)));
    let report = world.tick();
    assert_eq!((report.fired.len(), report.failed.len(), world.read().as_str()), (1, 1, ""));
    assert_eq!(world.journal().open_copies().unwrap().len(), 1);
    let mut again = report.next_pass;
    while let Some(at) = again.filter(|_| world.other().is_empty()) {
        world.clock.set(at);
        again = world.tick().next_pass;
    }
    assert_eq!((world.place.texts().len(), world.other().len(), world.place.attempts()), (1, 1, 1));
    assert!(world.journal().open_copies().unwrap().is_empty());
}

#[test]
fn one_that_was_out_of_reach_says_how_late_it_is() {
    let late = "Reminder: Call (due 09:30, 3 h late)";
    // What may have come keeps its words, by which it is looked for.
    for (fault, told) in [(Fault::Unreachable(None), late), (Fault::Nothing, "Reminder: Call")] {
        let mut world = one();
        world.others[0].fault(fault);
        world.tick();
        world.later(secs(3 * 3600)).tick();
        assert_eq!([world.place.texts(), world.other()], [["Reminder: Call"], [told]]);
    }
}

#[test]
fn while_the_one_that_counts_fails_the_other_is_told_once() {
    let mut world = one();
    for _ in 0..5 {
        world.place.fault(Fault::Unreachable(None));
        world.tick();
        world.later(secs(3600));
    }
    assert_eq!((world.place.texts().len(), world.other().len()), (0, 1));
    // By now others were missed too, and the one that counts tells of all in a digest.
    world.write(world.read() + &due_at("09:31", "BCDE"));
    world.tick();
    let (place, other) = (world.place.texts(), world.other());
    assert!(place.len() == 1 && place[0].starts_with("5 were missed"), "{place:?}");
    assert_eq!(other.iter().filter(|text| text.contains("Call")).count(), 1, "{other:?}");
    assert!(other[1].starts_with("4 were missed"), "{other:?}");
    assert_eq!(world.read(), "");
}

#[test]
fn a_refusal_by_one_is_told_and_nobody_is_told_twice() {
    let mut world = one();
    world.others[0].refuses.lock().unwrap().push(None);
    let report = world.tick();
    assert_eq!(report.fired.len(), 1);
    assert_eq!(report.failures(), ["not also by other: rid_AAAAAAAAAAAA: unknown channel"]);
    let refusals = world.journal().refusals("settings 1").unwrap();
    assert_eq!(refusals.iter().map(|refusal| refusal.place.as_str()).collect::<Vec<_>>(), ["other"]);
    (0..3).for_each(|_| drop(world.later(secs(600)).tick()));
    assert_eq!((world.place.texts().len(), world.others[0].attempts()), (1, 1));
}

#[test]
fn what_waits_for_a_notifier_that_is_gone_from_the_settings_is_dropped() {
    let mut world = one();
    world.others[0].fault(Fault::Unreachable(None));
    world.tick();
    world.others.clear();
    world.settings.notify_rules.kinds.truncate(1);
    let report = world.later(secs(600)).tick();
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    assert!(world.journal().open_copies().unwrap().is_empty());
    assert_eq!(world.later(secs(600)).tick().next_pass, None);
}

#[test]
fn a_tag_leads_elsewhere() {
    let mut world = World::all_due(&["Call", "Plan #work/office"]).with_other();
    world.settings.notify_rules.kinds.truncate(1);
    world.settings.notify_rules.tags.insert("work".to_owned(), vec!["other"]);
    assert_eq!((world.fires(), world.read().as_str()), (2, ""));
    assert_eq!([world.place.texts(), world.other()], [["Reminder: Call"], ["Reminder: Plan #work/office"]]);
}

#[test]
fn what_the_place_of_a_tag_refuses_comes_on_the_console() {
    let vault = TestVault::new("//- /vault-agent.toml\n[notify]\ntags = { work = [\"desktop\"] }\n");
    vault.write("Reminders.md", due(&["Plan #work"]));
    vault.run(&["tick"]).ok().says("Plan #work");
    assert_eq!(vault.read("Reminders.md"), "");
}

/// The console gets copies, and takes the place of the one that counts, which refuses for good.
#[test]
fn the_console_tells_once_what_it_gets_in_two_ways() {
    // How many are due, whether their place first can't be reached, and how many more are due when it refuses.
    for (count, is_down, more) in [(1, false, 0), (1, true, 0), (5, false, 0), (5, true, 1), (2, true, 3)] {
        let mut world = World::due("").with_other();
        world.fallback = Some(world.others[0].clone());
        let letters = "ABCDEFGH";
        world.write(due_at("09:30", &letters[..count]));
        world.later(secs(3600));
        if is_down {
            (0..count).for_each(|_| world.place.fault(Fault::Unreachable(None)));
            assert_eq!(world.fires(), 0);
            world.later(secs(3600));
            world.write(world.read() + &due_at("10:30", &letters[count..count + more]));
        }
        world.place.refuses.lock().unwrap().push(None);
        let fired: usize = (0..2).map(|_| world.fires()).sum();
        let texts = world.other().join("\n");
        for letter in letters[..count + more].chars() {
            let told = texts.lines().filter(|line| line.contains(&format!(" {letter} ("))).count();
            assert_eq!(told, 1, "{count} {is_down} {more} {letter}: {texts}");
        }
        assert_eq!((fired, world.read().as_str()), (count + more, ""), "{count} {is_down} {more}: {texts}");
        assert!(world.journal().open_copies().unwrap().is_empty() && world.place.texts().is_empty());
    }
}

#[test]
fn a_slow_one_holds_nobody_else_up() {
    for counts in [false, true] {
        let mut world = World::new(NOW, &due_at("09:30", "ABCD")).with_other();
        let (mut slow, mut other) = (world.others[0].clone(), world.place.clone());
        if counts {
            std::mem::swap(&mut slow, &mut other);
        }
        (0..9).for_each(|_| slow.fault(Fault::Nothing));
        world.tick();
        assert_eq!(other.texts().len(), 4);
        assert_eq!(slow.attempts(), 1, "one without an answer a pass is enough: {counts}");
    }
}

/// The second place counts now; the first one is told besides, or not at all.
fn turn(world: &mut World, kinds: &[&'static str]) {
    let other = world.others[0].clone();
    world.others = if kinds.contains(&"place") { vec![world.place.clone()] } else { Vec::new() };
    world.notifier = Some(other);
    world.settings.notify_rules.kinds = kinds.to_vec();
    world.settings.notifiers = "settings 2".to_owned();
}

#[test]
fn one_that_took_its_copy_and_counts_then_is_not_told_again() {
    for kinds in [&["other"][..], &["other", "place"]] {
        for fault in [Fault::Unreachable(None), Fault::Nothing] {
            let mut world = one();
            let other = world.others[0].clone();
            world.place.fault(fault.clone());
            assert_eq!((world.fires(), other.texts().len()), (0, 1));
            turn(&mut world, kinds);
            // Others were missed by now, and come together.
            world.write(world.read() + &due_at("09:31", "BCDE"));
            assert_eq!(world.later(secs(3600)).fires(), 5, "{kinds:?} {fault:?}");
            assert_eq!(world.read(), "");
            world.later(secs(3600)).tick();
            let told = |texts: Vec<String>| texts.iter().filter(|text| text.contains("Call")).count();
            assert_eq!(told(other.texts()), 1, "{kinds:?} {fault:?}: {:?}", other.texts());
            // What may have arrived at the first place isn't sent there again.
            let first = usize::from(kinds.len() == 2 && matches!(fault, Fault::Unreachable(_)));
            assert_eq!(told(world.place.texts()), first, "{kinds:?} {fault:?}");
        }
    }
}

#[test]
fn one_whose_copy_is_on_its_way_and_counts_then_is_told_once() {
    for fault in [Fault::LostAnswer, Fault::Nothing, Fault::Unreachable(None)] {
        let mut world = one();
        let other = world.others[0].clone();
        world.place.fault(Fault::Unreachable(None));
        other.fault(fault.clone());
        world.tick();
        turn(&mut world, &["other"]);
        let fired: usize = (0..3).map(|_| world.later(secs(600)).fires()).sum();
        assert_eq!((other.texts().len(), fired, world.read().as_str()), (1, 1, ""), "{fault:?}");
    }
}

#[test]
fn each_step_after_the_turn_may_be_the_last_before_a_crash() {
    at_each_step(3, &[30], STEPS.len(), |crash| {
        let mut world = two();
        let other = world.others[0].clone();
        world.place.fault(Fault::Unreachable(None));
        world.place.fault(Fault::Unreachable(None));
        world.tick();
        turn(&mut world, &["other", "place"]);
        world.write(world.read() + &line("2026-12-01", "09:31", "none", "Three", &id('C')));
        crash.tick(world.later(secs(60)));
        world.later(secs(crash.wait)).tick();
        world.later(secs(60)).tick();
        for texts in [world.place.texts(), other.texts()] {
            assert_eq!(texts.len(), 3, "{}: {texts:?}", crash.context);
        }
    });
}

#[test]
fn each_step_may_be_the_last_before_a_crash() {
    // Also where the one that counts refuses for good, and the other takes its place.
    for refused in [false, true] {
        at_each_step(5, &[30, 600], 2 * STEPS.len(), |crash| {
            let mut world = two();
            world.fallback = refused.then(|| world.others[0].clone());
            world.place.refuses.lock().unwrap().extend(refused.then_some(None));
            crash.tick(&mut world);
            world.later(secs(crash.wait)).tick();
            world.later(secs(60)).tick();
            for (texts, count) in [(world.place.texts(), if refused { 0 } else { 2 }), (world.other(), 2)] {
                assert_eq!(texts.len(), count, "{refused} {}: {texts:?}", crash.context);
            }
        });
    }
}
