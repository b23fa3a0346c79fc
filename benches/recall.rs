//! Recall measured: LoCoMo's questions against LoCoMo's conversations, turn by turn, and what it costs.
//!
//! ```text
//! cargo bench --bench recall -- [--data FILE] [--fit] [--minilm DIR] [--blocks N]
//! ```
//!
//! `FILE` (default `../shared/bench/locomo-dev.json`) stays where it is: its licence forbids to copy it here.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss, clippy::cast_possible_truncation)]

#[path = "recall/data.rs"]
mod data;
#[path = "recall/fit.rs"]
mod fit;
#[path = "recall/metrics.rs"]
mod metrics;

use std::time::Instant;

use vault_agent::recall::matrix::Probe;
use vault_agent::recall::question::Question;
use vault_agent::recall::score::{self, Candidates, Scores, Vectors};
use vault_agent::recall::signal::{FITTED, NAMES, SIGNALS};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned();
    let path = value("--data").unwrap_or_else(|| "../shared/bench/locomo-dev.json".to_owned());
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("no `{path}`: nothing to measure (give another with `--data FILE`)");
        return;
    };
    let conversations = data::read(&text);
    let rows = fit::rows(&conversations);
    if args.iter().any(|arg| arg == "--fit") {
        fit::report(&rows);
    }
    let _ = (Instant::now(), FITTED, NAMES, SIGNALS);
    let scored: Vec<_> = rows.iter().map(|row| fit::metrics_of(row, &FITTED)).collect();
    println!("ours {}", metrics::line(&scored));
    let _ = |c: &data::Conversation| {
        let q = Question::new("x", jiff::civil::date(2026, 1, 1));
        let candidates = Candidates::new(&c.corpus, |_| true, |_| true);
        let probe = Probe::new(&[1.0]).unwrap();
        let vectors = Vectors { matrix: &c.corpus.vectors, probe: &probe };
        let mut scores = Scores::new(FITTED, c.corpus.len());
        score::signals(&c.corpus, &candidates, &q, Some(vectors), &jiff::tz::TimeZone::UTC, &mut scores);
    };
}
