//! Lowers the rank of facts that no longer hold: struck facts, the older of two that contradict each other, and
//! expired working memory.
//!
//! A struck or contradicted fact counts as half as similar to the prompt. The text of a struck fact says until which
//! day it held, if the day is known; nothing marks a contradicted fact. Expired working memory comes after all other
//! hits, and is never recalled for a prompt. Pure.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::format::memory::{self, Bullet};
use crate::format::struck;
use crate::memory::contradiction::{is_other_value, words};
use crate::memory::keep_fact::without_decoration;
use crate::search::Hit;
use crate::search::results::Memory;

/// The share of similarity that a fact keeps when it no longer holds.
const PAST: f64 = 0.5;

/// A struck fact as it is told, with its section before it: `Anna: until 2026-05-01: lives in Graz [[logs/…]]`; none
/// for a fact that holds.
fn struck_text(fact: &Bullet) -> Option<String> {
    let struck = struck::parse(&fact.text)?;
    let section = fact.section.as_ref().map(|section| format!("{section}: ")).unwrap_or_default();
    let until = struck.until.map_or_else(|| "no longer".to_owned(), |day| format!("until {day}"));
    Some(format!("{section}{until}: {}", struck.words))
}

/// Puts facts that no longer hold behind those that do, among the facts of one note. The note's bytes are needed
/// because the index has texts without markup.
pub fn demote_outdated(memories: &mut [Memory], note: &str, bytes: &[u8]) {
    let facts = memory::parse(bytes).bullets;
    let fact = |one: &Memory| facts.iter().find(|fact| one.path == note && fact.line == one.line as usize);
    let known: Vec<Option<&Bullet>> = memories.iter().map(fact).collect();
    let says: Vec<Vec<String>> = known
        .iter()
        .map(|fact| fact.map(|fact| words(&without_decoration(&fact.text))).unwrap_or_default())
        .collect();
    let mut past = vec![false; memories.len()];
    for (at, own) in known.iter().enumerate() {
        let Some(own) = own else { continue };
        if let Some(text) = struck_text(own) {
            memories[at].text = text;
            past[at] = true;
            continue;
        }
        past[at] = known.iter().enumerate().any(|(other, newer)| {
            let is_newer =
                memories[other].time.zip(memories[at].time).is_some_and(|(newer, own)| newer > own);
            let same = newer
                .is_some_and(|newer| newer.section == own.section && struck::parse(&newer.text).is_none());
            is_newer && same && is_other_value(&says[other], &says[at])
        });
    }
    for (memory, _) in memories.iter_mut().zip(past).filter(|(_, past)| *past) {
        memory.similarity *= PAST;
    }
}

/// Puts the hits of an expired note behind all others, each with the day until which it held.
pub fn demote_expired(hits: &mut Vec<Hit>, note: &str, expired: Timestamp, zone: &TimeZone) {
    let day = expired.to_zoned(zone.clone()).date();
    let mut behind: Vec<Hit> = hits.extract_if(.., |hit| hit.path == note).collect();
    for hit in &mut behind {
        hit.snippet = format!("until {day}: {}", hit.snippet);
        hit.text = format!("until {day}: {}", hit.text);
    }
    hits.append(&mut behind);
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "## Anna
- ~~lives in Graz [[logs/a#^X]]~~ until 2026-05-01 [[logs/b#^Y]]
- lives in Vienna [[logs/b#^Y]]
- lives in Linz [[logs/c#^Z]]
- ~~by hand~~
## Bob
- lives in Linz
- lives in ~~Graz~~ Wels
";

    fn fact(line: u32, time: i64) -> Memory {
        Memory {
            path: "MEMORY.md".into(),
            line,
            text: "as the index has it".into(),
            time: jiff::Timestamp::from_second(time).ok(),
            similarity: 0.8,
            ..Memory::default()
        }
    }

    #[test]
    fn what_holds_stands_before_what_held() {
        let mut memories = vec![
            fact(2, 5),
            fact(3, 9),
            fact(4, 7),
            fact(5, 1),
            fact(7, 1),
            fact(8, 0),
            Memory { path: "note.md".into(), ..fact(4, 1) },
        ];
        demote_outdated(&mut memories, "MEMORY.md", NOTE.as_bytes());
        let shares: Vec<f64> = memories.iter().map(|memory| memory.similarity).collect();
        assert_eq!(shares, [0.4, 0.8, 0.4, 0.4, 0.8, 0.4, 0.8]);
        assert_eq!(memories[0].text, "Anna: until 2026-05-01: lives in Graz [[logs/a#^X]]");
        assert_eq!(memories[3].text, "Anna: no longer: by hand");
        assert_eq!(memories[1].text, "as the index has it");
    }
}
