//! What a real browser makes of it: the first paint, and a page that is open while notes are saved for a day.

use std::time::Instant;

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::TestVault;
use crate::tab::Tab;

/// So many saves follow each other before the page has to show the last of them.
const BURST: usize = 20;
const LOADS: usize = 40;

pub fn measure(saves: usize) {
    let vault = TestVault::new("");
    vault.write("vault-agent.toml", crate::served::LISTEN);
    vault.write("MEMORY.md", "# Memory\n\n- fact 0\n");
    let served = Served::start(&vault);
    let Some(tab) = Tab::enter(&served) else { return };
    let mut paints: Vec<f64> = (0..LOADS.min(saves)).map(|_| paint(&tab)).collect();
    paints.sort_by(f64::total_cmp);
    println!(
        "\nfirst contentful paint in Chromium, {} loads: median {:.0} ms, longest {:.0} ms (goal 200)",
        paints.len(),
        paints[paints.len() / 2],
        paints[paints.len() - 1]
    );
    tab.go("/memory");
    let save = |number: usize| vault.write("MEMORY.md", format!("# Memory\n\n- fact {number}\n"));
    let follow = |from: usize| {
        for number in from + 1..=from + saves {
            save(number);
            if number % BURST == 0 {
                tab.wait_for(&format!("fact {number}"));
            }
        }
    };
    // The first day makes what every later one uses, in the browser's driver too.
    follow(1_000_000);
    let (before, nodes) = heap(&tab);
    let began = Instant::now();
    follow(2_000_000);
    let took = began.elapsed();
    let (after, left) = heap(&tab);
    println!(
        "{saves} saves followed by an open page in {took:.0?}: heap {before:.0} kB, then {after:.0} kB ({:+.1} %, goal +5 %); nodes {nodes}, then {left}",
        (after / before - 1.0) * 100.0
    );
}

/// Milliseconds from the start of a load to the first paint with content.
fn paint(tab: &Tab) -> f64 {
    tab.go("/");
    let ask = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)[0] || 0";
    let began = Instant::now();
    loop {
        let at = tab.eval(ask).as_f64().unwrap_or_default();
        if at > 0.0 {
            return at;
        }
        assert!(began.elapsed() < crate::served::PATIENCE, "nothing is painted");
    }
}

/// The tab's heap in kB and its nodes, when what can be thrown away is.
fn heap(tab: &Tab) -> (f64, i64) {
    tab.cdp("Performance.enable", json!({}));
    for _ in 0..3 {
        tab.cdp("HeapProfiler.collectGarbage", json!({}));
    }
    let all = tab.cdp("Performance.getMetrics", json!({}));
    let of = |name: &str| {
        let found = all["metrics"].as_array().into_iter().flatten().find(|one| one["name"] == name);
        found.and_then(|one: &Value| one["value"].as_f64()).unwrap_or_default()
    };
    (of("JSHeapUsedSize") / 1024.0, of("Nodes") as i64)
}
