//! Tasks of other plugins, with passes that end at each of their steps, and processes that are killed: told once each, and
//! not a byte of three people's vaults changed by anything but Done and Snooze.

use vault_agent::format::task::TaskFormat;

use crate::deliver::crashes::{STEPS, at_each_step};
use crate::deliver::tasks::{told, world};
use crate::deliver::world::*;

#[test]
fn each_step_may_be_the_last_before_a_crash() {
    let lines = "- [ ] One 🔁 every day 📅 2026-12-01 09:30\r\n- [ ] Two (@2026-12-01 09:30)\r\n- [ ] Three 📅 2026-12-01 09:30\r\nwords";
    at_each_step(3, &[30, 600], STEPS.len(), |crash| {
        let (mut world, context) = (world(&[TaskFormat::Tasks, TaskFormat::Reminder]), &crash.context);
        world.folder.write("Home.md", lines);
        world.tick();
        crash.tick(world.at("2026-12-01T09:30:00Z"));
        world.memory = vault_agent::deliver::PassState::default();
        world.later(secs(crash.wait)).tick();
        assert!(world.tick().fired.is_empty(), "{context}");
        let all = told(&world);
        for words in ["One", "Two", "Three"] {
            let times = all.iter().filter(|text| text.contains(words)).count();
            assert_eq!(times, 1, "{context}: {words} in {all:?}");
        }
        assert_eq!(world.folder.read("Home.md"), lines, "{context}");
    });
}

/// Notes as people of three kinds keep them: one of Tasks and its settings, one of Kanban and Reminder, one of TaskNotes and
/// Dataview. Nothing here ends as our own files do.
const VAULTS: [&[(&str, &str)]; 3] = [
    &[
        (
            ".obsidian/plugins/obsidian-tasks-plugin/data.json",
            r##"{"globalFilter":"#todo","setDoneDate":true,"recurrenceOnNextLine":true}"##,
        ),
        (
            "Chores.md",
            "---\ntags: [home]\n---\n# Chores\n\n- [ ] #todo Water plants 🔁 every 3 days ⏳ 2026-11-28 📅 2026-12-01 ^w\n\t- [ ] sub #todo 📅 2026-12-01\n- [ ] no filter 📅 2026-12-01\n- [x] #todo Old 🔁 every day 📅 2020-01-01 ✅ 2020-01-02\n- [-] #todo Given up 📅 2026-12-01 ❌ 2026-11-01\n- [/] #todo Half ⏫ 🛫 2026-12-01 #x\n\n```tasks\nnot done\n- [ ] #todo in a fence 📅 2026-12-01\n```\n\n%% - [ ] #todo hidden 📅 2026-12-01 %%\n> [!todo]+ Callout\n> - [ ] #todo In a callout 📅 2026-12-01 \n",
        ),
        (
            "daily/2026-12-01.md",
            "\u{feff}# Tuesday\r\n\r\n- [ ] #todo Überweisung 📅 2026-12-01  \r\n1. [ ] #todo numbered [[Bob|B]] `code 📅` 📅2026-12-01\r\n* [ ] #todo no newline at the end 📅 2026-12-01 17:00",
        ),
    ],
    &[
        (
            "Board.md",
            "---\n\nkanban-plugin: basic\n\n---\n\n## Doing\n\n- [ ] Ship it @{2026-12-01} @@{09:05}\n- [ ] Linked @[[2026-12-01]]\n- [ ] Two\n\tlines @{2026-12-01}\n\n\n***\n\n## Archive\n\n- [x] Gone @{2026-01-01}\n\n%% kanban:settings\n```\n{\"kanban-plugin\":\"basic\"}\n```\n%%",
        ),
        (
            "Calls.md",
            "* [ ] Call (@2026-12-01 09:00) Bob\n+ [ ] Dentist (@[[2026-12-01]] 14:00)\n- [ ] Pills (@2026-12-01 08:30 🔁every day)\n- [ ] Toast @remind(2026-12-01 3pm) @repeat(daily) @before(1h, 15m)\n- [ ] bad (@2026-13-01)\n\n\n",
        ),
    ],
    &[
        (
            "Tasks/Cake.md",
            "---\ntitle: \"Bake: a cake\"\ntags:\n  - task\nstatus: open # now\ndue: 2026-12-01T09:30\nreminders:\n  - id: r1\n    type: relative\n    relatedTo: due\n    offset: -PT15M\n---\n\n- [ ] flour\n",
        ),
        (
            "Tasks/Weekly.md",
            "---\ntags: [task]\nscheduled: 2026-12-01\nrecurrence: DTSTART:20261201;FREQ=WEEKLY;BYDAY=TU\n---",
        ),
        (
            "Projects/A.md",
            "- [ ] Mail [due:: 2026-12-01]  [priority:: high]\n- [ ] (reminder:: 2026-12-01T10:00) Ring [repeat:: every week] [due:: 2026-12-02]\n- [ ] inline [created:: 2026-01-01]\nTask:: - [ ] no [due:: 2026-12-01]\n",
        ),
    ],
];

