//! Recall measured: LoCoMo's questions against LoCoMo's conversations, turn by turn, and what it costs.
//!
//! ```text
//! cargo bench --bench recall -- [--data FILE] [--model DIR] [--fit] [--none] [--speed] [--blocks N]
//! ```
//!
//! `FILE` (default `../shared/bench/locomo-dev.json`) stays where it is: its licence forbids to copy it here.
//! A conversation's own turns are the candidates of its questions. "Ours" is shown twice: with weights
//! fitted on the other conversations only (the honest figure), and as the program ranks. `--model` adds a
//! row with a sentence model from a directory; `--fit` prints weights anew; `--blocks` sizes the speed test.
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
#[cfg(feature = "index")]
#[path = "recall/whole.rs"]
mod whole;

use fit::Row;
use metrics::{Metrics, line, mean};
use vault_agent::embed::Table;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned();
    let path = value("--data").unwrap_or_else(|| "../shared/bench/locomo-dev.json".to_owned());
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("no `{path}`: nothing to measure (give another with `--data FILE`)");
        return;
    };
    let table = Table::builtin();
    let conversations = data::read(&text);
    let blocks = value("--blocks").and_then(|n| n.parse().ok()).unwrap_or(100_000);
    if args.iter().any(|arg| arg == "--speed") {
        speed::report(&conversations, blocks);
        return;
    }
    if args.iter().any(|arg| arg == "--none") {
        none::fit(&conversations);
        none::report(&conversations);
        return;
    }
    let rows = fit::rows(&conversations, &|text| table.embed(text), true);
    if args.iter().any(|arg| arg == "--fit") {
        fit::report(&rows);
        none::fit(&conversations);
    }
    println!("| ranking | recall@5 | recall@10 | recall@20 | MRR | nDCG@10 |\n|---|---|---|---|---|---|");
    let show = |name: &str, all: &[Metrics]| println!("| {name} {}", line(all));
    let by = |rank: fn(&Row) -> Vec<f32>| -> Vec<Metrics> {
        rows.iter().map(|row| fit::metrics_by(row, &rank(row))).collect()
    };
    show("BM25", &by(|row| row.bm25.clone()));
    show("vectors alone", &by(|row| row.cosine.clone()));
    show("published 0.7 vector + 0.3 BM25 with a floor", &by(fit::published));
    show("reciprocal rank fusion", &by(fit::reciprocal));
    let folds = fit::folds(&rows, &[true; _], 1.0);
    let unseen: Vec<Metrics> = folds.iter().flatten().copied().collect();
    show("ours, each conversation unseen", &unseen);
    let ours: Vec<Metrics> = rows.iter().map(|row| fit::metrics_of(row, &fit::Model::built_in())).collect();
    show("ours, as built", &ours);
    if let Some(dir) = value("--model") {
        let model = vault_agent::embed::local::Local::open(std::path::Path::new(&dir)).unwrap();
        let rows = fit::rows(&conversations, &|text| model.embed_one(text), false);
        let folds = fit::folds(&rows, &[true; _], 1.0);
        show("ours with the sentence model, unseen", &folds.into_iter().flatten().collect::<Vec<_>>());
    }
    #[cfg(feature = "index")]
    show("ours, through vault, index and search", &whole::measure(&conversations));
    println!(
        "\nrecall@10 by conversation, unseen: {}",
        folds.iter().map(|fold| format!("{:.3}", mean(fold).r10)).collect::<Vec<_>>().join(" ")
    );
    println!(
        "\n| category | questions | recall@5 | recall@10 | recall@20 | MRR | nDCG@10 |\n|---|---|---|---|---|---|---|"
    );
    for (category, name) in
        [(1, "multi-hop"), (2, "temporal"), (3, "open-domain"), (4, "single-hop"), (5, "adversarial")]
    {
        let of: Vec<Metrics> =
            rows.iter().zip(&unseen).filter(|(row, _)| row.category == category).map(|(_, m)| *m).collect();
        println!("| {name} | {} {}", of.len(), line(&of));
    }
    none::report(&conversations);
    speed::report(&conversations, blocks);
}
