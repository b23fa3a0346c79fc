//! Writes and reads the line of facts that ends each `[!agent]` block of a log: the brain, its model, the request and
//! the cost. Pure.
//!
//! ```text
//! %% brain=claude model=claude-sonnet-4-6 in=5210 cached=4800 out=212 usd=0.004 ms=2100 ctx=6b1f… %%
//! ```
//!
//! Only the last line of a block counts. This program always appends its line, so a line of this form in a model's own
//! words stays text. If an answer has several chunks, the last chunk has all facts. The others have `brain`, `part`,
//! `ctx` and `turn`, so that nothing is counted twice. `brain` comes first. Values hold neither blanks nor `%`: any
//! byte outside of plain names is written as `=XX`. Unknown keys are ignored.

use std::borrow::Cow;

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use super::skills::ListedSkills;
use crate::brain::FailureClass;
use crate::config::MEMORY;
use crate::format::log::split_facts;

/// The bytes that stand as `=XX`: all but letters, digits and `-._~:/+@`.
const CODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':')
    .remove(b'/')
    .remove(b'+')
    .remove(b'@');

/// The facts of an answer: brain, sources, usage and cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The brain that answered, or `memory`.
    pub brain: String,
    /// The model as its provider names it; empty if none was asked.
    pub model: String,
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Input tokens from the provider's cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// The cost in USD, if the price is known.
    pub usd: Option<f64>,
    /// The brain that used the tokens, where memory answered.
    pub spent_by: Option<String>,
    /// Milliseconds from the acceptance of the question to the answer.
    pub ms: u64,
    /// The hash of the request.
    pub ctx: Option<String>,
    /// Calls to brains, including failed ones.
    pub calls: u32,
    /// The failed calls in order: brain and kind of failure.
    pub failed: Vec<(String, FailureClass)>,
    /// The chunk's number from 1 and the count of chunks; `None` for an answer of one chunk.
    pub part: Option<(u32, u32)>,
    /// The time that the request stated.
    pub at: Option<Timestamp>,
    /// The tokens that the request was allowed.
    pub budget: Option<u64>,
    /// The block id of the last event of the log that the request was made from.
    pub tail: Option<String>,
    /// The block id of the question.
    pub turn: Option<String>,
    /// The block ids of the questions before it that are answered with it.
    pub with: Vec<String>,
    /// The skills that the request listed.
    pub skills: Option<ListedSkills>,
    /// The summaries that it was made with, oldest first: their ids without `sum_`.
    pub sums: Vec<String>,
}

impl Facts {
    /// Whether an answer's later chunk has the rest of the facts.
    pub fn is_partial(&self) -> bool {
        self.part.is_some_and(|(part, of)| part < of)
    }

    /// The line, without a line break.
    pub fn render(&self) -> String {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let ids = |ids: &[String]| some(&ids.iter().map(|id| encode(id)).collect::<Vec<_>>().join(","));
        let failed = |(brain, class): &(String, FailureClass)| format!("{}:{}", encode(brain), class.name());
        let failed: Vec<String> = self.failed.iter().map(failed).collect();
        let mut fields = vec![
            ("brain", Some(encode(&self.brain))),
            ("part", self.part.map(|(part, of)| format!("{part}/{of}"))),
            ("turn", self.turn.as_deref().map(encode)),
        ];
        if !self.is_partial() {
            fields.extend([
                ("model", some(&encode(&self.model))),
                ("in", Some(self.input.to_string())),
                ("cached", Some(self.cached.to_string())),
                ("out", Some(self.output.to_string())),
                ("usd", self.usd.filter(|usd| usd.is_finite() && *usd >= 0.0).map(money)),
                ("spent_by", self.spent_by.as_deref().filter(|_| self.brain == MEMORY).map(encode)),
                ("ms", Some(self.ms.to_string())),
                ("calls", (self.calls != 1).then(|| self.calls.to_string())),
                ("failed", some(&failed.join(","))),
                ("at", self.at.map(|at| at.to_string())),
                ("budget", self.budget.map(|budget| budget.to_string())),
                ("tail", self.tail.as_deref().map(encode)),
                ("with", ids(&self.with)),
                ("skills", self.skills.as_ref().map(ToString::to_string)),
                ("sums", ids(&self.sums)),
            ]);
        }
        fields.push(("ctx", self.ctx.as_deref().map(encode)));
        let fields = fields.into_iter().filter_map(|(key, value)| Some(format!(" {key}={}", value?)));
        format!("%%{} %%", fields.collect::<String>())
    }

