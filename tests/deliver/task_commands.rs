//! Tasks of other plugins from the command line: one list, Done, Snooze, undo, and what is offered.

use serde_json::Value;

use crate::support::TestVault;

const NOTE: &str = "# Home\n\n- [ ] Pay rent 🔁 every month 📅 2027-01-31 ^rent\n- [ ] Call Bob (@2026-12-01 09:30)\n- [x] Old 📅 2020-01-01\n- [ ] No date\n";

/// 2026-12-01 09:30 in London.
fn vault(also: &str) -> TestVault {
    let vault = TestVault::new(&format!(
        "//- now: 2026-12-01T09:30:00Z\n//- /vault-agent.toml\n[reminders]\nalso = [{also}]\n//- /Home.md\n{NOTE}"
    ));
    vault.write(
        "Reminders.md",
        "- [ ] date=2026-12-24 time=17:00 recur=none msg=\"Tree\" id=rid_AAAAAAAAAAAA\n",
    );
    vault
}

/// The id of the task with these words.
fn id(vault: &TestVault, words: &str) -> String {
    let all = vault.run(&["--json", "remind", "list", "--all"]).ok().json();
    let found = all.as_array().unwrap().iter().find(|one| one["msg"] == words);
    found.unwrap_or_else(|| panic!("{words}: {all}"))["id"].as_str().unwrap().to_owned()
}

#[test]
fn one_list_says_where_each_stands() {
    let vault = vault("\"tasks\", \"reminder\"");
    let run = vault.run(&["remind", "list", "--all"]).ok();
    let lines: Vec<String> =
        run.stdout.lines().map(|line| line.split_once("  ").unwrap().1.to_owned()).collect();
    assert_eq!(
        lines,
        [
            "2026-12-24 17:00  once  Tree  Reminders.md:1 (own)",
            "2027-01-31 09:00  every month  Pay rent  Home.md:3 (tasks)",
            "2026-12-01 09:30  once  Call Bob  Home.md:4 (reminder)",
        ]
    );
    let all = vault.run(&["--json", "remind", "list", "--all"]).ok().json();
    assert_eq!(
        (&all[1]["path"], &all[1]["line"], &all[1]["format"]),
        (&"Home.md".into(), &3.into(), &"tasks".into())
    );
    // Without it the list is as it was.
    assert_eq!(vault.run(&["--json", "remind", "list"]).ok().json().as_array().unwrap().len(), 1);
    let status = vault.run(&["status"]);
    assert!(
        status.stdout.contains("Home.md:3 (tasks)") && status.stdout.contains("Pay rent"),
        "{}",
        status.stdout
    );
    let next = vault.run(&["--json", "status"]).json()["next"].clone();
    assert_eq!((&next[0]["msg"], &next[1]["format"]), (&"Tree".into(), &"tasks".into()));
}

#[test]
fn done_does_what_the_plugin_would_and_one_undo_takes_it_back() {
    let vault = vault("\"tasks\", \"reminder\"");
    vault.set_now("2027-01-31T10:00:00Z");
    let rent = id(&vault, "Pay rent");
    let run = vault.run(&["remind", "done", &rent]).ok();
    assert_eq!(
        run.stdout,
        "- [x] Pay rent 🔁 every month 📅 2027-01-31 ✅ 2027-01-31 ^rent\n- [ ] Pay rent 🔁 every month 📅 2027-02-28\n"
    );
    assert_eq!(
        run.stderr,
        "done in Home.md:4 (tasks)\nthe month of 2027-02-28 has no day 31, so `every month` goes on from day 28, as Tasks has it; `every month on the last` keeps to the end of the month\n"
    );
    let after = NOTE.replace(
        "- [ ] Pay rent 🔁 every month 📅 2027-01-31 ^rent",
        "- [ ] Pay rent 🔁 every month 📅 2027-02-28\n- [x] Pay rent 🔁 every month 📅 2027-01-31 ✅ 2027-01-31 ^rent",
    );
    assert_eq!(vault.read("Home.md"), after);
    // The same id means the next one now.
    assert_eq!(id(&vault, "Pay rent"), rent);
    let run = vault.run(&["undo"]).ok();
    assert_eq!(run.stdout, "undid: done: Pay rent\n");
    assert_eq!(vault.read("Home.md"), NOTE);
}

