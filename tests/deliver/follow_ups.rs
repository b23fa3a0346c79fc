//! Follow-ups whose blocks come back, stand there twice, or are written on after they were told; words that are changed
//! while they are told, in the middle of typing, and where a rewrite can't be made.

use crate::deliver::world::*;

use crate::deliver::crashes::at_each_step;
use vault_agent::format::ReminderId;

const NOW: &str = "2026-12-01T09:30:20Z";

fn block(status: &str, text: &str) -> String {
    format!("---\nid: c-2026-12-01-001\nstatus: {status}\ndue: 2026-12-01T09:30:00Z\n---\n{text}\n")
}

fn write(world: &World, text: &str) {
    world.folder.write("COMMITMENTS.md", text);
}

fn read(world: &World) -> String {
    world.folder.read("COMMITMENTS.md")
}

#[test]
fn a_block_that_a_merge_brings_back_beside_itself_is_not_told_again() {
    let mut world = World::new(NOW, "");
    write(&world, &block("pending", "Ask Kyle"));
    assert_eq!(world.fires(), 1);
    let delivered = block("delivered", "Ask Kyle");
    assert_eq!(read(&world), delivered);
    for gap in ["", "\n", "\n\n"] {
        for turned in [false, true] {
            let merged = |status| {
                let other = block(status, "Ask Kyle");
                if turned { format!("{delivered}{gap}{other}") } else { format!("{other}{gap}{delivered}") }
            };
            write(&world, &merged("pending"));
            assert_eq!(world.later(secs(60)).fires(), 0, "{gap:?} {turned}");
            assert_eq!(read(&world), merged("delivered"));
        }
    }
}

#[test]
fn two_with_one_id_in_one_minute_are_both_told() {
    let mut world = World::new("2026-12-01T09:31:00Z", "");
    write(&world, &(block("pending", "Ask Kyle") + &block("pending", "Ask Ann").replace(":00Z", ":40Z")));
    assert_eq!(world.fires(), 2);
    assert!(!read(&world).contains("pending"), "{}", read(&world));
    assert!(world.later(secs(60)).tick().near_misses.is_empty());
}

#[test]
fn copies_that_wait_are_told_once_and_marked_all() {
    let both = |status| block(status, "Ask Kyle");
    for gap in ["", "\n", "\r\n \n"] {
        let text = |status| format!("{0}{gap}{0}{gap}{0}```\n{1}```\n", both(status), both("pending"));
        let mut world = World::new(NOW, "");
        write(&world, &text("pending"));
        world.tick();
        assert_eq!(world.fires(), 0);
        // The last one has a fenced example in its words, and so differs.
        let told = world.place.texts();
        let is_right = told.len() == 2 && told[0] == "Follow-up: Ask Kyle" && told[1].contains("```");
        assert!(is_right, "{gap:?} {told:?}");
        assert_eq!(read(&world), text("delivered"));
    }
}

#[test]
fn words_that_were_told_to_nobody_stay_and_are_named_once() {
    let (mut world, mut findings) = (World::new(NOW, ""), Vec::new());
    for words in ["Ask", "Ask Kyle", "Ask Kyle whether the dentist moved"] {
        write(&world, &block("pending", words));
        findings.extend(world.pass(PassMode::Daemon).near_misses);
        world.later(secs(2));
    }
    (0..3).for_each(|_| findings.extend(world.later(secs(60)).pass(PassMode::Daemon).near_misses));
    assert_eq!(world.place.texts(), ["Follow-up: Ask"]);
    assert_eq!(read(&world), block("pending", "Ask Kyle whether the dentist moved"));
    let [one] = &findings[..] else { panic!("{findings:?}") };
    insta::assert_snapshot!(format!("{}:{}: {}: {}", one.path, one.line, one.reason, one.suggestion), @"COMMITMENTS.md:1: this follow-up was delivered already (`c-2026-12-01-001@2026-12-01T09:30`), before its text was changed; it does not fire again: give it another `due`, or set its `status` to delivered");
    // The words that were told are marked; another time is another one.
    write(&world, &block("pending", "Ask"));
    assert_eq!((world.fires(), read(&world)), (0, block("delivered", "Ask")));
    write(&world, &block("pending", "Ask Kyle").replace("09:30", "09:31"));
    assert_eq!(world.fires(), 1);
}

#[test]
fn words_changed_after_a_crash_are_delivered_only_if_they_were_told() {
    at_each_step(1, &[30, 600], 12, |crash| {
        let mut world = World::new(NOW, "");
        write(&world, &block("pending", "Ask"));
        crash.tick(&mut world);
        write(&world, &block("pending", "Ask Kyle"));
        world.later(secs(crash.wait)).tick();
        world.later(secs(60)).tick();
        let texts = world.place.texts();
        assert_eq!(texts.len(), 1, "{}: {texts:?}", crash.context);
        let status = if texts[0].contains("Kyle") { "delivered" } else { "pending" };
        assert_eq!(read(&world), block(status, "Ask Kyle"), "{}: {texts:?}", crash.context);
    });
}

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
        assert_eq!(report.next_pass, Some(world.clock.now() + secs(5)));
    }
    assert_eq!(world.later(secs(5)).pass(PassMode::Daemon).fired.len(), 1);
    world.later(secs(5)).pass(PassMode::Daemon);
    assert_eq!(world.place.texts(), ["Reminder: Call Mum about the flat"]);
    assert_eq!(world.read(), "# Mine\n");
}

#[test]
fn a_line_that_stood_there_before_its_time_is_told_on_time() {
    let mut world = World::new("2026-12-01T09:29:57Z", "# Mine\n");
    world.pass(PassMode::Daemon);
    world.later(secs(2)).write(due("Call"));
    assert!(world.pass(PassMode::Daemon).fired.is_empty());
    assert_eq!(world.later(secs(1)).pass(PassMode::Daemon).fired.len(), 1);
    assert_eq!(world.place.texts(), ["Reminder: Call"]);
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
    assert_eq!(world.fires(), 1);
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
    assert_eq!(world.fires(), 2);
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
    assert_eq!(world.fires(), 2);
    let mut told = world.place.texts();
    told.retain(|text| !text.contains("is a conflicting copy of"));
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

#[test]
fn the_line_that_a_command_removed_is_no_other_one() {
    let mut world = World::new(NOW, &due("Take the red pill"));
    let told = world.pass(PassMode::Daemon).fired.remove(0);
    let workspace = support::workspace(world.dir(), world.clock.clone());
    let reminders = workspace.vault_reminders();
    let id = ReminderId::from_bytes(told.id.as_bytes()).unwrap();
    reminders.remove_line(&reminders.read().unwrap().reminders.remove(0), id, Actor::Discord).unwrap();
    world.later(secs(2)).write(due("Take the blue pill"));
    world.pass(PassMode::Daemon);
    world.later(secs(5)).pass(PassMode::Daemon);
    assert_eq!(world.place.texts(), ["Reminder: Take the red pill", "Reminder: Take the blue pill"]);
}
