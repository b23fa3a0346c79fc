//! Chooses the memories that a prompt gets without a request for them, and formats them as text.
//!
//! Pinned memories come first. The others are chosen by Maximal Marginal Relevance (agent specification §6.4): by
//! similarity to the prompt, recency, and likeness to the memories chosen before. The text is short, names its source,
//! and is marked as context, never as instruction. Pure: memories with their scores come in, and the time.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::format::invisible;
use crate::memory::working::cut;
use crate::search::Hit;
use crate::search::rank::memory_formulas;

pub use crate::format::log::INJECTED as MARK;
/// Characters that count as one token.
pub const CHARS_PER_TOKEN: usize = 4;
/// More memories than this dilute each other; so do more pins that have nothing to do with the question.
pub const MOST_MEMORIES: usize = 8;
/// The lines of a digest.
pub const DIGEST_LINES: usize = 3;
/// Further ones may come behind these, up to so many lines in all, as far as there is room for lines of so many
/// characters.
const MOST_LINES: usize = 6;
const LINE: usize = 130;

/// A memory that may be given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// The note.
    pub path: String,
    /// First line, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// Its author.
    pub author: Option<String>,
    /// When.
    pub time: Option<Timestamp>,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Whether it was only said in talk with the agent.
    pub is_said: bool,
    /// Likeness to the question, 0 to 1.
    pub similarity: f64,
    /// Its vector, for telling repeats.
    pub vector: Vec<f32>,
}

impl From<&Hit> for Memory {
    fn from(hit: &Hit) -> Self {
        Self {
            path: hit.path.clone(),
            line: hit.line,
            text: hit.text.clone(),
            author: hit.author.clone(),
            time: hit.timestamp,
            pinned: hit.pinned,
            ..Self::default()
        }
    }
}

impl Memory {
    /// Whether it comes along only because it is pinned.
    fn is_idle(&self) -> bool {
        self.pinned && self.similarity == 0.0
    }
}

/// The order in which memories are given: pinned ones first (most similar first), then by MMR, those that were only
/// said behind all others. Pins that come along take no place of a find's in the digest.
pub fn order(memories: &[Memory], now: i64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..memories.len()).collect();
    all.sort_by(|a, b| memories[*b].similarity.total_cmp(&memories[*a].similarity).then(a.cmp(b)));
    let (mut chosen, finds): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|at| memories[*at].pinned);
    chosen.truncate(MOST_MEMORIES);
    let idle = chosen.iter().filter(|at| memories[**at].is_idle()).count();
    let most = MOST_MEMORIES.max(idle + MOST_LINES.min(chosen.len() + finds.len() - idle));
    let (said, told) = finds.into_iter().partition::<Vec<_>, _>(|at| memories[*at].is_said);
    let mut first = 0;
    for mut left in [told, said] {
        while chosen.len() < most && !left.is_empty() {
            // With nothing chosen yet the most similar one begins, whatever its age.
            let others = &chosen[first..];
            let best = if others.is_empty() { 0 } else { best_of(memories, &left, others, now) };
            chosen.push(left.remove(best));
        }
        first = chosen.len();
    }
    chosen
}

fn best_of(memories: &[Memory], left: &[usize], chosen: &[usize], now: i64) -> usize {
    let score = |at: usize| {
        let memory = &memories[at];
        let likeness = chosen.iter().map(|other| likeness(memory, &memories[*other])).fold(0.0, f64::max);
        let days = |time: Timestamp| (now - time.as_second()) as f64 / 86_400.0;
        let recency = memory.time.map_or(0.0, |time| memory_formulas::recency(days(time)));
        memory_formulas::relevance(memory.similarity, recency, likeness)
    };
    // Of equals the first.
    let scored = left.iter().map(|at| score(*at)).enumerate().rev();
    scored.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(place, _)| place)
}

fn likeness(a: &Memory, b: &Memory) -> f64 {
    if a.vector.len() != b.vector.len() || a.vector.is_empty() {
        return if a.text == b.text { 1.0 } else { 0.0 };
    }
    f64::from(a.vector.iter().zip(&b.vector).map(|(x, y)| x * y).sum::<f32>()).clamp(0.0, 1.0)
}

