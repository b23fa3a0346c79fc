//! The numbers of the page: how long a place takes over a large vault beside the same question at the command line, what
//! the page costs a daemon that has it open, what goes over the wire, and what a real browser makes of it.
//!
//! `cargo bench --bench page` takes three to four minutes, and ends with the table "Numbers" and its goals; it asserts nothing.
//! `-- times`, `-- beside`, `-- seen` take one part. Without `chromium`, `chromedriver` and axe-core (see
//! `tests/web/browser.rs`) the browser's part is left out. `SAVES=1000` for a shorter day of saves.
#![cfg(unix)]
#![allow(dead_code, clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "../tests/web/axe.rs"]
mod axe;
#[path = "../tests/web/browser.rs"]
mod browser;
#[path = "../tests/web/forms.rs"]
mod forms;
#[path = "../tests/support/http.rs"]
mod http;
#[path = "../tests/support/models/mod.rs"]
mod models;
#[path = "../tests/web/sample.rs"]
mod sample;
#[path = "../tests/web/served.rs"]
mod served;
#[path = "../tests/support/mod.rs"]
mod support;
#[path = "../tests/web/tab.rs"]
mod tab;

#[path = "page/beside.rs"]
mod beside;
#[path = "page/kept.rs"]
mod kept;
#[path = "page/large.rs"]
mod large;
#[path = "page/numbers.rs"]
mod numbers;
#[path = "page/seen.rs"]
mod seen;
#[path = "page/times.rs"]
mod times;

use large::{LARGE, Large};
use numbers::Numbers;

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    let quick = std::env::args().any(|argument| argument == "--test");
    let parts: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    let mut numbers = Numbers::default();
    if is_wanted("times") {
        let small = Large { notes: 200, reminders: 50, operations: 60, facts: 40 };
        let vault = if quick { small.vault() } else { LARGE.vault() };
        times::measure(&vault, if quick { 3 } else { 100 }, &mut numbers);
    }
    if is_wanted("beside") {
        beside::measure(if quick { 200 } else { LARGE.notes }, quick, &mut numbers);
    }
    if is_wanted("seen") {
        let saves = std::env::var("SAVES").ok().and_then(|saves| saves.parse().ok());
        seen::measure(saves.unwrap_or(if quick { 20 } else { 10_000 }), &mut numbers);
    }
    numbers.print();
}
