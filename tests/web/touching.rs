//! Each place as a person uses it: what is pressed, and what stands in the notes afterwards.

use crate::sample::Sample;

const WEEK: &str = "/calendar?week=2026-12-01";

#[test]
fn the_calendar_is_done_skipped_moved_snoozed_changed_and_cleared() {
    let sample = Sample::still();
    let served = sample.serve();
    let visitor = served.visitor();
    let notes = || sample.vault.read("Reminders.md");
    let send = |action: &str, holding: &str, name: &str, value: &str| {
        let form = visitor.form(WEEK, action, holding);
        let form = if name.is_empty() { form } else { form.with(name, value) };
        visitor.submit(&form)
    };
    let _ = send("move", "rid_CCCCCCCCCCCC", "when", "2026-12-04 15:30").is(303);
    assert!(
        notes().contains("date=2026-12-04 time=15:30 recur=none msg=\"Call Anna about the flat\""),
        "{}",
        notes()
    );
    let _ = send("edit", "rid_CCCCCCCCCCCC", "message", "Call Anna").is(303);
    assert!(notes().contains("msg=\"Call Anna\""), "{}", notes());
    let _ = send("skip", "rid_BBBBBBBBBBBB", "", "").is(303);
    assert!(notes().contains("date=2026-12-09 time=08:30 recur=weekly msg=\"Bins out\""), "{}", notes());
    let _ = send("snooze", "rid_AAAAAAAAAAAA", "when", "2026-12-01 18:00").is(303);
    assert!(notes().contains("18:00"), "{}", notes());
    let before = notes();
    let refused = send("move", "rid_CCCCCCCCCCCC", "when", "the day after never").is(400).text();
    assert!(refused.contains("the day after never"), "what was typed stays: {refused}");
    assert_eq!(notes(), before);
    let _ = send("done", "rid_CCCCCCCCCCCC", "", "").is(303);
    assert!(!notes().contains("Call Anna"), "{}", notes());
    let _ = send("remove", "rid_DDDDDDDDDDDD", "", "").is(303);
    assert!(!notes().contains("Pay the rent"), "{}", notes());
}

#[test]
fn an_inbox_entry_is_kept_and_another_dropped() {
    let sample = Sample::still();
    let served = sample.serve();
    let visitor = served.visitor();
    let id = |words: &str| {
        let all = visitor.json("/inbox");
        let one =
            all.as_array().unwrap().iter().find(|one| one["text"].as_str().unwrap().contains(words)).cloned();
        one.unwrap_or_else(|| panic!("{words}: {all}"))["id"].as_str().unwrap().to_owned()
    };
    let (tea, graz) = (id("green tea"), id("Graz"));
    let _ = visitor.submit(&visitor.form("/inbox", "keep", &graz)).is(303);
    assert!(sample.vault.read("MEMORY.md").contains("I live in Graz"));
    let _ = visitor.submit(&visitor.form("/inbox", "drop", &tea)).is(303);
    let inbox = sample.vault.read("Inbox.md");
    assert!(!inbox.split("%%").next().unwrap().contains("green tea"), "{inbox}");
}
