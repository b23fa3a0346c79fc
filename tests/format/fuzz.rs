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
    properties::file_lines(bytes);
    properties::reminders(bytes);
    properties::commitments(bytes);
    properties::memories(bytes);
    properties::logs(bytes);
    properties::skills(bytes);
}

fn files(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn the_seeds_hold() {
    let seeds = files("fuzz/seeds");
    assert!(seeds.len() >= 8);
    for seed in seeds {
        everything(&seed);
        // Cut anywhere: a file that is still being written.
        for cut in (0..seed.len()).step_by(7) {
            everything(&seed[..cut]);
        }
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
const PIECES: &[&str] = &[
    "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"x\"",
    "- [ ] ",
    "date=2026-01-31 ",
    "time=24:00 ",
    "recur=monthly ",
    "day=31 ",
    "msg=\"a\\\\\"",
    " id=rid_AAAAAAAAAAAA",
    " ^b",
    "---\n",
    "id: a\n",
    "status: pending\n",
    "due: 2026-05-08T19:00:00Z\n",
    "# ",
    "## S\n",
    "- [2026-11-20] a [k:: v]\n",
    "  more\n",
    "[[a#^b]]",
    "```\n",
    "~~~~\n",
    "<!--",
    "-->",
    "%%",
    "`",
    "> [!user] 2026-01-30T14:23:55Z A\n",
    "> ",
    ">\n",
    "^01KG7KVKVR0000000000000007\n",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\u{a0}",
    "\u{feff}",
    "é",
    "\"",
    "# Working Memory\n",
    "Updated: 2026-02-25T11:30:00Z\n",
    "Expires: 2026-03-10T11:30:00Z\n",
    "schedule: daily 08:00\n",
    "name: web\n",
    "description: >-\n  x\n",
    "metadata:\n  secrets: [A_KEY]\n    - ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn any_pieces_hold(pieces in prop::collection::vec(prop_oneof![
        9 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
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
    for unit in [
        "%",
        "%a",
        "<!-- ",
        "` `` ``` ",
        "\\\"",
        "date= ",
        "- ",
        "= ",
        "[a::",
        "^",
        "\u{a0}",
        "---\na: b\n",
        "```\n",
        "\n",
        "> ",
    ] {
        let text = unit.repeat(BIG / unit.len() / 4);
        for text in [text.clone(), format!("- [ ] {text}"), line(&text)] {
            let _ = LiveLines::new(text.as_bytes()).count();
            let _ = reminder::parse(text.as_bytes());
            let _ = commitment::parse(text.as_bytes());
            let _ = memory::parse(text.as_bytes());
        }
    }
}
