//! Twenty writers at once and a person with an editor: each memory stands once, and so does each line of the person.

use std::sync::Barrier;

use crate::memory::rig::*;
use jiff::civil::date;
use vault_agent::format::commitment::CommitmentStatus;
use vault_agent::reminders::{ReminderChanges, ReminderError, SentRecord, VaultReminders};

const WRITERS: usize = 20;
const EACH: usize = 6;

/// How often each line stands in a note.
fn counted(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    text.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    counts
}

/// Adds a line at the end, as `echo >>` does.
fn type_a_line(path: &std::path::Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

#[test]
fn threads_and_a_person_lose_and_double_nothing() {
    let rig = Rig::new(&[
        ("MEMORY.md", "# Memory\n\n## Facts\n- first\n\n## By hand\n"),
        ("daily/2026-12-01.md", "# Tuesday\n"),
        ("COMMITMENTS.md", "# Commitments\n"),
    ]);
    let start = Barrier::new(WRITERS + 1);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (rig, start) = (&rig, &start);
            scope.spawn(move || {
                let _memory = rig.memory();
                start.wait();
                for n in 0..EACH {
                    let fact = format!("fact {writer} {n}");
                    let saved = rig.save_long(&fact, Some("Facts"), &Scope::Global).unwrap();
                    assert!(saved.text.ends_with(&fact) && !saved.existing);
                    // All writers save this one.
                    rig.save_long("shared fact", None, &Scope::Global).unwrap();
                    rig.save_daily(&format!("note {writer} {n}"), &Scope::Global).unwrap();
                    rig.promise(&format!("promise {writer} {n}")).unwrap();
                }
            });
        }
        start.wait();
        (0..30).for_each(|n| type_a_line(&rig.path("MEMORY.md"), &format!("- typed {n}")));
    });
    let [memory, day, promises] =
        ["MEMORY.md", "daily/2026-12-01.md", "COMMITMENTS.md"].map(|note| rig.text(note));
    let [facts, notes, promised] = [&memory, &day, &promises].map(|text| counted(text));
    for writer in 0..WRITERS {
        for n in 0..EACH {
            assert_eq!(facts.get(&*format!("- [2026-12-01 09:30] fact {writer} {n}")), Some(&1), "{memory}");
            assert_eq!(notes.get(&*format!("- 09:30 note {writer} {n}")), Some(&1), "{day}");
            assert_eq!(promised.get(&*format!("promise {writer} {n}")), Some(&1), "{promises}");
        }
    }
    (0..30).for_each(|n| assert_eq!(facts.get(&*format!("- typed {n}")), Some(&1), "{memory}"));
    assert_eq!(facts.get("- [2026-12-01 09:30] shared fact"), Some(&1), "{memory}");
    for n in 1..=WRITERS * EACH {
        assert_eq!(promised.get(&*format!("id: c-2026-12-01-{n:03}")), Some(&1), "{promises}");
    }
    assert_eq!(memory.lines().filter(|line| line.starts_with("## ")).count(), 3, "{memory}");
}

#[test]
fn one_bullet_is_promoted_by_one_of_many() {
    let rig = Rig::new(&[("daily/2026-12-01.md", "- 08:00 Met Anna\n- 08:30 left\n")]);
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| drop(rig.memory().promote(date(2026, 12, 1), 1, None, Some("People"), &origin())));
        }
    });
    assert_eq!(rig.text("MEMORY.md").matches("Met Anna").count(), 1, "{}", rig.text("MEMORY.md"));
    let both = [rig.text("MEMORY.md"), rig.text("daily/2026-12-01.md")].concat();
    assert_eq!(both.matches("left").count(), 1, "{both}");
}

#[test]
fn processes_lose_and_double_nothing() {
    let vault = TestVault::new("//- /MEMORY.md\n# Memory\n");
    let save = |n: usize| vault.spawn(&["memory", "save", &format!("fact {}", n / 2), "--section", "Facts"]);
    let mut children = (0..8).map(save).collect::<Vec<_>>();
    children.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
    let memory = vault.read("MEMORY.md");
    (0..4).for_each(|n| assert_eq!(memory.matches(&format!("] fact {n}\n")).count(), 1, "{memory}"));
    assert_eq!(memory.matches("## Facts").count(), 1, "{memory}");
}

/// Nothing was sent.
#[derive(Debug)]
struct Nothing;

impl SentRecord for Nothing {
    fn possibly_sent(&self, _: &str, _: jiff::civil::DateTime) -> bool {
        false
    }

    fn line_removed(&self, _: &str) {}
}

/// A form about an older line or follow-up is refused where the note is written, not by a look before.
#[test]
fn a_change_that_was_meant_for_an_older_state_writes_nothing() {
    let line = "- [ ] date=2026-12-05 time=09:30 recur=weekly msg=\"Call\" id=rid_AAAAAAAAAAAA";
    let block = "---\nid: c-2026-12-01-001\nstatus: pending\ndue: 2026-12-03T17:00:00Z\n---\nAsk Bob\n";
    let rig = Rig::new(&[("Reminders.md", line), ("COMMITMENTS.md", block)]);
    let reminders = |was| {
        let Rig { vault, editor, zone, .. } = &rig;
        let path = NotePath::new("Reminders.md").unwrap();
        VaultReminders { vault, editor, path, zone, sent: &Nothing, was: Some(was) }
    };
    let (id, to) = ("rid_AAAAAAAAAAAA", jiff::civil::date(2026, 12, 8).at(10, 0, 0, 0));
    let older = reminders("- [ ] another line");
    let changes = ReminderChanges { msg: Some("Other".to_owned()), ..ReminderChanges::default() };
    for refused in [
        older.remove(id, origin()),
        older.change(id, &changes, origin()),
        older.skip_next(id, now(), origin()),
        older.move_next(id, to, now(), origin()),
        older.snooze(id, to, None, now(), origin()),
    ] {
        assert!(matches!(refused, Err(ReminderError::Changed(..))), "{refused:?}");
    }
    let (memory, id, due) = (rig.memory(), "c-2026-12-01-001", "2026-12-03T17:00:00Z".parse().unwrap());
    let older = memory.ledger().if_unchanged("2026-12-03T17:00:00+00:00 Ask Bea");
    for refused in [
        older.set(id, CommitmentStatus::Delivered, &origin()).map(drop),
        older.change(id, (Some("Other"), None), &origin()).map(drop),
        older.postpone(id, (due, now()), &origin()).map(drop),
    ] {
        assert!(matches!(refused, Err(MemoryError::Changed(_))), "{refused:?}");
    }
    assert_eq!((rig.read("Reminders.md"), rig.read("COMMITMENTS.md")), (line.to_owned(), block.to_owned()));
    // The present ones are changed.
    let present = memory.ledger().list(false).unwrap().remove(0).fingerprint();
    memory.ledger().if_unchanged(&present).set(id, CommitmentStatus::Delivered, &origin()).unwrap();
    reminders(line).change("rid_AAAAAAAAAAAA", &changes, origin()).unwrap();
    assert!(rig.read("Reminders.md").contains("Other") && rig.read("COMMITMENTS.md").contains("delivered"));
}
