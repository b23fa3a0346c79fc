//! Task lines of other plugins: every vector, and what Done and Snooze change in a line.

use crate::support::prelude::*;
use jiff::{civil::DateTime, tz::TimeZone};
use proptest::prelude::*;
use vault_agent::format::task::{self, Rules, Task, TaskLine, edit};

fn vectors(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar/vectors").join(file);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The rules of a vector: the plugins' own settings where it says nothing else.
fn rules(vector: &Value) -> Rules {
    let mut rules = Rules::default();
    let (kanban, notes) = (&mut rules.kanban, &mut rules.notes);
    for (key, place) in [
        ("filter", &mut rules.filter),
        ("reminder_field", &mut rules.reminder_field),
        ("reminder_date", &mut rules.reminder_date),
        ("reminder_date_time", &mut rules.reminder_date_time),
        ("kanban/date_trigger", &mut kanban.date_trigger),
        ("kanban/time_trigger", &mut kanban.time_trigger),
        ("kanban/date_format", &mut kanban.date_format),
        ("kanban/time_format", &mut kanban.time_format),
        ("names/tag", &mut notes.tag),
        ("names/due", &mut notes.due),
        ("names/status", &mut notes.status),
    ] {
        if let Some(text) = vector.pointer(&format!("/{key}")).and_then(Value::as_str) {
            text.clone_into(place);
        }
    }
    if let [property, value] = vector["property"].as_array().map_or(&[][..], Vec::as_slice) {
        notes.property = Some((property.as_str().unwrap().into(), value.as_str().unwrap().into()));
    }
    if let Some(on) = vector["on"].as_array() {
        rules.on = on.iter().map(|name| serde_json::from_value(name.clone()).unwrap()).collect();
    }
    if let Some(time) = vector["default_time"].as_str() {
        rules.default_time = time.parse().unwrap();
    }
    if let Some(zone) = vector["zone"].as_str() {
        rules.zone = TimeZone::get(zone).unwrap();
    }
    rules
}

fn value(task: &Task) -> Value {
    let at: Vec<String> =
        task.notification_times.iter().map(|t| t.at.strftime("%Y-%m-%dT%H:%M").to_string()).collect();
    let mut value = json!({"format": task.format.name(), "words": task.words, "at": at});
    if let Some(repeat) = &task.repeat {
        value["repeat"] = json!(repeat);
    }
    value
}

#[test]
fn every_vector_of_lines_and_notes() {
    for file in ["task-lines.json", "task-notes.json"] {
        for vector in vectors(file) {
            let input = vector["input"].as_str().unwrap();
            let path = vector["path"].as_str().unwrap_or("Notes/Day.md");
            let found = task::scan(path, input.as_bytes(), &rules(&vector));
            let found: Vec<Value> = found.iter().map(|placed| value(&placed.task)).collect();
            let expected: Vec<Value> = vector.get("task").into_iter().cloned().collect();
            assert_eq!(found, expected, "{}: {input}", vector["name"]);
        }
    }
}

#[test]
fn what_is_hidden_is_no_task() {
    let (line, rules) = ("- [ ] a 📅 2026-12-01", Rules::default());
    for text in [
        format!("```\n{line}\n```\n"),
        format!("%%\n{line}\n%%\n"),
        format!("<!--\n{line}\n-->\n"),
        format!("---\nx: |\n  {line}\n---\n"),
    ] {
        assert_eq!(task::scan("a.md", text.as_bytes(), &rules), [], "{text}");
    }
    let text = format!("# x\r\n\r\n{line}  \r\n\u{feff}\n- [ ] b (@2026-12-02)");
    let found = task::scan("a.md", text.as_bytes(), &rules);
    let places = found.iter().map(|placed| (placed.line, placed.text.clone()));
    let expected = [(3, format!("{line}  ").into()), (5, "- [ ] b (@2026-12-02)".into())];
    assert_eq!(places.collect::<Vec<_>>(), expected);
}

fn at(text: &str) -> DateTime {
    text.parse().unwrap()
}

#[test]
fn snooze_writes_the_reminder_where_every_plugin_still_reads_the_rest() {
    let rules = Rules::default();
    for (line, snoozed) in [
        ("Pay 🔁 every month 📅 2026-12-01 ^b", "Pay ⏰ 2026-12-01 10:30 🔁 every month 📅 2026-12-01 ^b"),
        ("Pay #x 📅2026-12-01 #y  ", "Pay #x ⏰ 2026-12-01 10:30 📅2026-12-01 #y  "),
        ("Pay ⏰ 2026-12-01 09:30 📅 2026-12-02", "Pay ⏰ 2026-12-01 10:30 📅 2026-12-02"),
        ("Pay [due:: 2026-12-01]", "Pay [reminder:: 2026-12-01T10:30]  [due:: 2026-12-01]"),
        (
            "Pay (reminder:: 2026-11-01) [due:: 2026-12-01]",
            "Pay (reminder:: 2026-12-01T10:30) [due:: 2026-12-01]",
        ),
        ("Call (@2026-11-01) Bob", "Call (@2026-12-01 10:30) Bob"),
        ("Call (@[[2026-11-01]] 09:00)", "Call (@[[2026-12-01]] 10:30)"),
        ("Call (@2026-07-13 09:00 🔁every monday)", "Call (@2026-12-01 10:30 🔁every monday)"),
        ("Call @remind(2026-11-01)", "Call @remind(2026-12-01 10:30)"),
        ("Call @remind(2026-11-01) @repeat(weekly)", "Call @remind(2026-12-01 10:30) @repeat(weekly)"),
        // A mark that moved would take its earlier times along.
        (
            "Call @remind(2026-11-01) @before(5m)",
            "Call @remind(2026-11-01) @snooze(2026-12-01 10:30) @before(5m)",
        ),
        (
            "Call @remind(2026-12-01 11:00) @Snooze( 2026-12-01 10:00 ) @before(5m)",
            "Call @remind(2026-12-01 11:00) @Snooze( 2026-12-01 10:30 ) @before(5m)",
        ),
        ("Card @{2026-11-01} @@{20:26}", "Card @{2026-12-01} @@{10:30}"),
        ("Card @{2026-11-01} x", "Card @{2026-12-01} @@{10:30} x"),
        ("Card @[[2026-11-01]]", "Card @[[2026-12-01]] @@{10:30}"),
    ] {
        let (line, snoozed) = (format!("- [ ] {line}"), format!("- [ ] {snoozed}"));
        let read = TaskLine::read(&line, &rules).unwrap();
        let format = read.task(&rules).unwrap().format;
        let written = edit::snoozed(&read, format, &rules, at("2026-12-01T10:30")).unwrap();
        assert_eq!(written, snoozed);
        let task = task::read_line(&written, &rules).unwrap();
        assert!(task.notification_times.iter().any(|time| time.at == at("2026-12-01T10:30")), "{written}");
        assert_eq!(task.words, task::read_line(&line, &rules).unwrap().words);
    }
}

proptest! {
    /// Whatever stands in a line, nothing panics, and an edit leaves the line a line.
    #[test]
    fn any_line_can_be_read(text in "(- \\[ \\] |)(.{0,20}(📅|⏰|🔁|⏳|\\[due:: |\\(@|@\\{|@remind\\(|@@\\{|2026-12-01|\\)|\\]|\\}| |#a|\\^b|10:30)){0,8}") {
        let rules = Rules::default();
        if let Some(line) = TaskLine::read(&text, &rules)
            && let Some(format) = line.task(&rules).map(|task| task.format)
        {
            let words = line.words();
            let ticked = edit::ticked(&line, format, Some("2026-12-01".parse().unwrap()));
            prop_assert!(task::read_line(&ticked, &rules).is_none());
            if let Some(snoozed) = edit::snoozed(&line, format, &rules, at("2027-01-02T10:30")) {
                let again = TaskLine::read(&snoozed, &rules).unwrap();
                prop_assert!(again.notification_field(format).is_some(), "{} -> {}", text, snoozed);
                prop_assert_eq!(again.words(), words);
            }
        }
    }
}