/// The text that is injected before the user's prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// The budget that it kept to.
    pub budget_tokens_est: usize,
    /// The memories.
    pub memories: Vec<Injected>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injected {
    /// The note.
    pub path: String,
    /// First line.
    pub line: u32,
    /// Its text, or the beginning of it.
    pub excerpt: String,
    /// Whether there is more.
    pub truncated: bool,
    /// Its author, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When it was said or written, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

impl Injection {
    /// The memories, in the given order, that fit `budget` tokens, each cut to `each` tokens. Pins that come along leave
    /// up to half of the budget to what is no pin.
    pub fn new<'m>(memories: impl Iterator<Item = &'m Memory> + Clone, budget: usize, each: usize) -> Self {
        let mut this = Self { budget_tokens_est: budget, memories: Vec::new() };
        let (mut left, most) = (budget * CHARS_PER_TOKEN, each * CHARS_PER_TOKEN);
        let mut reserved = 0;
        for find in memories.clone().filter(|memory| !memory.pinned) {
            let Some((_, cost)) = Injected::within(find, most, left / 2 - reserved) else { break };
            reserved += cost;
        }
        for memory in memories {
            let room = if memory.is_idle() { left.saturating_sub(reserved) } else { left };
            match Injected::within(memory, most, room) {
                Some((one, cost)) => {
                    left -= cost;
                    this.memories.push(one);
                }
                None if memory.is_idle() => {}
                None => break,
            }
        }
        this
    }

    /// The block as it stands before the prompt; empty where there is nothing to give.
    pub fn to_text(&self) -> String {
        if self.memories.is_empty() {
            return String::new();
        }
        let json = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{MARK}\n{json}\n")
    }
}

impl Injected {
    /// A memory with at most `most` characters of its text, in `room` characters of JSON, and how many of these it takes;
    /// none where there is room for a stump alone.
    fn within(memory: &Memory, most: usize, room: usize) -> Option<(Self, usize)> {
        let injected = |most: usize| {
            let (excerpt, truncated) = excerpt(&memory.text, most);
            Self {
                path: memory.path.clone(),
                line: memory.line,
                excerpt,
                truncated,
                author: memory.author.as_deref().map(|who| invisible::strip(who).into_owned()),
                when: memory.time.map(|at| at.to_string()),
            }
        };
        let cost =
            |one: &Self| serde_json::to_string(one).map_or(usize::MAX, |text| text.chars().count() + 1);
        let for_text = room.saturating_sub(cost(&injected(0)));
        let mut one = injected(most.min(for_text));
        // Escapes may make the JSON longer than the text.
        if cost(&one) > room {
            one = injected(for_text / 2);
        }
        let cost = cost(&one);
        let is_stump = one.truncated && one.excerpt.chars().count() < 24;
        (cost <= room && !is_stump).then_some((one, cost))
    }
}

/// `text` without invisible characters, cut to `most` characters at a word's end, with `…`; and whether it was cut.
pub fn excerpt(text: &str, most: usize) -> (String, bool) {
    let text = invisible::strip(text);
    let text = text.trim();
    if text.chars().count() <= most {
        return (text.to_owned(), false);
    }
    // One word longer than the room is cut in its middle.
    (format!("{}…", cut(text, most.saturating_sub(1))), true)
}