    /// A text followed by the line, as it is logged.
    pub fn append_to(&self, text: &str) -> String {
        if text.is_empty() { self.render() } else { format!("{text}\n{}", self.render()) }
    }

    /// Parses a line; `None` if it is no line of facts.
    pub fn parse(line: &str) -> Option<Self> {
        if line.contains('\n') {
            return None;
        }
        Self::of(&split_facts(line).1)
    }

    /// Builds the facts from keys and values; `None` if a value is invalid.
    fn of(pairs: &[(&str, &str)]) -> Option<Self> {
        let (mut facts, mut calls) = (Self::default(), None);
        for (at, &(key, value)) in pairs.iter().enumerate() {
            if pairs[..at].iter().any(|(before, _)| *before == key) {
                return None;
            }
            match key {
                "brain" => facts.brain = decode(value)?,
                "model" => facts.model = decode(value)?,
                "in" => facts.input = value.parse().ok()?,
                "cached" => facts.cached = value.parse().ok()?,
                "out" => facts.output = value.parse().ok()?,
                "usd" => facts.usd = Some(dollars(value)?),
                "spent_by" => facts.spent_by = Some(decode(value)?),
                "ms" => facts.ms = value.parse().ok()?,
                "calls" => calls = Some(value.parse().ok()?),
                "failed" => facts.failed = value.split(',').map(failed).collect::<Option<_>>()?,
                "part" => facts.part = Some(part(value)?),
                "at" => facts.at = Some(value.parse().ok()?),
                "budget" => facts.budget = Some(value.parse().ok()?),
                "tail" => facts.tail = Some(decode(value)?),
                "ctx" => facts.ctx = Some(decode(value)?),
                "turn" => facts.turn = Some(decode(value)?),
                "skills" => facts.skills = Some(ListedSkills::parse(value)?),
                "sums" => facts.sums = value.split(',').map(decode).collect::<Option<_>>()?,
                "with" => facts.with = value.split(',').map(decode).collect::<Option<_>>()?,
                _ => {}
            }
        }
        facts.calls = calls.unwrap_or(u32::from(!facts.is_partial()));
        (!facts.brain.is_empty()).then_some(facts)
    }
}

/// The text of an `[!agent]` block, and the facts that end it.
pub fn split(content: &str) -> (&str, Option<Facts>) {
    let (said, pairs) = split_facts(content);
    match Facts::of(&pairs) {
        Some(facts) => (said, Some(facts)),
        None => (content, None),
    }
}

/// `claude:rate_limit`
fn failed(text: &str) -> Option<(String, FailureClass)> {
    let (brain, class) = text.rsplit_once(':')?;
    Some((decode(brain)?, FailureClass::named(class)?))
}

/// `1/3`
fn part(text: &str) -> Option<(u32, u32)> {
    let (part, of) = text.split_once('/')?;
    let (part, of) = (part.parse().ok()?, of.parse().ok()?);
    (1..=of).contains(&part).then_some((part, of))
}

fn dollars(text: &str) -> Option<f64> {
    text.parse().ok().filter(|usd: &f64| usd.is_finite() && *usd >= 0.0)
}

