//! Done and Snooze against what the plugins document. The rules of Tasks' page on recurrence are in `schedule::task_dates`.

use jiff::civil::DateTime;
use proptest::prelude::*;
use vault_agent::format::task::{self, Rules, TaskFormat};
use vault_agent::tasks::{ChangedNote, TaskError, TaskRef, change, task_id};

const PATH: &str = "Home.md";

/// The first open task of a note, done on a day at noon.
fn done_with(note: &str, today: &str, rules: &Rules) -> Result<ChangedNote, TaskError> {
    let id = task_id(PATH, &task::scan(PATH, note.as_bytes(), rules).swap_remove(0).task.words);
    let now: DateTime = format!("{today}T12:00").parse().unwrap();
    change::complete(note.as_bytes(), &TaskRef { path: PATH, id: &id, due: None }, rules, now)
}

fn text(changed: &ChangedNote) -> String {
    String::from_utf8(changed.bytes.clone()).unwrap()
}

/// A line that is done on a day: then these lines stand in its place.
fn stands(line: &str, today: &str, after: &[String]) {
    let changed = done_with(&format!("# Day\n{line}\nwords\n"), today, &Rules::default()).unwrap();
    let stands: String = after.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(text(&changed), format!("# Day\n{stands}words\n"), "{line}");
    if let Some(at) = after.iter().position(|line| *line == changed.text) {
        assert_eq!(changed.line, at + 2, "the line as it is told stands where it is told");
    }
}

/// A line that comes again, ticked on a day in its own form.
fn ticked(line: &str, today: &str) -> String {
    let ticked = line.replace("[ ]", "[x]");
    let done = match line {
        line if line.contains("[repeat::") => format!("  [completion:: {today}]"),
        line if line.contains("(@") => String::new(),
        _ => format!(" ✅ {today}"),
    };
    let (words, block) = ticked.split_at(ticked.find(" ^").unwrap_or(ticked.len()));
    format!("{words}{done}{block}")
}

