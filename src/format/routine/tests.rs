//! Tests `routine`.

use super::*;

#[test]
fn a_routine_reads_back() {
    for schedule in [
        "daily 08:00",
        "weekdays 23:59",
        "weekly sun 00:00",
        "monthly 31 12:30",
        "every 15m",
        "every 24h",
        "0 8 * * 1-5",
    ] {
        let note = format!("---\nschedule: {schedule}\nscope: channel:14\nenabled: false\n---\nAsk.\n");
        let (routine, findings) = parse(note.as_bytes());
        assert_eq!((routine.unwrap().schedule.to_string(), findings.len()), (schedule.to_owned(), 0));
    }
    let whole = "---\nschedule: \"*/15 9-17 * * *\"\nscope: thread:7\nenabled: true\nbrain: local\nskills: [a, b c]\nmcp: [x]\n\
                     budget: 20000\nonly_if: [due, \"search: tea, green\"]\nquiet: true\ndeliver: note\nnote: Notes/Review.md\n---\nAsk.\n";
    let (routine, findings) = parse(whole.as_bytes());
    let routine = routine.unwrap();
    assert_eq!(findings, []);
    assert_eq!(routine.schedule.to_string(), "*/15 9-17 * * *");
    assert_eq!((routine.scope.as_deref(), routine.enabled), (Some("thread:7"), true));
    assert_eq!(
        (routine.brain.as_deref(), routine.budget, routine.quiet),
        (Some("local"), Some(20_000), true)
    );
    assert_eq!((routine.skills, routine.mcp), (vec!["a".to_owned(), "b c".to_owned()], vec!["x".to_owned()]));
    assert_eq!((routine.deliver, routine.note.as_deref()), (AnswerDelivery::Note, Some("Notes/Review.md")));
    assert_eq!(routine.prompt, "Ask.");
    assert_eq!(routine.only_if, [Condition::Due, Condition::Search("tea, green".into())]);
    assert!(parse(b"no head").0.is_none() && parse(b"---\ntags: x\n---\n").0.is_none());
}

#[test]
fn a_missing_enabled_is_false() {
    assert!(!parse(b"---\nschedule: daily 08:00\n---\nAsk").0.unwrap().enabled);
    assert!(parse(b"---\nschedule: daily 08:00\nenabled: true\n---\nAsk").0.unwrap().enabled);
}

#[test]
fn a_head_in_quotes_runs_and_one_that_can_not_be_read_is_named() {
    let quoted = parse(b"---\n\"schedule\": daily 08:00\n'enabled': true\n---\nAsk");
    assert!(quoted.0.unwrap().enabled && quoted.1.is_empty());
    let note = "---\nschedule: daily 08:00\nenabled: true\n---\nAsk";
    let utf16: Vec<u8> = note.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cr = note.replace('\n', "\r");
    for (bytes, reason) in [
        (utf16.as_slice(), "UTF-16"),
        (cr.as_bytes(), "CR alone"),
        (b"---\nenabled: true\n---\nAsk", "no `schedule`"),
    ] {
        let (routine, findings) = parse(bytes);
        assert!(routine.is_none() && findings[0].reason.contains(reason), "{findings:?}");
    }
}

#[test]
fn lists_are_read_as_obsidian_writes_them() {
    let note = "---\nschedule: daily 08:00\nskills:\n  - a\n  - \"b: c\"\nonly_if: search: green tea\nmcp: []\ntags:\n  - x\n---\n";
    let (routine, findings) = parse(note.as_bytes());
    let routine = routine.unwrap();
    assert_eq!((routine.skills, findings), (vec!["a".to_owned(), "b: c".to_owned()], vec![]));
    assert_eq!(routine.only_if, [Condition::Search("green tea".into())]);
    assert!(routine.mcp.is_empty());
}