#[test]
fn snooze_tells_it_once_more_and_leaves_the_rest() {
    let vault = vault("\"tasks\", \"reminder\"");
    let _ = vault.run(&["tick"]).ok();
    let rent = id(&vault, "Pay rent");
    vault.set_now("2027-01-31T09:00:00Z");
    let told = |vault: &TestVault| vault.run(&["tick"]).ok().stdout.matches("Pay rent").count();
    assert_eq!(told(&vault), 1);
    let run = vault.run(&["remind", "snooze", &rent, "--until", "tomorrow 9:30"]).ok();
    let line = "- [ ] Pay rent ⏰ 2027-02-01 09:30 🔁 every month 📅 2027-01-31 ^rent";
    assert_eq!(run.stdout, format!("{line}\n"));
    assert!(run.stderr.contains("Mon 1 Feb 09:30, tomorrow"), "{}", run.stderr);
    assert_eq!(
        vault.read("Home.md"),
        NOTE.replace("- [ ] Pay rent 🔁 every month 📅 2027-01-31 ^rent", line)
    );
    assert_eq!(told(&vault), 0);
    vault.set_now("2027-02-01T09:30:00Z");
    assert_eq!((told(&vault), told(&vault)), (1, 0));
    let bob = id(&vault, "Call Bob");
    let run = vault.run(&["remind", "snooze", &bob, "--until", "2027-02-01 09:45"]).ok();
    assert_eq!(run.stdout, "- [ ] Call Bob (@2027-02-01 09:45)\n");
}

