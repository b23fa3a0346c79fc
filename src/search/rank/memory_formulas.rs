//! Holds the published formulas for memories, each with its source. Those for blocks, against which our ranking is
//! measured, are in `benches/recall/fit.rs`.
//!
//! Sources: the build plan of OpenClawdCode ("memory-lancedb-pro parity", with the code that it names) and the agent
//! specification §6.4.

use crate::words::words;

words! {
    /// How long a memory counts as fresh; the word stands in its field `[tier:: core]`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Tier, as_str {
        /// The user's own traits: hardly fades.
        Core = "core",
        /// The usual.
        #[default]
        Working = "working",
        /// Fades fast.
        Peripheral = "peripheral",
    }
}

impl Tier {
    fn shape(self) -> f64 {
        match self {
            Self::Core => 0.8,
            Self::Working => 1.0,
            Self::Peripheral => 1.3,
        }
    }

    fn floor(self) -> f64 {
        match self {
            Self::Core => 0.9,
            Self::Working => 0.7,
            Self::Peripheral => 0.5,
        }
    }
}

/// A memory's own weights (inline fields of its bullet) and its use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// `[tier:: core|working|peripheral]`.
    pub tier: Tier,
    /// `[importance:: 0.8]`, 0..1.
    pub importance: f64,
    /// `[confidence:: 0.9]`, 0..1.
    pub confidence: f64,
    /// `[temporal:: dynamic]`: the fact may change.
    pub is_dynamic: bool,
    /// How often it was recalled.
    pub uses: u32,
    /// Mean days between uses.
    pub gap_days: f64,
    /// Days since it was last used, or made if it never was.
    pub idle_days: f64,
}

impl Default for Standing {
    fn default() -> Self {
        Self {
            tier: Tier::Working,
            importance: 0.5,
            confidence: 1.0,
            is_dynamic: false,
            uses: 0,
            gap_days: 0.0,
            idle_days: 0.0,
        }
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
                ("tier", _) if Tier::named(value.trim()).is_some() => {
                    standing.tier = Tier::named(value.trim()).unwrap_or_default();
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
        (-(std::f64::consts::LN_2 / half_life) * self.idle_days.max(0.0).powf(self.tier.shape())).exp()
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
        (0.3 + 0.7 * self.tier.floor().max(self.composite())).clamp(0.3, 1.0)
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
        assert!(near(standing(Tier::Working, 63.51).recency(), 0.5));
        assert!(near(standing(Tier::Core, 179.5).recency(), 0.5));
        assert!(near(standing(Tier::Peripheral, 24.35).recency(), 0.5));
        let used = Standing { uses: 5, gap_days: 30.0, ..Standing::default() };
        assert!(near(used.frequency(), 0.432_4));
        assert!(near(Standing::default().composite(), 0.55));
        assert!(near(standing(Tier::Core, 10_000.0).multiplier(), 0.93));
        assert!(near(standing(Tier::Working, 10_000.0).multiplier(), 0.79));
        assert!(near(standing(Tier::Peripheral, 10_000.0).multiplier(), 0.65));
        let best = Standing { importance: 1.0, uses: 100, ..Standing::default() };
        assert!(best.multiplier() > 0.99);
    }

    #[test]
    fn fields_are_read_from_the_bullet() {
        let text = "Ann: [link] likes tea [importance:: 0.8] [tier:: core] [temporal:: dynamic] [mood:: 3]";
        let standing = Standing::from_fields(text, 3.0).unwrap();
        let expected = Standing {
            tier: Tier::Core,
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
}
