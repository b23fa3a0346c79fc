//! Recall measured: questions against conversations of two people (LoCoMo), logs of a user with an assistant (LongMemEval)
//! and notes, what it costs, and when nothing is given.
//!
//! ```text
//! cargo bench --bench recall -- [--data FILE] [--logs FILE] [--notes DIR] [--model DIR] [--talks] [--fit] [--dump FILE] [--none]
//!                               [--whole] [--speed] [--blocks N]
//! ```
//!
//! The data (default: in `../shared/bench`) stays where it is: the licence of the first forbids to copy it here.
//! A conversation's own turns are the candidates of its questions, as a user's logs are. "Ours" is shown with weights fitted
//! on the other conversations and logs only (the honest figure), with weights fitted on the other kind, and as the program
//! ranks. `--talks` leaves the logs out, `--model` adds a row with a sentence model from a directory; `--fit` prints weights
//! anew, `--dump` writes all signals to a file for a fit elsewhere, `--none` those of the gate; `--whole` asks in various manners through the whole program, and of notes; `--blocks`
//! sizes the speed test.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation
)]

#[path = "recall/data.rs"]
mod data;
#[path = "recall/fit.rs"]
mod fit;
#[path = "recall/metrics.rs"]
mod metrics;
#[path = "recall/none.rs"]
mod none;
#[path = "recall/speed.rs"]
mod speed;
#[path = "recall/whole.rs"]
mod whole;

use fit::Row;
use metrics::{Metrics, line};
use vault_agent::embed::BuiltinTable;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned();
    let path = value("--data").unwrap_or_else(|| "../shared/bench/locomo-dev.json".to_owned());
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("no `{path}`: nothing to measure (give another with `--data FILE`)");
        return;
    };
    let table = BuiltinTable::builtin();
    let mut conversations = data::conversations(&text);
    let talks = conversations.len();
    if !args.iter().any(|arg| arg == "--talks") {
        let path = value("--logs").unwrap_or_else(|| "../shared/bench/longmemeval-dev.jsonl.gz".to_owned());
        conversations.extend(data::logs(&path));
    }
    let blocks = value("--blocks").and_then(|n| n.parse().ok()).unwrap_or(100_000);
    if args.iter().any(|arg| arg == "--speed") {
        speed::report(&conversations[..talks], blocks);
        return;
    }
    let notes = value("--notes").unwrap_or_else(|| "../shared/bench/notes-dev".to_owned());
    let notes = data::vaults(std::path::Path::new(&notes));
    if args.iter().any(|arg| arg == "--none") {
        none::report(&conversations, &notes, true);
        return;
    }
    if args.iter().any(|arg| arg == "--whole") {
        whole::manners(&conversations[..talks]);
        whole::notes(&notes);
        return;
    }
    let rows = fit::rows(&conversations, &|text| table.embed(text), true);
    if let Some(path) = value("--dump") {
        fit::dump(&rows, &path);
        return;
    }
    if args.iter().any(|arg| arg == "--fit") {
        fit::report(&rows);
        return;
    }
    let all = [true; _];
    let unseen = fit::unseen(&rows, &all, 1.0);
    let by = |rank: fn(&Row) -> Vec<f32>| -> Vec<Metrics> {
        rows.iter().map(|row| fit::metrics_by(row, &rank(row))).collect()
    };
    let mut rankings = vec![
        ("BM25", by(|row| row.bm25.clone())),
        ("vectors alone", by(|row| row.cosine.clone())),
        ("published 0.7 vector + 0.3 BM25 with a floor", by(fit::published)),
        ("reciprocal rank fusion", by(fit::reciprocal)),
        ("ours, each conversation unseen", unseen.clone()),
        ("ours, fitted on the other kind", fit::foreign(&rows, &all, 1.0)),
        ("ours, as built", rows.iter().map(|row| fit::metrics_of(row, &fit::Model::built_in())).collect()),
    ];
    if let Some(dir) = value("--model") {
        let model = vault_agent::embed::local::LocalModel::open(std::path::Path::new(&dir)).unwrap();
        let rows = fit::rows(&conversations, &|text| model.embed_one(text), false);
        rankings.push(("ours with the sentence model, unseen", fit::unseen(&rows, &all, 1.0)));
    }
    rankings.push(("ours, through vault, index and search", whole::measure(&conversations)));
    for (kind, is_log) in [("conversations of two", false), ("logs of an assistant", true)] {
        println!(
            "\n| {kind} | recall@5 | recall@10 | recall@20 | MRR | nDCG@10 | session@5 |\n|---|---|---|---|---|---|---|"
        );
        for (name, metrics) in &rankings {
            println!("| {name} {}", line(&fit::of(&rows, metrics, |row| row.is_log == is_log)));
        }
    }
    println!(
        "\n| category, unseen | questions | recall@5 | recall@10 | recall@20 | MRR | nDCG@10 | session@5 |\n|---|---|---|---|---|---|---|---|"
    );
    for (category, name) in data::CATEGORIES {
        let of = fit::of(&rows, &unseen, |row| row.category == category);
        println!("| {name} | {} {}", of.len(), line(&of));
    }
    whole::manners(&conversations[..talks]);
    whole::notes(&notes);
    none::report(&conversations, &notes, false);
    speed::report(&conversations[..talks], blocks);
}
