//! Slash commands, buttons, and what is offered while somebody types.

use crate::deliver::world::{fact, line, message};
use crate::discord::rig::*;
use vault_agent::deliver::{MessageKind, NotifiedItem, Notifier, OutgoingMessage, SendOutcome};

/// What a stranger is told.
const STRANGER: &str = "Only the owner of this vault may use me.";

fn reminders(rig: &Rig) -> String {
    rig.text("Reminders.md")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reminders_are_added_listed_and_removed_with_their_exact_line() {
    let (rig, _running) = Rig::running().await;
    let fake = &rig.fake;
    let options = [("when", "2030-12-01 09:30"), ("what", "Call \"Mum\" `now`"), ("recur", "weekly")];
    let reply = rig.command("remind", &options).await;
    let line = reminders(&rig).lines().last().unwrap().to_owned();
    let wanted = "- [ ] date=2030-12-01 time=09:30 recur=weekly msg=\"Call \\\"Mum\\\" `now`\" id=rid_";
    assert!(line.starts_with(wanted), "{line}");
    assert!(reply.starts_with(&format!("Added:\n```\n{line}\n```\nIt comes ")), "{reply}");
    let confirmed = rig.workspace().journal().unwrap().messages().unwrap();
    let confirmed: Vec<_> = confirmed.iter().map(|message| message.body.as_str()).collect();
    assert_eq!(confirmed, [format!("Added:\n```\n{line}\n```")]);
    let reply = rig.command("remind", &[("when", "yesterdayish"), ("what", "x")]).await;
    assert!(reply.starts_with("That didn't work:"), "{reply}");
    contains_all(rig.command("reminders", &[]).await, &["Call \"Mum\""]);
    let id = line.split("id=").nth(1).unwrap();
    assert_eq!(offered(&rig, ALICE, "unremind", "reminder", "mum").await[0], id);
    assert_eq!(offered(&rig, ALICE, "remind", "when", "in 2 hours").await[0], "in 2 hours");
    let choices = offered(&rig, ALICE, "remind", "when", "at 5").await;
    let is_there = |hour: &str| choices.iter().any(|choice| choice.ends_with(hour));
    assert!(is_there("05:00") && is_there("17:00"), "both that it can be: {choices:?}");
    let reply = rig.command("unremind", &[("reminder", id)]).await;
    assert_eq!(reply, format!("Removed:\n```\n{line}\n```"));
    assert!(!reminders(&rig).contains("Mum"));
    assert_eq!(fake.reply(slash(MALLORY, "reminders", &[])).await, STRANGER);
    assert!(offered(&rig, MALLORY, "unremind", "reminder", "").await.is_empty());
    for callback in fake.requests("POST", "/callback") {
        let flags = &callback.body["data"]["flags"];
        assert!(callback.body["type"] == json!(8) || *flags == json!(64), "{}", callback.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pins_are_made_from_words_and_messages_and_taken_out() {
    let (rig, _running) = Rig::running().await;
    let fake = &rig.fake;
    let reply = rig.command("remember", &[("text", "Mum's birthday is 3 May")]).await;
    assert_eq!(reply, "Pinned:\n```\n- Mum's birthday is 3 May\n```");
    let id = fake.say(CHANNEL, ALICE, "the door code is 1234");
    rig.wait_said(CHANNEL, 1).await;
    let menu = |id: u64| {
        let message = fake.messages(CHANNEL).pop().unwrap();
        json!({ "type": 2, "user": ALICE, "channel": CHANNEL, "data": { "id": "900", "type": 3, "name": "Remember",
            "target_id": id.to_string(), "resolved": { "messages": { id.to_string(): message } } } })
    };
    let pinned = "- Alice: the door code is 1234 [[logs/discord-channel/2000/";
    contains_all(fake.reply(menu(id)).await, &[pinned, &format!("#^{}]]", rig.questions()[0])]);
    let pin = offered(&rig, ALICE, "forget", "pin", "birthday").await.remove(0);
    let reply = rig.command("forget", &[("pin", &pin)]).await;
    assert_eq!(reply, "No longer pinned:\n```\n- Mum's birthday is 3 May\n```");
    assert_eq!(rig.text("Pinned.md").lines().filter(|l| l.starts_with("- ")).count(), 1);
    let sticker =
        json!({ "content": "", "sticker_items": [{ "id": "1", "name": "Wave", "format_type": 1 }] });
    let id = fake.post(CHANNEL, ALICE, sticker);
    contains_all(fake.reply(menu(id)).await, &["- Alice: Sticker: Wave"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_window_is_a_new_file_and_the_old_one_says_so() {
    let (rig, _running) = Rig::running().await;
    let (first, second) = (rig.say("old"), rig.say("lost"));
    rig.wait_said(CHANNEL, 2).await;
    // An interaction that comes twice is carried out once.
    rig.fake.gateway(GatewayFault::Double);
    let reply = rig.command("new", &[]).await;
    assert!(reply.starts_with("A new window begins: `logs/discord-channel/2000/"), "{reply}");
    assert_eq!(rig.command("status", &[]).await, "Nothing is scheduled.");
    rig.say("new");
    rig.wait_said(CHANNEL, 3).await;
    let files = rig.log_files();
    assert_eq!(files.len(), 2);
    let stands =
        |file: usize, text: &str| fs::read_to_string(&files[file]).is_ok_and(|log| log.contains(text));
    assert!(stands(0, "This window ended here") && !stands(0, "> new") && stands(1, "> new"));
    // A change of a message stands in the message's window, for who reads that one alone.
    rig.fake.edit(CHANNEL, first, "older");
    rig.wait("the edit", || stands(0, "> older")).await;
    rig.fake.delete(CHANNEL, first);
    rig.wait("the deletion", || stands(0, "> deleted [[")).await;
    assert!(!stands(1, "older") && !stands(1, "deleted"));
    // A lane writes one thing after the other, so once this stands there the deletion before it is written to its end.
    rig.say("more");
    rig.wait_said(CHANNEL, 4).await;
    fs::remove_file(&files[0]).unwrap();
    rig.fake.delete(CHANNEL, second);
    rig.wait("the deletion where the window is gone", || stands(1, "> deleted [[")).await;
    assert!(!files[0].exists());
    assert_eq!(rig.command("undo", &[]).await, "That didn't work: there is nothing to undo");
    contains_all(rig.command("recall", &[("query", "dentist")]).await, &["The dentist is on Friday"]);
}

/// The values that are offered while somebody types.
async fn offered(rig: &Rig, user: u64, command: &str, option: &str, typed: &str) -> Vec<String> {
    let offered = rig.fake.interact(typing(user, command, option, typed)).await;
    let choices = offered["callback"]["data"]["choices"].as_array().unwrap();
    choices.iter().map(|choice| choice["value"].as_str().unwrap().to_owned()).collect()
}

/// A notification as it stands in the channel.
async fn notify(rig: &Rig, kind: MessageKind, msg: &str, id: &str, recurring: bool) -> Value {
    let fact = NotifiedItem { recurring, ..fact(kind, id, "2026-11-20T09:30", msg) };
    let message = OutgoingMessage { facts: vec![fact], ..message(kind, id, &format!("Reminder: {msg}")) };
    assert!(matches!(rig.notifier().send(&message).await, SendOutcome::Sent { message_id: Some(_) }));
    rig.fake.messages(CHANNEL).pop().unwrap()
}

fn buttons(message: &Value) -> usize {
    message["components"][0]["components"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buttons_work_after_a_restart_and_once() {
    let (rig, fired) = (Rig::new().await, line("2026-11-20", "09:30", "none", "Call", "AAAAAAAAAAAA"));
    rig.write("Reminders.md", line("2099-01-07", "09:30", "weekly", "Bins", "AAAAAAAAAAAB") + &fired);
    let message = notify(&rig, MessageKind::Reminder, "Call", "rid_AAAAAAAAAAAA", false).await;
    assert_eq!(buttons(&message), 4);
    // The bot starts only now: nothing of the notification is in its memory.
    let _running = rig.run().await;
    assert_eq!(rig.press_as(MALLORY, &message, "Done").await, STRANGER);
    let first = rig.press(&message, "tomorrow").await;
    assert!(first.starts_with("Snoozed until "), "{first}");
    assert_eq!(rig.press(&message, "tomorrow").await, first);
    let text = reminders(&rig);
    let is_added = |line: &&str| line.contains("msg=\"Call\"") && line.contains("time=09:00");
    let added: Vec<&str> = text.lines().filter(is_added).collect();
    assert_eq!(added.len(), 1, "{text}");
    assert!(first.contains(&format!("```\n{}\n```", added[0])));
    assert_eq!(rig.press(&message, "Done").await, format!("Done, removed:\n```\n{fired}```"));
    assert!(!reminders(&rig).contains(&fired));
    let first_button = || rig.fake.messages(CHANNEL)[0]["components"][0]["components"][0].clone();
    rig.wait("the buttons are off", || first_button()["disabled"] == true).await;
    let message = notify(&rig, MessageKind::Reminder, "Bins", "rid_AAAAAAAAAAAB", true).await;
    assert_eq!(buttons(&message), 5);
    let next = "date=2099-01-14 time=09:30 recur=weekly msg=\"Bins\"";
    contains_all(rig.press(&message, "Skip").await, &[next]);
    contains_all(rig.press(&message, "10 min").await, &["recur=none msg=\"Bins\""]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buttons_work_on_a_line_that_has_no_id_yet() {
    let rig = Rig::new().await;
    let bins = |date: &str, id: &str| line(date, "09:30", "weekly", "Bins", id);
    let other = bins("2099-01-07", "CCCCCCCCCCCC");
    let fired = line("2026-11-20", "09:30", "none", "Call", "");
    rig.write("Reminders.md", bins("2099-01-07", "") + &other + &fired);
    let _running = rig.run().await;
    let message = notify(&rig, MessageKind::Reminder, "Bins", "rid_AAAAAAAAAAAB", true).await;
    let moved = bins("2099-01-14", "");
    assert_eq!(rig.press(&message, "Skip").await, format!("Skipped the next one:\n```\n{moved}```"));
    let message = notify(&rig, MessageKind::Reminder, "Call", "rid_AAAAAAAAAAAA", false).await;
    assert_eq!(rig.press(&message, "Done").await, format!("Done, removed:\n```\n{fired}```"));
    assert_eq!(reminders(&rig), moved + &other);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_could_be_remembered_is_kept_and_declined_by_buttons() {
    let rig = Rig::new().await;
    let line = |text: &str, id: &str| {
        format!("- [ ] [preferences] Anna: {text} · \"I like {text}\" [[logs/discord-channel/7/a#^X1]] {id}")
    };
    let (tea, walks) = (line("green tea", "cap_AAAAAAAAAAAA"), line("long walks", "cap_BBBBBBBBBBBB"));
    let record = |line: &str| format!("{line} asked=2026-11-22T10:00:00Z by=rules\n");
    rig.write("Inbox.md", format!("# Inbox\n\n{tea}\n{walks}\n\n%%\n{}{}%%\n", record(&tea), record(&walks)));
    let _running = rig.run().await;
    let fake = &rig.fake;
    assert_eq!(fake.reply(slash(MALLORY, "inbox", &[])).await, STRANGER);
    let answer = fake.interact(slash(ALICE, "inbox", &[])).await;
    let shown = &answer["edited"];
    assert!(shown["content"].as_str().unwrap().contains("Anna: long walks\n> I like long walks"), "{shown}");
    let id =
        |row: usize, at: usize| shown["components"][row]["components"][at]["custom_id"].as_str().unwrap();
    // The answer's own message is seen by nobody else; any stands in for it here.
    let shown_in = fake.say(CHANNEL, ALICE, "hello");
    let kept = fake.reply(press(ALICE, shown_in, id(0, 0))).await;
    assert!(kept.starts_with("Kept:\n- [") && kept.contains("green tea [[logs/"), "{kept}");
    let declined = fake.reply(press(ALICE, shown_in, id(1, 1))).await;
    assert!(declined.starts_with("Declined, and not asked again:\nlong walks"), "{declined}");
    let again = fake.reply(press(ALICE, shown_in, id(0, 0))).await;
    assert_eq!(again, "That didn't work: `cap_AAAAAAAAAAAA` was kept already.");
    assert_eq!(rig.command("inbox", &[]).await, "Nothing waits.");
    assert_eq!(fake.reply(press(MALLORY, shown_in, id(1, 0))).await, STRANGER);
    let memory = rig.text("MEMORY.md");
    assert!(memory.contains("## Anna\n- [") && !memory.contains("walks"), "{memory}");
    contains_all(rig.text("Inbox.md"), &["kept=", "cap_BBBBBBBBBBBB asked=2026-11-22T10:00:00Z by=rules\n"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn done_and_snooze_of_a_task_do_what_its_plugin_would() {
    let rig = Rig::new().await;
    rig.write("vault-agent.toml", "[reminders]\nalso = [\"tasks\"]\n");
    rig.write("Home.md", "# Home\n- [ ] Bins 🔁 every week 📅 2026-11-20 09:30\n");
    let id = vault_agent::tasks::task_id("Home.md", "Bins");
    let _running = rig.run().await;
    let message = notify(&rig, MessageKind::Task, "Bins · Home.md", &id, true).await;
    assert_eq!(buttons(&message), 4, "no next time is skipped of a task");
    let snoozed = rig.press(&message, "tomorrow").await;
    assert!(snoozed.starts_with("Snoozed until "), "{snoozed}");
    contains_all(&snoozed, &["in Home.md:2 (tasks):\n```\n- [ ] Bins ⏰ "]);
    let done = rig.press(&message, "Done").await;
    assert!(done.starts_with("Done in Home.md:3 (tasks):\n```\n"), "{done}");
    let text = rig.text("Home.md");
    contains_all(&text, &["- [ ] Bins 🔁 every week 📅 2026-11-27 09:30\n- [x] Bins ⏰ "]);
    // The next one isn't the one that was told.
    let again = rig.press(&message, "Done").await;
    assert!(again.starts_with("That didn't work"), "{again}");
    assert_eq!(rig.text("Home.md"), text);
    let listed = rig.command("reminders", &[]).await;
    contains_all(&listed, &["1 tasks of other plugins:", "Bins · Home.md:2 (tasks)"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_press_says_what_the_first_said_and_changes_nothing() {
    let (rig, clock) = Rig::clocked().await;
    let _running = rig.run().await;
    rig.write("Reminders.md", line("2026-11-21", "09:30", "daily", "Pill", "AAAAAAAAAAAB"));
    let message = notify(&rig, MessageKind::Reminder, "Pill", "rid_AAAAAAAAAAAB", true).await;
    rig.fake.fault("PATCH", "/channels/2000/messages", Fault::Status(502, json!({})), 1);
    for label in ["Skip", "10 min"] {
        let first = rig.press(&message, label).await;
        let after = reminders(&rig);
        rig.advance(&clock, SignedDuration::from_mins(1));
        assert_eq!(rig.press(&message, label).await, first);
        assert_eq!(reminders(&rig), after);
    }
    assert!(reminders(&rig).contains("date=2026-11-22"), "{}", reminders(&rig));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_says_what_it_leaves_out_and_a_reminder_is_removed_by_its_words() {
    let (rig, _running) = Rig::running().await;
    let msg = "word ".repeat(20);
    let line = |n| line("2030-12-01", "09:30", "none", &format!("Number {n} {msg}"), "");
    rig.write("Reminders.md", (0..151).map(line).collect::<String>());
    rig.fake.interact(slash(ALICE, "reminders", &[])).await;
    let all = || -> Vec<String> {
        let world = rig.fake.world();
        let parts = world.interactions.values().flat_map(|one| one.edited.iter().chain(&one.followups));
        parts.map(|part| part["content"].as_str().unwrap().to_owned()).collect()
    };
    rig.wait("five messages", || all().len() == 5).await;
    let (shown, last) = (all().join("\n"), all().pop().unwrap());
    let left = last.rsplit_once("-# ").unwrap().1.strip_suffix(" more lines don't fit here.").unwrap();
    assert_eq!(shown.matches("Number ").count() + left.parse::<usize>().unwrap(), 151);
    let (removed, unclear) = ("Removed:\n", "That didn't work: ");
    for (words, reply) in
        [("number 150", removed), ("number 14", unclear), ("nothing", unclear), ("number 149", removed)]
    {
        let said = rig.command("unremind", &[("reminder", words)]).await;
        assert!(said.starts_with(reply), "{words}: {said}");
    }
    assert_eq!(reminders(&rig).lines().count(), 149);
}
