//! What the watcher tells of real files: every way to save, folders, a vault that vanishes.

use crate::vault::help::*;
use std::sync::mpsc::{Receiver, channel};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use vault_agent::vault::{WatchEvent, WatchTimes, Watcher};

struct Told {
    _watcher: Watcher,
    events: Receiver<WatchEvent>,
}

fn watch(room: &Room) -> Told {
    watch_with(room, WatchTimes { settle: Duration::from_millis(20), ..WatchTimes::default() })
}

fn watch_with(room: &Room, times: WatchTimes) -> Told {
    // Looks come whenever it is time for one, and tell nothing here.
    watch_all(room, times, |event| !matches!(event, WatchEvent::Polled { .. }))
}

fn watch_all(room: &Room, times: WatchTimes, is_wanted: fn(&WatchEvent) -> bool) -> Told {
    let (sender, events) = channel();
    let on = move |event| {
        if is_wanted(&event) {
            drop(sender.send(event));
        }
    };
    Told { _watcher: Watcher::start_with(room.editor.vault(), times, None, on).unwrap(), events }
}

impl Told {
    /// Waits until all of `paths` have been told as dirty. A rescan tells everything.
    fn dirty(&self, paths: &[&str]) {
        let mut wanted: BTreeSet<NotePath> = paths.iter().map(|path| note(path)).collect();
        self.until(|event| {
            if let WatchEvent::Dirty(paths) = event {
                wanted.retain(|path| !paths.contains(path));
            }
            wanted.is_empty()
        });
    }

    /// Waits until all is told, and for what comes behind that.
    fn rescan(&self) {
        self.until(|event| matches!(event, WatchEvent::Rescan(_)));
        self.rest();
    }

    fn until(&self, mut is_wanted: impl FnMut(&WatchEvent) -> bool) {
        let (begun, mut seen) = (Instant::now(), Vec::new());
        while begun.elapsed() < Duration::from_secs(60) {
            let Ok(event) = self.events.recv_timeout(Duration::from_secs(60)) else { break };
            if is_wanted(&event) {
                return;
            }
            seen.push(event);
        }
        panic!("not told; only {seen:?}");
    }

    /// What has been told so far and until nothing more comes for a while.
    fn rest(&self) -> Vec<WatchEvent> {
        std::iter::from_fn(|| self.events.recv_timeout(Duration::from_millis(400)).ok()).collect()
    }
}

#[test]
fn every_way_to_save_is_seen() {
    let room = Room::new();
    ["a.md", "sub/b.md"].iter().for_each(|note| room.write(note, "1"));
    let told = watch(&room);

    room.write("a.md", "22");
    told.dirty(&["a.md"]);
    // Temp and rename, as vim, sync tools and many editors do; also a second time, to the new inode.
    for round in ["333", "4444"] {
        room.write(".a.md.tmp", round);
        fs::rename(room.path(".a.md.tmp"), room.path("a.md")).unwrap();
        told.dirty(&["a.md"]);
    }
    room.write("a.md", "in place, after the rename");
    told.dirty(&["a.md"]);
    room.write(".b.tmp", "exchanged");
    renameat_with(CWD, room.path(".b.tmp"), CWD, room.path("sub/b.md"), RenameFlags::EXCHANGE).unwrap();
    told.dirty(&["sub/b.md"]);
    fs::rename(room.path("a.md"), room.path("sub/c.md")).unwrap();
    told.dirty(&["a.md", "sub/c.md"]);
    fs::remove_file(room.path("sub/c.md")).unwrap();
    told.dirty(&["sub/c.md"]);
    room.append("sub/b.md", "ours").unwrap();
    told.dirty(&["sub/b.md"]);
}

#[test]
fn that_a_note_stirs_is_told_at_once_and_once() {
    let room = Room::new();
    room.write("a.md", "1");
    // Longer than this test takes: nothing settles.
    let told = watch_with(&room, WatchTimes { settle: Duration::from_secs(600), ..WatchTimes::default() });
    ["22", "333"].iter().for_each(|text| room.write("a.md", text));
    told.until(|event| *event == WatchEvent::FirstChange(BTreeSet::from([note("a.md")])));
    room.write("a.md", "4444");
    assert_eq!(told.rest(), []);
}

#[test]
fn of_a_folder_that_is_moved_in_also_what_no_walk_reads_is_told() {
    let room = Room::new();
    let told = watch(&room);
    room.write(".new/in/a.md", "1");
    std::os::unix::fs::symlink("a.md", room.path(".new/in/link.md")).unwrap();
    fs::rename(room.path(".new"), room.path("new")).unwrap();
    told.dirty(&["new/in/a.md", "new/in/link.md"]);
}

#[test]
fn a_folder_at_a_new_name_or_in_another_s_place_is_followed() {
    for flags in [RenameFlags::NOREPLACE, RenameFlags::EXCHANGE] {
        let room = Room::new();
        room.write("one/a.md", "1");
        if flags == RenameFlags::EXCHANGE {
            room.write("two/b.md", "1");
        }
        let told = watch(&room);
        renameat_with(CWD, room.path("one"), CWD, room.path("two"), flags).unwrap();
        told.rescan();
        room.write("two/a.md", "2");
        told.dirty(&["two/a.md"]);
    }
}

