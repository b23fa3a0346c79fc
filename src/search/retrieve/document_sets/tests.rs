//! Tests that a word's set has all blocks with the word, and no block without a form of it.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::search::analyze::text::Form;
use crate::search::read::block::{Block, Kind, Note};
use crate::search::read::note::Parsed;
use crate::search::store::corpus::note_rows::RowInputs;
use crate::search::store::segment::file;
use crate::search::store::segment::file::{SegmentBuilder, Target, Texts};

/// A view of one note with these texts and extra words.
fn view(texts: &[(String, String)]) -> View {
    let blocks = texts.iter().map(|(text, extra)| Block {
        extra: extra.clone(),
        ..Block::new(Kind::Paragraph, 0, 0, text.clone())
    });
    let note = Note { blocks: blocks.collect(), ..Note::default() };
    let mut builder = SegmentBuilder::new(&Target::Memory, &RowInputs::default()).unwrap();
    builder.add("a.md", &Parsed { note, head: "running".to_owned() }).unwrap();
    let (reader, rows) = file::read_new(&builder.finish().unwrap()).unwrap();
    let texts = Arc::new(Texts::open(&reader, 8).unwrap());
    let seg = Seg { id: 0, reader, texts, rows: Arc::new(rows), alive: None, memory: Vec::new() };
    View { segs: vec![Arc::new(seg)], ..View::default() }
}

const WORDS: &str = "([Rr]unn(ing|er)|notes?|camelCase|HTTPServer|snake_case|don('|’)t|the|[Cc]af[eé]|cafe\u{301}|Müller(’s)?|universe's|Straße|ｆｕｌｌ|ﬁne|dying|happ(y|ily)|configurations|hoping|国|复杂度|ノート・リンク|서울|서울abc|がか\u{3099}|कि|a/b|2026-11-20|\\[\\[logs/a#\\^X\\]\\]|#\\^|🙂| |\\.|-){0,9}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_word_and_its_beginnings_find_all_blocks_that_have_it(
        texts in proptest::collection::vec((WORDS, "(camelCase|docs\\.rs| |the){0,2}"), 1..6)
    ) {
        let (fields, view, mut analyzer) = (Fields::new(), view(&texts), Analyzer::new());
        let mut sets = DocumentSets::new(&view, &fields);
        for (doc, (text, extra)) in (0..).zip(&texts) {
            for text in [text, extra] {
                for word in query_words::words(&mut analyzer, text) {
                    let found = sets.with(&WordMatcher::Form(word.clone())).unwrap();
                    prop_assert!(found.contains(doc), "{word:?} of {text:?}");
                    for (end, _) in word.exact.char_indices().skip(2).filter(|_| word.form != Form::Whole) {
                        let found = sets.with(&WordMatcher::Prefix(word.exact[..end].to_owned())).unwrap();
                        prop_assert!(found.contains(doc), "{word:?} to {end} of {text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_in_a_words_set_has_a_form_of_it(
        texts in proptest::collection::vec("((R|r)unn(ing|er)|notes?|the|Müller|happ(y|ily)|hoping| |\\.){0,5}", 1..6)
    ) {
        let texts: Vec<_> = texts.into_iter().map(|text| (text, String::new())).collect();
        let (fields, view, mut analyzer) = (Fields::new(), view(&texts), Analyzer::new());
        let mut sets = DocumentSets::new(&view, &fields);
        for word in query_words::words(&mut analyzer, "running note muller happy hope") {
            for doc in sets.with(&WordMatcher::Form(word.clone())).unwrap() {
                let text = &texts[doc as usize].0;
                let has = query_words::words(&mut analyzer, text).iter().any(|own| own.stem == word.stem);
                prop_assert!(has, "{word:?} in {text:?}");
            }
        }
    }
}
