//! What a snapshot keeps, what it leaves out, and what waits for a person's word.

use crate::history::room::*;
use vault_agent::history::{CheckDepth, SnapshotResult};

/// What was added, changed and deleted.
fn counts(snapshot: &SnapshotResult) -> (usize, usize, usize) {
    (snapshot.added, snapshot.changed, snapshot.deleted)
}

#[test]
fn a_snapshot_holds_every_note_and_nothing_happens_without_a_change() {
    let room = Room::new();
    room.write("a.md", "one\n");
    ["sub/deep/b.md", "image.png"].iter().for_each(|path| room.write(path, "two\n"));
    assert_eq!(counts(&room.snapshot()), (2, 0, 0));
    assert!(room.snapshot().commits.is_empty());
    room.write("a.md", "one!\n");
    room.remove("sub/deep/b.md");
    room.write("c.md", "three\n");
    assert_eq!(counts(&room.snapshot()), (1, 1, 1));
    assert_eq!(room.kept(), ["a.md", "c.md"]);
    let subjects = ["human: 3 notes: 1 changed, 1 added, 1 deleted", "human: first snapshot: 2 files"];
    assert_eq!(room.subjects(), subjects);
    room.fsck();
}

#[test]
fn a_plain_git_log_reads_well() {
    let room = Room::of(&[("a.md", "one\n")]);
    room.agent_appends("a.md", "two");
    let log = room.git(&["log", "--format=%an|%ad|%s%n%b", "--date=iso"]);
    let said = "mcp|2026-12-01 09:32:00 +0000|saved: two\nActor: mcp\nNote: a.md\n";
    contains_all(log, &[said, "human|2026-12-01 09:31:00 +0000|first snapshot: 1 file\nActor: human\n"]);
}

#[test]
fn dirty_paths_cost_what_changed_and_see_folders_come_and_go() {
    let room = Room::of(&[("a.md", "one\n"), ("x/1.md", "1\n"), ("x/2.md", "2\n")]);
    std::fs::rename(room.root().join("x"), room.root().join("y")).unwrap();
    room.write("a.md", "two\n");
    assert_eq!(counts(&room.snapshot_of(&["a.md", "x", "y"])), (2, 1, 2));
    assert_eq!(room.kept(), ["a.md", "y/1.md", "y/2.md"]);
    assert!(room.snapshot().commits.is_empty(), "the full walk finds nothing more");
    assert!(room.subjects()[0].contains("2 moved"), "{:?}", room.subjects());
    // A file where a folder was, and the other way round.
    std::fs::remove_dir_all(room.root().join("y")).unwrap();
    room.write("y", "");
    room.write("y.md", "now a note");
    room.remove("a.md");
    room.write("a.md/inside.md", "now a folder");
    room.snapshot_of(&["y", "y.md", "a.md"]);
    assert_eq!(room.kept(), ["a.md/inside.md", "y.md"]);
    room.is_settled();
}

#[test]
fn folders_that_sort_apart_from_their_notes_are_walked_right() {
    let room = Room::new();
    let paths = "a/x.md|a.md|a b.md|a b/y.md|a-b.md|a/b.md/z.md|Z.md|\u{e9}/n.md|.obsidian/app.json";
    paths.split('|').for_each(|path| room.write(path, path));
    room.snapshot();
    assert!(room.snapshot().commits.is_empty());
    room.write("a/x.md", "changed");
    room.remove("a b/y.md");
    assert_eq!(counts(&room.snapshot()), (0, 1, 1));
    assert_eq!(room.git_tree("main").len(), 8);
}

#[test]
fn a_change_within_the_same_tick_of_the_clock_is_seen() {
    // Same length, same inode, same mtime: only the rule about fresh files, or the ctime, can catch it.
    for age in [0, 3_600] {
        let room = Room::of(&[("a.md", "one\n")]);
        let path = room.root().join("a.md");
        let then = fs::metadata(&path).unwrap().modified().unwrap() - Duration::from_secs(age);
        for text in ["one\n", "two\n"] {
            std::fs::write(&path, text).unwrap();
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
            assert_eq!(room.snapshot().changed, usize::from(text == "two\n"), "{age} {text}");
        }
    }
}

