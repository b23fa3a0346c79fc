//! `pause` and `resume`: what waits, what goes on, and that nothing due is lost.

use crate::support::TestVault;

const DUE: &str = "- [ ] date=2026-12-01 time=09:00 recur=none msg=\"Pay rent\" id=rid_AAAAAAAAAAAA\n";

fn vault(now: &str) -> TestVault {
    let vault = TestVault::new("//- /vault-agent.toml\n# mine\n[paths]\n#inbox = \"Inbox.md\"\n");
    vault.write("Reminders.md", DUE);
    vault.set_now(now);
    vault
}

#[test]
fn reminders_go_on_in_a_pause_unless_they_wait_too() {
    let it = vault("2026-12-01T08:50:00Z");
    let paused = it.run(&["pause", "--until", "14:00", "--reminders"]).ok();
    assert_eq!(
        paused.stdout.trim(),
        "paused until 2026-12-01 14:00, reminders too (`vault-agent resume` ends it)"
    );
    let settings = it.read("vault-agent.toml");
    assert!(settings.contains("paused_until = \"2026-12-01 14:00\"\n"), "{settings}");
    assert!(settings.ends_with("# mine\n[paths]\n#inbox = \"Inbox.md\"\n"), "{settings}");
    it.set_now("2026-12-01T09:30:00Z");
    let tick = it.run(&["tick"]).ok();
    tick.warns("nothing fires here: paused until 2026-12-01 14:00");
    assert_eq!(it.read("Reminders.md"), DUE);
    // The same pause without reminders takes its place.
    let plain = it.run(&["pause", "--json", "--until", "14:00"]).ok().json();
    assert_eq!((&plain["paused"], &plain["reminders"]), (&true.into(), &false.into()));
    assert!(it.run(&["tick"]).ok().stdout.contains("Pay rent"));
    assert_eq!(it.read("Reminders.md"), "");
}

#[test]
fn what_fell_into_a_pause_is_told_late_and_once() {
    let it = vault("2026-12-01T08:50:00Z");
    drop(it.run(&["pause", "--until", "14:00", "--reminders"]).ok());
    it.set_now("2026-12-01T13:59:59Z");
    drop(it.run(&["tick"]).ok());
    assert_eq!(it.read("Reminders.md"), DUE);
    // It ends by itself.
    it.set_now("2026-12-01T14:00:00Z");
    assert_eq!(it.run(&["status", "--json"]).json()["pause"]["paused"], false);
    let told = it.run(&["tick"]).ok().stdout;
    assert!(told.contains("Pay rent") && told.contains("09:00"), "{told}");
    assert_eq!(it.run(&["tick"]).ok().stdout, "");
}

#[test]
fn status_says_it_and_resume_ends_it() {
    let it = vault("2026-12-01T08:50:00Z");
    drop(it.run(&["pause"]).ok());
    assert!(it.read("vault-agent.toml").starts_with("paused_until = \"resumed\"\n"));
    it.run(&["status"]).says("\npaused    until it is resumed, reminders go on (`vault-agent resume`");
    it.run(&["doctor"]).says("paused until it is resumed");
    assert_eq!(it.run(&["resume"]).ok().stdout.trim(), "nothing is paused");
    assert!(it.read("vault-agent.toml").starts_with("#paused_until = \"resumed\"\n"));
    it.run(&["resume"]).ok().warns("nothing was paused");
    it.run(&["pause", "--until", "yesterday"]).exits(2);
}

#[cfg(feature = "assistant")]
#[test]
fn routines_wait_and_are_due_after_it() {
    let it = vault("2026-12-01T08:50:00Z");
    it.write("routines/a.md", "---\nschedule: every 1m\nenabled: true\n---\nGo.\n");
    drop(it.run(&["pause"]).ok());
    it.set_now("2026-12-01T08:55:00Z");
    let dry = || it.run(&["tick", "--dry-run", "--json"]).ok().json();
    assert_eq!(dry()["routines"], serde_json::Value::Null);
    drop(it.run(&["resume"]).ok());
    assert_eq!(dry()["routines"]["ran"][0]["run"], "a");
}
