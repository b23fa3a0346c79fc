//! Tasks of other plugins from the command line: one list, Done, Snooze, undo, and what is offered.

use crate::deliver::world::line;
use crate::support::prelude::*;

const NOTE: &str = "# Home\n\n- [ ] Pay rent 🔁 every month 📅 2027-01-31 ^rent\n- [ ] Call Bob (@2026-12-01 09:30)\n- [x] Old 📅 2020-01-01\n- [ ] No date\n";

const RENT: &str = "- [ ] Pay rent 🔁 every month 📅 2027-01-31 ^rent";

/// 2026-12-01 09:30 in London.
fn vault(also: &str) -> TestVault {
    let vault = TestVault::new(&format!(
        "//- now: 2026-12-01T09:30:00Z\n//- /vault-agent.toml\n[reminders]\nalso = [{also}]\n//- /Home.md\n{NOTE}"
    ));
    vault.write("Reminders.md", line("2026-12-24", "17:00", "none", "Tree", "AAAAAAAAAAAA"));
    vault
}

/// The id of the task with these words.
fn id(vault: &TestVault, words: &str) -> String {
    let all = vault.json(&["remind", "list", "--all"]);
    let found = all.as_array().unwrap().iter().find(|one| one["msg"] == words);
    found.unwrap_or_else(|| panic!("{words}: {all}"))["id"].as_str().unwrap().to_owned()
}

#[test]
fn one_list_says_where_each_stands() {
    let vault = vault("\"tasks\", \"reminder\"");
    let run = vault.run(&["remind", "list", "--all"]).ok();
    let rent = "  2027-01-31 09:00  every month  Pay rent  Home.md:3 (tasks)\n";
    run.says("once  Tree  Reminders.md:1 (own)\n").says(rent).says("Call Bob  Home.md:4 (reminder)\n");
    let all = vault.json(&["remind", "list", "--all"]);
    assert_eq!(pick(&all, "1/path 1/line 1/format"), json!(["Home.md", 3, "tasks"]));
    // Without it the list is as it was.
    assert_eq!(vault.json(&["remind", "list"]).as_array().unwrap().len(), 1);
    vault.run(&["status"]).says("Home.md:3 (tasks)").says("Pay rent");
    assert_eq!(pick(&vault.json(&["status"]), "next/0/msg next/1/format"), json!(["Tree", "tasks"]));
}

#[test]
fn done_does_what_the_plugin_would_and_one_undo_takes_it_back() {
    let vault = vault("\"tasks\", \"reminder\"");
    vault.set_now("2027-01-31T10:00:00Z");
    let rent = id(&vault, "Pay rent");
    let run = vault.run(&["remind", "done", &rent]).ok();
    let ticked = "- [x] Pay rent 🔁 every month 📅 2027-01-31 ✅ 2027-01-31 ^rent";
    let next = "- [ ] Pay rent 🔁 every month 📅 2027-02-28";
    assert_eq!(run.stdout, format!("{ticked}\n{next}\n"));
    run.warns("done in Home.md:4 (tasks)\nthe month of 2027-02-28 has no day 31, so `every month` goes on from day 28");
    assert_eq!(vault.read("Home.md"), NOTE.replace(RENT, &format!("{next}\n{ticked}")));
    // The same id means the next one now.
    assert_eq!(id(&vault, "Pay rent"), rent);
    assert_eq!(vault.run(&["undo"]).ok().stdout, "undid: done: Pay rent\n");
    assert_eq!(vault.read("Home.md"), NOTE);
    // A line that goes is said, too.
    let bins = "- [ ] Bins 🏁 delete 📅 2027-02-01\n";
    vault.write("Bins.md", bins);
    assert_eq!(vault.run(&["remind", "done", &id(&vault, "Bins")]).ok().stdout, bins);
    assert_eq!(vault.read("Bins.md"), "");
}

#[test]
fn snooze_tells_it_once_more_and_leaves_the_rest() {
    let vault = vault("\"tasks\", \"reminder\"");
    let _ = vault.run(&["tick"]).ok();
    let rent = id(&vault, "Pay rent");
    vault.set_now("2027-01-31T09:00:00Z");
    let told = || vault.run(&["tick"]).ok().stdout.matches("Pay rent").count();
    assert_eq!(told(), 1);
    let run = vault.run(&["remind", "snooze", &rent, "--until", "tomorrow 9:30"]).ok();
    let line = "- [ ] Pay rent ⏰ 2027-02-01 09:30 🔁 every month 📅 2027-01-31 ^rent";
    assert_eq!(run.stdout, format!("{line}\n"));
    run.warns("Mon 1 Feb 09:30, tomorrow");
    assert_eq!(vault.read("Home.md"), NOTE.replace(RENT, line));
    assert_eq!(told(), 0);
    vault.set_now("2027-02-01T09:30:00Z");
    assert_eq!((told(), told()), (1, 0));
    let run = vault.run(&["remind", "snooze", &id(&vault, "Call Bob"), "--until", "2027-02-01 09:45"]).ok();
    assert_eq!(run.stdout, "- [ ] Call Bob (@2027-02-01 09:45)\n");
}

