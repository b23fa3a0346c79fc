//! Reminder lines: what is one, what is nearly one and why, and the two edits.

use jiff::civil::{date, time};
use proptest::prelude::*;
use vault_agent::format::{
    ReminderId, lines,
    reminder::{self, Parsed, Recur, Reminder},
};

/// `column: reason → suggestion`, or what else the line is.
fn said(line: &str) -> String {
    match reminder::parse_line(line.as_bytes()) {
        Parsed::NearMiss { column, reason, suggestion } => format!("{column}: {reason} → {suggestion}"),
        Parsed::Reminder(reminder) => reminder.to_line(),
        Parsed::Ticked => "ticked".to_owned(),
        Parsed::Other => "other".to_owned(),
    }
}

#[test]
fn the_example_of_the_design_reads_as_it_says() {
    let line =
        br#"- [ ] date=2026-12-01 time=09:30 recur=weekly msg="Call \"Mum\"" id=rid_K5V4M2J7Q2ZP ^abc"#;
    let expected = Reminder {
        date: date(2026, 12, 1),
        time: time(9, 30, 0, 0),
        recur: Recur::Weekly,
        day: None,
        msg: "Call \"Mum\"".to_owned(),
        id: Some("rid_K5V4M2J7Q2ZP".parse().unwrap()),
        block_id: Some("abc".to_owned()),
    };
    assert_eq!(reminder::parse_line(line), Parsed::Reminder(expected.clone()));
    assert_eq!(expected.to_line().as_bytes(), line);
}

