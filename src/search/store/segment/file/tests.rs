//! Tests of `file`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, SegmentReader, TERMINATED};

use super::*;
use crate::search::analyze::text::STEM;
use crate::search::read::block::Note;

type Found = BTreeMap<Vec<u8>, Vec<u32>>;

fn block(kind: Kind, section: u8, words: &str) -> Block {
    let mut block = Block::new(kind, 0, 0, words.to_owned());
    block.section = (section > 0).then(|| format!("Running heads {section}").into());
    block.line = 7;
    block
}

fn held(reader: &SegmentReader, field: Field) -> Found {
    let inverted = reader.inverted_index(field).unwrap();
    let mut found = Found::new();
    let mut terms = inverted.terms().stream().unwrap();
    while terms.advance() {
        let mut postings =
            inverted.read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic).unwrap();
        let docs = found.entry(terms.key().to_vec()).or_default();
        while postings.doc() != TERMINATED {
            docs.push(postings.doc());
            postings.advance();
        }
    }
    found
}

fn stand(found: &mut Found, term: &str, doc: u32) {
    let docs = found.entry(term.as_bytes().to_vec()).or_default();
    if docs.last() != Some(&doc) {
        docs.push(doc);
    }
}

#[test]
fn a_segment_of_empty_texts_can_be_read() {
    let mut builder = SegmentBuilder::new(&Target::Memory, &Basis::default()).unwrap();
    let blocks = vec![block(Kind::Item, 0, ""); 3];
    let note = Note { blocks, ..Note::default() };
    builder.add("a.md", &Parsed { note, ..Parsed::default() }).unwrap();
    let (reader, _) = read_new(&builder.finish().unwrap()).unwrap();
    let stored = Texts::open(&reader, 8).unwrap();
    for doc in 0..3 {
        assert_eq!(stored.text(doc).unwrap(), (String::new(), String::new()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_segment_holds_exactly_what_the_analyzer_says(
        notes in proptest::collection::vec(
            proptest::collection::vec((0..14usize, 0..3u8, "([Rr]unning|notes|camelCase|don't|café|复杂度|a/b|#x| |\\.){0,9}"), 0..40),
            1..4,
        )
    ) {
        let fields = Fields::new();
        let mut builder = SegmentBuilder::new(&Target::Memory, &Basis::default()).unwrap();
        let mut text = Found::new();
        let (mut texts, mut doc) = (Vec::new(), 0);
        let mut analyzer = Analyzer::new();
        for blocks in &notes {
            let blocks = blocks.iter().map(|(kind, section, words)| block(Kind::ALL[*kind], *section, words));
            let note = Note { blocks: blocks.collect(), ..Note::default() };
            let parsed = Parsed { note, head: "The title runs".to_owned() };
            let (run, note) = (builder.add("a.md", &parsed).unwrap(), &parsed.note);
            prop_assert_eq!((run.start, run.count as usize), (doc, note.blocks.len()));
            for block in &note.blocks {
                analyzer.terms(&block.text, &mut |_, term, stem| {
                    stand(&mut text, term, doc);
                    stem.iter().for_each(|stem| stand(&mut text, &format!("{STEM}{stem}"), doc));
                });
                texts.push(block.text.clone());
                doc += 1;
            }
        }
        let (reader, _) = read_new(&builder.finish().unwrap()).unwrap();
        prop_assert_eq!(reader.max_doc(), doc);
        prop_assert_eq!(held(&reader, fields.text), text);
        let stored = Texts::open(&reader, 8).unwrap();
        for (doc, text) in texts.iter().enumerate() {
            prop_assert_eq!(&stored.text(doc as u32).unwrap().0, text);
        }
    }
}