#[test]
fn a_snoozed_appointment_keeps_its_time_and_its_other_earlier_times() {
    let vault = vault("\"reminder\"");
    let line = "- [ ] dentist @remind(2026-12-02 15:30) @before(1h, 15m) @repeat(weekly)\n";
    vault.write("Home.md", line);
    let told = |at: &str| vault.tick_at(&format!("2026-12-02T{at}Z")).matches("dentist").count();
    assert_eq!([told("10:00:00"), told("14:30:00")], [0, 1]);
    vault.set_now("2026-12-02T14:30:30Z");
    let run = vault.run(&["remind", "snooze", "dentist", "--until", "14:41"]).ok();
    run.says("@remind(2026-12-02 15:30) @snooze(2026-12-02 14:41) @before(1h, 15m)");
    let all = ["14:31:00", "14:41:00", "14:42:00", "15:15:00", "15:30:00", "15:31:00"].map(told);
    assert_eq!(all, [0, 1, 0, 1, 1, 0]);
    let _ = vault.run(&["remind", "done", "dentist"]).ok();
    assert_eq!(vault.read("Home.md"), line.replace("12-02", "12-09"));
}

#[test]
fn the_words_of_a_notification_do_in_the_place_of_an_id() {
    let vault = vault("\"tasks\", \"reminder\"");
    vault.write("Other.md", "- [ ] Pay rent for the boat 📅 2027-01-31\n- [ ] Pay taxes 📅 2027-01-31\n");
    vault.set_now("2027-01-31T09:00:00Z");
    // All that a desktop shows, some of it, or what several say.
    let run = vault.run(&["remind", "snooze", "Task: Pay rent · Home.md", "--minutes", "30"]).ok();
    run.says("- [ ] Pay rent ⏰ 2027-01-31 09:30");
    let taxes = "- [x] Pay taxes 📅 2027-01-31 ✅ 2027-01-31\n";
    assert_eq!(vault.sh("remind done taxes").ok().stdout, taxes);
    let before = (vault.read("Home.md"), vault.read("Other.md"));
    let run = vault.run(&["remind", "done", "pay"]);
    run.exits(1).warns("2 say `pay`:\n  task_").warns("Pay rent for the boat  Other.md:1 (tasks)");
    vault.sh("remind done mow").warns("no reminder and no task has the id or the words `mow`");
    assert_eq!((vault.read("Home.md"), vault.read("Other.md")), before);
    let boat = "- [ ] Pay rent for the boat 📅 2027-01-31\n";
    assert_eq!(vault.sh("remind rm boat").ok().stdout, boat);
    assert!(!vault.read("Other.md").contains("boat"), "{}", vault.read("Other.md"));
    vault.run(&["remind", "edit", "tree", "--message", "The tree"]).ok().says("msg=\"The tree\"");
}

#[test]
fn of_two_lines_with_the_same_words_none_is_guessed() {
    let vault = vault("\"tasks\"");
    let [near, far] = ["- [ ] Call Bob 📅 2026-12-05\n", "- [ ] Call Bob 📅 2026-12-20\n"];
    vault.write("Bob.md", format!("{near}{far}"));
    let bob = id(&vault, "Call Bob");
    let (plain, first) = bob.split_once('@').unwrap();
    assert_eq!(first, "2026-12-05T09:00");
    let shown = format!(
        "2 say `call bob`:\n  {bob}  2026-12-05 09:00  Call Bob  Bob.md:1 (tasks)\n  {plain}@2026-12-20"
    );
    for command in ["rm ID", "done ID", "skip ID", "snooze ID --minutes 5", "move ID 2026-12-24"] {
        let run = |id: &str| vault.sh(&format!("remind {}", command.replace("ID", &format!("'{id}'"))));
        run("call bob").exits(1).warns(&shown);
        run(plain).exits(1).warns("the task stands in more than one place now: Bob.md:1, Bob.md:2");
    }
    assert_eq!(vault.read("Bob.md"), format!("{near}{far}"));
    let _ = vault.run(&["remind", "rm", &format!("{plain}@2026-12-20T09:00")]).ok();
    assert_eq!(vault.read("Bob.md"), near);
    let _ = vault.run(&["remind", "done", "call bob"]).ok();
    vault.run(&["remind", "done", &format!("{plain}@soon")]).exits(1).warns("no open task has the id");
}

#[test]
fn what_was_told_and_is_gone_is_snoozed_by_its_words() {
    let vault = vault("\"tasks\"");
    vault.set_now("2026-12-24T17:00:00Z");
    let fired = &vault.json(&["tick"])["fired"][0];
    assert_eq!((&fired["text"], fired.get("next")), (&"Tree".into(), Some(&Value::Null)));
    assert_eq!((vault.read("Reminders.md").as_str(), vault.sh("remind done tree").code), ("", 1));
    let snoozed = vault.sh("remind snooze 'Reminder: Tree' --minutes 20").ok();
    snoozed.says("time=17:2").says("recur=none msg=\"Tree\"");
}

