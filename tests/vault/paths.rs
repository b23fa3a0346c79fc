//! What can be opened and what can't: links, loops, folders, pipes, odd names.

use std::os::unix::fs::symlink;

use crate::vault::help::*;
use vault_agent::vault::{SkipReason, VaultError, WalkOptions};

#[test]
fn links_are_followed_inside_the_vault_and_refused_out_of_it() {
    let room = Room::new();
    let secret = room.dir().join("secret.md");
    std::fs::write(&secret, "secret").unwrap();
    room.write("real/a.md", "inside");
    symlink("real/a.md", room.path("relative.md")).unwrap();
    symlink(room.path("real/a.md"), room.path("absolute.md")).unwrap();
    symlink("real", room.path("folder")).unwrap();
    symlink("../secret.md", room.path("out.md")).unwrap();
    symlink(&secret, room.path("out-absolute.md")).unwrap();
    symlink(room.dir(), room.path("out-folder")).unwrap();
    symlink("loop-b.md", room.path("loop-a.md")).unwrap();
    symlink("loop-a.md", room.path("loop-b.md")).unwrap();
    symlink("nowhere.md", room.path("dangling.md")).unwrap();
    let vault = room.editor.vault();

    for path in ["real/a.md", "relative.md", "absolute.md", "folder/a.md"] {
        assert_eq!(vault.read(&note(path)).unwrap(), b"inside", "{path}");
    }
    for path in ["out.md", "out-absolute.md", "out-folder/secret.md"] {
        let read = vault.read(&note(path));
        assert!(matches!(read, Err(VaultError::Escapes(_))), "{path}: {read:?}");
        let edit = room.append(path, "x");
        assert!(matches!(edit, Err(EditError::Vault(VaultError::Escapes(_)))), "{path}: {edit:?}");
    }
    let created = room.editor.create(&note("out-folder/new.md"), b"x", &why());
    assert!(matches!(created, Err(EditError::Vault(VaultError::Escapes(_)))), "{created:?}");
    assert!(matches!(vault.read(&note("loop-a.md")), Err(VaultError::Loop(_))));
    assert!(matches!(vault.read(&note("dangling.md")), Err(VaultError::NotAFile(..))));
    assert_eq!(std::fs::read(&secret).unwrap(), b"secret");

    // An edit through a link writes what it points at; the link stays one.
    room.append("relative.md", "more").unwrap();
    assert_eq!(room.read("real/a.md"), "inside\nmore\n");
    assert!(room.path("relative.md").is_symlink());
}

#[test]
fn what_is_no_file_is_named() {
    let room = Room::new();
    std::fs::create_dir(room.path("Reminders.md")).unwrap();
    fifo(room.path("pipe.md"));
    let _socket = std::os::unix::net::UnixListener::bind(room.path("socket.md")).unwrap();
    let said = |path: &str| {
        let read = room.editor.vault().read(&note(path)).unwrap_err().to_string();
        assert_eq!(read, room.append(path, "x").unwrap_err().to_string());
        read
    };
    insta::assert_snapshot!(said("Reminders.md"), @"`Reminders.md` is a folder, where a file should be; move it out of the way");
    insta::assert_snapshot!(said("pipe.md"), @"`pipe.md` is a pipe, where a file should be; move it out of the way");
    insta::assert_snapshot!(said("socket.md"), @"`socket.md` is a socket or a pipe, where a file should be; move it out of the way");
}

#[test]
fn too_large_a_file_is_not_read() {
    let room = Room::new();
    room.write("a.md", "123456");
    let vault = Vault::open(&room.path("")).unwrap().with_limit(5);
    insta::assert_snapshot!(vault.read(&note("a.md")).unwrap_err(), @"`a.md` has 6 bytes; notes are read up to 5");
}

#[test]
fn a_cloud_placeholder_is_not_missing() {
    let room = Room::new();
    room.write(".Reminders.md.icloud", "bplist");
    let vault = room.editor.vault();
    assert!(matches!(vault.read(&note("Reminders.md")), Err(VaultError::Placeholder(_))));
    assert!(vault.stat(&note("Reminders.md")).unwrap().unwrap().is_placeholder);
    let edit = room.append("Reminders.md", "x");
    assert!(matches!(edit, Err(EditError::Vault(VaultError::Placeholder(_)))), "{edit:?}");
    assert_eq!(room.names(), [".Reminders.md.icloud"]);
}

#[test]
fn a_vault_that_is_gone_is_not_an_empty_one() {
    let room = Room::new();
    room.write("a.md", "a");
    let vault = room.editor.vault().clone();
    std::fs::rename(room.path(""), room.dir().join("away")).unwrap();
    assert!(matches!(vault.read(&note("a.md")), Err(VaultError::Gone(_))));
    assert!(matches!(vault.walk(&WalkOptions::default()), Err(VaultError::Gone(_))));
    assert!(matches!(Vault::open(vault.root()), Err(VaultError::Gone(_))));
    let edit = room.append("a.md", "x");
    assert!(matches!(edit, Err(EditError::Vault(VaultError::Gone(_)))), "{edit:?}");
}

#[test]
fn the_walk_lists_each_note_once_and_says_what_it_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let room = Room::new();
    let files = "b.md a/x.md a/b/y.MD .obsidian/app.md .trash/t.md pic.png .git/z.md a/c.md.tmp";
    files.split(' ').for_each(|path| room.write(path, path));
    symlink("..", room.path("a/loop")).unwrap();
    symlink("../b.md", room.path("a/link.md")).unwrap();
    std::fs::create_dir(room.path("folder.md")).unwrap();
    std::fs::write(room.path("").join(std::ffi::OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    std::fs::write(room.path("back\\slash.md"), "x").unwrap();
    let walk = room.editor.vault().walk(&WalkOptions::default()).unwrap();
    let paths: Vec<&str> = walk.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["a/b/y.MD", "a/x.md", "b.md"]);
    let skipped: Vec<_> = walk.skipped.iter().map(|one| (one.path.to_string_lossy(), &one.reason)).collect();
    assert_eq!(
        skipped,
        [
            ("a/link.md".into(), &SkipReason::Link),
            ("back\\slash.md".into(), &SkipReason::Name),
            ("folder.md".into(), &SkipReason::NotAFile("a folder")),
            ("\u{fffd}.md".into(), &SkipReason::Name),
        ]
    );
    let all = WalkOptions { extensions: Vec::new(), hidden: true, ..WalkOptions::default() };
    let under = WalkOptions { under: Some(note("a/b")), ..WalkOptions::default() };
    let count = |options| room.editor.vault().walk(options).unwrap().entries.len();
    assert_eq!((count(&all), count(&under)), (7, 1));
}
