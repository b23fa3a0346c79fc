//! Commitment blocks: what is one, what is wrong with it, and the one edit.

use proptest::prelude::*;
use vault_agent::format::commitment::{self, Commitment, CommitmentStatus, Precision};

const FILE: &str = include_str!("commitments.txt");

/// The file, with other line ends, and with its first block at its very top.
fn files() -> [String; 3] {
    [FILE.to_owned(), FILE.replace('\n', "\r\n"), format!("\u{feff}{}", &FILE[15..])]
}

#[test]
fn a_status_changes_and_no_other_byte() {
    for file in files() {
        let set = |id, expect, to| commitment::set_status(file.as_bytes(), id, expect, to);
        let done = set("c-2026-05-08-001", CommitmentStatus::Pending, CommitmentStatus::Delivered).unwrap();
        let delivered = file.replacen("status: pending ", "status: delivered ", 1);
        assert_eq!(String::from_utf8(done).unwrap(), delivered);
        let back = set("c-2026-05-08-002", CommitmentStatus::Delivered, CommitmentStatus::Pending).unwrap();
        assert_eq!(String::from_utf8(back).unwrap(), file.replacen("\"delivered\"", "\"pending\"", 1));
        assert_eq!(set("c-2026-05-08-001", CommitmentStatus::Cancelled, CommitmentStatus::Pending), None);
        assert_eq!(set("c-2026-05-08-009", CommitmentStatus::Pending, CommitmentStatus::Delivered), None);
    }
    let (from, to) = (CommitmentStatus::Pending, CommitmentStatus::Delivered);
    assert_eq!(commitment::set_status(FILE.repeat(2).as_bytes(), "c-2026-05-08-001", from, to), None);
}

#[test]
fn a_due_time_changes_and_no_other_byte() {
    let (from, to) = ("2026-05-08T19:00:00Z".parse().unwrap(), "2026-05-09T07:30:00Z".parse().unwrap());
    for file in files() {
        let later = commitment::set_due(file.as_bytes(), "c-2026-05-08-001", from, to).unwrap();
        let expected = file.replacen("due: 2026-05-08T19:00:00Z", "due: 2026-05-09T07:30:00Z", 1);
        assert_eq!(String::from_utf8(later).unwrap(), expected);
        // Only of one that waits, and that is due then.
        assert_eq!(commitment::set_due(file.as_bytes(), "c-2026-05-08-001", to, from), None);
        assert_eq!(commitment::set_due(file.as_bytes(), "c-2026-05-08-002", from, to), None);
    }
}

#[test]
fn ids_count_up_within_the_day() {
    let day = jiff::civil::date(2026, 5, 8);
    let mut file = commitment::parse(FILE.as_bytes());
    assert_eq!(commitment::next_id(&file, day), "c-2026-05-08-003");
    assert_eq!(commitment::next_id(&file, day.tomorrow().unwrap()), "c-2026-05-09-001");
    file.other_ids.push("c-2026-05-08-999".to_owned());
    assert_eq!(commitment::next_id(&file, day), "c-2026-05-08-1000");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = [
        (
            "---\nid: a\nstatus: Pending\n---\nx",
            "3:9 unknown status: `Pending` is not one of `pending`, `delivered`, `cancelled` → did you mean `status: pending`?",
            0,
        ),
        ("---\nid: a\n---\nx", "1:1 `status` is missing → add `status: pending`", 0),
        (
            "---\nstatus: pending\ndue: x\n---\nx",
            "1:1 this commitment has no `id` → add a line such as `id: c-2026-05-08-001`",
            0,
        ),
        (
            "---\nid: a\nstatus: pending\nsome text",
            "4:1 the head of this commitment isn't closed → put a line `---` between head and text",
            0,
        ),
        (
            "---\nid: a\nstatus: pending\n---\n\n",
            "1:1 this commitment has no text → write what was promised below the second `---`",
            0,
        ),
        (
            "---\nid: a\nstatus: pending\ndue: 2026-05-08 19:00\n---\nx",
            "4:6 `2026-05-08 19:00` lacks an offset from UTC → write `due: 2026-05-08T19:00:00Z` for UTC, or an offset such as `+01:00` at its end",
            1,
        ),
        (
            "---\nid: a\nstatus: pending\ndue: soon\n---\nx",
            "4:6 `soon` is not an instant → write it as `due: 2026-05-08T19:00:00Z`",
            1,
        ),
        (
            "---\nid: a\nstatus: pending\nscope: kyle\n---\nx",
            "4:8 `kyle` is not a scope → write `channel:ID`, `thread:ID` or `user:ID` with the number of it",
            1,
        ),
        (
            "---\nid: a\nstatus: pending\nprecison: soft\n---\nx",
            "4:1 unknown field `precison` → did you mean `precision`?",
            1,
        ),
        (
            "---\nid: a\nid: b\nstatus: pending\n---\nx",
            "3:1 `id` stands twice in this head: the first one counts → remove one of them",
            1,
        ),
        (
            "---\nid: a\nstatus: pending\n---\nx\n---\nid: a\nstatus: pending\n---\ny",
            "6:1 the id `a` stands in line 1 too → give one of them another id",
            2,
        ),
    ];
    for (file, expected, blocks) in cases {
        let read = commitment::parse(file.as_bytes());
        let findings = read.findings.iter();
        let said: Vec<_> =
            findings.map(|f| format!("{}:{} {} → {}", f.line, f.column, f.reason, f.suggestion)).collect();
        assert_eq!(said, [expected], "{file}");
        assert_eq!(read.blocks.len(), blocks, "{file}");
    }
}

fn any_commitment() -> impl Strategy<Value = Commitment> {
    let instant = (0i64..4_000_000_000).prop_map(|s| jiff::Timestamp::from_second(s).unwrap());
    (
        prop::sample::select(CommitmentStatus::ALL.to_vec()),
        prop::option::of(prop::sample::select(Precision::ALL.to_vec())),
        prop::option::of(instant.clone()),
        prop::option::of("(channel|thread|user):[1-9][0-9]{0,15}"),
        prop::option::of(instant),
        prop::option::of("(?s).{1,20}"),
        "(?s).{0,60}|(---\n|id: c\n|status: pending\n|```\n|<!--|%%|[a-z #~`-]{1,9}\n?|\n|\r){1,12}",
    )
        .prop_map(|(status, precision, due, scope, created, source, text)| Commitment {
            id: "c-2026-05-08-001".to_owned(),
            status,
            precision,
            due,
            scope,
            created,
            source,
            text: format!("a{text}"),
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_stays_in_its_block(first in any_commitment(), second in any_commitment()) {
        let second = Commitment { id: "c-2026-05-08-002".to_owned(), ..second };
        let text = format!("# Commitments\n\n{}\n{}", first.to_block(), second.to_block());
        let read = commitment::parse(text.as_bytes());
        prop_assert_eq!(read.blocks.len(), 2, "{}", text);
        for (block, wrote) in read.blocks.iter().zip([&first, &second]) {
            prop_assert_eq!(Commitment { text: wrote.text.clone(), ..block.commitment.clone() }, wrote.clone());
        }
        // What was read is written as it was read: one writing makes the text canonical.
        prop_assert_eq!(read.blocks[0].commitment.to_block(), first.to_block());
    }
}
