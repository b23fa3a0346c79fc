//! The protocol, seen from outside: what it keeps, what it refuses, what it says.

use std::{fs::File, fs::OpenOptions, os::unix::fs::MetadataExt};

use crate::vault::help::*;
use vault_agent::vault::{ChangeObserver, EditPlan, ObservedChange};

const FILE: &str = "Reminders.md";

fn delete(line: &str) -> Operation {
    Operation::DeleteLine { line: line.as_bytes().to_vec() }
}

fn replace(line: &str, with: &str) -> Operation {
    Operation::ReplaceLine { line: line.as_bytes().to_vec(), with: with.as_bytes().to_vec() }
}

#[test]
fn an_edit_in_place_keeps_the_inode_and_a_swap_keeps_mode_owner_and_attributes() {
    for strategy in [EditStrategy::Lease, EditStrategy::Swap] {
        let room = Room::with(strategy);
        room.write(FILE, "a\nb\nc\n");
        let path = room.path(FILE);
        set_mode(&path, 0o640);
        let attribute = rustix::fs::setxattr(&path, "user.note", b"kept", rustix::fs::XattrFlags::empty());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(1234), Some(1235)).unwrap();
        }
        let before = std::fs::metadata(&path).unwrap();

        let report = room.editor.edit(&note(FILE), &[delete("b"), replace("c", "C id=1")], &why()).unwrap();
        assert!(report.changed && report.all_done());
        assert_eq!(report.after, b"a\nC id=1\n");
        assert_eq!(room.read(FILE), "a\nC id=1\n");

        let after = std::fs::metadata(&path).unwrap();
        assert_eq!(before.ino() == after.ino(), strategy == EditStrategy::Lease);
        assert_eq!((before.mode(), before.uid(), before.gid()), (after.mode(), after.uid(), after.gid()));
        if attribute.is_ok() {
            let mut value = [0; 16];
            let len = rustix::fs::getxattr(&path, "user.note", &mut value).unwrap();
            assert_eq!(&value[..len], b"kept");
        }
        // The displaced file stands beside it for a minute, hidden.
        room.follow_ups_after(61);
        assert_eq!(room.names(), [FILE]);
    }
}

#[test]
fn no_byte_changes_no_write() {
    let room = Room::new();
    room.write(FILE, "a\n");
    let path = room.path(FILE);
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    let report = room.editor.edit(&note(FILE), &[delete("gone")], &why()).unwrap();
    assert!(!report.changed && !report.all_done());
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
    assert!(!room.editor.edit(&note("none.md"), &[delete("gone")], &why()).unwrap().changed);
    assert_eq!(room.names(), [FILE]);
}

#[test]
fn new_notes_are_created_with_their_folders_and_never_over_another() {
    let room = Room::new();
    assert!(room.append("logs/x/1.md", "hello").unwrap().changed);
    assert_eq!(room.read("logs/x/1.md"), "hello\n");
    room.editor.create(&note("logs/x/2.md"), b"", &why()).unwrap();
    assert_eq!(room.read("logs/x/2.md"), "");
    let again = room.editor.create(&note("logs/x/1.md"), b"other", &why());
    assert!(matches!(again, Err(EditError::Exists(_))), "{again:?}");
    assert_eq!(room.read("logs/x/1.md"), "hello\n");
    assert_eq!(std::fs::read_dir(room.path("logs/x")).unwrap().count(), 2);
}

#[test]
fn files_are_removed_and_come_back_if_somebody_still_writes_to_them() {
    for strategy in [EditStrategy::Lease, EditStrategy::Swap] {
        let room = Room::with(strategy);
        room.write(FILE, "a\n");
        let remove = |expect: &str| {
            room.editor.edit(&note(FILE), &[Operation::RemoveFile { expect: expect.into() }], &why()).unwrap()
        };
        assert!(!remove("b\n").changed);
        assert!(remove("a\n").removed);
        assert!(!room.path(FILE).exists());
        if strategy == EditStrategy::Lease {
            // Opened after the removal by whoever had resolved the name before: through the kept name.
            let kept = room.names().pop().unwrap();
            let mut late = OpenOptions::new().append(true).open(room.path(&kept)).unwrap();
            late.write_all(b"late\n").unwrap();
            drop(late);
            room.follow_up_until(FILE, "a\nlate\n");
        }
        room.follow_ups_after(130);
        assert!(room.names().iter().all(|name| name == FILE), "{:?}", room.names());
    }
}

