//! Each place as a person uses it: what is pressed, and what stands in the notes afterwards; also with two tabs and an
//! editor at the same line.

use crate::sample::*;

const WEEK: &str = "/calendar?week=2026-12-01";

/// A form is about the next time of its line, and stands under that one alone.
#[test]
fn a_later_week_has_no_form_that_would_hit_an_earlier_time() {
    let (sample, _served, visitor) = Sample::still().visited();
    let bins = |week: &str| {
        let mut forms = visitor.forms(&format!("/calendar?week={week}"));
        forms.retain(|form| form.holds("rid_BBBBBBBBBBBB"));
        forms
    };
    let next = bins("2026-12-01");
    assert!(next.iter().any(|form| form.get("do") == Some("skip")));
    // It repeats, and isn't due: there is nothing that could be done.
    assert!(next.iter().all(|form| form.get("do") != Some("done")), "{next:#?}");
    assert!(bins("2026-12-15").is_empty());
    // A form that names another time, or no line, changes nothing.
    let before = sample.vault.read("Reminders.md");
    let skip = visitor.form("/calendar?week=2026-12-01", "skip", "rid_BBBBBBBBBBBB");
    let later = visitor.submit(&skip.clone().with("at", "2026-12-16T08:30")).is(409).text();
    contains_all(later, &["only that one can be skipped"]);
    let _ = visitor.submit(&skip.clone().with("was", "")).is(400);
    contains_all(visitor.submit(&skip.clone().with("do", "done")).is(400).text(), &["due yet"]);
    assert_eq!(sample.vault.read("Reminders.md"), before);
}

/// What wasn't told yet is the next time of its line: no later time has a form, and Done leaves it out.
#[test]
fn a_late_time_of_what_comes_again_is_done() {
    let line =
        |date: &str| format!("- [ ] date={date} time=06:30 recur=weekly msg=\"Bins\" id=rid_AAAAAAAAAAAA\n");
    let first = line("2026-12-01");
    let vault = listening(&format!("//- now: 2026-12-01T06:40:00Z\n//- /Reminders.md\n{first}"));
    let (_served, visitor) = Served::visited(&vault);
    assert!(!visitor.forms("/calendar?week=2026-12-08").iter().any(|form| form.holds("rid_AAAAAAAAAAAA")));
    let _ = visitor.submit(&visitor.form(WEEK, "done", "rid_AAAAAAAAAAAA")).is(303);
    assert_eq!(vault.read("Reminders.md"), line("2026-12-08"));
}

#[test]
fn a_form_about_a_task_that_was_changed_is_refused() {
    let (vault, _served, visitor) = Served::over(with_tasks(
        "//- now: 2026-12-01T08:00:00Z\n//- /Home.md\n- [ ] Water 🔁 every day 📅 2026-12-01\n- [ ] Call 📅 2026-12-03\n",
    ));
    let (water, snooze) = (visitor.form(WEEK, "done", "Water"), visitor.form(WEEK, "snooze", "Call"));
    // The same form out of two windows ticks one day.
    visitor.submit(&water).is(303);
    let again = visitor.submit(&water.with("form", "aaaaaaaaaaaaaaaaaaaaaa")).is(409).text();
    contains_all(again, &["changed meanwhile", "2026-12-02"]);
    assert_eq!(vault.read("Home.md").matches("[x]").count(), 1);
    // A date that was changed in the note isn't overwritten.
    vault.write("Home.md", "- [ ] Call 📅 2026-12-20\n");
    contains_all(visitor.submit(&snooze.with("when", "2026-12-05 10:00")).is(409).text(), &["2026-12-20"]);
    assert_eq!(vault.read("Home.md"), "- [ ] Call 📅 2026-12-20\n");
}

/// A note that can't be written now, or at all, is left alone: that is said with what to do, what was typed stays, and the same
/// form may be sent again.
#[test]
fn a_note_that_is_locked_is_told_and_nothing_is_lost() {
    let (sample, _served, visitor) = Sample::still().visited();
    let before = sample.vault.tree();
    let form = visitor.form("/memory", "add", "").with("text", "the key hangs in the hall");
    let note = sample.vault.path("MEMORY.md");
    let held = fs::OpenOptions::new().append(true).open(&note).unwrap();
    let refused = visitor.submit(&form).is(409).text();
    assert!(refused.contains("was open in another program") && refused.contains("try again"), "{refused}");
    assert!(refused.contains("the key hangs in the hall") && sample.vault.tree() == before, "{refused}");
    drop(held);
    set_mode(&note, 0o444);
    let refused = visitor.submit(&form);
    assert!(refused.status >= 400 && refused.text().contains("chmod u+w"), "{}", refused.text());
    assert!(refused.text().contains("the key hangs in the hall") && sample.vault.tree() == before);
    set_mode(&note, 0o644);
    let _ = visitor.submit(&form).is(303);
    assert!(sample.vault.read("MEMORY.md").contains("the key hangs in the hall"));
}

