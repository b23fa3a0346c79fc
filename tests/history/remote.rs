//! Off the machine and back, with the user's own git.

use std::path::PathBuf;
use std::process::Command;

use vault_agent::history::push;

use crate::history::room::Room;
use crate::support::TestVault;

/// An empty repository to push to; `None` where there is no git.
fn remote(room: &Room) -> Option<PathBuf> {
    let path = room.temp.path().join("remote.git");
    let made = Command::new("git").args(["init", "--quiet", "--bare", "-b", "main"]).arg(&path).status();
    if made.is_err() {
        eprintln!("no git is installed, so nothing was pushed");
    }
    made.is_ok_and(|status| status.success()).then_some(path)
}

#[test]
fn a_new_machine_gets_the_vault_back() {
    let room = Room::new();
    let Some(remote) = remote(&room) else { return };
    room.write("a.md", "one\n");
    room.save("sub/b.md", "two\n");
    room.agent_appends("a.md", "agent");
    let url = remote.to_str().unwrap();
    push(room.history.dir(), url).unwrap();
    push(room.history.dir(), url).unwrap();

    let new = TestVault::new("");
    new.run(&["restore", "--from-remote", url, "--yes"]).exits(0);
    assert_eq!((new.read("a.md").as_str(), new.read("sub/b.md").as_str()), ("one\nagent\n", "two\n"));
    new.run(&["history"]).says("saved: agent").lacks("deleted");
    crate::history::room::fsck(&new.state().join("history.git"));
}

#[test]
fn a_machine_with_a_past_of_its_own_joins_it() {
    let room = Room::new();
    let Some(remote) = remote(&room) else { return };
    room.save("a.md", "theirs\n");
    let url = remote.to_str().unwrap();
    push(room.history.dir(), url).unwrap();

    let other = Room::of(&[("mine.md", "mine\n")]);
    let refused = push(other.history.dir(), url).unwrap_err();
    assert!(refused.to_string().starts_with("`git push` failed: "), "{refused}");
    let newest = other.history.adopt_remote(url).unwrap();
    let point = other.history.point(&newest.to_string()).unwrap();
    other.history.restore(&other.editor, &point, &[], false).unwrap();
    assert_eq!((other.read("a.md").as_str(), other.read("mine.md").as_str()), ("theirs\n", "mine\n"));
    push(other.history.dir(), url).unwrap();
    other.fsck();
}

#[test]
fn without_git_or_a_remote_the_words_are_clear() {
    let room = Room::of(&[("a.md", "x")]);
    let nowhere = room.temp.path().join("nowhere.git");
    let failed = push(room.history.dir(), nowhere.to_str().unwrap()).unwrap_err().to_string();
    assert!(failed.contains("`git push` failed") || failed.contains("could not be started"), "{failed}");

    let mut vault = TestVault::new("//- /a.md\nx\n");
    vault.env("PATH", "/nonexistent");
    let run = vault.run(&["restore", "--from-remote", "/nowhere"]);
    run.exits(1).warns("`git` could not be started").warns("install git");
    let _ = vault.run(&["history"]).ok();
}
