//! Changes by forms, as a client without scripts sends them.

use crate::doors::moved;
use crate::forms::forms;
use crate::sample::*;

/// DESIGN 6.6: all but a person's editor is confirmed on the notifier.
#[test]
fn a_reminder_of_the_page_is_confirmed_once() {
    let vault = listening("//- /Reminders.md\n# Reminders\n");
    let settings = vault.read("vault-agent.toml");
    vault.write("vault-agent.toml", format!("{settings}[notify]\nkind = \"desktop\"\n"));
    let (_served, visitor) = Served::visited(&vault);
    let form = visitor.form("/?write=tomorrow+9am%3A+Call+Mum", "add", "Call Mum");
    visitor.submit(&form).is(303);
    visitor.submit(&form).is(303);
    // The console shows what waits.
    vault.write("vault-agent.toml", settings);
    let line = vault.read("Reminders.md").lines().last().unwrap().to_owned();
    let confirmed = vault.run(&["tick"]).ok().stdout.clone();
    assert_eq!(confirmed.matches("added or changed on the page").count(), 1, "{confirmed}");
    assert!(confirmed.contains(&line), "{confirmed}");
    assert!(!vault.run(&["tick"]).ok().stdout.contains("Call Mum"));
}

#[test]
fn a_reminder_is_saved_for_the_time_that_was_said_back() {
    let (vault, served, visitor) =
        Served::over(listening("//- now: 2026-11-29T23:59:30Z\n//- /Reminders.md\n# Reminders\n"));
    let plans = ["tomorrow 9am: Mum", "in 20 minutes: Tea", "every day at 8am: Pill", "in 2 minutes: Over"]
        .map(|words| visitor.writing(words, "add"));
    served.kill();
    vault.set_now("2026-11-30T00:04:30Z");
    let served = Served::start(&vault);
    let visitor = moved(&visitor, &served);
    let tea = plans[1].get("at").unwrap().replace('T', " time=");
    plans[..3].iter().for_each(|form| drop(visitor.submit(form).is(303)));
    let [mum, pill] =
        ["time=09:00 recur=none", "time=08:00 recur=daily"].map(|it| format!("2026-11-30 {it}"));
    contains_all(vault.read("Reminders.md"), &[&mum, &pill, &tea]);
    // One that is over by now is said back anew.
    let over = visitor.submit(&plans[3]).is(409).text();
    let again = forms(&over).into_iter().find(|form| form.get("do") == Some("add")).unwrap();
    assert_eq!(again.get("at"), Some("2026-11-30T00:07"), "{over}");
    assert!(!vault.read("Reminders.md").contains("Over"));
}

/// What isn't typed anew stays as it stands in the note.
#[test]
fn a_change_of_the_time_alone_leaves_the_words() {
    let (vault, _served, visitor) = Served::over(with_tasks(
        "//- now: 2026-12-01T08:00:00Z\n//- /Home.md\n- [ ] Call  Bob 📅 2026-12-03\n//- /Reminders.md\n- [ ] date=2026-12-03 time=09:30 recur=none msg=\"in\u{200b}visible\" id=rid_AAAAAAAAAAAA\n//- /COMMITMENTS.md\n---\nid: c-2026-12-01-001\nstatus: pending\ndue: 2026-12-03T17:00:00Z\ncreated: 2026-11-20T14:00:00Z\n---\nAsk Kyle.\nSecond line.\n",
    ));
    const WEEK: &str = "/calendar?week=2026-12-01";
    contains_all(visitor.get(WEEK).is(200).text(), &["Ask Kyle.\nSecond line.</textarea>"]);
    for (holding, note, words) in [
        ("c-2026-12-01-001", "COMMITMENTS.md", "---\nAsk Kyle.\nSecond line.\n"),
        ("rid_AAAAAAAAAAAA", "Reminders.md", "msg=\"in\u{200b}visible\" id="),
        ("Bob", "Home.md", "- [ ] Call  Bob "),
    ] {
        let form = visitor.form(WEEK, "edit", holding);
        contains_all(visitor.submit(&form).is(400).text(), &["nothing to change"]);
        visitor.submit(&form.with("when", "2026-12-04 18:00")).is(303);
        contains_all(vault.read(note), &[words, "2026-12-04"]);
    }
}

