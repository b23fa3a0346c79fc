//! Implements published formulas for ranking memories, each with its source, and counts how often a memory was
//! recalled. Formulas for blocks, against which the ranking is measured, are in `benches/recall/fit.rs`.
//!
//! Sources: the build plan of OpenClawdCode ("memory-lancedb-pro parity", with the code that it names) and the agent
//! specification §6.4. Recalled memories are links in a folded callout of a turn's log, or in the day's note. Pure:
//! bytes in, counts out.

use std::collections::HashMap;

use crate::defaults::defaults;
use crate::format::log::{self, EventKind};
use crate::memory::MemoryTier;
use crate::search::read::names_of_path;

/// The shape and the floor of each tier's recency.
const TIERS: [(f64, f64); MemoryTier::ALL.len()] = [(0.8, 0.9), (1.0, 0.7), (1.3, 0.5)];

defaults! {
    /// A memory's own weights (inline fields of its bullet) and its use.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Standing {
        /// `[tier:: core|working|peripheral]`.
        pub tier: MemoryTier,
        /// `[importance:: 0.8]`, 0..1.
        pub importance: f64 = 0.5,
        /// `[confidence:: 0.9]`, 0..1.
        pub confidence: f64 = 1.0,
        /// `[temporal:: dynamic]`: the fact may change.
        pub is_dynamic: bool,
        /// How often it was recalled.
        pub uses: u32,
        /// Mean days between uses.
        pub gap_days: f64,
        /// Days since it was last used, or made if it never was.
        pub idle_days: f64,
    }
}

impl Standing {
    /// From a memory's inline fields (`[importance:: 0.8]`, `[confidence:: 0.9]`, `[tier:: core]`,
    /// `[temporal:: dynamic]`); `None` where it has none of them. Numbers outside 0..1 are ignored.
    pub fn from_fields(text: &str, idle_days: f64) -> Option<Self> {
        let mut standing = Self { idle_days, ..Self::default() };
        let mut any = false;
        for field in text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(field, _)| field) {
            let Some((key, value)) = field.split_once("::") else { continue };
            let number = value.trim().parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
            match (key.trim(), number) {
                ("importance", Some(number)) => standing.importance = number,
                ("confidence", Some(number)) => standing.confidence = number,
                ("tier", _) if MemoryTier::named(value.trim()).is_some() => {
                    standing.tier = MemoryTier::named(value.trim()).unwrap_or_default();
                }
                ("temporal", _) if value.trim() == "dynamic" => standing.is_dynamic = true,
                ("temporal", _) if value.trim() == "static" => {}
                _ => continue,
            }
            any = true;
        }
        any.then_some(standing)
    }

    /// A stretched exponential: half-life `30 d * exp(1.5 importance)` (a third for dynamic facts), shape
    /// by tier. The half-life is exact for the working tier alone.
    pub fn recency(&self) -> f64 {
        let base = if self.is_dynamic { 10.0 } else { 30.0 };
        let half_life = base * (1.5 * self.importance.clamp(0.0, 1.0)).exp();
        (-(std::f64::consts::LN_2 / half_life) * self.idle_days.max(0.0).powf(TIERS[self.tier as usize].0))
            .exp()
    }

    /// `1 - exp(-uses / 5)`, damped where the uses lie far apart.
    pub fn frequency(&self) -> f64 {
        let base = 1.0 - (-f64::from(self.uses) / 5.0).exp();
        if self.uses > 1 { base * (0.5 + 0.5 * (-self.gap_days.max(0.0) / 30.0).exp()) } else { base }
    }

    /// `0.4 recency + 0.3 frequency + 0.3 importance * confidence`.
    pub fn composite(&self) -> f64 {
        let intrinsic = self.importance.clamp(0.0, 1.0) * self.confidence.clamp(0.0, 1.0);
        0.4 * self.recency() + 0.3 * self.frequency() + 0.3 * intrinsic
    }

    /// The factor of a search score: `0.3 + 0.7 max(tier floor, composite)`. (The original's
    /// code takes the recency into the maximum, too; its own documentation, which we follow, doesn't.)
    pub fn multiplier(&self) -> f64 {
        (0.3 + 0.7 * TIERS[self.tier as usize].1.max(self.composite())).clamp(0.3, 1.0)
    }
}

