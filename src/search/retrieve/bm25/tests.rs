//! Tests that BM25 finds the same best documents as a scan that scores every document.

use std::sync::Arc;

use tantivy::BitSet;

use super::*;
use crate::search::read::block::{Block, Kind, Note};
use crate::search::read::note::Parsed;
use crate::search::store::corpus::note_rows::RowInputs;
use crate::search::store::segment::file;
use crate::search::store::segment::file::{SegmentBuilder, Target, Texts};
use crate::search::store::view::Seg;

/// Segments of notes whose words are as frequent as in a language.
fn view(notes: &[usize]) -> View {
    let mut seed = 11u64;
    let mut next = move |most: f64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (most.ln() * ((seed >> 11) as f64 / (1u64 << 53) as f64)).exp() as usize
    };
    let mut view = View::default();
    for count in notes {
        let mut builder = SegmentBuilder::new(&Target::Memory, &RowInputs::default()).unwrap();
        for n in 0..*count {
            let mut note = Note::default();
            for place in 0..next(40.0) {
                let words: Vec<String> = (0..next(30.0)).map(|_| format!("w{}", next(900.0))).collect();
                let kind = if next(20.0) == 1 { Kind::Comment } else { Kind::Item };
                let mut block = Block::new(kind, 0, 0, words.join(" "));
                block.section = (place > 4).then(|| format!("w{} w{}", place / 5, next(50.0)).into());
                note.blocks.push(block);
            }
            let parsed = Parsed { note, head: format!("w{}", next(90.0)) };
            let place = builder.add(&format!("{n}.md"), &parsed).unwrap();
            view.totals.docs += u64::from(place.count);
        }
        let (reader, rows) = file::read_new(&builder.finish().unwrap()).unwrap();
        let texts = Arc::new(Texts::open(&reader, 8).unwrap());
        let mut alive = BitSet::with_max_value_and_full(reader.max_doc());
        (0..reader.max_doc()).step_by(7).for_each(|doc| alive.remove(doc));
        let alive = (*count % 2 == 1).then_some(alive);
        view.segs.push(Arc::new(Seg {
            id: 0,
            rows: Arc::new(rows),
            reader,
            texts,
            alive,
            memory: Vec::new(),
        }));
    }
    view
}

/// The score of one document, from nothing but its own text.
fn naive(view: &View, clauses: &[(&str, &Clause)], at: DocRef) -> Scored {
    let seg = &view.segs[at.seg];
    let (doc, rows) = (at.doc as usize, &seg.rows);
    let (text, _) = view.text(at).unwrap();
    let length = f64::from(rows.meta(doc).length);
    let with = clauses.iter().filter(|(word, _)| text.split(' ').any(|own| own == *word));
    let mut score =
        with.map(|(_, clause)| clause.weight * saturation(length, view.mean_length())).sum::<f64>();
    let note = rows.note_of(at.doc).unwrap();
    if seg.blocks(note).unwrap()[(at.doc - rows.notes()[note].start) as usize].kind == Kind::Comment {
        score *= COMMENT;
    }
    Scored { score, time: rows.meta(doc).time, tie: rows.tie(doc), at }
}

#[test]
fn the_best_are_those_of_scoring_everything() {
    let fields = Fields::new();
    let view = view(&[700, 33, 90]);
    let all: Vec<DocRef> = view
        .segs
        .iter()
        .enumerate()
        .flat_map(|(seg, of)| (0..of.reader.max_doc()).map(move |doc| DocRef { seg, doc }))
        .filter(|at| view.segs[at.seg].is_alive(at.doc))
        .collect();
    let odd = all.iter().filter(|at| at.doc % 2 == 1).map(|at| view.number(*at)).collect();
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
        let clauses = clauses(&mut DocumentSets::new(&view, &fields), &items, &mut Vec::new()).unwrap();
        let named: Vec<_> = words.iter().copied().zip(&clauses).collect();
        for (docs, allowed) in
            [(all.clone(), None), (all.iter().copied().filter(|at| at.doc % 2 == 1).collect(), Some(&odd))]
        {
            let mut expected: Vec<Scored> = docs.iter().map(|at| naive(&view, &named, *at)).collect();
            for is_all in [true, false] {
                expected.retain(|scored| is_all || scored.score > 0.0);
                expected.sort_by(Scored::rank);
                for most in [1, 10, 300] {
                    let found = top(&view, &fields, &clauses, allowed, is_all, most).unwrap();
                    assert_eq!(found, expected[..most.min(expected.len())], "{words:?} {most}");
                }
            }
        }
    }
}
