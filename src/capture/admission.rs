//! Decides whether a person is asked about a candidate for a memory, by the weighted sum of five scores: utility,
//! confidence, novelty, recency, category. The scores are those of source 002 (see `ARCHITECTURE.md`): AMAC-v1, the
//! balanced preset.
//!
//! Each formula is one function with its source in its comment; the tests compare them with values that were computed
//! by hand. For scores between the two thresholds the source leaves the decision open. This program then asks a person,
//! even if `[capture] auto` names the category. Only a candidate with a score of [`ADMIT`] or more may be kept without
//! a question.

use std::collections::HashSet;

use crate::format::candidate::Category;

/// At this score and above a candidate is in (source 002, "admit ≥ 0.60").
pub const ADMIT: f64 = 0.60;
/// Below this score it is out (source 002, "reject < 0.45").
pub const REJECT: f64 = 0.45;
/// The utility without a judgement (notes on memory systems, §5.1: "LLM failure scores utility 0.5").
#[cfg(feature = "assistant")]
pub const UNJUDGED: f64 = 0.5;
/// Days after which a gap counts half (§5.1: `1 - exp(-ln2 * gap / 14 d)`).
pub const HALF_LIFE_DAYS: f64 = 14.0;
/// How many known facts novelty and gap compare (§5.1: "up to 8 neighbours").
pub const NEIGHBOURS: usize = 8;

/// The weights of the balanced preset (§5.1: 0.1/0.1/0.1/0.1/0.6).
const WEIGHTS: [f64; 5] = [0.1, 0.1, 0.1, 0.1, 0.6];

/// The five scores of a candidate, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateScores {
    /// How useful it will be.
    pub utility: f64,
    /// How well the conversation supports it: [`confidence`].
    pub confidence: f64,
    /// How new it is: [`novelty`].
    pub novelty: f64,
    /// How long ago something similar came: [`recency`].
    pub recency: f64,
    /// Its category's worth: [`prior`].
    pub prior: f64,
}

impl CandidateScores {
    /// The weighted sum, 0 to 1 (source 002: "utility + confidence + novelty + recency + typePrior").
    pub fn total(&self) -> f64 {
        let scores = [self.utility, self.confidence, self.novelty, self.recency, self.prior];
        scores.iter().zip(WEIGHTS).map(|(score, weight)| score * weight).sum()
    }

    /// The decision.
    pub fn verdict(&self) -> Admission {
        let total = self.total();
        if total < REJECT {
            Admission::Out
        } else if total < ADMIT {
            Admission::Ask
        } else {
            Admission::In
        }
    }
}

/// Whether a candidate is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Admission {
    /// It isn't asked about.
    Out,
    /// A person is asked, even if the settings admit such facts at once.
    Ask,
    /// It may be let in.
    In,
}

/// The worth of a category by itself (source 002: "profile=0.95, preferences=0.9, patterns=0.85, cases=0.8,
/// entities=0.75, events=0.45").
pub const fn prior(category: Category) -> f64 {
    match category {
        Category::Profile => 0.95,
        Category::Preferences => 0.9,
        Category::Patterns => 0.85,
        Category::Cases => 0.8,
        Category::Entities => 0.75,
        Category::Events => 0.45,
    }
}

/// How well the message supports the candidate (§5.1: `0.7 · best ROUGE-L-like F1 + 0.3 · coverage − 0.25 ·
/// unsupported`). The F1 is over the longest common subsequence of words with a line or a sentence of what was said;
/// coverage is the share of the candidate's different words that were said at all, unsupported the rest.
pub fn confidence(candidate: &str, said: &str) -> f64 {
    let wanted = tokens(candidate);
    let different: HashSet<&String> = wanted.iter().collect();
    if different.is_empty() {
        return 0.0;
    }
    let spoken: HashSet<String> = tokens(said).into_iter().collect();
    let found = different.iter().filter(|word| spoken.contains(**word)).count();
    let coverage = found as f64 / different.len() as f64;
    let spans = said.lines().chain(said.split(['.', '!', '?', '。', '！', '？', '\n']));
    let best = spans.map(|span| rouge_l(&wanted, &tokens(span))).fold(0.0, f64::max);
    (0.7 * best + 0.3 * coverage - 0.25 * (1.0 - coverage)).clamp(0.0, 1.0)
}

