//! Counts how often a memory was used, from the vault: recalled memories are links in a folded callout of a turn's log,
//! or in the day's note. Pure: bytes in, counts out.

use std::collections::HashMap;

use crate::format::log::{self, EventKind};

/// When blocks were recalled, in seconds, by the note's path (or name) without its extension and the block id.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RecallCounts(HashMap<(String, String), Vec<i64>>);

/// One block's uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecallCount {
    /// How often.
    pub times: u32,
    /// When last, in seconds.
    pub last: i64,
    /// Mean days between two uses.
    pub gap_days: f64,
}

impl RecallCounts {
    /// Adds the links in a log's recall callouts.
    pub fn add_log(&mut self, bytes: &[u8]) {
        for block in log::parse(bytes).blocks {
            if block.event.kind == EventKind::Recall {
                self.add(&block.event.content, block.event.at.as_second());
            }
        }
    }

    /// Adds the links to blocks in a text of that time.
    pub fn add(&mut self, text: &str, time: i64) {
        for link in text.split("[[").skip(1).filter_map(|rest| rest.split_once("]]")) {
            let target = link.0.split('|').next().unwrap_or("");
            if let Some((path, id)) = target.split_once("#^") {
                let path = path.strip_suffix(".md").unwrap_or(path);
                self.0.entry((path.to_owned(), id.to_owned())).or_default().push(time);
            }
        }
    }

    /// The uses of the block `id` of the note at `path`; none where it was never recalled.
    pub fn of(&self, path: &str, id: &str) -> Option<RecallCount> {
        let path = path.strip_suffix(".md").unwrap_or(path);
        let name = path.rsplit('/').next().unwrap_or(path);
        let by = |path: &str| self.0.get(&(path.to_owned(), id.to_owned()));
        let by_name = if name == path { None } else { by(name) };
        let mut times: Vec<i64> = by(path).into_iter().chain(by_name).flatten().copied().collect();
        times.sort_unstable();
        let (first, last) = (*times.first()?, *times.last()?);
        #[expect(clippy::cast_precision_loss, reason = "days")]
        let gap_days = (last - first) as f64 / 86_400.0 / (times.len() - 1).max(1) as f64;
        Some(RecallCount { times: u32::try_from(times.len()).unwrap_or(u32::MAX), last, gap_days })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_recall_callouts_are_uses_and_what_was_said_is_none() {
        let mut uses = RecallCounts::default();
        uses.add_log(
            b"> [!user] 2026-01-30T14:00:00Z Ann\n> see [[MEMORY#^tea]]\n\n^01JGXYZ0000000000000000001\n\n\
              > [!recall]- 2026-01-30T14:00:01Z\n> - [[MEMORY#^tea]] line 4\n> - [[logs/x/a_0001#^01J|a]] line 9\n\n\
              ^01JGXYZ0000000000000000002\n",
        );
        let day = 86_400;
        let first = uses.of("MEMORY.md", "tea").unwrap();
        assert_eq!((first.times, first.gap_days), (1, 0.0));
        uses.add("- 14:02 recalled [[MEMORY#^tea]] and [[MEMORY]]", first.last + 4 * day);
        let both = uses.of("MEMORY.md", "tea").unwrap();
        assert_eq!((both.times, both.last - first.last, both.gap_days), (2, 4 * day, 4.0));
        assert_eq!(uses.of("logs/x/a_0001.md", "01J").unwrap().times, 1);
        assert_eq!(uses.of("MEMORY.md", "coffee"), None);
        uses.add("[[a_0001#^01J]] [[#^]] [[", 0);
        assert_eq!(uses.of("logs/x/a_0001.md", "01J").unwrap().times, 2);
    }
}
