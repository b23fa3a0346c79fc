//! Tests that a word's set has all blocks with the word, and no block without a form of it.

use proptest::prelude::*;

use super::*;
use crate::search::analyze::text::Form;
use crate::search::read::block::{Block, Kind, ParsedNote};

/// A corpus of one note with these texts and extra words.
fn corpus(texts: &[(String, String)]) -> Corpus {
    let blocks = texts.iter().map(|(text, extra)| Block {
        extra: extra.clone(),
        ..Block::new(Kind::Paragraph, 0, 0, text.clone())
    });
    let title = "running".to_owned();
    let note = ParsedNote { title, blocks: blocks.collect(), ..ParsedNote::default() };
    let mut corpus = Corpus::default();
    corpus.put([("a.md".to_owned(), note)]).unwrap();
    corpus
}

const WORDS: &str = "([Rr]unn(ing|er)|notes?|camelCase|HTTPServer|snake_case|don('|’)t|the|[Cc]af[eé]|cafe\u{301}|Müller(’s)?|universe's|Straße|ｆｕｌｌ|ﬁne|dying|happ(y|ily)|configurations|hoping|国|复杂度|ノート・リンク|서울|서울abc|がか\u{3099}|कि|a/b|2026-11-20|\\[\\[logs/a#\\^X\\]\\]|#\\^|🙂| |\\.|-){0,9}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_word_and_its_beginnings_find_all_blocks_that_have_it(
        texts in proptest::collection::vec((WORDS, "(camelCase|docs\\.rs| |the){0,2}"), 1..6)
    ) {
        let (corpus, mut analyzer) = (corpus(&texts), Analyzer::default());
        let mut sets = DocumentSets::new(&corpus);
        for (doc, (text, extra)) in (0..).zip(&texts) {
            for text in [text, extra] {
                for word in query_words(&mut analyzer, text) {
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
        let (corpus, mut analyzer) = (corpus(&texts), Analyzer::default());
        let mut sets = DocumentSets::new(&corpus);
        for word in query_words(&mut analyzer, "running note muller happy hope") {
            for doc in sets.with(&WordMatcher::Form(word.clone())).unwrap() {
                let text = &texts[doc as usize].0;
                let has = query_words(&mut analyzer, text).iter().any(|own| own.stem == word.stem);
                prop_assert!(has, "{word:?} in {text:?}");
            }
        }
    }
}