#[test]
fn a_pin_of_a_stale_page_pins_its_own_fact_or_none() {
    let (sample, _served, visitor) = Sample::still().visited();
    let pin = visitor.form("/memory", "pin-line", "is allergic to peanuts");
    let before = sample.vault.read("MEMORY.md");
    let line = before.lines().find(|line| line.contains("is allergic to peanuts")).unwrap();
    sample.vault.write("MEMORY.md", before.replace(line, &format!("- the neighbour's key\n{line}")));
    let _ = visitor.submit(&pin).is(303);
    let pins = sample.vault.read("Pinned.md");
    assert!(pins.contains("is allergic to peanuts") && !pins.contains("neighbour"), "{pins}");
    sample.vault.write("MEMORY.md", before.replace("is allergic to peanuts", "eats peanuts"));
    let _ = visitor.submit(&pin.with("form", "aaaaaaaaaaaaaaaaaaaaaa")).is(409);
    assert_eq!(sample.vault.read("Pinned.md"), pins);
}

#[test]
fn of_two_facts_with_the_same_words_a_form_is_about_that_of_its_section() {
    let (vault, _served, visitor) =
        Served::over(listening("//- /MEMORY.md\n# M\n## A\n- uses vim\n## B\n- uses vim\n"));
    let [edit, forget] = ["edit", "forget"].map(|action| {
        let is_it = |form: &Form| form.get("do") == Some(action) && form.get("section") == Some("B");
        visitor.forms("/memory").into_iter().find(is_it).unwrap()
    });
    vault.write("MEMORY.md", "# M\n\n\n## A\n- uses vim\n## B\n- uses vim\n");
    let _ = visitor.submit(&edit.with("text", "uses emacs")).is(303);
    let changed = "# M\n\n\n## A\n- uses vim\n## B\n- uses emacs\n";
    assert_eq!(vault.read("MEMORY.md"), changed);
    let _ = visitor.submit(&forget).is(409);
    assert_eq!(vault.read("MEMORY.md"), changed);
}

#[test]
fn a_question_that_was_reworded_is_not_decided_by_a_stale_page() {
    let (sample, _served, visitor) = Sample::still().visited();
    let inbox = sample.vault.read("Inbox.md");
    sample.vault.write("Inbox.md", inbox.replace("I live in Graz", "I live in Linz"));
    let reworded = sample.vault.read("Inbox.md");
    assert_ne!(reworded, inbox);
    let forms = ["keep", "drop", "edit"].map(|name| visitor.form("/inbox", name, "I live in Linz"));
    sample.vault.write("Inbox.md", reworded.replace("I live in Linz", "I live in Wien"));
    let before = sample.vault.read("Inbox.md");
    forms
        .into_iter()
        .for_each(|form| assert!(visitor.submit(&form).is(409).text().contains("I live in Wien")));
    assert_eq!(sample.vault.read("Inbox.md"), before);
}

/// Where the clocks leave an hour out, an entry is shown at its real time, and its forms are about the written one.
#[test]
fn a_time_that_the_clocks_leave_out_is_skipped_and_moved() {
    let reminder =
        |id: &str| format!("- [ ] date=2027-03-28 time=01:59 recur=daily msg=\"{id}\" id=rid_{id}\n");
    let (first, second) = (reminder("AAAAAAAAAAAA"), reminder("BBBBBBBBBBBB"));
    let (vault, _served, visitor) = Served::over(with_tasks(&format!(
        "//- now: 2027-03-27T08:00:00Z\n//- /Home.md\n- [ ] rep 🔁 every day ⏰ 2027-03-28 01:15\n//- /Reminders.md\n{first}{second}"
    )));
    const DAY: &str = "/calendar?week=2027-03-28";
    visitor.submit(&visitor.form(DAY, "skip", "rid_AAAAAAAAAAAA")).is(303);
    let moved = visitor.form(DAY, "move", "rid_BBBBBBBBBBBB").with("when", "2027-03-28 12:00");
    visitor.submit(&moved).is(303);
    visitor.submit(&visitor.form(DAY, "skip", "rep")).is(303);
    let notes = vault.read("Reminders.md");
    assert_eq!(notes.matches("date=2027-03-29 time=01:59").count(), 2, "{notes}");
    contains_all(notes, &["date=2027-03-28 time=12:00"]);
    contains_all(vault.read("Home.md"), &["2027-03-29 01:15"]);
}