#[test]
fn near_misses_say_where_and_what_to_do() {
    let rest = r#"time=09:30 recur=none msg="x""#;
    let with_date = |date: &str| format!("- [ ] date={date} {rest}");
    let cases = [
        (
            with_date("2026-06-31"),
            "12: there is no 31 June 2026: June has 30 days → write `date=2026-06-30`, or another real date",
        ),
        (
            with_date("2026-02-29"),
            "12: there is no 29 February 2026: February has 28 days → write `date=2026-02-28`, or another real date",
        ),
        (
            with_date("0000-01-01"),
            "12: there is no year 0000: years go from 0001 to 9999 → write the year in which it is to come",
        ),
        (
            with_date("2026-13-01"),
            "12: there is no month 13 → month and day are perhaps swapped: `date=2026-01-13`",
        ),
        (with_date("2026-1-5"), "12: `2026-1-5` is not a date as YYYY-MM-DD → write `date=2026-01-05`"),
        (
            with_date("2026-01-05T10:00"),
            "12: `2026-01-05T10:00` is not a date as YYYY-MM-DD → give the time a field of its own: `date=2026-01-05 time=10:00`",
        ),
        (
            r#"- [ ] date=2026-12-01 time=24:00 recur=none msg="x""#.to_owned(),
            "28: `24:00` is not a time of day: the day ends at 23:59 → write `time=00:00` with the date of the next day",
        ),
        (
            r#"- [ ] date=2026-12-01 time=9pm recur=none msg="x""#.to_owned(),
            "28: `9pm` is not a time as HH:MM → write `time=21:00`",
        ),
        (
            r#"- [ ] date=2026-12-01 time=09:30 recur=weekyl msg="x""#.to_owned(),
            "40: `weekyl` is not a recurrence → did you mean `recur=weekly`?",
        ),
        (
            r#"- [ ] dat=2026-12-01 time=09:30 recur=none msg="x""#.to_owned(),
            "7: unknown field `dat` → did you mean `date=`?",
        ),
        (
            r#"- [ ] date=2026-12-01 time=09:30 msg="x""#.to_owned(),
            "41: `recur` is missing → add `recur=none`",
        ),
        (
            "- [ ] date=2026-12-01".to_owned(),
            "22: `time`, `recur` and `msg` are missing → add `time=09:30 recur=none msg=\"…\"`",
        ),
        (
            r#"- [ ] date=2026-12-01 date=2026-12-01 time=09:30 recur=none msg="x""#.to_owned(),
            "23: `date` stands twice → keep one `date=`",
        ),
        (
            r#"- [ ] date=2026-12-01 time=09:30 recur=none msg="""#.to_owned(),
            "49: the message is empty → say what to be reminded of: `msg=\"…\"`",
        ),
        (
            r#"- [ ] date=2026-12-01 time=09:30 recur=none msg="a "b" c""#.to_owned(),
            "53: there is text right after the message's closing quote → write a quote inside the message as `\\\"`, or put a space after the closing quote",
        ),
        (
            r#"- [ ] date=2026-12-01 time=09:30 recur=none msg="é"#.to_owned(),
            "49: the message's quote isn't closed → put `\"` at its end; a quote inside the message is written `\\\"`",
        ),
        (
            r#"- [ ] date=2026-12-01 time=09:30 recur=none msg=“x”"#.to_owned(),
            "49: the message starts with `“` (U+201C) instead of a plain quote → write `\"` before and after the message",
        ),
        (
            "- [ ] msg=\"é\" date=2026-12-01\u{a0}time=09:30 recur=none".to_owned(),
            "30: there is a no-break space (U+00A0) where a space should be → replace it with a plain space",
        ),
        (
            "- [\u{a0}] date=2026-12-01 time=09:30 recur=none msg=\"x\"".to_owned(),
            "4: there is a no-break space (U+00A0) where a space should be → replace it with a plain space",
        ),
        (
            format!("  - [ ] date=2026-12-01 {rest}"),
            "1: a reminder starts in the first column, this line is indented → remove the spaces before it",
        ),
        (
            format!("* [ ] date=2026-12-01 {rest}"),
            "1: a reminder starts with `- `, not with another list marker → start the line with `- [ ] `",
        ),
        (
            format!("- []date=2026-12-01 {rest}"),
            "4: a reminder starts with `- [ ] ` → start the line with `- [ ] `: hyphen, space, `[`, space, `]`, space",
        ),
        (
            format!("- [ ]date=2026-12-01 {rest}"),
            "6: there is no space after `- [ ]` → put a space after the `]`",
        ),
        (
            format!("- date=2026-12-01 {rest}"),
            "3: a reminder starts with `- [ ] ` → start the line with `- [ ] `: hyphen, space, `[`, space, `]`, space",
        ),
        (
            format!("- [ ] date=2026-12-01 {rest} id=rid_K5V4M2J9Q2ZP"),
            "56: `rid_K5V4M2J9Q2ZP` is not an id: `9` isn't one of A-Z and 2-7 → remove the field: vault-agent writes a new id",
        ),
        (
            format!("- [ ] date=2026-12-01 {rest} day=12"),
            "57: `12` can't be the value of `day`: it is 29, 30 or 31 → remove it: only vault-agent writes `day`, and the day comes from `date`",
        ),
        (
            format!("- [ ] date=2026-12-01 {rest} prio=1"),
            "53: unknown field `prio` → the fields are `date`, `time`, `recur`, `msg` and `id`",
        ),
        (
            format!("- [ ] date=2026-12-01 {rest} ^a b"),
            "56: there is text after the block id → a block id (`^name`) stays last: move it to the end of the line",
        ),
        (
            format!("- [ ] date=2026-12-01\t{rest}"),
            "22: there is a tab (U+0009) where a space should be → replace it with a plain space",
        ),
        (
            "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"a\u{7}b\"".to_owned(),
            "51: there is a control character (U+0007) in the message → remove it, or write a space",
        ),
        (
            "- [ ] date = 2026-12-01 time=09:30 recur=none msg=\"a\"".to_owned(),
            "11: there is a space before the `=` of `date` → write `date=` and its value without spaces between",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(said(&line), expected, "{line}");
    }
}

#[test]
fn invalid_utf8_is_reported_in_bytes() {
    let found = reminder::parse_line(b"- [ ] date=2026-12-01 msg=\"\xc3\xa9\xff\"");
    assert!(matches!(found, Parsed::NearMiss { column: 30, .. }), "{found:?}");
}

#[test]
fn plain_tasks_and_notes_are_nobodys_business() {
    for line in [
        "- [ ] buy milk",
        "- [ ] see https://x.y/?date=2026",
        "# date=2026-12-01 time=09:30",
        "",
        "date",
        "- [ ]",
    ] {
        assert_eq!(said(line), "other", "{line}");
    }
    for line in ["- [x] date=2026-12-01 time=09:30", "* [X] done", "  - [-] no"] {
        assert_eq!(said(line), "ticked", "{line}");
    }
}

fn any_reminder() -> impl Strategy<Value = Reminder> {
    (
        (1i16..=9999, 1i8..=12, 1i8..=28, 0i8..24, 0i8..60),
        prop::sample::select(Recur::ALL.to_vec()),
        prop::option::of(29i8..=31),
        "[^\\p{Cc}]{1,12}|[a\"\\\\]{1,8}",
        prop::option::of(any::<[u8; 8]>()),
        prop::option::of("[A-Za-z0-9-]{1,8}"),
    )
        .prop_map(|((y, m, d, hour, minute), recur, day, msg, id, block_id)| Reminder {
            date: date(y, m, d),
            time: time(hour, minute, 0, 0),
            recur,
            day,
            msg,
            id: id.map(ReminderId::from_random),
            block_id,
        })
}

/// A valid line with its fields shuffled and spaced out.
fn any_line() -> impl Strategy<Value = String> {
    (any_reminder(), any::<u64>(), prop::collection::vec(1usize..4, 8), 0usize..3).prop_map(
        |(reminder, seed, gaps, trailing)| {
            let msg = format!("msg=\"{}\"", reminder.msg.replace('\\', "\\\\").replace('"', "\\\""));
            let mut fields = vec![
                format!("date={}", reminder.date),
                format!("time={}", reminder.time.strftime("%H:%M")),
                format!("recur={}", reminder.recur),
                msg,
            ];
            fields.extend(reminder.day.map(|day| format!("day={day}")));
            fields.extend(reminder.id.map(|id| format!("id={id}")));
            let mut seed = seed;
            for i in (1..fields.len()).rev() {
                fields.swap(i, (seed % (i as u64 + 1)) as usize);
                seed /= i as u64 + 1;
            }
            fields.extend(reminder.block_id.map(|id| format!("^{id}")));
            let mut line = "- [ ]".to_owned();
            for (field, gap) in fields.iter().zip(gaps) {
                line += &" ".repeat(gap);
                line += field;
            }
            line + &" ".repeat(trailing)
        },
    )
}

fn read(line: &[u8]) -> Reminder {
    match reminder::parse_line(line) {
        Parsed::Reminder(reminder) => reminder,
        other => panic!("{}: {other:?}", String::from_utf8_lossy(line)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_written_reads_back(reminder in any_reminder()) {
        prop_assert_eq!(read(reminder.to_line().as_bytes()), reminder);
    }

    #[test]
    fn an_id_is_appended_and_nothing_else_changes(line in any_line(), random: [u8; 8]) {
        let before = read(line.as_bytes());
        let id = ReminderId::from_random(random);
        let after = reminder::with_id(line.as_bytes(), &id);
        if before.id.is_some() {
            prop_assert_eq!(after, line.as_bytes());
        } else {
            let added = format!(" id={id}");
            let text = String::from_utf8(after.clone()).unwrap();
            let at = text.rfind(&added).unwrap();
            prop_assert_eq!([&text[..at], &text[at + added.len()..]].concat(), line);
            prop_assert_eq!(read(&after), Reminder { id: Some(id), ..before });
        }
    }

    #[test]
    fn a_schedule_moves_in_place(line in any_line(), new in any_reminder(), keep_time: bool) {
        let before = read(line.as_bytes());
        let time = (!keep_time).then_some(new.time);
        let after = reminder::with_schedule(line.as_bytes(), new.date, time, new.day);
        let expected = Reminder { date: new.date, time: time.unwrap_or(before.time), day: new.day, ..before.clone() };
        prop_assert_eq!(read(&after), expected);
        // Putting the old schedule back gives the old bytes, save the place of a `day` that went and came.
        let back = reminder::with_schedule(&after, before.date, Some(before.time), before.day);
        if before.day.is_none() || new.day.is_some() {
            prop_assert_eq!(String::from_utf8(back).unwrap(), line);
        } else {
            prop_assert_eq!(back.len(), line.len());
        }
    }

    #[test]
    fn a_mutated_line_is_explained(line in any_line(), at: prop::sample::Index, with in "\\PC{0,2}|[ =\"\\\\\\t\u{a0}^:]", cut in 0usize..3) {
        let mut chars: Vec<char> = line.chars().collect();
        let at = at.index(chars.len());
        let end = (at + cut).min(chars.len());
        chars.splice(at..end, with.chars());
        let text: String = chars.into_iter().collect();
        if let Parsed::NearMiss { column, reason, .. } = reminder::parse_line(text.as_bytes()) {
            prop_assert!(column <= text.chars().count() + 1);
            prop_assert!(!reason.contains("isn't a valid reminder"), "{}: {}", text, reason);
        }
    }

    #[test]
    fn any_bytes_parse_and_their_lines_join_up(bytes in prop::collection::vec(
        prop_oneof![any::<u8>(), prop::sample::select(b"\r\n -[]=\"\\%<!->`~^\xef\xbb\xbf".to_vec())], 0..200))
    {
        let mut joined = bytes[..lines::bom_len(&bytes)].to_vec();
        for line in lines(&bytes) {
            joined.extend_from_slice(line.text);
            joined.extend_from_slice(line.terminator);
            let _ = reminder::parse_line(line.text);
        }
        prop_assert_eq!(joined, bytes.clone());
        let _ = reminder::parse(&bytes);
    }
}

#[test]
fn a_file_of_everything() {
    let file = "\u{feff}- [ ] date=2026-12-01 time=09:30 recur=none msg=\"50%% off\"\r\n\
                <!--\n- [ ] date=2026-12-01 time=09:30 recur=none msg=\"hidden\"\n-->\n\
                - [ ] date=2026-12-01 time=09:30 recur=none\n\
                - [ ] date=2026-12-01 time=09:30 recur=none msg=\"last\"";
    let read = reminder::parse(file.as_bytes());
    let found: Vec<_> =
        read.reminders.iter().map(|r| (r.line, r.terminated, r.reminder.msg.as_str())).collect();
    assert_eq!(found, [(1, true, "50%% off"), (6, false, "last")]);
    assert_eq!(read.reminders[0].start, 3);
    assert_eq!(read.near_misses.len(), 1);
    assert_eq!((read.near_misses[0].line, read.near_misses[0].column), (5, 44));
}

#[test]
fn duplicates_are_told_apart() {
    let a = "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"a\" id=rid_AAAAAAAAAAAA\n";
    let b = "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"b\" id=rid_AAAAAAAAAAAA\n";
    let same = reminder::parse([a, a].concat().as_bytes()).duplicates();
    assert_eq!((same[0].identical, same[0].lines.as_slice()), (true, &[1, 2][..]));
    let differ = reminder::parse([a, b].concat().as_bytes()).duplicates();
    assert!(!differ[0].identical);
}
