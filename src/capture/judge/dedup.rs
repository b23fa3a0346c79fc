//! Finds duplicates within a batch and among known facts, and decides a candidate's effect on a known fact.
//!
//! The thresholds and the rules of the categories are source 002's ("Auto-capture"). A brain's verdict, if one was
//! asked, counts within the rule of the category; otherwise the words decide ([`verdict_by_words`]): a candidate
//! without news is skipped, another value of the same thing replaces the fact, more about the same thing is added to
//! it. Pure; vectors are unit length.

use crate::capture::BrainVerdict;
use crate::format::candidate::Category;
use crate::memory::contradiction::{is_negated, is_other_value, words};
use crate::memory::normal;

/// Two candidates of one batch that are as near as this are one (source 002: "pairwise cosine on L0 abstracts,
/// threshold 0.85").
pub const SAME: f32 = 0.85;
/// A known fact as near as this may be about the same (source 002: "vector search existing at 0.7").
pub const NEAR: f32 = 0.7;
/// How many known facts are compared (source 002: "top-3").
pub const TOP: usize = 3;

/// A candidate's effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupVerdict {
    /// It is a fact of its own.
    Create,
    /// It is put to the known fact with this place.
    Merge(usize),
    /// It is known.
    Skip,
    /// It takes the place of the known fact with this place.
    Supersede(usize),
}

impl BrainVerdict {
    /// The same with the fact's place; a brain may mean none but those that are near.
    pub fn restricted_to(&self, near: &[(usize, &str)]) -> DedupVerdict {
        let place = |words: &str| {
            near.iter().find(|(_, known)| normal(known) == normal(words)).map(|(place, _)| *place)
        };
        match self {
            Self::Create => DedupVerdict::Create,
            Self::Skip => DedupVerdict::Skip,
            Self::Merge(words) => place(words).map_or(DedupVerdict::Create, DedupVerdict::Merge),
            Self::Supersede(words) => place(words).map_or(DedupVerdict::Create, DedupVerdict::Supersede),
        }
    }
}

/// The rule of a category (source 002).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CategoryRule {
    /// `ALWAYS_MERGE`: the words alone say whether it is known; it is never struck out by likeness.
    pub always_merge: bool,
    /// `MERGE_SUPPORTED`: it may be put to a known fact.
    pub merges: bool,
    /// `TEMPORAL_VERSIONED`: it may take a known fact's place.
    pub versioned: bool,
}

/// The rule of a category: `ALWAYS_MERGE` profile, `MERGE_SUPPORTED` preferences, entities and patterns,
/// `TEMPORAL_VERSIONED` preferences and entities, `APPEND_ONLY` (neither) events and cases.
pub const fn rule(category: Category) -> CategoryRule {
    let (always_merge, merges, versioned) = match category {
        Category::Profile => (true, true, false),
        Category::Preferences | Category::Entities => (false, true, true),
        Category::Patterns => (false, true, false),
        Category::Events | Category::Cases => (false, false, false),
    };
    CategoryRule { always_merge, merges, versioned }
}

/// The cosine of two vectors of unit length.
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Those of a batch that stay: of two that are [`SAME`], the first.
pub fn first_of_duplicates(vectors: &[Vec<f32>]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for (place, vector) in vectors.iter().enumerate() {
        if !kept.iter().any(|known| cosine(&vectors[*known], vector) >= SAME) {
            kept.push(place);
        }
    }
    kept
}

/// The known facts that are [`NEAR`], nearest first, at most [`TOP`].
pub fn nearest(vector: &[f32], known: &[Vec<f32>]) -> Vec<(usize, f32)> {
    let mut found: Vec<(usize, f32)> = known
        .iter()
        .enumerate()
        .map(|(place, known)| (place, cosine(vector, known)))
        .filter(|(_, cosine)| *cosine >= NEAR)
        .collect();
    found.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    found.truncate(TOP);
    found
}

/// Whether two say different things of the same, by their words: however far apart names like `Graz` and `Vienna` lie
/// in a model, one who lives in one lives in the other no more.
pub fn contradicts(one: &str, other: &str) -> bool {
    is_other_value(&words(one), &words(other))
}

