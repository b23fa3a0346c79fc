//! Tests `file`.

use proptest::prelude::*;

use super::*;
use crate::search::store::segment::reader::Seg;

fn block(kind: Kind, section: u8, words: &str) -> Block {
    let mut block = Block::new(kind, 0, 0, words.to_owned());
    block.section = (section > 0).then(|| format!("Running heads {section}").into());
    block.line = 7;
    block
}

#[test]
fn a_segment_of_empty_texts_can_be_read() {
    let mut builder = SegmentBuilder::new(None, &RowInputs::default()).unwrap();
    let blocks = vec![block(Kind::Item, 0, ""); 3];
    let note = ParsedNote { blocks, ..ParsedNote::default() };
    builder.add("a.md", &note).unwrap();
    let seg = Seg::open(0, &builder.finish().unwrap(), 8).unwrap();
    for doc in 0..3 {
        assert_eq!(seg.text(doc).unwrap(), (String::new(), String::new()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_segment_holds_its_blocks_side_by_side(
        notes in proptest::collection::vec(
            proptest::collection::vec((0..14usize, 0..3u8, "([Rr]unning|notes|camelCase|don't|café|复杂度|a/b|#x| |\\.){0,9}"), 0..40),
            1..4,
        )
    ) {
        let mut builder = SegmentBuilder::new(None, &RowInputs::default()).unwrap();
        let (mut texts, mut runs) = (Vec::new(), Vec::new());
        for blocks in &notes {
            let blocks = blocks.iter().map(|(kind, section, words)| block(Kind::ALL[*kind], *section, words));
            let title = "The title runs".to_owned();
            let note = ParsedNote { title, blocks: blocks.collect(), ..ParsedNote::default() };
            builder.add("a.md", &note).unwrap();
            runs.push((texts.len(), note.blocks.len()));
            texts.extend(note.blocks.iter().map(|block| block.text.clone()));
        }
        let seg = Seg::open(0, &builder.finish().unwrap(), 8).unwrap();
        prop_assert_eq!(seg.reader.max_doc() as usize, texts.len());
        let found = seg.rows.notes().iter().map(|note| (note.start as usize, note.count as usize));
        prop_assert!(found.eq(runs));
        for (doc, text) in texts.iter().enumerate() {
            prop_assert_eq!(&seg.text(doc as u32).unwrap().0, text);
        }
    }
}