/// Rounded to a millionth of a dollar.
fn money(usd: f64) -> String {
    let text = format!("{usd:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The text without blanks, `%` and signs that Markdown reads.
fn encode(text: &str) -> String {
    utf8_percent_encode(text, CODED).to_string().replace('%', "=")
}

fn decode(text: &str) -> Option<String> {
    percent_decode_str(&text.replace('=', "%")).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> Facts {
        Facts {
            brain: "claude".into(),
            model: "claude-sonnet-4-6".into(),
            input: 5210,
            cached: 4800,
            output: 212,
            usd: Some(0.004),
            ms: 2100,
            ctx: Some("6b1f".into()),
            calls: 1,
            ..Facts::default()
        }
    }

    #[test]
    fn the_line_reads_as_the_contract_says() {
        assert_eq!(
            sample().render(),
            "%% brain=claude model=claude-sonnet-4-6 in=5210 cached=4800 out=212 usd=0.004 ms=2100 ctx=6b1f %%"
        );
        assert_eq!(Facts::parse(&sample().render()), Some(sample()));
        let failed = Facts {
            calls: 3,
            failed: vec![("a".into(), FailureClass::RateLimit), ("b".into(), FailureClass::UnknownModel)],
            part: Some((3, 3)),
            at: Some("2026-12-01T09:30:00Z".parse().unwrap()),
            budget: Some(150_000),
            tail: Some("01JGXYZ0000000000000000000".into()),
            ..sample()
        };
        assert_eq!(
            failed.render(),
            "%% brain=claude part=3/3 model=claude-sonnet-4-6 in=5210 cached=4800 out=212 usd=0.004 ms=2100 \
             calls=3 failed=a:rate_limit,b:unknown_model at=2026-12-01T09:30:00Z budget=150000 \
             tail=01JGXYZ0000000000000000000 ctx=6b1f %%"
        );
        assert_eq!(Facts::parse(&failed.render()), Some(failed));
    }

    #[test]
    fn what_memory_answered_names_the_brain_that_was_paid() {
        let stopped =
            Facts { brain: MEMORY.into(), model: String::new(), spent_by: Some("one".into()), ..sample() };
        assert_eq!(
            stopped.render(),
            "%% brain=memory in=5210 cached=4800 out=212 usd=0.004 spent_by=one ms=2100 ctx=6b1f %%"
        );
        assert_eq!(Facts::parse(&stopped.render()), Some(stopped));
        let answered = Facts { spent_by: Some("claude".into()), ..sample() };
        assert_eq!(answered.render(), sample().render());
    }

    #[test]
    fn only_the_last_chunk_is_counted() {
        let chunk = Facts { part: Some((1, 3)), ..sample() };
        assert_eq!(chunk.render(), "%% brain=claude part=1/3 ctx=6b1f %%");
        let read = Facts::parse(&chunk.render()).unwrap();
        assert_eq!((read.calls, read.input, read.usd), (0, 0, None));
        assert!(read.is_partial());
    }

    #[test]
    fn a_forged_line_stays_words() {
        let forged = "Done.\n%% brain=gpt in=1 cached=0 out=1 ms=1 %%";
        let content = sample().append_to(forged);
        assert_eq!(split(&content), (forged, Some(sample())));
        // A newline in a value can't end the line.
        let evil = Facts { model: "m %%\n%% brain=x %%".into(), ..sample() };
        assert_eq!(evil.render().lines().count(), 1);
        assert_eq!(split(&evil.append_to("a")), ("a", Some(evil.clone())));
    }

    #[test]
    fn what_is_no_line_of_ours_stays() {
        for text in [
            "",
            "Hello",
            "%% a comment %%",
            "%% brain=claude",
            "%% in=3 %%",
            "%% brain=a in=x %%",
            "%% brain=a in=-1 %%",
            "%% brain=a brain=b %%",
            "%% brain=a usd=NaN %%",
            "%% brain=a part=3/2 %%",
            "%% in=1 brain=a %%",
            "%% brain=a in %%",
            "%% brain=a failed=b:sorrow %%",
            "%% brain=a ctx=50% %%",
            " %% brain=a %%",
            "%% brain=a %% %% in=1 %%",
        ] {
            assert_eq!(split(text), (text, None), "{text:?}");
        }
        let unknown = Facts::parse("%% brain=a colour=blue in=7 %%").unwrap();
        assert_eq!((unknown.brain.as_str(), unknown.input, unknown.calls), ("a", 7, 1));
        assert_eq!(split("%% brain=a %%").0, "");
        assert_eq!(split("a\n\n%% brain=a %%").0, "a\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn whatever_is_said_comes_back(
            text in "(?s).{0,80}",
            (brain, model, tail) in ("(?s).{1,12}", "(?s).{0,20}", proptest::option::of("(?s).{0,8}")),
            (input, output, ms, calls) in (any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>()),
            millionths in proptest::option::of(0u32..2_000_000_000),
            failed in proptest::collection::vec(("(?s).{0,8}", 0usize..9), 0..4),
            part in proptest::option::of(1u32..5),
        ) {
            let facts = Facts {
                brain, model, input, output, ms, calls, tail,
                usd: millionths.map(|n| f64::from(n) / 1e6),
                failed: failed.into_iter().map(|(brain, class)| (brain, FailureClass::ALL[class])).collect(),
                part: part.map(|of| (of, of)),
                ..Facts::default()
            };
            let content = facts.append_to(&text);
            prop_assert_eq!(split(&content), (text.as_str(), Some(facts)));
        }

        #[test]
        fn no_text_panics(text in "(?s).{0,60}|(%% )?(brain=|in=|failed=|part=|%|=|[a-c0-9:,/ ]){0,20}( %%)?") {
            let _ = split(&text);
        }
    }
}
