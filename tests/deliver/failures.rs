//! Places that don't answer, can't be reached, or refuse.

use crate::deliver::world::*;

const NOW: &str = "2026-12-01T09:30:00Z";

/// So many lines that are due: `r00`, `r01` and so on; their ids go down.
fn numbered(count: u8) -> String {
    let id = |n: u8| format!("AAAAAAAAAA{}{}", (b'Z' - n / 26) as char, (b'Z' - n % 26) as char);
    (0..count).map(|n| line("2026-12-01", "09:30", "none", &format!("r{n:02}"), &id(n))).collect()
}

#[test]
fn another_reminder_that_says_the_same_is_not_taken_for_it() {
    for fault in [Fault::Nothing, Fault::LostAnswer] {
        let mut world = World::all_due(&["Call", "Call"]);
        world.place.fault(Fault::None);
        world.place.fault(fault);
        world.tick();
        assert_eq!(world.later(secs(600)).told(), ["Reminder: Call", "Reminder: Call"]);
        assert_eq!(world.read(), "");
    }
}

/// Passes at these seconds after its minute, with what the place does: it is told once, and the line goes.
#[test]
fn it_is_told_once_however_late_it_is_tried_again_and_wherever_the_clock_is_put() {
    let pause = Fault::Unreachable(Some(Duration::from_secs(40)));
    for (what, faults, passes, attempts) in [
        ("after a lost answer and a pause it has its nonce", vec![Fault::LostAnswer], &[0, 0, 10][..], 2),
        ("later than its nonce is known the place is asked", vec![Fault::LostAnswer], &[0, 600], 1),
        ("and has nothing", vec![Fault::Nothing], &[0, 600], 2),
        ("put back between two", vec![Fault::Nothing, Fault::LostAnswer], &[0, -3600, 660], 2),
        ("put back it ends a pause", vec![pause], &[3600, 1800], 2),
        ("put back before an attempt", vec![Fault::Unreachable(None)], &[182 * 86_400, 60], 2),
    ] {
        let mut world = World::due("Call");
        let due = world.clock.now();
        faults.into_iter().for_each(|fault| world.place.fault(fault));
        let mut fired = Vec::new();
        for after in passes {
            world.clock.set(due + secs(*after));
            fired.extend(world.tick().fired);
        }
        assert_eq!((fired.len(), world.place.texts().len(), world.read().as_str()), (1, 1, ""), "{what}");
        assert_eq!(fired[0].late_seconds, passes.last().copied().unwrap(), "{what}");
        assert_eq!(world.place.attempts(), attempts, "{what}");
    }
}

#[test]
fn a_message_that_was_sent_while_the_clock_was_ahead_is_found() {
    let mut world = World::due("Call");
    let right = world.clock.now();
    world.place.fault(Fault::LostAnswer);
    world.later(secs(7200)).tick();
    // The place has a clock of its own.
    world.place.arrived.lock().unwrap()[0].at = right;
    world.clock.set(right + secs(1800));
    assert_eq!((world.fires(), world.place.texts().len(), world.read().as_str()), (1, 1, ""));
}

#[test]
fn a_sure_failure_after_a_lost_answer_leaves_the_doubt() {
    let mut world = World::due("Call");
    world.place.fault(Fault::LostAnswer);
    world.place.fault(Fault::Unreachable(None));
    world.tick();
    world.later(secs(10)).tick();
    // By now it would be part of a digest, under another nonce, were it not known to be on its way.
    world.write(world.read() + &due_at("09:31", "BCDE"));
    assert_eq!(world.later(secs(3600)).fires(), 5);
    let texts = world.place.texts();
    assert_eq!(texts.iter().filter(|text| text.contains("Call")).count(), 1, "{texts:#?}");
}

#[test]
fn an_unreachable_place_is_tried_less_and_less_often() {
    let (mut world, mut waits) = (World::due("Call"), Vec::new());
    for _ in 0..10 {
        world.place.fault(Fault::Unreachable(None));
        let report = world.tick();
        assert_eq!(report.failed.len(), 1);
        let again = report.next_pass.unwrap();
        waits.push(world.clock.now().duration_until(again).as_secs());
        world.clock.set(again);
    }
    for (attempt, wait) in waits.iter().enumerate() {
        let expected = (5i64 << attempt).min(600);
        assert!((expected * 8 / 10 - 1..=expected * 12 / 10 + 1).contains(wait), "{waits:?}");
    }
    assert_eq!(world.fires(), 1);
    let texts = world.place.texts();
    assert!(texts.len() == 1 && texts[0].contains("late"), "{texts:?}");
}

#[test]
fn a_new_message_that_arrives_lets_go_what_waits() {
    let mut world = World::due("Call");
    (0..7).for_each(|_| world.place.fault(Fault::Unreachable(None)));
    for _ in 0..6 {
        let again = world.tick().next_pass.unwrap();
        world.clock.set(again);
    }
    world.tick();
    world.write(world.read() + &due_at("09:31", "N"));
    assert_eq!((world.fires(), world.place.texts().len()), (2, 2));
}

