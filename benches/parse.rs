//! Parsing `Reminders.md` against reading and splitting the same bytes into lines with memchr.
//!
//! Both sides read the same file from disk (it is in the page cache) in the same run, in turns; each figure
//! is the fastest of its rounds. The aim is a thousand reminders in a millisecond.
//!
//! Run with `cargo bench --bench parse`.

#![allow(clippy::print_stdout, reason = "the figures are its output")]

use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use vault_agent::format::reminder;

fn main() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    println!(
        "{:>9}  {:>7}  {:>11}  {:>11}  {:>12}",
        "lines", "MB", "split ns/l", "parse ns/l", "parse/split"
    );
    for count in [1_000, 100_000, 1_000_000] {
        let path = dir.path().join("Reminders.md");
        let text = reminders(count);
        std::fs::write(&path, &text).expect("room for the file");
        let rounds = (3_000_000 / count).clamp(9, 301);
        let [split, parse] = fastest(rounds, &path, [&split, &parse]);
        let per_line = |time: Duration| time.as_nanos() as f64 / count as f64;
        println!(
            "{count:>9}  {:>7.1}  {:>11.1}  {:>11.1}  {:>11.2}x",
            text.len() as f64 / 1e6,
            per_line(split),
            per_line(parse),
            split.as_secs_f64() / parse.as_secs_f64(),
        );
    }
}

/// A file of reminders as they come: several lengths of message, some without ids, one escape in seven.
fn reminders(count: usize) -> String {
    let messages = [
        "Call Mum",
        "Take the bins out, the green one this week",
        "Stand-up",
        "Pay the electricity bill before the end of the month: \\\"Stadtwerke\\\"",
        "Water the plants on the balcony and in the kitchen",
        "Zahnarzt, Zähne putzen",
        "Renew the passport",
    ];
    let recur = ["none", "daily", "weekly", "monthly"];
    let mut text = String::from("# Reminders\n\n");
    for n in 0..count {
        let (day, month, year) = (n % 28 + 1, n / 28 % 12 + 1, 2027 + n / 336 % 50);
        let (hour, minute) = (n / 60 % 24, n % 60);
        let (recur, msg) = (recur[n % 4], messages[n % 7]);
        text += &format!(
            "- [ ] date={year}-{month:02}-{day:02} time={hour:02}:{minute:02} recur={recur} msg=\"{msg}\""
        );
        if n % 8 != 0 {
            text +=
                &format!(" id={}", vault_agent::format::ReminderId::from_random((n as u64).to_be_bytes()));
        }
        text.push('\n');
    }
    text
}

fn split(bytes: &[u8]) -> usize {
    let (mut count, mut start) = (0, 0);
    for end in memchr::memchr_iter(b'\n', bytes) {
        black_box(&bytes[start..end]);
        start = end + 1;
        count += 1;
    }
    count
}

fn parse(bytes: &[u8]) -> usize {
    black_box(reminder::parse(bytes)).reminders.len()
}

type Work<'w> = &'w dyn Fn(&[u8]) -> usize;

/// The fastest time of reading the file and doing each work on it, taken in turns.
fn fastest<const N: usize>(rounds: usize, path: &Path, works: [Work<'_>; N]) -> [Duration; N] {
    let mut times = [Duration::MAX; N];
    for _ in 0..rounds {
        for (work, times) in works.iter().zip(&mut times) {
            let start = Instant::now();
            let bytes = std::fs::read(path).expect("the file that was just written");
            black_box(work(&bytes));
            *times = start.elapsed().min(*times);
        }
    }
    times
}