#[test]
fn suspicious_files_are_left_alone() {
    let room = Room::new();
    let edit = || room.append(FILE, "x");
    let refused = |wanted: &str| {
        let before = std::fs::read(room.path(FILE)).unwrap();
        let error = edit().unwrap_err();
        assert!(matches!(error, EditError::Refused(_)), "{error:?}");
        assert!(error.to_string().contains(wanted), "{error}");
        assert_eq!(std::fs::read(room.path(FILE)).unwrap(), before);
    };
    room.write(FILE, "a line of some length\n".repeat(20));
    edit().unwrap();

    room.write(FILE, "");
    refused("is empty");
    room.clock.advance(SignedDuration::from_secs(59));
    refused("is empty");
    room.write(FILE, "short\n");
    refused("shrank from 442 bytes to 6");
    room.clock.advance(SignedDuration::from_secs(60));
    edit().unwrap();
    assert_eq!(room.read(FILE), "short\nx\n");

    // Not where a person asks for it with the content in hand, nor where it has stood so for long.
    room.write(FILE, "");
    let restore = [Operation::ReplaceAll { expect: Some(Vec::new()), with: b"back\n".to_vec() }];
    room.editor.edit(&note(FILE), &restore, &ChangeReason::new(Actor::Restore, "restored")).unwrap();
    assert_eq!(room.read(FILE), "back\n");
    let old = std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    File::create(room.path("fresh.md")).unwrap().set_modified(old).unwrap();
    room.append("fresh.md", "x").unwrap();
    assert_eq!(room.read("fresh.md"), "x\n");

    room.write(FILE, "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> theirs\n");
    refused("line 2 begins a merge conflict");
    room.write(FILE, "a line\n");
    let copy = "Reminders.sync-conflict-20261121-093000-ABCDEFG.md";
    room.write(copy, "b\n");
    refused(copy);
    std::fs::remove_file(room.path(copy)).unwrap();
    edit().unwrap();
}

#[test]
fn a_read_only_file_is_a_clear_error_and_only_if_it_were_to_change() {
    for strategy in [EditStrategy::Lease, EditStrategy::Swap] {
        let room = Room::with(strategy);
        room.write(FILE, "a\n");
        set_mode(room.path(FILE), 0o444);
        let cause = "it is read-only; make it writable with `chmod u+w`; it is as it was";
        let said = format!("`Reminders.md` could not be written (opening): {cause}");
        assert_eq!(room.append(FILE, "x").unwrap_err().to_string(), said);
        assert!(!room.editor.edit(&note(FILE), &[delete("x")], &why()).unwrap().changed);
        assert_eq!(room.read(FILE), "a\n");
        assert_eq!(room.names(), [FILE]);
    }
}

#[test]
fn a_file_that_is_held_open_for_writing_is_waited_for() {
    for strategy in [EditStrategy::Lease, EditStrategy::Auto] {
        let room = Room::with(strategy);
        room.write(FILE, "a\n");
        let held = OpenOptions::new().append(true).open(room.path(FILE)).unwrap();
        let error = room.append(FILE, "x").unwrap_err();
        assert!(matches!(error, EditError::Busy { .. }), "{error:?}");
        assert!(error.is_transient());
        assert_eq!(room.read(FILE), "a\n");
        drop(held);
        // A reader that never closes holds up the lease alone.
        let _reader = (strategy == EditStrategy::Auto).then(|| File::open(room.path(FILE)).unwrap());
        room.append(FILE, "x").unwrap();
        assert_eq!(room.read(FILE), "a\nx\n");
    }
}

#[test]
fn late_writes_into_a_displaced_file_are_carried_over() {
    let room = Room::with(EditStrategy::Swap);
    room.write(FILE, "a\nb\nc\n");
    // A reader may have it open across the swap and write later through a second handle.
    let reader = File::open(room.path(FILE)).unwrap();
    room.editor.edit(&note(FILE), &[delete("a")], &why()).unwrap();
    let kept = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    let mut late = OpenOptions::new().append(true).open(kept).unwrap();
    late.write_all(b"late\n").unwrap();
    // While it is open for writing it may be half there.
    room.editor.follow_ups(room.now());
    assert_eq!(room.read(FILE), "b\nc\n");
    drop((late, reader));
    room.follow_up_until(FILE, "b\nc\nlate\n");
    room.editor.follow_ups(room.now());
    assert_eq!(room.read(FILE), "b\nc\nlate\n");
    (0..3).for_each(|_| drop(room.follow_ups_after(61)));
    assert_eq!(room.names(), [FILE]);
}

#[test]
fn the_next_edit_lets_go_what_was_kept_for_its_minute() {
    let room = Room::with(EditStrategy::Swap);
    room.write(FILE, "a\n");
    room.append(FILE, "b").unwrap();
    room.append("other.md", "x").unwrap();
    let displaced = room.state().join("edits/displaced");
    std::fs::write(displaced.join("Reminders.md.vault-agent-abcdefgh.tmp.new-1"), "torn").unwrap();
    assert_eq!(room.names().len(), 3);
    room.clock.advance(SignedDuration::from_secs(61));
    room.append("other.md", "y").unwrap();
    assert!(room.names().iter().all(|name| !name.starts_with(&format!(".{FILE}"))), "{:?}", room.names());
    assert_eq!(std::fs::read_dir(displaced).unwrap().count(), 1);
}

