//! Tests that BM25 finds the same best documents as a scan that scores every document.

use super::*;
use crate::search::read::block::{Block, Kind, ParsedNote};

/// Segments of notes whose words are as frequent as in a language.
fn corpus(notes: &[usize]) -> Corpus {
    let mut seed = 11u64;
    let mut next = move |most: f64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (most.ln() * ((seed >> 11) as f64 / (1u64 << 53) as f64)).exp() as usize
    };
    let mut corpus = Corpus::default();
    for count in notes {
        let notes = (0..*count).map(|n| {
            let mut note = ParsedNote::default();
            for place in 0..next(40.0) {
                let words: Vec<String> = (0..next(30.0)).map(|_| format!("w{}", next(900.0))).collect();
                let kind = if next(20.0) == 1 { Kind::Comment } else { Kind::Item };
                let mut block = Block::new(kind, 0, 0, words.join(" "));
                block.section = (place > 4).then(|| format!("w{} w{}", place / 5, next(50.0)).into());
                note.blocks.push(block);
            }
            note.title = format!("w{}", next(90.0));
            (format!("{count}/{n}.md"), note)
        });
        let notes: Vec<_> = notes.collect();
        corpus.put(notes).unwrap();
    }
    let odd = &mut corpus.segs[1];
    (0..odd.reader.max_doc()).step_by(7).for_each(|doc| odd.bury(doc, 1));
    corpus
}

/// The score of one document, from nothing but its own text.
fn naive(corpus: &Corpus, clauses: &[(&str, &Clause)], slot: u32) -> (u32, f32) {
    let (seg, doc) = corpus.place(slot);
    let (text, _) = corpus.text(slot).unwrap();
    let meta = corpus.meta(slot);
    let with = clauses.iter().filter(|(word, _)| text.split(' ').any(|own| own == *word));
    let weight = saturated(1.0, f32::from(meta.length), corpus.mean_length(), B);
    let mut score = with.map(|(_, clause)| clause.weight * weight).sum::<f32>();
    let note = seg.rows.note_of(doc).unwrap();
    if seg.blocks(note).unwrap()[(doc - seg.rows.notes()[note].start) as usize].kind == Kind::Comment {
        score *= COMMENT;
    }
    (slot, score)
}

#[test]
fn the_best_are_those_of_scoring_everything() {
    let corpus = corpus(&[700, 33, 90]);
    let lives = |slot: &u32| {
        let (seg, doc) = corpus.place(*slot);
        seg.is_alive(doc)
    };
    let all: Vec<u32> = (0..corpus.len() as u32).filter(lives).collect();
    let odd: Vec<u32> = all.iter().copied().filter(|slot| slot % 2 == 1).collect();
    let allowed: RoaringBitmap = odd.iter().copied().collect();
    for words in [
        &["w1"][..],
        &["w1", "w2", "w3"],
        &["w400", "w1"],
        &["w5", "w60", "w700"],
        &["w899", "w1", "w2", "w7", "w30"],
        &["absent"],
        &["w2", "absent"],
    ] {
        let items: Vec<Item> = words.iter().map(|word| Item::Words((*word).to_owned())).collect();
        let clauses = clauses(&mut DocumentSets::new(&corpus), &items, &mut Vec::new()).unwrap();
        let named: Vec<_> = words.iter().copied().zip(&clauses).collect();
        let places = places(&corpus, 0..corpus.len() as u32);
        for (docs, allowed) in [(&all, None), (&odd, Some(&allowed))] {
            let mut expected: Vec<(u32, f32)> =
                docs.iter().map(|slot| naive(&corpus, &named, *slot)).collect();
            for is_all in [true, false] {
                expected.retain(|(_, score)| is_all || *score > 0.0);
                expected.sort_by(|a, b| rank(&corpus, &places, a, b));
                for most in [1, 10, 300] {
                    let found = top(&corpus, &clauses, allowed, is_all, most).unwrap();
                    assert_eq!(found, expected[..most.min(expected.len())], "{words:?} {most}");
                }
            }
        }
    }
}
