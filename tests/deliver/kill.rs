//! `kill -9` of the real binary in the middle of ticks over hundreds of reminders.
//!
//! The console can't be asked what it printed, so its promise is "at least once": every reminder is
//! printed, and at most one more time for each kill. (With a place that deduplicates it is exactly
//! once: `crashes`, `simulation`, and Discord's own tests.)

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use crate::support::TestVault;

const REMINDERS: usize = 300;

#[test]
fn kill_nine_loses_nothing_and_doubles_at_most_what_was_on_its_way() {
    let mut text = String::from("# Reminders\nkeep me\n");
    for n in 0..REMINDERS {
        text.push_str(&format!(
            "- [ ] date=2026-12-01 time=09:{:02} recur=none msg=\"N{n:03}\"\n",
            28 + n % 3
        ));
    }
    let vault = TestVault::new(&format!("//- now: 2026-12-01T09:30:30Z\n//- /Reminders.md\n{text}"));
    let mut printed: BTreeMap<String, usize> = BTreeMap::new();
    let mut kills = 0;
    for round in 0u64..24 {
        let mut child =
            vault.command(&["tick"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // Different instants of the process's life, from before it opens anything to the rewrite; the
        // last ones run to their end.
        std::thread::sleep(Duration::from_millis(5 + (round * 37) % 120 + 3 * round * round));
        if round < 21 && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        let output = child.wait_with_output().unwrap();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some(at) = line.find(" N") {
                *printed.entry(line[at + 1..at + 5].to_owned()).or_default() += 1;
            }
        }
    }
    let last = vault.json(&["tick"]);
    assert_eq!(last["fired"].as_array().unwrap().len(), 0);
    assert_eq!(vault.read("Reminders.md"), "# Reminders\nkeep me\n");
    assert_eq!(printed.len(), REMINDERS, "some were never printed");
    let twice = printed.values().map(|count| count - 1).sum::<usize>();
    assert!(twice <= kills, "{twice} came again after {kills} kills");
    println!("{kills} kills, {REMINDERS} reminders, 0 missed, {twice} printed twice");
}
