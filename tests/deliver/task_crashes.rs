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
        world.memory = PassState::default();
        world.later(secs(crash.wait)).tick();
        assert!(world.tick().fired.is_empty(), "{context}");
        let all = told(&world);
        let times = |words: &str| all.iter().filter(|text| text.contains(words)).count();
        assert_eq!(["One", "Two", "Three"].map(times), [1; 3], "{context}: {all:?}");
        assert_eq!(world.folder.read("Home.md"), lines, "{context}");
    });
}

/// The notes of a person in `people/`, byte for byte; nothing there ends as our own files do.
fn notes_of(person: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deliver/people").join(person);
    let name = |file: &Path| file.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
    files_below(&folder).iter().map(|file| (name(file), fs::read(file).unwrap())).collect()
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

#[test]
fn three_peoples_vaults_stay_byte_for_byte() {
    // Of Tasks and its settings, of Kanban and Reminder, of TaskNotes and Dataview.
    for person in ["tasks", "boards", "notes"] {
        let vault = TestVault::new(
            "//- now: 2026-11-30T08:00:00Z\n//- /vault-agent.toml\n[reminders]\nalso = [\"tasks\", \"dataview\", \"reminder\", \"kanban\", \"tasknotes\"]\n",
        );
        let notes = notes_of(person);
        notes.iter().for_each(|(path, text)| vault.write(path, text));
        let mut told = 0;
        for now in ["11-30T08:00", "12-01T08:00", "12-01T09:30", "12-02T20:00"] {
            vault.set_now(&format!("2026-{now}:00Z"));
            told += vault.json(&["tick"])["fired"].as_array().unwrap().len();
            for command in ["remind list --all", "check", "status", "doctor", "reindex", "search plants"] {
                let _ = vault.sh(command);
            }
            let _ = vault.run(&["remind", "add", "tomorrow 9am", "Own"]).ok();
            let _ = vault.run(&["memory", "save", "Bob likes tea"]);
        }
        assert!(told >= 5, "{person}: {told} told");
        notes
            .iter()
            .for_each(|(path, text)| assert_eq!(fs::read(vault.path(path)).unwrap(), *text, "{path}"));
        // Done and Snooze of each task change its own lines alone, and undo brings every byte back.
        let all = vault.json(&["remind", "list", "--all"]);
        for task in all.as_array().unwrap().iter().filter(|one| one["format"] != "own") {
            let (id, path) = (task["id"].as_str().unwrap(), task["path"].as_str().unwrap());
            let before = std::fs::read(vault.path(path)).unwrap();
            for command in [&["remind", "done", id][..], &["remind", "snooze", id, "--minutes", "30"]] {
                let _ = vault.run(command).ok();
                let after = std::fs::read(vault.path(path)).unwrap();
                assert_ne!(before, after, "{command:?} {task}");
                let [mut gone, kept] = [&before, &after].map(|text| lines(text));
                gone.retain(|line| !kept.contains(line));
                assert!(gone.len() <= 4, "{command:?} changed {gone:?} of {path}");
                let _ = vault.run(&["undo"]).ok();
                assert_eq!(std::fs::read(vault.path(path)).unwrap(), before, "{command:?} {path}");
            }
        }
    }
}