#[test]
fn git_folders_trash_and_sync_files_are_never_kept_and_nested_repositories_are_plain_files() {
    let room = Room::new();
    let never = ".git/config.md sub/.git/x.md .trash/gone.md a.md~ .syncthing.b.md.tmp .stversions/v.md";
    never.split(' ').for_each(|path| room.write(path, "no"));
    // A submodule is a folder with a `.git` file; a nested vault has its own `.obsidian`.
    room.write("module/.git", "gitdir: ../.git/modules/module\n");
    let kept = "module/note.md nested/.obsidian/app.json nested/note.md sub/note.md";
    kept.split(' ').for_each(|path| room.write(path, "yes"));
    room.write(".gitignore", "*.md\n");
    room.write(".gitattributes", "* text eol=crlf\n");
    room.save("crlf.md", "a\r\nb\n");
    assert_eq!(room.kept(), ["crlf.md", "module/note.md", "nested/note.md", "sub/note.md"]);
    let blob = room.history.read_at(&room.history.newest().unwrap(), "crlf.md").unwrap().unwrap();
    assert_eq!(blob, b"a\r\nb\n");
    assert_eq!(names_in(room.path(".git")), ["config.md"], "the vault's own .git is untouched");
    let config = std::fs::read_to_string(room.history.dir().join("config")).unwrap();
    assert!(config.contains("fsyncObjectFiles") && !config.contains("user"), "{config}");
    assert!(!room.history.dir().join("index").exists());
    room.fsck();
}

#[test]
fn what_is_left_out_is_listed_with_the_reason() {
    let room = Room::with(|settings| {
        settings.history.max_file_bytes = 10;
        settings.history.include = vec!["**".into()];
    });
    room.write("small.md", "small");
    room.write("large.md", "far too large");
    room.write(".gitmodules", "x");
    room.save(".cloud.md.icloud", "");
    let left = room.history.left_out().unwrap().into_iter().map(|it| format!("{}: {}", it.path, it.reason));
    let expected = "cloud.md: in the cloud, not on this disk|.gitmodules: git reserves this name|\
                    large.md: 13 bytes; `[history] max_file_bytes` is 10";
    assert_eq!(left.collect::<Vec<_>>().join("|"), expected);
    assert_eq!(room.kept(), ["small.md"]);
    room.fsck();
}

#[test]
fn a_note_that_grows_too_large_is_listed_at_once_whoever_wrote_it() {
    let room = Room::with(|settings| settings.history.max_file_bytes = 10);
    let left = || room.history.left_out().unwrap().into_iter().map(|left| left.path).collect::<Vec<_>>();
    room.write("small.md", "small");
    room.save("before.md", "far too large");
    room.write("large.md", "far too large");
    room.snapshot_of(&["large.md", "small.md"]);
    assert_eq!(left(), ["before.md", "large.md"]);
    room.agent_appends("small.md", "and now it isn't any more");
    assert_eq!(left(), ["before.md", "large.md", "small.md"]);
    room.write("large.md", "small");
    room.remove("before.md");
    room.snapshot_of(&["large.md", "before.md"]);
    assert_eq!(left(), ["small.md"]);
    // Neither that one nor one that moves to the cloud is deleted.
    room.save("moves.md", "text");
    room.remove("moves.md");
    room.write(".moves.md.icloud", "");
    assert!(room.snapshot().commits.is_empty());
    assert_eq!(room.kept(), ["large.md", "moves.md", "small.md"]);
}

#[test]
fn many_deletions_wait_for_a_persons_word_while_all_else_goes_on() {
    let room = Room::new();
    room.fill("n", 0..100, |_| "x".into());
    room.save("live.md", "1");
    room.thin("n", 0..21);
    room.write("live.md", "2");
    let snapshot = room.snapshot();
    let held = snapshot.held.unwrap();
    assert_eq!((held.known, held.deleted.len(), snapshot.changed, snapshot.deleted), (101, 21, 1, 0));
    assert_eq!(room.git_tree("main").len(), 101);
    assert!(room.history.held().unwrap().is_some());
    // The agent goes on, and the next look still asks.
    room.agent_appends("live.md", "3");
    assert!(room.snapshot().held.is_some());
    let done = room.history.snapshot_all(Deletions::Accept).unwrap();
    assert_eq!((done.deleted, done.held), (21, None));
    assert_eq!(room.history.held().unwrap(), None);
    let newest = room.history.newest().unwrap();
    assert_eq!(newest.message.trailer("Bulk-Deletion"), Some("21"));
    assert_eq!(newest.message.subject, "21 notes deleted at once");
    room.is_settled();
    // No more than twenty are ordinary, and flagged.
    room.thin("n", 21..41);
    room.save("new.md", "y");
    assert_eq!(room.history.held().unwrap(), None);
    assert_eq!(room.subjects()[..2], ["human: 20 notes deleted at once", "human: added new.md"]);
}

