//! Shortens a log to a limited size: to its summaries and the events that no summary covers.

use jiff::tz::TimeZone;

use super::Summaries;
use super::due::event_texts;
use super::extract::SourceText;
use super::store::Result;
use crate::format::log::LogBlock;
use crate::turn::history;
use crate::turn::past_context::PastSummary;
use crate::vault::NotePath;

/// A log in short.
#[derive(Debug, Default)]
pub struct CondensedLog {
    /// Its top-level summaries, oldest first.
    pub roots: Vec<PastSummary>,
    /// The newest messages behind the last of them.
    pub rest: Vec<SourceText>,
}

impl Summaries<'_> {
    /// The summaries of the log at `path` with these events, and the newest `most` tokens of the events that no summary
    /// covers.
    ///
    /// # Errors
    /// A summary can't be read.
    pub fn material(
        &self,
        path: &NotePath,
        blocks: Vec<LogBlock>,
        zone: &TimeZone,
        most: u64,
    ) -> Result<CondensedLog> {
        let (roots, blocks) = self.past_summaries(path.as_str(), blocks);
        let roots = roots?;
        let last = roots.last().map(|past| past.last.as_str());
        let covered = blocks.iter().rposition(|block| last.is_some() && block.event.id.as_deref() == last);
        let rest = event_texts(&blocks, covered.map_or(0, |at| at + 1)..blocks.len(), zone);
        Ok(CondensedLog { roots, rest: newest(rest, most) })
    }
}

impl CondensedLog {
    /// All of it in one order, the newest `most` tokens.
    pub fn into_sources(self, most: u64) -> Vec<SourceText> {
        let root = |past: PastSummary| SourceText { head: String::new(), text: past.text };
        newest(self.roots.into_iter().map(root).chain(self.rest).collect(), most)
    }
}

/// Drops the oldest of `sources` until at most `most` tokens are left.
fn newest(sources: Vec<SourceText>, most: u64) -> Vec<SourceText> {
    history::newest(sources, most, |one| history::estimate(&one.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stays() {
        let sources = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| SourceText { head: String::new(), text: (*text).to_owned() })
                .collect::<Vec<_>>()
        };
        let four = sources(&["aaaa", "bbbbbbbb", "cccc", "dddd"]);
        assert_eq!(newest(four.clone(), 2), four[2..]);
        assert_eq!(newest(four.clone(), 4), four[1..]);
        assert_eq!(newest(four.clone(), 100), four);
        assert!(newest(four, 0).is_empty());
    }
}
