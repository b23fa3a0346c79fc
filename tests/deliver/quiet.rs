//! Quiet hours: what is due in them waits, unless it is urgent.

use crate::deliver::world::*;

const NIGHT: &str = "2026-12-01T22:30:00Z";

fn quiet(text: &str) -> World {
    let mut world = World::new(NIGHT, text);
    let hour = |hour| jiff::civil::time(hour, 0, 0, 0);
    world.settings.notify_rules.quiet = Some((hour(22), hour(7)));
    world
}

/// A vault with quiet hours for the real program.
fn quiet_vault(now: &str) -> TestVault {
    TestVault::new(&format!(
        "//- now: {now}\n//- /vault-agent.toml\ntimezone = \"Europe/London\"\n[notify]\nquiet = \"22:00-07:00\"\n"
    ))
}

fn night(msg: &str, letter: char) -> String {
    line("2026-12-01", "22:30", "none", msg, &id(letter))
}

#[test]
fn what_is_due_waits_for_the_morning_and_says_so() {
    let mut world = quiet(&(night("Call", 'A') + &night("Wake up #urgent", 'B')));
    let report = world.tick();
    assert_eq!(world.place.texts(), ["Reminder: Wake up #urgent"]);
    assert_eq!((report.fired.len(), report.waiting, report.failed.len()), (1, 1, 0));
    assert_eq!(report.next_pass, Some("2026-12-02T07:00:00Z".parse().unwrap()));
    assert!(world.read().contains("Call") && !world.read().contains("Wake up"));
    assert_eq!(world.at("2026-12-02T06:59:00Z").told().len(), 1);
    assert_eq!(world.at("2026-12-02T07:00:00Z").told()[1], "Reminder: Call (due Tue 1 Dec 22:30, 8 h late)");
    assert_eq!(world.read(), "");
}

#[test]
fn an_attempt_that_failed_in_the_evening_is_not_repeated_at_night() {
    let mut world = quiet(&line("2026-12-01", "21:59", "none", "Call", &id('A'))).with_other();
    world.at("2026-12-01T21:59:00Z");
    world.place.fault(Fault::Nothing);
    world.others[0].fault(Fault::Unreachable(None));
    world.tick();
    for _ in 0..5 {
        assert_eq!(world.later(secs(1_200)).tick().next_pass, Some("2026-12-02T07:00:00Z".parse().unwrap()));
    }
    assert_eq!((world.place.attempts(), world.others[0].attempts()), (1, 1));
    world.at("2026-12-02T07:00:00Z").tick();
    assert_eq!((world.place.texts().len(), world.other().len()), (1, 1));
}

#[test]
fn what_waits_for_the_morning_is_snoozed_and_comes_once() {
    let vault = quiet_vault("2026-12-01T22:00:00Z");
    let block = "# Follow-ups\n\n---\nid: c-2026-12-01-001\nstatus: pending\ndue: 2026-12-01T23:00:00Z # late\n---\nAsk Kyle\n";
    vault.write("COMMITMENTS.md", block);
    let pill = line("2026-12-01", "23:00", "daily", "Pill", &id('B'));
    vault.write("Reminders.md", line("2026-12-01", "23:00", "none", "Call", &id('A')) + &pill);
    // A follow-up that isn't due yet, and a reminder that is held.
    let run = vault.run(&["remind", "snooze", "c-2026-12-01-001", "--until", "2026-12-02 12:30"]).ok();
    run.says("due: 2026-12-02T12:30:00Z # late").says("Ask Kyle");
    assert_eq!(vault.read("COMMITMENTS.md"), block.replace("2026-12-01T23:00:00Z", "2026-12-02T12:30:00Z"));
    assert_eq!(vault.tick_at("2026-12-01T23:05:00Z"), "");
    vault.run(&["status"]).ok().says("quiet     until Wed 2 Dec 07:00 (in 7 h)");
    let run = vault.sh("remind snooze rid_AAAAAAAAAAAA --until '2026-12-02 12:00'").ok();
    assert_eq!(run.stdout, line("2026-12-02", "12:00", "none", "Call", &id('A')));
    let morning = vault.tick_at("2026-12-02T07:00:00Z");
    assert!(morning.contains("Pill") && !morning.contains("Call") && !morning.contains("Ask"), "{morning}");
    assert_eq!(vault.tick_at("2026-12-02T12:00:00Z").matches("Call").count(), 1);
    assert_eq!(vault.tick_at("2026-12-02T12:30:00Z").matches("Ask Kyle").count(), 1);
    // One that was told comes once more, and stays told.
    let run = vault.run(&["remind", "snooze", "c-2026-12-01-001", "--until", "2026-12-02 13:00"]).ok();
    run.says("recur=none msg=\"Ask Kyle\"");
    assert_eq!(vault.tick_at("2026-12-02T13:00:00Z").matches("Ask Kyle").count(), 1);
    assert!(vault.read("COMMITMENTS.md").contains("status: delivered"));
}

/// What is done at night with the time that waits for the morning, and how often it is told at seven, at noon and a week
/// later.
#[test]
fn a_time_that_waits_is_the_next_one_of_what_comes_again() {
    for (command, told) in [
        ("skip Bins", [0, 0, 1]),
        ("done Bins", [0, 0, 1]),
        ("move Bins '2026-12-01 12:00'", [0, 1, 1]),
        ("snooze Bins --until '2026-12-01 12:00'", [0, 1, 1]),
    ] {
        let vault = quiet_vault("2026-12-01T06:40:00Z");
        vault.write("Reminders.md", line("2026-12-01", "06:30", "weekly", "Bins", &id('A')));
        drop(vault.sh(&format!("remind {command}")).ok());
        let goes_on = line("2026-12-08", "06:30", "weekly", "Bins", &id('A'));
        assert!(vault.read("Reminders.md").starts_with(&goes_on), "{command}");
        let times = ["2026-12-01T07:00:00Z", "2026-12-01T12:00:00Z", "2026-12-08T07:00:00Z"];
        assert_eq!(times.map(|now| vault.tick_at(now).matches("Bins").count()), told, "{command}");
        // It was told, so the one after it is next.
        let before = vault.read("Reminders.md");
        drop(vault.sh("remind done Bins").ok());
        assert_eq!(vault.read("Reminders.md"), before, "{command}");
        drop(vault.sh("remind skip Bins").ok());
        assert!(vault.read("Reminders.md").contains("date=2026-12-22"), "{command}");
    }
}
