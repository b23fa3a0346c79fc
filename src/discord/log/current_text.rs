//! What the log shows of each message by now: its text, or the newest edit of it. Enough of it to tell what is news.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::discord::api::snowflake::Part;

/// How the event begins that shows an edit.
pub(super) const EDITED: &str = "edited [[";

/// The texts that a log shows, as hashes, with the time that each is of.
#[derive(Debug, Default)]
pub(super) struct CurrentTexts(BTreeMap<u64, (Timestamp, u64)>);

impl CurrentTexts {
    /// Takes in an event of the log.
    pub fn learn(&mut self, message: u64, part: Part, at: Timestamp, content: &str) {
        let text = match part {
            Part::Message => content,
            Part::Edit(_) => {
                let after = content.strip_prefix(EDITED).and_then(|rest| rest.split_once("]]:\n"));
                after.map_or(content, |(_, text)| text)
            }
            Part::About | Part::Deletion | Part::Recall | Part::Stopped | Part::Tool(_) => return,
        };
        self.0.insert(message, (at, hash(text)));
    }

    /// Takes in what an older window shows: newer words stand in this one.
    pub fn add_older(&mut self, older: Self) {
        for (message, shown) in older.0 {
            self.0.entry(message).or_insert(shown);
        }
    }

    /// Whether a message that is known here says something else since `at`. An edit that came late, after a newer one
    /// was shown, is none; neither is one that leaves no text to be seen.
    pub fn is_news(&self, message: u64, at: Timestamp, text: &str) -> bool {
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
        assert!(shown.is_news(1, at(9), "a"), "what isn't known is looked up in the log");
        shown.learn(1, Part::Message, at(10), "a");
        assert!(
            !shown.is_news(1, at(11), "a") && shown.is_news(1, at(11), "b") && !shown.is_news(1, at(11), "")
        );
        shown.learn(1, Part::edit(at(20), "b"), at(20), "edited [[logs/x#^1]]:\nb");
        assert!(!shown.is_news(1, at(21), "b") && shown.is_news(1, at(21), "a"));
        assert!(!shown.is_news(1, at(15), "c"), "an older edit that came late");
        shown.learn(1, Part::About, at(30), "answers [[x]]");
        assert!(!shown.is_news(1, at(31), "b"));
    }
}
