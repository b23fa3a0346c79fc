//! Finds which candidates for the inbox are known already, and whether one replaces or extends a known fact. Pure;
//! vectors are unit length.
//!
//! The thresholds and the rules of the categories are source 002's ("Auto-capture"). A brain's verdict, if there is
//! one, counts within the rule of the category. Otherwise [`verdict_by_words`] compares the words: a candidate that
//! adds nothing is skipped, another value of the same attribute replaces the fact, and further details are added to it.

use crate::capture::DedupVerdict;
use crate::format::candidate::Category;
use crate::memory::contradiction::{is_negated, is_other_value, words};
use crate::memory::normal;

/// The similarity from which on two candidates of one batch are one (source 002: "pairwise cosine on L0 abstracts,
/// threshold 0.85").
pub const SAME: f32 = 0.85;
/// The similarity from which on a known fact may be about the same (source 002: "vector search existing at 0.7").
pub const NEAR: f32 = 0.7;
/// How many known facts are compared (source 002: "top-3").
pub const TOP: usize = 3;

impl DedupVerdict {
    /// The verdict, limited to the similar facts: a brain may name no other.
    pub fn restricted_to(&self, near: &[&str]) -> Self {
        let known = |words: &str| near.iter().find(|known| normal(known) == normal(words));
        match self {
            Self::Merge(words) => known(words).map_or(Self::Create, |it| Self::Merge((*it).to_owned())),
            Self::Supersede(words) => {
                known(words).map_or(Self::Create, |it| Self::Supersede((*it).to_owned()))
            }
            other => other.clone(),
        }
    }
}

/// The cosine of two vectors of unit length.
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// The indexes of the vectors that stay: of two that are [`SAME`], the first.
pub fn first_of_duplicates(vectors: &[Vec<f32>]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for (place, vector) in vectors.iter().enumerate() {
        if !kept.iter().any(|known| cosine(&vectors[*known], vector) >= SAME) {
            kept.push(place);
        }
    }
    kept
}

/// The indexes of the known facts that are [`NEAR`], nearest first, at most [`TOP`].
pub fn nearest<'v>(vector: &[f32], known: impl Iterator<Item = &'v [f32]>) -> Vec<usize> {
    let mut found: Vec<(usize, f32)> = known.map(|known| cosine(vector, known)).enumerate().collect();
    found.retain(|(_, cosine)| *cosine >= NEAR);
    found.sort_by(|one, other| other.1.total_cmp(&one.1));
    found.into_iter().take(TOP).map(|(place, _)| place).collect()
}

/// Whether two texts give different values of the same attribute, by their words: a person who lives in `Graz` no
/// longer lives in `Vienna`, however far apart the two names are in a model.
pub fn contradicts(one: &str, other: &str) -> bool {
    is_other_value(&words(one), &words(other))
}

/// Applies a category's rule (source 002) to a verdict: a forbidden effect becomes the next milder one. Preferences and
/// entities may replace a known fact (`TEMPORAL_VERSIONED`), patterns are added to it (`MERGE_SUPPORTED`), events and
/// cases stand alone (`APPEND_ONLY`). A profile is always merged (`ALWAYS_MERGE`), which means that the new value
/// replaces the old one. A replaced value is struck through, since nothing is ever erased.
pub fn allowed(category: Category, verdict: DedupVerdict) -> DedupVerdict {
    match (category, verdict) {
        (Category::Events | Category::Cases, DedupVerdict::Merge(_) | DedupVerdict::Supersede(_)) => {
            DedupVerdict::Create
        }
        (Category::Patterns, DedupVerdict::Supersede(words)) => DedupVerdict::Merge(words),
        (_, verdict) => verdict,
    }
}

/// The verdict by the words alone: `near` are the known facts that are near, nearest first.
pub fn verdict_by_words(category: Category, text: &str, near: &[&str]) -> DedupVerdict {
    let new = words(text);
    for known in near {
        let old = words(known);
        if new.iter().all(|word| old.contains(word)) && is_negated(&new) == is_negated(&old) {
            return DedupVerdict::Skip;
        }
        if is_other_value(&new, &old) {
            return allowed(category, DedupVerdict::Supersede((*known).to_owned()));
        }
    }
    near.first()
        .map_or(DedupVerdict::Create, |known| allowed(category, DedupVerdict::Merge((*known).to_owned())))
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
        assert_eq!(nearest(&[1.0, 0.0], known.iter().map(Vec::as_slice)), [2, 3, 4]);
    }

    #[test]
    fn each_category_has_the_sources_rule() {
        use Category::*;
        use DedupVerdict::{Create, Skip};
        let (put, replaced) = (DedupVerdict::Merge("a".into()), DedupVerdict::Supersede("a".into()));
        for (category, merge, supersede) in [
            (Profile, &put, &replaced),
            (Preferences, &put, &replaced),
            (Entities, &put, &replaced),
            (Patterns, &put, &put),
            (Events, &Create, &Create),
            (Cases, &Create, &Create),
        ] {
            assert_eq!(allowed(category, put.clone()), *merge, "{category}");
            assert_eq!(allowed(category, replaced.clone()), *supersede, "{category}");
            assert_eq!((allowed(category, Skip), allowed(category, Create)), (Skip, Create), "{category}");
        }
    }

    #[test]
    fn words_say_what_a_candidate_does() {
        let verdict = |category, text: &str, known: &str| verdict_by_words(category, text, &[known]);
        let pref = Category::Preferences;
        assert_eq!(verdict(pref, "I like green tea.", "I like green tea"), DedupVerdict::Skip);
        assert_eq!(verdict(pref, "green tea", "likes green tea a lot"), DedupVerdict::Skip);
        assert_eq!(
            verdict(pref, "I don't like green tea", "I like green tea"),
            DedupVerdict::Supersede("I like green tea".into())
        );
        assert_eq!(
            verdict(Category::Entities, "Anna lives in Vienna", "Anna lives in Graz"),
            DedupVerdict::Supersede("Anna lives in Graz".into())
        );
        assert_eq!(
            verdict(pref, "likes green tea with honey", "likes green tea"),
            DedupVerdict::Merge("likes green tea".into())
        );
        assert_eq!(verdict(Category::Events, "went to Graz again", "went to Graz"), DedupVerdict::Create);
        assert_eq!(verdict_by_words(pref, "likes tea", &[]), DedupVerdict::Create);
    }
}
