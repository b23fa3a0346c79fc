//! What a real browser makes of it: the first paint, and a page that is open while notes are saved for a day.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::numbers::Numbers;
use crate::served::Served;
use crate::support::TestVault;
use crate::tab::Tab;

/// So many saves follow each other at once, and then none for so long.
const BURST: usize = 10;
const BETWEEN: Duration = Duration::from_millis(200);
const LOADS: usize = 40;
/// So many questions of the driver are a control.
const ASKED: usize = 2_000;

pub fn measure(saves: usize, numbers: &mut Numbers) {
    let vault = TestVault::new("");
    vault.write("vault-agent.toml", crate::served::LISTEN);
    vault.write("MEMORY.md", "# Memory\n\n- fact 0\n");
    let served = Served::start(&vault);
    let Some(tab) = Tab::enter(&served) else { return };
    let mut paints: Vec<f64> = (0..LOADS.min(saves)).map(|_| paint(&tab)).collect();
    paints.sort_by(f64::total_cmp);
    println!(
        "\nfirst contentful paint in Chromium, {} loads: median {:.0} ms, longest {:.0} ms",
        paints.len(),
        paints[paints.len() / 2],
        paints[paints.len() - 1]
    );
    numbers.take("first contentful paint, longest", paints[paints.len() - 1], 200.0, "ms");
    left_alone(&vault, &tab, saves, numbers);
}

/// A page that is left alone while notes are saved. It is asked before and at the end: each question of the browser's
/// driver leaves something in the tab's heap, which the last lines show.
fn left_alone(vault: &TestVault, tab: &Tab, saves: usize, numbers: &mut Numbers) {
    tab.go("/memory");
    let save = |number: usize| vault.write("MEMORY.md", format!("# Memory\n\n- fact {number}\n"));
    let follow = |range: std::ops::Range<usize>| {
        for number in range.clone() {
            save(number);
            if number % BURST == 0 {
                std::thread::sleep(BETWEEN);
            }
        }
        save(range.end);
        tab.wait_for(&format!("fact {}", range.end));
    };
    // The first saves make what every later one uses: compiled scripts, and what the browser's driver keeps.
    follow(1_000_000..1_000_000 + saves / 10);
    let count = "window.swaps = 0; new MutationObserver(() => { window.swaps += 1; }).observe(document.getElementById('main'), { childList: true })";
    tab.eval(&format!("(() => {{ {count}; return true; }})()"));
    let (before, nodes) = heap(tab);
    println!("\nafter {} saves: heap {before:.0} kB, {nodes} nodes", saves / 10);
    let began = Instant::now();
    follow(2_000_000..2_000_000 + saves);
    let (after, nodes) = heap(tab);
    let swaps = tab.eval("window.swaps");
    println!(
        "after {saves} more, shown anew {swaps} times: heap {after:.0} kB, {nodes} nodes ({:.0?})",
        began.elapsed()
    );
    (0..ASKED).for_each(|_| drop(tab.main()));
    println!("after {ASKED} questions of the driver, without a save: heap {:.0} kB", heap(tab).0);
    let more = (after / before - 1.0) * 100.0;
    numbers.take(format!("a tab's heap after {saves} saves, more"), more, 5.0, "%");
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
