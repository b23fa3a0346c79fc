//! Converts Discord's ids to times, and to the ids of log blocks. Pure.
//!
//! A message's id holds the millisecond of the message's creation. The log's block of the message gets a ULID made of
//! that id alone. The ULID's time is the message's time; its random part holds the id and the kind of event. So the log
//! alone shows which messages it holds, and no second store of "processed ids" exists.

use jiff::Timestamp;
use ulid::Ulid;

/// Milliseconds from the Unix epoch to Discord's, the first instant of 2015.
const EPOCH_MS: i64 = 1_420_070_400_000;

/// When the thing with this id was made.
pub fn time_of(id: u64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds(id)).unwrap_or(Timestamp::MAX)
}

/// The least id that something made at `at` can have; 0 before 2015.
pub fn first_at(at: Timestamp) -> u64 {
    u64::try_from(at.as_millisecond() - EPOCH_MS).map_or(0, |ms| ms << 22)
}

fn milliseconds(id: u64) -> i64 {
    // 42 bits: always fits.
    (id >> 22).cast_signed() + EPOCH_MS
}

/// The event of a message that a block records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockEvent {
    /// The message itself.
    Message,
    /// The message that it answers, and its files.
    About,
    /// An edit, identified by a hash of its text.
    Edit(u16),
    /// Its deletion.
    Deletion,
    /// The memories for its answer.
    Recall,
    /// A stop of its answer.
    Stopped,
    /// A tool that was used for answering it, by its number.
    Tool(u16),
}

const EDIT: u16 = 0x4000;
const DELETION: u16 = 0x8000;
const TOOL: u16 = 0x1000;

impl BlockEvent {
    /// The part for an edit at this instant that left this content.
    pub fn edit(at: Timestamp, content: &str) -> Self {
        let hash = blake3::hash(format!("{at}\n{content}").as_bytes());
        let low = u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]]);
        Self::Edit(low & (EDIT - 1))
    }

    /// The part for a turn's tool call with this number; numbers beyond the largest share it.
    pub fn tool(number: u32) -> Self {
        Self::Tool(u16::try_from(number).unwrap_or(u16::MAX).min(TOOL - 1))
    }

    fn bits(self) -> u16 {
        match self {
            Self::Message => 0,
            Self::About => 1,
            Self::Edit(hash) => EDIT | (hash & (EDIT - 1)),
            Self::Deletion => DELETION,
            Self::Recall => 2,
            Self::Stopped => 3,
            Self::Tool(number) => TOOL | (number & (TOOL - 1)),
        }
    }

    fn from_bits(bits: u16) -> Option<Self> {
        match bits {
            0 => Some(Self::Message),
            1 => Some(Self::About),
            DELETION => Some(Self::Deletion),
            2 => Some(Self::Recall),
            3 => Some(Self::Stopped),
            tool if tool & !(TOOL - 1) == TOOL => Some(Self::Tool(tool & (TOOL - 1))),
            edit if edit & !(EDIT - 1) == EDIT => Some(Self::Edit(edit & (EDIT - 1))),
            _ => None,
        }
    }
}

/// The id of the block that records this part of message `id`.
pub fn block_id(id: u64, part: BlockEvent) -> Ulid {
    let random = (u128::from(id) << 16) | u128::from(part.bits());
    Ulid::from_parts(milliseconds(id).unsigned_abs(), random)
}

/// The message and part that a block's id names, if it was made by [`block_id`].
pub fn message_of(block: Ulid) -> Option<(u64, BlockEvent)> {
    let random = block.random();
    let id = u64::try_from(random >> 16).ok()?;
    let part = BlockEvent::from_bits((random & 0xffff) as u16)?;
    (milliseconds(id).unsigned_abs() == block.timestamp_ms()).then_some((id, part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_documented_example_has_its_documented_time() {
        // https://discord.com/developers/docs/reference#snowflakes
        assert_eq!(time_of(175_928_847_299_117_063).to_string(), "2016-04-30T11:18:25.796Z");
    }

    #[test]
    fn a_foreign_ulid_names_no_message() {
        assert_eq!(message_of("01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap()), None);
    }

    proptest! {
        #[test]
        fn a_block_id_gives_its_message_back(id in 1u64.., bits in 0u16..0x4000) {
            let tool = BlockEvent::tool(u32::from(bits) / 4);
            for part in [BlockEvent::Message, BlockEvent::About, BlockEvent::Edit(bits), BlockEvent::Deletion, BlockEvent::Recall, BlockEvent::Stopped, tool] {
                prop_assert_eq!(message_of(block_id(id, part)), Some((id, part)));
            }
        }

        #[test]
        fn ids_are_ordered_as_their_times(id in (1u64 << 22)..(1 << 62)) {
            prop_assert!(first_at(time_of(id)) <= id);
            prop_assert!(first_at(time_of(id)) + (1 << 22) > id);
        }
    }
}
