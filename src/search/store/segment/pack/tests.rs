//! Tests of `pack`.

use std::sync::Arc;

use super::*;
use crate::search::read::block::{Kind, Role};
use proptest::prelude::*;

fn block() -> impl Strategy<Value = Block> {
    (
        (0..Kind::ALL.len(), any::<u16>(), any::<u16>(), any::<u32>(), any::<u16>()),
        (
            any::<Option<i64>>(),
            any::<Option<bool>>(),
            proptest::option::of("[a-cä字]{0,3}"),
            proptest::option::of(".{0,3}"),
        ),
        (proptest::collection::vec(".{0,4}", 0..3), proptest::collection::vec("[a-z]", 0..3)),
    )
        .prop_map(|((kind, line, lines, start, length), (time, role, section, id), (tags, links))| {
            let mut block = Block::new(Kind::ALL[kind], 0, 0, String::new());
            block.line = u32::from(line);
            block.end_line = block.line + u32::from(lines);
            block.start = start / 2;
            block.end = block.start + u32::from(length);
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