#[test]
fn a_failure_that_the_same_pass_mends_is_none() {
    let mut world = World::new(NOW, &due_at("09:30", "AB"));
    world.place.fault(Fault::Unreachable(None));
    let report = world.tick();
    assert_eq!((report.fired.len(), report.failed.len()), (2, 0), "{:?}", report.failed);
}

#[test]
fn under_a_rate_limit_the_order_of_the_file_is_kept() {
    let (mut world, mut rounds) = (World::new(NOW, &numbered(60)), 0);
    while world.place.texts().len() < 60 {
        (0..5).for_each(|_| world.place.fault(Fault::None));
        world.place.fault(Fault::Unreachable(Some(Duration::from_millis(900))));
        // A pass comes for other reasons too: somebody saves the note.
        world.tick();
        let again = world.tick().next_pass;
        world.clock.set(again.unwrap_or(world.clock.now() + secs(1)));
        rounds += 1;
        assert!(rounds < 100, "{:?}", world.place.texts());
    }
    let wanted: Vec<String> = (0..60).map(|n| format!("Reminder: r{n:02}")).collect();
    assert_eq!(world.place.texts(), wanted);
}

#[test]
fn a_refused_thread_falls_back_to_the_configured_channel_then_to_the_console() {
    let mut world = World::new(NOW, "");
    let block = "---\nid: c-1\nstatus: pending\ndue: 2026-12-01T09:30:00Z\nscope: thread:7\n---\nHello\n";
    world.folder.write("COMMITMENTS.md", block);
    world.place.refuses.lock().unwrap().push("thread:7".parse().ok());
    assert_eq!(world.fires(), 1);
    assert_eq!(world.place.arrived.lock().unwrap()[0].scope, None);
    let refusals = world.journal().refusals("settings 1").unwrap();
    assert!(refusals[0].place == "place thread:7" && refusals[0].reason == "unknown channel");

    world.folder.write("COMMITMENTS.md", block.replace("09:30", "09:31"));
    world.place.refuses.lock().unwrap().push(None);
    let console = Place::new("console", world.clock.clone());
    world.fallback = Some(console.clone());
    assert_eq!((world.later(secs(60)).fires(), console.texts()), (1, vec!["Follow-up: Hello".to_owned()]));
    assert_eq!(world.journal().refusals("settings 1").unwrap().len(), 2);
}

#[test]
fn what_every_place_refused_waits_for_other_settings() {
    let mut world = World::due("Call");
    world.place.refuses.lock().unwrap().push(None);
    let report = world.tick();
    assert_eq!((report.fired.len(), report.failed.len()), (0, 1));
    assert!(world.later(secs(3600)).tick().failed.is_empty() && world.place.attempts() == 1, "no retry loop");
    assert!(!world.read().is_empty());
    assert_eq!(world.journal().open_deliveries().unwrap()[0].state, "failed");
    world.place.refuses.lock().unwrap().clear();
    world.settings.notifiers = "settings 2".to_owned();
    assert_eq!((world.fires(), world.read().as_str()), (1, ""));
}

#[test]
fn a_long_text_comes_in_chunks_each_once() {
    let long = "word ".repeat(900);
    let mut world = World::new(NOW, &line("2026-12-01", "09:30", "none", long.trim(), &id('A')));
    world.place.fault(Fault::LostAnswer);
    world.tick();
    world.place.fault(Fault::None);
    world.place.fault(Fault::Unreachable(None));
    world.later(secs(10)).tick();
    world.write("");
    let report = world.later(secs(30)).tick();
    assert_eq!(report.fired.len(), 1, "what was begun is finished, though its line is gone");
    let texts = world.place.texts();
    assert_eq!((texts.len(), texts.join(" ").split_whitespace().count()), (3, 901));
}

#[test]
fn a_line_deleted_before_its_retry_does_not_fire() {
    let mut world = World::due("Call");
    world.place.fault(Fault::Unreachable(None));
    world.tick();
    world.write("");
    assert_eq!((world.journal().open_deliveries().unwrap().len(), world.later(secs(60)).fires()), (1, 0));
    assert!(world.place.texts().is_empty());
    assert!(world.journal().open_deliveries().unwrap().is_empty(), "nothing waits for it any more");
}

#[test]
fn a_recurring_one_that_was_sent_but_not_moved_is_not_counted_as_missed() {
    let text = line("2026-12-01", "09:30", "daily", "Pills", &id('A'));
    let mut world = World::new(NOW, &text);
    world.tick();
    // The rewrite is undone by an old copy, and nobody looks for three days.
    world.write(&text);
    let report = world.at("2026-12-04T10:00:00Z").tick();
    assert_eq!((report.fired[0].missed, report.fired[0].due.as_str()), (2, "2026-12-04T09:30:00+00:00"));
}

#[test]
fn two_passes_at_once_send_each_once() {
    let world = World::new(NOW, &numbered(40));
    let threads = [0; 4].map(|_| {
        let mut twin = World::of(world.dir().to_owned(), NOW);
        twin.place = world.place.clone();
        std::thread::spawn(move || twin.fires())
    });
    let fired: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!((fired, world.place.attempts(), world.read().as_str()), (40, 40, ""));
}
