//! Notes that were renamed: nothing is deleted, their past is followed, and a restore doesn't double them.

use crate::history::room::*;

fn text(number: usize) -> String {
    format!("# Note {number}\n\nwords of {number}\nmore\nand more\n")
}

/// Forty notes in one folder and a few others.
fn room() -> Room {
    let room = Room::new();
    room.fill("Old/sub", 0..40, text);
    room.save("other.md", "x");
    room
}

#[test]
fn a_renamed_folder_is_believed_whoever_looks() {
    for all in [true, false] {
        let room = room();
        room.rename("Old", "New");
        // Obsidian brings links up to date.
        room.write("New/sub/7.md", text(7).replace("more\nand", "[[New/sub/8]]\nand"));
        let snapshot = if all { room.snapshot() } else { room.snapshot_of(&["Old", "New"]) };
        assert_eq!((&snapshot.held, snapshot.commits.len()), (&None, 1), "{snapshot:?}");
        let tree = room.git_tree("main");
        assert!(tree.len() == 41 && tree.keys().all(|path| !path.starts_with("Old")), "{tree:?}");
        assert!(room.subjects()[0].contains("39 moved"), "{:?}", room.subjects());
        room.is_settled();
    }
}

#[test]
fn a_folder_that_is_copied_and_then_deleted_is_believed_too() {
    let room = room();
    room.fill("New/sub", 0..40, text);
    room.snapshot();
    std::fs::remove_dir_all(room.root().join("Old")).unwrap();
    assert_eq!(room.snapshot().held, None);
}

#[test]
fn what_is_gone_beside_a_rename_still_waits_for_a_word() {
    let room = Room::new();
    room.fill("Old", 0..40, text);
    room.fill("Lost", 40..80, text);
    room.snapshot();
    room.rename("Old", "New");
    std::fs::remove_dir_all(room.root().join("Lost")).unwrap();
    let held = room.snapshot().held.unwrap();
    assert_eq!(held.deleted.iter().filter(|path| path.starts_with("Lost/")).count(), 40, "{held:?}");
    assert_eq!(held.deleted.len(), 40);
    let tree = room.git_tree("main");
    assert!(tree.len() == 80 && !tree.contains_key("Old/1.md") && tree.contains_key("Lost/41.md"));
    assert!(room.snapshot().held.is_some());
    assert_eq!(room.history.snapshot_all(Deletions::Accept).unwrap().deleted, 40);
    assert!(room.snapshot().commits.is_empty());
}

#[test]
fn notes_of_one_text_are_not_each_others_names() {
    let room = Room::new();
    room.fill("daily", 0..60, |_| "# Day\n".into());
    room.snapshot();
    room.thin("daily", 0..50);
    assert_eq!(room.snapshot().held.unwrap().deleted.len(), 50);
}

fn life(room: &Room, path: &str) -> Vec<String> {
    room.found(&LogFilter { path: Some(path.into()), ..LogFilter::default() })
}

#[test]
fn the_life_of_a_note_and_of_a_folder_goes_through_its_names() {
    let room = room();
    room.save("Old/sub/3.md", text(3) + "older\n");
    room.rename("Old", "New");
    room.snapshot();
    room.rename("New/sub/3.md", "three.md");
    room.snapshot();
    room.write("three.md", text(3) + "newer\n");
    room.save("other.md", "y");
    let (moved, first) = ("40 notes: 40 moved", "first snapshot: 41 files");
    let later = ["2 notes: 2 changed", "moved New/sub/3.md to three.md"];
    assert_eq!(life(&room, "three.md"), [&later[..], &[moved, "changed Old/sub/3.md", first]].concat());
    assert_eq!(life(&room, "New").len(), 4);
    assert_eq!(life(&room, "New/sub/4.md"), [moved, first]);
    // A note that came out of a folder which is still there doesn't bring the folder's life along.
    room.rename("New/sub/5.md", "five/5.md");
    room.snapshot();
    room.save("New/sub/6.md", "z");
    assert_eq!(life(&room, "five"), ["moved New/sub/5.md to five/5.md", moved, first]);
}

fn restored(room: &Room, at: &str, scopes: &[&str], exact: bool) -> (Vec<String>, Vec<String>) {
    let report = room.restore(at, scopes, exact);
    assert!(report.skipped.is_empty(), "{report:?}");
    (report.restored, report.deleted)
}

#[test]
fn a_restore_finds_the_note_under_its_new_name_and_doubles_nothing() {
    let none: (Vec<String>, Vec<String>) = Default::default();
    let room = room();
    let before = room.files();
    room.rename("Old", "New");
    room.snapshot();
    room.write("New/sub/3.md", "# Three\n");
    room.rename("New/sub/4.md", "New/four.md");
    room.snapshot();
    room.save("New/four.md", "quite another text\n");
    // The old folder: what was renamed is where it is.
    assert_eq!(restored(&room, "HEAD~3", &["Old/sub/5.md"], false), none);
    // The new one, and a note of it.
    assert_eq!(restored(&room, "HEAD~3", &["New/sub/5.md"], false), none);
    assert_eq!(restored(&room, "HEAD~3", &["New/four.md"], false), (vec!["New/four.md".into()], vec![]));
    assert_eq!(room.read("New/four.md"), text(4));
    assert!(!room.has("Old"));
    // With `--exact` all is as it was.
    let (back, gone) = restored(&room, &room.log().last().unwrap().commit.id.to_string(), &["Old"], true);
    assert!(back.len() == 40 && gone.len() == 40, "{back:?} {gone:?}");
    assert_eq!(room.files(), before);
}

#[test]
fn the_command_says_where_the_notes_are() {
    let fixture: String = (0..30).map(|number| format!("//- /Old/{number}.md\n{}", text(number))).collect();
    let vault = TestVault::new(&fixture);
    let _ = vault.run(&["history"]).ok();
    std::fs::rename(vault.path("Old"), vault.path("New")).unwrap();
    let run = vault.run(&["history", "-n", "1"]).ok();
    assert!(run.stdout.contains("30 notes: 30 moved") && run.stderr.is_empty(), "{run:?}");
    let (after, run) = (vault.tree(), vault.run(&["restore", "Old", "--yes"]).ok());
    run.says("keep New/3.md (it was Old/3.md then; `--exact` moves it back)").says("nothing to restore");
    assert_eq!(vault.tree(), after);
    let document = vault.json(&["restore", "Old", "--dry-run"]);
    assert_eq!(document["renamed"][0], serde_json::json!({ "from": "Old/0.md", "to": "New/0.md" }));
    let _ = vault.run(&["restore", "Old", "--exact", "--yes"]).ok();
    assert!(vault.has("Old/3.md") && !vault.has("New/3.md"));
    let _ = vault.run(&["undo", "--yes"]);
    assert_eq!(vault.json(&["history", "New"]).as_array().unwrap().len(), 3);
}
