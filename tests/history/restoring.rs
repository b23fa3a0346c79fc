//! Bringing things back.

use vault_agent::history::{DiffStyle, HistoryError, Interrupted, render_diff};

use crate::history::room::Room;
use crate::support::{mode, set_mode};

#[test]
fn a_file_a_folder_and_everything_come_back() {
    let room = Room::of(&[("a.md", "one\n"), ("d/b.md", "two\n"), ("d/c.md", "three\n")]);
    room.tick();
    room.write("a.md", "changed\n");
    std::fs::remove_dir_all(room.root().join("d")).unwrap();
    room.write("new.md", "newer\n");
    let then = room.history.point("3 minutes ago");
    let is_before = |words: &String| words.contains("is before the first snapshot");
    assert!(matches!(&then, Err(HistoryError::BeyondHistory(words)) if is_before(words)), "{then:?}");
    let one = room.restore("1 minute ago", &["d/b.md"], false);
    assert_eq!(one.restored, ["d/b.md"]);
    assert_eq!((room.read("d/b.md").as_str(), room.has("d/c.md")), ("two\n", false));
    let all = room.restore("1 minute ago", &[], false);
    assert_eq!((all.restored.len(), all.deleted.len(), all.skipped.len()), (2, 0, 0));
    assert_eq!((room.read("a.md").as_str(), room.has("new.md")), ("one\n", true));
    let exact = room.restore("1 minute ago", &[], true);
    assert_eq!(exact.deleted, ["new.md"]);
    assert_eq!(room.files().keys().collect::<Vec<_>>(), ["a.md", "d/b.md", "d/c.md"]);
    // The restore itself can be taken back from the snapshot before it.
    room.restore(exact.snapshot_before.as_deref().unwrap(), &[], true);
    assert_eq!(room.read("new.md"), "newer\n");
    assert_eq!(room.subjects()[0], "restore: restored: new.md as of 2026-12-01 09:32:00 GMT");
    room.is_settled();
}

#[test]
fn a_plan_writes_and_records_nothing() {
    let room = Room::of(&[("a.md", "one\n")]);
    room.write("a.md", "two\n");
    room.write("b.md", "new\n");
    let point = room.history.newest().unwrap();
    let plan = room.history.plan_restore(&point, &[], false).unwrap();
    assert_eq!((plan.steps.len(), plan.newer.as_slice()), (1, &["b.md".to_owned()][..]));
    let diff = room.history.step_diff(&plan.steps[0]).unwrap();
    assert!(render_diff(&diff, DiffStyle::Plain).contains("-two\n+one\n"));
    assert_eq!(room.log().len(), 1);
    assert_eq!(room.read("a.md"), "two\n");
}

#[test]
fn what_was_deleted_in_bulk_and_never_accepted_comes_back() {
    let room = Room::new();
    room.fill("n", 0..50, |number| number.to_string());
    room.snapshot();
    let before = room.files();
    room.thin("n", 0..40);
    assert!(room.snapshot().held.is_some());
    assert_eq!(room.restore("HEAD", &[], false).restored.len(), 40);
    assert_eq!(room.files(), before);
    assert_eq!(room.history.held().unwrap(), None);
}

#[test]
fn links_modes_and_files_in_each_others_places_come_back() {
    use std::os::unix::fs::symlink;
    let room = Room::new();
    room.write("run.md", "x");
    set_mode(room.root().join("run.md"), 0o755);
    symlink("run.md", room.root().join("link.md")).unwrap();
    room.save("was.md", "file");
    let before = room.files();
    set_mode(room.root().join("run.md"), 0o644);
    room.remove("link.md");
    room.write("link.md", "a file now");
    room.remove("was.md");
    room.save("was.md/inside.md", "a folder now");
    let point = room.history.point("HEAD~1").unwrap();
    let loose = room.history.restore(&room.editor, &point, &[], false).unwrap();
    assert_eq!(loose.skipped.len(), 1, "{loose:?}");
    assert!(loose.skipped[0].reason.contains("is a folder"));
    let exact = room.history.restore(&room.editor, &point, &[], true).unwrap();
    assert!(exact.skipped.is_empty(), "{exact:?}");
    assert_eq!(room.files(), before);
    assert_eq!(mode(room.root().join("run.md")), 0o755);
    room.fsck();
}

#[test]
fn an_interrupted_restore_is_finished_or_rolled_back() {
    for (what, wanted) in [(Interrupted::Finish, "old"), (Interrupted::RollBack, "new")] {
        let room = Room::of(&[("a.md", "old"), ("b.md", "old")]);
        room.write("a.md", "new");
        room.save("b.md", "new");
        let point = room.history.point("HEAD~1").unwrap();
        // What a killed restore leaves: its note, and one file of two.
        let note = room.history.dir().join("restore.json");
        let stored = |text: &str| {
            let id = git2::Oid::hash_object(git2::ObjectType::Blob, text.as_bytes()).unwrap().to_string();
            serde_json::json!(["100644", id])
        };
        let step =
            |path: &str| serde_json::json!({ "path": path, "before": stored("new"), "after": stored("old") });
        let pending = serde_json::json!({
            "from": point.commit.id.to_string(), "subject": "restored: 2 files", "began": room.now(),
            "steps": [step("a.md"), step("b.md")],
        });
        std::fs::write(&note, pending.to_string()).unwrap();
        room.write("a.md", "old");
        // A snapshot in between knows whose work that is.
        room.snapshot();
        assert_eq!(room.subjects()[0], "restore: restored: 2 files");
        let report = room.history.finish_pending(&room.editor, what).unwrap().unwrap();
        assert!(report.skipped.is_empty(), "{report:?}");
        assert_eq!((room.read("a.md").as_str(), room.read("b.md").as_str()), (wanted, wanted));
        assert!(!note.exists());
        assert!(room.snapshot().commits.is_empty());
    }
}

#[test]
fn what_is_asked_for_wrongly_is_said_and_nothing_changes() {
    let room = Room::new();
    assert!(matches!(room.history.point("HEAD"), Err(HistoryError::Empty)));
    room.save("a.md", "x");
    let said = |text: &str| room.history.point(text).unwrap_err().to_string();
    assert_eq!(
        said("2020-01-01"),
        "`2020-01-01` is before the first snapshot, which was taken 2026-12-01 09:31:00 GMT"
    );
    assert!(said("soonish").contains("neither a snapshot's id nor a time"));
    assert!(said("HEAD~9").contains("HEAD~9"));
    let point = room.history.newest().unwrap();
    let missing = room.history.plan_restore(&point, &["no.md".into()], false).unwrap_err();
    assert!(missing.to_string().starts_with("`no.md` is not in the snapshot"), "{missing}");
}

#[test]
fn a_damaged_object_is_named_and_the_vault_stays() {
    let room = Room::of(&[("a.md", "precious\n")]);
    room.save("a.md", "newer\n");
    let id = git2::Oid::hash_object(git2::ObjectType::Blob, b"precious\n").unwrap().to_string();
    let object = room.history.dir().join("objects").join(&id[..2]).join(&id[2..]);
    set_mode(&object, 0o644);
    std::fs::write(&object, b"garbage").unwrap();
    let report = room.restore("HEAD~1", &["a.md"], false);
    assert!(report.restored.is_empty());
    assert!(report.skipped[0].reason.contains("the history is damaged"), "{report:?}");
    assert_eq!(room.read("a.md"), "newer\n");
}
