//! The fuzz targets' properties on stable, over the seed corpus, the vectors, and random bytes; and inputs on which a careless
//! parser takes hours. No time is asserted: a quadratic parser wouldn't come back.

use crate::support::prelude::*;

use data_encoding::BASE64;
use proptest::prelude::*;
use vault_agent::format::{commitment, lines::LiveLines, memory, reminder};

#[path = "../../fuzz/properties.rs"]
mod properties;

/// All properties of all formats, whatever the bytes are meant as.
pub fn everything(bytes: &[u8]) {
    use properties::*;
    [file_lines, reminders, commitments, memories, logs, skills].iter().for_each(|holds| holds(bytes));
}

fn files(folder: &str) -> Vec<Vec<u8>> {
    let files = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    assert!(!files.is_empty(), "{folder} has no files");
    files.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn the_seeds_hold() {
    let seeds = files("fuzz/seeds");
    assert!(seeds.len() >= 8);
    for seed in seeds {
        everything(&seed);
        // Cut anywhere: a file that is still being written.
        (0..seed.len()).step_by(7).for_each(|cut| everything(&seed[..cut]));
    }
}

#[test]
fn the_vectors_hold_as_any_format() {
    for file in files("grammar/vectors") {
        // The phrases of `when.json` stand in an object, by their language; they are no files.
        let vectors = serde_json::from_slice::<serde_json::Value>(&file).unwrap();
        for vector in vectors.as_array().into_iter().flatten() {
            match (vector["input"].as_str(), vector["base64"].as_str()) {
                (Some(text), _) => everything(text.as_bytes()),
                (_, base64) => everything(&BASE64.decode(base64.unwrap_or_default().as_bytes()).unwrap()),
            }
        }
    }
}

/// Pieces that mean something to one of the formats.
fn pieces() -> Vec<String> {
    serde_json::from_str(include_str!("pieces.json")).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn any_pieces_hold(pieces in prop::collection::vec(prop_oneof![
        9 => prop::sample::select(pieces()).prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ], 0..24)) {
        everything(&pieces.concat());
    }

    #[test]
    fn any_bytes_hold(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        everything(&bytes);
    }
}

const BIG: usize = 1 << 20;

#[test]
fn long_lines_and_many_lines() {
    let line = |msg: &str| format!("- [ ] date=2026-12-01 time=09:30 recur=none msg=\"{msg}\"");
    let long = line(&"x".repeat(BIG));
    assert_eq!(reminder::parse(long.as_bytes()).reminders.len(), 1);
    assert_eq!(reminder::parse(&long.as_bytes()[..long.len() - 1]).near_misses[0].column, 49);
    for unit in "%|%a|<!-- |` `` ``` |\\\"|date= |- |= |[a::|^|\u{a0}|---\na: b\n|```\n|\n|> ".split('|') {
        let text = unit.repeat(BIG / unit.len() / 4);
        for text in [text.clone(), format!("- [ ] {text}"), line(&text)] {
            let _ = LiveLines::new(text.as_bytes()).count();
            let _ = reminder::parse(text.as_bytes());
            let _ = commitment::parse(text.as_bytes());
            let _ = memory::parse(text.as_bytes());
        }
    }
}
