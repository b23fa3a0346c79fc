//! The desktop, through programs of the desktop; small ones stand in for them here and write down what they were given.

use crate::deliver::world::*;

/// A program of that name in `bin`, which keeps its arguments, one a line, and then does `then`.
fn program(bin: &Path, name: &str, then: &str) {
    let keeps = "for one in \"$@\"; do printf '%s\\n' \"$one\"; done >>\"$0.said\"";
    write_program(bin.join(name), &format!("#!/bin/sh\n{keeps}\n{then}\n"));
}

fn said(bin: &Path, name: &str) -> String {
    std::fs::read_to_string(bin.join(format!("{name}.said"))).unwrap_or_default()
}

fn vault(bin: &Path) -> TestVault {
    let reminder = line("2026-12-01", "09:30", "none", "Call <b>Zoë</b> & 'Ann' --urgency", &id('A'));
    let mut vault = TestVault::new(&format!(
        "//- now: 2026-12-01T09:30:00Z\n//- /vault-agent.toml\n[notify]\nkind = \"desktop\"\n//- /Reminders.md\n{reminder}"
    ));
    vault.env("PATH", bin.to_str().unwrap());
    vault.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    vault
}

#[test]
fn notify_send_shows_it_else_gdbus() {
    let bin = tempfile::tempdir().unwrap();
    program(bin.path(), "gdbus", "");
    let last = vault(bin.path());
    let _ = last.run(&["tick"]).ok();
    let given = said(bin.path(), "gdbus");
    assert!(given.contains("'Call &lt;b&gt;Zoë&lt;/b&gt; &amp; \\'Ann\\' --urgency'"), "{given}");
    assert_eq!(last.read("Reminders.md"), "");

    program(bin.path(), "notify-send", "");
    let _ = vault(bin.path()).run(&["tick"]).ok();
    let shown = "--app-name=vault-agent\n--\nReminder\nCall &lt;b&gt;Zoë&lt;/b&gt; &amp; 'Ann' --urgency\n";
    assert_eq!(said(bin.path(), "notify-send"), shown);
    assert_eq!(said(bin.path(), "gdbus"), given, "the first one is enough");
}

#[test]
fn a_desktop_that_takes_nothing_is_tried_again() {
    let bin = tempfile::tempdir().unwrap();
    program(bin.path(), "notify-send", "echo 'no service' >&2; exit 1");
    let vault = vault(bin.path());
    vault.run(&["tick", "--json"]).says("no service");
    assert!(vault.read("Reminders.md").contains("Call"), "it stays until it was told");
}

#[test]
fn without_a_program_the_console_is_told_and_doctor_says_what_to_install() {
    let bin = tempfile::tempdir().unwrap();
    let vault = vault(bin.path());
    vault.run(&["tick"]).says("Call <b>Zoë</b>");
    assert_eq!(vault.read("Reminders.md"), "");
    vault.run(&["doctor"]).says("libnotify");
}

/// The others of several machines show what this one can't: it leaves it to them, and says so.
#[test]
fn a_machine_without_a_desktop_tells_nothing_by_it_among_others() {
    let bin = tempfile::tempdir().unwrap();
    let mut vault = vault(bin.path());
    let machines = "[machines]\nengine = \"git\"\nremote = \"file:///nowhere\"\n";
    vault.write("vault-agent.toml", format!("{}{machines}", vault.read("vault-agent.toml")));
    let _ = vault.run(&["status"]).ok().says("this machine doesn't send by `desktop`: there is neither");
    program(bin.path(), "gdbus", "");
    vault.run(&["status"]).ok().lacks("doesn't send");
    vault.env("DBUS_SESSION_BUS_ADDRESS", "");
    vault.env("XDG_RUNTIME_DIR", "/nowhere");
    let _ = vault.run(&["status"]).ok().says("this machine doesn't send by `desktop`: there is no desktop");
    let _ = vault.run(&["doctor"]).says("`desktop` is left to other machines: there is no desktop");
}
