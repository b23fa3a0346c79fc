//! `kill -9` of the real binary in the middle of ticks over hundreds of reminders.
//!
//! The console can't be asked what it printed, so its promise is "at least once": every reminder is
//! printed, and at most one more time for each kill. (With a place that deduplicates it is exactly
//! once: `crashes`, `simulation`, and Discord's own tests.)

use std::process::Stdio;
use std::time::Duration;

use crate::support::TestVault;

const REMINDERS: usize = 300;

/// Ticks that are killed at different instants of their lives, from before they open anything to the rewrite, but for the
/// last three; then nothing is left to fire. What all of them printed, and how many were killed.
pub fn killed_ticks(vault: &TestVault, rounds: u64) -> (String, usize) {
    let (mut printed, mut kills) = (String::new(), 0);
    for round in 0..rounds {
        let mut child =
            vault.command(&["tick"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(5 + (round * 37) % 120 + 3 * round * round));
        if round + 3 < rounds && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        printed += &String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout);
    }
    assert_eq!(vault.json(&["tick"])["fired"].as_array().unwrap().len(), 0);
    (printed, kills)
}

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
    let (printed, kills) = killed_ticks(&vault, 24);
    let times = |n: usize| printed.matches(&format!(" N{n:03}")).count();
    assert_eq!(vault.read("Reminders.md"), "# Reminders\nkeep me\n");
    assert!((0..REMINDERS).all(|n| times(n) > 0), "some were never printed");
    let twice = (0..REMINDERS).map(|n| times(n) - 1).sum::<usize>();
    assert!(twice <= kills, "{twice} came again after {kills} kills");
    println!("{kills} kills, {REMINDERS} reminders, 0 missed, {twice} printed twice");
}
