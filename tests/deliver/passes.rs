//! What a pass does when nothing goes wrong.

use crate::deliver::world::*;
use vault_agent::deliver;
use vault_agent::schedule::Pause;

const NOW: &str = "2026-12-01T09:30:20Z";

#[test]
fn a_recurring_one_moves_on_and_keeps_its_phase() {
    let mut world = World::new(NOW, &line("2026-11-17", "09:00", "weekly", "Bins", &id('A')));
    let report = world.tick();
    assert_eq!(report.fired.len(), 1);
    assert_eq!((report.fired[0].missed, report.fired[0].due.as_str()), (2, "2026-12-01T09:00:00+00:00"));
    assert_eq!(report.fired[0].next.unwrap().to_string(), "2026-12-08");
    assert_eq!(world.read(), line("2026-12-08", "09:00", "weekly", "Bins", &id('A')));
    insta::assert_snapshot!(world.place.texts().join("\n"), @"Reminder: Bins (due 09:00, 30 min late; 2 earlier ones folded in; next Tue 8 Dec 09:00)");
}

#[test]
fn a_month_that_lacks_the_day_is_remembered() {
    let rent = |date: &str, day: &str| line(date, "09:00", &format!("monthly{day}"), "Rent", &id('A'));
    let mut world = World::new("2026-01-31T10:00:00Z", &rent("2026-01-31", ""));
    world.tick();
    assert_eq!(world.read(), rent("2026-02-28", " day=31"));
    world.at("2026-02-28T09:00:00Z").tick();
    assert_eq!(world.read(), rent("2026-03-31", ""));
}