/// The agent specification's recency: `exp(-age_days / 14)`.
pub fn recency(age_days: f64) -> f64 {
    (-age_days.max(0.0) / 14.0).exp()
}

/// The agent specification's score of a candidate: `0.7 sim + 0.2 recency - 0.1 diversity_penalty`, all
/// in 0..1.
pub fn relevance(similarity: f64, recency: f64, likeness_to_chosen: f64) -> f64 {
    0.7 * similarity + 0.2 * recency - 0.1 * likeness_to_chosen
}

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
                let (path, _) = names_of_path(path);
                self.0.entry((path.to_owned(), id.to_owned())).or_default().push(time);
            }
        }
    }

    /// The uses of the block `id` of the note at `path`; none where it was never recalled.
    pub fn of(&self, path: &str, id: &str) -> Option<RecallCount> {
        let (path, name) = names_of_path(path);
        let by = |path: &str| self.0.get(&(path.to_owned(), id.to_owned()));
        let by_name = if name == path { None } else { by(name) };
        let mut times: Vec<i64> = by(path).into_iter().chain(by_name).flatten().copied().collect();
        times.sort_unstable();
        let (first, last) = (*times.first()?, *times.last()?);
        let gap_days = (last - first) as f64 / 86_400.0 / (times.len() - 1).max(1) as f64;
        Some(RecallCount { times: u32::try_from(times.len()).unwrap_or(u32::MAX), last, gap_days })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-3
    }

    #[test]
    fn decay_has_the_reference_values() {
        let standing = |tier, idle_days| Standing { tier, idle_days, ..Standing::default() };
        // importance 0.5: an effective half-life of 63.5 days, which is one only for the working tier.
        assert!(near(standing(MemoryTier::Working, 63.51).recency(), 0.5));
        assert!(near(standing(MemoryTier::Core, 179.5).recency(), 0.5));
        assert!(near(standing(MemoryTier::Peripheral, 24.35).recency(), 0.5));
        let used = Standing { uses: 5, gap_days: 30.0, ..Standing::default() };
        assert!(near(used.frequency(), 0.432_4));
        assert!(near(Standing::default().composite(), 0.55));
        assert!(near(standing(MemoryTier::Core, 10_000.0).multiplier(), 0.93));
        assert!(near(standing(MemoryTier::Working, 10_000.0).multiplier(), 0.79));
        assert!(near(standing(MemoryTier::Peripheral, 10_000.0).multiplier(), 0.65));
        let best = Standing { importance: 1.0, uses: 100, ..Standing::default() };
        assert!(best.multiplier() > 0.99);
    }

    #[test]
    fn fields_are_read_from_the_bullet() {
        let text = "Ann: [link] likes tea [importance:: 0.8] [tier:: core] [temporal:: dynamic] [mood:: 3]";
        let standing = Standing::from_fields(text, 3.0).unwrap();
        let expected = Standing {
            tier: MemoryTier::Core,
            importance: 0.8,
            is_dynamic: true,
            idle_days: 3.0,
            ..Standing::default()
        };
        assert_eq!(standing, expected);
        assert_eq!(Standing::from_fields("likes [tea:: green] [importance:: 7] [importance:: x", 0.0), None);
    }

    #[test]
    fn the_specification_s_numbers() {
        assert!(near(recency(14.0), 0.367_9));
        assert!(near(recency(-3.0), 1.0));
        assert!(near(relevance(1.0, 1.0, 1.0), 0.8));
    }

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
