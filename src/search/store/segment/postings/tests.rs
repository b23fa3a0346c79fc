//! What `postings` promises, case by case.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #[test]
    fn what_is_added_comes_back(words in proptest::collection::vec(("[ab]{1,3}", 0..3u32, 1..200u32), 0..400)) {
        let mut postings = Postings::default();
        let mut expected: BTreeMap<String, BTreeMap<u32, u32>> = BTreeMap::new();
        let mut doc = 0;
        for (word, step, times) in &words {
            doc += step * step * step * 50;
            let term = postings.term(word.as_bytes());
            postings.add(term, doc, *times);
            *expected.entry(word.clone()).or_default().entry(doc).or_default() += times;
        }
        prop_assert_eq!(postings.total(), words.iter().map(|(_, _, times)| u64::from(*times)).sum::<u64>());
        for (word, docs) in expected {
            let term = postings.term(word.as_bytes());
            let mut found = BTreeMap::new();
            postings.each(&postings.lists[term as usize], |doc, times| { found.insert(doc, times); });
            prop_assert_eq!(found, docs);
        }
    }
}

#[test]
fn a_long_list_fills_many_chunks() {
    let mut postings = Postings::default();
    let terms: Vec<u32> = (0..3000u32).map(|n| postings.term(&n.to_le_bytes())).collect();
    for doc in 0..20_000 {
        postings.add(terms[0], doc * 3, 1 + doc % 5);
        postings.add(terms[(doc % 2999 + 1) as usize], doc * 3, 1);
    }
    let mut next = 0;
    postings.each(&postings.lists[0], |doc, times| {
        assert_eq!((doc, times), (next * 3, 1 + next % 5));
        next += 1;
    });
    assert_eq!(next, 20_000);
    assert_eq!(postings.term(&7u32.to_le_bytes()), terms[7]);
}