#[test]
fn three_peoples_vaults_stay_byte_for_byte() {
    for (at, notes) in VAULTS.iter().enumerate() {
        let vault = TestVault::new(
            "//- now: 2026-11-30T08:00:00Z\n//- /vault-agent.toml\n[reminders]\nalso = [\"tasks\", \"dataview\", \"reminder\", \"kanban\", \"tasknotes\"]\n",
        );
        for (path, text) in *notes {
            vault.write(path, text);
        }
        let mut told = 0;
        for now in
            ["2026-11-30T08:00:00Z", "2026-12-01T08:00:00Z", "2026-12-01T09:30:00Z", "2026-12-02T20:00:00Z"]
        {
            vault.set_now(now);
            told += vault.json(&["tick"])["fired"].as_array().unwrap().len();
            for command in [
                &["remind", "list", "--all"][..],
                &["check"],
                &["status"],
                &["doctor"],
                &["reindex"],
                &["search", "plants"],
            ] {
                let _ = vault.run(command);
            }
            let _ = vault.run(&["remind", "add", "tomorrow 9am", "Own"]).ok();
            let _ = vault.run(&["memory", "save", "Bob likes tea"]);
        }
        assert!(told >= 5, "vault {at}: {told} told");
        for (path, text) in *notes {
            assert_eq!(std::fs::read(vault.path(path)).unwrap(), text.as_bytes(), "{path}");
        }
        // Done and Snooze of each task change its own lines alone, and undo brings every byte back.
        let all = vault.json(&["remind", "list", "--all"]);
        for task in all.as_array().unwrap().iter().filter(|one| one["format"] != "own") {
            let (id, path) = (task["id"].as_str().unwrap(), task["path"].as_str().unwrap());
            let before = std::fs::read(vault.path(path)).unwrap();
            for command in [&["remind", "done", id][..], &["remind", "snooze", id, "--minutes", "30"]] {
                let _ = vault.run(command).ok();
                let after = std::fs::read(vault.path(path)).unwrap();
                assert_ne!(before, after, "{command:?} {task}");
                let kept = |bytes: &[u8]| -> BTreeMap<Vec<u8>, i32> {
                    let mut lines = BTreeMap::new();
                    for line in bytes.split_inclusive(|b| *b == b'\n') {
                        *lines.entry(line.to_owned()).or_insert(0) += 1;
                    }
                    lines
                };
                let (old, new) = (kept(&before), kept(&after));
                let gone: i32 = old.iter().map(|(line, n)| (n - new.get(line).unwrap_or(&0)).max(0)).sum();
                assert!(gone <= 4, "{command:?} changed {gone} lines of {path}");
                let _ = vault.run(&["undo"]).ok();
                assert_eq!(std::fs::read(vault.path(path)).unwrap(), before, "{command:?} {path}");
            }
        }
    }
}
