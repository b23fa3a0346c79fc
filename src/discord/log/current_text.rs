//! Keeps the current text of each logged message, as a hash with its time, to detect edits that the log doesn't show
//! yet.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::discord::api::snowflake::BlockEvent;

/// The beginning of an edit's event.
pub(super) const EDITED: &str = "edited [[";

/// The current texts, as hashes, each with its time.
#[derive(Debug, Default)]
pub(super) struct CurrentTexts(BTreeMap<u64, (Timestamp, u64)>);

impl CurrentTexts {
    /// Adds an event of the log.
    pub fn add_event(&mut self, message: u64, part: BlockEvent, at: Timestamp, content: &str) {
        let text = match part {
            BlockEvent::Message => content,
            BlockEvent::Edit(_) => {
                let after = content.strip_prefix(EDITED).and_then(|rest| rest.split_once("]]:\n"));
                after.map_or(content, |(_, text)| text)
            }
            BlockEvent::About
            | BlockEvent::Deletion
            | BlockEvent::Recall
            | BlockEvent::Stopped
            | BlockEvent::Tool(_) => return,
        };
        self.0.insert(message, (at, hash(text)));
    }

    /// Adds the texts of an older window; existing ones are newer and stay.
    pub fn add_older(&mut self, older: Self) {
        for (message, shown) in older.0 {
            self.0.entry(message).or_insert(shown);
        }
    }

    /// Whether the text of `at` differs from the current one and is newer. An edit that came late, after a newer one
    /// was logged, doesn't count; neither does one without a text.
    pub fn differs(&self, message: u64, at: Timestamp, text: &str) -> bool {
        !text.is_empty()
            && self.0.get(&message).is_none_or(|(shown_at, shown)| *shown != hash(text) && at >= *shown_at)
    }

    /// Forgets all before this message.
    pub fn forget_before(&mut self, message: u64) {
        self.0 = self.0.split_off(&message);
    }
}

fn hash(text: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_and_newer_text_is_news() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut shown = CurrentTexts::default();
        assert!(shown.differs(1, at(9), "a"), "what isn't known is looked up in the log");
        shown.add_event(1, BlockEvent::Message, at(10), "a");
        assert!(
            !shown.differs(1, at(11), "a") && shown.differs(1, at(11), "b") && !shown.differs(1, at(11), "")
        );
        shown.add_event(1, BlockEvent::edit(at(20), "b"), at(20), "edited [[logs/x#^1]]:\nb");
        assert!(!shown.differs(1, at(21), "b") && shown.differs(1, at(21), "a"));
        assert!(!shown.differs(1, at(15), "c"), "an older edit that came late");
        shown.add_event(1, BlockEvent::About, at(30), "answers [[x]]");
        assert!(!shown.differs(1, at(31), "b"));
    }
}
