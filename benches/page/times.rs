//! How long each place takes over a large vault, and the same questions at the command line.

use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::kept::Kept;
use crate::numbers::Numbers;
use crate::sample::places;
use crate::served::{Visitor, address};
use crate::support::TestVault;

/// A daemon; dropping it kills it.
pub struct Daemon(pub Child);

impl Daemon {
    /// Started; it doesn't listen yet.
    pub fn start(vault: &TestVault, is_real_time: bool) -> Self {
        let mut command = vault.command(&["run"]);
        if is_real_time {
            command.env_remove("VAULT_AGENT_NOW");
        }
        let daemon = Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        // It answers as soon as it runs.
        let began = Instant::now();
        while vault.run(&["status", "--json"]).json()["running"] == serde_json::Value::Bool(false) {
            assert!(began.elapsed() < Duration::from_secs(60), "the daemon doesn't start");
        }
        daemon
    }

    /// Asks it to listen, and enters.
    pub fn visitor(&self, vault: &TestVault) -> Visitor {
        let began = Instant::now();
        // A daemon that is just started may be at its first snapshot.
        loop {
            let output = vault.command(&["web", "--print", "--json"]).output().unwrap();
            let said: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
            if let Some(url) = said.as_ref().and_then(|said| said["url"].as_str()) {
                return Visitor::enter(address(url), url);
            }
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(began.elapsed() < Duration::from_secs(120), "{said:?} {why}");
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sorted(rounds: usize, mut act: impl FnMut()) -> Vec<Duration> {
    let mut all: Vec<Duration> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            act();
            began.elapsed()
        })
        .collect();
    all.sort();
    all
}

fn packed(bytes: &[u8]) -> usize {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap().len()
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub fn measure(vault: &TestVault, rounds: usize, numbers: &mut Numbers) {
    let daemon = Daemon::start(vault, false);
    let visitor = daemon.visitor(vault);
    let mut kept = Kept::open(&visitor);
    let (_, page) = kept.get("/?q=first");
    let mut all = places(&String::from_utf8_lossy(&page));
    all.extend(
        [
            "/calendar?month=2026-12",
            "/calendar?week=2026-12-07",
            "/notes/Reminders.md",
            "/history?actor=assistant&page=20",
            "/search?q=topic",
            "/search?q=number+4711",
        ]
        .map(str::to_owned),
    );
    println!("{:<36} {:>9} {:>9} {:>10} {:>9}", "place", "median ms", "p95 ms", "bytes", "gzip");
    let mut medians = std::collections::BTreeMap::new();
    for path in all {
        // The first look fills what is kept: an index that is opened, a history that is read.
        let (is_packed, body) = kept.get(&path);
        let took = sorted(rounds, || drop(kept.get(&path)));
        let (median, p95) = (took[took.len() / 2], took[(took.len() * 95).div_ceil(100) - 1]);
        let gzip = if is_packed { body.len() } else { packed(&body) };
        println!("{path:<36} {:>9.2} {:>9.2} {:>10} {gzip:>9}", ms(median), ms(p95), body.len());
        let goal = if path.starts_with("/calendar") { 60.0 } else { 30.0 };
        numbers.take(format!("{path}, p95"), ms(p95), goal, "ms");
        medians.insert(path, median);
    }
    numbers.take("first visit, all files, gzip", first_visit(&mut kept) as f64 / 1024.0, 60.0, "kB");
    println!("\n{:<36} {:>9} {:>9} {:>7}", "the same question", "page ms", "cli ms", "ratio");
    for (path, args) in [
        ("/calendar?month=2026-12", &["remind", "list"][..]),
        ("/history", &["history", "--limit", "50"]),
        ("/search?q=topic", &["search", "topic"]),
    ] {
        let took = sorted(rounds.min(30), || drop(vault.run(args).ok()));
        let (cli, page) = (took[took.len() / 2], medians[path]);
        let ratio = cli.as_secs_f64() / page.as_secs_f64();
        println!("{:<36} {:>9.2} {:>9.2} {ratio:>6.1}x", args.join(" "), ms(page), ms(cli));
    }
}

/// Everything that a browser fetches on its first visit.
fn first_visit(kept: &mut Kept) -> usize {
    let (is_packed, page) = kept.get("/");
    assert!(!is_packed, "unpack it first");
    let text = String::from_utf8_lossy(&page).into_owned();
    let head = text.split("</head>").next().unwrap();
    let files = head.split(['"', '\'']).filter(|part| part.starts_with('/') && part.len() > 1);
    let (mut plain, mut gzip) = (page.len(), packed(&page));
    for file in files {
        let (is_packed, body) = kept.get(file);
        plain += body.len();
        gzip += if is_packed { body.len() } else { packed(&body) };
        println!("first visit: {file}: {} bytes", body.len());
    }
    println!("first visit in all: {plain} bytes as sent, {gzip} with gzip");
    gzip
}