#[test]
fn an_empty_mount_point_is_not_an_empty_vault() {
    let room = Room::of(&[("a.md", "x"), ("b.md", "x")]);
    let away = room.dir().join("away");
    std::fs::rename(room.root(), &away).unwrap();
    assert!(room.history.snapshot_all(Deletions::Hold).unwrap_err().to_string().contains("not mounted"));
    std::fs::create_dir(room.root()).unwrap();
    assert!(room.snapshot().held.is_some());
    assert!(room.snapshot_of(&["a.md", "b.md"]).held.is_some());
    assert_eq!(room.git_tree("main").len(), 2);
    std::fs::remove_dir(room.root()).unwrap();
    std::fs::rename(away, room.root()).unwrap();
    assert!(room.snapshot().commits.is_empty());
    assert_eq!(room.history.held().unwrap(), None);
}

#[test]
fn an_unreadable_folder_is_not_a_deleted_one() {
    let room = Room::of(&[("shut/a.md", "x"), ("b.md", "x")]);
    let folder = room.root().join("shut");
    set_mode(&folder, 0o0);
    let readable = std::fs::read_dir(&folder).is_ok();
    let snapshot = room.snapshot();
    set_mode(&folder, 0o755);
    assert_eq!(snapshot.deleted, 0);
    if readable {
        eprintln!("the super-user reads everything, so this proves little here");
    } else {
        let left = snapshot.left_out;
        assert!(left.iter().any(|left| left.path.starts_with("shut")), "{left:?}");
    }
}

#[test]
fn links_and_the_right_to_execute_are_kept() {
    use std::os::unix::fs::symlink;
    let room = Room::new();
    room.write("real.md", "x");
    room.write("run.md", "x");
    set_mode(room.root().join("run.md"), 0o755);
    symlink("real.md", room.root().join("link.md")).unwrap();
    symlink("/etc", room.root().join("out")).unwrap();
    symlink(".", room.root().join("loop.md")).unwrap();
    room.snapshot();
    let tree = room.git_tree("main");
    assert!(tree["link.md"].starts_with("120000") && tree["run.md"].starts_with("100755"), "{tree:?}");
    assert!(tree.contains_key("loop.md") && !tree.contains_key("out"));
    // An edit through the link belongs to the note that it leads to.
    room.agent_appends("link.md", "more");
    assert_eq!(room.read("real.md"), "x\nmore\n");
    assert!(room.git_tree("main")["link.md"].starts_with("120000"));
    room.is_settled();
}

#[test]
fn the_past_is_filtered_by_path_actor_time_words_and_id() {
    let room = Room::new();
    let line = r#"- [ ] date=2026-12-24 time=09:30 recur=none msg="Tree" id=rid_AAAAAAAAAAAA"#;
    room.write("Reminders.md", format!("{line}\n"));
    room.save("sub/a.md", "x");
    room.agent_appends("sub/a.md", "by the agent");
    room.write("Reminders.md", format!("{}\n", line.replace("09:30", "10:00")));
    room.save("sub/b.md", "x");
    room.agent_appends("other.md", "else");
    let (subjects, filter) = (|filter| room.found(&filter), LogFilter::default);
    assert_eq!(subjects(LogFilter { path: Some("sub".into()), ..filter() }).len(), 3);
    assert_eq!(subjects(LogFilter { path: Some("sub/a.md".into()), ..filter() }).len(), 2);
    let mcp = subjects(LogFilter { actor: Some("mcp".into()), ..filter() });
    assert_eq!(mcp, ["saved: else", "saved: by the agent"]);
    assert_eq!(subjects(LogFilter { grep: Some("BY THE".into()), ..filter() }), ["saved: by the agent"]);
    assert_eq!(subjects(LogFilter { limit: Some(1), ..filter() }), ["saved: else"]);
    let all = subjects(filter());
    assert_eq!(subjects(LogFilter { skip: 1, limit: Some(1), ..filter() }), all[1..2]);
    assert_eq!(subjects(LogFilter { skip: all.len(), ..filter() }), [""; 0]);
    assert_eq!(subjects(LogFilter { skip: 1, actor: Some("mcp".into()), ..filter() }), mcp[1..]);
    assert_eq!(subjects(LogFilter { id: Some("rid_AAAAAAAAAAAA".into()), ..filter() }).len(), 2);
    assert_eq!(subjects(LogFilter { since: Some(room.now()), ..filter() }), ["saved: else"]);
}

