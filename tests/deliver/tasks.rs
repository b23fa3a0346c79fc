//! Task lines of other plugins: told once each, and never touched.

use crate::deliver::world::*;
use vault_agent::deliver::delivery_journal::LineHash;
use vault_agent::format::task::TaskFormat;
use vault_agent::tasks::TaskSettings;

const NOW: &str = "2026-12-01T08:00:00Z";

/// A vault with these forms on, since [`NOW`].
pub fn world(on: &[TaskFormat]) -> World {
    let mut world = World::new(NOW, "");
    world.settings.tasks = Some(TaskSettings {
        on: on.to_vec(),
        default_time: jiff::civil::Time::constant(9, 0, 0, 0),
        zone: world.settings.zone.tz().clone(),
        from: Vec::new(),
        exclude: Vec::new(),
    });
    world
}

fn tasks(world: &mut World) -> &mut TaskSettings {
    world.settings.tasks.as_mut().unwrap()
}

/// The same after a first pass over a note.
fn began(on: &[TaskFormat], note: &str, text: impl AsRef<[u8]>) -> World {
    let mut world = world(on);
    world.folder.write(note, text);
    world.tick();
    world
}

/// The note of a task of TaskNotes with these further lines in its head, after a first pass.
fn cake(head: &str) -> World {
    began(&[TaskFormat::TaskNotes], "Cake.md", format!("---\ntags: [task]\n{head}---\n"))
}

/// What arrived, without what is said once when forms are turned on.
pub fn told(world: &World) -> Vec<String> {
    world.place.texts().into_iter().filter(|text| !text.starts_with("Tasks in your notes")).collect()
}

/// What was told after a pass at this time.
fn told_at(world: &mut World, now: &str) -> Vec<String> {
    world.at(now).tick();
    told(world)
}

/// What was told after a pass a minute later.
fn told_later(world: &mut World) -> Vec<String> {
    world.later(secs(60)).tick();
    told(world)
}

/// The same once this is written.
fn told_after(world: &mut World, note: &str, text: &str) -> Vec<String> {
    world.folder.write(note, text);
    told_later(world)
}

#[test]
fn each_form_is_told_once_and_its_line_stays() {
    let mut world = world(&TaskFormat::ALL);
    let lines = "- [ ] Pay rent 📅 2026-12-01\n- [ ] Call Bob (@2026-12-01 09:31)\n- [ ] Card @{2026-12-01} @@{09:32}\n- [ ] Mail [due:: 2026-12-01T09:33]\n- [ ] Meet @remind(2026-12-01 09:35) @before(1m)\n- [x] Done 📅 2026-12-01\n";
    world.folder.write("Home.md", lines);
    world.folder.write("Cake.md", "---\ntags: [task]\ndue: 2026-12-01T09:36\n---\n");
    world.tick();
    assert_eq!(told(&world), [] as [&str; 0]);
    for _ in 0..100 {
        world.later(secs(60)).tick();
        // Each pass is a process of its own here.
        world.memory = PassState::default();
    }
    let came = told(&world).join("\n").replace("Task: ", "");
    let meet = "Meet · Home.md (next 09:35)\nMeet · Home.md";
    let home = ["Pay rent", "Call Bob", "Card", "Mail"].map(|words| format!("{words} · Home.md\n")).concat();
    assert_eq!(came, format!("{home}{meet}\nCake · Cake.md"));
    assert_eq!(world.folder.read("Home.md"), lines);
}

#[test]
fn turned_on_over_years_it_tells_nothing_that_was_due_before() {
    let mut world = world(&[TaskFormat::Tasks]);
    let old: String = (1..=28).map(|day| format!("- [ ] Old {day} 📅 2024-02-{day:02}\n")).collect();
    world.folder.write("Archive/Old.md", old);
    world.folder.write("Home.md", "- [ ] Late 📅 2026-11-30\n- [ ] Today 📅 2026-12-01\n");
    world.tick();
    world.at("2026-12-01T09:00:00Z").tick();
    world.at("2026-12-02T09:00:00Z").tick();
    let begins = "Tasks in your notes are delivered from now on (tasks). 29 already overdue, so not delivered one \
                  by one:\n- Archive/Old.md (28)\n- Home.md (1)";
    assert_eq!(world.place.texts(), [begins, "Task: Today · Home.md"]);
    // Another form begins when it is turned on, and says so.
    tasks(&mut world).on = vec![TaskFormat::Tasks, TaskFormat::Reminder];
    world.folder.write("Home.md", "- [ ] Call (@2026-12-01 10:00)\n- [ ] Call (@2026-12-03 10:00)\n");
    world.tick();
    assert_eq!(told_at(&mut world, "2026-12-03T10:00:00Z")[1..], ["Task: Call · Home.md"]);
}

