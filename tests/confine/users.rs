//! The same tests as an ordinary user, where this one is root.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::rig::{PROGRAM, has};

#[test]
fn all_of_it_holds_for_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() || !has("setpriv") {
        eprintln!(
            "skipped: this is no root, or there is no setpriv: an ordinary user is tested by the other tests, or not"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    let program = std::env::current_exe().unwrap();
    let as_nobody = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"])
            .args(args)
            .env("TMPDIR", folder.path())
            .env("HOME", folder.path())
            .current_dir("/");
        command
    };
    for file in [program.to_str().unwrap(), PROGRAM] {
        if !as_nobody(&["test", "-x", file]).status().unwrap().success() {
            eprintln!("skipped: nobody may not run {file}");
            return;
        }
    }
    let output = as_nobody(&[program.to_str().unwrap(), "--test-threads=2"]).output().unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
