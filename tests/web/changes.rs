//! Changes by forms, as a client without scripts sends them.

use crate::forms::forms;
use crate::sample::*;

#[test]
fn a_plan_fetched_anew_holds_the_same_form() {
    let (vault, _served, visitor) = Served::over(listening("//- /Reminders.md\n# Reminders\n"));
    let page = visitor.get("/").is(200).text();
    let id = page.split("name=\"form\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let plan = format!("/?write=tomorrow+9am%3A+Call+Mum&form={id}");
    for _ in 0..2 {
        // As Back does it: the page comes anew, and its form is sent again.
        visitor.submit(&visitor.form(&plan, "add", "Call Mum")).is(303);
    }
    assert_eq!(vault.read("Reminders.md").matches("Call Mum").count(), 1);
}

#[test]
fn a_note_behind_a_link_that_leads_out_is_refused_in_a_sentence() {
    let vault = listening("//- /Reminders.md\n# Reminders\n");
    std::os::unix::fs::symlink("/etc/hostname", vault.path("Out.md")).unwrap();
    let served = Served::start(&vault);
    contains_all(served.visitor().get("/notes/Out.md").is(403).text(), &["leads out of the vault"]);
}

#[test]
fn a_routine_runs_at_once_and_a_pause_is_resumed_at_once() {
    let sample = Sample::still();
    sample.server.script(vec![Reply::text("Nothing today.")]);
    let (sample, _served, visitor) = sample.visited();
    visitor.submit(&visitor.form("/routines/morning", "run", "morning")).is(303);
    let ran = || visitor.json("/routines/morning")["runs"][0]["answer"] == "Nothing today.";
    until("the run ends", ran);
    visitor.submit(&visitor.form("/routines", "enable", "morning")).is(303);
    contains_all(sample.vault.read("routines/morning.md"), &["enabled: true"]);
    let settings = || sample.vault.read("vault-agent.toml");
    let says = || settings().lines().any(|line| line == "paused_until = \"resumed\"");
    visitor.submit(&visitor.form("/routines", "pause", "")).is(303);
    assert!(says());
    assert!(visitor.get("/routines").text().contains("until it is resumed"));
    visitor.submit(&visitor.form("/routines", "resume", "")).is(303);
    assert!(!says() && settings().contains("#paused_until = \"resumed\""), "{}", settings());
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
    assert_eq!(std::fs::read(vault.path("MEMORY.md")).unwrap(), odd);
}

#[test]
fn a_refusal_stays_while_notes_change() {
    let Some((sample, served, tab)) = Sample::new().in_browser() else { return };
    let id = served.visitor_of(&tab).json("/history")[0]["id"].as_str().unwrap().to_owned();
    tab.go(&format!("/history/{id}?plan=undo"));
    tab.eval("(document.querySelector('main form input[name=id]').value = 'none', true)");
    tab.press("Take it back", "");
    tab.wait("div.refused");
    sample.vault.write("New.md", "new\n");
    tab.wait_text("#live", "Something changed meanwhile");
    assert_eq!(tab.count("div.refused"), 1, "{}", tab.main());
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