#[test]
fn an_edit_of_the_time_is_a_new_occurrence_and_a_move_is_none() {
    let mut world = began(&[TaskFormat::Tasks], "Home.md", "- [ ] Pay 📅 2026-12-01 08:30\n");
    assert_eq!(told_at(&mut world, "2026-12-01T08:30:00Z").len(), 1);
    let moves = [
        ("Home.md", "# New\n\n- [ ] Other\n\t- [/] Pay ⏫ 📅 2026-12-01 08:30 ^b\n"),
        ("Work/Renamed.md", "- [ ] Pay 📅 2026-12-01 08:30\n"),
        ("Elsewhere.md", "words\n- [ ] Pay 📅 2026-12-01 08:30\n"),
    ];
    let mut before = "Home.md";
    for (path, words) in moves {
        world.remove(before);
        before = path;
        assert_eq!(told_after(&mut world, path, words).len(), 1, "{path}");
    }
    // A copy is a task of its own, also where the earlier one is ticked.
    assert_eq!(told_after(&mut world, "Copy.md", "- [ ] Pay 📅 2026-12-01 08:30\n").len(), 2);
    world.folder.write("Copy.md", "- [x] Pay 📅 2026-12-01 08:30 ✅ 2026-12-01\n");
    world.folder.write("Elsewhere.md", "- [x] Pay 📅 2026-12-01 08:30 ✅ 2026-12-01\n");
    assert_eq!(told_after(&mut world, "New.md", "- [ ] Pay 📅 2026-12-01 08:30\n").len(), 3);
    world.folder.write("Elsewhere.md", "- [ ] Pay 📅 2026-12-01 09:15\n");
    world.at("2026-12-01T09:15:00Z").tick();
    assert_eq!(told_later(&mut world)[3..], ["Task: Pay · Elsewhere.md"]);
}

#[test]
fn a_time_that_is_not_told_or_is_missed_is_no_next() {
    let reminder = "reminders:\n  - id: r1\n    type: relative\n    relatedTo: due\n    offset: -PT15M\n";
    let mut world = cake(&format!("due: 2026-12-01T10:00\n{reminder}"));
    assert_eq!(told_at(&mut world, "2026-12-01T09:45:00Z"), ["Task: Cake · Cake.md"]);
    assert_eq!(told_at(&mut world, "2026-12-01T10:00:00Z").len(), 1);
    let dentist = "- [ ] Dentist @remind(2026-12-01 09:00) @before(30m)\n";
    let told = told_at(&mut began(&[TaskFormat::Reminder], "Home.md", dentist), "2026-12-02T09:00:00Z");
    assert!(!told.is_empty() && told.iter().all(|text| !text.contains("next")), "{told:?}");
}

#[test]
fn each_relative_reminder_of_a_task_note_is_told_once() {
    let after = "    type: relative\n    relatedTo: due\n    description: x\n";
    let three = [("a", "-PT15M"), ("b", "PT15M"), ("c", "P1D")];
    let three = three.map(|(id, offset)| format!("  - id: {id}\n    offset: {offset}\n{after}")).concat();
    let mut world = cake(&format!("due: 2026-12-01T10:30\nreminders:\n{three}"));
    let mut counts = Vec::new();
    for now in "01T10:14 01T10:15 01T10:30 01T10:44 01T10:45 02T10:29 02T10:30 03T10:30".split(' ') {
        world.at(&format!("2026-12-{now}:00Z")).tick();
        world.later(secs(30)).tick();
        // Each pass is a process of its own here.
        world.memory = PassState::default();
        counts.push(told(&world).len());
    }
    assert_eq!(counts, [0, 1, 1, 1, 2, 2, 3, 3], "{:?}", told(&world));
}

