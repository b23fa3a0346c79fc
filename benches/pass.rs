//! What a pass over many reminders costs when nothing is due, against reading and splitting the same
//! bytes. Prints ratios; asserts nothing.
//!
//! `cargo bench --bench pass`

#![allow(clippy::print_stdout)]

#[path = "pass/settings.rs"]
mod settings;

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use vault_agent::clock::{Clock, ManualClock};
use vault_agent::deliver::{Console, DeliveryOrder, Journal, PassContext, PassMode, PassState, pass};
use vault_agent::vault::{EditOptions, Editor, Vault};

fn main() {
    println!("{:>10} {:>12} {:>12} {:>8} {:>10}", "lines", "read+split", "pass", "ratio", "ns/line");
    for lines in [1_000, 100_000, 1_000_000] {
        measure(lines);
    }
}

fn measure(lines: usize) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("Reminders.md");
    std::fs::write(&path, reminders(lines)).expect("a note");
    let state = tempfile::tempdir().expect("a folder");
    let clock: Arc<dyn Clock> =
        Arc::new(ManualClock::new("2026-12-01T09:30:00Z".parse().expect("an instant")));
    let vault = Vault::open(dir.path()).expect("a vault");
    let editor = Editor::new(vault.clone(), state.path(), Arc::clone(&clock), EditOptions::default());
    let journal = Journal::open(state.path()).expect("a journal");
    let settings = settings::pass_settings();
    let delivery_order = DeliveryOrder::only(Arc::new(Console::stderr(settings.zone.tz().clone())));
    let context = PassContext {
        vault: &vault,
        editor: &editor,
        journal: &journal,
        delivery_order: &delivery_order,
        clock: &*clock,
        settings: &settings,
        machines: &vault_agent::machines::Machines::alone(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut memory = PassState::default();
    let rounds = if lines > 500_000 { 5 } else { 15 };
    let (mut split, mut whole) = (Duration::MAX, Duration::MAX);
    // Alternating, so that both meet the same machine; the best of each, as the least disturbed.
    for _ in 0..rounds {
        let started = Instant::now();
        let bytes = std::fs::read(&path).expect("a note");
        let count = memchr::memchr_iter(b'\n', &bytes).map(|end| &bytes[..end]).map(black_box).count();
        black_box((bytes, count));
        split = split.min(started.elapsed());
        let started = Instant::now();
        let report = runtime.block_on(pass(&context, &mut memory, PassMode::Tick)).expect("a pass");
        whole = whole.min(started.elapsed());
        assert!(report.fired.is_empty() && report.problems.is_empty());
    }
    let ratio = whole.as_secs_f64() / split.as_secs_f64();
    let each = whole.as_nanos() as f64 / lines as f64;
    println!("{lines:>10} {split:>12.2?} {whole:>12.2?} {ratio:>8.2} {each:>10.1}");
}

fn reminders(lines: usize) -> String {
    let mut text = String::with_capacity(lines * 100);
    for n in 0..lines {
        let id = data_encoding::BASE32_NOPAD.encode(&blake3::hash(&n.to_le_bytes()).as_bytes()[..8]);
        let day = 1 + n % 28;
        let _ = writeln!(
            text,
            "- [ ] date=2027-02-{day:02} time={:02}:{:02} recur=none msg=\"Reminder number {n} of many\" id=rid_{}",
            n % 24,
            n % 60,
            &id[..12]
        );
    }
    text
}
