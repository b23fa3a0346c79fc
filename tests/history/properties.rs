//! Random histories: whatever people, agents and sync tools do, every point comes back byte for byte.

use crate::history::room::*;
use proptest::prelude::*;

/// Names that have broken other tools: spaces, emoji, both forms of é, a leading dash, 255 bytes.
fn names() -> Vec<String> {
    let names = "plain.md,with space.md, leading and trailing .md,-rf.md,🦀 emoji/💡.md,caf\u{e9}.md,\
        cafe\u{301}.md,\"quoted\".md,a:b?*|<>.md,deep/er/and/deeper/x.md,deep/er.md,deep.md,.hidden/note.md,\
        Reminders.md,%percent$dollar`tick.md";
    names.split(',').map(str::to_owned).chain([format!("{}.md", "n".repeat(252))]).collect()
}

#[derive(Debug, Clone)]
enum Act {
    Write(usize, Vec<u8>),
    Agent(usize, String),
    Delete(usize),
    Rename(usize, usize),
    Mode(usize),
    Link(usize),
    Snapshot,
    Dirty,
    Pack,
}

fn act() -> impl Strategy<Value = Act> {
    let name = || 0..names().len();
    prop_oneof![
        4 => (name(), proptest::collection::vec(any::<u8>(), 0..40)).prop_map(|(n, b)| Act::Write(n, b)),
        3 => (name(), "[a-z]{1,8}").prop_map(|(n, t)| Act::Agent(n, t)),
        1 => name().prop_map(Act::Delete),
        1 => (name(), name()).prop_map(|(a, b)| Act::Rename(a, b)),
        1 => name().prop_map(Act::Mode),
        1 => name().prop_map(Act::Link),
        3 => Just(Act::Snapshot),
        2 => Just(Act::Dirty),
        1 => Just(Act::Pack),
    ]
}

/// The vault with contents, links and the right to execute.
fn state(room: &Room) -> BTreeMap<String, (bool, Vec<u8>)> {
    let is_executable = |path: &Path| !path.is_symlink() && mode(path) & 0o100 != 0;
    let files = room.files().into_iter();
    files.map(|(path, bytes)| (path.clone(), (is_executable(&room.root().join(path)), bytes))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]
    #[test]
    fn every_point_comes_back_byte_for_byte(acts in proptest::collection::vec(act(), 1..40)) {
        use std::os::unix::fs::symlink;
        let names = names();
        let (room, mut points) = (Room::new(), vec![]);
        let mut dirty: Vec<String> = vec![];
        // Where nothing stands any more.
        let free = |name: usize| {
            let path = room.root().join(&names[name]);
            let _ = std::fs::create_dir_all(path.parent().unwrap());
            let _ = std::fs::remove_file(&path);
            path
        };
        for act in &acts {
            match act {
                Act::Write(name, bytes) => {
                    std::fs::write(free(*name), bytes).unwrap();
                    dirty.push(names[*name].clone());
                }
                Act::Agent(name, text) => {
                    room.tick();
                    let op = Operation::Append { text: text.as_bytes().to_vec() };
                    // Refused where the file is empty or a dangling link: that is the engine's right.
                    let _ = room.editor.edit(&note(&names[*name]), &[op], &why(Actor::Mcp, text));
                }
                Act::Delete(name) => {
                    if std::fs::remove_file(room.root().join(&names[*name])).is_ok() {
                        dirty.push(names[*name].clone());
                    }
                }
                Act::Rename(from, to) => {
                    let (from, to) = (&names[*from], &names[*to]);
                    let target = room.root().join(to);
                    let _ = std::fs::create_dir_all(target.parent().unwrap());
                    if std::fs::rename(room.root().join(from), target).is_ok() {
                        dirty.extend([from.clone(), to.clone()]);
                    }
                }
                Act::Mode(name) => {
                    let path = room.root().join(&names[*name]);
                    if std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_file()) {
                        set_mode(&path, mode(&path) ^ 0o111);
                        dirty.push(names[*name].clone());
                    }
                }
                Act::Link(name) => {
                    symlink("plain.md", free(*name)).unwrap();
                    dirty.push(names[*name].clone());
                }
                Act::Snapshot | Act::Dirty => {
                    room.tick();
                    if matches!(act, Act::Dirty) {
                        let paths = dirty.drain(..).map(|path| note(&path)).collect();
                        room.history.snapshot_paths(&paths, Deletions::Accept).unwrap();
                    }
                    // Whatever the dirty set missed (an agent's write in between), the full walk finds.
                    room.history.snapshot_all(Deletions::Accept).unwrap();
                    dirty.clear();
                    points.push((room.history.newest().unwrap(), state(&room)));
                }
                Act::Pack => room.history.pack_from(1).unwrap(),
            }
        }
        room.fsck();
        for (point, wanted) in points.iter().rev().chain(points.iter()) {
            room.tick();
            let report = room.history.restore(&room.editor, point, &[], true).unwrap();
            prop_assert!(report.skipped.is_empty(), "{:?}", report.skipped);
            prop_assert_eq!(&state(&room), wanted);
        }
        room.fsck();
    }
}
