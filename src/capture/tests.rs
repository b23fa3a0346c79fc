//! Prints the figures of capture. Run the figures with `CAPTURED=FILE cargo test --lib capture::tests -- --ignored
//! --nocapture`.
//!
//! Each line of the file is a JSON array: the output of `inbox scan --dry-run --json` for one vault.
//! `benches/capture/locomo.py` writes such a file: its third argument is the path.

use serde_json::Value;

use super::dedup::{SAME, cosine};
use crate::embed::BuiltinTable;

#[test]
#[ignore = "a measurement; needs captured facts"]
fn how_many_say_the_same() {
    let Ok(path) = std::env::var("CAPTURED") else { return println!("CAPTURED isn't set") };
    let (table, text) = (BuiltinTable::builtin(), std::fs::read_to_string(path).unwrap());
    let (mut all, mut doubled, mut of_one) = (0, 0, 0);
    for line in text.lines() {
        let found: Vec<Value> = serde_json::from_str(line).unwrap();
        let fact = |one: &Value| {
            let text = |key: &str| one[key].as_str().unwrap().to_owned();
            (text("section"), text("text"), table.embed(&text("text")))
        };
        let facts: Vec<_> = found.iter().map(fact).collect();
        for (at, (section, text, vector)) in facts.iter().enumerate() {
            let same = facts[..at].iter().filter(|(_, _, other)| cosine(other, vector) > SAME);
            let same: Vec<_> = same.collect();
            all += 1;
            doubled += usize::from(!same.is_empty());
            if let Some((_, other, _)) = same.iter().find(|(own, ..)| own == section) {
                of_one += 1;
                println!("{section}: {text:?} is {other:?}");
            }
        }
    }
    println!(
        "{all} facts; {doubled} say what an earlier one says (over {SAME}), {of_one} of them of the same person"
    );
}
