//! Rewriting one line of a large note, against writing all of it anew.
//!
//! The peer is what most programs do: temporary file, fsync, rename, fsync of the folder, with the
//! new bytes already in hand. Ours is the whole edit: opening, leasing, reading, finding the line,
//! journalling, writing in place, both flushes, releasing. `cargo bench --bench rewrite`; a folder
//! on the disk to be measured can be named as `VAULT_BENCH_DIR`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use vault_agent::{
    clock::SystemClock,
    vault::{Actor, ChangeReason, EditOptions, Editor, NotePath, Operation, Vault},
};

const ROUNDS: usize = 21;

fn line(number: usize, date: &str) -> String {
    format!("- [ ] date={date} time=09:30 recur=weekly msg=\"Call number {number:07}\" id=rid_K5V4M2J9Q2ZP")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn timed(act: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    act();
    begun.elapsed()
}

fn write_anew(dir: &Path, name: &str, bytes: &[u8]) {
    let temp = dir.join(".temp");
    let mut file = File::create(&temp).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    drop(file);
    fs::rename(&temp, dir.join(name)).unwrap();
    File::open(dir).unwrap().sync_all().unwrap();
}

fn main() {
    let base = std::env::var("VAULT_BENCH_DIR").unwrap_or_else(|_| ".".to_owned());
    let temp = tempfile::tempdir_in(base).unwrap();
    let root = temp.path().join("vault");
    fs::create_dir(&root).unwrap();
    let vault = Vault::open(&root).unwrap();
    let editor =
        Editor::new(vault, &temp.path().join("state"), Arc::new(SystemClock), EditOptions::default());
    let why = ChangeReason::new(Actor::Scheduler, "benchmark");
    println!("median of {ROUNDS}, in turns; ratio = edit / temp file + fsync + rename + folder fsync");
    println!("{:>8}  {:<34} {:>10} {:>10} {:>7}", "lines", "edit", "anew", "edit", "ratio");
    for lines in [1_000, 10_000, 100_000] {
        let note = NotePath::new(&format!("{lines}.md")).unwrap();
        let path = root.join(note.as_str());
        let text: String = (0..lines).map(|number| line(number, "2026-12-01") + "\n").collect();
        let replace = |from: String, with: String| Operation::ReplaceLine {
            line: from.into_bytes(),
            with: with.into_bytes(),
        };
        for (name, at) in [("first", 0), ("middle", lines / 2), ("last", lines - 1)] {
            let grown = format!("{} ^x1", line(at, "2026-12-01"));
            let kinds: [(&str, Operation, Operation); 2] = [
                (
                    "moves a date",
                    replace(line(at, "2026-12-01"), line(at, "2026-12-08")),
                    replace(line(at, "2026-12-08"), line(at, "2026-12-01")),
                ),
                (
                    "grows by 4 bytes, then shrinks",
                    replace(line(at, "2026-12-01"), grown.clone()),
                    replace(grown, line(at, "2026-12-01")),
                ),
            ];
            for (kind, there, back) in kinds {
                fs::write(&path, &text).unwrap();
                File::open(&path).unwrap().sync_all().unwrap();
                let (mut anew, mut edit) = (Vec::new(), Vec::new());
                for round in 0..ROUNDS {
                    anew.push(timed(|| write_anew(&root, "anew.md", text.as_bytes())));
                    let op = if round % 2 == 0 { &there } else { &back };
                    edit.push(timed(|| {
                        assert!(editor.edit(&note, std::slice::from_ref(op), &why).unwrap().changed);
                    }));
                }
                let (anew, edit) = (median(anew), median(edit));
                let ratio = edit.as_secs_f64() / anew.as_secs_f64();
                println!(
                    "{lines:>8}  {:<34} {:>8.3}ms {:>8.3}ms {ratio:>7.2}",
                    format!("{name} line, {kind}"),
                    anew.as_secs_f64() * 1e3,
                    edit.as_secs_f64() * 1e3
                );
            }
        }
    }
}