/// A few lines of at most `most` characters in all, each with time, speaker, text and place.
pub fn digest<'m>(
    memories: impl Iterator<Item = &'m Memory>,
    most: usize,
    zone: &jiff::tz::TimeZone,
) -> Option<String> {
    let lines = (most / LINE).clamp(DIGEST_LINES, MOST_LINES);
    let memories: Vec<&Memory> = memories.take(lines).collect();
    let mut out = String::new();
    for (at, memory) in memories.iter().enumerate() {
        let used = out.chars().count() + usize::from(at > 0);
        let share = most.saturating_sub(used) / (memories.len() - at);
        let day = memory.time.map_or_else(String::new, |at| at.to_zoned(zone.clone()).date().to_string());
        // The text may begin with its day.
        let is_told = memory.text.trim_start().trim_start_matches('[').starts_with(&day);
        let day = if is_told { String::new() } else { format!("{day} ") };
        let who =
            memory.author.as_ref().map_or_else(String::new, |who| format!("{}: ", invisible::strip(who)));
        let place = format!(" ({}:{})", memory.path, memory.line);
        let head = format!("- {day}{who}");
        let frame = head.chars().count() + place.chars().count();
        let said: Vec<&str> = memory.text.split_whitespace().collect();
        // If the room is too small for both, the text matters more than its place.
        let place = if frame + 40 <= share { place } else { String::new() };
        let room = share.saturating_sub(head.chars().count() + place.chars().count());
        if room < 8 {
            break;
        }
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&head);
        out.push_str(&excerpt(&said.join(" "), room).0);
        out.push_str(&place);
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn memory(text: &str, similarity: f64) -> Memory {
        Memory {
            path: "logs/x.md".into(),
            line: 7,
            text: text.into(),
            author: Some("Ann".into()),
            time: Some(Timestamp::UNIX_EPOCH),
            pinned: false,
            is_said: false,
            similarity,
            vector: Vec::new(),
        }
    }

    #[test]
    fn pinned_first_then_the_most_similar_then_variety() {
        let day = 86_400;
        let mut memories = vec![memory("a", 0.9), memory("b", 0.89), memory("c", 0.5), memory("p", 0.1)];
        memories[0].vector = vec![1.0, 0.0];
        memories[1].vector = vec![1.0, 0.0];
        memories[2].vector = vec![0.0, 1.0];
        memories[3].pinned = true;
        assert_eq!(order(&memories, 0), [3, 0, 1, 2]);
        // Old but alike against fresh and different.
        memories[1].time = Timestamp::from_second(-60 * day).ok();
        memories[2].similarity = 0.6;
        assert_eq!(order(&memories, 0), [3, 0, 2, 1]);
        memories[0].is_said = true;
        assert_eq!(order(&memories, 0), [3, 1, 2, 0]);
        assert_eq!(order(&vec![memory("a", 0.9); 20], 0).len(), MOST_MEMORIES);
        assert!(order(&[], 0).is_empty());
    }

    #[test]
    fn the_injection_is_as_specified() {
        let memories = [memory("The dentist is on \"Friday\".", 0.9)];
        insta::assert_snapshot!(Injection::new(memories.iter(), 1000, 250).to_text(), @r#"
        INJECTED_CONTEXT_RELEVANT_MEMORIES
        {
          "budget_tokens_est": 1000,
          "memories": [
            {
              "path": "logs/x.md",
              "line": 7,
              "excerpt": "The dentist is on \"Friday\".",
              "truncated": false,
              "author": "Ann",
              "when": "1970-01-01T00:00:00Z"
            }
          ]
        }
        "#);
        assert_eq!(Injection::new([].iter(), 1000, 250).to_text(), "");
    }

    #[test]
    fn digests_say_when_who_what_where() {
        let memories = [memory("The dentist\nis on Friday.", 0.9), memory(&"word ".repeat(100), 0.8)];
        let zone = jiff::tz::TimeZone::UTC;
        insta::assert_snapshot!(digest(memories.iter(), 200, &zone).unwrap(), @r"
        - 1970-01-01 Ann: The dentist is on Friday. (logs/x.md:7)
        - 1970-01-01 Ann: word word word word word word word word word word word word word word word word word word word word word word… (logs/x.md:7)
        ");
        let dated = [memory("1970-01-01 16:57 Met Anna", 0.9)];
        assert_eq!(
            digest(dated.iter(), 200, &zone).unwrap(),
            "- Ann: 1970-01-01 16:57 Met Anna (logs/x.md:7)"
        );
        assert_eq!(digest([].iter(), 200, &zone), None);
        assert_eq!(digest(memories.iter(), 3, &zone), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn budgets_are_kept(
            texts in proptest::collection::vec("(\\PC|[\"\\\\ \n]){0,1500}", 0..12),
            budget in 50_usize..1500, each in 10_usize..300, most in 0_usize..600,
        ) {
            let memories: Vec<Memory> = texts.iter().map(|text| memory(text, 0.5)).collect();
            let injection = Injection::new(memories.iter(), budget, each);
            let all: usize = injection.memories.iter().map(|one| serde_json::to_string(one).unwrap().chars().count()).sum();
            prop_assert!(all <= budget * CHARS_PER_TOKEN);
            for one in &injection.memories {
                prop_assert!(one.excerpt.chars().count() <= each * CHARS_PER_TOKEN);
                prop_assert_eq!(one.truncated, one.excerpt.ends_with('…') && !texts.iter().any(|text| invisible::strip(text).trim() == one.excerpt));
            }
            let digest = digest(memories.iter(), most, &jiff::tz::TimeZone::UTC).unwrap_or_default();
            prop_assert!(digest.chars().count() <= most && digest.lines().count() <= MOST_LINES);
            let (short, cut) = excerpt(&texts.concat(), most);
            prop_assert!(short.chars().count() <= most.max(1));
            prop_assert!(cut || short == invisible::strip(&texts.concat()).trim());
        }
    }
}
