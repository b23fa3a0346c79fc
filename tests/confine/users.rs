//! The same tests as an ordinary user, where this one is root.

use crate::rig::*;
use std::os::unix::fs::PermissionsExt;

#[test]
fn all_of_it_holds_for_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() || !has("setpriv") {
        eprintln!("skipped: no root, or no setpriv (the other tests are of an ordinary user, or of none)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    let program = std::env::current_exe().unwrap();
    let as_nobody = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]).args(args);
        command.env("TMPDIR", folder.path()).env("HOME", folder.path()).current_dir("/");
        command
    };
    for file in [program.to_str().unwrap(), PROGRAM] {
        if !as_nobody(&["test", "-x", file]).status().unwrap().success() {
            eprintln!("skipped: nobody may not run {file}");
            return;
        }
    }
    let output = as_nobody(&[program.to_str().unwrap(), "--test-threads=2"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
}

/// Another process of the same user does not see what this program was started with.
#[test]
fn the_programs_environment_is_its_own() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped for root, who sees all: it is tested as an ordinary user by the other test");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".obsidian")).unwrap();
    let start = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).env("DISCORD_TOKEN", CANARY).env("VAULT_AGENT_STATE_DIR", folder.path());
        command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let environment = |pid: u32| std::fs::read(format!("/proc/{pid}/environ"));
    let mut agent = start(PROGRAM, &["mcp"]);
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    writeln!(agent.stdin.as_mut().unwrap(), "{hello}").unwrap();
    let mut answer = String::new();
    BufReader::new(agent.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("serverInfo"), "{answer}");
    assert_eq!(environment(agent.id()).unwrap_err().kind(), std::io::ErrorKind::PermissionDenied);
    agent.kill().unwrap();
    agent.wait().unwrap();
    // An ordinary program's can be read.
    let mut cat = start("cat", &[]);
    writeln!(cat.stdin.as_mut().unwrap(), "up").unwrap();
    BufReader::new(cat.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(String::from_utf8_lossy(&environment(cat.id()).unwrap()).contains(CANARY));
    cat.kill().unwrap();
    cat.wait().unwrap();
}
