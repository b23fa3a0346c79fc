//! Adds up the cost of answers from the lines of facts in the logs. Pure.
//!
//! Each answer is counted once: only the last of its chunks has the cost. A failed call is counted for the brain that
//! failed; tokens and cost are those of the brain that answered.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::facts::{Facts, split};
use crate::format::log::{self, EventKind};

/// One answer of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedAnswer {
    /// When.
    pub at: Timestamp,
    /// The channel's or thread's id.
    pub channel: String,
    /// What it took.
    pub facts: Facts,
}

/// By what it is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageGrouping {
    /// The brain that was asked.
    Brain,
    /// The day, in the vault's zone.
    Day,
    /// The channel or thread.
    Channel,
}

/// What some answers took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct UsageSum {
    /// Answers that were given.
    pub answers: u64,
    /// Calls of brains, those that failed too.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Tokens read, those from a cache too.
    pub input: u64,
    /// Tokens read from a cache.
    pub cached: u64,
    /// Tokens written.
    pub output: u64,
    /// The cost in USD, as far as prices are set.
    pub usd: f64,
}

/// What some answers took, with what they have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UsageRow {
    /// The brain, the day or the channel.
    pub key: String,
    /// The sum.
    #[serde(flatten)]
    pub sum: UsageSum,
}

/// The answers of one log.
pub fn answers(bytes: &[u8]) -> Vec<LoggedAnswer> {
    // Most logs have none; they needn't be parsed.
    if memchr::memmem::find(bytes, b"%% brain=").is_none() {
        return Vec::new();
    }
    let log = log::parse(bytes);
    let channel = log.header.map(|header| header.context_id).unwrap_or_default();
    let events =
        log.blocks.into_iter().map(|block| block.event).filter(|event| event.kind == EventKind::Agent);
    events
        .filter_map(|event| Some((event.at, split(&event.content).1?)))
        .filter(|(_, facts)| !facts.is_partial())
        .map(|(at, facts)| LoggedAnswer { at, channel: channel.clone(), facts })
        .collect()
}

/// All together, and by brain, day or channel: days in their order, else the most tokens first.
pub fn add_up(answers: &[LoggedAnswer], by: UsageGrouping, zone: &TimeZone) -> (UsageSum, Vec<UsageRow>) {
    let mut total = UsageSum::default();
    let mut rows: BTreeMap<String, UsageSum> = BTreeMap::new();
    for answer in answers {
        let facts = &answer.facts;
        total.add(&UsageSum::of(facts));
        match by {
            UsageGrouping::Brain => {
                for (brain, _) in &facts.failed {
                    rows.entry(brain.clone()).or_default().add(&UsageSum {
                        calls: 1,
                        failed: 1,
                        ..UsageSum::default()
                    });
                }
                let answered = UsageSum::of(facts);
                let calls = answered.calls.saturating_sub(answered.failed);
                rows.entry(facts.brain.clone()).or_default().add(&UsageSum { calls, failed: 0, ..answered });
            }
            UsageGrouping::Day => {
                let day = answer.at.to_zoned(zone.clone()).date().to_string();
                rows.entry(day).or_default().add(&UsageSum::of(facts));
            }
            UsageGrouping::Channel => {
                rows.entry(answer.channel.clone()).or_default().add(&UsageSum::of(facts));
            }
        }
    }
    let mut rows: Vec<UsageRow> = rows.into_iter().map(|(key, sum)| UsageRow { key, sum }).collect();
    if by != UsageGrouping::Day {
        rows.sort_by_key(|row| std::cmp::Reverse(row.sum.tokens()));
    }
    (total, rows)
}

impl UsageSum {
    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    fn of(facts: &Facts) -> Self {
        let failed = facts.failed.len() as u64;
        Self {
            answers: 1,
            calls: u64::from(facts.calls).max(failed),
            failed,
            input: facts.input,
            cached: facts.cached,
            output: facts.output,
            usd: facts.usd.unwrap_or_default(),
        }
    }

    /// A log may say anything: what is too much stays the most.
    fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.calls += other.calls;
        self.failed += other.failed;
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
        self.usd += other.usd;
    }
}
