//! Tests `pack`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::search::read::block::{Kind, Role};
use proptest::prelude::*;

fn block() -> impl Strategy<Value = Block> {
    (
        (0..Kind::ALL.len(), any::<u16>(), any::<u16>()),
        (
            any::<Option<i64>>(),
            any::<Option<bool>>(),
            proptest::option::of("[a-cä字]{0,3}"),
            proptest::option::of(".{0,3}"),
        ),
        (proptest::collection::vec(".{0,4}", 0..3), proptest::collection::vec("[a-z]", 0..3)),
    )
        .prop_map(|((kind, line, lines), (time, role, section, id), (tags, links))| {
            let mut block = Block::new(Kind::ALL[kind], 0, 0, String::new());
            block.line = u32::from(line);
            block.end_line = block.line + u32::from(lines);
            block.time = time;
            block.role = role.map(|user| if user { Role::User } else { Role::Tool });
            block.section = section.map(Arc::from);
            block.block_id = id;
            block.tags = tags;
            block.links = links;
            block
        })
}

proptest! {
    #[test]
    fn what_is_packed_comes_back(blocks in proptest::collection::vec(block(), 0..8), times in 1..30usize) {
        let blocks: Vec<Block> = std::iter::repeat_n(blocks, times).flatten().collect();
        let packed = pack(&blocks);
        prop_assert_eq!(unpack(&packed).unwrap(), blocks);
    }

    #[test]
    fn torn_bytes_are_an_error_or_blocks_but_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let _ = unpack(&bytes);
    }
}

proptest! {
    #[test]
    fn what_is_added_comes_back(
        docs in proptest::collection::vec((1_u32..100_000, proptest::collection::vec("[ab]{1,2}", 0..9)), 0..40)
    ) {
        let mut postings = Postings::default();
        let mut expected: BTreeMap<String, BTreeMap<u32, u32>> = BTreeMap::new();
        let mut doc = 0;
        for (step, words) in &docs {
            doc += step;
            let mut terms: Vec<u32> = words.iter().map(|word| postings.id(word)).collect();
            postings.add(doc, &mut terms);
            for word in words {
                *expected.entry(word.clone()).or_default().entry(doc).or_default() += 1;
            }
        }
        let mut found: BTreeMap<String, BTreeMap<u32, u32>> = BTreeMap::new();
        for (term, list) in postings.sorted() {
            decode(&list.packed, |doc, times| {
                found.entry(term.to_owned()).or_default().insert(doc, times);
            });
            prop_assert_eq!(found[term].len(), list.docs as usize);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        decode(&bytes, |_, _| ());
    }
}
