//! The reminder tools: the note and the confirmation.

use crate::deliver::confirming::{SECRET, hooked, sent};
use crate::deliver::servers::{Fault, Web};
use crate::deliver::world::due;
use crate::mcp::client::*;

#[test]
fn done_leaves_out_a_time_that_was_not_told_yet() {
    let line =
        |date: &str| format!("- [ ] date={date} time=06:30 recur=weekly msg=\"Bins\" id=rid_AAAAAAAAAAAA");
    let first = line("2026-12-01");
    let (vault, mut client) =
        Client::over(&format!("//- now: 2026-12-01T06:40:00Z\n//- /Reminders.md\n{first}\n"));
    for _ in 0..2 {
        let done = client.does("reminder_done", json!({"id": "rid_AAAAAAAAAAAA"}));
        assert_eq!(done["line_text"], line("2026-12-08"));
        assert_eq!(vault.read("Reminders.md"), line("2026-12-08") + "\n");
    }
    drop(client.close());
    vault.run(&["tick"]).ok().says(format!("done: ``` {} ```\n", line("2026-12-08")));
}

#[test]
fn a_reminder_lives_from_add_to_delete() {
    let (vault, mut client) = Client::over("");
    let weekly = json!({"when": "fri 17:00", "message": "Call \"Mum\"", "recur": "weekly"});
    let added = client.call("reminder_add", weekly).ok();
    let (line, id) = (added.field("line_text"), added.field("id").to_owned());
    assert_eq!(vault.read("Reminders.md"), format!("{line}\n"));
    assert!(line.starts_with(r#"- [ ] date=2026-12-04 time=17:00 recur=weekly msg="Call \"Mum\"" id=rid_"#));
    added.says("It comes Fri 4 Dec 17:00, in 3 days, then weekly.");
    let listed = client.call("reminder_list", json!({})).ok();
    assert_eq!(listed.structured()["reminders"][0]["message"], "Call \"Mum\"");
    listed.says("Untrusted context").says(&format!("{id}  2026-12-04 17:00, weekly: Call \"Mum\""));
    let moved = client.call("reminder_update", json!({"id": id, "when": "2026-12-18 18:00"})).ok();
    moved.says("It comes Fri 18 Dec 18:00, in 17 days, then weekly.");
    let once = json!({"id": id, "when": "2026-12-24 18:00", "recur": "none"});
    let changed = client.does("reminder_update", once);
    assert_eq!(vault.read("Reminders.md"), format!("{}\n", changed["line_text"].as_str().unwrap()));
    client.refuses("reminder_update", json!({"id": id}), "nothing_to_change");
    assert_eq!(client.does("reminder_delete", json!({"id": id}))["line_text"], changed["line_text"]);
    assert_eq!(vault.read("Reminders.md"), "");
    client.refuses("reminder_delete", json!({"id": id}), "no_such_id");
}

#[test]
fn what_a_plugin_would_run_is_text_in_a_message() {
    let ((vault, mut client), message) = (Client::over(""), "see `$= dv.x()` <% tp.x %>");
    let added = client.does("reminder_add", json!({"when": "tomorrow 9am", "message": message}));
    client.does("reminder_update", json!({"id": added["id"], "message": format!("now {message}")}));
    let _ = vault.run(&["remind", "add", "tomorrow 10am", message]).ok();
    for reminder in client.does("reminder_list", json!({}))["reminders"].as_array().unwrap() {
        let said = reminder["message"].as_str().unwrap();
        assert!(said.ends_with("see `\\$= dv.x()` <\\% tp.x %>"), "{said}");
    }
}

#[test]
fn each_change_is_confirmed_by_the_next_pass_with_the_exact_line() {
    let (vault, mut client) = Client::over("");
    let added = client.does("reminder_add", json!({"when": "tomorrow 9am", "message": "Pay the rent"}));
    let line = added["line_text"].as_str().unwrap();
    client.call("reminder_delete", json!({"id": added["id"]})).ok();
    let (code, left, said) = client.close();
    assert_eq!((code, left.len()), (0, 0), "standard output is the protocol's alone");
    assert!(!said.contains(line), "a host keeps it in a log: {said}");
    let tick = vault.run(&["tick"]).ok();
    tick.says(format!("added: ``` {line} ```\nremoved: ``` {line} ```\n"));
    vault.run(&["tick"]).ok().lacks(line);
}

#[test]
fn a_confirmation_is_not_lost_when_the_client_leaves_at_once() {
    let (vault, mut client) = Client::over("");
    let arguments = json!({"when": "tomorrow 9am", "message": "Pay"});
    client.send("tools/call", json!({"name": "reminder_add", "arguments": arguments}));
    let (code, left, said) = client.close();
    assert_eq!((code, left.len()), (0, 1), "the answer still comes");
    assert!(!said.contains("msg=\"Pay\""), "{said}");
    assert!(vault.read("Reminders.md").contains("msg=\"Pay\""));
    vault.run(&["tick"]).ok().says("added: ").says("msg=\"Pay\"");
}

/// A host's environment rarely has the notifier's secret, and its log is no place for a notification.
#[test]
fn what_waits_is_left_to_the_process_that_can_send_it() {
    for (status, has_secret) in [(503, false), (503, true), (403, true), (204, true)] {
        let web = Web::start(|_| (204, String::new()));
        let vault = hooked(&web, &due(&["Take the pill"]));
        web.fault(Fault::Status(503, ""));
        vault.run(&["tick"]).exits(1);
        vault.advance(SignedDuration::from_secs(20));
        let fails = has_secret && status != 204;
        if fails {
            web.fault(Fault::Status(status, ""));
        }
        let mut command = vault.command(&["mcp"]);
        if !has_secret {
            command.env_remove(SECRET);
        }
        let mut client = Client::silent(command);
        client.initialize("test-client");
        client.does("reminder_add", json!({"when": "2027-01-01 10:00", "message": "Tea"}));
        let (_, _, said) = client.close();
        assert!(!said.contains("Take the pill") && !said.contains("Tea"), "{said}");
        assert_eq!(web.asked().len(), 1 + usize::from(has_secret), "the confirmation alone is sent: {said}");
        assert!(vault.read("Reminders.md").contains("Take the pill"));

        vault.advance(SignedDuration::from_mins(15));
        let _ = vault.run(&["tick"]).ok();
        let _ = vault.run(&["tick"]).ok();
        let mut texts = sent(&web, 1 + usize::from(fails));
        texts.sort_unstable();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].starts_with("Reminder: Take the pill") && texts[1].contains("Tea"), "{texts:?}");
        assert!(!vault.read("Reminders.md").contains("Take the pill"));
    }
}

#[test]
fn a_message_can_not_become_another_line() {
    let (vault, mut client) = Client::over("");
    let add = |message: &str| json!({"when": "tomorrow", "message": message});
    client.refuses("reminder_add", add("two\nlines"), "control_character");
    client.refuses("reminder_add", add("a\u{2028}b\u{85}"), "control_character");
    client.refuses("reminder_add", add("pay \u{202e}tneg"), "bad_message");
    assert!(!vault.has("Reminders.md"));
    let sly = "x\" id=rid_AAAABBBBCCCC msg=\"y";
    let added = client.does("reminder_add", add(sly));
    assert_eq!(client.does("reminder_list", json!({}))["reminders"][0]["message"], sly);
    client.refuses("reminder_update", json!({"id": added["id"], "message": "\u{200b}"}), "bad_message");
    assert_eq!(vault.read("Reminders.md").lines().count(), 1);
}
