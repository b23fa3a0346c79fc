//! `agenda`, `remind skip` and `remind move`: all that comes on some days, and one time of it changed alone.

use crate::support::prelude::*;

const NOTES: &str = r#"
//- now: 2026-12-01T08:00:00Z
//- /Reminders.md
- [ ] date=2026-12-02 time=09:30 recur=weekly msg="Bins" id=rid_AAAAAAAAAAAA
- [ ] date=2026-12-01 time=09:00 recur=none msg="Pay rent" id=rid_BBBBBBBBBBBB
- [ ] date=2026-12-31 time=10:00 recur=monthly msg="Report" id=rid_CCCCCCCCCCCC
"#;

/// `2026-12-02 09:30 Bins coming`, in order.
fn shown(json: &serde_json::Value) -> Vec<String> {
    let line =
        |entry: &Value| ["date", "time", "msg", "state"].map(|key| entry[key].as_str().unwrap()).join(" ");
    json["entries"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn a_month_has_every_time_of_what_repeats() {
    let vault = TestVault::new(NOTES);
    let month = vault.json(&["agenda", "--month", "2027-01"]);
    assert_eq!(pick(&month, "from to"), json!(["2027-01-01", "2027-01-31"]));
    let bins = ["06", "13", "20", "27"].map(|day| format!("2027-01-{day} 09:30 Bins coming"));
    assert_eq!(shown(&month), [&bins[..], &["2027-01-31 10:00 Report coming".to_owned()]].concat());
    let week = vault.run(&["agenda", "--week", "2026-12-01"]).ok().stdout;
    assert_eq!(week, "Tue 1 Dec 2026\n  09:00  Pay rent\nWed 2 Dec 2026\n  09:30  Bins (weekly)\n");
    assert_eq!(["--month=2026-13", "--week=soon"].map(|days| vault.run(&["agenda", days]).code), [2, 2]);
}

#[test]
fn what_is_past_says_when_and_by_which_way_it_was_told() {
    let vault = TestVault::new(NOTES);
    vault.set_now("2026-12-01T09:10:00Z");
    let late = vault.json(&["agenda", "--days", "1"]);
    assert_eq!(shown(&late), ["2026-12-01 09:00 Pay rent late"]);
    drop(vault.run(&["tick"]).ok());
    let told = vault.json(&["agenda", "--days", "1"]);
    assert_eq!(shown(&told), ["2026-12-01 09:00 Pay rent told"]);
    let how = &told["entries"][0]["told"];
    assert_eq!(pick(how, "by missed"), json!([["console"], 0]));
    assert!(how["at"].as_str().unwrap().starts_with("2026-12-01T09:10:"), "{how}");
    // Gone from the note, and still there tomorrow.
    vault.set_now("2026-12-04T08:00:00Z");
    let asked = "---\nid: a\nstatus: pending\ndue: 2026-12-01T09:30:00Z\n---\nAsk\nKyle\n";
    vault.write("COMMITMENTS.md", asked);
    drop(vault.run(&["tick"]).ok());
    let text = vault.run(&["agenda", "--from", "2026-12-01", "--days", "1"]).ok().stdout;
    let asked = "09:30  Ask Kyle  follow-up  told by console, 2 days late";
    assert_eq!(text, format!("Tue 1 Dec 2026\n  09:00  Pay rent  told by console, 10 min late\n  {asked}\n"));
}

/// Repeats of other plugins' tasks: none comes before the one before it is done.
#[test]
fn tasks_of_other_plugins_come_again_if_they_are_done() {
    let vault = TestVault::new(
        r#"
//- now: 2026-12-01T08:00:00Z
//- /vault-agent.toml
[reminders]
also = ["tasks", "reminder", "tasknotes"]
default_time = "09:00"
//- /Air.md
---
tags: [task]
scheduled: 2026-12-10
recurrence: FREQ=WEEKLY
recurrence_anchor: completion
reminders:
  - id: a
    type: relative
    relatedTo: scheduled
    offset: -PT15M
---
//- /Home.md
- [ ] Water the ferns 🔁 every week 📅 2026-12-02
- [ ] Filter 🔁 every 10 days when done 📅 2026-12-20
- [ ] Rent (@2026-12-01 18:00)
"#,
    );
    let days = vault.json(&["agenda", "--days", "21"]);
    let expected = [
        "2026-12-01 18:00 Rent coming",
        "2026-12-02 09:00 Water the ferns coming",
        "2026-12-09 09:00 Water the ferns if-done",
        "2026-12-09 23:45 Air coming",
        "2026-12-16 09:00 Water the ferns if-done",
        "2026-12-16 23:45 Air if-done",
        "2026-12-20 09:00 Filter coming",
    ];
    assert_eq!(shown(&days), expected);
    assert_eq!(pick(&days, "entries/2/id entries/2/recur"), json!([null, "every week"]));
    vault.run(&["agenda", "--week", "2027-01-04"]).ok().says("Water the ferns (every week)  task  if done");
    // A notification on the day before moves no day.
    let _ = vault.run(&["remind", "skip", "Air"]).ok();
    contains_all(vault.read("Air.md"), &["scheduled: 2026-12-17\n", "  - 2026-12-10\n"]);
    // Far ahead they aren't worked out, and nothing hangs.
    assert!(shown(&vault.json(&["agenda", "--month", "2031-01"])).is_empty());
}

#[test]
fn copies_are_listed_once_as_they_are_told_once() {
    let vault = TestVault::new("//- now: 2026-12-01T08:00:00Z\n");
    vault.write("vault-agent.toml", "[reminders]\nalso = [\"tasks\"]\n");
    let bins = "- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Bins\" id=rid_AAAAAAAAAAAA\n";
    let order = "- [ ] date=2026-12-03 time=10:00 recur=none msg=\"Order\"\n";
    let same = "- [ ] time=10:00  date=2026-12-03 recur=none msg=\"Order\"\n";
    vault.write("Reminders.md", [bins, bins, order, same].concat());
    vault.write("Home.md", "- [ ] Ferns 🔁 every week 📅 2026-12-02\n".repeat(2));
    let days = shown(&vault.json(&["agenda", "--days", "10"]));
    assert_eq!(days.len(), 4, "{days:?}");
    for command in ["list", "preview"] {
        assert_eq!(vault.json(&["remind", command]).as_array().unwrap().len(), 2, "{command}");
    }
    let calendar = vault.run(&["export", "--format", "ics"]).ok().stdout;
    assert_eq!(calendar.matches("BEGIN:VEVENT").count(), 2, "{calendar}");
}

#[test]
fn one_time_is_moved_or_left_out_and_the_others_stay() {
    let vault = TestVault::new(NOTES);
    let moved = vault.run(&["remind", "move", "Bins", "2026-12-04"]).ok();
    moved.says("date=2026-12-04 time=09:30 recur=none msg=\"Bins\"");
    let note = vault.read("Reminders.md");
    contains_all(&note, &["date=2026-12-09 time=09:30 recur=weekly msg=\"Bins\" id=rid_AAAAAAAAAAAA"]);
    assert_eq!(note.lines().count(), 4);
    // What comes once is moved itself, with a time of its own.
    drop(vault.run(&["remind", "move", "Pay rent", "thursday 17:00"]).ok());
    let rent = "date=2026-12-03 time=17:00 recur=none msg=\"Pay rent\" id=rid_BBBBBBBBBBBB";
    contains_all(vault.read("Reminders.md"), &[rent]);
    // The next of a month's last days.
    drop(vault.run(&["remind", "move", "Report", "2027-01-02"]).ok());
    assert!(vault.read("Reminders.md").contains("date=2027-01-31 time=10:00 recur=monthly msg=\"Report\""));
    // A day on which its time has passed is no other time.
    vault.set_now("2026-12-01T10:05:00Z");
    vault.run(&["remind", "move", "rid_CCCCCCCCCCCC", "2026-12-01"]).exits(2).warns("is in the past");
    // One edit, one undo.
    drop(vault.run(&["undo", "3"]).ok());
    assert_eq!(vault.read("Reminders.md"), TestVault::new(NOTES).read("Reminders.md"));
    // One that is left out.
    drop(vault.run(&["remind", "skip", "Bins"]).ok());
    contains_all(vault.read("Reminders.md"), &["date=2026-12-09 time=09:30 recur=weekly msg=\"Bins\""]);
    vault.run(&["remind", "skip", "Pay rent"]).exits(2).warns("`Pay rent` is a one-off reminder");
}

#[test]
fn a_follow_up_is_moved_by_its_id() {
    let vault = TestVault::new("//- now: 2026-11-28T08:00:00Z\n");
    drop(vault.run(&["commitment", "add", "2026-12-04 9:30", "Call"]).ok());
    let id = "c-2026-11-28-001";
    // A day alone keeps its time.
    for (when, due) in [("2026-12-05", "2026-12-05T09:30:00Z"), ("2026-12-05 11:00", "2026-12-05T11:00:00Z")]
    {
        vault.run(&["remind", "move", id, when]).ok().says(due);
        contains_all(vault.read("COMMITMENTS.md"), &[due]);
    }
}
