//! Killed at every step: nothing is lost, and the next try leaves nothing doubled.
//!
//! A child of this binary does one operation and aborts at a failpoint, in the first or the second edit.

use crate::memory::rig::*;
use jiff::civil::date;

use crate::vault::help::IN_PLACE;

/// The steps of an edit and what lies between two.
fn points() -> impl Iterator<Item = &'static str> {
    IN_PLACE.split(' ').chain(["memory::put::written", "memory::promote::between"])
}

/// What fits into one write is never half written, nor cut; and not every disk gives a lease.
const RARE: [&str; 4] = ["half-written", "before-cut", "leased", "released"];

const DAY: &str = "# Tuesday\n- 08:00 before\n- 08:30 Met Anna\n  about the flat\n- 08:45 after\n";
const MEMORY: &str = "# Memory\n\n## Notes\n- old\n";

/// What a child is: it arms the failpoint and does its work.
#[test]
fn child() {
    let Some((role, root)) = doomed() else { return };
    let rig = Rig::at(&root);
    if role == "vanish" { vanish(&rig) } else { work(&rig, &role) }
}

/// A person removes the line in the moment between writing and reading back.
fn vanish(rig: &Rig) {
    let note = rig.path("MEMORY.md");
    fail::cfg_callback("memory::put::written", move || std::fs::write(&note, MEMORY).unwrap()).unwrap();
    let error = rig.save_long("keeps bees", None, &Scope::Global).unwrap_err();
    assert!(matches!(error, MemoryError::Vanished { .. }) && !error.to_string().contains("bees"), "{error}");
    assert_eq!((error.code(), error.is_usage()), ("gone_after_writing", false));
}

fn work(rig: &Rig, role: &str) {
    let memory = rig.memory();
    match role {
        "long" => drop(rig.save_long("keeps bees", None, &Scope::Global).unwrap()),
        "daily" => drop(rig.save_daily("keeps bees", &Scope::Global).unwrap()),
        "commitment" => drop(rig.promise("keeps bees").unwrap()),
        // The line may have moved by then, or be gone.
        _ => {
            let day = rig.text("daily/2026-12-01.md");
            let Some(line) = day.lines().position(|line| line.contains("Met Anna")) else { return };
            let promoted = memory.promote(date(2026, 12, 1), line + 1, None, None, &origin());
            assert!(promoted.is_ok_and(|promoted| promoted.removed));
        }
    }
}

/// Lets a child die in a fresh vault, looks after it as the next start does, and returns the vault.
fn crashed(role: &str, point: &str, round: usize) -> Rig {
    let promises = ("COMMITMENTS.md", "# Commitments\n");
    let rig = Rig::new(&[("MEMORY.md", MEMORY), ("daily/2026-12-01.md", DAY), promises]);
    let died = killed_at(&child, role, point, round, rig.dir());
    let reached = round == 1 || (point.starts_with("vault::") && role == "promote");
    if !RARE.iter().any(|rare| point.ends_with(&format!("::{rare}"))) {
        assert_eq!(died, reached && is_on_the_way(role, point), "{role} {point} {round}");
    }
    rig.editor.recover().unwrap();
    rig
}

fn is_on_the_way(role: &str, point: &str) -> bool {
    match point {
        "memory::promote::between" => role == "promote",
        "memory::put::written" => role != "commitment",
        _ => true,
    }
}

#[test]
fn a_promotion_neither_loses_nor_doubles() {
    for point in points() {
        for round in [1, 2] {
            let rig = crashed("promote", point, round);
            let told =
                || format!("{point} {round}\n{}\n{}", rig.text("MEMORY.md"), rig.text("daily/2026-12-01.md"));
            let count = |note: &str| rig.text(note).matches("Met Anna").count();
            assert!(count("MEMORY.md") + count("daily/2026-12-01.md") > 0, "lost: {}", told());
            work(&rig, "promote");
            assert_eq!((count("MEMORY.md"), count("daily/2026-12-01.md")), (1, 0), "{}", told());
            assert_eq!(rig.text("daily/2026-12-01.md"), "# Tuesday\n- 08:00 before\n- 08:45 after\n");
            let promoted = "- [2026-12-01 08:30] Met Anna\n  about the flat\n  [[daily/2026-12-01]]\n";
            assert_eq!(rig.text("MEMORY.md"), format!("{MEMORY}{promoted}"));
        }
    }
    let rig = crashed("promote", "memory::promote::between", 1);
    let again = rig.memory().promote(date(2026, 12, 1), 3, None, Some("People"), &origin()).unwrap();
    assert!(again.saved.existing && again.removed, "with another section it is the same fact: {again:?}");
}

#[test]
fn a_save_that_is_tried_again_stands_once() {
    let saves = [("long", "MEMORY.md"), ("daily", "daily/2026-12-01.md"), ("commitment", "COMMITMENTS.md")];
    for (role, note) in saves {
        for point in points() {
            let rig = crashed(role, point, 1);
            work(&rig, role);
            assert_eq!(rig.text(note).matches("keeps bees").count(), 1, "{role} {point}\n{}", rig.text(note));
        }
    }
}

#[test]
fn what_a_person_changed_between_the_two_notes_stays() {
    let rig = crashed("promote", "memory::promote::between", 1);
    rig.write("daily/2026-12-01.md", DAY.replace("about the flat", "about the house"));
    let promoted = rig.memory().promote(date(2026, 12, 1), 3, None, None, &origin()).unwrap();
    assert!(!promoted.saved.existing && promoted.removed);
    contains_all(rig.text("MEMORY.md"), &["about the flat", "about the house"]);
    let gone = rig.memory().promote(date(2026, 12, 1), 9, None, None, &origin()).unwrap_err();
    assert!(matches!(gone, MemoryError::NoSuchLine { total: 3, .. }));
}

#[test]
fn what_a_person_removed_before_it_was_read_back_is_an_error() {
    let rig = Rig::new(&[("MEMORY.md", MEMORY)]);
    assert!(!killed_at(&child, "vanish", "none", 1, rig.dir()));
    assert_eq!(rig.text("MEMORY.md"), MEMORY);
}
