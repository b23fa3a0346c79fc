//! The supervisor by itself: nothing outlives a child, whatever is killed.

use vault_agent::brain::process::{Child, Program, Supervision, name_our_program, sweep};

use crate::brain::rig::PATIENT;
use crate::support::prelude::*;

const US: &str = env!("CARGO_BIN_EXE_vault-agent");

/// A shell that runs this, with its state in the same folder.
fn shell(dir: &Path, script: &str) -> Child {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let program = Program { command, dir: dir.to_owned(), ..Program::default() };
    name_our_program(Path::new(US));
    Child::start(&Supervision { state: dir.to_owned(), timeouts: PATIENT }, &program).unwrap()
}

/// A process with these words in its command line.
fn found(words: &str) -> Option<String> {
    running().into_iter().find(|(_, line, _)| line.contains(words)).map(|(pid, ..)| pid.to_string())
}

fn gone(word: &str) {
    until(word, || found(word).is_none());
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn what_a_killed_supervisor_leaves_is_found_by_its_mark() {
    let temp = tempfile::tempdir().unwrap();
    let mut child = shell(temp.path(), "setsid sleep 27182 & echo $PPID; wait");
    let supervisor = child.next().await.unwrap().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &supervisor]).status().unwrap().success());
    child.crashed().await;
    drop(child);
    gone("27182");
}

/// This test, run as a program of its own that starts a child and is then killed.
#[tokio::test]
async fn somebody_with_a_child() {
    let Ok(state) = std::env::var("HARNESS_TEST_STATE") else { return };
    let mut child = shell(Path::new(&state), "(setsid sleep 16180 &); echo 1; sleep 16181");
    child.next().await.unwrap();
    println!("ready");
    std::future::pending::<()>().await;
}

fn parent(state: &Path) -> Killed {
    let mut parent = again(&somebody_with_a_child);
    parent.env("HARNESS_TEST_STATE", state).stdout(Stdio::piped());
    let mut parent = Killed(parent.spawn().unwrap());
    let mut said = BufReader::new(parent.stdout.as_mut().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("ready")));
    parent
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_ends_with_us_however_we_end() {
    let temp = tempfile::tempdir().unwrap();
    drop(parent(temp.path()));
    gone("16181");
    gone("16180");
    // And with both of us killed at once, at the next start.
    let parent = parent(temp.path());
    assert_eq!(sweep(temp.path()), 0, "its owner lives");
    let supervisor = found("__supervise\0sh\0-c\0(setsid sleep 16180").expect("a supervisor");
    assert!(Command::new("kill").args(["-STOP", &supervisor]).status().unwrap().success());
    drop(parent);
    assert!(Command::new("kill").args(["-9", &supervisor]).status().unwrap().success());
    assert_eq!(sweep(Path::new("/another/place")), 0);
    // A stopped group whose parent dies is hung up by the kernel; what left the group is still there.
    assert!(sweep(temp.path()) >= 1);
    gone("16181");
    gone("16180");
}

#[tokio::test]
async fn a_program_that_writes_without_end_is_told() {
    let temp = tempfile::tempdir().unwrap();
    let mut child = shell(temp.path(), "exec yes \"\\\"$(head -c 100000 /dev/zero | tr '\\0' x)\\\"\"");
    let said = loop {
        match child.next().await {
            Ok(line) => assert!(line.is_some(), "it has no end"),
            Err(error) => break error.message,
        }
    };
    assert_eq!(said, "it wrote more than 128 MiB");
}
