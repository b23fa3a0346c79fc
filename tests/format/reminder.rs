//! Reminder lines beyond the vectors: what is written reads back, and an edit changes what it means.

use jiff::civil::{date, time};
use proptest::prelude::*;
use vault_agent::format::{
    Finding, ReminderId,
    reminder::{self, ParsedLine, Recur, Reminder},
};

fn any_reminder() -> impl Strategy<Value = Reminder> {
    (
        (1i16..=9999, 1i8..=12, 1i8..=28, 0i8..24, 0i8..60),
        prop::sample::select(Recur::ALL.to_vec()),
        prop::option::of(29i8..=31),
        "[^\\p{Cc}]{1,12}|[a\"\\\\]{1,8}",
        prop::option::of(any::<[u8; 8]>()),
        prop::option::of("[A-Za-z0-9-]{1,8}"),
    )
        .prop_map(|((y, m, d, hour, minute), recur, day, msg, id, block_id)| {
            let (date, time) = (date(y, m, d), time(hour, minute, 0, 0));
            Reminder { date, time, recur, day, msg, id: id.map(ReminderId::from_random), block_id }
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
        ParsedLine::Reminder(reminder) => reminder,
        other => panic!("{}: {other:?}", String::from_utf8_lossy(line)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_written_reads_back(reminder in any_reminder()) {
        prop_assert_eq!(read(reminder.to_line().as_bytes()), reminder);
    }

    /// Canonical lines are read in a short way of their own: a second space sends the same line the long way.
    #[test]
    fn both_ways_of_reading_agree(reminder in any_reminder(), at: prop::sample::Index, with in prop::option::of(any::<u8>())) {
        let mut line = Reminder { day: None, block_id: None, ..reminder }.to_line().into_bytes();
        if let Some(byte) = with {
            let at = at.index(line.len());
            line[at] = byte;
        }
        let long = [b"- [ ]  ", &line[6..]].concat();
        if line.starts_with(b"- [ ] ") && line[6] != b' ' {
            let read = |line: &[u8]| match reminder::parse_line(line) {
                ParsedLine::Reminder(reminder) => Some(reminder),
                _ => None,
            };
            prop_assert_eq!(read(&line), read(&long));
        }
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
        chars.splice(at..(at + cut).min(chars.len()), with.chars());
        let text: String = chars.into_iter().collect();
        if let ParsedLine::NearMiss(Finding { column, reason, .. }) = reminder::parse_line(text.as_bytes()) {
            prop_assert!(column <= text.chars().count() + 1);
            prop_assert!(!reason.contains("isn't a valid reminder"), "{}: {}", text, reason);
        }
    }
}
