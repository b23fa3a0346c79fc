//! Changes by forms, as a client without scripts sends them.

use crate::sample::Sample;
use crate::served::{Served, listening};

#[test]
fn a_plan_fetched_anew_holds_the_same_form() {
    let vault = listening("//- /Reminders.md\n# Reminders\n");
    let (_served, visitor) = Served::visited(&vault);
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
    let page = served.visitor().get("/notes/Out.md").is(403).text();
    assert!(page.contains("leads out of the vault"), "{page}");
}

#[test]
fn a_routine_runs_at_once_and_a_pause_is_resumed_at_once() {
    let sample = Sample::still();
    sample.server.script(vec![crate::models::Reply::text("Nothing today.")]);
    let (_served, visitor) = sample.visited();
    visitor.submit(&visitor.form("/routines/morning", "run", "morning")).is(303);
    let ran = || visitor.json("/routines/morning")["runs"][0]["answer"] == "Nothing today.";
    let mut looks = 0..1000;
    while !ran() {
        looks.next().expect("the run ends");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let says = || sample.vault.read("vault-agent.toml").lines().any(|line| line.starts_with("paused_until"));
    visitor.submit(&visitor.form("/routines", "pause", "")).is(303);
    assert!(says());
    assert!(visitor.get("/routines").text().contains("until it is resumed"));
    visitor.submit(&visitor.form("/routines", "resume", "")).is(303);
    assert!(!says());
}

#[test]
fn a_follow_up_is_moved_and_done_in_the_calendar() {
    let vault = listening(
        "//- now: 2026-12-01T09:00:00Z\n//- /COMMITMENTS.md\n# Follow-ups\n\n---\nid: c-2026-11-30-001\nstatus: pending\n\
         due: 2026-12-02T10:00:00Z\n---\nAsk Ann\n",
    );
    let (_served, visitor) = Served::visited(&vault);
    let week = "/calendar?week=2026-12-01";
    let form = |what: &str| {
        let forms = visitor.forms(week);
        forms.into_iter().find(|form| form.get("do") == Some(what)).expect("a form")
    };
    visitor.submit(&form("snooze").with("when", "2026-12-03 11:00")).is(303);
    assert!(
        vault.read("COMMITMENTS.md").contains("due: 2026-12-03T11:00:00"),
        "{}",
        vault.read("COMMITMENTS.md")
    );
    visitor.submit(&form("done")).is(303);
    assert!(vault.read("COMMITMENTS.md").contains("status: delivered"), "{}", vault.read("COMMITMENTS.md"));
}