#[test]
fn what_was_missed_comes_once_or_as_a_digest() {
    let mut world = World::new(NOW, &(due_at("07:00", "A") + &due_at("06:00", "B")));
    let two = ["Reminder: B (due 06:00, 3 h late)", "Reminder: A (due 07:00, 2 h 30 min late)"];
    assert_eq!(world.told(), two);

    let times = ["08:00", "07:00", "06:00", "05:00", "04:00"].into_iter();
    let many = times.zip(["A", "B", "C", "D", "E"]).map(|(at, letter)| due_at(at, letter));
    let mut world = World::new(NOW, &(many.collect::<String>() + &due_at("09:29", "X")));
    assert_eq!((world.fires(), world.read().as_str()), (6, ""));
    insta::assert_snapshot!(world.place.texts().join("\n---\n"), @r"
    5 were missed:
    - E (due 04:00, 5 h late)
    - D (due 05:00, 4 h late)
    - C (due 06:00, 3 h late)
    - B (due 07:00, 2 h 30 min late)
    - A (due 08:00, 1 h 30 min late)
    ---
    Reminder: X
    ");
}

#[test]
fn a_commitment_is_marked_and_no_other_byte_changes() {
    let mut world = World::new(NOW, "");
    let text = "# Follow-ups\n\n---\nid: c-2026-12-01-001\nstatus:  pending   # yes\ndue: 2026-12-01T09:30:00Z\nscope: thread:42\nx: y\n---\nRemind Kyle.\nTwice.\n\n---\nid: c-2026-12-01-002\nstatus: pending\ndue: 2026-12-01T09:31:00Z\n---\nLater.\n";
    world.folder.write("COMMITMENTS.md", text);
    let report = world.tick();
    assert_eq!((report.problems, report.fired.len()), (vec![], 1));
    assert_eq!(report.fired[0].id, "c-2026-12-01-001");
    assert_eq!(world.folder.read("COMMITMENTS.md"), text.replacen("pending", "delivered", 1));
    let arrived = world.place.arrived.lock().unwrap()[0].clone();
    assert_eq!(arrived.text, "Follow-up: Remind Kyle.\nTwice.");
    assert_eq!(arrived.scope.unwrap().to_string(), "thread:42");
    assert_eq!(world.fires(), 0);
}

#[test]
fn a_due_line_without_an_id_fires_at_once_and_gets_one_as_it_moves() {
    let text =
        line("2026-12-01", "09:30", "daily", "Pills", "") + &line("2026-12-01", "09:30", "none", "Once", "");
    let mut world = World::new(NOW, &text);
    let report = world.tick();
    assert_eq!(report.fired.len(), 2);
    assert!(report.fired.iter().all(|fired| fired.id.starts_with("rid_")));
    assert_eq!(report.ids_added, [report.fired[0].id.clone()]);
    assert_eq!(without_random(&world.read()), line("2026-12-02", "09:30", "daily", "Pills", "[ID]"));
    // A stale buffer brings both lines back, without the id: nothing fires, and the id is the same.
    world.later(secs(60)).write(&text);
    let again = world.tick();
    assert_eq!((again.fired.len(), again.removed_again.len()), (0, 2));
    assert!(world.read().contains(&report.ids_added[0]), "{}", world.read());
    // A sync that merges instead has both lines.
    let merged = world.read() + &text;
    world.later(secs(60)).write(&merged);
    assert_eq!((world.fires(), world.read()), (0, merged.lines().next().unwrap().to_owned() + "\n"));
}

#[test]
fn what_was_told_is_not_told_again_in_the_words_of_another_machine() {
    for recur in ["weekly", "none"] {
        let old = line("2026-12-01", "09:30", recur, "Bins", &id('A'));
        let mut world = World::new(NOW, &old);
        world.tick();
        let reworded = old.replace("Bins", "Bins out");
        // Beside it stands the line that it became, or another one of the same id.
        let beside = if recur == "none" { old.replace("09:30", "10:30") } else { world.read() };
        world.later(secs(60)).write(beside.clone() + &reworded);
        assert!(world.tick().fired.is_empty(), "{recur}");
        let moved = if recur == "none" { reworded } else { reworded.replace("12-01", "12-08") };
        assert_eq!(world.read(), beside + &moved);
    }
}

#[test]
fn identical_copies_fire_once_and_differing_ones_both() {
    let same = due(&["Call"]);
    let mut world = World::new(NOW, &(same.clone() + &same));
    assert_eq!((world.fires(), world.read().as_str()), (1, ""));

    let mut world = World::new(NOW, &(same.clone() + &due(&["Other"])));
    let report = world.tick();
    assert_eq!((report.fired.len(), report.near_misses.len()), (2, 1));
    assert_eq!(world.place.texts(), ["Reminder: Call", "Reminder: Other"]);
    assert_eq!(world.read(), "");
    world.write(&same);
    assert_eq!(world.fires(), 0);

    // Without ids they get none, also where they differ by blanks alone.
    let nameless = line("2026-12-01", "09:30", "none", "Call", "");
    let mut world = World::new("2026-11-30T09:30:00Z", &format!("{nameless}{} \n", nameless.trim_end()));
    assert_eq!((world.tick().ids_added.len(), world.at(NOW).fires()), (0, 1));
    assert_eq!(world.read(), "");
}

#[test]
fn a_line_that_comes_back_beside_its_moved_self_goes() {
    for (date, next) in [("2026-12-01", "2026-12-08"), ("2026-11-10", "2026-12-08")] {
        let old = line(date, "09:30", "weekly", "Bins", &id('A'));
        let mut world = World::new(NOW, &old);
        assert_eq!(world.fires(), 1);
        let moved = line(next, "09:30", "weekly", "Bins", &id('A'));
        assert_eq!(world.read(), moved);
        for both in [old.clone() + &moved, moved.clone() + &old] {
            world.later(secs(60)).write(both);
            assert_eq!((world.fires(), world.read().as_str()), (0, moved.as_str()), "{date}");
        }
    }
    // Two days of the week under one id are two reminders.
    let two = ["2026-12-01", "2026-12-03"].map(|date| line(date, "09:30", "weekly", "Bins", &id('A')));
    let mut world = World::new(NOW, &two.concat());
    assert_eq!((world.fires(), world.read()), (1, two.concat().replace("12-01", "12-08")));
}

#[test]
fn near_misses_are_told_once_and_again_when_made_again() {
    let wrong = "- [ ] date=2026-12-01 time=25:00 recur=none msg=\"x\"\n";
    let mut world = World::new(NOW, wrong);
    assert_eq!([0, 1].map(|_| world.tick().near_misses.len()), [1, 0]);
    world.write(format!("moved\n{wrong}"));
    assert_eq!((world.tick().near_misses.len(), world.read()), (0, format!("moved\n{wrong}")));
    world.write("");
    world.tick();
    world.write(wrong);
    assert_eq!(world.tick().near_misses.len(), 1);
}

#[test]
fn another_machine_fires() {
    let text = line("2026-12-01", "09:30", "none", "Call", "") + "- [ ] date=x time=y recur=none msg=\"z\"\n";
    let mut world = World::new(NOW, &text);
    world.settings.read_only = vault_agent::deliver::pass::read_only(Some("tower"), "laptop");
    let report = world.tick();
    contains_all(report.read_only.unwrap(), &["`tower` fires the reminders of this vault"]);
    assert_eq!((report.fired.len(), report.ids_added.len(), report.near_misses.len()), (0, 0, 1));
    assert_eq!(world.read(), text);
    assert_eq!(vault_agent::deliver::pass::read_only(Some("Laptop"), "laptop"), None);
}

/// It is on its way, and perhaps arrived, when another machine's name is set or the reminders are paused.
#[test]
fn while_nothing_fires_here_no_attempt_is_made_again() {
    for (is_paused, fault) in [(false, Fault::Nothing), (true, Fault::LostAnswer)] {
        let mut world = World::due("Call");
        world.place.fault(fault);
        world.tick();
        world.settings.pause = is_paused.then_some(Pause { until: None, reminders: true });
        world.settings.read_only = (!is_paused).then(|| "another machine fires".to_owned());
        deliver::confirm(&world.journal(), "added", "- [ ] x", world.clock.now()).unwrap();
        let report = world.later(secs(900)).tick();
        assert!(report.fired.is_empty() && world.place.texts().last().unwrap().starts_with("added"));
        assert_eq!(world.place.attempts(), 2);
        (world.settings.pause, world.settings.read_only) = (None, None);
        assert_eq!(world.later(secs(60)).fires(), 1);
        assert_eq!((world.place.texts().len(), world.read().as_str()), (2, ""));
    }
}

#[test]
fn the_daemon_waits_until_the_note_is_still() {
    let soon = line("2026-12-01", "09:30", "none", "Call", &id('A'));
    let later = line("2026-12-09", "09:30", "none", "Later", "");
    let half = "- [ ] date=2026-12-10 time=09:30 recur=none msg=\"Typing\"";
    let mut world = World::new(NOW, &(soon.clone() + &later));
    let report = world.pass(PassMode::Daemon);
    assert_eq!(report.fired.len(), 1, "firing waits for nothing");
    assert_eq!(world.read(), soon.clone() + &later);
    assert_eq!(report.next_pass, Some(world.clock.now() + secs(5)), "it has more to do");
    // The person types on.
    world.later(secs(4)).write(soon.clone() + &later + half);
    assert_eq!([0, 4].map(|wait| world.later(secs(wait)).pass(PassMode::Daemon).fired.len()), [0, 0]);
    assert!(world.read().starts_with(&soon));
    assert_eq!(world.later(secs(1)).pass(PassMode::Daemon).ids_added.len(), 1);
    let named = line("2026-12-09", "09:30", "none", "Later", "[ID]");
    assert_eq!(without_random(&world.read()), named + half, "a line without its end gets no id");
}

#[test]
fn a_note_that_is_never_still_is_rewritten_after_a_minute() {
    let soon = line("2026-12-01", "09:30", "none", "Call", &id('A'));
    let mut world = World::new(NOW, &soon);
    for second in 0..20 {
        world.pass(PassMode::Daemon);
        assert!(world.read().starts_with(&soon), "after {} s", second * 3);
        world.later(secs(3)).write(soon.clone() + &"x".repeat(second + 1));
    }
    world.pass(PassMode::Daemon);
    assert!(!world.read().starts_with(&soon));
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_goes_on() {
    let mut world = World::new(NOW, "");
    fs::remove_file(world.path()).unwrap();
    fs::create_dir(world.path()).unwrap();
    let block = "---\nid: c-1\nstatus: pending\ndue: 2026-12-01T09:30:00Z\n---\nHello\n";
    world.folder.write("COMMITMENTS.md", block);
    let report = world.tick();
    assert_eq!((report.fired.len(), report.problems.len(), report.has_problem()), (1, 1, true));
    insta::assert_snapshot!(report.problems[0], @"`Reminders.md` is a folder, where a file should be; move it out of the way");
}

#[test]
fn a_note_of_utf_16_is_named_and_left_alone() {
    let line = "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Call\" id=rid_AAAAAAAAAAAA\r\n";
    for (mark, big) in [(true, false), (false, false), (true, true), (false, true)] {
        let vault = TestVault::new("//- now: 2026-12-01T09:30:00Z\n");
        let text = if mark { format!("\u{feff}{line}") } else { line.to_owned() };
        let pair = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        let bytes: Vec<u8> = text.encode_utf16().flat_map(pair).collect();
        std::fs::write(vault.path("Reminders.md"), &bytes).unwrap();
        let tick = vault.run(&["--json", "tick"]).json();
        assert!(tick["near_misses"][0]["reason"].as_str().unwrap().contains("UTF-16"), "{tick}");
        let check = vault.run(&["check"]).exits(1).stdout.clone();
        assert_eq!(check.matches("Reminders.md:1:1: the file is UTF-16").count(), 1, "{check}");
        vault.run(&["doctor"]).says("UTF-16");
        vault.run(&["remind", "add", "tomorrow 9am", "Tea"]).exits(1).warns("save it as UTF-8");
        assert_eq!(std::fs::read(vault.path("Reminders.md")).unwrap(), bytes);
    }
}

#[test]
fn two_machines_with_the_same_note_give_the_same_ids() {
    let weekly = "- [ ] date=2026-12-01 time=09:30 recur=weekly msg=\"Water the plants\"\n";
    let ahead = "- [ ] date=2026-12-24 time=18:00 recur=none msg=\"Goose\"\n";
    let given = |text: &str| {
        let mut world = World::new(NOW, text);
        world.tick();
        world.read()
    };
    let [note, same] = [0, 1].map(|_| given(&format!("{weekly}{ahead}")));
    assert_eq!((note.matches(" id=rid_").count(), &same), (2, &note));
    // What stands around a line makes no other id of it; what it says does.
    let among_others = given(&format!("# Reminders\n\n{ahead}\nsome words\n{weekly}"));
    assert!(note.lines().all(|line| among_others.contains(line)), "{among_others}");
    let other = given(&ahead.replace("Goose", "Duck"));
    assert!(!other.contains(note.lines().last().unwrap().rsplit(' ').next().unwrap()), "{other}");
}

#[test]
fn a_line_that_comes_again_beside_the_one_it_became_gets_an_id_of_its_own() {
    let weekly = "- [ ] date=2026-12-08 time=09:30 recur=weekly msg=\"Water the plants\"\n";
    let mut world = World::new("2026-12-01T09:30:00Z", weekly);
    world.tick();
    let named = world.read();
    world.write(format!("{named}{}", weekly.replace("08", "15")));
    world.later(secs(60)).tick();
    let note = world.read();
    let ids: BTreeSet<&str> = note.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert!(note.lines().count() == 2 && ids.len() == 2, "{note}");
    assert!(ids.iter().all(|id| id.starts_with("id=rid_")), "{note}");
}

#[test]
fn an_old_copy_of_one_of_two_lines_with_one_id_is_not_told_again() {
    let weekly = |msg: &str| line("2026-12-01", "09:30", "weekly", msg, &id('A'));
    let mut world = World::new("2026-12-01T09:30:00Z", &(weekly("Bins") + &weekly("Plants")));
    world.tick();
    world.at("2026-12-08T09:30:00Z").tick();
    assert_eq!(world.place.texts().len(), 4);
    world.write(world.read() + &weekly("Bins"));
    world.at("2026-12-08T09:40:00Z").tick();
    assert_eq!(world.place.texts().len(), 4, "{:?}", world.place.texts());
    world.write(world.read() + &weekly("Bins"));
    world.at("2026-12-15T09:30:00Z").tick();
    assert_eq!(world.place.texts().len(), 6, "{:?}", world.place.texts());
}