#[test]
fn a_task_is_found_where_its_note_went_and_never_guessed() {
    let vault = vault("\"reminder\"");
    let bob = id(&vault, "Call Bob");
    std::fs::rename(vault.path("Home.md"), vault.path("House.md")).unwrap();
    let run = vault.json(&["remind", "done", &bob]);
    assert_eq!((&run["path"], &run["line"]), (&"House.md".into(), &4.into()));
    vault.write("A.md", "- [ ] Call Bob (@2026-12-01 09:30)\n");
    vault.write("B.md", "- [ ] Call Bob (@2026-12-01 09:30)\n");
    vault.run(&["remind", "done", &bob]).exits(1).warns("A.md, B.md");
}

#[test]
fn what_is_not_turned_on_is_not_found_but_counted_and_offered() {
    let done = vault("").run(&["remind", "done", "task_AAAAAAAAAAAAAAAA_AAAAAAAAAAAAAAAA"]);
    done.exits(1).warns("name the forms that you use in `[reminders] also`");
    let vault = vault("\"tasks\"");
    let offer = "1 task with a date is not delivered (reminder 1)";
    let setting = "set `also = [\"tasks\", \"reminder\"]` under `[reminders]` in vault-agent.toml";
    vault.run(&["check"]).ok().warns(offer).warns(setting);
    let doctor = vault.run(&["doctor"]);
    doctor.says(offer).says(setting).says("1 open tasks of other plugins are delivered (tasks)");
    vault.run(&["init", vault.root().to_str().unwrap()]).ok().warns(offer).warns(setting);
    vault.write("vault-agent.toml", "[reminders]\nalso = [\"tasks\", \"reminder\"]\n");
    vault.run(&["check"]).ok().warns_not("not delivered");
}

#[test]
fn a_board_has_the_format_of_daily_notes_and_a_date_that_is_not_read_is_named() {
    let vault = vault("\"kanban\"");
    vault.write(".obsidian/daily-notes.json", "{\"format\": \"MMMM Do, YYYY\"}");
    vault.write("Home.md", "- [ ] Bike @{December 2nd, 2026}\n- [ ] Rad @{Dezember 2., 2026}\n");
    vault.run(&["remind", "list", "--all"]).ok().says("2026-12-02 09:00  once  Bike  Home.md:1 (kanban)");
    vault.run(&["check"]).ok().says("Home.md:2:11: `@{Dezember 2` is a date in an unsupported format");
    vault.write(".obsidian/plugins/obsidian-kanban/data.json", "{\"date-format\": \"gggg-[W]ww\"}");
    let words = "tasks of `kanban` have dates in the format `gggg-[W]ww`, which isn't read";
    vault.run(&["check"]).exits(1).says(words);
    vault.run(&["remind", "list", "--all"]).warns(words);
}

#[test]
fn a_task_that_is_no_utf_8_is_named() {
    let vault = vault("\"tasks\"");
    let bytes = b"- [ ] caf\xe9 \xf0\x9f\x93\x85 2026-12-01\n- [x] caf\xe9 \xf0\x9f\x93\x85 2026-12-01\n";
    vault.write("Old.md", bytes);
    let wanted = "Old.md:1:10: a task with a date (`📅 2026-12-01`) is not delivered: its line is not valid UTF-8; save the file as UTF-8";
    for command in ["check", "check Old.md"] {
        let run = vault.sh(command);
        assert!(run.exits(1).stdout.lines().any(|line| line == wanted), "{}", run.stdout);
    }
    vault.write("Old.md", [&bytes[..], b"1. [ ] na\xefve [due:: 2026-12-02]\n"].concat());
    vault.run(&["check"]).says("Old.md:1:10: 2 tasks with dates are not delivered, from this line on");
    vault.write("vault-agent.toml", "# none\n");
    assert!(!vault.run(&["check"]).ok().stdout.contains("UTF-8"), "nobody is promised that they are told");
}

#[test]
fn our_own_notes_hold_no_tasks_of_others() {
    let (vault, line) = (vault("\"tasks\""), "- [ ] Mine 📅 2026-12-24\n");
    let own = "Inbox.md Approvals.md summaries/a/d0-0001.md logs/a/b.md routines/x.md skills/s/SKILL.md";
    own.split(' ').for_each(|note| vault.write(note, line));
    vault.write("daily/2026-12-01.md", line);
    let all = vault.json(&["remind", "list", "--all"]);
    let mine = all.as_array().unwrap().iter().filter(|one| one["msg"] == "Mine");
    let found: Vec<&str> = mine.map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(found, ["daily/2026-12-01.md"]);
}