#[test]
fn reading_hidden_and_temporary_files_tell_nothing() {
    let room = Room::new();
    room.write("a.md", "1");
    room.write(".obsidian/app.json", "1");
    let told = watch(&room);
    fs::read(room.path("a.md")).unwrap();
    fs::read_dir(room.path("")).unwrap().count();
    let others = ".obsidian/app.json .hidden.md .syncthing.a.md.tmp a.md~";
    others.split(' ').for_each(|path| room.write(path, "2"));
    assert_eq!(told.rest(), []);
}

#[test]
fn a_write_through_a_hard_link_from_outside_is_found_by_the_next_look() {
    let room = Room::new();
    ["a.md", "sub/b.md"].iter().for_each(|note| room.write(note, "1"));
    let outside = room.dir().join("outside.md");
    fs::hard_link(room.path("sub/b.md"), &outside).unwrap();
    let often = Duration::from_millis(50);
    let times = WatchTimes { presence_every: often, look_every: often, ..WatchTimes::default() };
    let told = watch_all(&room, times, |_| true);
    told.until(|event| *event == WatchEvent::Polled { unseen: 0 });
    fs::write(&outside, "two").unwrap();
    let mut found = 0;
    told.until(|event| {
        found += if let WatchEvent::Polled { unseen } = event { *unseen } else { 0 };
        matches!(event, WatchEvent::Dirty(paths) if *paths == BTreeSet::from([note("sub/b.md")]))
    });
    assert_eq!(found, 1);
    // Then they agree again.
    told.until(|event| *event == WatchEvent::Polled { unseen: 0 });
}

#[test]
fn a_vault_that_vanishes_and_returns_is_not_a_vault_without_notes() {
    let room = Room::new();
    room.write("a.md", "1");
    let times = WatchTimes { presence_every: Duration::from_millis(100), ..WatchTimes::default() };
    let told = watch_with(&room, times);
    let away = room.dir().join("away");
    fs::rename(room.path(""), &away).unwrap();
    told.until(|event| {
        assert!(!matches!(event, WatchEvent::Dirty(_)), "{event:?}");
        *event == WatchEvent::VaultGone
    });
    // The empty mount point of an unmounted disk.
    fs::create_dir(room.path("")).unwrap();
    assert_eq!(told.rest(), []);
    fs::remove_dir(room.path("")).unwrap();
    fs::rename(&away, room.path("")).unwrap();
    told.until(|event| *event == WatchEvent::VaultBack);
    told.rescan();
    room.write("a.md", "2");
    told.dirty(&["a.md"]);
}

#[test]
fn a_folder_that_is_made_anew_is_watched_anew() {
    let room = Room::new();
    let told = watch(&room);
    for round in 0..50 {
        room.write("in/side/a.md", "1");
        if round % 3 == 0 {
            told.until(|event| match event {
                WatchEvent::Dirty(paths) => paths.contains(&note("in/side/a.md")),
                WatchEvent::Rescan(_) => true,
                WatchEvent::Error(error) => panic!("{error}"),
                _ => false,
            });
        }
        fs::remove_dir_all(room.path("in")).unwrap();
    }
    room.write("in/side/a.md", "1");
    // Whatever is left over from before is told, and then what comes now.
    let left = told.rest();
    assert!(!left.iter().any(|event| matches!(event, WatchEvent::Error(_))), "{left:?}");
    room.write("in/side/a.md", "2");
    told.dirty(&["in/side/a.md"]);
}

#[test]
fn a_cookie_comes_after_all_that_was_before_it() {
    let room = Room::new();
    room.write("in/a.md", "1");
    let cookies = room.dir().join("cookies");
    let (sender, events) = channel();
    let times = WatchTimes { settle: Duration::from_millis(5), ..WatchTimes::default() };
    let on = move |event| drop(sender.send(event));
    let _watcher = Watcher::start_with(room.editor.vault(), times, Some(&cookies), on).unwrap();
    let mut stirring: BTreeSet<NotePath> = BTreeSet::new();
    for round in 0..200 {
        // In a folder that is known, and in one that is new.
        let paths = ["in/a.md".to_owned(), format!("new {round}/b.md")];
        paths.iter().for_each(|path| room.write(path, round.to_string()));
        if round == 100 {
            // Who deletes it gets it again, within a second.
            fs::remove_dir_all(&cookies).unwrap();
        }
        let (mut told, begun) = (stirring.clone(), Instant::now());
        // One that is made before the folder has its watch again is never seen; the next one is.
        for attempt in 0.. {
            assert!(begun.elapsed() < Duration::from_secs(60), "no cookie came through");
            let name = format!("{round} {attempt}");
            if fs::File::create_new(cookies.join(&name)).is_err() {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            let mut has_come = false;
            while let Some(event) =
                (!has_come).then(|| events.recv_timeout(Duration::from_secs(3)).ok()).flatten()
            {
                match event {
                    WatchEvent::FirstChange(paths) => {
                        told.extend(paths.clone());
                        stirring.extend(paths);
                    }
                    WatchEvent::Dirty(paths) => {
                        told.extend(paths.clone());
                        stirring.retain(|path| !paths.contains(path));
                    }
                    WatchEvent::Rescan(_) => {
                        told.extend(paths.iter().map(|path| note(path)));
                        stirring.clear();
                    }
                    WatchEvent::CaughtUp(names) => has_come = names.contains(&name),
                    _ => {}
                }
            }
            drop(fs::remove_file(cookies.join(&name)));
            if has_come {
                break;
            }
        }
        assert!(paths.iter().all(|path| told.contains(&note(path))), "{round}: {told:?}");
    }
}