/// Tasks of other plugins and follow-ups are moved, skipped, changed and removed as reminders are.
#[test]
fn tasks_and_follow_ups_are_moved_skipped_changed_and_removed() {
    let (vault, _served, visitor) = Served::over(with_tasks(
        "//- now: 2026-12-01T08:00:00Z\n//- /Home.md\n# Home\n- [ ] Water 🔁 every day 📅 2026-12-02\n- [ ] Call Bob 📅 2026-12-03 ^b\n- [ ] Old 📅 2026-12-04\nend\n//- /COMMITMENTS.md\n---\nid: c-2026-12-01-001\nstatus: pending\ndue: 2026-12-03T17:00:00Z\ncreated: 2026-11-20T14:00:00Z\n---\nAsk Bob\n\nAfter it.\n",
    ));
    let send = |action: &str, holding: &str, fields: &[(&str, &str)]| {
        let form = visitor.form(WEEK, action, holding);
        visitor.submit(&fields.iter().fold(form, |form, (name, value)| form.with(name, value)))
    };
    let home = || vault.read("Home.md");
    let reword = [("message", "Write to Bob"), ("when", "")];
    for (action, holding, fields, written) in [
        ("move", "Call Bob", &[("when", "2026-12-05 09:00")][..], "- [ ] Call Bob 📅 2026-12-05 ^b\n"),
        ("skip", "Water", &[], "- [ ] Water 🔁 every day 📅 2026-12-03\n"),
        ("edit", "Call Bob", &reword, "- [ ] Write to Bob 📅 2026-12-05 ^b\n"),
    ] {
        send(action, holding, fields).is(303);
        contains_all(home(), &[written]);
    }
    send("remove", "Old", &[]).is(303);
    assert_eq!(home().lines().count(), 4, "{}", home());
    // What its plugin would read otherwise is refused, and what was typed stays.
    let before = home();
    let refused = send("edit", "Write to Bob", &[("message", "Write 📅 2027-01-01")]).is(409).text();
    assert!(refused.contains("Write 📅 2027-01-01") && home() == before, "{refused}");
    let refused = send("edit", "Water", &[("message", "Water"), ("when", "every friday 9:00")]).is(400);
    contains_all(refused.text(), &["in its note"]);
    // A follow-up: its own words and its own time, and no other byte.
    let promised = || vault.read("COMMITMENTS.md");
    let late = ["edit", "done", "cancel", "snooze", "move"]
        .map(|action| visitor.form(WEEK, action, "c-2026-12-01-001"));
    send("edit", "c-2026-12-01-001", &[("message", "Ask Bob again"), ("when", "2026-12-04 10:00")]).is(303);
    let end = "due: 2026-12-04T10:00:00Z\ncreated: 2026-11-20T14:00:00Z\n---\nAsk Bob again\n";
    assert!(promised().ends_with(end), "{}", promised());
    for form in late {
        let form = form.with("message", "Other").with("when", "2026-12-04 12:00");
        contains_all(visitor.submit(&form).is(409).text(), &["Ask Bob again"]);
        assert!(promised().ends_with(end) && promised().contains("pending"), "{}", promised());
    }
    for (action, hour) in [("move", "11"), ("snooze", "12")] {
        send(action, "c-2026-12-01-001", &[("when", &format!("2026-12-05 {hour}:00"))]).is(303);
        contains_all(promised(), &[&format!("due: 2026-12-05T{hour}:00:00Z")]);
    }
    visitor.submit(&visitor.form(WEEK, "done", "c-2026-12-01-001")).is(303);
    contains_all(promised(), &["status: delivered"]);
    // Each of them is an operation that can be undone.
    let removed = visitor.json("/history?q=removed")[0]["id"].as_str().unwrap().to_owned();
    visitor.submit(&visitor.form(&format!("/history/{removed}?plan=undo"), "undo", &removed)).is(303);
    contains_all(home(), &["- [ ] Old 📅 2026-12-04"]);
}

#[test]
fn what_was_refused_stays_on_the_page_while_notes_change() {
    let Some((sample, _served, tab)) = Sample::still().in_browser() else { return };
    tab.go("/memory");
    tab.press("is allergic to peanuts by person", "");
    let field = "details[open] textarea[name=text]";
    tab.fill(field, "eats no nuts at all");
    let edit = |words: &str| {
        let note = sample.vault.read("MEMORY.md");
        sample.vault.write("MEMORY.md", note.replace("is allergic to peanuts", words));
    };
    edit("is allergic to peanuts and sesame");
    // The line that says so moves the page down: a click before it may miss the button.
    tab.wait_text("#live", "what you typed is kept");
    tab.click("details[open] form:has(textarea) button");
    tab.wait_text("div.refused", "sesame");
    tab.wait_for("eats no nuts at all");
    edit("is allergic to peanuts, walnuts");
    tab.wait_text("#live", "what you typed is kept");
    assert!(tab.main().contains("eats no nuts at all"), "{}", tab.main());
    assert!(sample.vault.read("MEMORY.md").contains("walnuts and sesame"));
}

#[test]
fn a_second_tab_follows_what_the_first_one_does() {
    let Some((sample, _served, tab)) = Sample::still().in_browser() else { return };
    tab.go("/inbox");
    tab.wait_for("green tea");
    let (first, second) = tab.second();
    tab.go("/inbox");
    tab.wait_for("green tea");
    tab.press("Drop", "green tea");
    tab.wait(".said");
    tab.switch(&first);
    let is_gone = |main: &str| !main.is_empty() && !main.contains("green tea");
    tab.wait_until("the entry is gone from the first tab", is_gone);
    tab.switch(&second);
    let inbox = sample.vault.read("Inbox.md");
    assert!(!inbox.split("%%").next().unwrap().contains("green tea"), "{inbox}");
}