/// Words that were typed about a fact stand in no other fact's form, and a fact that only reads the same is another one.
#[test]
fn a_refused_form_about_a_fact_is_about_no_other() {
    let note = "# M\n## S\n- Ann likes tea\n- Bob is allergic to nuts\n- x\n";
    let (vault, _served, visitor) = Served::over(listening(&format!("//- /MEMORY.md\n{note}")));
    let [edit, forget] = ["edit", "forget"].map(|action| visitor.form("/memory", action, "Ann likes tea"));
    let edit = edit.with("text", "Ann likes green tea");
    for now in ["", "- ann likes Tea.\n", "- Ann likes\n  tea\n", "- Ann likes tea [since:: 2026-01-01]\n"] {
        let now = note.replace("- Ann likes tea\n", now);
        vault.write("MEMORY.md", &now);
        let page = visitor.submit(&edit).is(409).text();
        assert!(page.contains("<pre>Ann likes green tea</pre>"), "{page}");
        assert!(!forms(&page).iter().any(|form| form.get("text") == edit.get("text")), "{page}");
        visitor.submit(&forget).is(409);
        assert_eq!(vault.read("MEMORY.md"), now);
    }
}

#[test]
fn an_edited_fact_stays_a_task_and_loses_no_byte() {
    let (vault, _served, visitor) =
        Served::over(listening("//- /MEMORY.md\n- [ ] buy paint 📅 2026-12-03\n- plain\n"));
    let edit = |holding: &str, text: &str| visitor.form("/memory", "edit", holding).with("text", text);
    visitor.submit(&edit("paint", "[ ] buy white paint 📅 2026-12-03")).is(303);
    visitor.submit(&edit("plain", "[ ] no task")).is(303);
    assert_eq!(vault.read("MEMORY.md"), "- [ ] buy white paint 📅 2026-12-03\n- \\[ ] no task\n");
    let odd = b"- one\xff two\n";
    vault.write("MEMORY.md", odd);
    contains_all(visitor.submit(&visitor.form("/memory", "edit", "two")).is(409).text(), &["UTF-8"]);
    assert_eq!(fs::read(vault.path("MEMORY.md")).unwrap(), odd);
}

/// The state of the page can't be written, as on a full disk: a browser gets a page, and what was typed.
#[test]
fn what_was_typed_stays_where_the_state_of_the_page_can_not_be_written() {
    let (vault, _served, visitor) = Served::over(listening("//- /MEMORY.md\n- tea\n"));
    let form = visitor.form("/memory", "add", "").with("text", "the lamp is broken");
    let state = rusqlite::Connection::open(vault.state().join("page.sqlite")).unwrap();
    state.execute_batch("DROP TABLE forms").unwrap();
    let page = visitor.submit(&form).is(500).text();
    contains_all(page, &["<html", "role=\"alert\"", "deleting the file", "the lamp is broken</textarea>"]);
    assert_eq!(vault.read("MEMORY.md"), "- tea\n");
}

/// A browser has six connections to a host; tabs that aren't seen take none of them.
#[test]
fn many_open_tabs_leave_room_for_the_next() {
    let Some((vault, _served, tab)) = Tab::over(with_call()) else { return };
    for _ in 0..8 {
        tab.second();
        tab.go("/calendar");
        tab.wait("h1");
    }
    tab.go("/?write=tomorrow+9am%3A+Mum");
    tab.press("Add", "");
    tab.wait(".said");
    vault.write("Reminders.md", "- [ ] date=2026-12-02 time=09:30 recur=none msg=\"From the editor\"\n");
    tab.wait_for("From the editor");
}
