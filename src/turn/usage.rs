//! Adds up the cost of answers from a log: the last line of each answer records its brain, tokens and cost. Pure.
//!
//! Each answer is counted once: only the last of its chunks has the cost. A failed call is counted for the brain that
//! failed. Tokens and cost are counted for the brain that answered. If memory answered, they are counted for the brain
//! that the facts name, else for the last brain that failed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::facts::{Facts, split};
use crate::config::MEMORY;
use crate::format::log::{self, EventKind, LogEvent};

/// One answer of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedAnswer {
    /// When.
    pub at: Timestamp,
    /// The channel's or thread's id.
    pub channel: String,
    /// Its usage.
    pub facts: Facts,
    /// Whether it was given; else it is the usage of a question that was taken back.
    pub given: bool,
}

/// The key by which usage is grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum UsageGrouping {
    /// The brain that was asked.
    Brain,
    /// The day, in the vault's zone.
    Day,
    /// The channel or thread; `routine:NAME` are routines, `phrasing` words for reminders.
    Channel,
}

/// The summed usage of some answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct UsageSum {
    /// Answers that were given.
    pub answers: u64,
    /// Calls to brains, including failed ones.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Input tokens from a cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// The cost in USD, as far as prices are known.
    pub usd: f64,
}

/// The summed usage of a group of answers.
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
    // Most logs have no answers and needn't be parsed.
    if memchr::memmem::find(bytes, b"%% brain=").is_none() {
        return Vec::new();
    }
    let log = log::parse(bytes);
    // An answer in a coding agent's session is the model's words alone.
    if log.header.as_ref().is_some_and(|header| header.surface == log::SESSIONS) {
        return Vec::new();
    }
    let channel = log.header.map(|header| header.context_id).unwrap_or_default();
    // The new text of an edited message is a person's.
    let is_ours = |event: &LogEvent| match event.kind {
        EventKind::Agent => true,
        EventKind::System => event.change().is_none(),
        EventKind::User | EventKind::Tool | EventKind::Recall => false,
    };
    let events = log.blocks.into_iter().map(|block| block.event).filter(is_ours);
    events
        .filter_map(|event| Some((event.at, event.kind == EventKind::Agent, split(&event.content).1?)))
        .filter(|(_, _, facts)| !facts.is_partial())
        .map(|(at, given, facts)| LoggedAnswer { at, channel: channel.clone(), facts, given })
        .collect()
}

/// The total, and the sums by brain, day or channel: days in order, otherwise the most tokens first.
pub fn add_up(answers: &[LoggedAnswer], by: UsageGrouping, zone: &TimeZone) -> (UsageSum, Vec<UsageRow>) {
    let mut total = UsageSum::default();
    let mut rows: BTreeMap<String, UsageSum> = BTreeMap::new();
    for answer in answers {
        let facts = &answer.facts;
        let mut sum = UsageSum { answers: u64::from(answer.given), ..UsageSum::of(facts) };
        total.add(&sum);
        let key = match by {
            UsageGrouping::Brain => {
                let failed = UsageSum { calls: 1, failed: 1, ..UsageSum::default() };
                for (brain, _) in &facts.failed {
                    rows.entry(brain.clone()).or_default().add(&failed);
                }
                (sum.calls, sum.failed) = (sum.calls - sum.failed, 0);
                let failed = facts.failed.last().map(|(brain, _)| brain);
                let spender = facts.spent_by.as_ref().or(failed).filter(|_| facts.brain == MEMORY);
                let answers = std::mem::take(&mut sum.answers);
                rows.entry(facts.brain.clone())
                    .or_default()
                    .add(&UsageSum { answers, ..UsageSum::default() });
                spender.unwrap_or(&facts.brain).clone()
            }
            UsageGrouping::Day => answer.at.to_zoned(zone.clone()).date().to_string(),
            UsageGrouping::Channel => answer.channel.clone(),
        };
        rows.entry(key).or_default().add(&sum);
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

    /// A log may hold any number, so the sums saturate.
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
