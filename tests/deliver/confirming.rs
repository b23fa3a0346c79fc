//! Confirmations of what commands write: once, on the notifier, with the exact lines, by a process that can send them.

use crate::deliver::servers::{Fault, Web};
use crate::deliver::world::{due, id, line};
use crate::support::prelude::*;

pub const SECRET: &str = "VAULT_AGENT_WEBHOOK_SECRET";

/// A vault whose notifier is this server, at 2026-12-01 09:30.
pub fn hooked(web: &Web, reminders: &str) -> TestVault {
    let settings = format!("[notify]\nkind = \"webhook\"\n[notify.webhook]\nurl = \"{}/hook\"\n", web.url);
    let mut vault = TestVault::new("//- now: 2026-12-01T09:30:00Z\n");
    vault.write("vault-agent.toml", format!("timezone = \"UTC\"\n{settings}"));
    vault.write("Reminders.md", reminders);
    vault.env(SECRET, "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    vault
}

/// The texts that came to the server, after the first ones.
pub fn sent(web: &Web, after: usize) -> Vec<String> {
    let text = |asked: &Arc<Asked>| asked.body["text"].as_str().unwrap().to_owned();
    web.asked()[after..].iter().map(text).collect()
}

fn server() -> Web {
    Web::start(|_| (204, String::new()))
}

#[test]
fn what_a_command_writes_is_confirmed_in_one_message() {
    let weekly = line("2026-12-07", "09:30", "weekly", "Bins", &id('A'));
    let once = line("2026-12-09", "10:00", "none", "Call", &id('B'));
    let (web, both) = (server(), weekly.clone() + &once);
    let vault = hooked(&web, &both);
    let confirmed = |args: &[&str], input: &str| {
        let before = web.asked().len();
        let _ = vault.run_with(args, input).ok();
        sent(&web, before)
    };
    let moved = confirmed(&["remind", "move", "Bins", "2026-12-10"], "");
    assert_eq!(moved.len(), 1, "{moved:?}");
    contains_all(
        &moved[0],
        &["moved:\n", "date=2026-12-10 time=09:30 recur=none", "date=2026-12-14 time=09:30 recur=weekly"],
    );
    assert_eq!(confirmed(&["undo"], ""), [format!("added or changed by undo:\n```\n{weekly}```")]);
    assert_eq!(vault.read("Reminders.md"), both);

    // What an undo only takes out isn't confirmed.
    assert_eq!(confirmed(&["remind", "add", "2026-12-24 18:00", "Goose"], "").len(), 1);
    assert_eq!(confirmed(&["undo"], "").len(), 0);

    let restored = [format!("added or changed by restore:\n```\n{once}```")];
    assert_eq!(confirmed(&["remind", "rm", "Call"], "").len(), 1);
    assert_eq!(confirmed(&["restore", "--id", "rid_BBBBBBBBBBBB", "--yes"], ""), restored);
    assert_eq!(confirmed(&["remind", "rm", "Call"], "").len(), 1);
    assert_eq!(confirmed(&["restore", "Reminders.md", "--yes"], ""), restored);

    let item = |day: usize| {
        let date = format!("2026-12-{day}");
        json!({ "kind": "reminder", "date": date, "time": "09:00", "recur": "none", "msg": "x" }).to_string()
    };
    let many: Vec<String> = (10..23).map(item).collect();
    let [imported] = &confirmed(&["import", "-"], &many.join("\n"))[..] else { panic!("one message") };
    let lines = ["added or changed by import:\n```\n- [ ] date=2026-12-10 ", "\n… and 3 more\n```"];
    contains_all(imported, &lines);
    assert_eq!(confirmed(&["import", "-", "--dry-run"], &item(25)).len(), 0);

    vault.write("House.md", "- [ ] Water the plants 📅 2026-12-20\n");
    assert_eq!(confirmed(&["import", "--from", "tasks"], "").len(), 0);
    let ours = confirmed(&["import", "--from", "tasks", "--yes"], "");
    assert!(ours.len() == 1 && ours[0].contains("msg=\"Water the plants\""), "{ours:?}");

    let copy = "Reminders.sync-conflict-20261130-101010-ABCDEFG.md";
    let tea = line("2026-12-30", "08:00", "none", "Tea", "");
    vault.write(copy, vault.read("Reminders.md") + &tea);
    let merged = confirmed(&["conflicts", "merge", copy, "--yes"], "");
    assert_eq!(merged, [format!("added or changed by merge:\n```\n{tea}```")]);
}

#[test]
fn with_the_console_the_command_prints_the_lines() {
    let once = line("2026-12-09", "10:00", "none", "Call", &id('B'));
    let vault = TestVault::new(&format!("//- zone: UTC\n//- /Reminders.md\n{once}"));
    let _ = vault.run(&["remind", "rm", "Call"]).ok();
    vault.run(&["undo"]).ok().warns(format!("added or changed by undo:\n{once}"));
    vault.run(&["tick"]).ok().lacks("undo");
}

/// How it waits, also in a process without the secret: `mcp::reminders`.
#[test]
fn a_confirmation_that_is_refused_comes_later_and_stays_out_of_the_json() {
    let web = server();
    let vault = hooked(&web, "");
    web.fault(Fault::Status(403, ""));
    let add = vault.run(&["--json", "remind", "add", "2027-01-01 10:00", "Tea"]).ok();
    assert!(add.json()["line_text"].as_str().unwrap().contains("Tea"), "{add:?}");
    add.warns_not("msg=");
    vault.advance(SignedDuration::from_mins(15));
    let _ = vault.run(&["tick"]).ok();
    let _ = vault.run(&["tick"]).ok();
    let texts = sent(&web, 1);
    assert!(texts.len() == 1 && texts[0].contains("Tea"), "{texts:?}");
}

/// Cron throws away what the console says.
#[test]
fn a_notifier_without_its_secret_is_a_problem_of_the_pass() {
    let web = server();
    let vault = hooked(&web, &due(&["Take the pill"]));
    let mut command = vault.command(&["--json", "tick"]);
    command.env_remove(SECRET);
    let said = Run::of(&mut command).exits(1).json()["problems"].to_string();
    contains_all(said, &["`webhook` can't be used, so the console gets its messages"]);
}