/// Novelty: 1 minus the greatest cosine among its neighbours (§5.1), 1 if there are none.
pub fn novelty(cosines: &[f32]) -> f64 {
    let nearest = cosines.iter().take(NEIGHBOURS).fold(0.0_f32, |most, cosine| most.max(*cosine));
    (1.0 - f64::from(nearest)).clamp(0.0, 1.0)
}

/// Gap: `1 − exp(−ln 2 · days / 14)` since the latest neighbour (§5.1), 1 if there is none.
pub fn recency(days: Option<f64>) -> f64 {
    days.map_or(1.0, |days| 1.0 - (-std::f64::consts::LN_2 * days.max(0.0) / HALF_LIFE_DAYS).exp())
}

/// The F1 of precision and recall over the longest common subsequence (Lin 2004, ROUGE-L).
fn rouge_l(one: &[String], other: &[String]) -> f64 {
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    // A row a word: how long the common subsequence is up to here.
    let mut row = vec![0_usize; other.len() + 1];
    for word in one {
        let mut diagonal = 0;
        for (at, theirs) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == theirs { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    let common = row[other.len()] as f64;
    if common == 0.0 {
        return 0.0;
    }
    let (precision, recall) = (common / one.len() as f64, common / other.len() as f64);
    2.0 * precision * recall / (precision + recall)
}

/// Words in lower case; ideographs are a word each.
fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let ideograph = matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
        if c.is_alphanumeric() && !ideograph {
            word.extend(c.to_lowercase());
            continue;
        }
        out.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        out.extend(ideograph.then(|| c.to_string()));
    }
    out.extend((!word.is_empty()).then_some(word));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-9, "{one} is not {other}");
    }

    #[test]
    fn the_sum_is_the_sources() {
        // 0.1·0.5 + 0.1·0.8 + 0.1·1 + 0.1·1 + 0.6·0.95
        let scores = CandidateScores {
            utility: 0.5,
            confidence: 0.8,
            novelty: 1.0,
            recency: 1.0,
            prior: prior(Category::Profile),
        };
        near(scores.total(), 0.90);
        assert_eq!(scores.verdict(), Admission::In);
        let event = CandidateScores { prior: prior(Category::Events), ..scores };
        near(event.total(), 0.60);
        let known = CandidateScores { novelty: 0.2, recency: 0.0, ..event };
        near(known.total(), 0.42);
        assert_eq!(known.verdict(), Admission::Out);
        let between = CandidateScores { novelty: 0.5, ..event };
        near(between.total(), 0.55);
        assert_eq!(between.verdict(), Admission::Ask);
    }

    #[test]
    fn the_thresholds_are_where_the_source_has_them() {
        let at = |total: f64| {
            // Everything but the prior is 0.
            CandidateScores { utility: 0.0, confidence: 0.0, novelty: 0.0, recency: 0.0, prior: total / 0.6 }
                .verdict()
        };
        assert_eq!(at(0.4499), Admission::Out);
        assert_eq!(at(0.4501), Admission::Ask);
        assert_eq!(at(0.5999), Admission::Ask);
        assert_eq!(at(0.6001), Admission::In);
        let priors = Category::ALL.map(prior);
        assert_eq!(priors, [0.95, 0.9, 0.75, 0.45, 0.8, 0.85]);
    }

    #[test]
    fn confidence_is_support_by_what_was_said() {
        near(confidence("likes green tea", "likes green tea"), 1.0);
        // LCS `green tea`: precision 2/3, recall 2/5, F1 1/2; coverage 2/3, unsupported 1/3.
        near(
            confidence("likes green tea", "I only drink green tea."),
            0.7 * 0.5 + 0.3 * 2.0 / 3.0 - 0.25 / 3.0,
        );
        near(confidence("plays chess", "I only drink green tea."), 0.0);
        near(confidence("", "x"), 0.0);
        near(confidence("喜欢茶", "我喜欢茶"), 0.7 * (2.0 * 0.75 / 1.75) + 0.3);
    }

    #[test]
    fn novelty_and_gap() {
        near(novelty(&[]), 1.0);
        near(novelty(&[0.25, 0.75, -0.5]), 0.25);
        near(recency(None), 1.0);
        near(recency(Some(0.0)), 0.0);
        near(recency(Some(14.0)), 0.5);
        near(recency(Some(28.0)), 0.75);
    }
}