#[test]
fn a_condition_is_a_word_of_ours_or_a_search() {
    // The text, whether it runs, its conditions, and the advice of `check`.
    for (value, runs, conditions, advice) in [
        ("search: green tea", true, vec!["search: green tea"], ""),
        ("\"search: due\"", true, vec!["search: due"], ""),
        ("[due, \"search: tea, green\"]", true, vec!["due", "search: tea, green"], ""),
        (
            "green tea",
            true,
            vec!["search: green tea"],
            "write `\"search: green tea\"`; the other conditions are `due`",
        ),
        ("due_", false, vec![], "did you mean `due`?"),
        ("Due", false, vec![], "did you mean `due`?"),
        ("[memory, tommorow]", false, vec!["memory"], "did you mean `tomorrow`?"),
        ("search:", false, vec![], "write `only_if: \"search: green tea\"`"),
    ] {
        let note = format!("---\nschedule: daily 08:00\nenabled: true\nonly_if: {value}\n---\nAsk.\n");
        let (routine, findings) = parse(note.as_bytes());
        let routine = routine.unwrap();
        let read: Vec<String> = routine.only_if.iter().map(ToString::to_string).collect();
        assert_eq!(
            (routine.enabled, read),
            (runs, conditions.iter().map(ToString::to_string).collect()),
            "{value}"
        );
        let said = findings.iter().map(|it| it.suggestion.as_str()).collect::<Vec<_>>().join(" / ");
        assert!(said.starts_with(advice) && said.is_empty() == advice.is_empty(), "{value}: {said}");
    }
    let block = "---\nschedule: daily 08:00\nonly_if:\n  - search: green tea\n  - due\n---\n";
    let (routine, findings) = parse(block.as_bytes());
    assert_eq!(findings, []);
    assert_eq!(routine.unwrap().only_if, [Condition::Search("green tea".into()), Condition::Due]);
}

#[test]
fn what_is_not_understood_is_shown_and_keeps_it_from_running() {
    let note = "---\nschedule: daily 08:00\nenabled: true\nbudgett: 100\nOnly-If: due\nscope: general\ndeliver: mail\nbudget: much\n\
                    quiet: maybe\nbrain: a\nbrain: b\ntags: x\nnotes: y\n---\n";
    let (routine, findings) = parse(note.as_bytes());
    assert!(!routine.unwrap().enabled);
    let shown: Vec<_> =
        findings.iter().map(|f| format!("{}:{} {}; {}", f.line, f.column, f.reason, f.suggestion)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
        4:1 `budgett` is no key of a routine; did you mean `budget`?
        5:1 `Only-If` is no key of a routine; did you mean `only_if`?
        6:8 `general` is no place; write `channel:ID`, `thread:ID` or `user:ID` with the number that Discord shows, or `console`
        7:10 `mail` is none of `channel`, `thread`, `note`, `none`; write `deliver: channel`
        8:9 `much` is no number of tokens; write `budget: 20000`
        9:8 `maybe` is neither `true` nor `false`; write `quiet: true`
        11:1 `brain` stands here twice; delete one of them
        ");
}

#[test]
fn a_wrong_schedule_is_shown() {
    let (routine, findings) = parse(b"---\nschedule: hourly\nenabled: maybe\n---\n");
    assert!(routine.is_none());
    let shown: Vec<_> = findings.iter().map(|f| (f.line, f.column, f.reason.as_str())).collect();
    assert_eq!(
        shown,
        [(2, 11, "`hourly` is not a schedule"), (3, 10, "`maybe` is neither `true` nor `false`")]
    );
    for text in [
        "daily 24:00",
        "daily 8:00",
        "weekly 08:00",
        "monthly 32 08:00",
        "daily +1:00",
        "monthly é 08:00",
        "every 0m",
        "every 25h",
        "every 15",
        "every m",
        "every é",
        "60 8 * * *",
    ] {
        assert!(text.parse::<RoutineSchedule>().is_err(), "{text}");
    }
}

#[test]
fn enabling_changes_that_value_alone() {
    let change = |note: &str, to| with_enabled(note.as_bytes(), to).map(|it| String::from_utf8(it).unwrap());
    let note = "---\r\nschedule: daily 08:00\r\nenabled: false # not yet\r\n---\r\nenabled: false\r\n";
    assert_eq!(
        change(note, true).unwrap(),
        "---\r\nschedule: daily 08:00\r\nenabled: true # not yet\r\n---\r\nenabled: false\r\n"
    );
    assert_eq!(
        change("---\nschedule: daily 08:00\n---\nx", true).unwrap(),
        "---\nschedule: daily 08:00\nenabled: true\n---\nx"
    );
    assert_eq!(change("---\nenabled: true\n---\n", true).unwrap(), "---\nenabled: true\n---\n");
    assert_eq!(change("x", true), None);
}