#[test]
fn what_is_done_is_ticked_and_what_comes_again_stands_above_it() {
    let lines = include_str!("done.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut lines = lines.map(|line| line.split_once(": ").unwrap()).peekable();
    let mut cases = 0;
    while let Some((today, line)) = lines.next() {
        let mut after = Vec::new();
        while let Some((word, stands)) = lines.next_if(|(word, _)| matches!(*word, "next" | "then")) {
            after.push(stands.to_owned());
            after.extend((word == "next").then(|| ticked(line, today)));
        }
        stands(line, today, &after);
        cases += 1;
    }
    assert_eq!(cases, 29);
}

#[test]
fn what_drifts_is_told() {
    let line = "- [ ] Stuff 🔁 every month 📅 2022-01-31\n";
    let remark = done_with(line, "2022-01-31", &Rules::default()).unwrap().remark.unwrap();
    let drifts = "the month of 2022-02-28 has no day 31, so `every month` goes on from day 28, as Tasks has it; `every month on the last` keeps to the end of the month";
    assert_eq!(remark, drifts);
}

#[test]
fn the_plugins_settings_are_kept_to() {
    let mut rules = Rules::default();
    rules.done.next_below = true;
    rules.done.created = true;
    let line = "- [ ] Bins 🔁 every Sunday ➕ 2021-01-01 📅 2021-04-25";
    let (changed, ticked) = (done_with(line, "2023-03-10", &rules).unwrap(), line.replace("[ ]", "[x]"));
    let next = "- [ ] Bins 🔁 every Sunday ➕ 2023-03-10 📅 2021-05-02";
    assert_eq!(text(&changed), format!("{ticked} ✅ 2023-03-10\n{next}"));
    assert_eq!(changed.line, 1);
    let changed = done_with("- [ ] Bins 🔁 every Sunday 📅 2021-04-25\r\n", "2023-03-10", &rules).unwrap();
    assert!(text(&changed).ends_with(&format!("✅ 2023-03-10\r\n{next}\r\n")));
    rules.done.date = false;
    rules.done.drop_scheduled = true;
    let line = "- [ ] Mow 🔁 every 2 weeks ⏳ 2021-10-28 📅 2021-10-30";
    let (changed, ticked) = (done_with(line, "2021-10-29", &rules).unwrap(), line.replace("[ ]", "[x]"));
    let next = "- [ ] Mow 🔁 every 2 weeks ➕ 2021-10-29 📅 2021-11-13";
    assert_eq!(text(&changed), format!("{ticked}\n{next}"));
    let line = "- [ ] Mow 🔁 every month on the 1st 🛫 2021-10-01 ⏳ 2021-10-05\n";
    let next = done_with(line, "2021-10-29", &rules).unwrap().next.unwrap();
    let wanted = "- [ ] Mow 🔁 every month on the 1st ➕ 2021-10-29 🛫 2021-11-01";
    assert_eq!(next, wanted, "it counts from the start");
    let changed = done_with("- [ ] Mow 🔁 every week ⏳ 2021-10-28", "2021-10-29", &rules).unwrap();
    assert!(text(&changed).contains("➕ 2021-10-29 ⏳ 2021-11-04"), "the only date stays");
}

#[test]
fn a_reminder_alone_moves_on_from_its_day_or_from_today() {
    // Before its day it goes on from its day, or from today where the rule says so.
    for (rule, next) in [("every 2 days", "2026-12-11"), ("every 2 days when done", "2026-12-03")] {
        let line = format!("- [ ] Pill 🔁 {rule} ⏰ 2026-12-09 09:30\n");
        let changed = done_with(&line, "2026-12-01", &Rules::default()).unwrap();
        assert_eq!(changed.next.unwrap(), format!("- [ ] Pill 🔁 {rule} ⏰ {next} 09:30"));
    }
}

#[test]
fn a_note_that_is_a_task() {
    let rules = Rules::default();
    let after = "status: done\ndue: 2026-12-01\ncompletedDate: 2026-12-02\n";
    let changed = becomes("status: open\ndue: 2026-12-01\n", "2026-12-02", after, &rules);
    assert_eq!(changed.text, "status: done\ncompletedDate: 2026-12-02");
    let next_time = |changed: &ChangedNote| {
        task::scan(PATH, &changed.bytes, &Rules::default())[0].task.notification_times[0].at.to_string()
    };
    let weekly = |scheduled: &str, more: &str| {
        let rule = "DTSTART:20261201;FREQ=WEEKLY;BYDAY=TU";
        format!("scheduled: {scheduled}T09:30\n{more}recurrence: {rule}\n")
    };
    let after = weekly("2026-12-15", "due: 2026-12-16\n") + "complete_instances:\n  - 2026-12-01\n";
    let changed = becomes(&weekly("2026-12-01", "due: 2026-12-02\n"), "2026-12-10", &after, &rules);
    assert_eq!(next_time(&changed), "2026-12-16T09:00:00");
    // A snooze is over with its day.
    let snoozed = |reminders: &str| {
        format!("---\ntags: [task]\n{}---\n", weekly("2026-12-01", &format!("reminders:\n{reminders}")))
    };
    let ours = "  - id: vault-agent-snooze\n    type: absolute\n    absoluteTime: 2026-12-02T10:00:00\n    description: Snoozed\n";
    let own = "  - id: a\n    type: relative\n    relatedTo: scheduled\n    offset: PT0S\n";
    for (before, after) in [
        (ours.to_owned(), "reminders: []\n".to_owned()),
        (format!("{own}{ours}"), format!("reminders:\n{own}")),
        (format!("{ours}{own}"), format!("reminders:\n{own}")),
    ] {
        let changed = done_with(&snoozed(&before), "2026-12-01", &Rules::default()).unwrap();
        assert!(text(&changed).contains(&format!("\n{after}recurrence:")), "{}", text(&changed));
    }
    // Where nothing was planned, its due day is the one that is done, and the next one is planned.
    let properties = "due: 2026-12-03\nrecurrence: DTSTART:20261203;FREQ=WEEKLY\n";
    let after = format!("{properties}complete_instances:\n  - 2026-12-03\nscheduled: 2026-12-10\n");
    assert_eq!(next_time(&becomes(properties, "2026-12-02", &after, &rules)), "2026-12-10T09:00:00");
    let anchored = |scheduled: &str, rule: &str| {
        format!("scheduled: {scheduled}\nrecurrence: {rule}\nrecurrence_anchor: completion\n")
    };
    let after = anchored("2026-12-13", "\"DTSTART:20261210;FREQ=DAILY;INTERVAL=3\"");
    let after = after + "complete_instances:\n  - 2026-12-10\n";
    becomes(&anchored("2026-12-01", "FREQ=DAILY;INTERVAL=3"), "2026-12-10", &after, &rules);
}

/// A note with these properties is done on a day: then it has those.
fn becomes(before: &str, today: &str, after: &str, rules: &Rules) -> ChangedNote {
    let note = |properties: &str| format!("---\ntags: [task]\n{properties}---\nCake\n");
    let changed = done_with(&note(before), today, rules).unwrap();
    assert_eq!(text(&changed), note(after));
    changed
}

#[test]
fn properties_have_any_names_and_read_back_as_they_were_set() {
    let mut rules = Rules::default();
    rules.notes.due = "fällig".to_owned();
    rules.notes.status = "Task Status".to_owned();
    rules.notes.completed = "Done on".to_owned();
    let after = "\"fällig\": 2026-12-01\nTask Status: done # x\nDone on: 2026-12-02\n";
    becomes("\"fällig\": 2026-12-01\nTask Status: open # x\n", "2026-12-02", after, &rules);
    let note = "---\ntags: [task]\ndue: 2026-12-01\nstatus: >-\n  open\n---\n";
    let error = done_with(note, "2026-12-02", &Rules::default()).unwrap_err();
    assert!(matches!(error, TaskError::Unwritable(_)), "{error}");
}

#[test]
fn what_is_not_understood_stays_as_it_is() {
    for rule in ["every fortnight", "every week for 3 times", "every day until January 1, 2027"] {
        let line = format!("- [ ] Thing 🔁 {rule} 📅 2026-12-01\n");
        let done = done_with(&line, "2026-12-01", &Rules::default());
        assert!(matches!(done, Err(TaskError::Repeat { .. })), "{rule}: {done:?}");
    }
    let now: DateTime = "2026-12-01T12:00".parse().unwrap();
    let id = task_id(PATH, "Thing");
    let meant = TaskRef { path: PATH, id: &id, due: None };
    let note = "- [x] Thing 📅 2026-12-01\n- [ ] Things 📅 2026-12-01\n";
    let error = change::complete(note.as_bytes(), &meant, &Rules::default(), now).unwrap_err();
    assert!(matches!(error, TaskError::NoSuchId(_)), "{error}");
}

#[test]
fn of_two_with_the_same_words_the_one_that_was_told_is_meant() {
    let between = |line: &str| format!("- [ ] Call 📅 2026-12-01\n{line}\n- [ ] Call 📅 2026-12-02\n");
    let (note, id) = (between("- [ ] Call 📅 2026-12-02"), task_id(PATH, "Call"));
    let due: DateTime = "2026-12-02T09:00".parse().unwrap();
    let meant = TaskRef { path: PATH, id: &id, due: Some(due) };
    let changed = change::complete(note.as_bytes(), &meant, &Rules::default(), due).unwrap();
    assert_eq!((text(&changed), changed.line), (between("- [x] Call 📅 2026-12-02 ✅ 2026-12-02"), 2));
    let to: DateTime = "2026-12-02T18:00".parse().unwrap();
    let changed = change::snooze(note.as_bytes(), &meant, &Rules::default(), to).unwrap();
    assert_eq!(text(&changed), between("- [ ] Call ⏰ 2026-12-02 18:00 📅 2026-12-02"));
}

proptest! {
    /// Whatever stands around it, Done and Snooze change the task's own line alone, and never lose a byte of another.
    #[test]
    fn other_lines_stay(
        before in "([a-zé# \\[\\]📅-]{0,12}\r?\n){0,4}",
        after in "([a-zé# \\[\\]📅-]{0,12}\r?\n){0,4}",
        rule in "( 🔁 every (day|week|month|2 months|month on the last))?",
        form in 0..3_usize,
    ) {
        let line = match form {
            0 => format!("- [ ] Thing{rule} 📅 2026-12-01"),
            1 => "- [ ] Thing (@2026-12-01 09:30)".to_owned(),
            _ => "- [ ] Thing @{2026-12-01}".to_owned(),
        };
        let note = format!("{before}{line}\n{after}");
        let rules = Rules { on: vec![TaskFormat::Tasks, TaskFormat::Reminder, TaskFormat::Kanban], ..Rules::default() };
        let id = task_id(PATH, "Thing");
        let meant = TaskRef { path: PATH, id: &id, due: None };
        let now: DateTime = "2026-12-01T12:00".parse().unwrap();
        for changed in [
            change::complete(note.as_bytes(), &meant, &rules, now),
            change::snooze(note.as_bytes(), &meant, &rules, now),
        ].into_iter().flatten() {
            let text = text(&changed);
            prop_assert!(text.starts_with(&before) && text.ends_with(&after), "{note:?} -> {text:?}");
            prop_assert!(text.contains(&changed.text));
        }
    }
}