#[test]
fn done_takes_our_own_ids_too() {
    let vault = vault("");
    vault.write("Reminders.md", "- [ ] date=2026-12-24 time=17:00 recur=none msg=\"Tree\" id=rid_AAAAAAAAAAAA\n- [ ] date=2026-12-02 time=09:00 recur=daily msg=\"Pill\" id=rid_AAAAAAAAAAAB\n");
    let run = vault.run(&["remind", "done", "rid_AAAAAAAAAAAA"]).ok();
    assert!(run.stdout.contains("msg=\"Tree\""), "{}", run.stdout);
    let run = vault.run(&["remind", "done", "rid_AAAAAAAAAAAB"]).ok();
    assert!(run.stderr.contains("it comes again Wed 2 Dec 09:00"), "{}", run.stderr);
    assert_eq!(
        vault.read("Reminders.md"),
        "- [ ] date=2026-12-02 time=09:00 recur=daily msg=\"Pill\" id=rid_AAAAAAAAAAAB\n"
    );
    let run = vault.run(&["remind", "done", "task_AAAAAAAAAAAAAAAA_AAAAAAAAAAAAAAAA"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("name the forms that you use in `[reminders] also`"), "{}", run.stderr);
}

#[test]
fn the_words_of_a_notification_do_in_the_place_of_an_id() {
    let vault = vault("\"tasks\", \"reminder\"");
    vault.write("Other.md", "- [ ] Pay rent for the boat 📅 2027-01-31\n- [ ] Pay taxes 📅 2027-01-31\n");
    vault.set_now("2027-01-31T09:00:00Z");
    // All that a desktop shows, some of it, or what several say.
    let run = vault.run(&["remind", "snooze", "Task: Pay rent · Home.md", "--minutes", "30"]).ok();
    assert!(run.stdout.contains("- [ ] Pay rent ⏰ 2027-01-31 09:30"), "{}", run.stdout);
    let run = vault.run(&["remind", "done", "taxes"]).ok();
    assert_eq!(run.stdout, "- [x] Pay taxes 📅 2027-01-31 ✅ 2027-01-31\n");
    let before = (vault.read("Home.md"), vault.read("Other.md"));
    let run = vault.run(&["remind", "done", "pay"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("2 say `pay`:\n  task_"), "{}", run.stderr);
    assert!(run.stderr.contains("Pay rent for the boat  Other.md:1 (tasks)"), "{}", run.stderr);
    let run = vault.run(&["remind", "done", "mow"]);
    assert!(run.stderr.contains("no reminder and no task has the id or the words `mow`"), "{}", run.stderr);
    assert_eq!((vault.read("Home.md"), vault.read("Other.md")), before);
    let _ = vault.run(&["remind", "rm", "boat"]).ok();
    assert!(!vault.read("Other.md").contains("boat"), "{}", vault.read("Other.md"));
    let run = vault.run(&["remind", "edit", "tree", "--message", "The tree"]).ok();
    assert!(run.stdout.contains("msg=\"The tree\""), "{}", run.stdout);
}

#[test]
fn what_was_told_and_is_gone_is_snoozed_by_its_words() {
    let vault = vault("\"tasks\"");
    vault.set_now("2026-12-24T17:00:00Z");
    assert!(vault.run(&["tick"]).ok().stdout.contains("Tree"));
    assert_eq!(vault.read("Reminders.md"), "");
    assert_eq!(vault.run(&["remind", "done", "tree"]).code, 1);
    let run = vault.run(&["remind", "snooze", "Reminder: Tree", "--minutes", "20"]).ok();
    assert!(
        run.stdout.contains("time=17:2") && run.stdout.contains("recur=none msg=\"Tree\""),
        "{}",
        run.stdout
    );
}

#[test]
fn a_line_as_long_as_a_note_is_told_in_short() {
    let vault = vault("\"tasks\"");
    vault.write("Long.md", format!("- [ ] Read {} 📅 2026-12-02\n", "word ".repeat(20_000)));
    let _ = vault.run(&["tick"]).ok();
    vault.set_now("2026-12-02T09:00:00Z");
    let told = vault.run(&["tick"]).ok().stdout;
    assert!(told.contains("Read word") && told.contains("word… · Long.md"), "{told}");
    assert!(told.len() < 500, "{}", told.len());
    let run = vault.run(&["remind", "done", "read word"]).ok();
    assert!(run.stdout.starts_with("- [x] Read word"), "{}", &run.stdout[..40]);
}

#[test]
fn a_task_is_found_where_its_note_went_and_never_guessed() {
    let vault = vault("\"reminder\"");
    let bob = id(&vault, "Call Bob");
    std::fs::rename(vault.path("Home.md"), vault.path("House.md")).unwrap();
    let run = vault.run(&["--json", "remind", "done", &bob]).ok().json();
    assert_eq!((&run["path"], &run["line"]), (&"House.md".into(), &4.into()));
    vault.write("A.md", "- [ ] Call Bob (@2026-12-01 09:30)\n");
    vault.write("B.md", "- [ ] Call Bob (@2026-12-01 09:30)\n");
    let run = vault.run(&["remind", "done", &bob]);
    assert!(run.code == 1 && run.stderr.contains("A.md, B.md"), "{}", run.stderr);
}

#[test]
fn what_is_not_turned_on_is_counted_and_offered() {
    let vault = vault("\"tasks\"");
    let offer = "1 task with a date is not told (reminder 1)";
    let setting = "set `also = [\"tasks\", \"reminder\"]` under `[reminders]` in vault-agent.toml";
    let check = vault.run(&["check"]).ok();
    assert!(check.stderr.contains(offer) && check.stderr.contains(setting), "{}", check.stderr);
    let doctor = vault.run(&["doctor"]);
    assert!(doctor.stdout.contains(offer) && doctor.stdout.contains(setting), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("1 open tasks of other plugins are told (tasks)"), "{}", doctor.stdout);
    let init = vault.run(&["init", vault.root().to_str().unwrap()]).ok();
    assert!(init.stderr.contains(offer) && init.stderr.contains(setting), "{}", init.stderr);
    vault.write("vault-agent.toml", "[reminders]\nalso = [\"tasks\", \"reminder\"]\n");
    let check = vault.run(&["check"]).ok();
    assert!(!check.stderr.contains("not told"), "{}", check.stderr);
}

#[test]
fn a_task_that_is_no_utf_8_is_named() {
    let vault = vault("\"tasks\"");
    let bytes =
        b"- [ ] caf\xe9 \xf0\x9f\x93\x85 2026-12-01\n- [x] caf\xe9 \xf0\x9f\x93\x85 2026-12-01\n".to_vec();
    vault.write("Old.md", &bytes);
    let wanted = "Old.md:1:10: a task with a date (`📅 2026-12-01`) is not told: its line is not valid UTF-8; save the file as UTF-8";
    for args in [&["check"][..], &["check", "Old.md"]] {
        let run = vault.run(args);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stdout.lines().any(|line| line == wanted), "{}", run.stdout);
    }
    vault.write("Old.md", [&bytes[..], b"1. [ ] na\xefve [due:: 2026-12-02]\n"].concat());
    assert!(
        vault
            .run(&["check"])
            .stdout
            .contains("Old.md:1:10: 2 tasks with dates are not told, from this line on")
    );
    vault.write("vault-agent.toml", "");
    assert!(!vault.run(&["check"]).ok().stdout.contains("UTF-8"), "nobody is promised that they are told");
}

#[test]
fn our_own_notes_hold_no_tasks_of_others() {
    let vault = vault("\"tasks\"");
    let line = "- [ ] Mine 📅 2026-12-24\n";
    for own in [
        "Inbox.md",
        "Approvals.md",
        "summaries/a/d0-0001.md",
        "logs/a/b.md",
        "routines/x.md",
        "skills/s/SKILL.md",
    ] {
        vault.write(own, line);
    }
    vault.write("daily/2026-12-01.md", line);
    let all: Value = vault.run(&["--json", "remind", "list", "--all"]).ok().json();
    let found: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["msg"] == "Mine")
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(found, ["daily/2026-12-01.md"]);
}