#[test]
fn a_day_stays_that_day_whatever_time_the_settings_give_it() {
    for older in [false, true] {
        let text = "- [ ] Pay rent 📅 2026-12-01\n- [ ] Call @remind(2026-12-02) @before(1h)\n";
        let mut world = began(&[TaskFormat::Tasks, TaskFormat::Reminder], "Home.md", text);
        world.at("2026-12-01T09:00:00Z").tick();
        if older {
            // Journals that were written before the day was kept hold no more than the words.
            let key = format!("{}@2026-12-01T09:00", vault_agent::tasks::task_id("Home.md", "Pay rent"));
            world.journal().set_task_lines(&[(&key, LineHash::of(b"Pay rent"))]).unwrap();
            world.later(secs(60)).tick();
        }
        let at = |world: &mut World, hour: i8, now: &str| {
            tasks(world).default_time = jiff::civil::time(hour, 0, 0, 0);
            world.at(now).tick();
            told_later(world)
        };
        assert_eq!(at(&mut world, 8, "2026-12-01T20:00:00Z"), ["Task: Pay rent · Home.md"], "older: {older}");
        assert_eq!(at(&mut world, 10, "2026-12-02T09:00:00Z")[1..], ["Task: Call · Home.md (next 10:00)"]);
        assert_eq!(at(&mut world, 11, "2026-12-02T10:30:00Z").len(), 2, "{:?}", told(&world));
        // What was told before the time isn't the time itself.
        assert_eq!(told_at(&mut world, "2026-12-02T11:00:00Z")[2..], ["Task: Call · Home.md"]);
        // A person's own time is a new one.
        world.folder.write("Home.md", "- [ ] Pay rent 📅 2026-12-02 11:30\n");
        world.at("2026-12-02T11:30:00Z").tick();
        world.folder.write("Home.md", "- [ ] Pay rent 📅 2026-12-02\n");
        assert_eq!(at(&mut world, 12, "2026-12-02T12:00:00Z").len(), 5, "{:?}", told(&world));
    }
}

#[test]
fn a_tag_is_no_new_task_and_other_words_are() {
    let mut world = began(&[TaskFormat::Tasks], "Home.md", "- [ ] Pay rent #home 📅 2026-12-01\n");
    assert_eq!(told_at(&mut world, "2026-12-01T09:00:00Z").len(), 1);
    for words in ["Pay rent #home #waiting", "Pay #waiting rent", "Pay rent", "Pay rent #later"] {
        let line = format!("- [ ] {words} 📅 2026-12-01\n");
        assert_eq!(told_after(&mut world, "Home.md", &line).len(), 1, "{line}");
    }
    let told_of = |world: &mut World, lines: &str, expected: &str| {
        let before = told(world).len();
        let new = told_after(world, "Home.md", lines).split_off(before);
        assert!(new.len() == 1 && new[0].starts_with(expected), "{lines}: {new:?}");
    };
    // Another tag in the place of one, other words, another note: nobody was told of those.
    told_of(&mut world, "- [ ] Pay rent #boat 📅 2026-12-01\n", "Task: Pay rent #boat · Home.md");
    told_of(&mut world, "- [ ] Pay it #boat 📅 2026-12-01\n", "Task: Pay it #boat · Home.md");
    // One that is done still stands there, so what is new beside it is another.
    let both = "- [x] Pay it #boat 📅 2026-12-01\n- [ ] Pay it #boat #anna 📅 2026-12-01\n";
    told_of(&mut world, both, "Task: Pay it #boat #anna · Home.md");
}

#[test]
fn a_line_of_the_same_words_at_another_time_is_another_one() {
    let others = "- [x] Pills ⏰ 2026-11-30 09:00 ✅ 2026-11-30\n- [ ] Pills ⏰ 2026-12-01 21:00\n";
    let pills = "- [ ] Pills ⏰ 2026-12-01 09:00\n";
    let mut world = began(&[TaskFormat::Tasks], "Home.md", format!("{others}{pills}"));
    assert_eq!(told_at(&mut world, "2026-12-01T09:00:00Z").len(), 1);
    let pills = pills.replace("Pills", "Pills #health");
    for (home, other) in [(pills.as_str(), ""), ("", &pills)] {
        world.folder.write("Home.md", format!("{others}{home}"));
        assert_eq!(told_after(&mut world, "Other.md", other).len(), 1, "{:?}", told(&world));
    }
}

