//! Commitment blocks: what is one, what is wrong with it, and the one edit.

use proptest::prelude::*;
use vault_agent::format::commitment::{self, Commitment, CommitmentStatus, Precision};

const FILE: &str = include_str!("commitments.txt");

/// The file, with other line ends, and with its first block at its very top.
fn files() -> [String; 3] {
    [FILE.to_owned(), FILE.replace('\n', "\r\n"), format!("\u{feff}{}", &FILE[15..])]
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
    let lines = include_str!("commitments_wrong.txt").lines();
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with("# Blocks")).collect();
    assert_eq!(lines.len(), 2 * 15);
    for case in lines.chunks(2) {
        let (file, (blocks, expected)) = (case[0].replace('|', "\n"), case[1].split_once(' ').unwrap());
        let read = commitment::parse(file.as_bytes());
        let findings = read.findings.iter();
        let said = findings.map(|f| format!("{}:{} {} → {}", f.line, f.column, f.reason, f.suggestion));
        assert_eq!(said.collect::<Vec<_>>(), [expected], "{file}");
        assert_eq!(read.blocks.len().to_string(), blocks, "{file}");
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
        .prop_map(|(status, precision, due, scope, created, source, text)| {
            let (id, text) = ("c-2026-05-08-001".to_owned(), format!("a{text}"));
            Commitment { id, status, precision, due, scope, created, source, text }
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