#[test]
fn a_link_to_nothing_in_a_note_s_place_stops_no_other() {
    let room = Room::with(EditStrategy::Swap);
    for name in [FILE, "other.md"] {
        room.write(name, "a\n");
        room.append(name, "b").unwrap();
        std::fs::remove_file(room.path(name)).unwrap();
        std::os::unix::fs::symlink("nowhere.md", room.path(name)).unwrap();
    }
    room.editor.recover().unwrap();
    room.clock.advance(SignedDuration::from_secs(61));
    room.editor.recover().unwrap();
    assert_eq!(room.names(), [FILE, "other.md"], "nothing hidden stays");
    // Nor does what stands in the place of its folder.
    let puts: [fn(PathBuf) -> std::io::Result<()>; 3] = [
        |at| std::fs::write(at, ""),
        |at| std::os::unix::fs::symlink("/", at),
        |at| std::os::unix::fs::symlink("d", at),
    ];
    for put in puts {
        room.write("d/x.md", "a\n");
        room.append("d/x.md", "b").unwrap();
        std::fs::remove_dir_all(room.path("d")).unwrap();
        put(room.path("d")).unwrap();
        room.editor.recover().unwrap();
        std::fs::remove_file(room.path("d")).unwrap();
    }
}

#[test]
fn the_looks_afterwards() {
    let room = Room::new();
    room.write(FILE, "a\nb\n");
    room.editor.edit(&note(FILE), &[delete("b")], &why()).unwrap();
    let told = [0, 5, 55].map(|seconds| room.follow_ups_after(seconds));
    assert_eq!((told, room.editor.next_follow_up()), ([vec![], vec![note(FILE)], vec![note(FILE)]], None));
}

/// What for, before and after of each change.
#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl ChangeObserver for Seen {
    fn changed(&self, change: &ObservedChange<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or(b"none")).into_owned();
        let seen = format!("{}: {} -> {}", change.why.subject, text(change.before), text(change.after));
        self.0.lock().unwrap().push(seen);
        if change.after == Some(b"fail\n") { Err("the disk of history is full".into()) } else { Ok(()) }
    }
}

#[test]
fn the_observer_is_told_of_each_change_and_its_failure_is_no_failure_of_the_edit() {
    let (room, seen) = (Room::new(), Arc::new(Seen::default()));
    room.editor.set_observer(seen.clone());
    room.append(FILE, "a").unwrap();
    room.editor.edit(&note(FILE), &[delete("none")], &why()).unwrap();
    room.editor.edit_with(&note(FILE), &why(), |_| EditPlan::Bytes(b"b\n".to_vec())).unwrap();
    let report = room.editor.edit_with(&note(FILE), &why(), |_| EditPlan::Bytes(b"fail\n".to_vec())).unwrap();
    let warning = "`Reminders.md` was written, but history could not record it: the disk of history is full";
    assert_eq!(report.warning.as_deref(), Some(warning));
    let told = ["none -> a\n", "a\n -> b\n", "b\n -> fail\n"].map(|it| format!("{}: {it}", why().subject));
    assert_eq!(*seen.0.lock().unwrap(), told);
}

#[test]
fn a_save_that_is_caught_half_way_is_not_carried_over() {
    let room = Room::with(EditStrategy::Swap);
    let strategy = EditStrategy::Swap;
    let options = EditOptions { strategy, ask_for_writers: false, ..EditOptions::default() };
    let editor = Editor::new(room.editor.vault().clone(), &room.state(), room.clock.clone(), options);
    let looked = || {
        editor.follow_ups(room.now());
        room.read(FILE)
    };
    room.write(FILE, "counter 1\na\nb\n");
    let mut holder = OpenOptions::new().read(true).write(true).open(room.path(FILE)).unwrap();
    editor.edit(&note(FILE), &[replace("counter 1", "counter 2")], &why()).unwrap();
    // It empties the file that was displaced, then writes it anew in two parts.
    holder.set_len(0).unwrap();
    assert_eq!(looked(), "counter 2\na\nb\n");
    holder.write_all(b"counter 1\na\n").unwrap();
    assert_eq!(looked(), "counter 2\na\nb\n");
    holder.write_all(b"b\nlate\n").unwrap();
    assert_eq!(looked(), "counter 2\na\nb\nlate\n");
    // What stands so for a minute is meant.
    holder.set_len(0).unwrap();
    assert_eq!(looked(), "counter 2\na\nb\nlate\n");
    room.clock.advance(SignedDuration::from_secs(61));
    assert_eq!(looked(), "");
}
