//! `import --from tasks`: dated tasks and reminder lines of other notes become ours, shown first and undone at once.

use crate::support::TestVault;

const HOUSE: &str = "# House\n\n- [ ] Pay rent 🔁 every month 📅 2026-12-05\n  - [ ] Call Bob (@2026-12-02 15:00) ^bob\n\
                     - [ ] Bins 🔁 every 2 weeks 📅 2026-12-03\n- [ ] Late 📅 2026-11-01\n- [x] Done 📅 2026-12-05\n\
                     - [ ] No date\r\n- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Stray\" id=rid_AAAAAAAAAAAA\nlast";

fn vault() -> TestVault {
    TestVault::new(&format!(
        "//- now: 2026-12-01T09:30:00Z\n//- /Reminders.md\nmine\n//- /Projects/House.md\n{HOUSE}"
    ))
}

#[test]
fn what_would_become_ours_is_shown_and_nothing_is_changed() {
    let vault = vault();
    let before = (vault.read("Reminders.md"), vault.read("Projects/House.md"));
    let run = vault.run(&["import", "--from", "tasks"]).ok();
    run.says("Projects/House.md:3: - [ ] Pay rent")
        .says("  stays: - [ ] Pay rent\n")
        .says("date=2026-12-05 time=09:00 recur=monthly msg=\"Pay rent\"")
        .warns("Projects/House.md:5: left as it is: it comes again `every 2 weeks`")
        .warns("Projects/House.md:6: left as it is: it was due 2026-11-01 09:00")
        .warns("nothing is changed; `--yes`");
    assert_eq!((vault.read("Reminders.md"), vault.read("Projects/House.md")), before);
    let json = vault.json(&["import", "--from", "tasks", "Projects"]);
    assert_eq!((json["dry_run"].as_bool(), json["taken"].as_array().unwrap().len()), (Some(true), 3));
}

#[test]
fn with_yes_they_are_ours_and_one_undo_takes_it_back() {
    let vault = vault();
    let before = (vault.read("Reminders.md"), vault.read("Projects/House.md"));
    let _ = vault.run(&["import", "--from", "tasks", "--yes"]).ok();
    let reminders = vault.read("Reminders.md");
    for line in [
        "- [ ] date=2026-12-05 time=09:00 recur=monthly msg=\"Pay rent\"\n",
        "- [ ] date=2026-12-02 time=15:00 recur=none msg=\"Call Bob\"\n",
        "- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Stray\" id=rid_AAAAAAAAAAAA\n",
    ] {
        assert!(reminders.contains(line), "{reminders}");
    }
    assert_eq!(
        vault.read("Projects/House.md"),
        "# House\n\n- [ ] Pay rent\n  - [ ] Call Bob ^bob\n- [ ] Bins 🔁 every 2 weeks 📅 2026-12-03\n\
         - [ ] Late 📅 2026-11-01\n- [x] Done 📅 2026-12-05\n- [ ] No date\r\nlast"
    );
    vault.run(&["import", "--from", "tasks", "--yes"]).ok().says("no line can become ours");
    let _ = vault.run(&["undo"]).ok();
    assert_eq!((vault.read("Reminders.md"), vault.read("Projects/House.md")), before);
}

#[test]
fn what_the_note_of_reminders_cannot_take_stays_where_it_is() {
    // The note ends inside a comment: whatever is added to it would be dead.
    let vault = vault();
    vault.write("Reminders.md", "mine\n%% not closed\n");
    let before = (vault.read("Reminders.md"), vault.read("Projects/House.md"));
    vault
        .run(&["import", "--from", "tasks"])
        .exits(1)
        .warns("Projects/House.md:3: left as it is: the note ends inside")
        .says("no line can become ours");
    let run = vault.run(&["--json", "import", "--from", "tasks", "--yes"]);
    assert_eq!((run.code, run.json()["changed"].as_array().unwrap().len()), (1, 0));
    assert_eq!((vault.read("Reminders.md"), vault.read("Projects/House.md")), before);
    // A stray line whose id another reminder has: it comes without it, and isn't lost.
    let vault = self::vault();
    let taken = "- [ ] date=2026-12-24 time=09:30 recur=none msg=\"Mine\" id=rid_AAAAAAAAAAAA\n";
    vault.write("Reminders.md", taken);
    let _ = vault.run(&["import", "--from", "tasks", "--yes"]).ok();
    let reminders = vault.read("Reminders.md");
    assert!(reminders.starts_with(taken), "{reminders}");
    assert!(reminders.contains("- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Stray\"\n"), "{reminders}");
}

#[test]
fn a_note_that_cannot_be_written_is_said_line_by_line() {
    let vault = vault();
    vault.write("Other.md", "- [ ] Feed the cat 📅 2026-12-06\n");
    let reminders = vault.read("Reminders.md");
    // Nobody may write to the house: its lines stay, as reminders besides, and it is said of each.
    vault.write("Projects/House.sync-conflict-20261201-093000-ABCDEFG.md", HOUSE);
    let run = vault.run(&["import", "--from", "tasks", "--yes"]);
    run.exits(1);
    assert_eq!(vault.read("Projects/House.md"), HOUSE);
    let still = "Projects/House.md:3: stands there still, and as a reminder besides: ";
    run.warns(still).warns("1 lines are in `Reminders.md` now; `vault-agent undo`");
    assert_eq!(vault.read("Other.md"), "- [ ] Feed the cat\n");
    let _ = vault.run(&["undo"]).ok();
    assert_eq!(vault.read("Other.md"), "- [ ] Feed the cat 📅 2026-12-06\n");
    assert_eq!(vault.read("Reminders.md"), reminders);
}