/// Applies a category's rule to a verdict: a forbidden effect becomes the next milder one. A profile is always merged,
/// and merging it is to say it as it is now: the old value is struck through, as nothing is ever erased.
pub fn allowed(category: Category, verdict: DedupVerdict) -> DedupVerdict {
    let rule = rule(category);
    match verdict {
        DedupVerdict::Supersede(place) if rule.merges && !rule.versioned && !rule.always_merge => {
            DedupVerdict::Merge(place)
        }
        DedupVerdict::Supersede(_) | DedupVerdict::Merge(_) if !rule.merges => DedupVerdict::Create,
        verdict => verdict,
    }
}

/// The verdict by the words alone: `near` are the known facts that are near, nearest first, with their places.
pub fn verdict_by_words(category: Category, text: &str, near: &[(usize, &str)]) -> DedupVerdict {
    let new = words(text);
    for (place, known) in near {
        let old = words(known);
        if new.iter().all(|word| old.contains(word)) && is_negated(&new) == is_negated(&old) {
            return DedupVerdict::Skip;
        }
        if is_other_value(&new, &old) {
            return allowed(category, DedupVerdict::Supersede(*place));
        }
    }
    match near.first() {
        Some((place, _)) => allowed(category, DedupVerdict::Merge(*place)),
        None => DedupVerdict::Create,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_keeps_the_first_of_two_that_are_the_same() {
        let at = |cosine: f32| vec![cosine, (1.0 - cosine * cosine).sqrt()];
        assert_eq!(first_of_duplicates(&[at(1.0), at(0.86), at(0.84)]), [0, 2]);
        assert_eq!(first_of_duplicates(&[]), [0; 0]);
    }

    #[test]
    fn the_nearest_three_that_are_near_enough() {
        let known: Vec<Vec<f32>> =
            [0.69, 0.71, 0.99, 0.8, 0.75_f32].iter().map(|c| vec![*c, (1.0 - c * c).sqrt()]).collect();
        let found: Vec<usize> = nearest(&[1.0, 0.0], &known).into_iter().map(|(place, _)| place).collect();
        assert_eq!(found, [2, 3, 4]);
    }

    #[test]
    fn each_category_has_the_sources_rule() {
        use Category::*;
        use DedupVerdict::*;
        for (category, merge, supersede) in [
            (Profile, Merge(1), Supersede(1)),
            (Preferences, Merge(1), Supersede(1)),
            (Entities, Merge(1), Supersede(1)),
            (Patterns, Merge(1), Merge(1)),
            (Events, Create, Create),
            (Cases, Create, Create),
        ] {
            assert_eq!(allowed(category, Merge(1)), merge, "{category}");
            assert_eq!(allowed(category, Supersede(1)), supersede, "{category}");
            assert_eq!((allowed(category, Skip), allowed(category, Create)), (Skip, Create), "{category}");
        }
    }

    #[test]
    fn words_say_what_a_candidate_does() {
        let verdict = |category, text: &str, known: &str| verdict_by_words(category, text, &[(7, known)]);
        let pref = Category::Preferences;
        assert_eq!(verdict(pref, "I like green tea.", "I like green tea"), DedupVerdict::Skip);
        assert_eq!(verdict(pref, "green tea", "likes green tea a lot"), DedupVerdict::Skip);
        assert_eq!(verdict(pref, "I don't like green tea", "I like green tea"), DedupVerdict::Supersede(7));
        assert_eq!(
            verdict(Category::Entities, "Anna lives in Vienna", "Anna lives in Graz"),
            DedupVerdict::Supersede(7)
        );
        assert_eq!(verdict(pref, "likes green tea with honey", "likes green tea"), DedupVerdict::Merge(7));
        assert_eq!(verdict(Category::Events, "went to Graz again", "went to Graz"), DedupVerdict::Create);
        assert_eq!(verdict_by_words(pref, "likes tea", &[]), DedupVerdict::Create);
    }
}
