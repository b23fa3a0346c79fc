//! Words that are changed while they are told, or after: in the middle of typing, and where a rewrite can't be made.

use vault_agent::deliver::{PassMode, PassState};

use crate::deliver::crashes::at_each_step;
use crate::deliver::world::{World, line, secs};

const NOW: &str = "2026-12-01T09:30:20Z";

fn due(msg: &str) -> String {
    line("2026-12-01", "09:30", "none", msg, "")
}

/// A daemon that has looked at an empty note.
fn daemon() -> World {
    let mut world = World::new(NOW, "# Mine\n");
    world.pass(PassMode::Daemon);
    world
}

#[test]
fn a_due_line_is_told_once_it_is_written() {
    let mut world = daemon();
    for words in ["Ca", "Call Mum", "Call Mum about the", "Call Mum about the flat"] {
        world.later(secs(2)).write(format!("# Mine\n{}", due(words)));
        let report = world.pass(PassMode::Daemon);
        assert!(report.fired.is_empty(), "{words}");
        assert_eq!(report.next_pass, Some(world.clock_now() + secs(5)));
    }
    assert_eq!(world.later(secs(5)).pass(PassMode::Daemon).fired.len(), 1);
    world.later(secs(5)).pass(PassMode::Daemon);
    assert_eq!(world.place.texts(), ["Reminder: Call Mum about the flat"]);
    assert_eq!(world.read(), "# Mine\n");
}

#[test]
fn a_note_that_is_never_still_fires_its_due_lines_all_the_same() {
    let mut world = daemon();
    for second in 0..150 {
        let other = format!("counted {second}\n");
        world.later(secs(1)).write(due("Steady") + &due(&format!("Call Mum {second}")) + &other);
        world.pass(PassMode::Daemon);
        let told = world.place.texts();
        assert_eq!(told.iter().filter(|text| text.contains("Steady")).count(), usize::from(second >= 5));
        let (sure, most) = (usize::from(second >= 60), usize::from(second >= 5));
        let mum = told.iter().filter(|text| text.contains("Mum")).count();
        assert!((sure..=most).contains(&mum), "after {second} s: {told:?}");
    }
}

#[test]
fn a_tick_and_a_new_daemon_wait_for_nothing() {
    let mut world = daemon();
    world.later(secs(1)).write(due("Call"));
    assert_eq!(world.tick().fired.len(), 1);
    let mut world = daemon();
    world.later(secs(1)).write(due("Call"));
    assert!(world.pass(PassMode::Daemon).fired.is_empty());
    // Killed while it waits, again and again.
    world.memory = PassState::default();
    assert_eq!(world.later(secs(1)).pass(PassMode::Daemon).fired.len(), 1);
}

#[test]
fn words_changed_while_the_rewrite_is_blocked_are_not_told_again() {
    let mut world = World::new(NOW, &(due("Call Mum") + due("Pay the rent").trim_end()));
    let copy = world.path().with_file_name("Reminders.sync-conflict-20261201-093000-ABCDEFG.md");
    std::fs::write(&copy, "").unwrap();
    assert_eq!(world.tick().fired.len(), 2);
    let mut findings = 0;
    for (mum, rent) in [("Call Mum now", "Pay rent"), ("Call Mum now!", "Pay rent"), ("Call", "Pay a rent")] {
        let text = due(mum) + due(rent).trim_end();
        world.later(secs(200_000)).write(&text);
        let report = world.tick();
        assert!(report.fired.is_empty(), "{:?}", world.place.texts());
        findings += report.near_misses.len();
        assert_eq!(world.read(), text);
    }
    assert_eq!(findings, 5);
    // The old words are the reminder that was told; other words, and another time, are another one.
    world.write(due("Call Mum") + &due("Buy milk") + &due("Pay a rent").replace("09:30", "09:31"));
    std::fs::remove_file(copy).unwrap();
    assert_eq!(world.tick().fired.len(), 2);
    let told = world.place.texts();
    assert!(told.len() == 3 && told[2].contains("Buy milk") && told[2].contains("Pay a rent"), "{told:?}");
    assert_eq!(world.read(), "");
}

#[test]
fn words_changed_after_a_crash_are_told_once() {
    at_each_step(1, &[30, 600], 4 * 8, |crash| {
        for recur in ["none", "daily"] {
            let typed = |msg| line("2026-12-01", "09:30", recur, msg, "");
            let mut world = World::new(NOW, &typed("Call Mun"));
            if crash.tick(&mut world).is_some() {
                continue;
            }
            world.later(secs(crash.wait)).write(typed("Call Mum"));
            world.tick();
            world.later(secs(60)).tick();
            let texts = world.place.texts();
            assert_eq!(texts.len(), 1, "{}, {recur}: {texts:?}", crash.context);
        }
    });
}