#[test]
fn the_global_filter_and_the_folders_are_kept_to() {
    let mut world = world(&[TaskFormat::Tasks]);
    tasks(&mut world).from = vec!["Work/**".to_owned()];
    let plugin = ".obsidian/plugins/obsidian-tasks-plugin/data.json";
    world.folder.write(plugin, r##"{"globalFilter": "#task"}"##);
    world.folder.write("Work/A.md", "- [ ] In #task 📅 2026-12-01\n- [ ] Out 📅 2026-12-01\n");
    world.folder.write("Home.md", "- [ ] Home #task 📅 2026-12-01\n");
    world.tick();
    assert_eq!(told_at(&mut world, "2026-12-01T09:00:00Z"), ["Task: In #task · Work/A.md"]);
    // While a plugin's settings can't be read nobody knows what its lines mean.
    world.folder.write(plugin, "{");
    world.folder.write("Work/A.md", "- [ ] Next #task 📅 2026-12-01 10:00\n");
    let report = world.at("2026-12-01T10:00:00Z").tick();
    assert_eq!(report.problems.len(), 1, "{report:?}");
    world.folder.write(plugin, r##"{"globalFilter": "#task"}"##);
    assert_eq!(told_later(&mut world)[1..], ["Task: Next #task · Work/A.md"]);
    // A sign between the parts of a scope may stand in a pattern.
    for from in ["{Work|Home}/**", "{Work,Home}/**", "a|/", "a", "x|y/**", "x/**"] {
        tasks(&mut world).from = vec![from.to_owned()];
        world.tick();
    }
}

#[test]
fn what_is_held_or_missed_is_told_after_a_change_of_the_folders_or_the_filter() {
    let mut world = world(&[TaskFormat::Tasks]);
    let hour = |hour| jiff::civil::time(hour, 0, 0, 0);
    world.settings.notify_rules.quiet = Some((hour(22), hour(7)));
    world.folder.write("P/A.md", "- [ ] Night #task ⏰ 2026-12-01 23:00\n");
    world.folder.write("Q/A.md", "- [ ] Old ⏰ 2026-11-01 10:00\n- [ ] Elsewhere ⏰ 2026-12-01 23:00\n");
    world.tick();
    assert!(told_at(&mut world, "2026-12-01T23:00:00Z").is_empty());
    tasks(&mut world).from = vec!["P/**".to_owned()];
    // While Tasks' settings are away there is another filter.
    let plugin = ".obsidian/plugins/obsidian-tasks-plugin/data.json";
    let filter = Some(r##"{"globalFilter": "#task"}"##);
    for (minute, settings) in [(10, filter), (20, None), (30, filter)] {
        settings.map_or_else(|| world.remove(plugin), |text| world.folder.write(plugin, text));
        assert!(told_at(&mut world, &format!("2026-12-01T23:{minute}:00Z")).is_empty());
    }
    let night = "Task: Night #task · P/A.md (due Tue 1 Dec 23:00, 8 h late)";
    assert_eq!(told_at(&mut world, "2026-12-02T07:00:00Z"), [night]);
    // A folder that was not among them of late tells nothing old.
    world.at("2026-12-03T07:00:00Z").tick();
    tasks(&mut world).from = vec!["Q/**".to_owned()];
    let both = "- [ ] Old #task ⏰ 2026-11-01 10:00\n- [ ] New #task ⏰ 2026-12-03 08:00\n";
    world.folder.write("Q/A.md", both);
    assert_eq!(told_at(&mut world, "2026-12-03T09:00:00Z").len(), 1);
}

#[test]
fn what_falls_due_while_all_forms_are_off_is_not_told_when_they_are_on_again() {
    let mut world = world(&[TaskFormat::Tasks]);
    world.tick();
    let on = world.settings.tasks.take();
    world.folder.write("Home.md", "- [ ] Pay 📅 2026-12-05\n");
    world.at("2026-12-06T09:00:00Z").tick();
    world.settings.tasks = on;
    assert!(told_at(&mut world, "2026-12-28T09:00:00Z").is_empty());
    assert!(world.place.texts().last().unwrap().contains("1 already overdue"));
}

#[test]
fn what_was_missed_comes_together_and_a_thousand_in_one_minute_are_one_message() {
    let many: String = (0..1000).map(|n| format!("- [ ] Task {n} 📅 2026-12-01\n")).collect();
    let mut world = began(&[TaskFormat::Tasks], "Many.md", &many);
    assert_eq!(world.at("2026-12-01T09:00:00Z").fires(), 1000);
    let all = told(&world).join("");
    assert!(all.starts_with("1000 tasks are due:\n- Task 0 · Many.md"), "{}", &all[..100]);
    assert!(all.ends_with("- and 900 more tasks"));
    let count = told(&world).len();
    assert_eq!((told_later(&mut world).len(), world.folder.read("Many.md")), (count, many));
    // An absence.
    world.folder.write("Few.md", "- [ ] a 📅 2026-12-02 10:00\n- [ ] b 📅 2026-12-02 11:00\n");
    world.at("2026-12-03T12:00:00Z").tick();
    contains_all(told(&world)[count..].join("\n"), &["2 were missed", "a · Few.md"]);
}

#[test]
fn a_line_that_is_being_typed_waits_until_it_is_still() {
    let mut world = world(&[TaskFormat::Tasks]);
    world.folder.write("Home.md", "words\n");
    world.pass(PassMode::Daemon);
    world.folder.write("Home.md", "words\n- [ ] Pay 📅 2026-12-01 07:00\n");
    world.at("2026-12-01T08:59:58Z");
    tasks(&mut world).default_time = jiff::civil::Time::constant(8, 30, 0, 0);
    world.pass(PassMode::Daemon);
    for (time, wait) in [("", 1), (" 15:00", 60)] {
        world.folder.write("Home.md", format!("words\n- [ ] Pay 📅 2026-12-01{time}\n"));
        world.later(secs(wait)).pass(PassMode::Daemon);
        assert_eq!(told(&world), [] as [&str; 0]);
    }
    world.at("2026-12-01T15:00:00Z").pass(PassMode::Daemon);
    assert_eq!(told(&world), ["Task: Pay · Home.md"]);
}

#[test]
fn a_line_that_is_being_typed_in_a_new_note_waits_too() {
    let mut world = world(&[TaskFormat::Tasks]);
    let note = |words: &str| format!("- [ ] {words} ⏰ 2026-12-01 08:01\n");
    world.pass(PassMode::Daemon);
    world.at("2026-12-01T08:02:00Z");
    for words in ["Call m", "Call mum", "Call mum today"] {
        world.folder.write("New.md", note(words));
        world.later(secs(1)).pass(PassMode::Daemon);
    }
    assert_eq!(told(&world), [] as [&str; 0]);
    world.later(secs(5)).pass(PassMode::Daemon);
    let told = told(&world);
    assert!(told.len() == 1 && told[0].starts_with("Task: Call mum today · New.md"), "{told:?}");
}

#[test]
fn a_line_that_was_written_while_the_clock_was_ahead_is_told() {
    let mut world = world(&[TaskFormat::Tasks]);
    world.pass(PassMode::Daemon);
    world.at("2026-12-03T08:00:00Z").pass(PassMode::Daemon);
    world.folder.write("Home.md", "- [ ] Pay ⏰ 2026-12-01 08:01\n");
    world.pass(PassMode::Daemon);
    world.at("2026-12-01T08:02:00Z").pass(PassMode::Daemon);
    assert_eq!(told(&world).len(), 1, "{:?}", told(&world));
}

#[test]
fn forms_that_were_turned_on_while_the_clock_was_wrong_tell_from_when_it_is_right() {
    for wrong in ["2026-12-03T08:00:00Z", "1970-01-01T00:00:20Z"] {
        let mut world = world(&[TaskFormat::Tasks]);
        world.folder.write("Home.md", "- [ ] Old 📅 2026-11-01\n- [ ] Pay ⏰ 2026-12-01 08:30\n");
        world.at(wrong).tick();
        world.at("2026-12-01T08:01:00Z").tick();
        assert_eq!(told_at(&mut world, "2026-12-01T08:30:00Z"), ["Task: Pay · Home.md"], "{wrong}");
    }
}

#[test]
fn an_instant_is_told_once_also_where_the_zone_changes() {
    let reminder = "{id: a, type: absolute, absoluteTime: \"2026-12-01T08:30:00Z\"}";
    let mut world = cake(&format!("reminders:\n  - {reminder}\n"));
    assert_eq!(told_at(&mut world, "2026-12-01T08:30:00Z"), ["Task: Cake · Cake.md"]);
    for zone in ["America/New_York", "Asia/Tokyo"] {
        world.settings.zone = Zone::get(zone).unwrap();
        tasks(&mut world).zone = world.settings.zone.tz().clone();
        assert_eq!(told_at(&mut world, "2026-12-01T09:00:00Z").len(), 1, "{zone}");
    }
}

#[test]
fn only_changed_notes_are_read_again() {
    let world = world(&[TaskFormat::Tasks]);
    (0..20).for_each(|n| world.folder.write(format!("{n}.md"), "- [ ] One 📅 2026-12-20\n"));
    let settings = world.settings.tasks.clone().unwrap();
    let vault = Vault::open(&world.root()).unwrap();
    let mut scanner = vault_agent::tasks::Scanner::default();
    let mut read = || {
        assert_eq!(scanner.scan(&vault, &settings, world.clock.now()), Ok(Vec::new()));
        (scanner.read, scanner.tasks().len())
    };
    // The reminders' note is one of those that are read.
    assert_eq!((read().1, read().0), (20, 0));
    world.folder.write("7.md", "- [ ] One 📅 2026-12-20\n- [ ] Two 📅 2026-12-20\n");
    assert_eq!(read(), (1, 21));
    world.remove("8.md");
    assert_eq!(read(), (0, 20));
}
