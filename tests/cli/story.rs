//! Whole days of a person and the agent, over several commands.

use crate::support::TestVault;

#[test]
fn a_note_that_a_person_made_short_is_still_rewritten_by_tick() {
    let long = "- [ ] date=2027-01-01 time=09:00 recur=none msg=\"later\"\n".repeat(20);
    let vault = TestVault::new(&format!("//- /Reminders.md\n{long}"));
    let _ = vault.run(&["tick"]).ok();
    vault.write("Reminders.md", "- [ ] date=2026-12-01 time=09:00 recur=none msg=\"now\"\n");
    let report = vault.json(&["tick"]);
    assert_eq!(report["fired"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(vault.read("Reminders.md"), "");
}

#[test]
fn a_reminder_that_fires_before_it_has_an_id_passes_the_audit() {
    let vault = TestVault::new(
        "//- /Reminders.md\n- [ ] date=2026-12-01 time=09:00 recur=none msg=\"a\"\n\
         - [ ] date=2026-12-01 time=09:00 recur=daily msg=\"b\"\n",
    );
    let _ = vault.run(&["tick"]).ok();
    let audit = vault.run(&["audit"]);
    audit.exits(0);
    let _ = vault.run(&["undo"]).ok();
    assert_eq!(vault.run(&["audit"]).code, 0);
    let again = vault.json(&["tick"]);
    assert_eq!(again["fired"], serde_json::json!([]), "undone, but never told twice: {again}");
}