#[test]
fn a_snapshot_whose_last_steps_a_power_cut_took_is_finished() {
    // The list's last line was on disk before the branch moved; the branch itself may be old, empty or gone.
    let cuts: [fn(&str) -> String; 3] = [|id| format!("{id}\n"), |_| String::new(), |_| "\0".repeat(41)];
    for cut in cuts {
        let mut room = Room::of(&[("a.md", "one\n")]);
        room.save("a.md", "two\n");
        let (dir, list) = (room.history.dir().to_owned(), room.history.dir().with_extension("log"));
        let branch = dir.join("refs/heads/main");
        let before = std::fs::read_to_string(&branch).unwrap();
        room.agent_appends("a.md", "agent");
        let lines = std::fs::read_to_string(&list).unwrap();
        let (lines, last) = lines.trim_end().rsplit_once('\n').unwrap();
        assert!(lines.rsplit('\n').next().unwrap().contains(" next ") && last.contains(" kept "));
        std::fs::write(&list, format!("{lines}\n{}", &last[..last.len() / 2])).unwrap();
        std::fs::write(&branch, cut(before.trim_end())).unwrap();
        room.reopen();
        room.fsck();
        let kept = ["mcp: saved: agent", "human: changed a.md", "human: first snapshot: 1 file"];
        assert_eq!(room.subjects(), kept);
        assert_eq!(room.history.verify(CheckDepth::Whole).unwrap().flaws, []);
        assert!(room.snapshot().commits.is_empty());
        room.agent_appends("a.md", "goes on");
        room.fsck();
    }
}

#[test]
fn an_object_that_a_power_cut_tore_is_written_anew() {
    for torn in ["", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"] {
        let mut room = Room::of(&[("a.md", "one\n")]);
        room.write("b.md", "two\n");
        let dir = room.history.dir().to_owned();
        // The objects of a snapshot that was not finished have their names and no content: the note's and the folder's.
        let blob = git2::Oid::hash_object(git2::ObjectType::Blob, b"two\n").unwrap();
        let one = git2::Oid::hash_object(git2::ObjectType::Blob, b"one\n").unwrap();
        let entries = [("a.md", one), ("b.md", blob)]
            .map(|(name, id)| [format!("100644 {name}\0").as_bytes(), id.as_bytes()].concat());
        let tree = git2::Oid::hash_object(git2::ObjectType::Tree, &entries.concat()).unwrap();
        for id in [blob.to_string(), tree.to_string()] {
            room.write(dir.join("objects").join(&id[..2]).join(&id[2..]), torn);
        }
        room.reopen();
        assert_eq!(room.snapshot().added, 1);
        assert!(git2::Repository::open(&dir).unwrap().find_tree(tree).is_ok());
        room.fsck();
    }
}

#[test]
fn a_first_snapshot_of_many_megabytes_is_whole() {
    let (room, mut random) = (Room::new(), Rng::with_seed(1));
    for number in 0..1_500 {
        // Text that hardly compresses.
        let text: String = (0..600).map(|_| format!("{:x}\n", random.u32(..))).collect();
        room.write(format!("{}/{number}.md", number % 20), text);
    }
    assert_eq!(room.snapshot().added, 1_500);
    room.is_settled();
}
